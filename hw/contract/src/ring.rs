//! Free-running indices and power-of-two rings.
//!
//! An index counts descriptors for ever and wraps at 2¹⁶; the slot is its low bits. So full and empty
//! differ, and the distance of two indices is a subtraction. The largest ring, 2¹⁵, keeps that distance
//! unambiguous.

/// Smallest ring, as a power of two.
pub const MIN_LOG2: u8 = 3;
/// Largest ring, as a power of two.
pub const MAX_LOG2: u8 = 15;

/// The size of a ring: 8 to 32768 entries, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize(u8);

impl RingSize {
    /// From the number of entries; `None` unless it is a power of two from 8 to 32768.
    pub const fn new(entries: u32) -> Option<Self> {
        if !entries.is_power_of_two() {
            return None;
        }
        let log2 = entries.trailing_zeros() as u8;
        if log2 < MIN_LOG2 || log2 > MAX_LOG2 {
            return None;
        }
        Some(Self(log2))
    }

    /// Power of two, as the ring-size register takes it.
    pub const fn log2(self) -> u8 {
        self.0
    }

    /// Number of entries.
    pub const fn entries(self) -> u32 {
        1 << self.0
    }

    /// The slot of an index.
    pub const fn slot(self, index: u16) -> usize {
        (index as u32 & (self.entries() - 1)) as usize
    }

    /// The phase bit that the core writes for the completion with this index: 1 in the first pass over the
    /// ring, then alternating. Memory that was zeroed at first therefore never looks like a completion.
    pub const fn phase(self, index: u16) -> bool {
        (index >> self.0) & 1 == 0
    }
}

/// Entries from `from` up to `to` (both free-running).
pub const fn distance(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_powers_of_two_in_range_are_rings() {
        for entries in 0..=70_000 {
            let legal = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768].contains(&entries);
            assert_eq!(RingSize::new(entries).is_some(), legal, "{entries}");
        }
    }

    #[test]
    fn phase_flips_once_a_pass_and_wraps_with_the_index() {
        for log2 in MIN_LOG2..=MAX_LOG2 {
            let ring = RingSize::new(1 << log2).unwrap();
            assert!(ring.phase(0));
            let mut index = 0u16;
            for _ in 0..(1u32 << 16) {
                let next = index.wrapping_add(1);
                let same_slot_next_pass = index.wrapping_add(ring.entries() as u16);
                assert_ne!(ring.phase(index), ring.phase(same_slot_next_pass));
                assert_eq!(ring.phase(index) != ring.phase(next), ring.slot(next) == 0);
                index = next;
            }
        }
    }

    #[test]
    fn distance_counts_over_the_wrap() {
        assert_eq!(distance(0xFFFE, 3), 5);
        assert_eq!(distance(7, 7), 0);
    }
}

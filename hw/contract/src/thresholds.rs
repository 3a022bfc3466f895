//! Thresholds of descriptor prefetch and completion write-back, with their legal ranges.
//!
//! The core reads descriptors when fewer than PTHRESH are on chip and the host has at least HTHRESH ready,
//! or when the chip has none left and the host has any; at most BATCH in one read. Names and meaning follow
//! Intel's RXDCTL (82599 data sheet, section 8.2.3.8.7); BATCH and LOW WATER are Ferronic's own.

use crate::registers::queue;

/// Descriptors that a queue holds on chip.
pub const ON_CHIP: u8 = 64;
/// Most descriptors in one read: 32 × 16 bytes is the default maximum read request size of 512.
pub const MAX_BATCH: u8 = 32;
/// Completions that a queue holds on chip.
pub const MAX_WTHRESH: u8 = 8;

/// The thresholds of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// PTHRESH, 1..=64: prefetch while fewer than this many descriptors are on chip.
    pub prefetch: u8,
    /// HTHRESH, 1..=64: prefetch only if the host has at least this many ready (or the chip has none).
    pub host: u8,
    /// BATCH, 1..=32: most descriptors in one read.
    pub batch: u8,
    /// WTHRESH, 1..=8: completions gathered before they are written; a timer bounds the wait.
    pub write_back: u8,
    /// LOW WATER, 0..=32768: an event when fewer descriptors than this are left, on chip and in the host; 0 is off.
    pub low_water: u16,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { prefetch: 32, host: 8, batch: 16, write_back: 1, low_water: 0 }
    }
}

/// A threshold outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Name of the threshold.
    pub name: &'static str,
    /// The value given.
    pub value: u32,
    /// Smallest legal value.
    pub min: u32,
    /// Largest legal value.
    pub max: u32,
}

impl core::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} is {}; it must be from {} to {}", self.name, self.value, self.min, self.max)
    }
}

impl core::error::Error for OutOfRange {}

impl Thresholds {
    /// Refuses the first threshold that is out of range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let rules = [
            ("PTHRESH", u32::from(self.prefetch), 1, u32::from(ON_CHIP)),
            ("HTHRESH", u32::from(self.host), 1, u32::from(ON_CHIP)),
            ("BATCH", u32::from(self.batch), 1, u32::from(MAX_BATCH)),
            ("WTHRESH", u32::from(self.write_back), 1, u32::from(MAX_WTHRESH)),
            ("LOW WATER", u32::from(self.low_water), 0, 1 << crate::ring::MAX_LOG2),
        ];
        for (name, value, min, max) in rules {
            if value < min || value > max {
                return Err(OutOfRange { name, value, min, max });
            }
        }
        Ok(())
    }

    /// The value of the queue's THRESHOLDS register. LOW WATER has a register of its own.
    pub const fn register(&self) -> u32 {
        queue::PTHRESH.at(self.prefetch as u32)
            | queue::HTHRESH.at(self.host as u32)
            | queue::BATCH.at(self.batch as u32)
            | queue::WTHRESH.at(self.write_back as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_legal_and_the_edges_are_exact() {
        let good = Thresholds::default();
        assert_eq!(good.check(), Ok(()));
        assert!(Thresholds { prefetch: 64, host: 64, batch: 32, write_back: 8, low_water: 32768 }.check().is_ok());
        for bad in [
            Thresholds { prefetch: 0, ..good },
            Thresholds { prefetch: 65, ..good },
            Thresholds { host: 0, ..good },
            Thresholds { host: 65, ..good },
            Thresholds { batch: 0, ..good },
            Thresholds { batch: 33, ..good },
            Thresholds { write_back: 0, ..good },
            Thresholds { write_back: 9, ..good },
            Thresholds { low_water: 32769, ..good },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}

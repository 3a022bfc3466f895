//! Time on the line: how long a frame occupies it, and when the next one is due.

/// Preamble and start-of-frame delimiter before a frame, in bytes.
pub const PREAMBLE: u64 = 8;
/// Frame check sequence behind a frame, in bytes.
pub const FCS: u64 = 4;
/// Shortest gap between two frames, in bytes.
pub const GAP: u64 = 12;

/// The speed of a line. Simulated time is in picoseconds, so that a byte takes a whole number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRate {
    byte_ps: u64,
}

impl LineRate {
    /// 1 Gb/s: a byte takes 8000 ps.
    pub const GIGABIT: Self = Self { byte_ps: 8000 };

    /// A line of `mbps` megabits a second. `None` unless a byte takes a whole number of picoseconds, as it
    /// does at every Ethernet speed from 10 Mb/s to 400 Gb/s.
    pub const fn from_mbps(mbps: u64) -> Option<Self> {
        if mbps == 0 || 8_000_000 % mbps != 0 {
            return None;
        }
        Some(Self {
            byte_ps: 8_000_000 / mbps,
        })
    }

    /// Picoseconds that `bytes` take.
    pub const fn ps(self, bytes: u64) -> u64 {
        bytes * self.byte_ps
    }
}

impl Default for LineRate {
    fn default() -> Self {
        Self::GIGABIT
    }
}

/// Bytes of line time that a frame of `length` bytes (without FCS) occupies: with preamble, FCS and gap.
pub const fn occupied(length: u64) -> u64 {
    PREAMBLE + length + FCS + GAP
}

/// How fast frames follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rate {
    /// As fast as the line takes them.
    #[default]
    Line,
    /// Frames a second, above 0.
    FramesPerSecond(u64),
    /// Megabits a second of line time, above 0: preamble, FCS and gap count, so the line's own speed fills it.
    MegabitsPerSecond(u64),
}

/// A rate, and how many frames go out back to back before the line rests to keep to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The rate on average.
    pub rate: Rate,
    /// Frames sent back to back, above 0; 1 spreads them evenly.
    pub burst: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            rate: Rate::Line,
            burst: 1,
        }
    }
}

/// Tells when the next frame of a [`Pace`] is due. A rate above the line's own gives line rate.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    start_ps: Option<u64>,
    /// Frames or bits sent so far, as the rate counts them. The due time comes from the sum, so no rounding adds up.
    units: u64,
    in_burst: u32,
}

impl Pacer {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            start_ps: None,
            units: 0,
            in_burst: 0,
        }
    }

    /// The start of a frame of `length` bytes that could start at `possible_ps`. Counts the frame as sent.
    pub(super) fn start(&mut self, possible_ps: u64, length: u64) -> u64 {
        let (units, unit_ps, per) = match self.pace.rate {
            Rate::Line => return possible_ps,
            Rate::FramesPerSecond(frames) => (1, 1_000_000_000_000, frames),
            Rate::MegabitsPerSecond(megabits) => (8 * occupied(length), 1_000_000, megabits),
        };
        let first = *self.start_ps.get_or_insert(possible_ps);
        let due = first + (u128::from(self.units) * unit_ps / u128::from(per.max(1))) as u64;
        let start = if self.in_burst == 0 {
            possible_ps.max(due)
        } else {
            possible_ps
        };
        self.units += units;
        self.in_burst = (self.in_burst + 1) % self.pace.burst.max(1);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_frame_takes_672_ns_of_a_gigabit_line() {
        assert_eq!(LineRate::GIGABIT.ps(occupied(60)), 672_000);
        assert_eq!(
            LineRate::from_mbps(100_000).map(|r| r.ps(occupied(60))),
            Some(6_720)
        );
        assert_eq!(LineRate::from_mbps(3), None);
        assert_eq!(LineRate::from_mbps(0), None);
    }

    #[test]
    fn frames_a_second_do_not_drift() {
        let mut pacer = Pacer::new(Pace {
            rate: Rate::FramesPerSecond(3),
            burst: 1,
        });
        let starts: Vec<u64> = (0..4).map(|_| pacer.start(0, 60)).collect();
        assert_eq!(
            starts,
            [0, 333_333_333_333, 666_666_666_666, 1_000_000_000_000]
        );
    }

    #[test]
    fn a_burst_goes_back_to_back_and_then_rests() {
        let mut pacer = Pacer::new(Pace {
            rate: Rate::FramesPerSecond(1_000_000),
            burst: 2,
        });
        let starts: Vec<u64> = [0, 672_000, 1_344_000, 2_016_000, 2_688_000]
            .map(|free| pacer.start(free, 60))
            .into();
        assert_eq!(starts, [0, 672_000, 2_000_000, 2_016_000, 4_000_000]);
    }

    #[test]
    fn the_line_speed_in_megabits_fills_the_line() {
        let mut pacer = Pacer::new(Pace {
            rate: Rate::MegabitsPerSecond(1000),
            burst: 1,
        });
        assert_eq!(
            [60, 1514, 60].map(|length| pacer.start(0, length)),
            [0, 672_000, 672_000 + 12_304_000]
        );
    }
}

//! Where the driver's time comes from.
//!
//! Time is a seam like registers and memory: the machine's own clock on a board, simulated time in the simulator, so
//! that whatever the driver decides by time is the same in every run there.

use std::time::{Duration, Instant};

/// A clock that never goes back.
pub trait Clock {
    /// Time since some moment that stays the same.
    fn now(&self) -> Duration;
}

/// The machine's monotonic clock, from the moment that this was made.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

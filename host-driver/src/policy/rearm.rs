//! When interrupts come back.
//!
//! A driver that polls has its interrupt off. Turned on again too early, every few packets cost an interrupt; too late,
//! the CPU looks at an empty ring. No packet is stranded under any rule: arming tells the device how far the driver has
//! looked, and it fires at once for what has come since.
//!
//! Where they come from: under budget is NAPI's (`napi_complete_done()` of Linux). To poll again while anything arrived,
//! and to wait a time by the speed of the link before the next look, were answers to the interrupt storms of drivers
//! whose CPU had become faster than the link; Linux has the latter as `napi_defer_hard_irqs` with `gro_flush_timeout`
//! (Documentation/networking/napi.rst, "IRQ mitigation").
//!
//! Free of hardware: [`Rearming`] is told what each poll found.

use std::time::Duration;

use ferronic_contract::thresholds::OutOfRange;

use crate::queue::{in_range, QueueConfig};

/// Bits of the shortest frame on the wire: 64 bytes, preamble of 8, gap of 12 (IEEE 802.3, 4.4.2).
const SHORTEST_FRAME_BITS: u64 = 84 * 8;

/// When interrupts come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rearm {
    /// After a poll that found fewer packets than its budget.
    #[default]
    UnderBudget,
    /// After a poll that found nothing.
    WhenIdle,
    /// After so many polls on end that found nothing. A poll that used up its budget is followed by the next at once, any
    /// other after a delay: the time in which a number of the shortest frames can arrive.
    Delayed {
        /// Speed of the link in Mb/s, 1 to 1,000,000.
        link_mbps: u32,
        /// Shortest frames in the delay, 1 to half the ring's entries, so that the ring does not run dry meanwhile.
        frames: u16,
        /// Polls that find nothing, from 1 on.
        empty_polls: u8,
    },
}

impl Rearm {
    /// Refuses numbers out of range.
    pub(crate) fn check(self, queue: &QueueConfig) -> Result<(), OutOfRange> {
        let Self::Delayed { link_mbps, frames, empty_polls } = self else { return Ok(()) };
        in_range("Mb/s of the link", link_mbps, 1, 1_000_000)?;
        in_range("frames of a delay", frames.into(), 1, queue.ring.entries() / 2)?;
        in_range("empty polls", empty_polls.into(), 1, u8::MAX.into())
    }
}

/// What comes after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next poll, at once.
    Poll,
    /// The next poll, after a time.
    After(Duration),
    /// An interrupt.
    Interrupt,
}

/// A rule at work.
#[derive(Clone, Copy, Debug)]
pub struct Rearming {
    rule: Rearm,
    /// Polls on end that found nothing.
    empty: u8,
}

impl Rearming {
    /// At the start.
    pub const fn new(rule: Rearm) -> Self {
        Self { rule, empty: 0 }
    }

    /// What comes after a poll that handled so many packets of a budget.
    pub fn after(&mut self, handled: usize, budget: usize) -> Next {
        if handled >= budget {
            self.empty = 0;
            return Next::Poll;
        }
        match self.rule {
            Rearm::UnderBudget => Next::Interrupt,
            Rearm::WhenIdle if handled > 0 => Next::Poll,
            Rearm::WhenIdle => Next::Interrupt,
            Rearm::Delayed { link_mbps, frames, empty_polls } => {
                self.empty = if handled > 0 { 0 } else { self.empty.saturating_add(1) };
                if self.empty >= empty_polls {
                    self.empty = 0;
                    return Next::Interrupt;
                }
                let nanos = u64::from(frames) * SHORTEST_FRAME_BITS * 1000 / u64::from(link_mbps.max(1));
                Next::After(Duration::from_nanos(nanos))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_budget_and_when_idle_differ_in_a_short_poll() {
        let mut napi = Rearming::new(Rearm::UnderBudget);
        let mut idle = Rearming::new(Rearm::WhenIdle);
        assert_eq!((napi.after(64, 64), idle.after(64, 64)), (Next::Poll, Next::Poll));
        assert_eq!((napi.after(63, 64), idle.after(63, 64)), (Next::Interrupt, Next::Poll));
        assert_eq!((napi.after(0, 64), idle.after(0, 64)), (Next::Interrupt, Next::Interrupt));
    }

    /// Catches: a delay that does not go by the link, a count of empty polls that is not reset.
    #[test]
    fn a_delayed_poll_goes_by_the_link_and_gives_up_after_so_many() {
        for (link_mbps, nanos) in [(10, 537_600), (1000, 5376), (10_000, 537), (100_000, 53)] {
            let mut delayed = Rearming::new(Rearm::Delayed { link_mbps, frames: 8, empty_polls: 3 });
            let delay = Next::After(Duration::from_nanos(nanos));
            assert_eq!(delayed.after(64, 64), Next::Poll);
            let found = [1, 0, 0, 7, 0, 0].map(|handled| delayed.after(handled, 64));
            assert_eq!(found, [delay; 6]);
            assert_eq!(delayed.after(0, 64), Next::Interrupt);
            assert_eq!(delayed.after(0, 64), delay, "begins anew after the interrupt");
        }
    }
}

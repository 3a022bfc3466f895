//! How many packets a poll may deliver.
//!
//! The weight bounds what one poll delivers and nothing else: whether interrupts come back is up to
//! [`rearm`](super::rearm). Where they come from: 64 is NAPI's weight in Linux. In June 2005 the netdev list ("NAPI
//! packet weighting") saw drops at 64, few at 32 and none at 20, and asked for a weight that adapts itself. Additive
//! increase and multiplicative decrease is the rule that shares fairly and comes to rest (D. Chiu and R. Jain, 1989).
//! That the cost of a packet should count and not the packet is the same thread's other answer.
//!
//! Free of hardware: the [`Controller`] is told what each poll did.

use std::time::Duration;

use ferronic_contract::thresholds::OutOfRange;

use crate::packet_time::PacketTime;
use crate::queue::in_range;

/// NAPI's weight in Linux (`NAPI_POLL_WEIGHT`).
const USUAL: u16 = 64;
/// Packets of a poll before any was timed.
const FIRST_TIMED: u16 = 8;

/// How many packets a poll may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Always so many, from 1 on.
    Fixed(u16),
    /// More while polls use up their weight, half when one took too long (a time squeeze) or the device dropped frames.
    Adaptive {
        /// Least weight, from 1 on; also the first.
        least: u16,
        /// Greatest weight.
        most: u16,
        /// What is added after a poll that used up its weight, from 1 on.
        step: u16,
        /// Microseconds that a poll may take, from 1 on.
        poll_usecs: u32,
    },
    /// As many as can be delivered in a time, by the measured time a packet.
    Timed {
        /// Greatest weight, from 1 on.
        most: u16,
        /// Microseconds that a poll is to take, from 1 on.
        poll_usecs: u32,
    },
}

impl Default for Weight {
    fn default() -> Self {
        Self::Fixed(USUAL)
    }
}

impl Weight {
    /// Refuses a weight of none.
    pub(crate) fn check(self) -> Result<(), OutOfRange> {
        let most = u32::from(u16::MAX);
        match self {
            Self::Fixed(weight) => in_range("weight", weight.into(), 1, most),
            Self::Adaptive { least, most: greatest, step, poll_usecs } => {
                in_range("greatest weight", greatest.into(), 1, most)?;
                in_range("least weight", least.into(), 1, greatest.into())?;
                in_range("step of the weight", step.into(), 1, most)?;
                in_range("usecs of a poll", poll_usecs, 1, u32::MAX)
            }
            Self::Timed { most: greatest, poll_usecs } => {
                in_range("greatest weight", greatest.into(), 1, most)?;
                in_range("usecs of a poll", poll_usecs, 1, u32::MAX)
            }
        }
    }
}

/// What a poll did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// Packets handled.
    pub handled: usize,
    /// How long it took.
    pub elapsed: Duration,
    /// Frames that the device is known to have dropped since the poll before.
    pub hardware_drops: u32,
}

/// A weight at work.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    rule: Weight,
    now: u16,
    packet: PacketTime,
}

impl Controller {
    /// At the start.
    pub const fn new(rule: Weight) -> Self {
        let now = match rule {
            Weight::Fixed(weight) => weight,
            Weight::Adaptive { least, .. } => least,
            Weight::Timed { most, .. } if most < FIRST_TIMED => most,
            Weight::Timed { .. } => FIRST_TIMED,
        };
        Self { rule, now, packet: PacketTime::UNKNOWN }
    }

    /// Most packets of the next poll, at least 1.
    #[inline]
    pub fn before(&self) -> usize {
        usize::from(self.now)
    }

    /// Whether it wants to know of frames that the device dropped.
    pub const fn wants_drops(&self) -> bool {
        matches!(self.rule, Weight::Adaptive { .. })
    }

    /// Learns from a poll.
    pub fn after(&mut self, poll: &Poll) {
        match self.rule {
            Weight::Fixed(_) => {}
            Weight::Adaptive { least, most, step, poll_usecs } => {
                let squeezed = poll.elapsed >= Duration::from_micros(poll_usecs.into());
                if squeezed || poll.hardware_drops > 0 {
                    self.now = (self.now / 2).max(least);
                } else if poll.handled >= usize::from(self.now) {
                    // A poll that found less says nothing of what it could have delivered.
                    self.now = self.now.saturating_add(step).min(most);
                }
            }
            Weight::Timed { most, poll_usecs } => {
                self.packet.learn(poll.handled, poll.elapsed);
                if let Some(fit) = self.packet.fit(Duration::from_micros(poll_usecs.into()), most) {
                    self.now = fit;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTIVE: Weight = Weight::Adaptive { least: 8, most: 64, step: 4, poll_usecs: 100 };

    /// A poll that used up its budget at a cost a packet.
    fn full(controller: &Controller, packet: Duration) -> Poll {
        let handled = controller.before();
        Poll { handled, elapsed: packet * handled as u32, hardware_drops: 0 }
    }

    #[test]
    fn a_fixed_weight_stays() {
        let mut controller = Controller::new(Weight::Fixed(20));
        controller.after(&Poll { handled: 20, elapsed: Duration::from_secs(9), hardware_drops: 7 });
        assert_eq!((controller.before(), controller.wants_drops()), (20, false));
    }

    /// Catches: an increase without cause, a decrease below the least, a squeeze or a drop that is not heard.
    #[test]
    fn an_adaptive_weight_rises_by_steps_and_falls_by_halves() {
        let mut controller = Controller::new(ADAPTIVE);
        assert!(controller.wants_drops());
        let cheap = Duration::from_nanos(100);
        let climbed: Vec<usize> = (0..16)
            .map(|_| {
                controller.after(&full(&controller, cheap));
                controller.before()
            })
            .collect();
        assert_eq!(climbed[..3], [12, 16, 20]);
        assert_eq!(climbed[13..], [64, 64, 64]);
        controller.after(&Poll { handled: 63, ..Poll::default() });
        assert_eq!(controller.before(), 64, "a poll that found less says nothing");
        controller.after(&Poll { hardware_drops: 1, ..full(&controller, cheap) });
        assert_eq!(controller.before(), 32);
        controller.after(&Poll { handled: 5, elapsed: Duration::from_micros(100), hardware_drops: 0 });
        assert_eq!(controller.before(), 16);
        for _ in 0..3 {
            controller.after(&Poll { hardware_drops: 1, ..Poll::default() });
        }
        assert_eq!(controller.before(), 8);
        controller.after(&Poll { handled: 7, ..Poll::default() });
        assert_eq!(controller.before(), 8, "its weight was not used up: the turn's budget was");
    }

    /// Catches: a controller that does not settle around the weight that the time allows.
    #[test]
    fn an_adaptive_weight_settles_around_what_fits() {
        let mut controller = Controller::new(ADAPTIVE);
        // 40 packets fit.
        let packet = Duration::from_nanos(2500);
        let weights: Vec<usize> = (0..200)
            .map(|_| {
                controller.after(&full(&controller, packet));
                controller.before()
            })
            .collect();
        assert!(weights[50..].iter().all(|weight| (20..=40).contains(weight)), "{weights:?}");
    }

    /// Catches: a weight that follows the count and not the cost, and one of 0.
    #[test]
    fn a_timed_weight_follows_the_cost_of_a_packet() {
        let mut controller = Controller::new(Weight::Timed { most: 300, poll_usecs: 50 });
        assert_eq!(controller.before(), 8);
        controller.after(&Poll::default());
        assert_eq!(controller.before(), 8, "nothing was timed");
        for (packet, fits) in [(500, 100), (50, 300), (5000, 10), (200_000, 1)] {
            let packet = Duration::from_nanos(packet);
            for _ in 0..100 {
                controller.after(&full(&controller, packet));
            }
            assert!(controller.before().abs_diff(fits) <= fits / 20, "{} at {packet:?}", controller.before());
        }
        controller.after(&Poll { elapsed: Duration::ZERO, ..full(&controller, Duration::ZERO) });
        assert!(controller.before() >= 1);
        for _ in 0..3 {
            controller.after(&Poll { handled: 1, elapsed: Duration::MAX, hardware_drops: 0 });
            assert_eq!(controller.before(), 1, "a clock that leaps breaks nothing");
        }
    }
}

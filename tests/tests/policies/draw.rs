//! Policies at random, within what a ring of 256 at line rate bears without a drop.

use fastrand::Rng;
use ferronic::policy::tx::{Doorbell, Full, Notify, Reclaim};
use ferronic::{Classify, Moderation, Prefetch, Rearm, Replenish, RxPolicy, TxPolicy, Weight};

fn one_of<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.usize(..choices.len())]
}

pub fn rx(rng: &mut Rng) -> RxPolicy {
    RxPolicy {
        replenish: match rng.u8(..4) {
            0 => Replenish::AsTaken { doorbell_every: rng.u16(1..=64) },
            1 => Replenish::Every(rng.u16(1..=64)),
            2 => Replenish::AtEnd,
            _ => Replenish::OnLowWater,
        },
        classify: match rng.u8(..3) {
            0 => Classify::Software,
            1 => Classify::Status,
            _ => Classify::Sampled { every: rng.u32(1..=8) },
        },
        prefetch: one_of(rng, &[Prefetch::Off, Prefetch::Current, Prefetch::Next, Prefetch::TwoPass, Prefetch::Wanted]),
        copybreak: if rng.bool() { rng.u16(0..=1518) } else { one_of(rng, &[0, 64, 256]) },
        weight: match rng.u8(..3) {
            0 => Weight::Fixed(rng.u16(1..=100)),
            1 => Weight::Adaptive {
                least: rng.u16(1..=8),
                most: rng.u16(8..=100),
                step: rng.u16(1..=8),
                poll_usecs: rng.u32(1..=50),
            },
            _ => Weight::Timed { most: rng.u16(1..=100), poll_usecs: rng.u32(1..=50) },
        },
        rearm: match rng.u8(..3) {
            0 => Rearm::UnderBudget,
            1 => Rearm::WhenIdle,
            _ => Rearm::Delayed { link_mbps: 1000, frames: rng.u16(1..=48), empty_polls: rng.u8(1..=4) },
        },
        turn_usecs: if rng.bool() { rng.u32(1..=20) } else { 2000 },
    }
}

pub fn moderation(rng: &mut Rng) -> Moderation {
    Moderation { usecs: rng.u32(0..=30), frames: rng.u32(1..=64) }
}

/// For a TX ring of so many entries.
pub fn tx(rng: &mut Rng, ring: u16) -> TxPolicy {
    TxPolicy {
        reclaim: match rng.u8(..3) {
            0 => Reclaim::All,
            1 => Reclaim::Constant(rng.u16(4..=ring)),
            _ => Reclaim::HalfUsed,
        },
        full: if rng.u8(..4) == 0 { Full::Drop } else { Full::Stop { wake: rng.u16(1..=ring) } },
        notify: one_of(rng, &[Notify::EveryPacket, Notify::Moderated, Notify::EventIndex]),
        doorbell: one_of(rng, &[Doorbell::EveryPacket, Doorbell::Batch]),
    }
}

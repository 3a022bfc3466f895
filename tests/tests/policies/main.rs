//! The driver's policies on the RTL: changed at random under traffic, and each when buffers, consumer or device fail.
//!
//! The scoreboard compares every packet with the reference model and every sent frame with what was given, in order; the
//! pools count every buffer back. So a test changes something, lets frames run, and makes sure that what it is about did
//! happen.

mod draw;
mod host;
mod idle;
mod knobs;
mod shortage;
mod stall;

use ferronic::policy::Replenish;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_sim::run::{Direction, Run};
use ferronic_sim::wire::{Frame, Generator};
use ferronic_tests::scenario::setup;

/// Own address in every test: the driver's default.
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A run on a link that is not what limits, with so many queues, and with a LOW WATER of a part of the ring, as one of the
/// replenish policies needs.
fn open(ring: u32, queues: usize, seed: u64) -> Run {
    let mut run = setup(Direction::Echo, "gen2x1", ring, seed);
    let size = RingSize::new(ring).expect("a ring size");
    run.driver.max_frame = 1518;
    run.driver.buffer_bytes = 2048;
    let mut rx = run.driver.rx[0];
    rx.queue.ring = size;
    rx.queue.thresholds = Thresholds { low_water: (ring / 2) as u16, ..rx.queue.thresholds };
    run.driver.rx = vec![rx; queues];
    run
}

/// Each replenish policy, for a ring of 16 or more.
const REPLENISH: [Replenish; 5] = [
    Replenish::AsTaken { doorbell_every: 1 },
    Replenish::AsTaken { doorbell_every: 4 },
    Replenish::Every(4),
    Replenish::AtEnd,
    Replenish::OnLowWater,
];

/// Traffic of a [`Generator`].
fn generated(text: &str, seed: u64) -> impl Iterator<Item = Frame> + Send + 'static {
    let traffic: Generator = text.parse().unwrap_or_else(|error| panic!("{error}"));
    traffic.frames(seed, MAC)
}

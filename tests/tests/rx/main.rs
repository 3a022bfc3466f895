//! What the receiving side does with frames: on the RTL, with the real driver.
//!
//! The scoreboard compares every packet with the reference model: its queue, bytes and buffers, each field of its
//! completion, and the time stamp. So a test sets the core up, plays frames, asks for no mismatch, and makes sure that
//! what it is about did happen.

mod buffers;
mod completions;
mod everything;
mod flow;
mod fuzz;
mod live;
mod starve;
mod steer;

use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::outcome::{ClassLine, FrameLine};
use ferronic_sim::report::Report;
use ferronic_sim::run::{Direction, Run};
use ferronic_sim::wire::{Frame, Generator};
use ferronic_tests::scenario::{play, setup};

/// Own address in every test: the driver's default.
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// Receives, with so many queues that are all set up like the first.
fn receive(link: &str, ring: u32, queues: usize) -> Run {
    let mut run = setup(Direction::Receive, link, ring, 1);
    run.driver.rx = vec![run.driver.rx[0]; queues];
    run
}

/// Plays frames on the 64-bit core; nothing may be wrong.
fn must(run: &Run, frames: impl Iterator<Item = Frame> + Send + 'static) -> (Report, Vec<(Frame, FrameLine)>) {
    let (report, fates) = play::<NicCore, 8>(run, frames);
    assert_eq!(report.mismatches, 0, "{report}");
    assert_eq!(report.frames_in as usize, fates.len(), "{report}");
    (report, fates)
}

/// Traffic of a [`Generator`].
fn generated(text: &str, seed: u64) -> impl Iterator<Item = Frame> + Send + 'static {
    let traffic: Generator = text.parse().unwrap_or_else(|error| panic!("{error}"));
    traffic.frames(seed, MAC)
}

/// Frames with these bytes, numbered.
fn numbered(frames: Vec<Vec<u8>>) -> impl Iterator<Item = Frame> + Send + 'static {
    frames.into_iter().enumerate().map(|(n, bytes)| Frame::new(bytes, "made".into(), n))
}

/// How many delivered frames are so.
fn count(fates: &[(Frame, FrameLine)], so: impl Fn(&ClassLine) -> bool) -> usize {
    fates.iter().filter_map(|(_, line)| line.class.as_ref()).filter(|class| so(class)).count()
}

/// A counter of the core.
fn counter(report: &Report, name: &str) -> u64 {
    report.counters.get(name).copied().map_or_else(|| panic!("no counter {name}: {:?}", report.counters), u64::from)
}

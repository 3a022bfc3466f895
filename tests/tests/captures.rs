//! Real captures through the core and its driver, byte for byte.
//!
//! The scoreboard compares every frame and every completion field; here, beside it, the capture of what the
//! driver delivered is read back and compared with what was sent.

use std::collections::BTreeMap;

use ferronic_contract::MAX_FRAME;
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_128::NicCore128;
use ferronic_sim::run::Direction::{Echo, Receive};
use ferronic_sim::run::Run;
use ferronic_sim::wire::{Frame, Pace, Rate};
use ferronic_tests::scenario::{play, setup};
use ferronic_tests::shared::{all_captures, capture, demo_capture};
use ferronic_tests::say;

/// Eight descriptors serve a full line only while the host refills them within 5 µs, which an interrupt and a read
/// of descriptors take already: long bursts of short frames lose some.
fn starves(run: &Run) -> bool {
    run.driver.rx[0].queue.ring.entries() == 8 && run.pace.rate == Rate::Line
}

/// Runs the frames; each must arrive as it was sent, padded, unless it is longer than the core takes.
fn all_arrive<M: CoreModel<B> + 'static, const B: usize>(frames: &[Frame], mut run: Run) {
    let folder = tempfile::tempdir().unwrap();
    run.received = Some(folder.path().join("received.pcap"));
    run.sent = Some(folder.path().join("sent.pcap"));
    let (report, fates) = play::<M, B>(&run, frames.to_vec().into_iter());
    let (direction, ring, seed) = (run.direction, run.driver.rx[0].queue.ring.entries(), run.pcie.seed);
    let what = format!("{direction:?}, {} bits, ring {ring}, seed {seed}, {:?}", 8 * B, run.pace.rate);
    say(&format!(
        "{what}: {} frames in, {} delivered, {} sent, dropped {:?}, {} mismatches, {:.1} s",
        report.frames_in, report.frames_delivered, report.frames_sent, report.frames_dropped, report.mismatches,
        report.wall_seconds
    ));
    assert_eq!(report.mismatches, 0, "{what}:\n{report}");
    assert_eq!(fates.len(), frames.len(), "{what}");
    let mut arrived = Vec::new();
    let mut dropped = BTreeMap::<&str, u64>::new();
    for (frame, (settled, line)) in frames.iter().zip(&fates) {
        let mut padded = frame.clone();
        padded.pad();
        assert_eq!(*settled, padded, "{what}");
        let fits = frame.bytes.len() <= usize::from(MAX_FRAME);
        match line.outcome.strip_prefix("dropped:") {
            None if fits => arrived.push(padded.bytes),
            Some("oversize") if !fits => *dropped.entry("oversize").or_default() += 1,
            Some(cause @ ("no_descriptor" | "fifo")) if fits && starves(&run) => *dropped.entry(cause).or_default() += 1,
            _ => panic!("{what}: {line:?}"),
        }
    }
    let least = if starves(&run) { frames.len() * 3 / 4 } else { frames.len() * 9 / 10 };
    assert!(arrived.len() > least, "{what}: only {} arrived", arrived.len());
    assert!(report.frames_dropped.iter().eq(&dropped), "{what}: {dropped:?} is not what the report says");
    let bytes = |file: &Option<std::path::PathBuf>| -> Vec<Vec<u8>> {
        capture(file.as_deref().unwrap()).into_iter().map(|frame| frame.bytes).collect()
    };
    assert!(bytes(&run.received) == arrived, "{what}: the received capture holds other bytes");
    let sent = if direction == Echo { arrived } else { Vec::new() };
    assert!(bytes(&run.sent) == sent, "{what}: the sent capture holds other bytes");
}

fn every_capture(test: &str) -> Option<Vec<Frame>> {
    all_captures().inspect_err(|why| say(&format!("{test} skipped: {why}"))).ok()
}

#[test]
fn the_demo_capture_at_both_widths() {
    let frames = demo_capture();
    all_arrive::<NicCore, 8>(&frames, setup(Receive, "gen1x1", 256, 1));
    all_arrive::<NicCore128, 16>(&frames, setup(Receive, "gen1x1", 256, 1));
    all_arrive::<NicCore, 8>(&frames, setup(Echo, "gen2x1", 256, 2));
    all_arrive::<NicCore128, 16>(&frames, setup(Echo, "gen2x1", 256, 2));
}

#[test]
fn every_capture_at_every_ring_size_and_seed() {
    let Some(frames) = every_capture("every_capture_at_every_ring_size_and_seed") else { return };
    for ring in [8, 256, 4096] {
        for seed in [1, 2, 3] {
            all_arrive::<NicCore, 8>(&frames, setup(Receive, "gen1x1", ring, seed));
        }
    }
}

#[test]
fn eight_descriptors_are_enough_for_half_the_line() {
    let Some(frames) = every_capture("eight_descriptors_are_enough_for_half_the_line") else { return };
    let pace = Pace { rate: Rate::MegabitsPerSecond(500), burst: 1 };
    all_arrive::<NicCore, 8>(&frames, Run { pace, ..setup(Receive, "gen1x1", 8, 1) });
}

#[test]
fn every_capture_there_and_back() {
    let Some(frames) = every_capture("every_capture_there_and_back") else { return };
    all_arrive::<NicCore, 8>(&frames, setup(Echo, "gen2x1", 256, 1));
}

#[test]
fn every_capture_at_128_bits() {
    let Some(frames) = every_capture("every_capture_at_128_bits") else { return };
    all_arrive::<NicCore128, 16>(&frames, setup(Receive, "gen1x1", 256, 1));
}

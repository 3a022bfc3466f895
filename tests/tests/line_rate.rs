//! 20,000 frames of 60 bytes, back to back at 1 Gb/s: what the core keeps up with, and what the link allows.

use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::report::Report;
use ferronic_sim::run::Direction::{self, Echo, Receive, Send};
use ferronic_sim::wire::Generator;
use ferronic_tests::scenario::{play, setup};
use ferronic_tests::say;

const FRAMES: u64 = 20_000;
/// Preamble, 60 bytes, FCS and gap at 1 Gb/s.
const FRAME_SECONDS: f64 = 672e-9;

/// Rings of 256, thresholds at their defaults but for WTHRESH, reads that take 1 µs.
fn run(direction: Direction, link: &str, write_back: u8) -> Report {
    let mut run = setup(direction, link, 256, 1);
    assert_eq!(run.pcie.latency_ns, 1000);
    run.driver.rx[0].queue.thresholds.write_back = write_back;
    run.driver.tx.thresholds.write_back = write_back;
    let traffic: Generator = format!("size=60,count={FRAMES},rate=line").parse().unwrap();
    let (report, _) = play::<NicCore, 8>(&run, traffic.frames(1, run.driver.mac));
    let delivered = report.frames_delivered.max(report.frames_sent) as f64;
    let up = report.pcie.up_bytes as f64 / delivered;
    say(&format!(
        "{direction:?} on {link}, WTHRESH {write_back}: {} in, {} delivered, {} sent, dropped {:?}; {:.3} Mpps; a frame \
         takes {up:.1} bytes up, of which the link carries {:.3} Mpps, and {:.1} down; link busy {:.0} % up, {:.0} % \
         down; {:.0} frames a wall second",
        report.frames_in,
        report.frames_delivered,
        report.frames_sent,
        report.frames_dropped,
        delivered / report.sim_seconds * 1e-6,
        run.pcie.link.bytes_per_second() as f64 / up * 1e-6,
        report.pcie.down_bytes as f64 / delivered,
        report.pcie.up_busy * 100.0,
        report.pcie.down_busy * 100.0,
        delivered / report.wall_seconds,
    ));
    assert_eq!(report.mismatches, 0, "{report}");
    report
}

/// Seconds from the first frame to the last on a line that is never idle.
fn line_seconds() -> f64 {
    FRAMES as f64 * FRAME_SECONDS
}

#[test]
fn receiving_alone_loses_nothing() {
    let report = run(Receive, "gen1x1", 1);
    assert_eq!((report.frames_in, report.frames_delivered), (FRAMES, FRAMES), "{report}");
    assert_eq!(report.status_path, FRAMES);
}

#[test]
fn sending_alone_fills_the_line() {
    let report = run(Send, "gen1x1", 1);
    assert_eq!(report.frames_sent, FRAMES, "{report}");
    // The first descriptor and payload are fetched before the line can start; then it may not rest.
    let idle = report.sim_seconds - line_seconds();
    assert!((0.0..20e-6).contains(&idle), "the line was idle for {:.1} µs\n{report}", idle * 1e6);
}

#[test]
fn both_at_once_lose_nothing_on_gen2() {
    let report = run(Echo, "gen2x1", 1);
    assert_eq!((report.frames_delivered, report.frames_sent), (FRAMES, FRAMES), "{report}");
    assert!(report.sim_seconds < line_seconds() + 50e-6, "{report}");
}

/// The link has 250 MB/s each way. At line rate both directions ask for 253 MB/s with one completion a TLP, if an
/// index write-back serves several frames; with WTHRESH 1 each frame sent has its own.
#[test]
fn both_at_once_reach_what_gen1_has() {
    for write_back in [1, 8] {
        let report = run(Echo, "gen1x1", write_back);
        assert_eq!(report.frames_in, FRAMES);
        assert_eq!(report.frames_delivered + report.dropped(), FRAMES, "{report}");
        assert_eq!(report.frames_sent, report.frames_delivered, "{report}");
        // What is lost is lost for the link alone, which may not rest while frames wait.
        // Descriptor reads wait for the link like everything else.
        assert!(report.frames_dropped.keys().all(|cause| ["fifo", "no_descriptor"].contains(cause)), "{report}");
        assert!(report.dropped() == 0 || report.pcie.up_busy > 0.98, "{report}");
    }
}

//! Completions: gathered or not, long or compact, found by phase or by producer index.

use ferronic::config::Discovery;
use ferronic::policy::Replenish;
use ferronic::queue::Moderation;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Splits;
use ferronic_sim::report::Report;
use ferronic_tests::say;

use crate::{counter, generated, must, receive};

const FRAMES: u64 = 4_000;
/// The rings wrap 15 times.
const RING: u32 = 256;
const FORMATS: [Format; 3] = [Format::Full, Format::CompactHash, Format::CompactTag];

/// 60-byte frames at line rate into one queue, none of which may be lost.
fn run(format: Format, write_back: u8, discovery: Discovery) -> Report {
    let mut run = receive("gen1x1", RING, 1);
    // As few TLPs as the rules allow, so that what is counted is the core's doing.
    run.pcie.splits = Splits::Largest;
    let rx = &mut run.driver.rx[0];
    rx.policy.replenish = Replenish::AsTaken { doorbell_every: 32 };
    (rx.format, rx.discovery) = (format, discovery);
    rx.queue.thresholds = Thresholds { batch: 32, write_back, ..rx.queue.thresholds };
    rx.queue.moderation = Moderation { usecs: 50, frames: 64 };
    let traffic = generated(&format!("size=60,count={FRAMES},rate=line,mix=udp+tcp"), 1);
    let (report, _) = must(&run, traffic);
    assert_eq!(report.frames_delivered, FRAMES, "{format:?}, WTHRESH {write_back}, {discovery:?}: {report}");
    assert_eq!(counter(&report, "rx0.FRAMES"), FRAMES);
    report
}

/// TLPs both ways for each frame.
fn tlps(report: &Report) -> f64 {
    (report.pcie.up_tlps + report.pcie.down_tlps) as f64 / FRAMES as f64
}

/// Catches: a batch written over the ring's end, or over a line not its own; a phase that is wrong after the wrap; an index
/// ahead of its completions; a batch that waits for ever; gathering that does not gather.
#[test]
fn every_format_and_threshold_brings_all_and_takes_fewer_tlps_when_gathered() {
    say("| completion | found by | WTHRESH | TLPs up | TLPs down | both | bytes up | bytes down |");
    say("|---|---|---|---|---|---|---|---|");
    for discovery in [Discovery::Phase, Discovery::Index] {
        for format in FORMATS {
            for write_back in [1, 2, 4, 8] {
                let report = run(format, write_back, discovery);
                let a_frame = |count: u64| count as f64 / FRAMES as f64;
                say(&format!(
                    "| {format:?} | {discovery:?} | {write_back} | {:.3} | {:.3} | {:.3} | {:.1} | {:.1} |",
                    a_frame(report.pcie.up_tlps),
                    a_frame(report.pcie.down_tlps),
                    tlps(&report),
                    a_frame(report.pcie.up_bytes),
                    a_frame(report.pcie.down_bytes),
                ));
                // Two long completions share a line, or four compact ones.
                let line = if format == Format::Full { 2 } else { 4 };
                let gathered = 1.0 / f64::from(write_back.min(line));
                let index = if discovery == Discovery::Index { 1.0 / f64::from(write_back) } else { 0.0 };
                let writes = a_frame(report.pcie.up["memory_write"].tlps - report.interrupts) - 1.0;
                let what = format!("{format:?}, WTHRESH {write_back}, {discovery:?}: {writes} writes a frame beside its own");
                // Interrupts that the driver had no need to take are writes, too; and an index may stand for more.
                assert!(writes < gathered + index + 0.08, "{what}");
                assert!(writes > gathered - 0.01, "{what}");
                if (format, write_back, discovery) == (Format::CompactHash, 4, Discovery::Phase) {
                    assert!(tlps(&report) <= 1.7, "{report}");
                }
            }
        }
    }
}

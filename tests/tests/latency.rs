//! PCIe latency must not matter: 60-byte frames back to back at 1 Gb/s, one RX queue, rings of 256, and reads that take
//! 1.0, 1.8 and 5.0 µs. Which PTHRESH, HTHRESH and BATCH that takes is in the table.
//!
//! A frame takes 672 ns of the line. A read of BATCH descriptors brings BATCH frames on, and the next begins when it
//! is over: with one descriptor a read, 1.49 million frames a second need a round trip of 672 ns.

use ferronic_contract::thresholds::Thresholds;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::report::Report;
use ferronic_sim::run::Direction;
use ferronic_sim::wire::Generator;
use ferronic_tests::scenario::{play, setup};
use ferronic_tests::say;

/// A read's round trip in an idle system, in ns: as it is, with 0.8 µs and with 4 µs more.
const LATENCIES: [u32; 3] = [1000, 1800, 5000];
/// Frames a second that the line brings, in millions.
const LINE: f64 = 1e3 / 672.0;

const fn thresholds(prefetch: u8, host: u8, batch: u8) -> Thresholds {
    Thresholds { prefetch, host, batch, write_back: 1, low_water: 0 }
}

/// Millions of frames a second that the driver delivers, and the run.
fn rate(link: &str, latency_ns: u32, thresholds: Thresholds, frames: u64) -> (f64, Report) {
    let mut run = setup(Direction::Receive, link, 256, 1);
    run.pcie.latency_ns = latency_ns;
    run.driver.rx[0].queue.thresholds = thresholds;
    let traffic: Generator = format!("size=60,count={frames},rate=line").parse().unwrap();
    let (report, _) = play::<NicCore, 8>(&run, traffic.frames(1, run.driver.mac));
    assert_eq!(report.mismatches, 0, "{report}");
    assert_eq!((report.frames_in, report.frames_delivered + report.dropped()), (frames, frames), "{report}");
    (report.frames_delivered as f64 / report.sim_seconds * 1e-6, report)
}

fn row(link: &str, Thresholds { prefetch, host, batch, .. }: Thresholds, rates: &[(f64, Report)]) {
    let cells: Vec<String> = rates
        .iter()
        .map(|(rate, report)| format!("{rate:.3} ({:>4.1} % lost)", 100.0 * report.dropped() as f64 / report.frames_in as f64))
        .collect();
    say(&format!("| {link} | {prefetch:>2} | {host:>2} | {batch:>2} | {} |", cells.join(" | ")));
}

fn head() {
    say("| link | PTHRESH | HTHRESH | BATCH | 1.0 µs: Mpps | 1.8 µs | 5.0 µs |");
}

/// The rate with 4 µs more is within 5 % of the one without, and of the line's, and no frame is lost.
fn hold(link: &str, thresholds: Thresholds, frames: u64) {
    let rates = LATENCIES.map(|latency| rate(link, latency, thresholds, frames));
    row(link, thresholds, &rates);
    for (rate, report) in &rates {
        assert_eq!(report.dropped(), 0, "{report}");
        assert!(*rate >= 0.95 * rates[0].0 && *rate >= 0.95 * LINE, "{rate:.3} Mpps\n{report}");
    }
}

#[test]
fn with_the_default_thresholds_latency_does_not_matter() {
    head();
    for link in ["gen1x1", "gen2x1"] {
        hold(link, Thresholds::default(), 5000);
    }
}

/// Without prefetch the rate falls with each microsecond: the measurement can tell.
#[test]
fn one_descriptor_a_read_shows_the_latency() {
    head();
    let poor = thresholds(1, 1, 1);
    let rates = LATENCIES.map(|latency| rate("gen1x1", latency, poor, 3000));
    row("gen1x1", poor, &rates);
    assert!(rates[1].0 < 0.85 * rates[0].0 && rates[2].0 < 0.5 * rates[0].0);
}

#[test]
#[ignore = "slow: run by name"]
fn table_of_thresholds() {
    head();
    for link in ["gen1x1", "gen2x1"] {
        for thresholds in [
            thresholds(1, 1, 1),
            thresholds(4, 1, 4),
            thresholds(8, 1, 8),
            thresholds(16, 1, 8),
            thresholds(16, 8, 16),
            thresholds(32, 8, 16),
            thresholds(32, 8, 32),
        ] {
            let rates = LATENCIES.map(|latency| rate(link, latency, thresholds, 4000));
            row(link, thresholds, &rates);
        }
        // The most on chip.
        hold(link, thresholds(64, 16, 32), 4000);
    }
}

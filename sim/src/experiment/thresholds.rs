//! Device-side thresholds: how much prefetch a ring needs, by the latency of the bus.

use super::findings::{Claim, Findings, Plot, Table};
use super::simulate::{host, runs, Job};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::report::Report;
use crate::run::Run;
use crate::setup;
use crate::wire::LineRate;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Link;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "thresholds",
    question: "How much descriptor prefetch does a NIC need, and what does it cost on the bus?",
    source: "PTHRESH, HTHRESH and WTHRESH of Intel's 8254x and 8257x (Software Developer's Manuals, RXDCTL): set by drivers to \
             numbers that nobody explains. FPGA NICs that fetch a descriptor when a frame needs one lose rate with latency \
             (Corundum and cndm).",
    simulated: true,
    run,
};

const LINE_MBPS: u64 = 2500;
const LATENCIES: [u32; 4] = [500, 1000, 2000, 4000];

#[derive(Clone, Copy)]
struct Case {
    pthresh: u8,
    hthresh: u8,
    batch: u8,
    latency_ns: u32,
}

impl Case {
    fn job(&self, frames: u32, seed: u64) -> Job {
        let thresholds =
            Thresholds { prefetch: self.pthresh, host: self.hthresh, batch: self.batch, ..Thresholds::default() };
        let ring = RingSize::new(256).unwrap_or_else(|| unreachable!("a power of two"));
        let frames: crate::wire::Generator =
            format!("size=60,count={frames}").parse().unwrap_or_else(|error| unreachable!("{error}"));
        let mut driver = setup::driver(ring, thresholds, 128);
        // A MAC with room for few frames: one that waits longer than 2 µs for its descriptor is dropped.
        driver.hold_usecs = Some(2);
        let pcie = host(Link::parse("gen2x2").unwrap_or(Link::GEN1_X1), self.latency_ns, seed);
        let line = LineRate::from_mbps(LINE_MBPS).unwrap_or_default();
        Job { run: Run { driver, pcie, line, pace: frames.pace(), ..Run::default() }, frames }
    }
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    let pthreshes: &[u8] = scope.either(&[1, 32], &[1, 4, 8, 16, 32, 64]);
    let hthreshes: &[u8] = scope.either(&[1], &[1, 16]);
    let batches: &[u8] = scope.either(&[16], &[1, 4, 16, 32]);
    let latencies: &[u32] = scope.either(&[500, 4000], &LATENCIES);
    let mut cases = Vec::new();
    for &latency_ns in latencies {
        for &pthresh in pthreshes {
            for &hthresh in hthreshes {
                cases.extend(batches.iter().map(|&batch| Case { pthresh, hthresh, batch, latency_ns }));
            }
        }
    }
    let reports = runs(&cases, scope, |case| case.job(scope.either(200, 500), scope.seed))?;
    let mut table = Table::new(
        "all",
        "Every combination",
        &[
            "latency [ns]", "PTHRESH [descriptors]", "HTHRESH [descriptors]", "BATCH [descriptors]", "frames", "dropped",
            "frames that waited", "starved [cycles]", "starved [cycles a frame]", "descriptor reads [TLPs a frame]",
        ],
    );
    let starved = |report: &Report| report.starved_cycles as f64 / report.frames_in as f64;
    let reads = |report: &Report| report.descriptor_reads as f64 / report.frames_in as f64;
    for (case, report) in cases.iter().zip(&reports) {
        let waited = report.queues.iter().map(|queue| queue.waited).sum::<u64>();
        table.row(cells![
            u64::from(case.latency_ns), u64::from(case.pthresh), u64::from(case.hthresh), u64::from(case.batch), report.frames_in,
            report.dropped(), waited, report.starved_cycles, starved(report), reads(report),
        ]);
    }
    let of = |latency_ns: u32, pthresh: u8, hthresh: u8, batch: u8| {
        let wanted = (latency_ns, pthresh, hthresh, batch);
        let at = cases.iter().position(|case| (case.latency_ns, case.pthresh, case.hthresh, case.batch) == wanted);
        at.map(|at| &reports[at])
    };
    let mut findings = Findings {
        setup: vec![format!(
            "The Verilated core receives 60-byte frames back to back at {LINE_MBPS} Mb/s (a frame each 269 ns) over PCIe Gen2 x2, \
             ring 256, with a host that is fast enough. A frame that waits more than 2 µs for a descriptor is dropped. The \
             latency is a read's round trip without serialisation."
        )],
        tables: vec![table],
        ..Findings::default()
    };
    let names = |values: &[u8]| values.iter().map(u8::to_string).collect::<Vec<_>>();
    let mut plot = Plot::lines(
        "starved", "Starvation by PTHRESH (HTHRESH 1, BATCH 16)", "PTHRESH [descriptors]", "starved [cycles of 8 ns a frame]",
        names(pthreshes),
    );
    let mut dropped = Plot::lines(
        "dropped", "Drops by PTHRESH (HTHRESH 1, BATCH 16)", "PTHRESH [descriptors]", "dropped [frames of 1000]", names(pthreshes),
    );
    for &latency in latencies {
        let by = |figure: fn(&Report) -> f64| pthreshes.iter().map(move |&pthresh| of(latency, pthresh, 1, 16).map(figure));
        plot.series(format!("{latency} ns"), by(|report| report.starved_cycles as f64 / report.frames_in as f64));
        dropped.series(format!("{latency} ns"), by(|report| 1000.0 * report.dropped() as f64 / report.frames_in as f64));
    }
    findings.plots.extend([plot, dropped]);
    let mut tlps = Plot::lines(
        "tlps", "Descriptor reads by BATCH (1 µs; PTHRESH 32)", "BATCH [descriptors]", "descriptor reads [TLPs a frame]", names(batches),
    );
    let latency = if scope.quick { 500 } else { 1000 };
    for &hthresh in hthreshes {
        tlps.series(format!("HTHRESH {hthresh}"), batches.iter().map(|&batch| of(latency, 32, hthresh, batch).map(reads)));
    }
    findings.plots.push(tlps);
    answer(&mut findings, &cases, &reports, latencies);
    Ok(findings)
}

/// The least prefetch that never starves, by latency, and the cheapest setting of those.
fn answer(findings: &mut Findings, cases: &[Case], reports: &[Report], latencies: &[u32]) {
    let mut table = Table::new(
        "enough",
        "The least PTHRESH with which no frame is dropped, and the fewest descriptor reads of all settings without drops",
        &["latency [ns]", "frames in a round trip", "least PTHRESH [descriptors]", "cheapest setting", "descriptor reads [TLPs a frame]"],
    );
    let mut least_of = Vec::new();
    let mut grown = 0.0f64;
    for &latency in latencies {
        let good = || cases.iter().zip(reports).filter(|(case, report)| case.latency_ns == latency && report.dropped() == 0);
        let least = good().map(|(case, _)| case.pthresh).min();
        let cost = |report: &Report| report.descriptor_reads as f64 / report.frames_in as f64;
        let cheapest = good().min_by(|(_, one), (_, other)| cost(one).total_cmp(&cost(other)));
        table.row(cells![
            u64::from(latency),
            f64::from(latency) / 268.8,
            least.map(u64::from),
            cheapest.map(|(case, _)| format!("PTHRESH {}, HTHRESH {}, BATCH {}", case.pthresh, case.hthresh, case.batch)),
            cheapest.map(|(_, report)| cost(report)),
        ]);
        least_of.push(least);
        grown = grown.max(cheapest.map_or(0.0, |(_, report)| cost(report)));
    }
    findings.tables.insert(0, table);
    let monotone = super::steps(&least_of, |before, after| match (before, after) {
        (Some(before), Some(after)) => before <= after,
        (_, None) => true,
        (None, Some(_)) => false,
    });
    findings.claims.push(Claim::new(
        "The longer the round trip, the more descriptors must be on chip.",
        monotone && least_of.first() != least_of.last(),
        format!("Least PTHRESH without drops, by latency: {least_of:?}."),
    ));
    let one = |pthresh: u8| {
        let one = cases.iter().zip(reports).filter(|(case, _)| case.pthresh == pthresh && case.latency_ns == latencies[latencies.len() - 1]);
        one.map(|(_, report)| report.dropped()).sum::<u64>()
    };
    findings.claims.push(Claim::new(
        "A NIC that fetches a descriptor only when it has none (PTHRESH 1) loses frames at the longest latency; one that \
         prefetches 32 loses fewer.",
        one(1) > one(32),
        format!("At {} ns, all settings together: {} dropped with PTHRESH 1, {} with 32.", latencies[latencies.len() - 1], one(1), one(32)),
    ));
    findings.answer.push(format!(
        "Prefetch has to cover a round trip: the least PTHRESH without drops is {} at {} ns and {} at {} ns. Prefetch that is \
         enough costs no more than {grown:.2} descriptor reads a frame when BATCH is chosen well.",
        shown(least_of.first()), latencies[0], shown(least_of.last()), latencies[latencies.len() - 1],
    ));
}

fn shown(least: Option<&Option<u8>>) -> String {
    least.copied().flatten().map_or("beyond what was tried".into(), |least| least.to_string())
}

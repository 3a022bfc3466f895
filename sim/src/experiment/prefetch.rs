//! Prefetch: which headers are asked for ahead, and what that is worth.

use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::receive::{Consumer, Receive};
use super::{Experiment, Failure, Scope};
use crate::cells;
use ferronic::{Classify, Prefetch, Replenish, RxPolicy};

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "prefetch",
    question: "Which headers should a driver prefetch, and when?",
    source: "netdev, 2005 to 2008, on prefetching in eth_type_trans() and in e1000 (“obvious” and “aggressive”); DPDK's and ixy's \
             prefetch of the next packet; the two passes of vector receive paths.",
    simulated: false,
    run,
};

const POLICIES: [(&str, Prefetch); 5] = [
    ("none", Prefetch::Off),
    ("current", Prefetch::Current),
    ("next", Prefetch::Next),
    ("two passes", Prefetch::TwoPass),
    ("wanted", Prefetch::Wanted),
];

#[derive(Clone, Copy, PartialEq, Eq)]
struct Variant {
    policy: usize,
    classify: Classify,
    consumer: Consumer,
    batch: usize,
}

impl Variant {
    fn measure(&self, cycles: &Cycles, places: Places, polls: usize) -> Result<f64, Failure> {
        let policy = RxPolicy {
            prefetch: POLICIES[self.policy].1,
            classify: self.classify,
            copybreak: 0,
            replenish: Replenish::AsTaken { doorbell_every: 8 },
            ..RxPolicy::default()
        };
        let receive = Receive { policy, batch: self.batch, polls, ..Receive::default() };
        Ok(receive.measure(cycles, places, &mut self.consumer.clone())?.cycles)
    }
}

const HEADERS: [(&str, Classify, Consumer); 3] = [
    ("software classifies", Classify::Software, Consumer::Class),
    ("status bits, consumer reads the packet", Classify::Status, Consumer::Payload),
    ("status bits, consumer reads the class", Classify::Status, Consumer::Class),
];

fn run(scope: &Scope) -> Result<Findings, Failure> {
    pinned(|places| measure(scope, places).map_err(|error| error.to_string())).map_err(Into::into)
}

fn measure(scope: &Scope, places: Places) -> Result<Findings, Failure> {
    let batches: &[usize] = scope.either(&[8, 32], &[8, 16, 32, 64]);
    let rounds = scope.either(3, 15);
    let mut variants = Vec::new();
    for &batch in batches {
        for (_, classify, consumer) in HEADERS {
            variants.extend((0..POLICIES.len()).map(|policy| Variant { policy, classify, consumer, batch }));
        }
    }
    let cycles = Cycles::default();
    let mut done = 0;
    let figures = in_turn(&variants, rounds, scope.seed, |variant| {
        done += 1;
        (scope.progress)(&format!("figure {done} of {}", rounds * variants.len()));
        variant.measure(&cycles, places, scope.either(60, 200))
    })?;
    let of = |header: usize, batch: usize, policy: usize| {
        let (_, classify, consumer) = HEADERS[header];
        let wanted = Variant { policy, classify, consumer, batch };
        let at = variants.iter().position(|variant| *variant == wanted);
        at.map(|at| &figures[at][..]).unwrap_or_default()
    };
    let mut table = Table::new(
        "cycles",
        "Cycles a packet of a poll: median over the rounds, with quartiles",
        &["who touches the header", "batch [packets]", "prefetch", "median [cycles]", "first quartile [cycles]", "third quartile [cycles]", "to none"],
    );
    let mut findings = Findings {
        setup: vec![
            format!(
                "The software device writes 60-byte UDP frames (64 on the wire) past the caches from another core, so that every header is \
                 cold. A poll is timed when all of its batch is there: ring 512, a doorbell every 8, no copybreak. {}",
                places.sentence()
            ),
            format!(
                "{rounds} rounds, in each of which every variant runs once, in an order that changes, with a device and driver of \
                 its own. Cycles are those of the time-stamp counter."
            ),
        ],
        ..Findings::default()
    };
    for (header, (name, ..)) in HEADERS.iter().enumerate() {
        let labels = batches.iter().map(usize::to_string);
        let title = format!("Cold headers: {name}");
        let mut plot = Plot::bars(&format!("cycles-{}", header + 1), &title, "batch [packets]", "a packet [cycles]", labels);
        for (policy, (prefetch, _)) in POLICIES.iter().enumerate() {
            let mut points = Vec::new();
            for (place, &batch) in batches.iter().enumerate() {
                let own = of(header, batch, policy);
                let summary = Summary::of(own);
                let ratio = Summary::of_ratio(own, of(header, batch, 0));
                table.row(cells![*name, batch as u64, *prefetch, summary.median, summary.low, summary.high, ratio.median]);
                points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
            }
            plot.series.push(Series { name: (*prefetch).into(), points });
        }
        findings.plots.push(plot);
    }
    findings.tables.push(table);
    answer(&mut findings, batches, of);
    Ok(findings)
}

fn answer<'a>(findings: &mut Findings, batches: &[usize], of: impl Fn(usize, usize, usize) -> &'a [f64]) {
    let batch = if batches.contains(&32) { 32 } else { batches[0] };
    let ratio = |header, policy| Summary::of_ratio(of(header, batch, policy), of(header, batch, 0)).median;
    let best = |header| {
        let ratios = (0..POLICIES.len()).map(|policy| (policy, ratio(header, policy)));
        ratios.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or((0, 1.0))
    };
    let (policy, least) = best(0);
    findings.claims.push(Claim::new(
        format!("Where the header is touched, prefetching it ahead pays (software classification, batch {batch})."),
        policy != 0 && least < 0.95,
        format!("The best is “{}”, with {least:.2} of the cycles without prefetch.", POLICIES[policy].0),
    ));
    let current = ratio(0, 1);
    findings.claims.push(Claim::new(
        "The obvious place, the current header when its turn comes, is too late: it gains under half of what the best gains.",
        1.0 - current < (1.0 - least) / 2.0,
        format!("Current: {current:.2}; best: {least:.2}."),
    ));
    let (two, next) = (ratio(0, 3), ratio(0, 2));
    findings.claims.push(Claim::new(
        "Two passes over the batch hide more than prefetching the next header alone.",
        two < next,
        format!("Two passes: {two:.2}; next: {next:.2}."),
    ));
    let (useless, wanted) = (ratio(2, 3), ratio(2, 4));
    findings.claims.push(Claim::new(
        "Where nobody touches the header, prefetching only what is wanted costs nothing (within 5 %).",
        wanted < 1.05,
        format!("Wanted: {wanted:.2} of the cycles without prefetch; two passes, for nothing: {useless:.2}."),
    ));
    let names: Vec<String> = (0..HEADERS.len())
        .map(|header| {
            let (policy, ratio) = best(header);
            format!("{}: “{}” ({ratio:.2})", HEADERS[header].0, POLICIES[policy].0)
        })
        .collect();
    findings.answer.push(format!(
        "Fewest cycles a packet at batch {batch}, and what part of those without prefetch they are. {}. What is not touched \
         need not be prefetched, and with status bits most consumers touch nothing.",
        names.join("; ")
    ));
}

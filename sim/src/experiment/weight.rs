//! Weight and drops: the netdev reports of 2005, on a NIC whose ring can be looked into.

use super::findings::{Claim, Findings, Plot, Table};
use super::simulate::{host, runs, Job};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::cost::{HostCost, Stack};
use crate::report::Report;
use crate::run::Run;
use crate::setup;
use crate::wire::LineRate;
use ferronic::{Replenish, Weight};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{Iotlb, Link};

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "weight",
    question: "Why did a smaller NAPI weight, or a refill every 16 packets, stop drops?",
    source: "netdev, May and June 2005, the thread on NAPI packet weighting: with e1000 and a ring of 256, weight 64 dropped \
             packets, 32 nearly none, 20 none; refilling every 16 packets removed most drops; and a ring of 512 dropped none but \
             ran slower, “once the ring grows past one page”.",
    simulated: true,
    run,
};

/// Flows whose windows arrive together.
const FLOWS: u32 = 10;
/// The wire in Mb/s: fast, so that a simulated cycle has much to do. What counts is the host's cost beside a frame's time.
const LINE_MBPS: u64 = 5000;
/// Time of a 60-byte frame on it.
const FRAME_NS: f64 = 134.4;
const LATENCY_NS: u32 = 1000;
/// Host cost of the main grid: about three frames' time, with answers four and a half.
const PACKET_NS: u64 = 400;
const COLD_NS: u64 = 400;

const WEIGHTS: [u16; 5] = [64, 32, 20, 16, 8];
const REPLENISH: [(&str, Replenish); 3] =
    [("at the end", Replenish::AtEnd), ("every 16", Replenish::Every(16)), ("as taken", Replenish::AsTaken { doorbell_every: 1 })];

/// A run.
#[derive(Clone, Copy)]
struct Case {
    weight: u16,
    replenish: (&'static str, Replenish),
    ring: u32,
    /// Frames of a flow in a burst.
    window: u32,
    packet_ns: u64,
    iotlb: Option<Iotlb>,
    buffer_bytes: u16,
}

impl Case {
    fn burst(&self) -> u32 {
        FLOWS * self.window
    }

    /// Mean cost of a packet, answers and cold caches included.
    fn mean_ns(&self) -> f64 {
        self.packet_ns as f64 * 1.5 + COLD_NS as f64 / f64::from(self.weight)
    }

    fn job(&self, bursts: u32, seed: u64) -> Job {
        let ring = RingSize::new(self.ring).unwrap_or_else(|| unreachable!("the rings above are powers of two"));
        let mut driver = setup::driver(ring, Thresholds::default(), 128);
        // A frame that finds no descriptor is dropped after 1 µs: the packet FIFO of this core holds 500 such frames, and
        // would hide what the e1000's, which held few, showed.
        driver.hold_usecs = Some(1);
        driver.buffer_bytes = self.buffer_bytes;
        let policy = &mut driver.rx[0].policy;
        (policy.weight, policy.replenish, policy.copybreak) = (Weight::Fixed(self.weight), self.replenish.1, 0);
        let mut pcie = host(Link::parse("gen3x4").unwrap_or(Link::GEN1_X1), LATENCY_NS, seed);
        pcie.iotlb = self.iotlb;
        // The host is done with a burst before the next.
        let rate = 0.8e9 / self.mean_ns().max(FRAME_NS);
        let frames = format!("size=60,count={},mix=tcp,rate={}pps,burst={}", bursts * self.burst(), rate as u64, self.burst());
        let frames: crate::wire::Generator = frames.parse().unwrap_or_else(|error| unreachable!("{error}"));
        let run = Run {
            driver,
            pcie,
            line: LineRate::from_mbps(LINE_MBPS).unwrap_or_default(),
            pace: frames.pace(),
            budget: usize::from(self.weight),
            cost: HostCost { packet_ns: self.packet_ns, ..HostCost::default() },
            stack: Stack { cold_ns: COLD_NS, answer_every: 2 },
            ..Run::default()
        };
        Job { run, frames }
    }
}

fn permille(report: &Report) -> f64 {
    1000.0 * report.dropped() as f64 / report.frames_in as f64
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    let mut findings = Findings {
        setup: vec![
            format!(
                "The Verilated core receives 60-byte TCP frames of {FLOWS} flows whose windows arrive together, back to back at \
                 {LINE_MBPS} Mb/s ({FRAME_NS} ns a frame), then waits until the host is done with them. PCIe Gen3 x4, read \
                 latency {LATENCY_NS} ns."
            ),
            format!(
                "The host pays {PACKET_NS} ns a packet unless the table says otherwise, twice that for every second one (the \
                 acknowledgement), and {COLD_NS} ns more for the first packet of each poll (cold caches). An interrupt costs \
                 2 µs. A frame that finds no descriptor waits 1 µs and is dropped."
            ),
        ],
        ..Findings::default()
    };
    grid(scope, &mut findings)?;
    sweep(scope, &mut findings)?;
    iotlb(scope, &mut findings)?;
    Ok(findings)
}

/// Weights × replenishment × ring, over bursts.
fn grid(scope: &Scope, findings: &mut Findings) -> Result<(), Failure> {
    let windows: &[u32] = scope.either(&[28], &[20, 24, 28, 32, 36]);
    let rings: &[u32] = scope.either(&[256], &[256, 512]);
    let weights: &[u16] = scope.either(&[64, 20], &WEIGHTS);
    let mut cases = Vec::new();
    for &ring in rings {
        for replenish in REPLENISH {
            for &weight in weights {
                cases.extend(windows.iter().map(|&window| Case { weight, replenish, ring, window, packet_ns: PACKET_NS, iotlb: None, buffer_bytes: 128 }));
            }
        }
    }
    let reports = runs(&cases, scope, |case| case.job(scope.either(1, 3), scope.seed))?;
    let mut table = Table::new(
        "drops",
        "Drops by weight, replenishment, ring and burst",
        &[
            "ring [descriptors]", "replenish", "weight [packets]", "burst [frames]", "frames", "dropped", "dropped share [1/1000]",
            "starved [cycles]", "doorbells", "median latency [ns]", "time [µs]",
        ],
    );
    for (case, report) in cases.iter().zip(&reports) {
        table.row(cells![
            u64::from(case.ring), case.replenish.0, u64::from(case.weight), u64::from(case.burst()), report.frames_in,
            report.dropped(), permille(report), report.starved_cycles, report.doorbells,
            report.latency.map(|latency| latency.median_ns), report.sim_seconds * 1e6,
        ]);
    }
    findings.tables.push(table);
    let of = |ring: u32, replenish: &str, weight: u16, window: u32| {
        let at = cases.iter().position(|case| {
            (case.ring, case.replenish.0, case.weight, case.window) == (ring, replenish, weight, window)
        });
        at.map(|at| &reports[at])
    };
    for (replenish, _) in REPLENISH {
        let name = format!("drops-{}", replenish.replace(' ', "-"));
        let title = format!("Ring 256, replenished {replenish}");
        let labels = windows.iter().map(|window| (FLOWS * window).to_string());
        let mut plot = Plot::lines(&name, &title, "burst [frames]", "dropped [1/1000 of the frames]", labels);
        for &weight in weights {
            let share = |window: &u32| of(256, replenish, weight, *window).map(permille);
            plot.series(format!("weight {weight}"), windows.iter().map(share));
        }
        findings.plots.push(plot);
    }
    let window = 28;
    let drops = |replenish, weight| of(256, replenish, weight, window).map_or(0, Report::dropped);
    let burst = FLOWS * window;
    let (wide, narrow) = (drops("at the end", 64), drops("at the end", 20));
    findings.claims.push(Claim::new(
        format!("Replenished at the end, weight 64 drops and weight 20 does not (ring 256, bursts of {burst} frames)."),
        wide > 0 && narrow == 0,
        format!("Weight 64: {wide} dropped; weight 20: {narrow}."),
    ));
    if let Some(report) = of(256, "at the end", 32, window) {
        let drops = report.dropped();
        findings.claims.push(Claim::new(
            "Weight 32 drops nearly none: at most a tenth of weight 64.",
            drops * 10 <= wide,
            format!("Weight 32: {drops} dropped; weight 64: {wide}."),
        ));
    }
    let every = drops("every 16", 64);
    findings.claims.push(Claim::new(
        "A refill every 16 packets removes most drops at weight 64: at least nine of ten.",
        wide > 0 && every * 10 <= wide,
        format!("At the end: {wide}; every 16: {every}."),
    ));
    mechanism(findings, &cases, &reports);
    Ok(())
}

/// Whether the drops are those of a ring that is shorter by what is taken and not yet put back.
fn mechanism(findings: &mut Findings, cases: &[Case], reports: &[Report]) {
    let (mut checked, mut fits, mut worst) = (0, 0, 0.0f64);
    for (case, report) in cases.iter().zip(reports) {
        let missing = match case.replenish.1 {
            Replenish::AtEnd => f64::from(case.weight),
            Replenish::Every(count) => f64::from(count.min(case.weight)),
            _ => 0.0,
        };
        let bursts = report.frames_in as f64 / f64::from(case.burst());
        // What waits when the burst ends; an interrupt and moderation pass before the first is taken.
        let waiting = f64::from(case.burst()) * (1.0 - FRAME_NS / case.mean_ns());
        let short = |missing: f64| (waiting - (f64::from(case.ring) - missing)).max(0.0) * bursts;
        // Anything from none to all of what a poll takes may be missing when the ring runs dry.
        let (least, most) = (short(0.0), short(missing));
        let dropped = report.dropped() as f64;
        let off = (least - dropped).max(dropped - most).max(0.0) / report.frames_in as f64;
        checked += 1;
        fits += u32::from(off <= 0.06);
        worst = worst.max(off);
    }
    findings.claims.push(Claim::new(
        "The mechanism is the ring alone: drops begin where what waits exceeds the ring less the descriptors that the poll \
         has taken and not put back, at most the weight (at the end), 16, or none (as taken).",
        fits == checked,
        format!(
            "Of {checked} runs, {fits} drop as many as that says, to 6 % of the frames; the one that is farthest off by {:.1} %.",
            100.0 * worst
        ),
    ));
}

/// Under which host costs and bursts it looks as in 2005.
fn sweep(scope: &Scope, findings: &mut Findings) -> Result<(), Failure> {
    let costs: &[u64] = scope.either(&[400], &[100, 200, 400, 800]);
    let windows: &[u32] = scope.either(&[28], &[22, 24, 26, 28, 30, 34, 40, 50]);
    let mut cases = Vec::new();
    for &packet_ns in costs {
        for &window in windows {
            let case = |weight, replenish| Case { weight, replenish, ring: 256, window, packet_ns, iotlb: None, buffer_bytes: 128 };
            cases.extend([64, 32, 20].map(|weight| case(weight, REPLENISH[0])));
            cases.push(case(64, REPLENISH[1]));
        }
    }
    let reports = runs(&cases, scope, |case| case.job(scope.either(1, 2), scope.seed))?;
    let mut table = Table::new(
        "pattern",
        "Where it looks as in 2005: 64 drops, 32 at most a tenth of that, 20 none, and a refill every 16 at most a tenth",
        &[
            "packet cost [ns]", "cost in frame times", "burst [frames]", "weight 64 [dropped]", "weight 32 [dropped]",
            "weight 20 [dropped]", "weight 64, every 16 [dropped]", "as in 2005",
        ],
    );
    let mut found = Vec::new();
    for (case, four) in cases.chunks(4).zip(reports.chunks(4)) {
        let drops: Vec<u64> = four.iter().map(Report::dropped).collect();
        let pattern = drops[0] > 0 && drops[1] * 10 <= drops[0] && drops[2] == 0 && drops[3] * 10 <= drops[0];
        let relative = case[0].mean_ns() / FRAME_NS;
        table.row(cells![
            case[0].packet_ns, relative, u64::from(case[0].burst()), drops[0], drops[1], drops[2], drops[3],
            if pattern { "yes" } else { "no" },
        ]);
        if pattern {
            found.push((case[0].packet_ns, case[0].burst(), case[0].mean_ns()));
        }
    }
    findings.tables.push(table);
    findings.claims.push(Claim::new(
        "There are host costs and bursts under which all three reports are true at once.",
        !found.is_empty(),
        format!("{} of {} points of the sweep.", found.len(), cases.len() / 4),
    ));
    let points: Vec<String> = found.iter().map(|(cost, burst, _)| format!("{burst} frames at {cost} ns")).collect();
    findings.answer.push(if points.is_empty() {
        "At no point of the sweep did it look as in 2005.".into()
    } else {
        format!(
            "It looks as in 2005 in a narrow band of bursts: {}. There the backlog of a burst is just under the ring of 256, and \
             over what a poll of 64 leaves of it. With smaller bursts nothing drops at any weight; with larger ones all do.",
            points.join(", ")
        )
    });
    Ok(())
}

/// Ring 256 against 512, with a root complex that translates addresses.
fn iotlb(scope: &Scope, findings: &mut Findings) -> Result<(), Failure> {
    let entries: &[u16] = scope.either(&[16], &[0, 4, 16, 64, 160, 320]);
    let mut cases = Vec::new();
    for &ring in &[256, 512] {
        for &entries in entries {
            let iotlb = (entries > 0).then_some(Iotlb { entries, miss_ns: 100 });
            cases.push(Case { weight: 64, replenish: REPLENISH[1], ring, window: 24, packet_ns: 80, iotlb, buffer_bytes: 2048 });
        }
    }
    let reports = runs(&cases, scope, |case| case.job(scope.either(1, 6), scope.seed))?;
    let mut table = Table::new(
        "iotlb",
        "Ring 256 and 512 behind an IOTLB whose miss costs 100 ns; buffers of 2048 bytes, two to a page",
        &["ring [descriptors]", "IOTLB [entries]", "dropped", "median latency [ns]", "99 % latency [ns]", "misses a frame"],
    );
    let misses = |report: &Report| report.pcie.iotlb_misses as f64 / report.frames_in as f64;
    for (case, report) in cases.iter().zip(&reports) {
        table.row(cells![
            u64::from(case.ring),
            case.iotlb.map_or("none".into(), |iotlb| iotlb.entries.to_string()),
            report.dropped(),
            report.latency.map(|latency| latency.median_ns),
            report.latency.map(|latency| latency.p99_ns),
            misses(report),
        ]);
    }
    findings.tables.push(table);
    let labels = entries.iter().map(|entries| if *entries == 0 { "no translation".into() } else { entries.to_string() });
    let mut plot = Plot::lines("iotlb", "IOTLB misses", "IOTLB [entries]", "misses [a frame]", labels);
    for (ring, half) in [256, 512].iter().zip(reports.chunks(entries.len())) {
        plot.series(format!("ring {ring}"), half.iter().map(|report| Some(misses(report))));
    }
    findings.plots.push(plot);
    let (small, large) = reports.split_at(entries.len());
    let slower = |(small, large): (&Report, &Report)| {
        let median = |report: &Report| report.latency.map_or(0, |latency| latency.median_ns);
        median(large) as f64 > median(small) as f64 * 1.05
    };
    let sizes = || entries.iter().zip(small.iter().zip(large));
    let slow: Vec<String> = sizes().filter(|(_, pair)| slower(*pair)).map(|(entries, _)| entries.to_string()).collect();
    findings.claims.push(Claim::new(
        "A ring of 512 is slower than one of 256 behind an IOTLB that holds the pages of the one and not of the other.",
        !slow.is_empty(),
        match slow.is_empty() {
            true => "The median latency is nowhere over 5 % higher.".into(),
            false => format!("The median latency is over 5 % higher with {} entries.", slow.join(", ")),
        },
    ));
    let worst = small.iter().zip(large).map(|(small, large)| misses(large) - misses(small)).fold(0.0, f64::max);
    findings.answer.push(format!(
        "Behind an IOTLB, a ring of 512 misses up to {worst:.2} times a frame more than one of 256. It is not the descriptor ring's \
         second page: 256 descriptors take one page and their completions two, but their buffers 128, which come round in turn. \
         A ring whose buffers are more pages than the IOTLB has entries misses with nearly every one."
    ));
    Ok(())
}

//! TX policies: interrupts and throughput in simulated time, reclaim cost in cycles.

use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::simulate::{each, host};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::cost::HostCost;
use crate::device::SimDevice;
use crate::models::nic_core::NicCore;
use crate::scoreboard::Scoreboard;
use crate::setup;
use crate::software::{Options, SoftwareDevice};
use crate::world::World;
use ferronic::policy::tx::{Doorbell, Full, Notify, Reclaim, TxPolicy};
use ferronic::statistics::TxStatistics;
use ferronic::Nic;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Link;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "tx",
    question: "When should a sender take buffers back, ring the doorbell, and be told?",
    source: "netdev on tx_work_limit, xmit_more and TX interrupts; virtio's event index (VIRTIO 1.2, 2.7.10), which its authors \
             brought in against an interrupt a packet.",
    simulated: false,
    run,
};

const BASE: TxPolicy =
    TxPolicy { reclaim: Reclaim::All, full: Full::Stop { wake: 16 }, notify: Notify::Moderated, doorbell: Doorbell::Batch };
const RING: u32 = 128;
/// Frames between two flushes.
const BATCH: usize = 16;

/// One policy changed at a time.
fn policies() -> Vec<(&'static str, TxPolicy)> {
    vec![
        ("usual", BASE),
        ("notify every packet", TxPolicy { notify: Notify::EveryPacket, ..BASE }),
        ("event index", TxPolicy { notify: Notify::EventIndex, ..BASE }),
        ("wake for one", TxPolicy { full: Full::Stop { wake: 1 }, ..BASE }),
        ("wake at half", TxPolicy { full: Full::Stop { wake: RING as u16 / 2 }, ..BASE }),
        ("drop when full", TxPolicy { full: Full::Drop, ..BASE }),
        ("doorbell every packet", TxPolicy { doorbell: Doorbell::EveryPacket, ..BASE }),
        ("reclaim 16 a call", TxPolicy { reclaim: Reclaim::Constant(16), ..BASE }),
        ("reclaim at half", TxPolicy { reclaim: Reclaim::HalfUsed, ..BASE }),
    ]
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    let mut findings = Findings {
        setup: vec![
            format!(
                "In simulated time: the Verilated core sends at 1 Gb/s over PCIe Gen2 x1, ring {RING}, tx-frames 16, tx-usecs 20. The host \
                 (50 ns a frame, 2 µs an interrupt) sends as fast as it can and rings after each {BATCH}; when the queue is \
                 stopped, it sleeps until it is told."
            ),
            "In cycles: the software device takes every frame at once, and what is timed is the driver alone.".into(),
        ],
        ..Findings::default()
    };
    simulated(scope, &mut findings)?;
    cycles(scope, &mut findings)?;
    Ok(findings)
}

/// What a run in simulated time gave.
struct Sent {
    frames: u64,
    seconds: f64,
    statistics: TxStatistics,
}

fn simulated(scope: &Scope, findings: &mut Findings) -> Result<(), Failure> {
    let sizes: &[u16] = scope.either(&[60], &[60, 500, 1514]);
    let policies = policies();
    let cases: Vec<(usize, u16)> = sizes.iter().flat_map(|&size| (0..policies.len()).map(move |policy| (policy, size))).collect();
    let sent = each(&cases, scope, |&(policy, size)| {
        send(policies_of(policy), size, scope.either(300, if size > 1000 { 400 } else { 1500 }), scope.seed)
    })?;
    let mut table = Table::new(
        "simulated",
        "Sending in simulated time",
        &[
            "frame [bytes]", "policy", "sent [frames]", "rate [Mb/s of the wire]", "interrupts [a thousand frames]", "waits in vain",
            "doorbells [a thousand frames]", "stops [a thousand frames]", "dropped [a thousand frames]", "frames a reclaim",
        ],
    );
    let thousand = |count: u64, sent: &Sent| 1000.0 * count as f64 / sent.frames as f64;
    let rate = |size: u16, sent: &Sent| sent.statistics.packets as f64 * f64::from(size + 24) * 8.0 / sent.seconds / 1e6;
    for (&(policy, size), sent) in cases.iter().zip(&sent) {
        let counted = &sent.statistics;
        table.row(cells![
            u64::from(size), policies[policy].0, counted.packets, rate(size, sent), thousand(counted.interrupts, sent), counted.timeouts,
            thousand(counted.doorbells, sent), thousand(counted.stops, sent), thousand(counted.dropped_ring_full, sent),
            counted.reclaimed as f64 / counted.reclaims.max(1) as f64,
        ]);
    }
    findings.tables.push(table);
    let labels = || policies.iter().map(|(name, _)| (*name).to_owned());
    let mut plot = Plot::bars("interrupts", "Interrupts by policy", "policy", "interrupts [a thousand frames]", labels());
    for &size in sizes {
        let own = cases.iter().zip(&sent).filter(|(case, _)| case.1 == size);
        plot.series(format!("{size} bytes"), own.map(|(_, sent)| Some(thousand(sent.statistics.interrupts, sent))));
    }
    findings.plots.push(plot);
    let of = |policy: usize| cases.iter().zip(&sent).find(|(case, _)| **case == (policy, 60)).map(|(_, sent)| sent);
    let interrupts = |policy| of(policy).map_or(0.0, |sent| thousand(sent.statistics.interrupts, sent));
    findings.claims.push(Claim::new(
        "An event index takes fewer interrupts than one for every packet, by ten times at least, at the same rate (within 2 %).",
        interrupts(2) * 10.0 <= interrupts(1)
            && of(2).zip(of(1)).is_some_and(|(index, every)| rate(60, index) >= 0.98 * rate(60, every)),
        format!("60-byte frames, interrupts a thousand: every packet {:.0}, moderated {:.0}, event index {:.1}.", interrupts(1), interrupts(0), interrupts(2)),
    ));
    let stops = |policy| of(policy).map_or(0.0, |sent| thousand(sent.statistics.stops, sent));
    findings.claims.push(Claim::new(
        "A queue that wakes for one free descriptor stops again with the next frame: more often than one that wakes at half.",
        stops(3) > stops(4),
        format!("Stops a thousand frames: for one {:.0}, for 16 {:.0}, at half {:.1}.", stops(3), stops(0), stops(4)),
    ));
    Ok(())
}

fn policies_of(number: usize) -> TxPolicy {
    policies()[number].1
}

fn send(policy: TxPolicy, size: u16, frames: u64, seed: u64) -> Result<Sent, Failure> {
    let settings = host(Link::parse("gen2x1")?, 1000, seed);
    let world: World<NicCore, 8> = World::new(settings, Default::default(), Scoreboard::default())?;
    let world = Rc::new(RefCell::new(world));
    let cost = HostCost::default();
    let ring = RingSize::new(RING).ok_or("a ring is a power of two")?;
    let mut config = setup::driver(ring, Thresholds::default(), 1518);
    config.rx[0].policy.copybreak = 0;
    let mut nic = Nic::open(SimDevice::open(&world, cost), &config)?;
    nic.tx.set_policy(policy)?;
    let begun = world.borrow().now_ps();
    for number in 0..frames {
        // Nothing but the TX ring limits the sender.
        while nic.tx.is_stopped() || nic.pool().available() == 0 {
            nic.tx.wait(Duration::from_micros(500))?;
        }
        let mut buffer = nic.pool().get().ok_or("no buffer")?;
        buffer.bytes_mut()[..usize::from(size)].fill(number as u8);
        let expected = buffer.bytes()[..usize::from(size)].to_vec();
        world.borrow_mut().pass_ns(cost.send_ns);
        let dropped = nic.tx.statistics().dropped_ring_full;
        nic.tx.send(buffer, 0, size).map_err(|refused| refused.why.to_string())?;
        if nic.tx.statistics().dropped_ring_full == dropped {
            world.borrow_mut().scoreboard.on_send(&expected);
        }
        if number as usize % BATCH == BATCH - 1 {
            nic.tx.flush();
            nic.tx.reclaim()?;
        }
    }
    nic.tx.flush();
    let deadline = world.borrow().now_ps() + 100_000_000_000;
    while !world.borrow().scoreboard.is_settled() {
        world.borrow_mut().pass_ns(1000);
        if world.borrow().now_ps() > deadline {
            return Err("frames do not leave".into());
        }
    }
    let seconds = (world.borrow().now_ps() - begun) as f64 * 1e-12;
    let statistics = nic.tx.statistics();
    nic.close()?;
    Ok(Sent { frames, seconds, statistics })
}

fn cycles(scope: &Scope, findings: &mut Findings) -> Result<(), Failure> {
    pinned(|places| timed(scope, places, findings).map_err(|error| error.to_string())).map_err(Into::into)
}

/// Cycles of a run: a frame in all, and the calls of reclaim.
struct Timed {
    frame: f64,
    calls: Vec<f64>,
}

fn timed(scope: &Scope, places: Places, findings: &mut Findings) -> Result<(), Failure> {
    let chosen = [0usize, 6, 7, 8];
    let policies = policies();
    let rounds = scope.either(3, 11);
    let cycles = Cycles::default();
    let mut calls: Vec<Vec<f64>> = vec![Vec::new(); policies.len()];
    let figures = in_turn(&chosen, rounds, scope.seed, |&policy| -> Result<f64, Failure> {
        (scope.progress)(policies[policy].0);
        let timed = reclaiming(policies[policy].1, &cycles, places, scope.either(100, 600))?;
        calls[policy].extend(timed.calls);
        Ok(timed.frame)
    })?;
    let mut table = Table::new(
        "cycles",
        "The driver's cycles of sending 60-byte frames, and of a call of reclaim",
        &["policy", "median [cycles a frame]", "first quartile [cycles]", "third quartile [cycles]", "reclaim: median [cycles a call]", "reclaim: third quartile [cycles]", "reclaim: 99 % [cycles]"],
    );
    let labels = chosen.map(|policy| policies[policy].0.to_owned());
    let mut plot = Plot::bars("reclaim", "A frame sent and reclaimed", "policy", "a frame [cycles]", labels);
    let mut points = Vec::new();
    let mut longest = Vec::new();
    for (place, (&policy, own)) in chosen.iter().zip(&figures).enumerate() {
        let summary = Summary::of(own);
        let call = Summary::of(&calls[policy]);
        calls[policy].sort_by(f64::total_cmp);
        let most = calls[policy][(calls[policy].len() - 1) * 99 / 100];
        longest.push(most);
        table.row(cells![policies[policy].0, summary.median, summary.low, summary.high, call.median, call.high, most]);
        points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
    }
    plot.series.push(Series { name: "send, doorbell, reclaim".into(), points });
    findings.tables.push(table);
    findings.plots.push(plot);
    findings.claims.push(Claim::new(
        "A constant number a call bounds the time of a call: its 99th percentile is below that of reclaiming all.",
        longest[2] < longest[0],
        format!("99 % of the calls: all {:.0} cycles, 16 a call {:.0}, at half {:.0}.", longest[0], longest[2], longest[3]),
    ));
    let bell = Summary::of_ratio(&figures[1], &figures[0]).median;
    findings.claims.push(Claim::new(
        "A doorbell for every packet costs more than one for 16.",
        bell > 1.0,
        format!("{bell:.2} times the cycles a frame."),
    ));
    findings.answer.push(format!(
        "A frame takes {:.0} cycles with a doorbell for 16 and {:.0} with one for each; the slowest of a hundred calls of reclaim \
         takes {:.0} cycles when it takes all, {:.0} when it takes 16.",
        Summary::of(&figures[0]).median, Summary::of(&figures[1]).median, longest[0], longest[2]
    ));
    Ok(())
}

fn reclaiming(policy: TxPolicy, cycles: &Cycles, places: Places, batches: usize) -> Result<Timed, Failure> {
    let device = SoftwareDevice::start(Options { processor: places.device, ..Options::default() });
    let ring = RingSize::new(512).ok_or("a ring is a power of two")?;
    let mut config = setup::driver(ring, Thresholds::default(), 1518);
    config.rx[0].policy.copybreak = 0;
    let mut nic = Nic::open(device.device(), &config)?;
    nic.tx.set_policy(policy)?;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut frames, mut calls) = (Vec::new(), Vec::new());
    for _ in 0..batches {
        // Bursts of unequal size, so that a call finds more at one time than at another.
        let burst = random.usize(1..=64);
        let mut sent = 0;
        let (result, spent) = cycles.of(|| -> Result<(), Failure> {
            while sent < burst && !nic.tx.is_stopped() {
                let Some(buffer) = nic.pool().get() else { break };
                nic.tx.send(buffer, 0, 60).map_err(|refused| refused.why.to_string())?;
                sent += 1;
                if sent % BATCH == 0 {
                    nic.tx.flush();
                }
            }
            nic.tx.flush();
            Ok(())
        });
        result?;
        let (reclaimed, call) = cycles.of(|| nic.tx.reclaim());
        reclaimed?;
        calls.push(call);
        if sent > 0 {
            frames.push((spent + call) / sent as f64);
        }
    }
    Ok(Timed { frame: Summary::of(&frames).median, calls })
}

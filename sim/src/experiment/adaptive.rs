//! Load that steps from idle to line rate and back, and ports that cost unequally.

use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::simulate::{each, host};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::cost::{HostCost, Meter, Stack};
use crate::device::SimDevice;
use crate::models::nic_core::NicCore;
use crate::report::Latency;
use crate::scoreboard::Scoreboard;
use crate::setup;
use crate::wire::{Generator, LineRate, WireSource};
use crate::world::World;
use ferronic::schedule::{Port, Schedule, Share, Work};
use ferronic::{Moderation, Nic, Packet, Rearm, RxPolicy, Weight};
use ferronic_contract::registers::rx_vector;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Link;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "adaptive",
    question: "What do moderation and weight do when the load steps, and when two ports cost unequally?",
    source: "netdev, 2005: adapt the weight by additive increase and multiplicative decrease; time, not packets, should be the \
             budget; with one weight for all, a port whose packets cost more takes more of the CPU. Interrupt moderation against \
             latency: every driver's rx-usecs.",
    simulated: true,
    run,
};

/// What an answer adds, and a cold start of a poll.
const STACK: Stack = Stack { cold_ns: 400, answer_every: 2 };
const PACKET_NS: u64 = 350;

/// A way to receive.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    moderation: Moderation,
    weight: Weight,
    rearm: Rearm,
}

const USUAL: Way =
    Way { name: "16 frames or 20 µs", moderation: Moderation { usecs: 20, frames: 16 }, weight: Weight::Fixed(64), rearm: Rearm::UnderBudget };

const WAYS: [Way; 6] = [
    Way { name: "at once", moderation: Moderation { usecs: 0, frames: 1 }, ..USUAL },
    USUAL,
    Way { name: "64 frames or 100 µs", moderation: Moderation { usecs: 100, frames: 64 }, ..USUAL },
    Way { name: "adaptive weight", weight: Weight::Adaptive { least: 8, most: 64, step: 4, poll_usecs: 20 }, ..USUAL },
    Way { name: "timed weight", weight: Weight::Timed { most: 64, poll_usecs: 20 }, ..USUAL },
    Way { name: "poll while anything comes", rearm: Rearm::WhenIdle, ..USUAL },
];

/// The load, in frames a second, and frames of each step.
const STEPS: [(&str, Option<u64>, usize); 3] = [("idle", Some(20_000), 30), ("line rate", None, 1500), ("idle again", Some(20_000), 30)];

/// A packet on its way through.
struct Arrival {
    at_ns: f64,
    latency_ns: f64,
}

/// What a step gave.
struct Step {
    latency: Latency,
    frames: u64,
    interrupts: u64,
    polls: u64,
    dropped: u64,
    seconds: f64,
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    let ways: &[Way] = scope.either(&WAYS[..2], &WAYS);
    let runs = each(ways, scope, |way| steps(way, scope))?;
    let mut table = Table::new(
        "steps",
        "By step of the load",
        &[
            "way", "step", "frames", "dropped", "interrupts [a second]", "frames an interrupt", "frames a poll", "median latency [ns]",
            "99 % latency [ns]",
        ],
    );
    let mut plot = Plot::scale("latency", "Latency while the load steps from idle to line rate and back", "simulated time [µs]", "from the wire to the driver [ns]");
    let mut bars = Plot::bars("interrupts", "Interrupts at line rate and idle", "step of the load", "interrupts [thousand a second]", STEPS.map(|step| step.0.to_owned()));
    for (way, (steps, arrivals)) in ways.iter().zip(&runs) {
        for (step, (name, ..)) in steps.iter().zip(STEPS) {
            table.row(cells![
                way.name, name, step.frames, step.dropped, step.interrupts as f64 / step.seconds, step.frames as f64 / step.interrupts.max(1) as f64,
                step.frames as f64 / step.polls.max(1) as f64, step.latency.median_ns, step.latency.p99_ns,
            ]);
        }
        bars.series(way.name, steps.iter().map(|step| Some(step.interrupts as f64 / step.seconds / 1e3)));
        let every = (arrivals.len() / 400).max(1);
        let points = arrivals.iter().step_by(every).map(|arrival| Point { x: arrival.at_ns / 1e3, y: arrival.latency_ns, spread: None });
        plot.series.push(Series { name: way.name.into(), points: points.collect() });
    }
    let step = |way: usize, step: usize| runs.get(way).and_then(|run| run.0.get(step));
    let mut findings = Findings {
        setup: vec![
            format!(
                "The Verilated core on PCIe Gen1 x1 at 1 Gb/s, 60-byte frames, ring 256: {} frames at 20,000 a second, {} back to back, and {} at 20,000 a \
                 second. A packet costs the host {PACKET_NS} ns, every second one twice that, the first of a poll {} ns more, an \
                 interrupt 2 µs. The vector's moderation is fixed in each run; what adapts is the driver's weight and when it lets \
                 interrupts come back.",
                STEPS[0].2, scope.either(300, STEPS[1].2), STEPS[2].2, STACK.cold_ns
            ),
            "Two ports: both always have packets; one of the light port's costs 200 ns, one of the heavy port's 2000 ns. Simulated \
             time, without a NIC: the schedule knows only what a port says of its polls."
                .into(),
        ],
        tables: vec![table],
        plots: vec![plot, bars],
        ..Findings::default()
    };
    if let (Some(at_once), Some(usual), Some(busy), Some(usual_busy)) = (step(0, 0), step(1, 0), step(0, 1), step(1, 1)) {
        findings.claims.push(Claim::new(
            "Moderation costs latency when idle, by about its timer, and saves interrupts only under load.",
            usual.latency.median_ns >= at_once.latency.median_ns + 10_000,
            format!(
                "Idle median: at once {} ns, 16 frames or 20 µs {} ns. Interrupts of {} frames back to back: {} and {}.",
                at_once.latency.median_ns, usual.latency.median_ns, busy.frames, busy.interrupts, usual_busy.interrupts
            ),
        ));
        findings.answer.push(format!(
            "When idle, an interrupt at once brings a frame to the driver in {} ns, moderation in {} ns. At line rate a NAPI-like loop stays in polling \
             by itself: {} interrupts for {} frames without moderation, {} with it.",
            at_once.latency.median_ns, usual.latency.median_ns, busy.interrupts, busy.frames, usual_busy.interrupts
        ));
    }
    if let (Some(fixed), Some(adaptive), Some(timed)) = (step(1, 1), step(3, 1), step(4, 1)) {
        let a_poll = |step: &Step| step.frames as f64 / step.polls.max(1) as f64;
        findings.claims.push(Claim::new(
            "A weight that adapts to time makes polls shorter under load, and loses no more frames than a fixed one.",
            a_poll(timed) < a_poll(fixed) && adaptive.dropped <= fixed.dropped && timed.dropped <= fixed.dropped,
            format!(
                "Frames a poll: fixed {:.1}, adaptive {:.1}, timed {:.1}; dropped {}, {}, {}.",
                a_poll(fixed), a_poll(adaptive), a_poll(timed), fixed.dropped, adaptive.dropped, timed.dropped
            ),
        ));
    }
    ports(&mut findings)?;
    Ok(findings)
}

type Shared = Rc<RefCell<World<NicCore, 8>>>;

fn steps(way: &Way, scope: &Scope) -> Result<(Vec<Step>, Vec<Arrival>), Failure> {
    let settings = host(Link::GEN1_X1, 1000, scope.seed);
    let world: Shared = Rc::new(RefCell::new(World::new(settings, Default::default(), Scoreboard::default())?));
    let cost = HostCost { packet_ns: PACKET_NS, ..HostCost::default() };
    let ring = RingSize::new(256).ok_or("a ring of 256")?;
    let mut config = setup::driver(ring, Thresholds::default(), 128);
    config.hold_usecs = Some(2);
    config.rx[0].queue.moderation = way.moderation;
    config.rx[0].policy = RxPolicy { weight: way.weight, rearm: way.rearm, copybreak: 0, ..config.rx[0].policy };
    let mut nic = Nic::open(SimDevice::open(&world, cost), &config)?;
    nic.check()?;
    let mut meter = Meter::new(cost, STACK);
    let (mut done, mut arrivals) = (Vec::new(), Vec::new());
    for (_, rate, frames) in STEPS {
        let frames = if rate.is_none() { scope.either(300, frames) } else { frames };
        let rate = rate.map_or("line".into(), |rate| format!("{rate}pps"));
        let generator: Generator = format!("size=60,count={frames},rate={rate}").parse()?;
        {
            let mut world = world.borrow_mut();
            world.source = WireSource::new(LineRate::GIGABIT, generator.pace());
            world.source.feed(generator.frames(scope.seed, config.mac));
        }
        let (begun, seen) = (world.borrow().now_ps(), world.borrow().scoreboard.latencies.len());
        let (before, lost) = (nic.rx[0].statistics(), dropped(&world));
        let mut since = begun;
        while !is_done(&world) {
            meter.poll();
            let mut sink = |packet: Packet| {
                let mut world = world.borrow_mut();
                world.on_delivered(&packet);
                world.pass_ns(meter.packet());
                let latency = world.scoreboard.latencies.last().copied().unwrap_or_default();
                arrivals.push(Arrival { at_ns: world.now_ps() as f64 / 1e3, latency_ns: f64::from(latency) * 8.0 });
            };
            nic.rx[0].turn(300, Duration::from_micros(100), &mut sink)?;
            world.borrow_mut().pass_ns(cost.poll_ns);
            if !world.borrow().has_interrupt(rx_vector(0)) && world.borrow().now_ps() - since > 1_000_000_000_000 {
                return Err("frames do not arrive".into());
            }
            since = since.max(begun);
        }
        let after = nic.rx[0].statistics();
        let world = world.borrow();
        done.push(Step {
            latency: Latency::of(&world.scoreboard.latencies[seen..]).ok_or("no frame arrived")?,
            frames: after.packets - before.packets,
            interrupts: after.interrupts - before.interrupts,
            polls: after.polls - before.polls,
            dropped: dropped_of(&world) - lost,
            seconds: (world.now_ps() - begun) as f64 * 1e-12,
        });
    }
    nic.close()?;
    let begun = arrivals.first().map_or(0.0, |arrival| arrival.at_ns);
    arrivals.iter_mut().for_each(|arrival| arrival.at_ns -= begun);
    let world = world.borrow();
    match world.scoreboard.mismatches().0.first() {
        Some(mismatch) => Err(format!("the simulation went wrong: {mismatch}").into()),
        None => Ok((done, arrivals)),
    }
}

fn is_done(world: &Shared) -> bool {
    let world = world.borrow();
    world.source.is_done() && world.scoreboard.is_settled()
}

fn dropped(world: &Shared) -> u64 {
    dropped_of(&world.borrow())
}

fn dropped_of(world: &World<NicCore, 8>) -> u64 {
    world.scoreboard.dropped().values().sum()
}

/// A port that always has packets.
struct Busy<'a> {
    clock: &'a Cell<u64>,
    packet_ns: u64,
    packets: u64,
    /// When its last turn ended, and the longest that it has waited.
    ended: u64,
    waited: u64,
}

impl Port for Busy<'_> {
    type Error = std::convert::Infallible;

    fn poll(&mut self, budget: usize) -> Result<Work, Self::Error> {
        self.waited = self.waited.max(self.clock.get() - self.ended);
        let elapsed = budget as u64 * self.packet_ns;
        self.clock.set(self.clock.get() + elapsed);
        self.packets += budget as u64;
        self.ended = self.clock.get();
        Ok(Work { packets: budget, elapsed: Duration::from_nanos(elapsed) })
    }
}

/// Two ports of unequal cost under each schedule.
fn ports(findings: &mut Findings) -> Result<(), Failure> {
    const ROUNDS: usize = 2000;
    const COSTS: [u64; 2] = [200, 2000];
    let time = |micros| Duration::from_micros(micros);
    let schedules = [
        ("64 packets each", Share::Packets(vec![64, 64])),
        ("packets by cost", Share::Packets(vec![64, 6])),
        ("20 µs each", Share::Time(vec![time(20), time(20)])),
        ("30 and 10 µs", Share::Time(vec![time(30), time(10)])),
    ];
    let mut table = Table::new(
        "ports",
        "Two ports on one CPU: a packet of the light one costs 200 ns, of the heavy one 2000 ns",
        &["shares", "light port [% of the CPU]", "heavy port [% of the CPU]", "light port [thousand packets a second]", "heavy port [thousand packets a second]", "longest wait of the light port [µs]"],
    );
    let mut plot = Plot::bars("ports", "Share of the CPU by schedule", "shares", "part of the CPU [%]", schedules.iter().map(|(name, _)| (*name).to_owned()));
    let mut parts = Vec::new();
    for (name, share) in &schedules {
        let clock = Cell::new(0);
        let mut busy = COSTS.map(|packet_ns| Busy { clock: &clock, packet_ns, packets: 0, ended: 0, waited: 0 });
        let mut schedule = Schedule::new(share);
        for _ in 0..ROUNDS {
            let [light, heavy] = &mut busy;
            schedule.round::<Busy>(&mut [light, heavy])?;
        }
        let total = clock.get() as f64;
        let part = |port: &Busy| 100.0 * (port.packets * port.packet_ns) as f64 / total;
        let rate = |port: &Busy| port.packets as f64 / total * 1e6;
        let [light, heavy] = &busy;
        table.row(cells![*name, part(light), part(heavy), rate(light), rate(heavy), light.waited as f64 / 1e3]);
        parts.push((part(light), part(heavy), light.waited as f64 / 1e3));
    }
    plot.series("light port", parts.iter().map(|part| Some(part.0)));
    plot.series("heavy port", parts.iter().map(|part| Some(part.1)));
    findings.tables.push(table);
    findings.plots.push(plot);
    let (by_packets, by_time) = (parts[0], parts[2]);
    findings.claims.push(Claim::new(
        "With one weight for all, the port whose packets cost more takes the CPU; shared by time, both get half (within 2 %).",
        by_packets.0 < 20.0 && (by_time.0 - 50.0).abs() <= 2.0,
        format!("The light port gets {:.1} % by packets and {:.1} % by time.", by_packets.0, by_time.0),
    ));
    findings.claims.push(Claim::new(
        "Shared by time, the light port waits no longer than the heavy port's share and one slice.",
        by_time.2 <= 20.0 + 8.0 * 2.0,
        format!("It waits {:.0} µs at most by time, {:.0} µs by packets.", by_time.2, by_packets.2),
    ));
    findings.answer.push(format!(
        "Two ports that cost 200 and 2000 ns a packet: by packets the light one gets {:.0} % of the CPU and waits up to {:.0} µs, by time {:.0} % and {:.0} µs.",
        by_packets.0, by_packets.2, by_time.0, by_time.2
    ));
    Ok(())
}

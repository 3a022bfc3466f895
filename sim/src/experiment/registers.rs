//! Register access: what it costs across the bus, and why the data path does without.

use super::findings::{Claim, Findings, Plot, Table};
use super::simulate::{each, host};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::cost::HostCost;
use crate::device::SimDevice;
use crate::models::nic_core::NicCore;
use crate::report::Latency;
use crate::scoreboard::Scoreboard;
use crate::setup;
use crate::wire::{Generator, LineRate, WireSource};
use crate::world::World;
use ferronic::{Nic, Packet};
use ferronic_contract::registers::{queue, RX_QUEUE, SCRATCH};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Link;
use std::cell::RefCell;
use std::rc::Rc;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "registers",
    question: "What does a register access cost, and what does polling an index register instead of memory cost?",
    source: "Every driver writer's rule that the data path must not read a register; drivers that polled a head register were \
             rewritten for write-back (Intel's 8254x and later; cndm's producer index in memory).",
    simulated: true,
    run,
};

const LATENCIES: [u32; 5] = [250, 500, 1000, 2000, 4000];
const ACCESSES: u32 = 20;

/// What is looked at to find packets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The completions' phase, in memory.
    Memory,
    /// The register DONE before each poll.
    Register,
}

/// What was measured at a latency.
struct Measured {
    read_ns: f64,
    write_ns: f64,
    posted_ns: f64,
    /// By memory and by register.
    polled: [Polled; 2],
}

/// A stream of frames, polled.
struct Polled {
    rate: f64,
    packets_a_poll: f64,
    look_ns: f64,
    latency: Latency,
    dropped: u64,
}

type Shared = Rc<RefCell<World<NicCore, 8>>>;

fn run(scope: &Scope) -> Result<Findings, Failure> {
    let latencies: &[u32] = scope.either(&LATENCIES[1..3], &LATENCIES);
    let frames = scope.either(200, 2000);
    let measured = each(latencies, scope, |&latency| {
        let (read_ns, write_ns, posted_ns) = accesses(latency, scope.seed)?;
        let polled = [poll(Look::Memory, latency, frames, scope.seed)?, poll(Look::Register, latency, frames, scope.seed)?];
        Ok(Measured { read_ns, write_ns, posted_ns, polled })
    })?;
    let mut access = Table::new(
        "access",
        "One access, in simulated time",
        &["latency [ns]", "read [ns]", "write, as the CPU sees it [ns]", "write, until it has arrived [ns]"],
    );
    let mut polls = Table::new(
        "polling",
        "A busy-polling host at 1.488 million frames a second",
        &[
            "latency [ns]", "looks at", "delivered [million frames a second]", "packets a poll that found some", "a look [ns]",
            "looking, if each look found as many [ns a packet]",
            "median latency [ns]", "99 % latency [ns]", "dropped",
        ],
    );
    for (latency, measured) in latencies.iter().zip(&measured) {
        access.row(cells![u64::from(*latency), measured.read_ns, measured.write_ns, measured.posted_ns]);
        for (name, polled) in ["memory", "register"].iter().zip(&measured.polled) {
            polls.row(cells![
                u64::from(*latency), *name, polled.rate, polled.packets_a_poll, polled.look_ns,
                polled.look_ns / polled.packets_a_poll,
                polled.latency.median_ns, polled.latency.p99_ns, polled.dropped,
            ]);
        }
    }
    let labels = || latencies.iter().map(u32::to_string);
    let mut cost = Plot::lines("access", "One register access", "read latency of the bus [ns]", "time [ns]", labels());
    cost.series("read", measured.iter().map(|m| Some(m.read_ns)));
    cost.series("write, as the CPU sees it", measured.iter().map(|m| Some(m.write_ns)));
    cost.series("write, until it has arrived", measured.iter().map(|m| Some(m.posted_ns)));
    let mut wait = Plot::lines(
        "latency", "From the wire to the driver, polling", "read latency of the bus [ns]", "median time [ns]", labels(),
    );
    let mut looking = Plot::bars("looking", "One look for packets", "read latency of the bus [ns]", "time [ns]", labels());
    for (number, name) in ["memory", "register"].into_iter().enumerate() {
        wait.series(name, measured.iter().map(|m| Some(m.polled[number].latency.median_ns as f64)));
        looking.series(name, measured.iter().map(|m| Some(m.polled[number].look_ns)));
    }
    let reads = measured.iter().zip(latencies).map(|(m, latency)| m.read_ns - f64::from(*latency));
    let (least, most) = reads.fold((f64::MAX, f64::MIN), |(low, high), extra| (low.min(extra), high.max(extra)));
    let slower = |m: &Measured| m.polled[1].latency.median_ns as f64 - m.polled[0].latency.median_ns as f64;
    let extra: Vec<String> = measured.iter().zip(latencies).map(|(m, l)| format!("{:+.0} ns at {l} ns", slower(m))).collect();
    let claims = vec![
        Claim::new(
            "A read costs the whole round trip, and a write does not depend on it.",
            least >= 0.0 && most < 500.0 && measured.iter().all(|m| m.write_ns == measured[0].write_ns),
            format!("A read takes {least:.0} to {most:.0} ns more than the latency; a write {:.0} ns at any.", measured[0].write_ns),
        ),
        Claim::new(
            "Polling a register makes every packet wait longer than polling memory, at every latency.",
            measured.iter().all(|m| slower(m) > 0.0),
            format!("Median time to the driver: {}.", extra.join(", ")),
        ),
    ];
    let last = measured.len() - 1;
    let answer = vec![format!(
        "A register read takes {:.0} ns at a latency of {} ns and {:.0} ns at {} ns. A look at DONE \
         takes the CPU {:.0} ns at {} ns, {:.0} times a look at memory, and shows less: frames that it counts are still on their \
         way to memory.",
        measured[0].read_ns, latencies[0], measured[last].read_ns, latencies[last],
        measured[last].polled[1].look_ns, latencies[last],
        measured[last].polled[1].look_ns / measured[last].polled[0].look_ns,
    )];
    Ok(Findings {
        setup: vec![format!(
            "The Verilated core on PCIe Gen1 x1. Each access is measured {ACCESSES} times. For polling, 60-byte frames come at 1 Gb/s \
             line rate to a host that never sleeps: it looks, takes up to 64 packets at 150 ns each, and looks again. A look at \
             memory costs 50 ns in the host model; one at the register DONE takes as long as the simulated bus needs."
        )],
        tables: vec![access, polls],
        plots: vec![cost, wait, looking],
        claims,
        answer,
    })
}

fn world(latency_ns: u32, seed: u64) -> Result<Shared, Failure> {
    let settings = host(Link::GEN1_X1, latency_ns, seed);
    Ok(Rc::new(RefCell::new(World::new(settings, Default::default(), Scoreboard::default())?)))
}

/// Nanoseconds of a read, of a write as the CPU sees it, and of a write until the core has it.
fn accesses(latency_ns: u32, seed: u64) -> Result<(f64, f64, f64), Failure> {
    let world = world(latency_ns, seed)?;
    let device = SimDevice::open(&world, HostCost::default());
    let timed = |work: &dyn Fn()| {
        let before = world.borrow().now_ps();
        (0..ACCESSES).for_each(|_| work());
        (world.borrow().now_ps() - before) as f64 / 1000.0 / f64::from(ACCESSES)
    };
    let read = timed(&|| {
        device.bar.read32(SCRATCH.offset);
    });
    let write = timed(&|| device.bar.write32(SCRATCH.offset, 1));
    // A read does not pass a write, so its answer says that the write has arrived; half of the read is the way back.
    let both = timed(&|| {
        device.bar.write32(SCRATCH.offset, 2);
        device.bar.read32(SCRATCH.offset);
    });
    Ok((read, write, both - f64::from(latency_ns) / 2.0))
}

/// Polls frames at line rate until all are settled.
fn poll(look: Look, latency_ns: u32, frames: u32, seed: u64) -> Result<Polled, Failure> {
    let world = world(latency_ns, seed)?;
    let cost = HostCost::default();
    let ring = RingSize::new(256).ok_or("a ring of 256")?;
    let mut driver = setup::driver(ring, Thresholds::default(), 128);
    driver.rx[0].policy.copybreak = 0;
    let mut nic = Nic::open(SimDevice::open(&world, cost), &driver)?;
    let device = SimDevice::open(&world, cost);
    nic.check()?;
    let generator: Generator = format!("size=60,count={frames}").parse()?;
    {
        let mut world = world.borrow_mut();
        world.source = WireSource::new(LineRate::GIGABIT, generator.pace());
        world.source.feed(generator.frames(seed, driver.mac));
    }
    let begun = world.borrow().now_ps();
    let (mut looking, mut looks, mut found, mut packets, mut taken) = (0, 0u64, 0u64, 0u64, 0u16);
    loop {
        let before = world.borrow().now_ps();
        let there = match look {
            Look::Memory => {
                world.borrow_mut().pass_ns(cost.poll_ns);
                true
            }
            // The register is ahead of memory: what it counts is still on its way. So a driver takes what it counted
            // at the look before, or looks at the phase too; this one does that.
            Look::Register => device.bar.read32(RX_QUEUE + queue::DONE.offset) as u16 != taken,
        };
        looking += world.borrow().now_ps() - before;
        looks += 1;
        if there {
            let mut sink = |packet: Packet| {
                let mut world = world.borrow_mut();
                world.on_delivered(&packet);
                world.pass_ns(cost.packet_ns);
            };
            let handled = nic.rx[0].poll(64, &mut sink)?;
            taken = taken.wrapping_add(handled as u16);
            found += u64::from(handled > 0);
            packets += handled as u64;
        }
        let world = world.borrow();
        if world.source.is_done() && world.scoreboard.is_settled() {
            break;
        }
        if world.now_ps() - begun > 1_000_000_000_000 {
            return Err("frames do not arrive".into());
        }
    }
    nic.close()?;
    let world = world.borrow();
    if let Some(mismatch) = world.scoreboard.mismatches().0.first() {
        return Err(format!("the simulation went wrong: {mismatch}").into());
    }
    let seconds = (world.now_ps() - begun) as f64;
    Ok(Polled {
        rate: packets as f64 / seconds * 1e6,
        packets_a_poll: packets as f64 / found.max(1) as f64,
        look_ns: looking as f64 / 1000.0 / looks.max(1) as f64,
        latency: Latency::of(&world.scoreboard.latencies).ok_or("no frame arrived")?,
        dropped: world.scoreboard.dropped().values().sum(),
    })
}

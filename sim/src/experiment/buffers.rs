//! Where buffers come from, and how they come home.

use super::copybreak::Keeper;
use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::receive::{Consumer, Measured, Receive};
use super::{Experiment, Failure, Scope};
use crate::cells;
use ferronic::{Allocation, Packet, Parcel, PoolStatistics, RxPolicy, Sink};
use std::sync::mpsc::{sync_channel, SyncSender};

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "buffers",
    question: "What is a buffer pool worth against half-page flips and plain allocation, and what pins memory?",
    source: "Linux's page pool (J. D. Brouer and others, 2018) against the page flip of Intel's drivers; the “truesize” debates of \
             netdev: one small packet that is held can pin a page.",
    simulated: false,
    run,
};

const WAYS: [(&str, Allocation); 3] =
    [("page pool", Allocation::PagePool), ("half-page flip", Allocation::HalfPage), ("plain allocation", Allocation::Plain)];
/// Packets sent to the other thread at a time.
const BULK: usize = 32;
/// Small packets that are held for long.
const HELD: usize = 200;

/// Sends packets to another thread, by the batch.
struct Away {
    gathered: Vec<Parcel>,
    to: SyncSender<Vec<Parcel>>,
}

impl Sink for Away {
    fn deliver(&mut self, packet: Packet) {
        self.gathered.push(packet.into_buffer().into_parcel());
        if self.gathered.len() == BULK {
            let batch = std::mem::replace(&mut self.gathered, Vec::with_capacity(BULK));
            // The other thread lives as long as this.
            let _ = self.to.send(batch);
        }
    }
}

/// Holds one packet of every two, up to a number, for ever, and drops the rest.
struct Hoarder {
    held: Vec<Packet>,
    seen: usize,
}

impl Sink for Hoarder {
    fn deliver(&mut self, packet: Packet) {
        self.seen += 1;
        if self.seen.is_multiple_of(2) && self.held.len() < HELD {
            self.held.push(packet);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Return {
    Same,
    Other,
}

impl Return {
    const fn name(self) -> &'static str {
        match self {
            Self::Same => "same thread",
            Self::Other => "another thread, in bulk",
        }
    }
}

fn receive(allocation: Allocation, polls: usize) -> Receive {
    Receive { allocation, policy: RxPolicy { copybreak: 0, ..RxPolicy::default() }, polls, ..Receive::default() }
}

fn measure(way: usize, back: Return, cycles: &Cycles, places: Places, polls: usize) -> Result<Measured, Failure> {
    let receive = receive(WAYS[way].1, polls);
    if back == Return::Same {
        return receive.measure(cycles, places, &mut Consumer::Class);
    }
    let (to, from) = sync_channel::<Vec<Parcel>>(64);
    std::thread::scope(|threads| {
        threads.spawn(move || from.into_iter().for_each(give_back));
        let mut sink = Away { gathered: Vec::with_capacity(BULK), to };
        receive.measure(cycles, places, &mut sink)
    })
}

/// In bulk: a lock a batch. A parcel that is dropped goes home by itself.
fn give_back(batch: Vec<Parcel>) {
    batch.into_iter().for_each(drop);
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    pinned(|places| all(scope, places).map_err(|error| error.to_string())).map_err(Into::into)
}

fn all(scope: &Scope, places: Places) -> Result<Findings, Failure> {
    let rounds = scope.either(3, 11);
    let polls = scope.either(60, 150);
    let variants: Vec<(usize, Return)> = [Return::Same, Return::Other].into_iter().flat_map(|back| (0..3).map(move |way| (way, back))).collect();
    let cycles = Cycles::default();
    let mut last: Vec<((usize, Return), Measured)> = Vec::new();
    let figures = in_turn(&variants, rounds, scope.seed, |&(way, back)| -> Result<f64, Failure> {
        (scope.progress)(&format!("{}, {}", WAYS[way].0, back.name()));
        let measured = measure(way, back, &cycles, places, polls)?;
        let figure = measured.cycles;
        last.push(((way, back), measured));
        Ok(figure)
    })?;
    let mut table = Table::new(
        "cycles",
        "A poll by pool and return",
        &["pool", "returned from", "median [cycles a packet]", "first quartile [cycles]", "third quartile [cycles]", "to the page pool", "recycled [%]"],
    );
    let labels = [Return::Same, Return::Other].map(|back| back.name().to_owned());
    let mut plot = Plot::bars("cycles", "A poll by pool and return", "buffers are returned from", "a packet [cycles]", labels);
    let at = |way: usize, back: Return| variants.iter().position(|variant| *variant == (way, back)).unwrap_or_default();
    for (way, (name, _)) in WAYS.iter().enumerate() {
        let mut points = Vec::new();
        for (place, back) in [Return::Same, Return::Other].into_iter().enumerate() {
            let own = &figures[at(way, back)];
            let (summary, ratio) = (Summary::of(own), Summary::of_ratio(own, &figures[at(0, back)]).median);
            let pool = last.iter().rev().find(|entry| entry.0 == (way, back)).map(|entry| entry.1.pool).unwrap_or_default();
            let recycled = 100.0 * pool.recycled as f64 / pool.taken.max(1) as f64;
            table.row(cells![*name, back.name(), summary.median, summary.low, summary.high, ratio, recycled]);
            points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
        }
        plot.series.push(Series { name: (*name).into(), points });
    }
    let mut findings = Findings {
        setup: vec![
            format!(
                "The software device against one RX queue, ring 512, 60-byte frames, batch 32, no copybreak. A region that is \
                 allocated is mapped by a request to the device's thread, and unmapped by one that waits for its answer, as with \
                 an IOMMU in strict mode; so plain allocation pays that for each packet. {rounds} rounds. {}",
                places.sentence()
            ),
            format!(
                "Return from another thread: packets go there {BULK} at a time. With two processors that thread shares one with \
                 the device. For memory, the consumer holds {HELD} packets of 60 bytes, one of every two that come, for as long as the run \
                 lasts; or it keeps the last 256, as a socket does."
            ),
        ],
        tables: vec![table],
        plots: vec![plot],
        ..Findings::default()
    };
    let plain = Summary::of_ratio(&figures[at(2, Return::Same)], &figures[at(0, Return::Same)]);
    findings.claims.push(Claim::new(
        "A page pool takes fewer cycles than allocation for each packet.",
        plain.median > 1.0,
        format!("Plain allocation takes {:.1} times as many.", plain.median),
    ));
    let flip = Summary::of_ratio(&figures[at(1, Return::Same)], &figures[at(0, Return::Same)]);
    findings.claims.push(Claim::new(
        "Half-page flips are as cheap as a page pool (within 10 %) when packets come back at once.",
        (0.9..=1.1).contains(&flip.median),
        format!("{:.2} of the page pool's cycles.", flip.median),
    ));
    memory(&mut findings, &cycles, places, polls)?;
    Ok(findings)
}

/// Memory pinned against bytes held.
fn memory(findings: &mut Findings, cycles: &Cycles, places: Places, polls: usize) -> Result<(), Failure> {
    let mut table = Table::new(
        "memory",
        "Memory that can be used for nothing else, against the bytes of the packets held",
        &["pool", "consumer", "packets held", "bytes held", "memory held [bytes]", "memory held [bytes a byte]", "memory of the pool [bytes]"],
    );
    let labels = ["holds one of two", "keeps the last 256"].map(String::from);
    let mut plot = Plot::bars("memory", "Memory pinned by 60-byte packets", "consumer", "memory held [bytes a byte of packets]", labels);
    let mut pinned = Vec::new();
    for (name, allocation) in WAYS {
        let receive = receive(allocation, polls);
        let hoard = receive.measure(cycles, places, &mut Hoarder { held: Vec::new(), seen: 0 })?.pool;
        let queue = receive.measure(cycles, places, &mut Keeper::new(256))?.pool;
        let ratio = |pool: &PoolStatistics| pool.held_memory as f64 / pool.held_bytes.max(1) as f64;
        for (consumer, pool) in [("holds one of two", &hoard), ("keeps the last 256", &queue)] {
            table.row(cells![name, consumer, pool.held, pool.held_bytes, pool.held_memory, ratio(pool), pool.memory]);
        }
        plot.series(name, [Some(ratio(&hoard)), Some(ratio(&queue))]);
        pinned.push(ratio(&hoard));
    }
    findings.tables.push(table);
    findings.plots.push(plot);
    findings.claims.push(Claim::new(
        "A consumer that holds one small packet of each page pins more memory with half-page flips than with a page pool.",
        pinned[1] > pinned[0],
        format!("Bytes of memory for a byte of packets: page pool {:.0}, half-page flip {:.0}, plain allocation {:.0}.", pinned[0], pinned[1], pinned[2]),
    ));
    findings.answer.push(format!(
        "A 60-byte packet that is held in its own buffer pins {:.0} times its bytes with a page pool and {:.0} times with half pages. \
         Copybreak is the remedy: see that experiment.",
        pinned[0], pinned[1]
    ));
    Ok(())
}

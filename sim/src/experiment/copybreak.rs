//! Copybreak: cycles against memory.

use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::receive::{Measured, Receive};
use super::{Experiment, Failure, Scope};
use crate::cells;
use ferronic::{Packet, RxPolicy, Sink};
use std::collections::VecDeque;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "copybreak",
    question: "Up to which size should a small packet be copied, so that its buffer goes straight back?",
    source: "The copybreak parameter of Linux drivers (256 in e1000 and e1000e, RX_COPY_THRESHOLD in tg3), set once by feel; netdev has \
             asked ever since whether it still pays.",
    simulated: false,
    run,
};

const LIMITS: [u16; 7] = [0, 64, 128, 256, 512, 1024, 1518];
const SIZES: [usize; 4] = [60, 250, 500, 1514];
/// Packets that the consumer has at a time.
const KEPT: usize = 256;

/// A consumer that reads each packet when it is old: a socket's queue.
pub(super) struct Keeper {
    kept: VecDeque<Packet>,
    most: usize,
}

impl Keeper {
    pub(super) fn new(most: usize) -> Self {
        Self { kept: VecDeque::with_capacity(most + 1), most }
    }
}

impl Sink for Keeper {
    fn deliver(&mut self, packet: Packet) {
        self.kept.push_back(packet);
        if self.kept.len() > self.most {
            if let Some(oldest) = self.kept.pop_front() {
                std::hint::black_box(oldest.bytes().iter().fold(0u8, |sum, byte| sum ^ byte));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Variant {
    limit: u16,
    size: usize,
}

fn measure(variant: &Variant, cycles: &Cycles, places: Places, polls: usize) -> Result<Measured, Failure> {
    let policy = RxPolicy { copybreak: variant.limit, ..RxPolicy::default() };
    let receive = Receive { policy, frames: format!("size={},mix=udp", variant.size), polls, ..Receive::default() };
    receive.measure(cycles, places, &mut Keeper::new(KEPT))
}

/// Memory that is held for the packets that the consumer has, and their bytes.
fn held(measured: &Measured) -> (f64, f64) {
    let pools = || [Some(measured.pool), measured.copies].into_iter().flatten();
    (pools().map(|pool| pool.held_memory as f64).sum(), pools().map(|pool| pool.held_bytes as f64).sum())
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    pinned(|places| all(scope, places).map_err(|error| error.to_string())).map_err(Into::into)
}

fn all(scope: &Scope, places: Places) -> Result<Findings, Failure> {
    let limits: &[u16] = scope.either(&[0, 256], &LIMITS);
    let sizes: &[usize] = scope.either(&[60, 1514], &SIZES);
    let rounds = scope.either(3, 11);
    let variants: Vec<Variant> =
        sizes.iter().flat_map(|&size| limits.iter().map(move |&limit| Variant { limit, size })).collect();
    let cycles = Cycles::default();
    let mut last = Vec::new();
    let figures = in_turn(&variants, rounds, scope.seed, |variant| -> Result<f64, Failure> {
        (scope.progress)(&format!("limit {}, {} bytes", variant.limit, variant.size));
        let measured = measure(variant, &cycles, places, scope.either(60, 150))?;
        let figure = measured.cycles;
        last.push((*variant, measured));
        Ok(figure)
    })?;
    let mut table = Table::new(
        "limits",
        "By limit and size of the packets; the consumer reads each when 256 more have come",
        &[
            "packet [bytes]", "copybreak [bytes]", "median [cycles a packet]", "first quartile [cycles]", "third quartile [cycles]",
            "to no copy", "memory held [bytes a packet]", "memory held [bytes a byte]", "buffer straight back [%]",
        ],
    );
    let labels = || limits.iter().map(u16::to_string);
    let mut cost = Plot::lines("cycles", "Cycles by copybreak", "copybreak [bytes]", "a packet [cycles]", labels());
    let mut memory = Plot::lines("memory", "Memory held by copybreak", "copybreak [bytes]", "memory held [bytes a packet]", labels());
    let at = |limit: u16, size: usize| variants.iter().position(|variant| *variant == Variant { limit, size });
    let mut ratios = Vec::new();
    for &size in sizes {
        let (mut points, mut held_by) = (Vec::new(), Vec::new());
        for (place, &limit) in limits.iter().enumerate() {
            let (Some(own), Some(none)) = (at(limit, size), at(0, size)) else { continue };
            let Some((_, measured)) = last.iter().rev().find(|(variant, _)| *variant == variants[own]) else { continue };
            let summary = Summary::of(&figures[own]);
            let ratio = Summary::of_ratio(&figures[own], &figures[none]).median;
            let (bytes, payload) = held(measured);
            let packets = payload / size as f64;
            let back = 100.0 * measured.rx.copied as f64 / measured.rx.packets as f64;
            table.row(cells![
                size as u64, u64::from(limit), summary.median, summary.low, summary.high, ratio, bytes / packets, bytes / payload, back,
            ]);
            points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
            held_by.push(Some(bytes / packets));
            ratios.push((size, limit, ratio, bytes / packets));
        }
        cost.series.push(Series { name: format!("{size} bytes"), points });
        memory.series(format!("{size} bytes"), held_by);
    }
    let of = |size: usize, limit: u16| ratios.iter().find(|entry| (entry.0, entry.1) == (size, limit));
    let mut claims = Vec::new();
    if let (Some(copied), Some(plain)) = (of(60, 256), of(60, 0)) {
        claims.push(Claim::new(
            "Copying 60-byte packets saves at least nine tenths of the memory that they hold.",
            copied.3 <= plain.3 / 8.0 + 1.0,
            format!("{:.0} bytes a packet instead of {:.0}.", copied.3, plain.3),
        ));
        claims.push(Claim::new(
            "Copying a 60-byte packet costs under a tenth more cycles than handing its buffer on.",
            copied.2 < 1.1,
            format!("{:.2} of the cycles without a copy.", copied.2),
        ));
    }
    if let Some(copied) = of(1514, 1518) {
        claims.push(Claim::new(
            "Copying packets of full length does not pay in cycles.",
            copied.2 > 1.0,
            format!("{:.2} of the cycles without a copy, for a consumer that then reads them.", copied.2),
        ));
    }
    let free: Vec<String> = sizes
        .iter()
        .map(|&size| {
            let cheap = ratios.iter().filter(|entry| entry.0 == size && usize::from(entry.1) >= size).map(|entry| entry.2);
            let least = cheap.fold(f64::MAX, f64::min);
            match least {
                f64::MAX => format!("{size} bytes were never copied"),
                least => format!("{size} bytes: {least:.2}"),
            }
        })
        .collect();
    Ok(Findings {
        setup: vec![format!(
            "The software device against one RX queue, ring 512, buffers of 2048 bytes, batch 32; the consumer keeps the last {KEPT} \
             packets and reads each before it lets go. {rounds} rounds; medians and quartiles over the rounds. {}",
            places.sentence()
        )],
        tables: vec![table],
        plots: vec![cost, memory],
        claims,
        answer: vec![format!("Cycles of copying, to those of handing the buffer on: {}.", free.join("; "))],
    })
}

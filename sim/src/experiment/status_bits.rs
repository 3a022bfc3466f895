//! Status bits in the place of `eth_type_trans()`: cycles, and cache lines touched.

use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::receive::{Consumer, Receive};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::software::lines::{Lines, PLACES};
use ferronic::{Classify, Packet, Prefetch, Replenish, RxPolicy, Sink};
use ferronic_contract::class::{classify, Class};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::queue::Format;
use std::hint::black_box;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "status-bits",
    question: "Can status bits in the completion replace eth_type_trans(), and what does that save?",
    source: "netdev, 2005 and again 2008: eth_type_trans() is the first to touch the header and takes the cache miss; hardware \
             that knows what it received should say so. Claimed for this core: delivery by status bits takes at most a fifth of \
             the cycles, and the best full poll at most 0.6 of the classic loop.",
    simulated: false,
    run,
};

/// Packets of a poll.
const BATCH: usize = 32;
const CONSUMERS: [Consumer; 3] = [Consumer::Nothing, Consumer::Class, Consumer::Payload];

/// How packets are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Refill at the end, software classification, no prefetch.
    Classic,
    /// The best of today's drivers: software classification with two passes.
    Software,
    /// Status bits, a header prefetched when it will be touched.
    Status,
    /// The same with compact completions, four to a line, and a refill every 32.
    Compact,
}

impl Way {
    const ALL: [Self; 4] = [Self::Classic, Self::Software, Self::Status, Self::Compact];

    const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic loop",
            Self::Software => "software, two passes",
            Self::Status => "status bits",
            Self::Compact => "status bits, compact completions",
        }
    }

    fn policy(self) -> RxPolicy {
        let (replenish, classify, prefetch) = match self {
            Self::Classic => (Replenish::AtEnd, Classify::Software, Prefetch::Off),
            Self::Software => (Replenish::Every(16), Classify::Software, Prefetch::TwoPass),
            Self::Status => (Replenish::Every(16), Classify::Status, Prefetch::Wanted),
            Self::Compact => (Replenish::Every(32), Classify::Status, Prefetch::Wanted),
        };
        RxPolicy { replenish, classify, prefetch, copybreak: 0, ..RxPolicy::default() }
    }

    fn receive(self, polls: usize) -> Receive {
        let format = if self == Self::Compact { Format::CompactHash } else { Format::Full };
        Receive { policy: self.policy(), format, batch: BATCH, polls, ..Receive::default() }
    }
}

/// Times the step alone: from a packet whose header nobody has touched to its class.
struct Step<'a> {
    cycles: &'a Cycles,
    own: [u8; 6],
    software: bool,
    figures: Vec<f64>,
}

/// What the status bits say, as a driver reads them.
#[inline]
fn by_status(completion: &RxCompletion) -> Option<Class> {
    let status = completion.status;
    Some(Class {
        destination: status.destination(),
        protocol: completion.protocol,
        l2: status.l2()?,
        vlan_tags: status.vlan_tags(),
    })
}

impl Sink for Step<'_> {
    fn deliver(&mut self, packet: Packet) {
        let (class, spent) = match self.software {
            true => self.cycles.until_done(|| decided(classify(packet.bytes(), &self.own))),
            false => self.cycles.until_done(|| decided(by_status(&packet.completion))),
        };
        black_box(class);
        self.figures.push(spent);
    }

    fn wants_header(&self, _completion: &RxCompletion) -> bool {
        false
    }
}

/// A stack branches on the class at once, so it waits until it is known.
#[inline(always)]
fn decided(class: Option<Class>) -> u32 {
    match black_box(class) {
        Some(class) if class.protocol == 0x0800 => class.destination as u32,
        Some(_) => 4,
        None => 5,
    }
}

/// A variant: the step by software or not, or a whole poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Step { software: bool },
    Poll { way: Way, consumer: Consumer },
}

fn run(scope: &Scope) -> Result<Findings, Failure> {
    pinned(|places| measure(scope, places).map_err(|error| error.to_string())).map_err(Into::into)
}

fn measure(scope: &Scope, places: Places) -> Result<Findings, Failure> {
    let rounds = scope.either(3, 25);
    let polls = scope.either(60, 200);
    let mut variants = vec![Variant::Step { software: true }, Variant::Step { software: false }];
    for way in Way::ALL {
        variants.extend(CONSUMERS.map(|consumer| Variant::Poll { way, consumer }));
    }
    let cycles = Cycles::default();
    let mut done = 0;
    let figures = in_turn(&variants, rounds, scope.seed, |variant| {
        done += 1;
        (scope.progress)(&format!("figure {done} of {}", rounds * variants.len()));
        match *variant {
            Variant::Step { software } => step(software, &cycles, places, polls),
            Variant::Poll { way, mut consumer } => Ok(way.receive(polls).measure(&cycles, places, &mut consumer)?.cycles),
        }
    })?;
    let of = |wanted: Variant| {
        let at = variants.iter().position(|variant| *variant == wanted);
        at.map(|at| &figures[at][..]).unwrap_or_default()
    };
    let mut findings = Findings {
        setup: vec![
            format!(
                "The software device writes 60-byte UDP frames (64 on the wire) past the caches from another core, so that every \
                 header is cold. Batch {BATCH}, ring 512, no copybreak. {}",
                places.sentence()
            ),
            format!(
                "Classic loop: refill at the end, classification in software, no prefetch. Software, two passes: refill every 16, \
                 all headers of a batch prefetched first. Status bits: refill every 16, headers prefetched only when the consumer \
                 touches them; compact: completions of 16 bytes, refill every 32. {rounds} rounds, in each of which every variant runs once; medians and quartiles over the rounds."
            ),
            "The step alone is the time from a packet whose header nobody has touched to the branch on its class. Lines are \
             counted on the caches themselves: lines of the memory that driver and device share are thrown out, a poll is made, \
             and each line is timed. What the processor's own prefetchers bring in counts too."
                .into(),
        ],
        ..Findings::default()
    };
    steps(&mut findings, of(variants[0]), of(variants[1]));
    polls_table(&mut findings, |way, consumer| of(Variant::Poll { way, consumer }));
    lines(&mut findings, scope, places)?;
    Ok(findings)
}

/// The median time of the step over some polls.
fn step(software: bool, cycles: &Cycles, places: Places, polls: usize) -> Result<f64, Failure> {
    let receive = Receive { policy: RxPolicy { prefetch: Prefetch::Off, ..Way::Status.policy() }, ..Way::Status.receive(polls) };
    let own = ferronic::Config::default().mac;
    let mut sink = Step { cycles, own, software, figures: Vec::new() };
    receive.measure(cycles, places, &mut sink)?;
    // The first polls find a ring that was never used.
    let figures = sink.figures.split_off(sink.figures.len() / 2);
    Ok(Summary::of(&figures).median)
}

fn steps(findings: &mut Findings, software: &[f64], status: &[f64]) {
    let mut table = Table::new(
        "step",
        "The step alone: from a packet with a cold header to its class",
        &["by", "median [cycles]", "first quartile [cycles]", "third quartile [cycles]"],
    );
    for (name, figures) in [("eth_type_trans() in software", software), ("status bits", status)] {
        let summary = Summary::of(figures);
        table.row(cells![name, summary.median, summary.low, summary.high]);
    }
    findings.tables.push(table);
    let ratio = Summary::of_ratio(status, software);
    findings.claims.push(Claim::new(
        "Delivery by status bits takes at most a fifth of the cycles of software eth_type_trans() on cold headers.",
        ratio.median <= 0.2,
        format!(
            "{:.0} cycles against {:.0}: {:.3} of them (quartiles {:.3} to {:.3}).",
            Summary::of(status).median, Summary::of(software).median, ratio.median, ratio.low, ratio.high
        ),
    ));
}

fn polls_table<'a>(findings: &mut Findings, of: impl Fn(Way, Consumer) -> &'a [f64]) {
    let mut table = Table::new(
        "poll",
        "A whole poll, by way and consumer",
        &["way", "consumer reads", "median [cycles a packet]", "first quartile [cycles]", "third quartile [cycles]", "to the classic loop"],
    );
    let labels = CONSUMERS.map(|consumer| consumer.name().to_owned());
    let mut plot = Plot::bars("poll", "A whole poll with cold headers, batch 32", "what the consumer reads", "a packet [cycles]", labels);
    for way in Way::ALL {
        let mut points = Vec::new();
        for (place, consumer) in CONSUMERS.into_iter().enumerate() {
            let summary = Summary::of(of(way, consumer));
            let ratio = Summary::of_ratio(of(way, consumer), of(Way::Classic, consumer));
            table.row(cells![way.name(), consumer.name(), summary.median, summary.low, summary.high, ratio.median]);
            points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
        }
        plot.series.push(Series { name: way.name().into(), points });
    }
    findings.tables.push(table);
    findings.plots.push(plot);
    let ratio = |way, consumer| Summary::of_ratio(of(way, consumer), of(Way::Classic, consumer));
    let class = ratio(Way::Status, Consumer::Class);
    let compact = ratio(Way::Compact, Consumer::Class);
    let best = if compact.median < class.median { compact } else { class };
    findings.claims.push(Claim::new(
        "The best full poll takes at most 0.6 of the cycles a packet of the classic loop (batch 32, consumer reads the class).",
        best.median <= 0.6,
        format!(
            "{:.3} (quartiles {:.3} to {:.3}); compact completions {:.3}, full ones {:.3}.",
            best.median, best.low, best.high, compact.median, class.median
        ),
    ));
    let software = ratio(Way::Software, Consumer::Class);
    findings.claims.push(Claim::new(
        "Status bits beat software classification even when all headers are prefetched.",
        class.median < software.median,
        format!("To the classic loop: status bits {:.2}, software with two passes {:.2}.", class.median, software.median),
    ));
    let payload = ratio(Way::Status, Consumer::Payload);
    findings.answer.push(format!(
        "A poll by status bits takes {:.2} of the classic loop's cycles for a consumer that reads the class, {:.2} for one that reads nothing, and \
         {:.2} for one that reads the payload: the miss that the driver spares is then the consumer's.",
        class.median, ratio(Way::Status, Consumer::Nothing).median, payload.median
    ));
}

/// Lines a packet that a poll brings in.
fn lines(findings: &mut Findings, scope: &Scope, places: Places) -> Result<(), Failure> {
    let mut table = Table::new(
        "lines",
        "Cache lines of shared memory that a poll of 32 brings in",
        &["way", "consumer reads", "of buffers [lines a packet]", "of rings [lines a packet]"],
    );
    let labels = CONSUMERS.map(|consumer| consumer.name().to_owned());
    let mut plot = Plot::bars("lines", "Cache lines of packet buffers brought in", "what the consumer reads", "lines a packet", labels);
    let mut measured = true;
    let mut of_buffers = Vec::new();
    for way in Way::ALL {
        let mut values = Vec::new();
        for consumer in CONSUMERS {
            (scope.progress)("counting lines");
            match touched(way, consumer, places, scope.either(5, 15))? {
                Some((buffers, rings)) => {
                    table.row(cells![way.name(), consumer.name(), buffers, rings]);
                    values.push(Some(buffers));
                    of_buffers.push((way, consumer, buffers));
                }
                None => measured = false,
            }
        }
        plot.series(way.name(), values);
    }
    if !measured {
        findings.setup.push("Lines were not counted: this processor's caches cannot be asked.".into());
        return Ok(());
    }
    findings.tables.push(table);
    findings.plots.push(plot);
    let of = |way, consumer| of_buffers.iter().find(|(w, c, _)| (*w, *c) == (way, consumer)).map_or(0.0, |found| found.2);
    let (software, status) = (of(Way::Classic, Consumer::Class), of(Way::Status, Consumer::Class));
    findings.claims.push(Claim::new(
        "Software classification touches a line of every packet's buffer; status bits touch none.",
        software >= 0.9 && status <= 0.1,
        format!("Consumer reads the class: {software:.2} lines a packet in software, {status:.2} by status bits."),
    ));
    Ok(())
}

/// Lines of buffers and of rings that a poll brings in, a packet. `None` where they cannot be counted.
#[allow(unsafe_code)]
fn touched(way: Way, consumer: Consumer, places: Places, times: usize) -> Result<Option<(f64, f64)>, Failure> {
    let mut bench = way.receive(0).open(places)?;
    let regions = bench.device.regions().list();
    // Buffers are in regions of their own, far larger than any ring.
    let (buffers, rings): (Vec<_>, Vec<_>) = regions.into_iter().partition(|(_, bytes)| *bytes > 64 << 10);
    bench.scatter(BATCH)?;
    let mut sums = [0.0; 2];
    // Of a buffer, the lines that have to do with a frame of 60 bytes, and three more.
    for ((regions, places), sum) in [(buffers, 4), (rings, PLACES)].iter().zip(&mut sums) {
        for place in 0..*places {
            // SAFETY: the regions are the driver's, which lives in `bench` for longer than this, and nobody else has them.
            let Some(lines) = (unsafe { Lines::of(regions, place) }) else { return Ok(None) };
            let (mut noise, mut found) = (usize::MAX, usize::MAX);
            for _ in 0..times {
                // A batch comes, and the device is quiet while lines are asked about.
                bench.device.generate(bench.frames.clone(), Some(BATCH as u64));
                bench.await_batch(BATCH)?;
                // What seems to be there though nothing was done is noise. It only ever adds, so the least counts.
                lines.flush();
                noise = noise.min(lines.present());
                lines.flush();
                bench.poll(BATCH, &mut consumer.clone())?;
                found = found.min(lines.present());
            }
            *sum += (found as f64 - noise as f64) / BATCH as f64;
        }
    }
    Ok(Some((sums[0].max(0.0), sums[1].max(0.0))))
}

//! A packet generator: write-prefetch of the packet buffer.

use super::cpu::{in_turn, pinned, Cycles, Places, Summary};
use super::findings::{Claim, Findings, Plot, Point, Series, Table};
use super::{Experiment, Failure, Scope};
use crate::cells;
use crate::setup;
use crate::software::lines::prefetch_to_write;
use crate::software::{Options, SoftwareDevice};
use ferronic::{Buffer, Nic};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "pktgen",
    question: "Does a sender gain from prefetching the packet buffer that it will write next?",
    source: "netmap (L. Rizzo, 2012): a 10 Gb/s sender is limited to about 12.5 million packets a second unless the driver \
             prefetches; pktgen's and netdev's prefetchw() discussions.",
    simulated: false,
    run,
};

const RING: u32 = 512;
/// Frames for each doorbell.
const BATCH: usize = 32;
const LENGTH: u16 = 60;

/// What is asked for ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    Nothing,
    /// The line of the frame so many on, to write to.
    Frames(usize),
}

impl Ahead {
    fn name(self) -> String {
        match self {
            Self::Nothing => "none".into(),
            Self::Frames(1) => "the next frame".into(),
            Self::Frames(count) => format!("{count} frames ahead"),
        }
    }
}

const VARIANTS: [Ahead; 4] = [Ahead::Nothing, Ahead::Frames(1), Ahead::Frames(4), Ahead::Frames(16)];

fn run(scope: &Scope) -> Result<Findings, Failure> {
    pinned(|places| measure(scope, places).map_err(|error| error.to_string())).map_err(Into::into)
}

fn measure(scope: &Scope, places: Places) -> Result<Findings, Failure> {
    let rounds = scope.either(3, 15);
    let batches = scope.either(60, 300);
    let cycles = Cycles::default();
    let figures = in_turn(&VARIANTS, rounds, scope.seed, |&ahead| {
        (scope.progress)(&ahead.name());
        send(ahead, &cycles, places, batches)
    })?;
    let hertz = cycles.per_second();
    let mut table = Table::new(
        "send",
        "Filling a frame's header and giving it to the ring",
        &["prefetched to write", "median [cycles a frame]", "first quartile [cycles]", "third quartile [cycles]", "the driver could send [million a second]", "to none"],
    );
    let mut plot = Plot::bars("send", "Sending 60-byte frames", "prefetched to write", "a frame [cycles]", VARIANTS.map(Ahead::name));
    let mut points = Vec::new();
    for (place, (ahead, own)) in VARIANTS.iter().zip(&figures).enumerate() {
        let (summary, ratio) = (Summary::of(own), Summary::of_ratio(own, &figures[0]).median);
        table.row(cells![ahead.name(), summary.median, summary.low, summary.high, hertz / summary.median / 1e6, ratio]);
        points.push(Point { x: place as f64, y: summary.median, spread: Some(summary.spread()) });
    }
    plot.series.push(Series { name: "one TX queue, a doorbell every 32".into(), points });
    let ratios: Vec<f64> = figures.iter().map(|own| Summary::of_ratio(own, &figures[0]).median).collect();
    let best = (1..VARIANTS.len()).min_by(|one, other| ratios[*one].total_cmp(&ratios[*other])).unwrap_or(1);
    Ok(Findings {
        setup: vec![format!(
            "The software device takes {LENGTH}-byte frames from one TX queue (ring {RING}) and reads each from another core. So when a buffer comes \
             back, its line is shared with that core, and writing it must take it away first. The driver writes 64 bytes into each \
             of {BATCH} buffers that it took before, and gives them to the ring; what is timed is that, with the doorbell and \
             reclaiming. {rounds} rounds. {}",
            places.sentence()
        )],
        claims: vec![Claim::new(
            "Write-prefetch of the packet buffer makes sending cheaper by at least 5 %.",
            ratios[best] < 0.95,
            format!("The best is “{}”, with {:.2} of the cycles without.", VARIANTS[best].name(), ratios[best]),
        )],
        answer: vec![format!(
            "Without prefetch a frame takes {:.0} cycles; {} ahead it takes {:.0}.",
            Summary::of(&figures[0]).median, VARIANTS[best].name(), Summary::of(&figures[best]).median
        )],
        tables: vec![table],
        plots: vec![plot],
    })
}

/// Cycles a frame: the median over the batches.
fn send(ahead: Ahead, cycles: &Cycles, places: Places, batches: usize) -> Result<f64, Failure> {
    let device = SoftwareDevice::start(Options { processor: places.device, ..Options::default() });
    let ring = RingSize::new(RING).ok_or("a ring is a power of two")?;
    let mut config = setup::driver(ring, Thresholds::default(), 1518);
    config.rx[0].policy.copybreak = 0;
    let mut nic = Nic::open(device.device(), &config)?;
    let warm = 4 * RING as usize / BATCH;
    let mut figures = Vec::with_capacity(batches);
    let mut buffers: Vec<Buffer> = Vec::with_capacity(BATCH);
    for batch in 0..warm + batches {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while usize::from(nic.tx.outstanding()) + BATCH > RING as usize {
            nic.tx.reclaim()?;
            if std::time::Instant::now() > deadline {
                return Err("the device sends nothing".into());
            }
        }
        // The buffers that were used longest ago, as a queue of a stack would have them.
        buffers.extend(std::iter::from_fn(|| nic.pool().get()).take(BATCH));
        let (sent, spent) = cycles.of(|| fill_and_send(&mut nic, &mut buffers, ahead, batch));
        sent?;
        if batch >= warm {
            figures.push(spent / BATCH as f64);
        }
    }
    Ok(Summary::of(&figures).median)
}

#[inline(never)]
fn fill_and_send(nic: &mut Nic, buffers: &mut Vec<Buffer>, ahead: Ahead, number: usize) -> Result<(), Failure> {
    for at in 0..buffers.len() {
        if let Ahead::Frames(distance) = ahead {
            if let Some(byte) = buffers.get(at + distance).and_then(|buffer| buffer.bytes().first()) {
                prefetch_to_write(byte);
            }
        }
        let bytes = buffers[at].bytes_mut();
        bytes[..64].fill(number as u8);
    }
    for buffer in buffers.drain(..) {
        nic.tx.send(buffer, 0, LENGTH).map_err(|refused| refused.why.to_string())?;
    }
    nic.tx.flush();
    nic.tx.reclaim()?;
    Ok(())
}

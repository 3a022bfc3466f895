//! What a run found, as a table and as JSON.

use crate::core_model::CoreModel;
use crate::world::{World, CYCLE_PS};
use ferronic::nic::Closed;
use ferronic::statistics::Counter;
use ferronic_pcie::{Counters, DirectionCounters, Traffic};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What the run itself measured.
pub(crate) struct Totals {
    pub cycles: u64,
    pub tlp_beats: u64,
    pub wall: Duration,
    /// Before the first frame and after the last.
    pub pcie: (Counters, Counters),
    pub counters: Vec<Counter>,
}

/// TLPs and bytes, overhead on the link included.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Kind {
    /// TLPs.
    pub tlps: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What went over the link while frames ran.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// TLPs from the core.
    pub up_tlps: u64,
    /// TLPs to the core.
    pub down_tlps: u64,
    /// Bytes from the core.
    pub up_bytes: u64,
    /// Bytes to the core.
    pub down_bytes: u64,
    /// From the core, by kind.
    pub up: BTreeMap<&'static str, Kind>,
    /// To the core, by kind.
    pub down: BTreeMap<&'static str, Kind>,
    /// Share of the time in which the link from the core was busy, 0 to 1.
    pub up_busy: f64,
    /// Share of the time in which the link to the core was busy, 0 to 1.
    pub down_busy: f64,
    /// Pages of host memory whose translation had to be looked up; 0 when none is translated.
    pub iotlb_misses: u64,
}

/// What went over the link for one frame, on average.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PerFrame {
    /// TLPs from the core.
    pub up_tlps: f64,
    /// TLPs to the core.
    pub down_tlps: f64,
    /// Bytes from the core.
    pub up_bytes: f64,
    /// Bytes to the core.
    pub down_bytes: f64,
}

/// Time from a frame's first beat at the core to the driver's sink.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// Half of the frames took no longer, in ns.
    pub median_ns: u64,
    /// 99 of 100 took no longer, in ns.
    pub p99_ns: u64,
    /// None took longer, in ns.
    pub most_ns: u64,
}

impl Latency {
    /// Of frames that took so many cycles each; `None` of none.
    pub fn of(cycles: &[u32]) -> Option<Self> {
        let mut sorted = cycles.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        let at = |percent: usize| u64::from(sorted[last * percent / 100]) * CYCLE_PS / 1000;
        Some(Self { median_ns: at(50), p99_ns: at(99), most_ns: at(100) })
    }
}

/// An RX queue, by the core's counters.
#[derive(Clone, Debug, Serialize)]
pub struct Queue {
    /// Its number.
    pub queue: u8,
    /// Frames brought to its memory.
    pub frames: u64,
    /// Frames dropped for want of a descriptor.
    pub dropped_no_descriptor: u64,
    /// Frames dropped because they were longer than a buffer.
    pub dropped_buffer: u64,
    /// Frames cut short for want of a further descriptor.
    pub cut: u64,
    /// Descriptor reads.
    pub descriptor_reads: u64,
    /// Descriptors read.
    pub descriptors: u64,
    /// Frames that had to wait for a descriptor.
    pub waited: u64,
    /// Cycles in which a frame waited for a descriptor.
    pub starved_cycles: u64,
    /// Low-water events.
    pub low_water_events: u64,
}

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Frames that the wire brought.
    pub frames_in: u64,
    /// Frames that the driver delivered.
    pub frames_delivered: u64,
    /// Frames dropped, by cause.
    pub frames_dropped: BTreeMap<&'static str, u64>,
    /// Frames that the core put on the wire as they were given.
    pub frames_sent: u64,
    /// Things that must not be: wrong bytes or fields, lost frames, illegal TLPs, wild DMA.
    pub mismatches: u64,
    /// The first of them in words.
    pub mismatch_texts: Vec<String>,
    /// Cycles of the core's clock.
    pub cycles: u64,
    /// Cycles in which the core sent a beat of a TLP.
    pub tlp_beats: u64,
    /// Simulated time.
    pub sim_seconds: f64,
    /// Time that the simulation took.
    pub wall_seconds: f64,
    /// Simulated cycles a second.
    pub cycles_per_second: f64,
    /// The link.
    pub pcie: Link,
    /// The link, for one frame delivered or sent; `None` when there was none.
    pub per_frame: Option<PerFrame>,
    /// How long frames took to the driver; `None` when none came there.
    pub latency: Option<Latency>,
    /// The open RX queues.
    pub queues: Vec<Queue>,
    /// Descriptor reads, RX and TX.
    pub descriptor_reads: u64,
    /// Descriptors read, RX and TX.
    pub descriptors: u64,
    /// Cycles in which a received frame waited for a descriptor.
    pub starved_cycles: u64,
    /// Interrupts that the driver took.
    pub interrupts: u64,
    /// Doorbells that the driver rang.
    pub doorbells: u64,
    /// Packets classified by the status bits.
    pub status_path: u64,
    /// Packets classified by the driver.
    pub software_path: u64,
    /// The core's counters at the end, by group and name.
    pub counters: BTreeMap<String, u32>,
}

impl Report {
    pub(crate) fn new<M: CoreModel<B>, const B: usize>(
        world: &mut World<M, B>,
        totals: Totals,
        closed: &Closed,
    ) -> Self {
        for text in world.illegal() {
            world.scoreboard.mismatch(text);
        }
        let sim_seconds = (totals.cycles * CYCLE_PS) as f64 * 1e-12;
        let wall_seconds = totals.wall.as_secs_f64();
        let counters: BTreeMap<String, u32> =
            totals.counters.iter().map(|counter| (format!("{}.{}", counter.group, counter.name), counter.value)).collect();
        let count = |name: &str| {
            let own = |key: &str| key.split_once('.').is_some_and(|(_, counter)| counter == name);
            counters.iter().filter(|(key, _)| own(key)).map(|(_, value)| u64::from(*value)).sum()
        };
        let queues: Vec<Queue> = (0..).map_while(|queue| Queue::of(queue, &counters)).collect();
        let pcie = Link::between(&totals.pcie.0, &totals.pcie.1, sim_seconds);
        let scoreboard = &world.scoreboard;
        let (texts, mismatches) = scoreboard.mismatches();
        Self {
            frames_in: scoreboard.frames_in,
            frames_delivered: scoreboard.delivered,
            frames_dropped: scoreboard.dropped().iter().map(|(cause, count)| (cause.name(), *count)).collect(),
            frames_sent: scoreboard.sent,
            mismatches,
            mismatch_texts: texts.to_vec(),
            cycles: totals.cycles,
            tlp_beats: totals.tlp_beats,
            sim_seconds,
            wall_seconds,
            cycles_per_second: totals.cycles as f64 / wall_seconds,
            per_frame: pcie.for_one_of(scoreboard.delivered.max(scoreboard.sent)),
            pcie,
            latency: Latency::of(&scoreboard.latencies),
            descriptor_reads: count("READS"),
            descriptors: count("DESCRIPTORS"),
            starved_cycles: queues.iter().map(|queue| queue.starved_cycles).sum(),
            queues,
            interrupts: closed.rx.interrupts,
            doorbells: closed.rx.doorbells + closed.tx.doorbells,
            status_path: closed.rx.status_path,
            software_path: closed.rx.software_path,
            counters,
        }
    }

    /// Frames dropped for whatever cause.
    pub fn dropped(&self) -> u64 {
        self.frames_dropped.values().sum()
    }
}

impl Queue {
    /// `None` when the queue is not open.
    fn of(queue: u8, counters: &BTreeMap<String, u32>) -> Option<Self> {
        let count = |name: &str| counters.get(&format!("rx{queue}.{name}")).map(|value| u64::from(*value));
        Some(Self {
            queue,
            frames: count("FRAMES")?,
            dropped_no_descriptor: count("DROP_NO_DESCRIPTOR")?,
            dropped_buffer: count("DROP_BUFFER")?,
            cut: count("CUT")?,
            descriptor_reads: count("READS")?,
            descriptors: count("DESCRIPTORS")?,
            waited: count("WAITED")?,
            starved_cycles: count("STARVED")?,
            low_water_events: count("LOW_WATER_EVENTS")?,
        })
    }
}

impl Link {
    fn for_one_of(&self, frames: u64) -> Option<PerFrame> {
        let each = |total: u64| total as f64 / frames as f64;
        (frames > 0).then(|| PerFrame {
            up_tlps: each(self.up_tlps),
            down_tlps: each(self.down_tlps),
            up_bytes: each(self.up_bytes),
            down_bytes: each(self.down_bytes),
        })
    }

    fn between(before: &Counters, after: &Counters, seconds: f64) -> Self {
        let (up, down) = (kinds(&before.up, &after.up), kinds(&before.down, &after.down));
        let sum = |kinds: &BTreeMap<_, Kind>| {
            kinds.values().fold((0, 0), |(tlps, bytes), kind: &Kind| (tlps + kind.tlps, bytes + kind.bytes))
        };
        let busy = |before: &DirectionCounters, after: &DirectionCounters| {
            (after.busy_ps - before.busy_ps) as f64 * 1e-12 / seconds
        };
        let ((up_tlps, up_bytes), (down_tlps, down_bytes)) = (sum(&up), sum(&down));
        let (up_busy, down_busy) = (busy(&before.up, &after.up), busy(&before.down, &after.down));
        let iotlb_misses = after.iotlb_misses - before.iotlb_misses;
        Self { up_tlps, down_tlps, up_bytes, down_bytes, up, down, up_busy, down_busy, iotlb_misses }
    }
}

/// What was counted in between, by kind, without the kinds that did not occur.
fn kinds(before: &DirectionCounters, after: &DirectionCounters) -> BTreeMap<&'static str, Kind> {
    let pick: [(&'static str, fn(&DirectionCounters) -> Traffic); 6] = [
        ("memory_write", |counters| counters.mwr),
        ("memory_read", |counters| counters.mrd),
        ("completion_data", |counters| counters.cpld),
        ("completion", |counters| counters.cpl),
        ("config", |counters| counters.cfg),
        ("message", |counters| counters.msg),
    ];
    pick.into_iter()
        .map(|(name, get)| {
            let (before, after) = (get(before), get(after));
            (name, Kind { tlps: after.tlps - before.tlps, bytes: after.bytes - before.bytes })
        })
        .filter(|(_, kind)| kind.tlps > 0)
        .collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<36}{value:>16}");
        row("frames in", self.frames_in.to_string())?;
        row("frames delivered", self.frames_delivered.to_string())?;
        for (cause, count) in &self.frames_dropped {
            row(&format!("frames dropped: {cause}"), count.to_string())?;
        }
        row("frames sent", self.frames_sent.to_string())?;
        row("classified by status bits", self.status_path.to_string())?;
        row("classified by software", self.software_path.to_string())?;
        row("mismatches", self.mismatches.to_string())?;
        row("simulated time", format!("{:.3} ms", self.sim_seconds * 1e3))?;
        row("cycles", self.cycles.to_string())?;
        row("cycles a second", format!("{:.0}", self.cycles_per_second))?;
        row("descriptor reads", self.descriptor_reads.to_string())?;
        row("descriptors", self.descriptors.to_string())?;
        row("starved cycles", self.starved_cycles.to_string())?;
        if self.queues.len() > 1 {
            for queue in &self.queues {
                row(&format!("queue {}, frames", queue.queue), queue.frames.to_string())?;
                let troubles = [
                    ("dropped: no_descriptor", queue.dropped_no_descriptor),
                    ("dropped: buffer", queue.dropped_buffer),
                    ("cut", queue.cut),
                    ("starved cycles", queue.starved_cycles),
                ];
                for (name, count) in troubles.into_iter().filter(|(_, count)| *count > 0) {
                    row(&format!("  {name}"), count.to_string())?;
                }
            }
        }
        row("interrupts", self.interrupts.to_string())?;
        row("doorbells", self.doorbells.to_string())?;
        for (direction, kinds, busy) in
            [("from", &self.pcie.up, self.pcie.up_busy), ("to", &self.pcie.down, self.pcie.down_busy)]
        {
            row(&format!("link {direction} the core, busy"), format!("{:.1} %", busy * 100.0))?;
            for (kind, Kind { tlps, bytes }) in kinds {
                row(&format!("  {}", kind.replace('_', " ")), format!("{tlps} / {bytes} B"))?;
            }
        }
        if let Some(Latency { median_ns, p99_ns, most_ns }) = self.latency {
            row("to the driver: median, 99 %, most", format!("{median_ns} / {p99_ns} / {most_ns} ns"))?;
        }
        if let Some(each) = self.per_frame {
            row("a frame, from the core", format!("{:.2} / {:.1} B", each.up_tlps, each.up_bytes))?;
            row("a frame, to the core", format!("{:.2} / {:.1} B", each.down_tlps, each.down_bytes))?;
        }
        for text in &self.mismatch_texts {
            writeln!(f, "  MISMATCH {text}")?;
        }
        Ok(())
    }
}

//! The scoreboard: every frame that the wire brought must reach the driver whole, in the queue and with every completion
//! field as the reference model has it, or be dropped for a cause that is true of it. The same for frames sent.
//!
//! ```text
//! wire ─on_wire→ waiting ─on_events→ at the FIFO ─on_events→ in memory (a queue each) ─on_delivered→ settled
//! ```
//!
//! Frames keep their order up to memory, and from there in each queue, so each stage is a queue.

mod compare;

use crate::core_model::Events;
use crate::expectation::Expectation;
use crate::model::{self, DropCause, Fate, Verdict};
use crate::outcome::{cause_from_bits, head_cause_from_bits, ClassLine, FrameLine, Head, Lost};
use crate::wire::{CaptureError, CaptureWriter, Frame, Received, Sent};
use compare::{compare, fate_name, first_difference, name};
use ferronic::packet::Packet;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::registers::FEATURE_TIME;
use std::collections::{BTreeMap, VecDeque};

/// Mismatches kept in words; more are only counted.
const KEPT: usize = 20;
/// Most queues that a core can have.
const QUEUES: usize = 16;

/// Where a frame's line goes when it is settled.
pub type Observer = Box<dyn FnMut(&Frame, &FrameLine)>;

/// A frame on its way.
struct Entry {
    frame: Frame,
    /// Cycle in which its first beat came to the core.
    cycle: u64,
    line: Option<FrameLine>,
}

/// Frames of a queue that are in memory.
#[derive(Default)]
struct InMemory {
    /// In their order; `None` is one that was cut short, which the driver drops.
    frames: VecDeque<Option<u64>>,
    /// Index of the next completion; unknown behind a frame that was cut short.
    next: Option<u16>,
    /// Packets that the driver dropped for want of a buffer.
    host_drops: u64,
    /// Nobody polls the queue.
    unserved: bool,
}

impl InMemory {
    /// Passes over frames that were cut short. How many completions they had is not known.
    fn pass_cut(&mut self) {
        while let Some(None) = self.frames.front() {
            self.frames.pop_front();
            self.next = None;
        }
    }

    /// The frame that is next.
    fn take(&mut self) -> Option<u64> {
        self.pass_cut();
        self.frames.pop_front().flatten()
    }
}

/// Compares what came with what must come.
pub struct Scoreboard {
    entries: VecDeque<Entry>,
    /// Number of the entry at the front, counted from the start of the run.
    front: u64,
    /// Number of the next frame whose fate at the packet FIFO is open.
    next_at_fifo: u64,
    at_fifo: VecDeque<u64>,
    in_memory: [InMemory; QUEUES],
    /// The core's time at cycle 0, with the resets after which that holds.
    clock: Option<(u32, u32)>,
    to_send: VecDeque<Vec<u8>>,
    observer: Option<Observer>,
    sent_capture: Option<CaptureWriter>,
    failure: Option<CaptureError>,
    /// Frames that the wire brought.
    pub frames_in: u64,
    /// Frames that the driver delivered.
    pub delivered: u64,
    /// Frames that the core sent as they were given.
    pub sent: u64,
    /// Cycles from a frame's first beat to the driver's sink, of each delivered.
    pub latencies: Vec<u32>,
    dropped: BTreeMap<Lost, u64>,
    mismatches: Vec<String>,
    mismatch_count: u64,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            front: 0,
            next_at_fifo: 0,
            at_fifo: VecDeque::new(),
            in_memory: std::array::from_fn(|_| InMemory { next: Some(0), ..InMemory::default() }),
            clock: None,
            to_send: VecDeque::new(),
            observer: None,
            sent_capture: None,
            failure: None,
            frames_in: 0,
            delivered: 0,
            sent: 0,
            latencies: Vec::new(),
            dropped: BTreeMap::new(),
            mismatches: Vec::new(),
            mismatch_count: 0,
        }
    }
}

impl Scoreboard {
    /// Calls `observer` with every frame in the order of the wire, once its fate is known.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Writes what the core sends to a capture.
    pub fn capture_sent(&mut self, capture: CaptureWriter) {
        self.sent_capture = Some(capture);
    }

    /// Frames whose fate is known, and frames sent: what a progress bar counts.
    pub fn settled(&self) -> u64 {
        self.front + self.sent
    }

    /// Whether every frame that came, and every frame given to send, is accounted for.
    pub fn is_settled(&self) -> bool {
        self.entries.is_empty() && self.to_send.is_empty()
    }

    /// Frames given to send and not seen on the wire.
    pub fn unsent(&self) -> usize {
        self.to_send.len()
    }

    /// Frames dropped, by cause.
    pub fn dropped(&self) -> &BTreeMap<Lost, u64> {
        &self.dropped
    }

    /// Mismatches: the first ones in words, and how many in all.
    pub fn mismatches(&self) -> (&[String], u64) {
        (&self.mismatches, self.mismatch_count)
    }

    /// Notes something that must not be.
    pub fn mismatch(&mut self, what: String) {
        self.mismatch_count += 1;
        if self.mismatches.len() < KEPT {
            self.mismatches.push(what);
        }
    }

    /// What still waits at the end of a run is lost: a mismatch each. Finishes the capture of what was sent.
    ///
    /// # Errors
    ///
    /// The capture could not be written.
    pub fn finish(&mut self) -> Result<(), CaptureError> {
        while let Some(entry) = self.entries.pop_front() {
            self.front += 1;
            if entry.line.is_none() {
                self.mismatch(format!("{}: lost in the core", name(&entry.frame)));
            }
        }
        for _ in 0..self.to_send.len() {
            self.mismatch("a frame given to send did not reach the wire".into());
        }
        self.to_send.clear();
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.sent_capture.take().map_or(Ok(()), CaptureWriter::finish),
        }
    }

    /// The wire has brought a frame, whose first beat came in this cycle.
    pub fn on_wire(&mut self, sent: Sent, cycle: u64) {
        self.frames_in += 1;
        self.entries.push_back(Entry { frame: sent.frame, cycle, line: None });
    }

    /// The core showed what happened to frames.
    pub fn on_events(&mut self, events: Events, expect: &Expectation) {
        if events.frame_in {
            self.at_the_fifo(events.drop, expect.max_frame);
        }
        if events.head {
            self.at_the_head(events.head_drop, events.queue, expect);
        }
    }

    fn at_the_fifo(&mut self, bits: u8, max_frame: u16) {
        let number = self.next_at_fifo;
        self.next_at_fifo += 1;
        let Some(entry) = self.entries.get((number - self.front) as usize) else {
            return self.mismatch("the core counted a frame that never came".into());
        };
        let (frame, length, bad) = (name(&entry.frame), entry.frame.bytes.len(), entry.frame.bad_fcs);
        let verdict = model::verdict(length, bad, max_frame);
        let must = if let Verdict::Drop(cause) = verdict { Some(cause) } else { None };
        match cause_from_bits(bits) {
            Err(bits) => self.mismatch(format!("{frame}: {bits:#b} is not one cause")),
            Ok(None) if must.is_none() => self.at_fifo.push_back(number),
            Ok(None) => {
                self.mismatch(format!("{frame}: taken, but it is {}", must.map_or("good", DropCause::name)));
                self.at_fifo.push_back(number);
            }
            Ok(Some(cause)) => {
                let possible = match cause {
                    DropCause::Disabled => true,
                    DropCause::Fifo | DropCause::NoDescriptor => must.is_none(),
                    _ => must == Some(cause),
                };
                if !possible {
                    self.mismatch(format!("{frame}: dropped as {}, which it is not", cause.name()));
                }
                self.drop_frame(number, Lost::Core(cause));
            }
        }
    }

    fn at_the_head(&mut self, bits: u8, queue: u8, expect: &Expectation) {
        let Some(number) = self.at_fifo.pop_front() else {
            return self.mismatch("the core decided on a frame that never came".into());
        };
        let Some(Entry { frame, .. }) = self.entries.get((number - self.front) as usize) else { return };
        let is = match head_cause_from_bits(bits) {
            Ok(is) => is,
            Err(bits) => return self.mismatch(format!("{}: {bits:#b} is not one cause", name(frame))),
        };
        let fits = |fate: &Fate| match (is, fate) {
            (Head::Dropped(DropCause::Pause), fate) => *fate == Fate::Pause,
            (Head::Dropped(DropCause::Filter), fate) => *fate == Fate::Filtered,
            (_, Fate::Queue(delivery)) => delivery.queue == queue,
            _ => false,
        };
        let possible = expect.possible();
        if !possible.iter().any(|settings| fits(&settings.judge(&frame.bytes))) {
            let fate = possible[0].judge(&frame.bytes);
            let what = format!("{}: {is:?} in queue {queue}, but it is {}", name(frame), fate_name(&fate));
            self.mismatch(what);
        }
        let place = &mut self.in_memory[usize::from(queue) % QUEUES];
        match is {
            Head::Delivered if place.unserved => self.drop_frame(number, Lost::Unserved),
            Head::Delivered => place.frames.push_back(Some(number)),
            Head::Cut => {
                place.frames.push_back(None);
                self.drop_frame(number, Lost::Cut);
            }
            Head::Dropped(cause) => self.drop_frame(number, Lost::Core(cause)),
        }
    }

    /// Nobody will poll this queue: what goes to its memory is accounted for by that.
    pub fn leave_unserved(&mut self, queue: u8) {
        self.in_memory[usize::from(queue) % QUEUES].unserved = true;
    }

    /// Packets of this queue that the driver is known to have dropped for want of a buffer.
    pub fn host_drops(&self, queue: u8) -> u64 {
        self.in_memory[usize::from(queue) % QUEUES].host_drops
    }

    /// The driver took a packet of this queue that it could not deliver for want of a buffer.
    pub fn on_host_drop(&mut self, queue: u8) {
        let place = &mut self.in_memory[usize::from(queue) % QUEUES];
        place.next = place.next.map(|next| next.wrapping_add(1));
        place.host_drops += 1;
        match place.take() {
            Some(number) => self.drop_frame(number, Lost::NoHostBuffer),
            None => self.mismatch("the driver dropped a frame that never came".into()),
        }
    }

    /// The driver delivered a packet in this cycle.
    pub fn on_delivered(&mut self, packet: &Packet, expect: &Expectation, now: u64) {
        let (queue, setup) = (packet.queue(), expect.queue(packet.queue()));
        let place = &mut self.in_memory[usize::from(queue) % QUEUES];
        place.pass_cut();
        // The driver says how many packets it dropped; the indices that are skipped say which.
        if let (Format::Full, Some(next)) = (setup.format(), place.next) {
            let skipped = packet.completion.index.wrapping_sub(next);
            if usize::from(skipped) < place.frames.len() {
                (0..skipped).for_each(|_| self.on_host_drop(queue));
            }
        }
        let place = &mut self.in_memory[usize::from(queue) % QUEUES];
        let Some(number) = place.take() else {
            return self.mismatch("the driver delivered a frame that never came".into());
        };
        let index = place.next.unwrap_or(packet.completion.index);
        let buffers = packet.segments().count();
        place.next = Some(index.wrapping_add(buffers as u16));
        let Some(&Entry { ref frame, cycle, .. }) = self.entries.get((number - self.front) as usize) else { return };
        self.latencies.push(now.saturating_sub(cycle).try_into().unwrap_or(u32::MAX));
        let mut wrong = Vec::new();
        for fate in expect.judge(&frame.bytes, packet.completion.status.epoch()) {
            wrong = match fate {
                Fate::Queue(delivery) => compare(packet, &delivery, setup, index),
                fate => vec![format!("delivered, but it is {}", fate_name(&fate))],
            };
            if wrong.is_empty() {
                break;
            }
        }
        let line = FrameLine {
            capture: frame.source.to_string(),
            index: frame.index,
            outcome: "delivered".into(),
            length: frame.bytes.len(),
            class: Some(ClassLine::of(packet, buffers)),
        };
        let frame = name(frame);
        if expect.has(FEATURE_TIME) && setup.format() == Format::Full {
            wrong.extend(self.wrong_time(packet.completion.timestamp, cycle, expect.resets));
        }
        if !wrong.is_empty() {
            self.mismatch(format!("{frame}: {}", wrong.join("; ")));
        }
        self.delivered += 1;
        self.settle(number, line);
    }

    /// Time stamps must differ as the cycles do in which the first beats came.
    fn wrong_time(&mut self, stamp: u32, cycle: u64, resets: u32) -> Option<String> {
        let zero = stamp.wrapping_sub(cycle as u32);
        match self.clock {
            Some((known, at)) if at == resets => {
                let must = known.wrapping_add(cycle as u32);
                (stamp != must).then(|| format!("TIMESTAMP is {stamp:#x}, must be {must:#x}"))
            }
            _ => self.clock.replace((zero, resets)).and(None),
        }
    }

    /// The driver gave the core a frame to send.
    pub fn on_send(&mut self, frame: &[u8]) {
        let mut padded = frame.to_vec();
        padded.resize(padded.len().max(crate::wire::MIN_FRAME), 0);
        self.to_send.push_back(padded);
    }

    /// The wire took a frame from the core.
    pub fn on_sent(&mut self, frame: &Received<'_>, expect: &Expectation) {
        if let Some(Err(error)) = self.sent_capture.as_mut().map(|capture| capture.write(frame.end_ps, frame.bytes)) {
            self.failure.get_or_insert(error);
        }
        if expect.may_send(frame.bytes) && self.to_send.front().is_none_or(|must| must != frame.bytes) {
            return;
        }
        match self.to_send.pop_front() {
            Some(must) if must == frame.bytes => self.sent += 1,
            Some(must) => {
                let what = format!("frame {} sent: {}", self.sent, first_difference(&must, frame.bytes));
                self.mismatch(what);
            }
            None => self.mismatch("the core sent a frame that nobody gave it".into()),
        }
    }

    fn drop_frame(&mut self, number: u64, cause: Lost) {
        *self.dropped.entry(cause).or_default() += 1;
        let Some(Entry { frame, .. }) = self.entries.get((number - self.front) as usize) else { return };
        let line = FrameLine {
            capture: frame.source.to_string(),
            index: frame.index,
            outcome: format!("dropped:{}", cause.name()),
            length: frame.bytes.len(),
            class: None,
        };
        self.settle(number, line);
    }

    /// Notes a frame's fate, and tells the observer of all those at the front whose fate is known.
    fn settle(&mut self, number: u64, line: FrameLine) {
        if let Some(entry) = self.entries.get_mut((number - self.front) as usize) {
            entry.line = Some(line);
        }
        while let Some(Entry { frame, line: Some(line), .. }) = self.entries.front() {
            if let Some(observer) = &mut self.observer {
                observer(frame, line);
            }
            self.entries.pop_front();
            self.front += 1;
        }
    }
}

//! The scoreboard: every frame that the wire brought must reach the driver whole, with every completion field as
//! the reference model has it, or be dropped for a cause that is true of it. The same for frames sent.
//!
//! ```text
//! wire ─on_wire→ waiting ─on_events→ at the FIFO ─on_events→ in memory ─on_delivered→ settled
//! ```
//!
//! Frames keep their order everywhere, so each stage is a queue.

use crate::core_model::Events;
use crate::model::{self, DropCause, Fate, Settings, Verdict};
use crate::outcome::{cause_from_bits, ClassLine, FrameLine, Lost};
use crate::wire::{CaptureError, CaptureWriter, Frame, Received, Sent};
use ferronic::packet::{Packet, Path};
use ferronic_contract::class::Mac;
use ferronic_contract::completion;
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{Destination, L2};
use std::collections::{BTreeMap, VecDeque};

/// Mismatches kept in words; more are only counted.
const KEPT: usize = 20;

/// What the driver has set up, so what the core must answer.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// Own address.
    pub mac: Mac,
    /// Address-filter epoch.
    pub epoch: u8,
    /// Entries of the completion ring.
    pub ring: RingSize,
    /// Longest frame, bytes.
    pub max_frame: u16,
    /// What this build of the core has: the register FEATURES.
    pub features: u32,
}

/// Where a frame's line goes when it is settled.
pub type Observer = Box<dyn FnMut(&Frame, &FrameLine)>;

/// A frame on its way.
struct Entry {
    frame: Frame,
    line: Option<FrameLine>,
}

/// Compares what came with what must come.
#[derive(Default)]
pub struct Scoreboard {
    expect: Option<Expectation>,
    entries: VecDeque<Entry>,
    /// Number of the entry at the front, counted from the start of the run.
    front: u64,
    /// Number of the next frame whose fate at the packet FIFO is open.
    next_at_fifo: u64,
    at_fifo: VecDeque<u64>,
    in_memory: VecDeque<u64>,
    to_send: VecDeque<Vec<u8>>,
    observer: Option<Observer>,
    sent_capture: Option<CaptureWriter>,
    failure: Option<CaptureError>,
    completions: u16,
    /// Frames that the wire brought.
    pub frames_in: u64,
    /// Frames that the driver delivered.
    pub delivered: u64,
    /// Frames that the core sent as they were given.
    pub sent: u64,
    dropped: BTreeMap<Lost, u64>,
    mismatches: Vec<String>,
    mismatch_count: u64,
}

impl Scoreboard {
    /// Says what the driver has set up, once it has.
    pub fn expect(&mut self, expectation: Expectation) {
        self.expect = Some(expectation);
    }

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

    /// The wire has brought a frame.
    pub fn on_wire(&mut self, sent: Sent) {
        self.frames_in += 1;
        self.entries.push_back(Entry { frame: sent.frame, line: None });
    }

    /// The core showed what happened to frames.
    pub fn on_events(&mut self, events: Events) {
        if events.frame_in {
            self.at_the_fifo(events.drop);
        }
        if events.delivered {
            match self.at_fifo.pop_front() {
                Some(number) => self.in_memory.push_back(number),
                None => self.mismatch("the core delivered a frame that never came".into()),
            }
        }
        for (happened, cause) in [(events.drop_buffer, DropCause::Buffer), (events.drop_late, DropCause::Disabled)] {
            if happened {
                match self.at_fifo.pop_front() {
                    Some(number) => self.drop_frame(number, Lost::Core(cause)),
                    None => self.mismatch(format!("the core dropped ({}) a frame that never came", cause.name())),
                }
            }
        }
    }

    fn at_the_fifo(&mut self, bits: u8) {
        let number = self.next_at_fifo;
        self.next_at_fifo += 1;
        let Some(entry) = self.entries.get((number - self.front) as usize) else {
            return self.mismatch("the core counted a frame that never came".into());
        };
        let (frame, length, bad) = (name(&entry.frame), entry.frame.bytes.len(), entry.frame.bad_fcs);
        let limit = self.expect.map_or(ferronic_contract::MAX_FRAME, |expect| expect.max_frame);
        let must = match model::verdict(length, bad, limit) {
            Verdict::Accept => None,
            Verdict::Drop(cause) => Some(cause),
        };
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

    /// The driver took a packet that it could not deliver for want of a buffer.
    pub fn on_host_drop(&mut self) {
        self.completions = self.completions.wrapping_add(1);
        match self.in_memory.pop_front() {
            Some(number) => self.drop_frame(number, Lost::NoHostBuffer),
            None => self.mismatch("the driver dropped a frame that never came".into()),
        }
    }

    /// The driver delivered a packet.
    pub fn on_delivered(&mut self, packet: &Packet) {
        // The driver says how many packets it dropped; the indices that are skipped say which.
        let skipped = packet.completion.index.wrapping_sub(self.completions);
        if usize::from(skipped) < self.in_memory.len() {
            (0..skipped).for_each(|_| self.on_host_drop());
        }
        let Some(number) = self.in_memory.pop_front() else {
            return self.mismatch("the driver delivered a frame that never came".into());
        };
        let Some(Entry { frame, .. }) = self.entries.get((number - self.front) as usize) else { return };
        let mut wrong = Vec::new();
        if packet.bytes() != frame.bytes {
            wrong.push(first_difference(&frame.bytes, packet.bytes()));
        }
        if let Some(expect) = &self.expect {
            let cookie = packet.completion.cookie;
            let settings =
                Settings { features: expect.features, own: expect.mac, epoch: expect.epoch, ..Settings::default() };
            let must = match settings.judge(&frame.bytes) {
                Fate::Queue(delivery) => delivery.completion(expect.ring, self.completions, cookie),
                fate => return self.mismatch(format!("{}: delivered, but its fate is {fate:?}", name(frame))),
            };
            let (is, must) = (packet.completion.encode(), must.encode());
            for field in completion::FIELDS.iter().filter(|field| field.get(&is) != field.get(&must)) {
                wrong.push(format!("{} is {:#x}, must be {:#x}", field.name, field.get(&is), field.get(&must)));
            }
        }
        let line = FrameLine {
            capture: frame.source.to_string(),
            index: frame.index,
            outcome: "delivered".into(),
            length: frame.bytes.len(),
            class: Some(class_line(packet)),
        };
        if !wrong.is_empty() {
            let what = format!("{}: {}", name(frame), wrong.join("; "));
            self.mismatch(what);
        }
        self.completions = self.completions.wrapping_add(1);
        self.delivered += 1;
        self.settle(number, line);
    }

    /// The driver gave the core a frame to send.
    pub fn on_send(&mut self, frame: &[u8]) {
        let mut padded = frame.to_vec();
        padded.resize(padded.len().max(crate::wire::MIN_FRAME), 0);
        self.to_send.push_back(padded);
    }

    /// The wire took a frame from the core.
    pub fn on_sent(&mut self, frame: &Received<'_>) {
        if let Some(Err(error)) = self.sent_capture.as_mut().map(|capture| capture.write(frame.end_ps, frame.bytes)) {
            self.failure.get_or_insert(error);
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
        while let Some(Entry { frame, line: Some(line) }) = self.entries.front() {
            if let Some(observer) = &mut self.observer {
                observer(frame, line);
            }
            self.entries.pop_front();
            self.front += 1;
        }
    }
}

fn name(frame: &Frame) -> String {
    format!("{} frame {} ({} bytes)", frame.source, frame.index, frame.bytes.len())
}

fn first_difference(must: &[u8], is: &[u8]) -> String {
    match must.iter().zip(is).position(|(a, b)| a != b) {
        Some(at) => format!("byte {at} is {:#04x}, must be {:#04x}", is[at], must[at]),
        None => format!("{} bytes, must be {}", is.len(), must.len()),
    }
}

fn class_line(packet: &Packet) -> ClassLine {
    let status = packet.completion.status;
    ClassLine {
        classified: status.classified(),
        dst: match packet.class.destination {
            Destination::Host => "host",
            Destination::Broadcast => "broadcast",
            Destination::Multicast => "multicast",
            Destination::OtherHost => "other_host",
        },
        protocol: packet.class.protocol,
        l2: match packet.class.l2 {
            L2::EthernetII => "ethernet_ii",
            L2::Llc => "llc",
            L2::Raw => "raw",
        },
        vlan_tags: packet.class.vlan_tags,
        epoch: status.epoch(),
        path: match packet.path {
            Path::Status => "status",
            Path::Software => "software",
        },
    }
}

//! Everything around delivery: frames in the packet FIFO, queues with descriptors, a memory. What becomes of each frame
//! is worked out beforehand by `plan`; the bench checks that just this happens, and every rule of the interface.

mod block;

pub use block::Delivery;

use crate::tlp::Random;
use block::{Out, Pay};
use ferronic_contract::completion::{RxCompletion, COOKIE};
use ferronic_contract::descriptor::RxDescriptor;
use ferronic_contract::registers::queue::Split;
use ferronic_contract::status::{self, Status};
use std::collections::{HashMap, VecDeque};

/// Bytes of the packet FIFO.
pub const DEPTH: usize = 32 * 1024;
pub const QUEUES: usize = 16;

/// A frame with what parser and filter say of it.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub about: RxCompletion,
    pub l4_offset: u8,
    pub pause: bool,
    pub drop: bool,
    pub rss: bool,
    pub queue: usize,
    pub tag: Option<u16>,
}

#[derive(Clone, Debug)]
pub struct Queue {
    pub active: bool,
    pub scatter: bool,
    pub split: Split,
    pub split_bytes: u16,
    pub descriptors: VecDeque<RxDescriptor>,
    /// Completions given whose data is still to come, with that data.
    pub due: VecDeque<(RxCompletion, Vec<u8>)>,
    /// Every descriptor ever posted, by its cookie.
    posted: HashMap<u32, RxDescriptor>,
    /// Pulses: PAUSE, filter, disabled, no descriptor, buffer, cut, delivered, waited.
    pub count: [u64; 8],
    pub starved: u64,
}

/// What the integrator's registers hold of the queue that was named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    descriptor: Option<RxDescriptor>,
    scatter: bool,
    split: Split,
    split_bytes: u16,
}

/// What a frame becomes: a drop with its cause (as in `Queue::count`), or buffers and whether it is cut short.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Drop(usize),
    Buffers(Vec<usize>, bool, bool),
}

fn boundary(frame: &Frame, queue: &Queue) -> usize {
    let status = frame.about.status;
    let place = match queue.split {
        Split::L2 => usize::from(frame.about.l3_offset),
        Split::L3 if [1, 2].contains(&status.get(status::L3)) => usize::from(frame.l4_offset),
        Split::L4 if (1..=4).contains(&status.get(status::L4)) => usize::from(frame.about.header_length),
        Split::Fixed => usize::from(queue.split_bytes),
        _ => 0,
    };
    if place < frame.bytes.len() { place } else { 0 }
}

/// What becomes of a frame whose queue has these descriptors and no others will come.
pub fn plan(frame: &Frame, queue: &Queue) -> Fate {
    match () {
        () if frame.pause => return Fate::Drop(0),
        () if frame.drop => return Fate::Drop(1),
        () if !queue.active => return Fate::Drop(2),
        () if queue.descriptors.is_empty() => return Fate::Drop(3),
        () => {}
    }
    let (length, boundary) = (frame.bytes.len(), boundary(frame, queue));
    let sizes: Vec<usize> = queue.descriptors.iter().map(|descriptor| descriptor.length.into()).collect();
    let parts = if boundary > 0 { vec![boundary, length - boundary] } else { vec![length] };
    let mut buffers = Vec::new();
    for (part, bytes) in parts.into_iter().enumerate() {
        let mut left = bytes;
        while left > 0 {
            match sizes.get(buffers.len()) {
                Some(0) if buffers.is_empty() => return Fate::Drop(4),
                Some(0) | None => return Fate::Buffers(buffers, boundary > 0, true),
                Some(size) if *size < left && !queue.scatter => return Fate::Drop(4),
                Some(size) => buffers.push(left.min(*size)),
            }
            left -= buffers[buffers.len() - 1];
        }
        assert!(part < 2);
    }
    Fate::Buffers(buffers, boundary > 0, false)
}

pub struct World<D> {
    pub block: D,
    pub random: Random,
    pub cycle: u64,
    pub mps: u8,
    pub hold: u32,
    /// Per cent of cycles in which a memory write is taken, there is room for completions, a frame is shown.
    pub pay_ready: u64,
    pub room: u64,
    pub show: u64,
    pub to_send: VecDeque<Frame>,
    pub queues: Vec<Queue>,
    /// What happened, in order: queue and fate.
    pub fates: Vec<(usize, Fate)>,
    /// Completions in order.
    pub completions: Vec<(usize, RxCompletion)>,
    packets: Vec<u8>,
    position: usize,
    freed: usize,
    /// Frames in the list, with their position, and taken from it.
    list: VecDeque<([u32; 8], Frame, usize)>,
    taken: VecDeque<(Frame, usize)>,
    shown: bool,
    /// Buffers given out of the frame at hand, and whether the frame is split.
    parts: Vec<usize>,
    sampled: Sample,
    /// What a completion rests on: rooms of the cycles before, the last first, and whose completion was to come.
    before: ([u16; 2], Option<usize>),
    named: usize,
    word: usize,
    pub memory: HashMap<u64, u8>,
    tlp: Vec<Pay>,
    held: Option<Pay>,
}

impl<D: Delivery> World<D> {
    pub fn new(seed: u64) -> Self {
        let queue = Queue {
            active: true, scatter: false, split: Split::Off, split_bytes: 0, descriptors: VecDeque::new(),
            due: VecDeque::new(), posted: HashMap::new(), count: [0; 8], starved: 0,
        };
        let mut world = Self {
            block: D::new(seed), random: Random(seed), cycle: 0, mps: 1, hold: 0, pay_ready: 100, room: 100, show: 100,
            to_send: VecDeque::new(), queues: vec![queue; QUEUES], fates: Vec::new(), completions: Vec::new(),
            packets: vec![0xEE; DEPTH], position: 0, freed: 0, list: VecDeque::new(), taken: VecDeque::new(),
            shown: false, parts: Vec::new(), sampled: Sample::default(), before: ([0; 2], None), named: 0, word: 0, memory: HashMap::new(),
            tlp: Vec::new(), held: None,
        };
        for _ in 0..3 {
            world.block.inputs(true, 0, 0, 0, false, &[]);
            world.block.frame(None, false);
            world.block.settle();
            world.block.clock_edge();
        }
        world
    }

    /// A buffer at a random page and the given offset in it.
    pub fn buffer(&mut self, length: u16, offset: u64) -> RxDescriptor {
        let page = self.random.next() & 0xFFF_FFFF << self.random.below(8);
        RxDescriptor { address: (page << 16) + offset, length, cookie: self.random.next() as u32 }
    }

    pub fn post(&mut self, queue: usize, descriptor: RxDescriptor) {
        self.queues[queue].posted.insert(descriptor.cookie, descriptor);
        self.queues[queue].descriptors.push_back(descriptor);
    }

    /// Puts frames into the packet FIFO while there is room.
    fn store(&mut self) {
        while let Some(frame) = self.to_send.front() {
            let room = frame.bytes.len().next_multiple_of(D::BYTES);
            if self.position + room - self.freed > DEPTH || self.list.len() > 300 {
                return;
            }
            let frame = self.to_send.pop_front().unwrap();
            for (i, byte) in frame.bytes.iter().enumerate() {
                self.packets[(self.position + i) % DEPTH] = *byte;
            }
            let mut template = frame.about.encode();
            let rss = if frame.rss { frame.queue } else { !frame.queue & 15 };
            template[COOKIE.word] = rss as u32 | u32::from(frame.pause) << 4 | u32::from(frame.l4_offset) << 8;
            self.list.push_back((template, frame, self.position));
            self.position += room;
        }
    }

    pub fn step(&mut self) {
        self.store();
        self.shown |= self.random.percent(self.show);
        let apart = !self.random.percent(self.show);
        let frame = self.list.front().filter(|_| self.shown).map(|(template, frame, _)| (template, frame));
        self.block.frame(frame, apart);
        let active = self.queues.iter().enumerate().fold(0, |all, (i, queue)| all | u16::from(queue.active) << i);
        self.block.queue(active, &self.sampled);
        let (room, ready) = (self.random.percent(self.room), self.random.percent(self.pay_ready));
        let rooms = if room { 0xFFFF } else { self.random.next() as u16 };
        let at = self.word * D::BYTES;
        self.block.inputs(false, self.mps, self.hold, rooms, ready, &self.packets[at..at + D::BYTES]);
        self.block.settle();
        let out = self.block.out();
        assert!(!out.m_ready || (self.shown && !apart), "taken though one of both is not there");
        if let Some((queue, words)) = out.completion {
            assert!(self.before.0[1] >> queue & 1 == 1, "a completion without room");
            assert_eq!(self.before.1, Some(queue));
            self.complete(queue, &words);
        }
        self.before = ([rooms, self.before.0[0]], out.holds);
        self.events(&out);
        if out.m_ready {
            let (_, frame, position) = self.list.pop_front().unwrap();
            self.taken.push_back((frame, position));
            self.shown = false;
        }
        self.pay(&out, ready);
        self.free(out.free);
        let named = &self.queues[out.d_queue];
        self.sampled = Sample {
            descriptor: named.descriptors.front().copied(),
            scatter: named.scatter,
            split: named.split,
            split_bytes: named.split_bytes,
        };
        if out.d_take {
            assert!(self.queues[self.named].descriptors.pop_front().is_some(), "a descriptor that is not there");
        }
        (self.named, self.word) = (out.d_queue, out.word);
        self.block.clock_edge();
        self.cycle += 1;
    }

    /// A completion of the oldest frame taken.
    fn complete(&mut self, queue: usize, words: &[u32; 8]) {
        let (frame, _) = self.taken.front().expect("a completion without a frame");
        let now = RxCompletion::decode(words);
        let start: usize = self.parts.iter().sum();
        let length = usize::from(now.length);
        let get = |field| now.status.get(field) == 1;
        let due = RxCompletion {
            length: now.length,
            status: Status(frame.about.status.0)
                .with(status::FILTER, frame.tag.is_some().into())
                .with(status::TAG, frame.tag.is_some().into())
                .with(status::SOP, self.parts.is_empty().into())
                .with(status::EOP, get(status::EOP).into())
                .with(status::SPLIT, get(status::SPLIT).into())
                .with(status::ERROR, get(status::ERROR).into()),
            filter_tag: frame.tag.unwrap_or(0),
            cookie: now.cookie,
            ..frame.about
        };
        assert_eq!(*words, due.encode());
        assert_eq!(frame.queue, queue);
        let data = frame.bytes[start..start + length].to_vec();
        self.parts.push(length);
        if get(status::EOP) {
            let fate = Fate::Buffers(std::mem::take(&mut self.parts), get(status::SPLIT), get(status::ERROR));
            self.fates.push((queue, fate));
            self.taken.pop_front();
        }
        self.queues[queue].due.push_back((now, data));
        self.completions.push((queue, now));
    }

    fn events(&mut self, out: &Out) {
        let (starved, waited, queue) = out.wait;
        self.queues[queue].starved += u64::from(starved);
        self.queues[queue].count[7] += u64::from(waited);
        let (events, queue) = out.events;
        assert!(events.iter().filter(|event| **event).count() <= 1);
        let Some(cause) = events.iter().position(|event| *event) else { return };
        self.queues[queue].count[cause] += 1;
        if cause < 5 {
            let (frame, _) = self.taken.pop_front().expect("a drop without a frame");
            assert_eq!(frame.queue, queue);
            self.fates.push((queue, Fate::Drop(cause)));
        }
    }

    fn free(&mut self, free: u16) {
        let ahead = free.wrapping_sub(self.freed as u16);
        assert!(usize::from(ahead) <= self.position - self.freed, "more room given back than was taken");
        for at in self.freed..self.freed + usize::from(ahead) {
            self.packets[at % DEPTH] = 0xDD;
        }
        self.freed += usize::from(ahead);
    }

    fn pay(&mut self, out: &Out, ready: bool) {
        if self.held.is_some() {
            assert_eq!(out.pay, self.held, "changed before it was taken");
        }
        self.held = out.pay.clone().filter(|_| !ready);
        let taken = out.pay.clone().filter(|_| ready);
        assert!(taken.as_ref().is_some_and(|beat| beat.last) || out.ends == (false, false, out.ends.2));
        let Some(beat) = taken else { return };
        let last = beat.last;
        self.tlp.push(beat);
        assert_eq!(last, self.tlp.len() == usize::from(self.tlp[0].dwords).div_ceil(D::BYTES / 4));
        if last {
            self.tlp_taken();
        }
        let (gone, frame, queue) = out.ends;
        if gone {
            let (completion, data) = self.queues[queue].due.pop_front().expect("gone without a completion");
            let RxDescriptor { address: place, length, .. } = self.queues[queue].posted[&completion.cookie];
            assert!(data.len() <= length.into(), "more than the buffer holds");
            for (i, byte) in data.iter().enumerate() {
                assert_eq!(self.memory.remove(&(place + i as u64)), Some(*byte), "byte {i} of {completion:?}");
            }
            assert_eq!(frame, completion.status.get(status::EOP) == 1);
            self.queues[queue].count[6] += u64::from(frame);
        } else {
            assert!(!frame);
        }
    }

    /// Checks a memory write by the rules of PCIe and puts its bytes into memory.
    fn tlp_taken(&mut self) {
        let Pay { address, dwords, first_be, last_be, .. } = self.tlp[0];
        let limit = 128 << self.mps;
        let (lead, trail) = (first_be.trailing_zeros(), if dwords == 1 { first_be } else { last_be }.leading_zeros() - 4);
        assert_eq!(address & 3, u64::from(lead));
        match dwords {
            1 => assert_eq!((first_be, last_be), (0xF & 0xF << lead & 0xF >> trail, 0)),
            _ => assert_eq!((first_be, last_be), (0xF & 0xF << lead, 0xF >> trail)),
        }
        let start = address & !3;
        let end = start + 4 * u64::from(dwords) - u64::from(trail);
        assert_eq!(address / limit, (end - 1) / limit, "crosses a multiple of MPS: {address:#x}..{end:#x}");
        let data = self.tlp.drain(..).flat_map(|beat| beat.data);
        for (at, byte) in (start..end).zip(data) {
            if at >= address {
                assert_eq!(self.memory.insert(at, byte), None, "{at:#x} is written twice");
            }
        }
    }

    pub fn drained(&self) -> bool {
        self.to_send.is_empty() && self.list.is_empty() && self.taken.is_empty()
            && self.queues.iter().all(|queue| queue.due.is_empty())
    }

    /// Runs until all is delivered or dropped; at most `limit` cycles.
    pub fn drain(&mut self, limit: u64) {
        let start = self.cycle;
        while !self.drained() {
            assert!(self.cycle - start < limit, "not drained after {limit} cycles");
            self.step();
        }
        (0..12).for_each(|_| self.step());
        assert!(!self.block.out().busy);
        assert_eq!(self.freed, self.position, "room that was not given back");
        assert!(self.memory.is_empty(), "bytes outside of every buffer");
    }
}

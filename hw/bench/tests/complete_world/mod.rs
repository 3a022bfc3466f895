//! A DMA and a host around the completion engine. Every write is checked against what was given and released.

use crate::tlp::Random;
use ferronic_bench::models::complete::Complete;
use ferronic_bench::models::complete_1::Complete1;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{self, Status};
use ferronic_verilated::PowerUp;
use std::collections::VecDeque;

/// A queue's registers, and what it has given and got.
#[derive(Clone, Debug)]
pub struct Queue {
    pub enable: bool,
    pub stopped: bool,
    pub base: u64,
    pub ring: RingSize,
    pub wthresh: u8,
    pub wtimer: u32,
    pub format: Format,
    pub index: Option<u64>,
    /// Given and not written, of which so many are released.
    pub given: VecDeque<RxCompletion>,
    pub released: usize,
    /// Index behind the last that was written, and behind the last that software can know of.
    pub written: u16,
    pub seen: u16,
    /// Cycles since either changed, since anything happened.
    calm: u32,
    still: u32,
    /// Cycles it has been disabled.
    down: u32,
}

pub trait Block {
    const QUEUES: usize;
    fn new(seed: u64) -> Self;
    fn queue(&mut self, i: usize, queue: &Queue);
    fn inputs(&mut self, reset: bool, give: Option<(usize, [u32; 8])>, gone: Option<usize>, holds: Option<usize>, ready: bool);
    fn settle(&mut self);
    fn clock_edge(&mut self);
    fn room(&self) -> u16;
    /// Producer index and idle.
    fn state(&self, i: usize) -> (u16, bool);
    fn done(&self) -> Option<Write>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    pub address: u64,
    pub data: Vec<u32>,
}

macro_rules! block {
    ($model:ty, $queues:expr, $($i:literal: $enable:ident $stopped:ident $base:ident $size:ident $wthresh:ident
     $wtimer:ident $format:ident $index_enable:ident $index_address:ident $producer:ident $idle:ident;)+) => {
        impl Block for $model {
            const QUEUES: usize = $queues;

            fn new(seed: u64) -> Self {
                <$model>::new(PowerUp::Random(seed))
            }

            fn queue(&mut self, i: usize, queue: &Queue) {
                match i {
                    $($i => {
                        self.$enable(queue.enable);
                        self.$stopped(queue.stopped);
                        self.$base(queue.base >> 12);
                        self.$size(queue.ring.log2());
                        self.$wthresh(queue.wthresh);
                        self.$wtimer(queue.wtimer);
                        self.$format(queue.format as u8);
                        self.$index_enable(queue.index.is_some());
                        self.$index_address(queue.index.unwrap_or(!0));
                    })+
                    _ => unreachable!(),
                }
            }

            fn inputs(&mut self, reset: bool, give: Option<(usize, [u32; 8])>, gone: Option<usize>, holds: Option<usize>, ready: bool) {
                self.set_reset(reset);
                self.set_c_valid(give.is_some());
                if let Some((queue, words)) = give {
                    self.set_c_queue(queue as u8);
                    self.set_c_data(words);
                }
                self.set_gone(gone.is_some());
                self.set_gone_queue(gone.unwrap_or(0) as u8);
                self.set_holds(holds.is_some());
                self.set_holds_queue(holds.unwrap_or(0) as u8);
                self.set_done_ready(ready);
            }

            fn settle(&mut self) {
                self.eval();
            }

            fn clock_edge(&mut self) {
                self.set_clock(true);
                self.eval();
                self.set_clock(false);
                self.eval();
            }

            fn room(&self) -> u16 {
                self.c_room()
            }

            fn state(&self, i: usize) -> (u16, bool) {
                match i {
                    $($i => (self.$producer(), self.$idle()),)+
                    _ => unreachable!(),
                }
            }

            fn done(&self) -> Option<Write> {
                let data = || self.done_data()[..self.done_dwords().into()].to_vec();
                self.done_valid().then(|| Write { address: self.done_addr(), data: data() })
            }
        }
    };
}

block!(Complete, 4,
    0: set_enable__0240 set_stopped__0240 set_base__0240 set_size_log2__0240 set_wthresh__0240
       set_wtimer__0240 set_format__0240 set_index_enable__0240 set_index_address__0240 producer__0240 idle__0240;
    1: set_enable__0241 set_stopped__0241 set_base__0241 set_size_log2__0241 set_wthresh__0241
       set_wtimer__0241 set_format__0241 set_index_enable__0241 set_index_address__0241 producer__0241 idle__0241;
    2: set_enable__0242 set_stopped__0242 set_base__0242 set_size_log2__0242 set_wthresh__0242
       set_wtimer__0242 set_format__0242 set_index_enable__0242 set_index_address__0242 producer__0242 idle__0242;
    3: set_enable__0243 set_stopped__0243 set_base__0243 set_size_log2__0243 set_wthresh__0243
       set_wtimer__0243 set_format__0243 set_index_enable__0243 set_index_address__0243 producer__0243 idle__0243;
);
block!(Complete1, 1,
    0: set_enable__0240 set_stopped__0240 set_base__0240 set_size_log2__0240 set_wthresh__0240
       set_wtimer__0240 set_format__0240 set_index_enable__0240 set_index_address__0240 producer__0240 idle__0240;
);

/// A completion as the DMA gives it.
pub fn completion(random: &mut Random) -> RxCompletion {
    let tag = random.percent(50);
    RxCompletion {
        length: random.next() as u16,
        header_length: random.next() as u16,
        protocol: random.next() as u16,
        vlan_tci: random.next() as u16,
        status: Status(random.next() as u32).with(status::COMPACT_PHASE, 0).with(status::TAG, tag.into()),
        rss_hash: random.next() as u32,
        cookie: random.next() as u32,
        filter_tag: if tag { random.next() as u16 } else { 0 },
        raw_checksum: random.next() as u16,
        timestamp: random.next() as u32,
        l3_offset: random.next() as u8,
        rss_type: random.below(7) as u8,
        ..Default::default()
    }
}

pub struct World<B> {
    pub block: B,
    pub random: Random,
    pub queues: Vec<Queue>,
    pub cycle: u64,
    /// Queue and completions of each write; 0 is the index.
    pub writes: Vec<(usize, usize)>,
    since: u32,
    held: Option<Write>,
}

impl<B: Block> World<B> {
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let queue = |i| Queue {
            enable: true, stopped: false, base: (random.address() & !0xF_FFFF) + (i << 21), ring: RingSize::new(8).unwrap(),
            wthresh: 1, wtimer: 0, format: Format::Full, index: None, given: VecDeque::new(), released: 0,
            written: 0, seen: 0, calm: 0, still: 0, down: 0,
        };
        let queues = (0..B::QUEUES as u64).map(queue).collect();
        let mut world = Self { block: B::new(seed), random, queues, cycle: 0, writes: vec![], since: 2, held: None };
        for _ in 0..3 {
            for (i, queue) in world.queues.iter().enumerate() {
                world.block.queue(i, queue);
            }
            world.block.inputs(true, None, None, None, false);
            world.block.settle();
            world.block.clock_edge();
        }
        (0..3).for_each(|_| world.step(None, None, false));
        world
    }

    pub fn can_give(&self, queue: usize) -> bool {
        self.since >= 2 && self.block.room() >> queue & 1 == 1
    }

    /// A cycle: perhaps a completion comes, data of a queue is gone, a write is taken.
    pub fn step(&mut self, give: Option<usize>, gone: Option<usize>, ready: bool) {
        let give = give.filter(|queue| self.can_give(*queue)).map(|queue| (queue, completion(&mut self.random)));
        let gone = gone.filter(|queue| self.queues[*queue].released < self.queues[*queue].given.len());
        self.since = if give.is_some() { 0 } else { self.since + 1 };
        for (i, queue) in self.queues.iter().enumerate() {
            self.block.queue(i, queue);
        }
        self.block.inputs(false, give.map(|(queue, completion)| (queue, completion.encode())), gone, None, ready);
        self.block.settle();
        let done = self.block.done();
        if self.held.is_some() {
            assert_eq!(done, self.held, "changed before it was taken");
        }
        self.held = done.clone().filter(|_| !ready);
        self.states(give.as_ref().map(|(queue, _)| *queue));
        if let Some(write) = done.filter(|_| ready) {
            self.take(&write);
        }
        if let Some((queue, completion)) = give {
            self.queues[queue].given.push_back(completion);
            assert!(self.queues[queue].given.len() <= 16 + 8, "more than there is room for");
            self.queues[queue].still = 0;
        }
        if let Some(queue) = gone {
            self.queues[queue].released += 1;
        }
        self.block.clock_edge();
        self.cycle += 1;
    }

    fn states(&mut self, given: Option<usize>) {
        for (i, queue) in self.queues.iter_mut().enumerate() {
            let (producer, idle) = self.block.state(i);
            queue.calm += 1;
            queue.down = if queue.enable { 0 } else { queue.down + 1 };
            queue.still = if given == Some(i) { 0 } else { queue.still + 1 };
            assert!(!idle || queue.given.is_empty(), "idle with completions inside");
            if queue.given.is_empty() && queue.still > 10 && (queue.index.is_none() || queue.seen == queue.written) {
                assert!(idle, "queue {i} is not idle");
                if queue.down > 2 && queue.still > 12 {
                    (queue.written, queue.seen) = (0, 0);
                    assert_eq!(producer, 0);
                    continue;
                }
            }
            if queue.enable || !queue.given.is_empty() {
                let ahead = queue.seen.wrapping_sub(producer);
                assert!(ahead <= if queue.calm > 3 { 0 } else { 16 }, "producer {producer}, {queue:?}");
            }
        }
    }

    fn take(&mut self, write: &Write) {
        let mut queues = self.queues.iter_mut().enumerate();
        if let Some((i, queue)) = queues.find(|(_, queue)| queue.index == Some(write.address)) {
            assert_eq!(write.data, [u32::from(queue.written)]);
            queue.seen = queue.written;
            (queue.calm, queue.still) = (0, 0);
            self.writes.push((i, 0));
            return;
        }
        let mine = |queue: &Queue| (queue.base..queue.base + 0x10_0000).contains(&write.address);
        let i = self.queues.iter().position(mine).expect("a write to nowhere");
        let queue = &mut self.queues[i];
        let bytes = queue.format.bytes();
        let count = 4 * write.data.len() / bytes;
        assert_eq!(write.data.len() * 4 % bytes, 0);
        assert_eq!(write.address, queue.base + (bytes * queue.ring.slot(queue.written)) as u64);
        assert!(write.address / 64 == (write.address + (bytes * count) as u64 - 1) / 64, "more than a line");
        assert!((1..=queue.released).contains(&count), "written before its data was gone");
        for words in write.data.chunks(bytes / 4) {
            let index = queue.written;
            let completion = RxCompletion { index, phase: queue.ring.phase(index), ..queue.given.pop_front().unwrap() };
            match queue.format {
                Format::Full => assert_eq!(words, completion.encode()),
                Format::CompactTag => assert_eq!(words, completion.encode_compact(true)),
                Format::CompactHash => {
                    let status = completion.status.with(status::TAG, 0);
                    assert_eq!(words, RxCompletion { status, ..completion }.encode_compact(false));
                }
            }
            queue.written = index.wrapping_add(1);
        }
        queue.released -= count;
        if queue.index.is_none() {
            queue.seen = queue.written;
        }
        (queue.calm, queue.still) = (0, 0);
        self.writes.push((i, count));
    }

    pub fn give(&mut self, queue: usize, count: usize) {
        for _ in 0..count {
            while !self.can_give(queue) {
                self.step(None, None, false);
            }
            self.step(Some(queue), None, false);
        }
    }

    pub fn release(&mut self, queue: usize, count: usize) {
        (0..count).for_each(|_| self.step(None, Some(queue), false));
    }

    /// Cycles until a write is offered.
    pub fn wait(&mut self, limit: u64) -> u64 {
        let start = self.cycle;
        while self.block.done().is_none() {
            assert!(self.cycle - start < limit, "no write within {limit} cycles");
            self.step(None, None, false);
        }
        self.cycle - start
    }

    /// No write comes.
    pub fn quiet(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step(None, None, true);
            assert!(self.block.done().is_none());
        }
    }

    /// Takes all that comes in so many cycles; the writes.
    pub fn take_all(&mut self, cycles: u64) -> Vec<(usize, usize)> {
        self.writes.clear();
        (0..cycles).for_each(|_| self.step(None, None, true));
        std::mem::take(&mut self.writes)
    }
}

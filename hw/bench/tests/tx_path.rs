//! The TX path from descriptors to the wire, with a host that answers reads in any order and fails some.
//!
//! Caught when tried: a beat that wraps not written to the next row, reads not cut at MRRS, room for one row taken
//! for enough, a frame's last row not freed, the FIFO's level ignored, a frame bad only by its last read, dead tags
//! not stepped over, a second index write before the first was taken, no write by the timer, none on disabling.

mod host;

use ferronic_bench::models::{
    tx_path_128::TxPath128, tx_path_256::TxPath256, tx_path_512::TxPath512, tx_path_64::TxPath64,
};
use ferronic_contract::cause::Cause;
use ferronic_contract::descriptor::{TxDescriptor, FLAG_EOP};
use ferronic_verilated::PowerUp;
use host::*;
use std::collections::VecDeque;

const MAX_FRAME: u16 = 9600;
const DONE_ADDRESS: u64 = 0x1_2345_6780;

/// A frame that the host posts.
#[derive(Clone, Copy, Debug)]
struct Frame {
    address: u64,
    length: u16,
    flags: u16,
}

impl Frame {
    fn random(random: &mut Random, most: u64) -> Self {
        let length = (14 + random.below(most - 13)) as u16;
        // Often around a 4 KiB boundary.
        let near = (random.next() >> 8 << 12).wrapping_sub(random.below(200));
        let address = if random.one_in(2) { random.next() >> 4 } else { near & !(1 << 63) };
        Self { address, length, flags: FLAG_EOP }
    }

    fn bytes(&self) -> Vec<u8> {
        (0..u64::from(self.length)).map(|n| byte(self.address + n)).collect()
    }

    fn words(&self) -> [u32; 4] {
        TxDescriptor { address: self.address, length: self.length, flags: self.flags }.encode()
    }
}

/// A read in flight: the beats of its answer, with their offsets, and how it ends.
struct Read {
    tag: u8,
    beats: VecDeque<(usize, Vec<u32>)>,
    cause: u8,
}

macro_rules! bench {
    ($name:ident, $model:ty, $lanes:expr, $beat:expr, $bytes:expr) => {
        mod $name {
            use super::*;

            pub struct Bench {
                pub block: $model,
                pub random: Random,
                pub mrrs: u64,
                /// Frames not yet given to the core; the first read at which one fails, and how.
                pub to_post: VecDeque<Frame>,
                /// What is left to read of the frame in hand, and the frames taken and not failed.
                reading: Option<(u64, u64)>,
                pub expected: VecDeque<Vec<u8>>,
                announced: VecDeque<(Vec<u8>, bool)>,
                reads: Vec<Read>,
                pub next_tag: u8,
                pub dead: u32,
                /// One read in so many fails; 0 is none.
                pub failing: u64,
                pub cause: u8,
                wire: Vec<u8>,
                pub sent: u64,
                pub dropped: u64,
                pub errors: Vec<u8>,
                pub wire_stalls: u64,
                pub host_delay: u64,
                pub index: u16,
                pub index_writes: u64,
                pub taken: u64,
                pub taking_index: bool,
                pub now: u64,
            }

            impl Bench {
                pub fn new(seed: u64, mrrs_code: u8, wthresh: u8, wtimer: u32) -> Self {
                    let mut block = <$model>::new(PowerUp::Random(seed));
                    block.set_tx_enable(true);
                    block.set_max_frame(MAX_FRAME);
                    block.set_mrrs(mrrs_code);
                    block.set_wthresh(wthresh);
                    block.set_wtimer(wtimer);
                    block.set_done_addr(DONE_ADDRESS);
                    block.set_reset(true);
                    block.eval();
                    let mut bench = Self {
                        block,
                        random: Random(seed),
                        mrrs: 128 << mrrs_code,
                        to_post: VecDeque::new(),
                        reading: None,
                        expected: VecDeque::new(),
                        announced: VecDeque::new(),
                        reads: Vec::new(),
                        next_tag: 0,
                        dead: 0,
                        failing: 0,
                        cause: 0,
                        wire: Vec::new(),
                        sent: 0,
                        dropped: 0,
                        errors: Vec::new(),
                        wire_stalls: 3,
                        host_delay: 2,
                        index: 0,
                        index_writes: 0,
                        taken: 0,
                        taking_index: true,
                        now: 0,
                    };
                    (0..3).for_each(|_| bench.edge());
                    bench.block.set_reset(false);
                    bench.block.set_enable(true);
                    bench
                }

                fn edge(&mut self) {
                    self.block.set_clock(true);
                    self.block.eval();
                    self.block.set_clock(false);
                    self.block.eval();
                }

                /// A read was taken: it must be the next piece of the frame in hand.
                fn read(&mut self, address: u64, bytes: u64, tag: u8) {
                    let (at, end) = self.reading.expect("a read without a descriptor");
                    assert_eq!(address, at);
                    let boundary = (address / self.mrrs + 1) * self.mrrs;
                    assert_eq!(bytes, end.min(boundary) - at, "to the next multiple of MRRS, or the end");
                    while self.dead >> self.next_tag & 1 == 1 {
                        self.next_tag = (self.next_tag + 1) % 16;
                    }
                    assert_eq!(tag, self.next_tag, "tags go round");
                    assert!(self.reads.iter().all(|read| read.tag != tag), "tag {tag} is in flight");
                    self.next_tag = (tag + 1) % 16;
                    let fails = self.failing > 0 && self.random.one_in(self.failing);
                    let mut beats = VecDeque::new();
                    let mut offset = 0;
                    for completion in complete(&mut self.random, tag, 0, address, bytes as u16, dword) {
                        for lanes in completion.data.chunks($lanes) {
                            beats.push_back((offset, lanes.to_vec()));
                            offset += lanes.len();
                        }
                    }
                    if fails {
                        self.failing = 0;
                        let keep = self.random.below(beats.len() as u64) as usize;
                        beats.truncate(keep);
                        self.announced.back_mut().unwrap().1 = true;
                    }
                    self.reads.push(Read { tag, beats, cause: if fails { self.cause } else { 0 } });
                    self.reading = Some((at + bytes, end)).filter(|(at, end)| at < end);
                    if self.reading.is_none() {
                        let (frame, failed) = self.announced.pop_back().unwrap();
                        if !failed {
                            self.expected.push_back(frame);
                        }
                    }
                }

                pub fn cycle(&mut self) {
                    self.now += 1;
                    let mut stop = false;
                    let gives = !self.to_post.is_empty();
                    self.block.set_d_valid(gives);
                    if let Some(frame) = self.to_post.front() {
                        self.block.set_d_data(frame.words());
                    }
                    let takes = self.random.one_in(2);
                    self.block.set_r_ready(takes);
                    let wire = self.wire_stalls == 0 || !self.random.one_in(self.wire_stalls);
                    self.block.set_wire_ready(wire);
                    let index = self.taking_index && self.random.one_in(4);
                    self.block.set_index_ready(index);
                    self.block.set_t_valid(false);
                    self.block.set_t_done(false);
                    if !self.reads.is_empty() && self.random.below(self.host_delay) == 0 {
                        let n = self.random.below(self.reads.len() as u64) as usize;
                        let read = &mut self.reads[n];
                        self.block.set_t_tag(read.tag);
                        if let Some((offset, lanes)) = read.beats.pop_front() {
                            self.block.set_t_valid(true);
                            self.block.set_t_dword(offset as u16);
                            self.block.set_t_lanes(lanes.len() as u8);
                            self.block.set_t_data($beat(&lanes));
                        }
                        if read.beats.is_empty() {
                            self.block.set_t_done(true);
                            self.block.set_t_done_tag(read.tag);
                            self.block.set_t_done_cause(read.cause);
                            if read.cause == Cause::TimeOut as u8 {
                                self.dead |= 1 << read.tag;
                                self.block.set_dead(self.dead);
                            }
                            self.reads.swap_remove(n);
                        }
                    } else if self.random.one_in(4) {
                        // A descriptor read's.
                        self.block.set_t_valid(true);
                        self.block.set_t_tag(16);
                        self.block.set_t_lanes($lanes);
                        self.block.set_t_done(true);
                        self.block.set_t_done_tag(16);
                        self.block.set_t_done_cause(1);
                    }
                    self.block.eval();

                    if self.block.d_ready() && gives {
                        let frame = self.to_post.pop_front().unwrap();
                        self.taken += 1;
                        let good = (14..=MAX_FRAME).contains(&frame.length) && frame.flags & FLAG_EOP != 0;
                        if good {
                            assert!(self.reading.is_none());
                            self.reading = Some((frame.address, frame.address + u64::from(frame.length)));
                            self.announced.push_back((frame.bytes(), false));
                        }
                    }
                    if self.block.r_valid() && takes {
                        self.read(self.block.r_addr(), u64::from(self.block.r_bytes()), self.block.r_tag());
                    }
                    if self.block.wire_valid() {
                        if wire {
                            let data = $bytes(self.block.wire_data());
                            let keep = u128::from(self.block.wire_keep());
                            let kept = (0..4 * $lanes).take_while(|n| keep >> n & 1 == 1).count();
                            assert!(kept > 0 && keep == (1u128 << kept) - 1 && (self.block.wire_last() || kept == 4 * $lanes));
                            self.wire.extend(&data[..kept]);
                            if self.block.wire_last() {
                                let frame = self.expected.pop_front().expect("a frame that nobody posted");
                                assert_eq!(self.wire.len(), frame.len());
                                assert!(self.wire == frame, "frame {}", self.sent);
                                self.wire.clear();
                                self.sent += 1;
                            }
                        }
                    } else {
                        assert!(self.wire.is_empty(), "the wire was let down in the middle of a frame");
                    }
                    self.dropped += u64::from(self.block.drop());
                    if self.block.error() {
                        self.errors.push(self.block.cause());
                        stop = true;
                    }
                    assert_eq!(self.block.producer(), self.index);
                    if self.block.index_valid() && index {
                        assert_eq!(self.block.index_addr(), DONE_ADDRESS);
                        self.index = self.block.index_data() as u16;
                        self.index_writes += 1;
                        assert!(u64::from(self.index) <= self.sent + self.dropped);
                    }
                    self.edge();
                    if stop {
                        self.block.set_stopped(true);
                        self.block.eval();
                    }
                }

                /// Until all that was taken is done; gives the cycles that took.
                pub fn drain(&mut self) -> u64 {
                    let start = self.now;
                    while !self.block.idle() || (!self.to_post.is_empty() && !self.block.stopped()) {
                        self.cycle();
                        assert!(self.now - start < 2_000_000, "never idle");
                    }
                    self.now - start
                }
            }
        }
    };
}

fn bytes_64(beat: u64) -> Vec<u8> {
    beat.to_le_bytes().to_vec()
}

fn bytes<const N: usize>(beat: [u32; N]) -> Vec<u8> {
    beat.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

bench!(bits_64, TxPath64, 2, beat_64, bytes_64);
bench!(bits_128, TxPath128, 4, beat, bytes);
bench!(bits_256, TxPath256, 8, beat, bytes);
bench!(bits_512, TxPath512, 16, beat, bytes);

/// Runs the same text for all widths.
macro_rules! all {
    ($(#[$meta:meta])* fn $name:ident($bench:ident: Bench) $body:block) => {
        $(#[$meta])*
        #[test]
        fn $name() {
            {
                use bits_64::Bench as $bench;
                $body
            }
            {
                use bits_128::Bench as $bench;
                $body
            }
            {
                use bits_256::Bench as $bench;
                $body
            }
            {
                use bits_512::Bench as $bench;
                $body
            }
        }
    };
}

all! {
    /// Every length and alignment, every MRRS; a slow and a fast wire, a slow and a fast host (so the buffer fills).
    fn frames_reach_the_wire_whole_and_in_order(B: Bench) {
        for seed in 0..24u64 {
            let mut bench = B::new(seed, (seed % 6) as u8, 1 + (seed % 8) as u8, 500);
            let most = if seed % 3 == 0 { u64::from(MAX_FRAME) } else { 200 };
            bench.wire_stalls = [0, 3, 1, 2][seed as usize % 4];
            bench.wire_stalls = if bench.wire_stalls == 1 { 0 } else { bench.wire_stalls };
            bench.host_delay = 1 + seed % 3;
            let frames = if most > 200 { 40 } else { 400 };
            bench.to_post = (0..frames).map(|_| Frame::random(&mut Random(bench.random.next()), most)).collect();
            bench.drain();
            assert_eq!((bench.sent, bench.dropped, bench.index), (frames, 0, frames as u16));
            assert!(bench.errors.is_empty() && bench.expected.is_empty());
        }
    }
}

all! {
    /// Each length from 14 bytes on at each place in a word.
    fn every_alignment_of_every_short_length(B: Bench) {
        let mut bench = B::new(1, 2, 8, 100);
        bench.wire_stalls = 0;
        bench.host_delay = 1;
        for length in 14..=90u16 {
            for at in 0..16u64 {
                bench.to_post.push_back(Frame { address: 0x7_0000_0FC0 + at, length, flags: FLAG_EOP });
            }
        }
        bench.drain();
        assert_eq!(bench.sent, 77 * 16);
    }
}

all! {
    /// A wire that takes nothing: the buffer fills, nothing is lost, and it goes on.
    fn a_full_buffer_waits(B: Bench) {
        let mut bench = B::new(2, 2, 1, 100);
        bench.block.set_tx_enable(false);
        bench.to_post = (0..60).map(|_| Frame::random(&mut Random(bench.random.next()), 3000)).collect();
        (0..20_000).for_each(|_| bench.cycle());
        assert!(bench.sent == 0 && bench.taken < 30, "{} frames in 16 KiB", bench.taken);
        bench.block.set_tx_enable(true);
        bench.drain();
        assert_eq!(bench.sent, 60);
    }
}

all! {
    /// One read fails: only its frame is lost, the cause is told, nothing more is taken; then the queue starts again.
    fn a_failed_read_costs_its_frame(B: Bench) {
        for seed in 0..40u64 {
            let mut bench = B::new(seed, 0, 1, 50);
            bench.cause = 1 + (seed % 5) as u8;
            for round in 0..6 {
                bench.failing = 20;
                let posted = 100;
                bench.to_post = (0..posted).map(|_| Frame::random(&mut Random(bench.random.next()), 1500)).collect();
                let (sent, dropped, taken) = (bench.sent, bench.dropped, bench.taken);
                bench.drain();
                assert_eq!((bench.dropped - dropped, bench.errors.as_slice()), (1, &[bench.cause][..]));
                assert_eq!(bench.sent - sent + 1, bench.taken - taken, "round {round}");
                assert!(bench.taken - taken < posted, "took descriptors after the error");
                assert!(bench.expected.is_empty());
                assert_eq!(u64::from(bench.index), bench.taken - taken, "the index is written when all is done");
                bench.errors.clear();
                bench.to_post.clear();
                bench.block.set_enable(false);
                bench.block.set_stopped(false);
                bench.cycle();
                bench.index = 0;
                (0..4).for_each(|_| bench.cycle());
                (bench.sent, bench.dropped, bench.taken) = (0, 0, 0);
                bench.block.set_enable(true);
            }
        }
    }
}

all! {
    /// Too short, too long, not the end of a frame: refused, and nothing after it is taken.
    fn a_bad_descriptor_is_refused(B: Bench) {
        let good = Frame { address: 0x1234, length: 100, flags: FLAG_EOP };
        let bad = [
            Frame { length: 0, ..good },
            Frame { length: 13, ..good },
            Frame { length: MAX_FRAME + 1, ..good },
            Frame { length: 0x4000 + 100, ..good },
            Frame { length: 0xFFFF, ..good },
            Frame { flags: 0, ..good },
        ];
        for (n, frame) in bad.into_iter().enumerate() {
            let mut bench = B::new(n as u64, 2, 1, 50);
            bench.to_post = [good, good, frame, good].into();
            bench.drain();
            assert_eq!((bench.sent, bench.dropped, bench.taken), (2, 1, 3), "{frame:?}");
            assert_eq!(bench.errors, [Cause::BadDescriptor as u8]);
            assert_eq!(bench.index, 2);
        }
        let mut bench = B::new(9, 2, 1, 50);
        bench.to_post = [Frame { length: 14, ..good }, Frame { length: MAX_FRAME, ..good }].into();
        bench.drain();
        assert_eq!((bench.sent, bench.errors.len()), (2, 0));
    }
}

all! {
    /// More frames than the index counts.
    fn the_index_wraps(B: Bench) {
        let mut bench = B::new(4, 2, 8, 1000);
        bench.wire_stalls = 0;
        bench.host_delay = 1;
        bench.to_post = (0..70_000).map(|_| Frame { address: 0x1000_0040, length: 64, flags: FLAG_EOP }).collect();
        bench.drain();
        assert_eq!(bench.sent, 70_000);
        assert_eq!(bench.index, (70_000 & 0xFFFF) as u16);
    }
}

all! {
    /// WTHRESH frames a write while they keep coming; the timer for the rest; one write at a time.
    fn the_index_is_written_seldom(B: Bench) {
        for wthresh in 1..=8u8 {
            let mut bench = B::new(u64::from(wthresh), 2, wthresh, 3000);
            bench.to_post = (0..203).map(|_| Frame::random(&mut Random(bench.random.next()), 100)).collect();
            bench.drain();
            let most = 203 / u64::from(wthresh) + 1;
            assert!(bench.index_writes <= most && bench.index_writes >= most / 3, "{} writes", bench.index_writes);
            assert_eq!(bench.index, 203);
            let start = bench.now;
            bench.to_post = [Frame::random(&mut Random(1), 100)].into();
            bench.drain();
            assert_eq!(bench.index, 204);
            assert_eq!(bench.now - start > 3000, wthresh > 1, "fewer than WTHRESH wait for the timer");
            // Nobody takes the write: no second one, and then one with all that was done meanwhile.
            bench.taking_index = false;
            bench.to_post = (0..50).map(|_| Frame::random(&mut Random(bench.random.next()), 100)).collect();
            (0..8000).for_each(|_| bench.cycle());
            let writes = bench.index_writes;
            bench.taking_index = true;
            bench.drain();
            assert_eq!(bench.index, 254);
            assert!(bench.index_writes - writes <= 3);
        }
    }
}

all! {
    /// Disabling while frames are at every stage: they reach the wire, the index is written, then all is 0.
    fn disabling_drains(B: Bench) {
        for seed in 0..60u64 {
            let mut bench = B::new(seed, 2, 8, 0xFF_FFFF);
            bench.to_post = (0..100).map(|_| Frame::random(&mut Random(bench.random.next()), 600)).collect();
            (0..50 + 37 * seed).for_each(|_| bench.cycle());
            bench.block.set_enable(false);
            // With the wire disabled too, frames that wait are dropped.
            let discard = seed % 4 == 0;
            bench.block.set_tx_enable(!discard);
            bench.cycle();
            let taken = bench.taken;
            let rest = std::mem::take(&mut bench.to_post);
            while bench.index as u64 != taken {
                bench.cycle();
                if discard && bench.dropped > 0 {
                    // Those that had left are still compared; of the others none comes.
                    bench.expected.truncate((taken - bench.sent - bench.dropped) as usize);
                }
                assert!(bench.now < 200_000, "never drained");
            }
            assert_eq!((bench.sent + bench.dropped, bench.taken), (taken, taken));
            assert!(discard || bench.dropped == 0);
            if taken > 0 {
                bench.index = 0;
                bench.block.set_index_ready(false);
                let mut waits = 0;
                while bench.block.producer() != 0 {
                    bench.block.set_clock(true);
                    bench.block.eval();
                    bench.block.set_clock(false);
                    bench.block.eval();
                    waits += 1;
                    assert!(waits < 4, "the index stays");
                }
            }
            (bench.sent, bench.dropped, bench.taken) = (0, 0, 0);
            bench.expected.clear();
            bench.block.set_enable(true);
            bench.block.set_tx_enable(true);
            bench.to_post = rest;
            bench.to_post.truncate(20);
            let posted = bench.to_post.len() as u64;
            while bench.sent < posted {
                bench.cycle();
                assert!(bench.now < 400_000, "does not start again");
            }
        }
    }
}

all! {
    /// Cycles a frame of 60 bytes, with a wire and a host that never wait.
    fn short_frames_keep_up(B: Bench) {
        let mut bench = B::new(6, 2, 8, 1000);
        bench.wire_stalls = 0;
        bench.host_delay = 1;
        bench.to_post = (0..500).map(|n| Frame { address: 0x1000 * n + 2, length: 60, flags: FLAG_EOP }).collect();
        while bench.sent < 500 {
            bench.cycle();
        }
        println!("{} cycles a frame of 60 bytes", bench.now as f64 / 500.0);
        assert!(bench.now < 500 * 16);
    }
}

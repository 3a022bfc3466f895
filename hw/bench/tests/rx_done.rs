//! Completion write-back: every field, index and phase over many passes, WTHRESH, the timer, and the way down.
//!
//! Caught when tried: phase inverted; a slot of one bit more than the ring has; `producer` moved with `valid`
//! instead of `ready`; a batch that begins one completion early; a timer three cycles short; a completion
//! written before its data is gone; no write when the queue is disabled or the FIFO full; the index kept over a
//! disable.

use ferronic_bench::models::rx_done::RxDone;
use ferronic_contract::class::Class;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{Destination, L2};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;

const BASE: u64 = 0x1234_5678_9ABC_D000;

/// What the DMA says of a frame.
#[derive(Clone, Copy, Debug)]
struct Frame {
    length: u16,
    class: Class,
    epoch: u8,
    cookie: u32,
}

fn frame() -> impl Strategy<Value = Frame> {
    let l2 = prop::sample::select(vec![L2::EthernetII, L2::Llc, L2::Raw]);
    (14u16..9601, 0u32..4, any::<u16>(), l2, 0u8..3, 0u8..8, any::<u32>()).prop_map(
        |(length, destination, protocol, l2, vlan_tags, epoch, cookie)| Frame {
            length,
            class: Class { destination: Destination::from_bits(destination), protocol, l2, vlan_tags },
            epoch,
            cookie,
        },
    )
}

fn completion(frame: &Frame, index: u16, ring: RingSize) -> RxCompletion {
    RxCompletion {
        length: frame.length,
        protocol: frame.class.protocol,
        status: frame.class.status(frame.epoch),
        cookie: frame.cookie,
        index,
        l3_offset: frame.class.l3_offset(),
        phase: ring.phase(index),
        ..Default::default()
    }
}

struct Bench {
    block: RxDone,
    ring: RingSize,
    /// Given to the block, in order; how many of them released.
    given: VecDeque<Frame>,
    released: usize,
    taken: u16,
    cycle: u64,
    /// Cycles since the last completion was given: the block's `c_room` is late.
    since: usize,
    /// Cycles without a completion inside: `idle` may be one late.
    empty: usize,
}

impl Bench {
    fn new(seed: u64, ring: u32, wthresh: u8, wtimer: u32) -> Self {
        let ring = RingSize::new(ring).unwrap();
        let mut block = RxDone::new(PowerUp::Random(seed));
        block.set_done_base(BASE >> 12);
        block.set_size_log2(ring.log2());
        block.set_wthresh(wthresh);
        block.set_wtimer(wtimer);
        block.set_queue_enable(true);
        let mut bench = Self { block, ring, given: VecDeque::new(), released: 0, taken: 0, cycle: 0, since: 2, empty: 0 };
        bench.block.set_reset(true);
        bench.clock();
        bench.clock();
        bench.block.set_reset(false);
        bench.clock();
        bench
    }

    fn clock(&mut self) {
        self.block.eval();
        self.block.set_clock(true);
        self.block.eval();
        self.block.set_clock(false);
        self.block.eval();
        self.cycle += 1;
    }

    /// A cycle. Gives the frame if there is room, releases the oldest not released, and takes a write if `ready`.
    /// Says whether the frame went in and a write was taken.
    fn step(&mut self, give: Option<&Frame>, release: bool, ready: bool) -> (bool, bool) {
        let give = give.filter(|_| self.block.c_room() && self.since >= 2);
        self.since = if give.is_some() { 0 } else { self.since + 1 };
        self.block.set_c_valid(give.is_some());
        if let Some(frame) = give {
            self.block.set_c_length(frame.length);
            self.block.set_c_protocol(frame.class.protocol);
            self.block.set_c_classified(true);
            self.block.set_c_dst(frame.class.destination as u8);
            self.block.set_c_l2(frame.class.l2 as u8);
            self.block.set_c_vlan(frame.class.vlan_tags);
            self.block.set_c_epoch(frame.epoch);
            self.block.set_c_l3_offset(frame.class.l3_offset());
            self.block.set_c_cookie(frame.cookie);
        }
        let release = release && self.released < self.given.len();
        self.block.set_data_gone(release);
        self.block.set_quiet(self.released + usize::from(release) == self.given.len() && give.is_none());
        self.block.set_done_ready(ready);
        self.block.eval();
        assert_eq!(self.block.producer(), self.taken);
        self.empty = if self.given.is_empty() { self.empty + 1 } else { 0 };
        if self.empty != 1 {
            assert_eq!(self.block.idle(), self.empty > 1);
        }
        let valid = self.block.done_valid();
        if valid {
            assert!(self.released > 0, "written before its data was gone");
            let due = completion(&self.given[0], self.taken, self.ring);
            assert_eq!(RxCompletion::decode(&self.block.done_data()), due);
            assert_eq!(self.block.done_data(), due.encode());
            assert_eq!(self.block.done_addr(), BASE + 32 * self.ring.slot(self.taken) as u64);
        }
        let taken = valid && ready;
        self.clock();
        if taken {
            self.given.pop_front();
            self.released -= 1;
            self.taken = self.taken.wrapping_add(1);
        }
        self.given.extend(give);
        self.released += usize::from(release);
        (give.is_some(), taken)
    }

    /// Cycles until a write is offered; at most `limit`.
    fn wait(&mut self, limit: u64) -> u64 {
        let start = self.cycle;
        while !self.block.done_valid() {
            assert!(self.cycle - start < limit, "no write within {limit} cycles");
            self.step(None, false, false);
        }
        self.cycle - start
    }

    fn give(&mut self, frame: &Frame) {
        while !self.step(Some(frame), false, false).0 {}
    }

    fn quiet(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step(None, false, true);
            assert!(!self.block.done_valid());
        }
    }
}

fn plain(cookie: u32) -> Frame {
    let class = Class { destination: Destination::Host, protocol: 0x0800, l2: L2::EthernetII, vlan_tags: 0 };
    Frame { length: 60, class, epoch: 1, cookie }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]
    #[test]
    fn completions_are_written_in_order_with_every_field(
        seed: u64,
        log2 in 3u32..16,
        wthresh in 1u8..9,
        wtimer in 0u32..40,
        frames in prop::collection::vec(frame(), 1..80),
        pauses in prop::collection::vec(any::<[bool; 3]>(), 1..200),
    ) {
        let mut bench = Bench::new(seed, 1 << log2, wthresh, wtimer);
        let mut pauses = pauses.iter().cycle();
        let (mut next, mut taken, mut cycles) = (0, 0, 0);
        while taken < frames.len() {
            let [give, release, ready] = *pauses.next().unwrap();
            let (given, took) = bench.step(frames.get(next).filter(|_| give), release, ready);
            next += usize::from(given);
            taken += usize::from(took);
            cycles += 1;
            // With no completion ever released or taken, nothing comes.
            prop_assume!(cycles < 100_000);
        }
    }
}

#[test]
fn index_slot_and_phase_hold_over_the_wrap_of_the_index() {
    for ring in [8, 32768] {
        let mut bench = Bench::new(3, ring, 1, 0);
        let (mut next, mut taken) = (0u32, 0u32);
        while taken < 70_000 {
            let (given, took) = bench.step(Some(&plain(next)), true, true);
            next += u32::from(given);
            taken += u32::from(took);
        }
        assert!(bench.cycle < 5 * 70_000, "{} cycles for 70000 completions", bench.cycle);
    }
}

#[test]
fn a_batch_waits_for_its_threshold() {
    for wthresh in 1..=8 {
        let mut bench = Bench::new(4, 8, wthresh, 100_000);
        for cookie in 0..8 {
            bench.give(&plain(cookie));
        }
        for _ in 1..wthresh {
            bench.step(None, true, true);
            bench.quiet(50);
        }
        bench.step(None, true, true);
        assert!(bench.wait(10) <= 4);
        let mut taken = 0;
        for _ in 0..60 {
            taken += u8::from(bench.step(None, false, true).1);
        }
        assert_eq!(taken, wthresh, "the whole batch and no more");
    }
}

#[test]
fn the_timer_runs_from_the_first_completion() {
    for wtimer in [0, 1, 7, 300] {
        let mut bench = Bench::new(5, 8, 8, wtimer);
        bench.quiet(2 * u64::from(wtimer));
        for pass in 0..2 {
            bench.give(&plain(pass));
            bench.give(&plain(pass));
            bench.quiet(500);
            bench.step(None, true, true);
            let start = bench.cycle;
            if wtimer > 10 {
                bench.quiet(u64::from(wtimer / 2));
                bench.step(None, true, true);
            }
            bench.wait(1000);
            let waited = bench.cycle - start;
            assert!((u64::from(wtimer)..=u64::from(wtimer) + 4).contains(&waited), "{waited} cycles for {wtimer}");
            while bench.released > 0 {
                bench.step(None, false, true);
            }
            if bench.given.len() == 1 {
                bench.step(None, true, true);
                while bench.released > 0 {
                    bench.step(None, false, true);
                }
            }
        }
    }
}

#[test]
fn a_full_fifo_does_not_wait_for_the_threshold() {
    let mut bench = Bench::new(6, 64, 255, 0xFF_FFFF);
    for cookie in 0..16 {
        bench.give(&plain(cookie));
    }
    for _ in 0..20 {
        assert!(!bench.step(Some(&plain(99)), false, true).0, "a seventeenth went in");
    }
    bench.step(None, true, true);
    assert!(bench.wait(10) <= 4);
}

#[test]
fn going_down_writes_what_is_left_and_begins_again_at_zero() {
    for stop in [false, true] {
        let mut bench = Bench::new(7, 8, 8, 0xFF_FFFF);
        for cookie in 0..3 {
            bench.give(&plain(cookie));
        }
        bench.step(None, true, true);
        bench.step(None, true, true);
        bench.quiet(50);
        bench.block.set_queue_stopped(stop);
        bench.block.set_queue_enable(stop);
        bench.wait(5);
        for _ in 0..20 {
            bench.step(None, false, true);
        }
        assert_eq!((bench.taken, bench.given.len()), (2, 1), "the third has data under way");
        bench.step(None, true, true);
        while !bench.given.is_empty() {
            bench.step(None, false, true);
        }
        bench.block.set_queue_enable(false);
        bench.block.set_quiet(true);
        bench.clock();
        bench.clock();
        assert_eq!(bench.block.producer(), 0);
        bench.taken = 0;
        bench.block.set_queue_stopped(false);
        bench.block.set_queue_enable(true);
        bench.give(&plain(77));
        bench.quiet(20);
        bench.block.set_wthresh(1);
        bench.step(None, true, true);
        bench.wait(5);
        assert!(bench.step(None, false, true).1);
    }
}

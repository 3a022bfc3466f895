//! The descriptors of several queues: whose a beat is, one tag at a time, turns, and a consumer that jumps about.
//!
//! Caught when tried: a beat taken by every queue of its tag, whether it waits for one or not.

mod host;

use ferronic_bench::models::{descriptors_16_512::Descriptors16512, descriptors_4_64::Descriptors464};
use ferronic_contract::cause::Cause;
use ferronic_verilated::PowerUp;
use host::*;
use std::collections::VecDeque;

const FIRST_TAG: u8 = 16;
const SIZE_LOG2: u8 = 7;

/// The per-queue ports of a model by number; Verilator writes `tail$3` as `tail__0243`.
struct Ports<M, const Q: usize> {
    tail: [fn(&mut M, u16); Q],
    enable: [fn(&mut M, bool); Q],
    base: [fn(&mut M, u64); Q],
    size_log2: [fn(&mut M, u8); Q],
    pthresh: [fn(&mut M, u8); Q],
    batch: [fn(&mut M, u8); Q],
    idle: [fn(&M) -> bool; Q],
    error: [fn(&M) -> bool; Q],
}

macro_rules! ports {
    ($model:ty: $($field:ident: $($port:ident)*;)*) => {
        Ports { $($field: [$(<$model>::$port),*]),* }
    };
}

/// Dword `k` of descriptor `index` of a queue.
fn descriptor(queue: usize, index: u64, k: u64) -> u32 {
    dword((queue as u64) << 50 | 16 * index + 4 * k)
}

fn ring(queue: usize) -> u64 {
    (queue as u64 + 1) << 32
}

/// A read in flight: its queue, and the beats of its answer.
struct Read {
    queue: usize,
    beats: VecDeque<Vec<u32>>,
}

macro_rules! bench {
    ($name:ident, $model:ident, $ports:ident, $queues:expr, $lanes:expr, $beat:expr) => {
        mod $name {
            use super::*;

            pub struct Bench {
                pub block: $model,
                pub random: Random,
                pub posted: [u64; $queues],
                pub requested: [u64; $queues],
                pub taken: [u64; $queues],
                /// Reads by tag, and the order in which the queues were served.
                reads: [Option<Read>; 8],
                pub served: Vec<usize>,
                /// A tag whose reads are not answered.
                pub silent: Option<usize>,
                pub errors: Vec<usize>,
                want: usize,
                shown: usize,
            }

            impl Bench {
                pub fn new(seed: u64) -> Self {
                    let mut block = $model::new(PowerUp::Random(seed));
                    block.set_first_tag(FIRST_TAG);
                    block.set_mrrs(2);
                    for queue in 0..$queues {
                        ($ports.base[queue])(&mut block, ring(queue) >> 12);
                        ($ports.size_log2[queue])(&mut block, SIZE_LOG2);
                        ($ports.pthresh[queue])(&mut block, [64, 20, 5, 33][queue % 4]);
                        ($ports.batch[queue])(&mut block, [32, 8, 3, 16][queue % 4]);
                    }
                    block.set_reset(true);
                    let mut bench = Self {
                        block,
                        random: Random(seed),
                        posted: [0; $queues],
                        requested: [0; $queues],
                        taken: [0; $queues],
                        reads: Default::default(),
                        served: vec![],
                        silent: None,
                        errors: vec![],
                        want: 0,
                        shown: 0,
                    };
                    (0..3).for_each(|_| bench.edge());
                    bench.block.set_reset(false);
                    (0..$queues).for_each(|queue| ($ports.enable[queue])(&mut bench.block, true));
                    bench
                }

                fn edge(&mut self) {
                    self.block.set_clock(true);
                    self.block.eval();
                    self.block.set_clock(false);
                    self.block.eval();
                }

                /// Posts up to a full ring.
                pub fn post(&mut self, queue: usize, most: u64) {
                    let room = (1u64 << SIZE_LOG2) - (self.posted[queue] - self.taken[queue]);
                    self.posted[queue] += most.min(room);
                    ($ports.tail[queue])(&mut self.block, self.posted[queue] as u16);
                }

                pub fn set_enable(&mut self, queue: usize, enable: bool) {
                    ($ports.enable[queue])(&mut self.block, enable);
                }

                pub fn idle(&self, queue: usize) -> bool {
                    ($ports.idle[queue])(&self.block)
                }

                /// One cycle: the wanted queue is named, what shows may be taken. Gives the queue of a descriptor that was.
                pub fn cycle(&mut self, want: usize, take: bool, ready: bool) -> Option<usize> {
                    self.shown = std::mem::replace(&mut self.want, want);
                    self.block.set_want(want as u8);
                    self.block.set_d_take(take);
                    self.block.set_r_ready(ready);
                    self.block.set_t_valid(false);
                    self.block.set_t_done(false);
                    let at = self.random.below(8) as usize;
                    let answers = |tag: &usize| self.reads[*tag].is_some() && self.silent != Some(*tag);
                    if let Some(tag) = (0..8).map(|n| (at + n) % 8).find(answers).filter(|_| !self.random.one_in(4)) {
                        let read = self.reads[tag].as_mut().unwrap();
                        let beat = read.beats.pop_front().unwrap();
                        self.block.set_t_valid(true);
                        self.block.set_t_tag(FIRST_TAG + tag as u8);
                        self.block.set_t_lanes(beat.len() as u8);
                        self.block.set_t_data($beat(&beat));
                        if read.beats.is_empty() {
                            self.block.set_t_done(true);
                            self.block.set_t_done_tag(FIRST_TAG + tag as u8);
                            self.block.set_t_done_cause(0);
                            self.reads[tag] = None;
                        }
                    }
                    self.block.eval();
                    if self.block.r_valid() && ready {
                        let tag = usize::from(self.block.r_tag() - FIRST_TAG);
                        assert!(self.reads[tag].is_none(), "tag {tag} is in use");
                        let (addr, bytes) = (self.block.r_addr(), self.block.r_bytes());
                        let queue = (addr >> 32) as usize - 1;
                        assert_eq!(queue % 8, tag);
                        let first = self.requested[queue];
                        assert_eq!(addr, ring(queue) + 16 * (first % (1 << SIZE_LOG2)));
                        self.requested[queue] += u64::from(bytes) / 16;
                        assert!(self.requested[queue] <= self.posted[queue]);
                        let content = |a: u64| descriptor(queue, first + (a - addr) / 16, a / 4 & 3);
                        let beats = complete(&mut self.random, 0, 0, addr, bytes, content)
                            .iter()
                            .flat_map(|part| part.data.chunks($lanes).map(<[u32]>::to_vec).collect::<Vec<_>>())
                            .collect();
                        self.reads[tag] = Some(Read { queue, beats });
                        self.served.push(queue);
                    }
                    let errors = (0..$queues).filter(|queue| ($ports.error[*queue])(&self.block));
                    self.errors.extend(errors);
                    let mut gone = None;
                    if self.block.d_valid() {
                        let queue = self.shown;
                        let expected: Vec<u32> = (0..4).map(|k| descriptor(queue, self.taken[queue], k)).collect();
                        assert_eq!(self.block.d_data().to_vec(), expected, "queue {queue}, {}", self.taken[queue]);
                        if take {
                            self.taken[queue] += 1;
                            gone = Some(queue);
                        }
                    }
                    self.edge();
                    gone
                }

                /// The read of this tag times out.
                pub fn expire(&mut self, tag: usize) -> usize {
                    let read = self.reads[tag].take().expect("no read to expire");
                    self.block.set_t_valid(false);
                    self.block.set_t_done(true);
                    self.block.set_t_done_tag(FIRST_TAG + tag as u8);
                    self.block.set_t_done_cause(Cause::TimeOut as u8);
                    self.block.set_dead(1 << (usize::from(FIRST_TAG) + tag));
                    self.block.eval();
                    self.edge();
                    read.queue
                }

                pub fn waiting(&self, tag: usize) -> Option<usize> {
                    self.reads[tag].as_ref().map(|read| read.queue)
                }
            }
        }
    };
}

const FOUR: Ports<Descriptors464, 4> = ports! { Descriptors464:
    tail: set_tail__0240 set_tail__0241 set_tail__0242 set_tail__0243;
    enable: set_enable__0240 set_enable__0241 set_enable__0242 set_enable__0243;
    base: set_base__0240 set_base__0241 set_base__0242 set_base__0243;
    size_log2: set_size_log2__0240 set_size_log2__0241 set_size_log2__0242 set_size_log2__0243;
    pthresh: set_pthresh__0240 set_pthresh__0241 set_pthresh__0242 set_pthresh__0243;
    batch: set_batch__0240 set_batch__0241 set_batch__0242 set_batch__0243;
    idle: idle__0240 idle__0241 idle__0242 idle__0243;
    error: error__0240 error__0241 error__0242 error__0243;
};

const SIXTEEN: Ports<Descriptors16512, 16> = ports! { Descriptors16512:
    tail: set_tail__0240 set_tail__0241 set_tail__0242 set_tail__0243 set_tail__0244 set_tail__0245 set_tail__0246
        set_tail__0247 set_tail__0248 set_tail__0249 set_tail__02410 set_tail__02411 set_tail__02412 set_tail__02413
        set_tail__02414 set_tail__02415;
    enable: set_enable__0240 set_enable__0241 set_enable__0242 set_enable__0243 set_enable__0244 set_enable__0245
        set_enable__0246 set_enable__0247 set_enable__0248 set_enable__0249 set_enable__02410 set_enable__02411
        set_enable__02412 set_enable__02413 set_enable__02414 set_enable__02415;
    base: set_base__0240 set_base__0241 set_base__0242 set_base__0243 set_base__0244 set_base__0245 set_base__0246
        set_base__0247 set_base__0248 set_base__0249 set_base__02410 set_base__02411 set_base__02412 set_base__02413
        set_base__02414 set_base__02415;
    size_log2: set_size_log2__0240 set_size_log2__0241 set_size_log2__0242 set_size_log2__0243 set_size_log2__0244
        set_size_log2__0245 set_size_log2__0246 set_size_log2__0247 set_size_log2__0248 set_size_log2__0249
        set_size_log2__02410 set_size_log2__02411 set_size_log2__02412 set_size_log2__02413 set_size_log2__02414
        set_size_log2__02415;
    pthresh: set_pthresh__0240 set_pthresh__0241 set_pthresh__0242 set_pthresh__0243 set_pthresh__0244
        set_pthresh__0245 set_pthresh__0246 set_pthresh__0247 set_pthresh__0248 set_pthresh__0249 set_pthresh__02410
        set_pthresh__02411 set_pthresh__02412 set_pthresh__02413 set_pthresh__02414 set_pthresh__02415;
    batch: set_batch__0240 set_batch__0241 set_batch__0242 set_batch__0243 set_batch__0244 set_batch__0245
        set_batch__0246 set_batch__0247 set_batch__0248 set_batch__0249 set_batch__02410 set_batch__02411
        set_batch__02412 set_batch__02413 set_batch__02414 set_batch__02415;
    idle: idle__0240 idle__0241 idle__0242 idle__0243 idle__0244 idle__0245 idle__0246 idle__0247 idle__0248
        idle__0249 idle__02410 idle__02411 idle__02412 idle__02413 idle__02414 idle__02415;
    error: error__0240 error__0241 error__0242 error__0243 error__0244 error__0245 error__0246 error__0247
        error__0248 error__0249 error__02410 error__02411 error__02412 error__02413 error__02414 error__02415;
};

bench!(four, Descriptors464, FOUR, 4, 2, beat_64);
bench!(sixteen, Descriptors16512, SIXTEEN, 16, 16, beat);

/// Any queue at any time, every descriptor once and in its queue's order.
#[test]
fn every_queue_gets_its_own() {
    macro_rules! run {
        ($bench:ident, $queues:expr) => {
            for seed in 0..10 {
                let mut bench = $bench::Bench::new(seed);
                for _ in 0..30_000 {
                    let queue = bench.random.below($queues) as usize;
                    if bench.random.one_in(8) {
                        let most = bench.random.below(40);
                        bench.post(queue, most);
                    }
                    let (want, take, ready) =
                        (bench.random.below($queues) as usize, !bench.random.one_in(3), bench.random.one_in(2));
                    bench.cycle(want, take, ready);
                }
                for n in 0..20_000 {
                    bench.cycle(n / 300 % $queues, true, true);
                }
                assert_eq!((bench.taken, bench.requested), (bench.posted, bench.posted));
                assert!(bench.taken.iter().all(|taken| *taken > 500), "{:?}", bench.taken);
                assert!(bench.errors.is_empty());
            }
        };
    }
    run!(four, 4);
    run!(sixteen, 16);
}

/// Descriptors that are on chip come one a cycle, of one queue and of queues in turn.
#[test]
fn a_descriptor_a_cycle() {
    let mut bench = four::Bench::new(1);
    for queue in 0..4 {
        (FOUR.pthresh[queue])(&mut bench.block, 64);
        bench.post(queue, 64);
    }
    (0..2000).for_each(|_| _ = bench.cycle(2, false, true));
    let taken = (0..64).filter(|_| bench.cycle(2, true, true).is_some()).count();
    assert_eq!(taken, 64, "of queue 2");
    bench.cycle(0, false, true);
    let taken: Vec<usize> = (1..=150).filter_map(|n| bench.cycle([0, 1, 3][n % 3], true, true)).collect();
    assert_eq!(taken.len(), 150, "of three in turn");
}

/// Each queue that wants to read is served once before another is served twice, and so are the two of a tag.
#[test]
fn reads_are_served_in_turn() {
    let mut bench = sixteen::Bench::new(2);
    for queue in 0..16 {
        (SIXTEEN.pthresh[queue])(&mut bench.block, 64);
        (SIXTEEN.batch[queue])(&mut bench.block, 1);
    }
    for n in 0..40_000 {
        (0..16).for_each(|queue| bench.post(queue, 128));
        bench.cycle(n % 16, true, true);
    }
    // From when all are under way; a window of twice the queues has each of them.
    let served = &bench.served[64..];
    assert!(served.len() > 1000);
    for window in served.windows(32) {
        assert!((0..16).all(|queue| window.contains(&queue)), "{window:?}");
    }
}

/// A read that times out ends its queue and, by its tag, the other queue of that tag; the others go on.
#[test]
fn a_dead_tag_ends_the_queues_that_share_it() {
    let mut bench = sixteen::Bench::new(3);
    bench.silent = Some(5);
    (0..16).for_each(|queue| bench.post(queue, 100));
    for n in 0..3000 {
        bench.cycle(n % 16, true, true);
    }
    let other = bench.waiting(5).unwrap() ^ 8;
    assert!(!bench.idle(other), "it waits for the tag");
    let queue = bench.expire(5);
    for n in 0..3000 {
        bench.cycle(n % 16, true, true);
    }
    let mut ended = bench.errors.clone();
    ended.sort();
    assert_eq!(ended, [queue.min(other), queue.max(other)]);
    assert!(bench.idle(queue) && bench.idle(other));
    for queue in (0..16).filter(|queue| queue % 8 != 5) {
        assert_eq!(bench.taken[queue], 100);
    }
}

/// Disabling one queue forgets its descriptors, and no others.
#[test]
fn a_queue_is_disabled_alone() {
    let mut bench = four::Bench::new(4);
    (0..4).for_each(|queue| bench.post(queue, 50));
    (0..1000).for_each(|_| _ = bench.cycle(1, false, true));
    bench.set_enable(1, false);
    (0..10).for_each(|_| assert_eq!(bench.cycle(0, false, true), None));
    assert!(bench.idle(1));
    (bench.posted[1], bench.requested[1], bench.taken[1]) = (0, 0, 0);
    bench.post(1, 0);
    bench.cycle(1, false, true);
    (0..10).for_each(|_| assert_eq!(bench.cycle(1, true, true), None, "shown after it was forgotten"));
    bench.set_enable(1, true);
    bench.post(1, 7);
    for n in 0..4000 {
        bench.cycle(n / 100 % 4, true, true);
    }
    assert_eq!(bench.taken, [50, 7, 50, 50]);
}

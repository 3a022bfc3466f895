//! Descriptor prefetch against a host that posts, and a consumer that takes, at random.
//!
//! Caught when tried: HTHRESH compared with `>` and PTHRESH with `<=`, the FIFO's level looked at before the last
//! descriptor of a read is counted (too many on chip), reads past the 4 KiB boundary, MRRS taken instead of the smallest
//! limit, a full ring taken for a bad doorbell, the low-water event given again while still below, and LOW_WATER alone
//! arming it again in the two cycles after an event.

mod host;

use ferronic_bench::models::{
    descriptors_128::Descriptors128, descriptors_256::Descriptors256, descriptors_512::Descriptors512,
    descriptors_64::Descriptors64,
};
use ferronic_contract::cause::Cause;
use ferronic_verilated::PowerUp;
use host::*;
use std::collections::VecDeque;

const TAG: u8 = 16;

/// The settings of a queue.
#[derive(Clone, Copy, Debug)]
struct Settings {
    base: u64,
    size_log2: u8,
    pthresh: u8,
    hthresh: u8,
    batch: u8,
    low_water: u16,
    mrrs: u8,
}

impl Settings {
    fn random(random: &mut Random) -> Self {
        Self {
            base: (random.next() >> 13) << 12,
            size_log2: 3 + random.below(8) as u8,
            pthresh: 1 + random.below(64) as u8,
            hthresh: 1 + (random.below(8) << random.below(4)) as u8,
            batch: 1 + random.below(32) as u8,
            low_water: random.below(12) as u16,
            mrrs: random.below(6) as u8,
        }
    }

    /// Descriptors that the rule reads with this many in the host and on chip, from this index.
    fn rule(&self, next: u16, host: u16, chip: u8) -> u16 {
        let enough = host >= u16::from(self.hthresh) || (chip == 0 && host >= 1);
        if chip >= self.pthresh || !enough {
            return 0;
        }
        let slot = next & ((1 << self.size_log2) - 1);
        let to_end = (1u16 << self.size_log2) - slot;
        let to_page = 256 - (slot & 255);
        let mrrs = (128u16 << self.mrrs) / 16;
        [u16::from(self.batch), host, 64 - u16::from(chip), to_end, to_page, mrrs, 32].into_iter().min().unwrap()
    }
}

/// Dword `k` of the descriptor with this index, counted from 0 without wrap.
fn descriptor(index: u64, k: u64) -> u32 {
    dword(16 * index + 4 * k + (1 << 40))
}

/// Beats of one read on their way: dwords, lanes, whether the read ends with it.
type Beats = VecDeque<(Vec<u32>, bool)>;

macro_rules! bench {
    ($name:ident, $model:ty, $lanes:expr, $beat:expr) => {
        mod $name {
            use super::*;

            pub struct Bench {
                pub block: $model,
                pub settings: Settings,
                pub random: Random,
                /// Tail and descriptors on chip in the last cycles, the newest first.
                history: VecDeque<(u16, u8)>,
                beats: Beats,
                pub outstanding: u16,
                offered: bool,
                pub posted: u64,
                pub requested: u64,
                pub taken: u64,
                pub errors: Vec<u8>,
                pub low_events: u32,
                pub low_expected: u32,
                armed: bool,
                pub cause: u8,
                /// Of 16 cycles, how many the consumer takes in.
                pub appetite: u64,
                pub counted: u64,
                /// Cycles in which the rule wanted a read and none came.
                lazy: u32,
            }

            impl Bench {
                pub fn new(seed: u64, settings: Settings) -> Self {
                    let mut block = <$model>::new(PowerUp::Random(seed));
                    block.set_first_tag(TAG);
                    block.set_want(0);
                    block.set_base__0240(settings.base >> 12);
                    block.set_size_log2__0240(settings.size_log2);
                    block.set_pthresh__0240(settings.pthresh);
                    block.set_hthresh__0240(settings.hthresh);
                    block.set_batch__0240(settings.batch);
                    block.set_low_water__0240(settings.low_water);
                    block.set_mrrs(settings.mrrs);
                    block.set_reset(true);
                    block.eval();
                    let mut bench = Self {
                        block,
                        settings,
                        random: Random(seed),
                        history: VecDeque::new(),
                        beats: Beats::new(),
                        outstanding: 0,
                        offered: false,
                        posted: 0,
                        requested: 0,
                        taken: 0,
                        errors: Vec::new(),
                        low_events: 0,
                        low_expected: 0,
                        armed: false,
                        cause: 0,
                        appetite: 8,
                        counted: 0,
                        lazy: 0,
                    };
                    (0..3).for_each(|_| bench.edge());
                    bench.block.set_reset(false);
                    bench.block.set_enable__0240(true);
                    bench
                }

                fn edge(&mut self) {
                    self.block.set_clock(true);
                    self.block.eval();
                    self.block.set_clock(false);
                    self.block.eval();
                }

                /// Posts some, at most what the ring holds.
                pub fn post(&mut self, most: u64) {
                    let room = (1u64 << self.settings.size_log2) - (self.posted - self.taken);
                    self.posted += self.random.below(most + 1).min(room);
                    self.block.set_tail__0240(self.posted as u16);
                }

                /// The answer to the read that was just taken.
                fn answer(&mut self, n: u16) {
                    let first = self.requested;
                    let slot = first & ((1 << self.settings.size_log2) - 1);
                    let address = self.settings.base + 16 * slot;
                    let content = |a: u64| descriptor(first + (a - address) / 16, (a / 4) & 3);
                    for completion in complete(&mut self.random, TAG, 0, address, 16 * n, content) {
                        self.beats.extend(completion.data.chunks($lanes).map(|lanes| (lanes.to_vec(), false)));
                    }
                    self.beats.back_mut().unwrap().1 = true;
                }

                pub fn cycle(&mut self) {
                    let ready = self.random.one_in(3);
                    self.block.set_r_ready(ready);
                    let take = self.random.below(16) < self.appetite;
                    self.block.set_d_take(take);
                    self.block.set_t_valid(false);
                    self.block.set_t_done(false);
                    if self.random.one_in(8) {
                        // Somebody else's.
                        self.block.set_t_valid(true);
                        self.block.set_t_tag(TAG ^ 8);
                        self.block.set_t_done(true);
                        self.block.set_t_done_tag(TAG ^ 8);
                        self.block.set_t_done_cause(1);
                    } else if !self.random.one_in(4) {
                        if let Some((dwords, last)) = self.beats.pop_front() {
                            self.block.set_t_valid(true);
                            self.block.set_t_tag(TAG);
                            self.block.set_t_lanes(dwords.len() as u8);
                            self.block.set_t_data($beat(&dwords));
                            self.block.set_t_done(last);
                            self.block.set_t_done_tag(TAG);
                            self.block.set_t_done_cause(self.cause);
                            if last {
                                self.outstanding = 0;
                            }
                        }
                    }
                    self.block.eval();
                    let tail = self.posted as u16;
                    self.history.push_front((tail, self.block.chip__0240()));
                    self.history.truncate(10);
                    // The request that is on its way through the fan-in counts as made.
                    let ahead = self.block.head__0240().wrapping_sub(self.requested as u16);
                    assert!(ahead <= if self.outstanding > 0 { 0 } else { 32 }, "{ahead} ahead");
                    assert!(self.block.chip__0240() <= 64);

                    if self.block.r_valid() {
                        assert_eq!(self.outstanding, 0, "a second read");
                        let (tail, chip) = self.history[9.min(self.history.len() - 1)];
                        let next = self.requested as u16;
                        let n = self.block.r_bytes() / 16;
                        assert_eq!(ahead, n);
                        if !self.offered {
                            assert_eq!(n, self.settings.rule(next, tail.wrapping_sub(next), chip), "{:?}", self.settings);
                        }
                        assert!(n > 0 && self.requested + u64::from(n) <= self.posted, "past the tail");
                        let slot = self.requested & ((1 << self.settings.size_log2) - 1);
                        assert_eq!(self.block.r_addr(), self.settings.base + 16 * slot);
                        assert_eq!(self.block.r_bytes(), 16 * n);
                        assert_eq!(self.block.r_tag(), TAG);
                        let bytes = u64::from(16 * n);
                        assert_eq!(self.block.r_addr() >> 12, (self.block.r_addr() + bytes - 1) >> 12, "over 4 KiB");
                        self.offered = !ready;
                        if ready {
                            self.answer(n);
                            self.outstanding = n;
                            self.requested += u64::from(n);
                        }
                    } else {
                        assert!(!self.offered, "an offer was withdrawn");
                    }
                    if self.block.read_pulse__0240() {
                        self.counted += u64::from(self.block.read_count__0240());
                    }
                    let host = tail.wrapping_sub(self.requested as u16);
                    let wants = self.settings.rule(self.requested as u16, host, self.block.chip__0240()) > 0;
                    let may = self.block.enable__0240() && !self.block.stopped__0240() && self.errors.is_empty();
                    self.lazy = if wants && may && self.outstanding == 0 && !self.block.r_valid() { self.lazy + 1 } else { 0 };
                    assert!(self.lazy < 20, "the rule wants a read, and none comes: {:?}", self.settings);

                    let left = self.posted - self.taken;
                    let low = u64::from(self.settings.low_water);
                    let mark = if self.low_expected > 0 { low + u64::from(self.settings.batch) } else { low };
                    if left < low {
                        self.low_expected += u32::from(std::mem::take(&mut self.armed));
                    } else if left >= mark {
                        self.armed = true;
                    }
                    if self.block.d_valid() && take {
                        let word = u128_of(self.block.d_data());
                        let want: Vec<u32> = (0..4).map(|k| descriptor(self.taken, k)).collect();
                        assert_eq!(word, want, "descriptor {}", self.taken);
                        self.taken += 1;
                    }
                    if self.block.error__0240() {
                        self.errors.push(self.block.cause__0240());
                    }
                    self.low_events += u32::from(self.block.low_event__0240());
                    self.edge();
                }

                pub fn run(&mut self, cycles: u32, most: u64) {
                    for _ in 0..cycles {
                        if self.random.one_in(6) {
                            self.post(most);
                        }
                        self.cycle();
                    }
                }
            }
        }
    };
}

fn u128_of(words: [u32; 4]) -> Vec<u32> {
    words.to_vec()
}

bench!(bits_64, Descriptors64, 2, beat_64);
bench!(bits_128, Descriptors128, 4, beat);
bench!(bits_256, Descriptors256, 8, beat);
bench!(bits_512, Descriptors512, 16, beat);

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
    /// Each read is just what the rule says, each descriptor comes once and in order, low water counts.
    fn reads_follow_the_rule(B: Bench) {
        for seed in 0..60 {
            let settings = Settings::random(&mut Random(seed));
            let mut bench = B::new(seed, settings);
            for phase in 0..6 {
                bench.appetite = [2, 14, 0, 16, 6, 1][phase];
                bench.run(1500, if phase % 2 == 0 { 40 } else { 2 });
            }
            bench.appetite = 16;
            for _ in 0..200_000 {
                if bench.taken == bench.posted {
                    break;
                }
                bench.cycle();
            }
            (0..20).for_each(|_| bench.cycle());
            assert_eq!((bench.taken, bench.requested, bench.counted), (bench.posted, bench.posted, bench.posted));
            assert_eq!(bench.low_events, bench.low_expected, "{settings:?}");
            assert!(bench.errors.is_empty());
        }
    }
}

all! {
    /// The index goes over 2^16, in the smallest ring and in one that is never empty.
    fn indices_wrap(B: Bench) {
        for size_log2 in [3, 9] {
            let settings = Settings { base: 0xFFFF_F000, size_log2, pthresh: 64, hthresh: 1, batch: 32, low_water: 4, mrrs: 2 };
            let mut bench = B::new(9, settings);
            bench.appetite = 16;
            for _ in 0..2_000_000 {
                if bench.taken >= 70_000 {
                    break;
                }
                bench.post(64);
                bench.cycle();
            }
            assert!(bench.taken >= 70_000);
        }
    }
}

all! {
    /// As many as the ring holds are right; one more is a bad doorbell, and nothing is read until the queue is disabled.
    fn a_bad_doorbell_stops_the_queue(B: Bench) {
        for size_log2 in 3..=15 {
            let settings = Settings { size_log2, pthresh: 1, hthresh: 1, batch: 1, low_water: 0, mrrs: 2, base: 0x1000 };
            let mut bench = B::new(3, settings);
            bench.appetite = 0;
            bench.posted = 1 << size_log2;
            bench.block.set_tail__0240(bench.posted as u16);
            (0..100).for_each(|_| bench.cycle());
            assert!(bench.errors.is_empty() && bench.requested == 1);
            bench.posted = (1 << size_log2) + 2;
            bench.block.set_tail__0240(bench.posted as u16);
            (0..100).for_each(|_| bench.cycle());
            assert_eq!(bench.errors, [Cause::BadDoorbell as u8]);
            bench.appetite = 16;
            (0..100).for_each(|_| bench.cycle());
            assert_eq!((bench.requested, bench.taken), (1, 1), "read on after the error");
        }
    }
}

all! {
    /// Each cause is told once; nothing is read after it until the queue was disabled and enabled bench.
    fn a_failed_read_stops_the_queue(B: Bench) {
        for cause in 1..=5u8 {
            let settings = Settings { size_log2: 8, pthresh: 64, hthresh: 1, batch: 4, low_water: 0, mrrs: 2, base: 0 };
            let mut bench = B::new(u64::from(cause), settings);
            bench.run(300, 10);
            bench.cause = cause;
            while bench.errors.is_empty() {
                bench.run(1, 10);
            }
            let requested = bench.requested;
            bench.run(300, 10);
            assert_eq!(bench.errors, [cause]);
            assert_eq!(bench.requested, requested, "read on after the error");
        }
    }
}

all! {
    /// Disabling at any moment: no new read, the outstanding one is waited for, then all is forgotten and the queue can start bench.
    fn disabling_forgets_everything(B: Bench) {
        for seed in 0..200 {
            let settings = Settings { low_water: 0, ..Settings::random(&mut Random(seed)) };
            let mut bench = B::new(seed, settings);
            bench.run(100 + seed as u32, 20);
            bench.block.set_enable__0240(false);
            let requested = bench.requested;
            let reading = !bench.block.idle__0240();
            for _ in 0..400 {
                if bench.block.idle__0240() {
                    break;
                }
                bench.cycle();
            }
            assert_eq!(bench.outstanding, 0, "idle with a read outstanding");
            assert!(bench.requested == requested || reading, "a new read after disabling");
            // Now the indices go back to 0: the bench's too.
            bench.block.set_d_take(false);
            bench.posted = 0;
            bench.block.set_tail__0240(0);
            for _ in 0..4 {
                bench.block.set_t_valid(false);
                bench.block.set_t_done(false);
                bench.block.eval();
                bench.block.set_clock(true);
                bench.block.eval();
                bench.block.set_clock(false);
                bench.block.eval();
            }
            assert!(bench.block.idle__0240() && bench.block.head__0240() == 0 && bench.block.chip__0240() == 0 && !bench.block.d_valid());
            (bench.requested, bench.taken) = (0, 0);
            bench.block.set_enable__0240(true);
            bench.appetite = 16;
            bench.run(500, 20);
            assert!(bench.taken > 0);
        }
    }
}

all! {
    /// A queue that is stopped from outside reads nothing more.
    fn a_stopped_queue_reads_nothing(B: Bench) {
        let mut bench = B::new(5, Settings { low_water: 0, ..Settings::random(&mut Random(5)) });
        bench.run(200, 20);
        bench.block.set_stopped__0240(true);
        bench.run(20, 20);
        let requested = bench.requested;
        bench.appetite = 16;
        bench.run(500, 20);
        assert_eq!(bench.requested, requested);
    }
}

all! {
    /// While the tag is retired nothing is read: the queue is told to be timed out, once each time it is enabled.
    fn a_dead_tag_is_a_time_out_as_soon_as_the_queue_is_enabled(B: Bench) {
        let mut bench = B::new(6, Settings { low_water: 0, ..Settings::random(&mut Random(6)) });
        bench.block.set_enable__0240(false);
        bench.block.set_dead(1 << TAG);
        for round in 1..=2 {
            bench.block.set_enable__0240(true);
            bench.run(100, 20);
            assert_eq!(bench.errors, vec![Cause::TimeOut as u8; round]);
            bench.block.set_enable__0240(false);
            bench.run(10, 0);
            assert!(bench.block.idle__0240());
        }
        assert_eq!(bench.requested, 0, "the tag is used again");
        bench.block.set_dead(0);
        bench.run(2, 0);
        bench.errors.clear();
        bench.block.set_enable__0240(true);
        bench.appetite = 16;
        bench.run(500, 20);
        assert!(bench.taken > 0);
    }
}

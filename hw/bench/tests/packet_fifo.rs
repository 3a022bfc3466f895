//! The packet FIFO against a model that knows its depth to the word, at both widths.
//!
//! A reader takes stored frames, reads them back word by word, and gives their room back, so the FIFO runs full
//! again and again; frames follow one another without a gap more often than not.
//!
//! Caught when tried: fullness by the write pointer before the roll-back; no roll-back in the cycle of the
//! verdict; full told before oversize; the error of any beat; `over` not cleared for the next frame; `active`
//! looked at on every beat; a length that wraps; the limit of a stripped frame taken from the cycle before its beat.

use ferronic_bench::models::{packet_fifo_128::PacketFifo128, packet_fifo_64::PacketFifo64};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Bytes of the FIFO.
const DEPTH: usize = 32 * 1024;
const MAX_FRAME: usize = 9600;

/// In the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Disabled,
    Bad,
    Undersize,
    Oversize,
    NoDescriptor,
    Fifo,
    Stored,
}

/// A frame to send, and what happens around it.
#[derive(Clone, Debug)]
struct Plan {
    length: usize,
    error: bool,
    /// Cycles before the frame.
    gap: usize,
    /// A pause before every beat.
    slow: bool,
    active: bool,
    starved: bool,
    list_full: bool,
    /// A tag was removed on the way: the frame was four bytes longer on the wire.
    stripped: bool,
    /// Stored frames that the reader may take from here on.
    reads: usize,
}

fn plan() -> impl Strategy<Value = Plan> {
    let length = prop_oneof![
        3 => 1usize..200,
        2 => 1500usize..1530,
        4 => 6000usize..9601,
        1 => 9590usize..9620,
        1 => prop::sample::select(vec![13usize, 14, 15, 9596, 9597, 9600, 9601, 16_383, 16_384, 16_390, 33_000, 70_000]),
    ];
    let rare = || prop::bool::weighted(0.1);
    // The reader pauses for long, so that the FIFO runs full, and then catches up.
    let reads = prop_oneof![6 => Just(0usize), 1 => Just(5usize)];
    let gap = prop_oneof![3 => Just(0usize), 1 => 0usize..5];
    (length, rare(), gap, rare(), rare(), any::<bool>(), rare(), any::<bool>(), reads).prop_map(
        |(length, error, gap, slow, off, starved, list_full, stripped, reads)| {
            Plan { length, error, gap, slow, active: !off, starved, list_full, stripped, reads }
        },
    )
}

/// A cycle at the wire.
#[derive(Clone, Copy)]
struct Beat {
    frame: usize,
    at: usize,
    bytes: usize,
    last: bool,
}

impl Plan {
    /// Longest length that is kept.
    fn limit(&self) -> usize {
        MAX_FRAME - if self.stripped { 4 } else { 0 }
    }

    /// What travels beside the frame.
    fn info(&self, frame: usize) -> u64 {
        frame as u64 * 7919 % 0x1_0000 | u64::from(self.stripped) << 16 | (frame as u64 * 0x1_2345) % (1 << 33) << 17
    }
}

fn byte(frame: usize, at: usize) -> u8 {
    (frame * 59 + at * 7 + at / 256) as u8
}

/// The beats of all frames, with pauses as `None`.
fn wire(plans: &[Plan], width: usize) -> Vec<Option<Beat>> {
    let mut wire = Vec::new();
    for (frame, plan) in plans.iter().enumerate() {
        wire.extend(std::iter::repeat_n(None, plan.gap));
        for at in (0..plan.length).step_by(width) {
            wire.extend(plan.slow.then_some(None));
            let bytes = (plan.length - at).min(width);
            wire.push(Some(Beat { frame, at, bytes, last: at + bytes == plan.length }));
        }
    }
    wire.extend([None; 3000]);
    wire
}

/// What the block says in a cycle.
struct Said {
    read: [u8; 16],
    commit: Option<(usize, u64)>,
    fill: usize,
    frame_in: bool,
    drops: Vec<Verdict>,
}

trait Block {
    const WIDTH: usize;
    fn new(seed: u64) -> Self;
    fn wire(&mut self, valid: bool, data: [u8; 16], keep: u16, last: bool, error: bool, info: u64);
    fn around(&mut self, reset: bool, active: bool, starved: bool, list_full: bool, free: usize, read_word: usize);
    fn said(&mut self) -> Said;
    fn clock(&mut self);
}

macro_rules! block {
    ($model:ty, $width:expr, $pack:expr, $unpack:expr) => {
        impl Block for $model {
            const WIDTH: usize = $width;

            fn new(seed: u64) -> Self {
                <$model>::new(PowerUp::Random(seed))
            }

            fn wire(&mut self, valid: bool, data: [u8; 16], keep: u16, last: bool, error: bool, info: u64) {
                self.set_wire_valid(valid);
                self.set_wire_data($pack(data));
                self.set_wire_keep(keep as _);
                self.set_wire_last(last);
                self.set_wire_error(error);
                self.set_wire_info(info);
            }

            fn around(&mut self, reset: bool, active: bool, starved: bool, full: bool, free: usize, word: usize) {
                self.set_reset(reset);
                self.set_max_frame(MAX_FRAME as u16);
                self.set_active(active);
                self.set_starved(starved);
                self.set_list_full(full);
                self.set_free((free % (2 * DEPTH)) as u16);
                self.set_read_address((word % (DEPTH / $width)) as u16);
            }

            fn said(&mut self) -> Said {
                self.eval();
                let pulses = [
                    (self.drop_disabled(), Verdict::Disabled),
                    (self.drop_bad(), Verdict::Bad),
                    (self.drop_undersize(), Verdict::Undersize),
                    (self.drop_oversize(), Verdict::Oversize),
                    (self.drop_no_descriptor(), Verdict::NoDescriptor),
                    (self.drop_fifo(), Verdict::Fifo),
                ];
                Said {
                    read: $unpack(self.read_data()),
                    commit: self.commit().then(|| (usize::from(self.length()), self.info())),
                    fill: usize::from(self.fill()),
                    frame_in: self.frame_in(),
                    drops: pulses.into_iter().filter(|(pulse, _)| *pulse).map(|(_, verdict)| verdict).collect(),
                }
            }

            fn clock(&mut self) {
                self.set_clock(true);
                self.eval();
                self.set_clock(false);
                self.eval();
            }
        }
    };
}

fn words(data: [u8; 16]) -> [u32; 4] {
    std::array::from_fn(|i| u32::from_le_bytes(data[4 * i..4 * i + 4].try_into().unwrap()))
}

block!(
    PacketFifo64,
    8,
    |data: [u8; 16]| u64::from_le_bytes(data[..8].try_into().unwrap()),
    |word: u64| u128::from(word).to_le_bytes()
);
block!(PacketFifo128, 16, words, |word: [u32; 4]| {
    word.iter().rev().fold(0u128, |all, part| all << 32 | u128::from(*part)).to_le_bytes()
});

/// Frames by verdict; then those of them that found no word free, with a frame right behind that is stored.
type Tally = [usize; 8];

fn run<B: Block>(seed: u64, plans: &[Plan]) -> Tally {
    let (mut block, depth) = (B::new(seed), DEPTH / B::WIDTH);
    for _ in 0..2 {
        block.around(true, false, false, false, 0, 0);
        block.said();
        block.clock();
    }
    let mut tally = Tally::default();
    let mut ran_full_before = false;
    // The frame at the write port: words written, bytes seen.
    let (mut start, mut written, mut count) = (0usize, 0usize, 0usize);
    let (mut off, mut over, mut over_starved) = (false, false, false);
    let (mut registered, mut ended, mut crowded): (Option<Beat>, Option<usize>, bool) = (None, None, false);
    let mut due: Option<Verdict> = None;
    let mut fills = VecDeque::from([0]);
    // The reader: stored frames as first word and number; words given back.
    let (mut stored, mut may_read, mut word): (VecDeque<(usize, usize)>, usize, usize) = (VecDeque::new(), 0, 0);
    let (mut free, mut expected): (usize, Option<(usize, usize)>) = (0, None);
    for beat in wire(plans, B::WIDTH) {
        let plan = &plans[beat.or(registered).map_or(0, |beat| beat.frame)];
        let mut data = [0xEE; 16];
        if let Some(beat) = beat {
            (0..beat.bytes).for_each(|i| data[i] = byte(beat.frame, beat.at + i));
            may_read += if beat.at == 0 { plan.reads } else { 0 };
        }
        // An error counts on the last beat alone.
        let (last, bytes) = beat.map_or((true, 0), |beat| (beat.last, beat.bytes));
        let info = beat.map_or((1 << 50) - 1, |beat| plans[beat.frame].info(beat.frame));
        let error = if last { plan.error } else { word % 3 == 0 };
        block.wire(beat.is_some(), data, ((1u32 << bytes) - 1) as u16, last, error, info);
        let reading = stored.front().filter(|_| may_read > 0).copied();
        let address = reading.map_or(word, |(first, _)| first + word);
        block.around(false, plan.active, plan.starved, plan.list_full, free * B::WIDTH, address);
        let said = block.said();

        // The verdict of the cycle before, as pulses.
        assert_eq!(said.frame_in, due.is_some());
        let dropped: Vec<Verdict> = due.into_iter().filter(|verdict| *verdict != Verdict::Stored).collect();
        assert_eq!(said.drops, dropped);

        // The verdict of this cycle.
        let mut kept = None;
        due = ended.take().map(|frame| {
            let full = over || crowded;
            let waits = if over { over_starved } else { plan.starved };
            let verdicts = [
                (off, Verdict::Disabled),
                (plans[frame].error, Verdict::Bad),
                (count < 14, Verdict::Undersize),
                (count > plans[frame].limit(), Verdict::Oversize),
                (full && waits, Verdict::NoDescriptor),
                (full, Verdict::Fifo),
                (true, Verdict::Stored),
            ];
            let verdict = verdicts.into_iter().find(|(applies, _)| *applies).unwrap().1;
            if verdict == Verdict::Stored {
                stored.push_back((start, frame));
                kept = Some((count, plans[frame].info(frame)));
                start += written;
            }
            tally[verdict as usize] += 1;
            tally[7] += usize::from(ran_full_before && plans[frame].gap == 0 && verdict == Verdict::Stored);
            ran_full_before = over;
            verdict
        });
        assert_eq!(said.commit, kept);

        // The beat that is written.
        if let Some(beat) = registered {
            if beat.at == 0 {
                (written, count, over, off) = (0, 0, false, !plan.active);
            }
            if !off && !over && count <= plan.limit() {
                if start + written - free == depth {
                    (over, over_starved) = (true, plan.starved);
                } else {
                    written += 1;
                }
            }
            count += beat.bytes;
            ended = beat.last.then_some(beat.frame);
        }

        // Reading.
        if let Some((frame, at)) = expected.take() {
            let bytes = (plans[frame].length - at).min(B::WIDTH);
            let frame: Vec<u8> = (at..at + bytes).map(|at| byte(frame, at)).collect();
            assert_eq!(said.read[..bytes], frame);
        }
        if let Some((first, frame)) = reading {
            expected = Some((frame, word * B::WIDTH));
            word += 1;
            if word * B::WIDTH >= plans[frame].length {
                free = first + word;
                (word, may_read) = (0, may_read - 1);
                stored.pop_front();
            }
        }
        // Whole frames, less what is read, as it was two cycles ago or later.
        fills.push_back((start - free) * B::WIDTH / 64);
        if fills.len() > 3 {
            fills.pop_front();
        }
        assert!(fills.contains(&said.fill), "{} is none of {fills:?}", said.fill);
        (registered, crowded) = (beat, plan.list_full);
        block.clock();
    }
    assert_eq!(tally[..7].iter().sum::<usize>(), plans.len(), "a frame without verdict");
    tally
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]
    #[test]
    fn every_frame_has_the_right_verdict_and_its_bytes(seed: u64, plans in prop::collection::vec(plan(), 1..40)) {
        run::<PacketFifo64>(seed, &plans);
        run::<PacketFifo128>(seed, &plans);
    }
}

/// The random test is only worth something when every verdict comes up, each often.
#[test]
fn every_verdict_comes_up() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let plans = prop::collection::vec(plan(), 600).new_tree(&mut runner).unwrap().current();
    let tally = run::<PacketFifo64>(1, &plans);
    assert!(tally.iter().all(|frames| *frames >= 5), "{tally:?}");
}

//! Both sums against sums in software, at three widths.
//!
//! Caught when tried: beats within the first 32 bytes cut by a packet end that is not yet known.

mod stream;

use ferronic_bench::models::{sums_128::Sums128, sums_512::Sums512, sums_64::Sums64};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use stream::{beats, Word};

/// As `hw/src/rx/sums.rs` says.
const LATENCY: usize = 10;

/// The one's-complement sum as RFC 1071 gives it.
fn ones_sum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    bytes.chunks(2).fold(0u32, |sum, pair| {
        let sum = sum + word(pair);
        (sum & 0xFFFF) + (sum >> 16)
    }) as u16
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..at + 2).map(|pair| usize::from(pair[0]) << 8 | usize::from(pair[1]))
}

/// Where the IP packet ends, if there is one that the frame holds.
fn packet_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 12;
    for _ in 0..2 {
        if matches!(number(bytes, at), Some(0x8100 | 0x88A8)) {
            at += 4;
        }
    }
    let (end, least) = match number(bytes, at)? {
        0x0800 => (at + 2 + number(bytes, at + 4)?, at + 22),
        0x86DD => (at + 42 + number(bytes, at + 6)?, at + 42),
        _ => return None,
    };
    (end >= least && end <= bytes.len()).then_some(end)
}

/// Raw sum, and that of the packet if there is one.
fn expected(frame: &[u8]) -> (u16, Option<u16>) {
    (ones_sum(frame.get(14..).unwrap_or_default()), packet_end(frame).map(|end| ones_sum(&frame[14..end])))
}

macro_rules! bench {
    ($name:ident, $model:ty, $width:expr, $keep:ty) => {
        /// Frames with pauses before their beats, repeated as often as need be.
        fn $name(seed: u64, frames: &[(Vec<u8>, Vec<usize>)]) {
            let mut block = <$model>::new(PowerUp::Random(seed));
            let (mut wanted, mut seen) = (Vec::new(), Vec::new());
            let mut cycle = 0;
            let mut step = |beat: Option<stream::Beat>, reset: bool| {
                let shown = beat.unwrap_or(stream::Beat { bytes: [0x81; 64], keep: 1, last: true });
                block.set_reset(reset);
                block.set_s_valid(beat.is_some());
                block.set_s_data(Word::of(&shown.bytes));
                block.set_s_keep(shown.keep as $keep);
                block.set_s_last(shown.last);
                block.eval();
                if !reset && block.sum_valid() {
                    seen.push((cycle, block.raw_(), block.body()));
                }
                block.set_clock(true);
                block.eval();
                block.set_clock(false);
                block.eval();
                cycle += 1;
                cycle - 1
            };
            for _ in 0..2 {
                step(None, true);
            }
            for (frame, gaps) in frames {
                let mut gaps = gaps.iter().copied().cycle();
                let mut last = 0;
                for beat in beats(frame, $width) {
                    for _ in 0..gaps.next().unwrap_or(0) {
                        step(None, false);
                    }
                    last = step(Some(beat), false);
                }
                wanted.push((last + LATENCY, expected(frame)));
            }
            for _ in 0..=LATENCY {
                step(None, false);
            }
            drop(step);
            assert_eq!(seen.len(), wanted.len());
            for (i, ((cycle, raw, body), (due, (raw_due, body_due)))) in seen.into_iter().zip(wanted).enumerate() {
                let answer = (cycle, raw, body_due.map(|_| body));
                assert_eq!(answer, (due, raw_due, body_due), "{} bits, frame {i}: {:02x?}", 8 * $width, frames[i].0);
            }
        }
    };
}

bench!(run_64, Sums64, 8, u8);
bench!(run_128, Sums128, 16, u16);
bench!(run_512, Sums512, 64, u64);

fn run(seed: u64, frames: &[(Vec<u8>, Vec<usize>)]) {
    run_64(seed, frames);
    run_128(seed, frames);
    run_512(seed, frames);
}

/// A frame with tags and an IP packet whose length says `packet` bytes, in `length` bytes of `filler`.
fn frame(tags: usize, v6: bool, packet: usize, length: usize, filler: impl Fn(usize) -> u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length.max(32)).map(filler).collect();
    let at = 12 + 4 * tags;
    for tag in 0..tags {
        bytes[12 + 4 * tag..14 + 4 * tag].copy_from_slice(&[[0x88, 0xA8], [0x81, 0x00]][(tag + 2 - tags) % 2]);
    }
    let (kind, place, size) = if v6 { (0x86DDu16, at + 6, packet.saturating_sub(40)) } else { (0x0800, at + 4, packet) };
    bytes[at..at + 2].copy_from_slice(&kind.to_be_bytes());
    bytes[place..place + 2].copy_from_slice(&(size as u16).to_be_bytes());
    bytes.truncate(length);
    bytes
}

/// Every packet end around beats' edges, with padding behind it or none.
#[test]
fn every_packet_end() {
    let mut frames = Vec::new();
    for tags in 0..3 {
        for v6 in [false, true] {
            for packet in (if v6 { 40 } else { 20 })..150 {
                for padding in [0, 1, 2, 7, 40] {
                    let length = 14 + 4 * tags + packet + padding;
                    frames.push((frame(tags, v6, packet, length, |i| (i * 37 + packet) as u8), vec![]));
                }
            }
        }
    }
    run(2, &frames);
    let paused = frames.into_iter().map(|(frame, _)| (frame, vec![0, 0, 1, 3])).collect::<Vec<_>>();
    run(3, &paused);
}

/// The largest frame holds the largest sum; a sum is 0 only when there is nothing, and a short frame has one too.
#[test]
fn extremes() {
    let fill = |length: usize, byte: u8| (vec![byte; length], vec![]);
    let mut frames: Vec<_> = (1..=40).flat_map(|length| [fill(length, 0xFF), fill(length, 0), fill(length, 0x5A)]).collect();
    frames.push(fill(9600, 0xFF));
    frames.push((frame(0, false, 9586, 9600, |_| 0xFF), vec![]));
    frames.push((frame(2, true, 9578, 9600, |_| 0xFF), vec![]));
    frames.push(fill(60, 0));
    let (mut zero, mut full) = (fill(60, 0), fill(60, 0));
    zero.0[13] = 7;
    full.0[20..24].copy_from_slice(&[0x12, 0x34, 0xED, 0xCB]);
    assert_eq!((expected(&zero.0).0, expected(&full.0).0), (0, 0xFFFF));
    frames.extend([zero, full]);
    run(4, &frames);
}

fn any_frame() -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    let size = || prop_oneof![4 => 0usize..130, 1 => 1400usize..1500];
    let padding = prop_oneof![2 => Just(0usize), 2 => 0usize..50, 1 => 0usize..1000];
    let gaps = prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(0usize..3, 1..4)];
    (0usize..3, any::<bool>(), size(), padding, any::<u64>(), gaps, prop::option::weighted(0.2, 1usize..80)).prop_map(
        |(tags, v6, size, padding, seed, gaps, cut)| {
            let length = cut.unwrap_or(14 + 4 * tags + size + padding);
            let filler = |i: usize| (seed.wrapping_mul(2 * i as u64 + 1) >> 40) as u8;
            (frame(tags, v6, size, length, filler), gaps)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_frames(seed: u64, frames in prop::collection::vec(any_frame(), 1..40)) {
        run(seed, &frames);
    }
}

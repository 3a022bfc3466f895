//! Frames with and without tags through the VLAN strip, against removal in software, at three widths.
//!
//! Caught when tried: a tag removed from a frame of 17 bytes.

mod stream;

use ferronic_bench::models::{strip_128::Strip128, strip_512::Strip512, strip_64::Strip64};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use stream::{beats, keep, Word};

/// As `hw/src/rx/strip.rs` says.
const LATENCY: usize = 3;

#[derive(Clone, Debug)]
struct Frame {
    bytes: Vec<u8>,
    error: bool,
    /// Pauses before its beats, repeated as often as need be.
    gaps: Vec<usize>,
}

/// TCI, stripped, stripped a service tag, time: as in `s_info`.
fn info(tci: u16, stripped: bool, service: bool, time: u32) -> u64 {
    u64::from(tci) | u64::from(stripped) << 16 | u64::from(service) << 17 | u64::from(time) << 18
}

#[derive(Debug, PartialEq, Eq)]
struct Out {
    bytes: Vec<u8>,
    error: bool,
    info: u64,
    /// Cycle of the last beat.
    cycle: usize,
}

/// The frame as it should leave, its first beat on the wire in cycle `first` and its last in cycle `last`.
fn expected(frame: &Frame, strip: (bool, bool), width: usize, start: u32, first: usize, last: usize) -> Out {
    let bytes = &frame.bytes;
    let time = start.wrapping_add(first as u32);
    let tpid = bytes.get(12..14).map(|tpid| u16::from_be_bytes([tpid[0], tpid[1]]));
    let service = tpid == Some(0x88A8);
    let removed = bytes.len() >= 18 && (strip.0 && tpid == Some(0x8100) || strip.1 && service);
    if !removed {
        return Out { bytes: bytes.clone(), error: frame.error, info: info(0, false, false, time), cycle: last + LATENCY };
    }
    let left = [&bytes[..12], &bytes[16..]].concat();
    let used_up = left.len().div_ceil(width) < bytes.len().div_ceil(width);
    let tci = u16::from_be_bytes([bytes[14], bytes[15]]);
    Out { bytes: left, error: frame.error, info: info(tci, true, service, time), cycle: last + LATENCY - usize::from(used_up) }
}

macro_rules! bench {
    ($name:ident, $model:ty, $width:expr, $keep:ty) => {
        fn $name(seed: u64, strip: (bool, bool), start: u32, frames: &[Frame]) {
            let mut block = <$model>::new(PowerUp::Random(seed));
            let (mut wanted, mut seen, mut inside) = (Vec::new(), Vec::new(), Vec::new());
            let mut cycle = 0;
            let mut step = |beat: Option<(stream::Beat, bool)>, reset: bool| {
                let (beat, error) = beat.map_or((None, true), |(beat, error)| (Some(beat), error));
                // Between beats: a tag that must not be looked at.
                let shown = beat.unwrap_or(stream::Beat { bytes: [0x81; 64], keep: 1, last: true });
                block.set_reset(reset);
                block.set_wire_valid(beat.is_some());
                block.set_wire_data(Word::of(&shown.bytes));
                block.set_wire_keep(shown.keep as $keep);
                block.set_wire_last(shown.last);
                block.set_wire_error(error);
                block.set_strip_c(strip.0);
                block.set_strip_s(strip.1);
                block.set_now(start.wrapping_add(cycle as u32));
                block.eval();
                if !reset && block.s_valid() {
                    let count = (block.s_keep() as u64).count_ones() as usize;
                    assert_eq!(block.s_keep() as u64, keep(count), "keep has gaps");
                    assert!(count == $width || block.s_last(), "a short beat in the middle");
                    inside.extend_from_slice(&block.s_data().bytes()[..count]);
                    if block.s_last() {
                        seen.push(Out { bytes: std::mem::take(&mut inside), error: block.s_error(), info: block.s_info(), cycle });
                    }
                }
                block.set_clock(true);
                block.eval();
                block.set_clock(false);
                block.eval();
                cycle += 1;
                cycle - 1
            };
            step(None, true);
            step(None, true);
            for frame in frames {
                let mut gaps = frame.gaps.iter().copied().cycle();
                let (mut first, mut last) = (None, 0);
                for beat in beats(&frame.bytes, $width) {
                    for _ in 0..gaps.next().unwrap_or(0) {
                        step(None, false);
                    }
                    // An error counts with the last beat only.
                    last = step(Some((beat, frame.error || !beat.last)), false);
                    first.get_or_insert(last);
                }
                wanted.push(expected(frame, strip, $width, start, first.unwrap(), last));
            }
            for _ in 0..LATENCY {
                step(None, false);
            }
            drop(step);
            assert!(inside.is_empty(), "part of a frame is left over");
            assert_eq!(seen, wanted);
        }
    };
}

bench!(run_64, Strip64, 8, u8);
bench!(run_128, Strip128, 16, u16);
bench!(run_512, Strip512, 64, u64);

fn run(seed: u64, strip: (bool, bool), start: u32, frames: &[Frame]) {
    run_64(seed, strip, start, frames);
    run_128(seed, strip, start, frames);
    run_512(seed, strip, start, frames);
}

/// Numbered bytes with types written over them at 12, 16 and 20, as far as the frame reaches.
fn frame(length: usize, types: [u16; 3]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length.max(22)).map(|i| (i + length) as u8).collect();
    for (at, kind) in [12, 16, 20].into_iter().zip(types) {
        bytes[at..at + 2].copy_from_slice(&kind.to_be_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[test]
fn every_length_with_every_tag_back_to_back() {
    let types = [[0x8100, 0x0800, 0], [0x88A8, 0x8100, 0x0800], [0x8100, 0x8100, 0x8100], [0x0800, 0x8100, 0], [0x8101, 0x88A8, 0]];
    for gaps in [vec![], vec![0, 1], vec![2]] {
        let plain = |bytes: Vec<u8>| Frame { bytes, error: false, gaps: gaps.clone() };
        let mixed = (1..=150).flat_map(|length| types.map(|types| plain(frame(length, types))));
        let alike = (1..=150).flat_map(|length| [0; 3].map(|_| plain(frame(length, types[0]))));
        let frames: Vec<Frame> = mixed.chain(alike).collect();
        for strip in [(false, false), (true, false), (false, true), (true, true)] {
            run(1, strip, u32::MAX - 100, &frames);
        }
    }
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let kind = || prop_oneof![3 => Just(0x8100u16), 3 => Just(0x88A8), 1 => Just(0x0800), 1 => any::<u16>()];
    let length = prop_oneof![3 => 1usize..80, 2 => 60usize..140, 1 => 1500usize..1540];
    (length, [kind(), kind(), kind()], any::<bool>(), prop::collection::vec(0usize..3, 0..4))
        .prop_map(|(length, types, error, gaps)| Frame { bytes: frame(length, types), error, gaps })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_frames(seed: u64, strip: (bool, bool), start: u32, frames in prop::collection::vec(any_frame(), 1..40)) {
        run(seed, strip, start, &frames);
    }
}

//! PAUSE frames received and sent, against the frames and times that IEEE 802.3, annex 31B, asks for.
//!
//! Caught when tried: a quantum of one cycle too many; a data frame's second beat held.

mod stream;

use ferronic_bench::models::{pause_in::PauseIn, pause_out_128::PauseOut128, pause_out_512::PauseOut512, pause_out_64::PauseOut64};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use stream::{beats, keep, Beat, Word};

const OWN: [u8; 6] = [0x02, 0x11, 0x22, 0x33, 0x44, 0x55];
const GROUP: [u8; 6] = [0x01, 0x80, 0xC2, 0, 0, 1];
/// As `hw/src/flow/pause_in.rs` says.
const LATENCY: usize = 2;

fn own_mac() -> u64 {
    OWN.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// A PAUSE frame of 60 bytes.
fn pause(destination: [u8; 6], source: [u8; 6], quanta: u16) -> Vec<u8> {
    let mut frame = [&destination[..], &source, &[0x88, 0x08, 0, 1], &quanta.to_be_bytes()].concat();
    frame.resize(60, 0);
    frame
}

#[derive(Clone, Debug)]
struct Received {
    frame: Vec<u8>,
    stripped: bool,
    /// Cycles to the next frame.
    gap: usize,
}

fn is_pause(received: &Received) -> bool {
    let frame = &received.frame;
    frame.len() >= 18
        && !received.stripped
        && (frame[..6] == GROUP || frame[..6] == OWN)
        && frame[12..16] == [0x88, 0x08, 0, 1]
}

fn received() -> impl Strategy<Value = Received> {
    // Now and then one bit or the length is wrong.
    let flip = prop::option::weighted(0.4, (0usize..18, 0u8..8));
    let quanta = prop_oneof![1 => Just(0u16), 4 => 1u16..6, 1 => any::<u16>()];
    let length = prop_oneof![4 => Just(60usize), 1 => 14usize..20];
    (prop::sample::select(vec![GROUP, OWN]), quanta, flip, length, prop::bool::weighted(0.1), 0usize..60).prop_map(
        |(destination, quanta, flip, length, stripped, gap)| {
            let mut frame = pause(destination, [9; 6], quanta);
            if let Some((byte, bit)) = flip {
                frame[byte] ^= 1 << bit;
            }
            frame.truncate(length);
            Received { frame, stripped, gap }
        },
    )
}

fn run_in(seed: u64, honour: bool, cycles: u16, frames: &[Received]) {
    let mut block = PauseIn::new(PowerUp::Random(seed));
    let mut cycle = 0;
    // By cycle: whether a PAUSE frame is due; until when nothing may be sent, from when on.
    let (mut due, mut holds) = (vec![None; 2 + LATENCY], vec![(0, 0)]);
    let mut step = |received: Option<&Received>, reset: bool| {
        block.set_reset(reset);
        block.set_valid(received.is_some());
        let mut window = [0xFF; 64];
        // What is behind the end is left over from another PAUSE frame.
        window[..32].copy_from_slice(&pause(GROUP, [7; 6], 77)[..32]);
        let shown = received.map_or(&[][..], |received| &received.frame[..received.frame.len().min(32)]);
        window[..shown.len()].copy_from_slice(shown);
        block.set_window_low(Word::of(&window));
        block.set_length(received.map_or(60, |received| received.frame.len() as u16));
        block.set_stripped(received.is_some_and(|received| received.stripped));
        block.set_own_mac(own_mac());
        block.set_honour(honour);
        block.set_cycles(cycles);
        block.eval();
        if !reset {
            assert_eq!(block.out_valid().then(|| block.is_pause()), due[cycle], "cycle {cycle}");
            due.push(received.map(|received| honour && is_pause(received)));
            if let (true, Some(received)) = (due[cycle + LATENCY] == Some(true), received) {
                let quanta = usize::from(u16::from_be_bytes([received.frame[16], received.frame[17]]));
                let from = cycle + LATENCY + 1;
                holds.push((from, from + quanta * usize::from(cycles)));
            }
            let (_, until) = *holds.iter().rev().find(|(from, _)| *from <= cycle).unwrap();
            assert_eq!(block.hold(), cycle < until, "hold in cycle {cycle}");
        }
        block.set_clock(true);
        block.eval();
        block.set_clock(false);
        block.eval();
        cycle += 1;
    };
    step(None, true);
    step(None, true);
    for frame in frames {
        step(Some(frame), false);
        (0..frame.gap).for_each(|_| step(None, false));
    }
    (0..100).for_each(|_| step(None, false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn heeds_pause_frames(
        seed: u64, honour in prop::bool::weighted(0.9), cycles in 1u16..20,
        frames in prop::collection::vec(received(), 1..40),
    ) {
        run_in(seed, honour, cycles, &frames);
    }
}

/// What surrounds the sender in a cycle.
#[derive(Clone, Copy, Debug)]
struct World {
    hold: bool,
    send: bool,
    fill: u16,
    ready: bool,
    /// The sender has a beat to give, if it has a frame.
    give: bool,
}

const IDLE: World = World { hold: false, send: true, fill: 0, ready: true, give: true };
const HIGH: u16 = 100;
const LOW: u16 = 40;
const QUANTA: u16 = 0x0102;
const CYCLES: u16 = 2;

/// What left: the frame and the cycles of its first and last beat; what was given: the cycles of each first beat.
#[derive(Debug, Default)]
struct Traffic {
    out: Vec<(Vec<u8>, usize, usize)>,
    starts: Vec<usize>,
    sent: usize,
}

macro_rules! bench {
    ($name:ident, $model:ty, $width:expr, $keep:ty) => {
        fn $name(seed: u64, frames: &[Vec<u8>], worlds: impl Iterator<Item = World>) -> Traffic {
            let mut block = <$model>::new(PowerUp::Random(seed));
            let mut given = frames.iter().flat_map(|frame| {
                beats(frame, $width).into_iter().enumerate().map(|(i, beat)| (i == 0, beat))
            }).peekable();
            let (mut traffic, mut inside, mut first) = (Traffic::default(), Vec::new(), 0);
            let mut offered = false;
            for (cycle, world) in [IDLE, IDLE].into_iter().chain(worlds).enumerate() {
                let reset = cycle < 2;
                let none = Beat { bytes: [0; 64], keep: 1, last: true };
                // A beat that is offered stays until it is taken.
                offered = !reset && (offered || world.give) && given.peek().is_some();
                let (begins, beat) = given.peek().filter(|_| offered).map_or((false, none), |(begins, beat)| (*begins, *beat));
                block.set_reset(reset);
                block.set_in_valid(offered);
                block.set_in_data(Word::of(&beat.bytes));
                block.set_in_keep(beat.keep as $keep);
                block.set_in_last(beat.last);
                block.set_wire_ready(world.ready);
                block.set_hold(world.hold);
                block.set_send_enable(world.send);
                block.set_fill(world.fill);
                block.set_high(HIGH);
                block.set_low(LOW);
                block.set_quanta(QUANTA);
                block.set_cycles(CYCLES);
                block.set_own_mac(own_mac());
                block.eval();
                if !reset {
                    traffic.sent += usize::from(block.sent());
                    if block.wire_valid() && world.ready {
                        let count = (block.wire_keep() as u64).count_ones() as usize;
                        assert!(block.wire_keep() as u64 == keep(count) && (count == $width || block.wire_last()));
                        if inside.is_empty() {
                            first = cycle;
                        }
                        inside.extend_from_slice(&block.wire_data().bytes()[..count]);
                        if block.wire_last() {
                            traffic.out.push((std::mem::take(&mut inside), first, cycle));
                        }
                    }
                    if offered && block.in_ready() {
                        if begins {
                            assert!(!world.hold, "a frame begun in spite of hold");
                            traffic.starts.push(cycle);
                        }
                        given.next();
                        offered = false;
                    }
                }
                block.set_clock(true);
                block.eval();
                block.set_clock(false);
                block.eval();
            }
            assert!(inside.is_empty() && given.peek().is_none(), "not all was sent");
            traffic
        }
    };
}

bench!(out_64, PauseOut64, 8, u8);
bench!(out_128, PauseOut128, 16, u16);
bench!(out_512, PauseOut512, 64, u64);

type Run = fn(u64, &[Vec<u8>], &mut dyn Iterator<Item = World>) -> Traffic;

const WIDTHS: [(usize, Run); 3] = [
    (8, |seed, frames, worlds| out_64(seed, frames, worlds)),
    (16, |seed, frames, worlds| out_128(seed, frames, worlds)),
    (64, |seed, frames, worlds| out_512(seed, frames, worlds)),
];

fn numbered(lengths: &[usize]) -> Vec<Vec<u8>> {
    lengths.iter().enumerate().map(|(n, length)| (0..*length).map(|i| (n + i) as u8 | 0x40).collect()).collect()
}

#[test]
fn passes_a_beat_a_cycle() {
    let frames = numbered(&[60, 64, 1514, 61, 1, 8, 128, 60, 60, 60]);
    for (width, run) in WIDTHS {
        let traffic = run(1, &frames, &mut std::iter::repeat(IDLE).take(400));
        let mut next = traffic.out[0].1;
        for ((frame, first, last), given) in traffic.out.iter().zip(&frames) {
            let count = given.len().div_ceil(width);
            assert_eq!((frame, *first, *last), (given, next, next + count - 1));
            next += count;
        }
        assert_eq!((traffic.out.len(), traffic.sent), (frames.len(), 0));
        // From the sender's side too: one register.
        assert_eq!(traffic.out.iter().map(|(_, first, _)| first - 1).collect::<Vec<_>>(), traffic.starts);
    }
}

/// On an idle wire: at the mark, each half of the time, and an end to it once.
#[test]
fn asks_and_asks_again_and_takes_back() {
    let half = usize::from(QUANTA) * usize::from(CYCLES) / 2;
    for (_, run) in WIDTHS {
        let fill = |cycle: usize| match cycle {
            0..100 => HIGH - 1,
            100..105 => HIGH,
            // Between the marks it goes on asking.
            105..1000 => LOW + 1,
            1000..1300 => LOW,
            1300..1500 => HIGH - 1,
            _ => u16::MAX,
        };
        let mut worlds = (0..1600).map(|cycle| World { fill: fill(cycle), ..IDLE });
        let traffic = run(2, &[], &mut worlds);
        let asked: Vec<_> = traffic.out.iter().map(|(frame, first, _)| (frame.clone(), *first)).collect();
        let begin = asked[0].1;
        assert!((102..110).contains(&begin), "first asked in cycle {begin}");
        let ask = |n: usize| (pause(GROUP, OWN, QUANTA), begin + n * (half + 2));
        let back = (pause(GROUP, OWN, 0), begin + 900);
        let again = (pause(GROUP, OWN, QUANTA), begin + 1400);
        assert_eq!(asked, [ask(0), ask(1), ask(2), ask(3), back, again]);
        assert_eq!(traffic.sent, asked.len());
    }
}

/// A PAUSE frame waits for the frame before it, goes before the next, and is not held.
#[test]
fn goes_between_frames_and_in_spite_of_hold() {
    let frames = numbered(&[1514, 60, 60]);
    for (_, run) in WIDTHS {
        let mut worlds = (0..800).map(|cycle| World { fill: if cycle >= 5 { HIGH } else { 0 }, hold: (10..500).contains(&cycle), ..IDLE });
        let traffic = run(3, &frames, &mut worlds);
        let out: Vec<_> = traffic.out.iter().map(|(frame, ..)| frame.clone()).collect();
        let ask = pause(GROUP, OWN, QUANTA);
        assert_eq!(out[..3], [frames[0].clone(), ask.clone(), ask.clone()]);
        let data: Vec<_> = out.iter().filter(|frame| **frame != ask).cloned().collect();
        assert_eq!(data, frames);
        assert_eq!(traffic.starts[1], 2 + 500, "begun as soon as it may");
        assert_eq!(traffic.out[1].1, traffic.out[0].2 + 1, "no cycle lost before a PAUSE frame");
    }
}

fn world() -> impl Strategy<Value = Vec<World>> {
    let fill = prop_oneof![Just(LOW), Just(LOW + 1), Just(HIGH - 1), Just(HIGH), any::<u16>()];
    (any::<bool>(), prop::bool::weighted(0.9), fill, prop::collection::vec(prop::bool::weighted(0.8), 1..60), prop::bool::weighted(0.8))
        .prop_map(|(hold, send, fill, ready, give)| ready.into_iter().map(|ready| World { hold, send, fill, ready, give }).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]
    /// Frames arrive whole and in order, whatever goes on around them; no other PAUSE frame than the two there are.
    #[test]
    fn loses_nothing(
        seed: u64, lengths in prop::collection::vec(prop_oneof![1usize..200, 1500usize..1515], 0..20),
        worlds in prop::collection::vec(world(), 1..20),
    ) {
        let frames = numbered(&lengths);
        let tail = std::iter::repeat(World { send: false, ..IDLE }).take(5000);
        for (_, run) in WIDTHS {
            let traffic = run(seed, &frames, &mut worlds.iter().flatten().copied().chain(tail.clone()));
            let (pauses, data): (Vec<_>, Vec<_>) =
                traffic.out.iter().map(|(frame, ..)| frame).partition(|frame| frame.starts_with(&GROUP));
            prop_assert_eq!(data, frames.iter().collect::<Vec<_>>());
            prop_assert_eq!(pauses.len(), traffic.sent);
            let (ask, back) = (pause(GROUP, OWN, QUANTA), pause(GROUP, OWN, 0));
            prop_assert!(pauses.iter().all(|frame| **frame == ask || **frame == back));
        }
    }
}

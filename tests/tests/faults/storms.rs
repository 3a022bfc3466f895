//! Runs of the whole system under a link that stalls, splits, reorders and is short of credits.

use crate::frame;
use crate::live::config;
use ferronic_pcie::{Credits, Settings, Splits};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_128::NicCore128;
use ferronic_sim::report::Report;
use ferronic_sim::run::{run, Direction, Run, Watcher};
use ferronic_sim::wire::{Frame, Pace, Rate};

fn must_run<M: CoreModel<B> + 'static, const B: usize>(what: &Run, frames: Vec<Vec<u8>>) -> Report {
    let frames = frames.into_iter().enumerate().map(|(n, bytes)| Frame::new(bytes, "storm".into(), n));
    let mut watcher = Watcher { progress: &mut |_| {}, frame: None };
    let report = run::<M, B>(what, frames, &mut watcher).expect("it runs");
    assert_eq!(report.mismatches, 0, "{what:?}: {:?}", report.mismatch_texts, what = what.pcie);
    report
}

/// Few credits, random stalls, gaps, splits, order and delays.
fn storm(seed: u64) -> Settings {
    let mut rng = fastrand::Rng::with_seed(seed);
    Settings {
        link: "gen2x2".parse().expect("a link"),
        splits: Splits::Random,
        reorder: true,
        host_jitter_ns: rng.u32(0..3000),
        tx_stall_permille: rng.u16(0..=500),
        rx_gap_permille: rng.u16(0..=1000),
        transmit_buffer: rng.u32(64..2048),
        read_completion_boundary: if rng.bool() { 64 } else { 128 },
        credits: Credits {
            posted_headers: rng.u32(1..8),
            // A TLP of 256 bytes needs 16.
            posted_data: rng.u32(16..64),
            nonposted_headers: rng.u32(1..6),
        },
        device_credits: Credits { posted_headers: 1, posted_data: 1, nonposted_headers: 1 },
        seed,
        ..Settings::default()
    }
}

fn lengths(seed: u64, count: usize, longest: usize) -> Vec<usize> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| if rng.bool() { rng.usize(60..200) } else { rng.usize(60..=longest) }).collect()
}

fn frames(lengths: Vec<usize>) -> Vec<Vec<u8>> {
    lengths.into_iter().enumerate().map(|(n, length)| frame(length, n)).collect()
}

/// Catches: a TLP begun without room for all of it; a stream that changes while it is stalled; a read sent without
/// `np_ready`; completions of two tags mixed up when split and reordered; a tag used again while its data waits.
#[test]
fn credits_that_run_out_in_the_middle_of_a_burst_harm_nothing() {
    let mut delivered = 0;
    for seed in 1..=10 {
        let what = Run {
            driver: config(64),
            pcie: storm(seed),
            pace: Pace { rate: Rate::MegabitsPerSecond(400), burst: 8 },
            direction: Direction::Echo,
            ..Run::default()
        };
        let report = must_run::<NicCore, 8>(&what, frames(lengths(seed, 150, 1518)));
        assert_eq!(report.frames_sent, report.frames_delivered, "seed {seed}");
        delivered += report.frames_delivered;
    }
    assert!(delivered > 1000, "only {delivered} of 1500 frames got through");
}

/// Catches: an output that depends on a register without a reset value.
#[test]
fn any_power_up_state_works() {
    for seed in 100..105 {
        let what = Run {
            driver: config(16),
            pcie: Settings { seed, ..Settings::default() },
            pace: Pace { rate: Rate::MegabitsPerSecond(300), burst: 1 },
            direction: Direction::Echo,
            ..Run::default()
        };
        let report = must_run::<NicCore, 8>(&what, frames(lengths(seed, 60, 1518)));
        assert_eq!((report.frames_delivered, report.frames_sent), (60, 60), "seed {seed}");
    }
}

/// Catches: lanes that only a wide stream has: last-beat keep, headers of 3 and 4 dwords in one beat with data, the
/// second half of a beat lost.
#[test]
fn the_128_bit_core_echoes_frames_of_any_size() {
    for seed in 1..=3 {
        let what = Run {
            driver: config(64),
            pcie: Settings { splits: Splits::Random, reorder: true, host_jitter_ns: 500, seed, ..Settings::default() },
            pace: Pace { rate: Rate::MegabitsPerSecond(400), burst: 1 },
            direction: Direction::Echo,
            ..Run::default()
        };
        let report = must_run::<NicCore128, 16>(&what, frames(lengths(seed, 120, 9600)));
        assert_eq!((report.frames_delivered, report.frames_sent), (120, 120), "seed {seed}");
    }
    // Frames under 60 bytes only a driver can make: the wire pads.
    let what = Run { driver: config(64), direction: Direction::Send, ..Run::default() };
    let sizes: Vec<usize> = (14..80).chain([127, 129, 1517, 4095, 4097, 9599, 9600]).collect();
    let count = sizes.len() as u64;
    for width in [8, 16] {
        let frames = frames(sizes.clone());
        let report = if width == 8 { must_run::<NicCore, 8>(&what, frames) } else { must_run::<NicCore128, 16>(&what, frames) };
        assert_eq!(report.frames_sent, count, "{width} bytes a beat");
    }
}

/// Catches: `<` for `<=` in the length check, in RTL or model; a limit that counts the FCS.
#[test]
fn max_frame_is_exact() {
    for max_frame in [60, 61, 64, 1518, 9600] {
        let mut driver = config(16);
        driver.max_frame = max_frame;
        let limit = usize::from(max_frame);
        let what = Run { driver, pace: Pace { rate: Rate::MegabitsPerSecond(300), burst: 1 }, ..Run::default() };
        let sizes = [limit - 1, limit, limit + 1, limit, limit + 8, limit + 64, limit];
        let report = must_run::<NicCore, 8>(&what, frames(sizes.to_vec()));
        let over = sizes.iter().filter(|&&size| size.max(60) > limit).count() as u64;
        assert_eq!(report.frames_dropped.get("oversize").copied(), Some(over), "{max_frame}: {:?}", report.frames_dropped);
        assert_eq!(report.frames_delivered, sizes.len() as u64 - over);
    }
}

/// Catches: a drop that uses the descriptor up (a hole in the ring, after which completions and buffers disagree), or
/// that writes the first part of the frame over the buffer's end; `<` for `<=` in the check.
#[test]
fn a_frame_longer_than_its_buffer_is_dropped_and_leaves_no_hole() {
    for (ring, buffer_bytes) in [(8, 512), (16, 1001)] {
        let mut driver = config(ring);
        (driver.buffer_bytes, driver.max_frame) = (buffer_bytes, 1518);
        let what = Run { driver, pace: Pace { rate: Rate::MegabitsPerSecond(300), burst: 1 }, ..Run::default() };
        let edge = usize::from(buffer_bytes);
        let mut rng = fastrand::Rng::with_seed(1);
        let sizes: Vec<usize> =
            (0..200).map(|_| [60, edge - 1, edge, edge + 1, edge + 8, 1518][rng.usize(0..6)]).collect();
        let over = sizes.iter().filter(|&&size| size > edge).count() as u64;
        let report = must_run::<NicCore, 8>(&what, frames(sizes));
        assert_eq!(report.frames_dropped.values().sum::<u64>(), over, "{:?}", report.frames_dropped);
        assert_eq!(report.frames_delivered, 200 - over);
        assert_eq!(report.counters.get("rx0.DROP_BUFFER").copied().unwrap_or(0) as u64, over, "{:?}", report.counters);
    }
}

//! Where the bytes of frames land: alignment, boundaries, payload size, back-pressure. Every byte exactly once at its
//! address, by memory writes that keep the rules of PCIe (see `rx_support`).
//!
//! Caught when tried: a rotation by one byte too many; the word before the chunk not skipped; chunks of MPS from the
//! buffer's start instead of its multiples; `last_be` without the start's alignment; the data FIFO read too far
//! ahead; a completion released with each chunk; the room of a dropped frame not given back.

mod rx_support;

use ferronic_bench::models::{rx_path_128::RxPath128, rx_path_64::RxPath64};
use rx_support::{frame, Frame, Path, Random, World, DEPTH};

/// Frames of every length from 14 to 200, at every alignment in turn, some of them over a page boundary.
fn every_length<P: Path>(mps: u8, pay_ready: u64) {
    let mut world = World::<P>::new(u64::from(mps) << 8 | pay_ready);
    world.settings.mps = mps;
    (world.pay_ready, world.done_ready) = (pay_ready, 50);
    let mut random = Random(7);
    for length in 14..=200 {
        let place = 0x10_0000 * length as u64 + 0x1000 - random.below(220);
        world.post(place, 0, 200, 1);
        world.to_send.push_back(frame(&mut random, length));
    }
    world.drain(200_000);
    assert_eq!(world.tally.frame, 187);
}

#[test]
fn every_length_lands_whole() {
    for (mps, pay_ready) in [(0, 100), (1, 30), (2, 100), (2, 70)] {
        every_length::<RxPath64>(mps, pay_ready);
        every_length::<RxPath128>(mps, pay_ready);
    }
}

/// Every alignment of the buffer within a payload, for lengths around one and two payloads.
fn every_alignment<P: Path>(mps: u8) {
    let mut world = World::<P>::new(11);
    world.settings.mps = mps;
    let mut random = Random(13);
    let limit = 128usize << mps;
    for offset in (0..limit as u64).step_by(if mps == 0 { 1 } else { 3 }) {
        for length in [14, 60, limit - 1, limit, limit + 1, 2 * limit + 5] {
            world.post(0xFFFF_0000_0000 + 0x1_0000 * world.cycle + offset, 0, 2048, 1);
            world.to_send.push_back(frame(&mut random, length));
            world.drain(3000);
        }
    }
}

#[test]
fn every_alignment_lands_whole() {
    for mps in 0..3 {
        every_alignment::<RxPath64>(mps);
        every_alignment::<RxPath128>(mps);
    }
}

/// Jumbo frames, again and again around the ring of the packet FIFO, below and above 4 GiB.
fn jumbo<P: Path>(pay_ready: u64) {
    let mut world = World::<P>::new(pay_ready);
    world.settings.mps = 2;
    world.pay_ready = pay_ready;
    let mut random = Random(17);
    for pass in 0..12u64 {
        let base = if pass % 2 == 0 { 0xFFFF_C000 - 0x10_0000 * pass } else { 0x2_0000_0000 * pass };
        world.post(base + random.below(4096), 0x4000, 9600, 3);
        for length in [9600, 9593 - pass as usize, 4096] {
            world.to_send.push_back(frame(&mut random, length));
        }
        world.drain(60_000);
    }
    assert_eq!(world.tally.frame, 36);
    assert!(36 * 7000 > 6 * DEPTH, "the ring went round");
}

#[test]
fn jumbo_frames_land_whole() {
    jumbo::<RxPath64>(100);
    jumbo::<RxPath64>(45);
    jumbo::<RxPath128>(100);
    jumbo::<RxPath128>(45);
}

/// A frame longer than the buffer is dropped, the descriptor serves the next, and the room comes back.
fn too_long<P: Path>() {
    let mut world = World::<P>::new(19);
    let mut random = Random(23);
    for pass in 0..60 {
        world.post(0x10_0000 * (pass + 1) + pass, 0x1000, 1000, 2);
        for length in [1001, 1000, 3000, 1500, 999] {
            world.to_send.push_back(frame(&mut random, length));
        }
        world.drain(5000);
    }
    assert_eq!((world.tally.buffer, world.tally.frame), (180, 120));
    // Far more than the packet FIFO holds, with no frame between them that fits.
    world.post(0x9000_0000, 0, 40, 1);
    let frames = (0..100).map(|_| Frame { gap: 30, ..frame(&mut random, 1500) });
    world.to_send.extend(frames);
    world.drain(60_000);
    assert_eq!((world.tally.buffer, world.tally.fifo), (280, 0));
}

#[test]
fn a_frame_longer_than_its_buffer_leaves_the_buffer() {
    too_long::<RxPath64>();
    too_long::<RxPath128>();
}

/// Cycles a frame when 300 of them are stored and descriptors and writes never wait.
fn pace<P: Path>(length: usize, offset: u64) -> u64 {
    let mut world = World::<P>::new(29);
    world.settings.mps = 2;
    let mut random = Random(31);
    (0..300).for_each(|_| world.to_send.push_back(frame(&mut random, length)));
    while world.tally.frame_in < 300 {
        world.step();
    }
    world.post(0x10_0000 + offset, 0x800, 2048, 300);
    let start = world.cycle;
    while world.tally.frame < 300 {
        world.step();
    }
    let cycles = (world.cycle - start) / 300;
    world.drain(2000);
    println!("{} bytes a beat: {cycles} cycles for a frame of {length} bytes at offset {offset}", P::BYTES);
    cycles
}

#[test]
fn small_frames_keep_up_with_the_wire() {
    assert!(pace::<RxPath64>(60, 0) <= 10);
    assert!(pace::<RxPath64>(60, 2) <= 11);
    assert!(pace::<RxPath128>(60, 2) <= 10);
}

//! What becomes of each frame, in which buffers its bytes land, and how fast: see `delivery_world`.
//!
//! Caught when tried: a refused frame's descriptor that does not come back, or that a queue that went down keeps; the
//! second descriptor of a split frame taken though the payload does not fit it; chunks of MPS from the buffer's
//! start instead of its multiples.

mod delivery_world;
mod tlp;

use delivery_world::{plan, Delivery, Fate, Frame, Queue, World, QUEUES};
use ferronic_bench::models::delivery_128::Delivery128;
use ferronic_bench::models::delivery_256::Delivery256;
use ferronic_bench::models::delivery_512::Delivery512;
use ferronic_bench::models::delivery_64::Delivery64;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::RxDescriptor;
use ferronic_contract::registers::queue::Split;
use ferronic_contract::status::{self, Status};
use std::collections::VecDeque;
use tlp::Random;

fn frame(random: &mut Random, queue: usize, length: usize) -> Frame {
    let header = random.below(2 * length as u64).min(1000) as u16;
    let status = Status(random.next() as u32 & 0x3F9F_FFFF)
        .with(status::L3, random.below(5) as u32)
        .with(status::L4, random.below(6) as u32)
        .with(status::SOP, 0)
        .with(status::EOP, 0)
        .with(status::SPLIT, 0)
        .with(status::ERROR, 0);
    let about = RxCompletion {
        length: length as u16,
        header_length: header,
        protocol: random.next() as u16,
        vlan_tci: random.next() as u16,
        status,
        rss_hash: random.next() as u32,
        raw_checksum: random.next() as u16,
        timestamp: random.next() as u32,
        l3_offset: [0, 14, 18, 22][random.below(4) as usize],
        rss_type: random.below(7) as u8,
        ..Default::default()
    };
    Frame {
        bytes: random.bytes(length),
        about,
        l4_offset: random.below(120) as u8,
        rss: random.percent(50),
        queue,
        tag: random.percent(40).then(|| random.next() as u16),
        ..Default::default()
    }
}

fn length(random: &mut Random) -> usize {
    match random.below(10) {
        0..=4 => 14 + random.below(120) as usize,
        5..=8 => 14 + random.below(1600) as usize,
        _ => 14 + random.below(9587) as usize,
    }
}

fn size(random: &mut Random) -> u16 {
    match random.below(8) {
        0 => 1 + random.below(70) as u16,
        1..=3 => 64 + random.below(300) as u16,
        _ => 1000 + random.below(1200) as u16,
    }
}

/// Random frames for queues of every kind, descriptors that come late, writes and completions that are held up.
fn random_frames<D: Delivery>(seed: u64, frames: usize) {
    let mut world = World::<D>::new(seed);
    let mut random = Random(seed ^ 0xD31);
    let pace = random.below(4);
    world.mps = random.below(4) as u8;
    world.pay_ready = [100, 100, 60, 25][random.below(4) as usize];
    world.room = [100, 70][random.below(2) as usize];
    world.show = [100, 60][random.below(2) as usize];
    for queue in &mut world.queues {
        queue.active = !random.percent(10);
        queue.scatter = random.percent(60);
        queue.split = [Split::Off, Split::Off, Split::L2, Split::L3, Split::L4, Split::Fixed][random.below(6) as usize];
        queue.split_bytes = 1 + random.below(300) as u16;
    }
    // The descriptors that the frames need, not posted yet.
    let mut plans: Vec<Queue> = world.queues.clone();
    let mut supply: VecDeque<(usize, RxDescriptor)> = VecDeque::new();
    let (mut due, mut used) = (Vec::new(), Vec::new());
    for _ in 0..frames {
        let queue = random.below([2, QUEUES as u64][usize::from(seed % 2 == 1)]) as usize;
        let length = length(&mut random);
        let mut frame = frame(&mut random, queue, length);
        frame.pause = random.percent(4);
        frame.drop = random.percent(8);
        let fate = loop {
            match plan(&frame, &plans[queue]) {
                Fate::Drop(3) | Fate::Buffers(_, _, true) => {
                    let offset = random.below(4096);
                    let size = size(&mut random);
                    let descriptor = world.buffer(size, offset);
                    plans[queue].descriptors.push_back(descriptor);
                    supply.push_back((queue, descriptor));
                }
                fate => break fate,
            }
        };
        if let Fate::Buffers(buffers, ..) = &fate {
            used.extend(plans[queue].descriptors.drain(..buffers.len()).map(|descriptor| (queue, descriptor.cookie)));
        }
        due.push((queue, fate));
        world.to_send.push_back(frame);
    }
    let mut cycles = 0;
    while world.fates.len() < frames {
        if cycles % (1 << (2 * pace)) == 0 {
            if let Some((queue, descriptor)) = supply.pop_front() {
                world.post(queue, descriptor);
            }
        }
        world.step();
        cycles += 1;
        assert!(cycles < 100_000 + 3000 * frames, "stuck after {} of {frames} frames", world.fates.len());
    }
    world.drain(100_000);
    assert_eq!(world.fates, due);
    let cookies: Vec<_> = world.completions.iter().map(|(queue, completion)| (*queue, completion.cookie)).collect();
    assert_eq!(cookies, used);
    for (i, queue) in world.queues.iter().enumerate() {
        let delivered = due.iter().filter(|(q, fate)| *q == i && matches!(fate, Fate::Buffers(..))).count();
        assert_eq!(queue.count[6], delivered as u64, "frames of queue {i}");
        assert!(queue.starved >= queue.count[7]);
    }
}

#[test]
fn each_frame_meets_its_fate_and_every_byte_its_place() {
    for seed in 0..12 {
        random_frames::<Delivery64>(seed, 300);
        random_frames::<Delivery128>(seed, 300);
        random_frames::<Delivery256>(seed, 300);
        random_frames::<Delivery512>(seed, 300);
    }
}

/// A world of one width for the directed cases, which are the same at all.
fn world() -> (World<Delivery64>, Random) {
    (World::new(5), Random(6))
}

fn post(world: &mut World<Delivery64>, queue: usize, sizes: &[u16]) {
    for size in sizes {
        let descriptor = world.buffer(*size, 2);
        world.post(queue, descriptor);
    }
}

/// Cycles until so many frames have met their fate.
fn until(world: &mut World<Delivery64>, fates: usize) -> u64 {
    let start = world.cycle;
    while world.fates.len() < fates {
        assert!(world.cycle - start < 5000, "{} of {fates}", world.fates.len());
        world.step();
    }
    world.cycle - start
}

#[test]
fn a_queue_without_descriptors_is_dry_after_hold_and_blocks_nobody() {
    let (mut world, mut random) = world();
    world.hold = 200;
    for queue in [3, 3, 5, 3, 5, 3] {
        world.to_send.push_back(frame(&mut random, queue, 60));
    }
    post(&mut world, 5, &[100, 100]);
    assert!((200..=212).contains(&until(&mut world, 1)), "the first waits for HOLD");
    assert!(until(&mut world, 6) < 40, "the others do not");
    assert_eq!((world.queues[3].count[3], world.queues[3].count[7], world.queues[5].count[7]), (4, 1, 0));
    assert!((200..=206).contains(&world.queues[3].starved));
    // A descriptor ends it.
    post(&mut world, 3, &[100]);
    world.to_send.push_back(frame(&mut random, 3, 60));
    world.to_send.push_back(frame(&mut random, 3, 60));
    assert!(until(&mut world, 7) < 20);
    assert!((200..=212).contains(&until(&mut world, 8)), "it waits anew");
    assert_eq!(world.fates[6], (3, Fate::Buffers(vec![60], false, false)));
    // Going down does too.
    world.queues[3].active = false;
    (0..3).for_each(|_| world.step());
    world.queues[3].active = true;
    world.to_send.push_back(frame(&mut random, 3, 60));
    assert!((200..=212).contains(&until(&mut world, 9)));
    world.drain(100);
}

#[test]
fn without_hold_a_frame_waits_for_ever_or_until_the_queue_goes_down() {
    let (mut world, mut random) = world();
    world.to_send.push_back(frame(&mut random, 9, 60));
    (0..3000).for_each(|_| world.step());
    assert!(world.fates.is_empty() && world.queues[9].starved > 2980);
    world.queues[9].active = false;
    assert!(until(&mut world, 1) < 6);
    assert_eq!(world.fates, [(9, Fate::Drop(2))]);
    world.drain(100);
}

#[test]
fn a_frame_whose_next_buffer_does_not_come_is_cut_short() {
    for down in [false, true] {
        let (mut world, mut random) = world();
        world.queues[1].scatter = true;
        world.hold = if down { 0 } else { 100 };
        post(&mut world, 1, &[50, 200]);
        world.to_send.push_back(frame(&mut random, 1, 300));
        world.to_send.push_back(frame(&mut random, 2, 60));
        post(&mut world, 2, &[60]);
        (0..60).for_each(|_| world.step());
        assert!(world.fates.is_empty());
        assert_eq!(world.completions.len(), 1, "the last buffer waits");
        world.queues[1].active = !down;
        until(&mut world, 2);
        let cut = Fate::Buffers(vec![50, 200], false, true);
        assert_eq!(world.fates, [(1, cut), (2, Fate::Buffers(vec![60], false, false))]);
        world.drain(300);
        assert_eq!((world.queues[1].count[5], world.queues[1].count[6], world.queues[1].count[7]), (1, 1, 1));
    }
}

#[test]
fn a_refused_frame_leaves_both_descriptors_to_the_next() {
    let (mut world, mut random) = world();
    world.queues[0].split = Split::Fixed;
    world.queues[0].split_bytes = 40;
    post(&mut world, 0, &[64, 100]);
    for length in [141, 500, 140] {
        world.to_send.push_back(frame(&mut random, 0, length));
    }
    world.drain(500);
    assert_eq!(world.fates, [(0, Fate::Drop(4)), (0, Fate::Drop(4)), (0, Fate::Buffers(vec![40, 100], true, false))]);
    assert_eq!(world.queues[0].count[4], 2);
}

#[test]
fn a_queue_that_goes_down_forgets_the_descriptor_that_came_back() {
    let (mut world, mut random) = world();
    post(&mut world, 7, &[50]);
    world.to_send.push_back(frame(&mut random, 7, 60));
    world.drain(500);
    assert_eq!(world.fates, [(7, Fate::Drop(4))]);
    world.queues[7].active = false;
    world.queues[7].descriptors.clear();
    (0..2).for_each(|_| world.step());
    world.queues[7].active = true;
    post(&mut world, 7, &[70]);
    world.to_send.push_back(frame(&mut random, 7, 60));
    world.drain(500);
    assert_eq!(world.fates[1], (7, Fate::Buffers(vec![60], false, false)));
}

#[test]
fn a_buffer_of_no_bytes_takes_nothing() {
    let (mut world, mut random) = world();
    world.queues[0].scatter = true;
    post(&mut world, 0, &[50, 0, 100]);
    for _ in 0..2 {
        world.to_send.push_back(frame(&mut random, 0, 60));
    }
    world.drain(500);
    assert_eq!(world.fates, [(0, Fate::Buffers(vec![50], false, true)), (0, Fate::Drop(4))]);
}

/// Cycles that `frames` frames of a length take when nothing else waits.
fn pace<D: Delivery>(frames: u64, length: usize, offset: u64) -> f64 {
    let mut world = World::<D>::new(8);
    let mut random = Random(9);
    world.mps = 1;
    for _ in 0..frames {
        let descriptor = world.buffer(16000, offset);
        world.post(4, descriptor);
        world.to_send.push_back(frame(&mut random, 4, length));
    }
    let start = world.cycle;
    while !world.drained() {
        world.step();
    }
    let cycles = (world.cycle - start) as f64 / frames as f64;
    println!("{:3} bytes a beat: {cycles:.2} cycles for a frame of {length} bytes at offset {offset}", D::BYTES);
    cycles
}

#[test]
fn small_frames_take_two_cycles_and_large_ones_a_beat_a_cycle() {
    assert!(pace::<Delivery512>(500, 60, 0) < 2.1);
    assert!(pace::<Delivery512>(500, 60, 64) < 2.1);
    assert!(pace::<Delivery512>(500, 60, 2) < 2.1);
    assert!(pace::<Delivery256>(500, 60, 0) < 2.1);
    assert!(pace::<Delivery256>(500, 60, 2) < 3.1);
    assert!(pace::<Delivery128>(500, 60, 0) < 4.1);
    assert!(pace::<Delivery128>(500, 60, 2) < 5.1);
    assert!(pace::<Delivery64>(500, 60, 0) < 8.1);
    assert!(pace::<Delivery64>(500, 60, 2) < 9.1);
    assert!(pace::<Delivery512>(100, 9014, 0) < 143.0);
    assert!(pace::<Delivery512>(100, 1514, 2) < 34.0);
    assert!(pace::<Delivery64>(50, 1514, 0) < 192.0);
}

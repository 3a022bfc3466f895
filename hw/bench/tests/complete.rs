//! Completion write-back: every word, slot and phase in the three formats, what shares a line, when a batch begins,
//! the producer index, and the way down. See `complete_world`.
//!
//! Caught when tried: `producer` ahead of the index write; the second completion of a line with the index of the first;
//! the turn that stays with the highest queue; a batch that does not end when others have joined its last line.

mod complete_world;
mod tlp;

use complete_world::{Block, World};
use ferronic_bench::models::complete::Complete;
use ferronic_bench::models::complete_1::Complete1;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::ring::RingSize;

const FORMATS: [Format; 3] = [Format::Full, Format::CompactHash, Format::CompactTag];

/// Random settings, traffic and pauses; in the end all queues go down.
fn random<B: Block>(seed: u64, cycles: u64) -> usize {
    let mut world = World::<B>::new(seed);
    for i in 0..B::QUEUES {
        let ring = RingSize::new(8 << world.random.below(13)).unwrap();
        let (wthresh, wtimer) = (1 + world.random.below(8) as u8, world.random.below(60) as u32);
        let format = FORMATS[world.random.below(3) as usize];
        let index = world.random.percent(50).then(|| 0x7000_0000_0004 + 8 * i as u64);
        let queue = &mut world.queues[i];
        (queue.ring, queue.wthresh, queue.wtimer, queue.format, queue.index) = (ring, wthresh, wtimer, format, index);
    }
    let chances = [10, 50, 100];
    let [give, gone, ready] = std::array::from_fn(|_| chances[world.random.below(3) as usize]);
    for _ in 0..cycles {
        let queue = world.random.below(B::QUEUES as u64) as usize;
        let other = world.random.below(B::QUEUES as u64) as usize;
        let give = world.random.percent(give).then_some(queue);
        let gone = world.random.percent(gone).then_some(other);
        let ready = world.random.percent(ready);
        world.step(give, gone, ready);
    }
    for i in 0..B::QUEUES {
        world.release(i, 20);
    }
    let written = world.writes.iter().map(|(_, count)| count).sum();
    world.queues.iter_mut().for_each(|queue| queue.enable = false);
    world.take_all(400);
    for queue in &world.queues {
        assert!(queue.given.is_empty(), "left behind: {queue:?}");
        assert_eq!(queue.written, 0, "the index returns to 0");
    }
    written
}

#[test]
fn each_completion_is_written_once_in_order_with_every_word() {
    for seed in 0..60 {
        assert!(random::<Complete>(seed, 3000) > 100);
        assert!(random::<Complete1>(seed, 3000) > 100);
    }
}

#[test]
fn index_slot_and_phase_hold_over_the_wrap_of_the_index() {
    for (ring, format) in [(8, Format::Full), (32768, Format::CompactTag)] {
        let mut world = World::<Complete1>::new(3);
        (world.queues[0].ring, world.queues[0].format) = (RingSize::new(ring).unwrap(), format);
        let mut written = 0;
        while written < 70_000 {
            world.step(Some(0), Some(0), true);
            written += world.writes.drain(..).map(|(_, count)| count).sum::<usize>();
        }
    }
}

#[test]
fn a_batch_waits_for_its_threshold_and_shares_lines() {
    for (format, line) in [(Format::Full, 2), (Format::CompactHash, 4)] {
        for wthresh in 1..=8 {
            let mut world = World::<Complete>::new(4);
            let queue = &mut world.queues[2];
            (queue.wthresh, queue.wtimer, queue.format) = (wthresh as u8, 100_000, format);
            world.give(2, 8);
            for _ in 1..wthresh {
                world.release(2, 1);
                world.quiet(30);
            }
            world.release(2, 1);
            assert!(world.wait(20) <= 13);
            let mut due = vec![(2, line); wthresh / line];
            due.extend((wthresh % line > 0).then_some((2, wthresh % line)));
            assert_eq!(world.take_all(60), due, "the whole batch and no more");
        }
    }
}

#[test]
fn a_batch_takes_into_its_last_line_what_has_joined_meanwhile() {
    let mut world = World::<Complete>::new(4);
    (world.queues[0].wthresh, world.queues[0].wtimer) = (3, 100_000);
    world.queues[0].index = Some(0x8000);
    world.give(0, 8);
    world.release(0, 3);
    world.release(0, 4);
    // The second line finds four.
    assert_eq!(world.take_all(60), [(0, 2), (0, 2), (0, 0), (0, 2), (0, 1), (0, 0)]);
}

#[test]
fn the_timer_runs_from_the_first_completion() {
    for wtimer in [0, 1, 7, 300] {
        let mut world = World::<Complete>::new(5);
        (world.queues[1].wthresh, world.queues[1].wtimer) = (8, wtimer);
        for _ in 0..2 {
            world.give(1, 2);
            world.quiet(500);
            world.release(1, 1);
            let start = world.cycle;
            if wtimer > 10 {
                world.quiet(u64::from(wtimer / 2));
                world.release(1, 1);
            }
            world.wait(1000);
            let waited = world.cycle - start;
            assert!((u64::from(wtimer)..=u64::from(wtimer) + 12).contains(&waited), "{waited} cycles for {wtimer}");
            world.release(1, 1);
            world.take_all(u64::from(wtimer) + 30);
            assert!(world.queues[1].given.is_empty());
        }
    }
}

#[test]
fn a_full_queue_does_not_wait_and_does_not_stop_another() {
    let mut world = World::<Complete>::new(6);
    for queue in &mut world.queues {
        (queue.wthresh, queue.wtimer) = (255, 0xFF_FFFF);
    }
    let mut given = 0;
    for _ in 0..60 {
        given += usize::from(world.can_give(3));
        world.step(Some(3), None, true);
    }
    assert!((14..=16).contains(&given), "{given} places");
    world.give(0, 3);
    world.release(3, 1);
    assert!(world.wait(20) <= 12);
    assert_eq!(world.take_all(30), [(3, 1)]);
}

#[test]
fn going_down_writes_what_is_left_and_begins_again_at_zero() {
    for stop in [false, true] {
        let mut world = World::<Complete>::new(7);
        (world.queues[1].wthresh, world.queues[1].wtimer) = (8, 0xFF_FFFF);
        world.give(1, 3);
        world.release(1, 2);
        world.quiet(50);
        (world.queues[1].stopped, world.queues[1].enable) = (stop, stop);
        assert_eq!(world.take_all(30), [(1, 2)], "the third has data under way");
        assert!(!world.block.state(1).1);
        world.release(1, 1);
        assert_eq!(world.take_all(30), [(1, 1)]);
        world.queues[1].enable = false;
        world.take_all(20);
        assert_eq!(world.block.state(1), (0, true));
        (world.queues[1].stopped, world.queues[1].enable) = (false, true);
        world.queues[1].wthresh = 1;
        world.give(1, 1);
        world.release(1, 1);
        assert_eq!(world.take_all(30), [(1, 1)]);
    }
}

#[test]
fn a_descriptor_in_use_keeps_a_queue_from_being_idle() {
    let mut world = World::<Complete>::new(8);
    // Told in the next cycle.
    for _ in 0..2 {
        world.block.inputs(false, None, None, Some(2), false);
        world.block.settle();
        world.block.clock_edge();
    }
    world.block.settle();
    assert_eq!([0, 1, 2, 3].map(|i| world.block.state(i).1), [true, true, false, true]);
}

/// All queues full of released completions: writes go round.
#[test]
fn queues_take_turns() {
    let mut world = World::<Complete>::new(9);
    for i in 0..4 {
        world.queues[i].ring = RingSize::new(64).unwrap();
        world.give(i, 14);
    }
    for i in 0..4 {
        world.release(i, 14);
    }
    let writes = world.take_all(200);
    assert_eq!(writes.iter().map(|(_, count)| count).sum::<usize>(), 4 * 14);
    // The first are under way before the others are released, so that queue 0 ends first.
    for four in writes[4..16].windows(4) {
        let mut sorted: Vec<usize> = four.iter().map(|(queue, _)| *queue).collect();
        sorted.sort();
        assert_eq!(sorted, [0, 1, 2, 3], "{writes:?}");
    }
}

/// Cycles a completion when they are given as fast as they can be, and completions a write.
fn pace(format: Format, wthresh: u8) -> (f64, f64) {
    let mut world = World::<Complete>::new(10);
    for queue in &mut world.queues {
        queue.ring = RingSize::new(64).unwrap();
        (queue.format, queue.wthresh, queue.wtimer) = (format, wthresh, 1000);
    }
    // Written from a full RAM, so that the writer is what limits.
    for i in 0..4 {
        world.give(i, 8);
        world.release(i, 8);
    }
    world.writes.clear();
    let start = world.cycle;
    while world.queues.iter().any(|queue| queue.released > 0) {
        world.step(None, None, true);
    }
    let cycles = (world.cycle - start) as f64 / 32.0;
    let share = 32.0 / world.writes.len() as f64;
    println!("{format:?}: {cycles:.2} cycles a completion, {share:.2} completions a write");
    (cycles, share)
}

#[test]
fn a_line_of_two_takes_three_cycles() {
    let (cycles, share) = pace(Format::Full, 8);
    assert!(cycles <= 1.7 && share == 2.0);
    let (cycles, share) = pace(Format::CompactHash, 8);
    assert!(cycles <= 1.3 && share == 4.0);
}

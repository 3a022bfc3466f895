//! Half-page flip and plain allocation.

use std::rc::Rc;

use ferronic::{Allocation, Config, Nic, Packet, Sink};
use ferronic_contract::registers::{self, queue};
use proptest::prelude::*;

use crate::mock::{frame, small_with, Keep, Mock, Numbers};

fn config(allocation: Allocation) -> Config {
    Config { allocation, ..small_with(|rx| rx.policy.copybreak = 0) }
}

/// Catches: a page that is not flipped though its other half is free; a page that grows without end.
#[test]
fn a_consumer_that_gives_back_at_once_needs_no_new_page() {
    let mock = Mock::new();
    let mut nic = mock.open(&config(Allocation::HalfPage));
    let mut sink = Numbers::default();
    for i in 0..200 {
        assert!(mock.receive(&frame(i)));
        nic.rx[0].poll(64, &mut sink).unwrap();
    }
    assert!(sink.0.into_iter().eq(0..200));
    let counted = nic.pool().statistics();
    // Eight pages are posted; one more was taken before the first was flipped.
    assert_eq!((counted.allocated, counted.let_go, counted.memory), (9, 0, 9 * 4096), "{counted:?}");
    assert_eq!((counted.taken, counted.recycled), (208, 199));
}

/// Catches: a half given to the device that the consumer holds; a page released while half of it is held; a let-go page
/// whose memory is not counted in full.
#[test]
fn one_small_packet_of_each_page_pins_it_whole() {
    let mock = Mock::new();
    let mut nic = mock.open(&config(Allocation::HalfPage));
    let mut keep = Keep::default();
    for i in 0..32 {
        assert!(mock.receive(&frame(i)));
        nic.rx[0].poll(64, &mut keep).unwrap();
    }
    let counted = nic.pool().statistics();
    assert_eq!((counted.held, counted.held_bytes, counted.held_memory), (32, 32 * 60, 32 * 2048));
    assert!(counted.let_go > 0, "{counted:?}");
    assert!(keep.0.iter().enumerate().all(|(i, packet)| packet.bytes() == frame(i as u32)), "nobody wrote over them");
    // Of the pages that were let go, one half is given back; the other pins all of it.
    let (mut seen, mut kept) = (Vec::new(), Vec::new());
    for packet in keep.0.drain(..) {
        let buffer = packet.into_buffer();
        let page = buffer.bus() / 4096;
        if !seen.contains(&page) {
            seen.push(page);
            kept.push(buffer);
        }
    }
    let counted = nic.pool().statistics();
    assert_eq!(counted.held as usize, kept.len());
    assert_eq!(counted.held_memory, kept.len() as u64 * 2048 + counted.let_go * 2048);
    let before = counted.memory;
    kept.clear();
    let after = nic.pool().statistics();
    assert_eq!((after.held, after.held_bytes, after.held_memory), (0, 0, 0));
    assert_eq!(after.memory, before - counted.let_go * 4096, "what was let go is released");
}

/// Catches: memory that is kept, or released twice.
#[test]
fn plain_buffers_come_and_go_with_their_memory() {
    let mock = Mock::new();
    let mut nic = mock.open(&config(Allocation::Plain));
    let rings = mock.memory.mapped() - 8;
    for i in 0..100 {
        assert!(mock.receive(&frame(i)));
        nic.rx[0].poll(64, &mut Numbers::default()).unwrap();
        assert_eq!(mock.memory.mapped(), rings + 8);
    }
    let counted = nic.pool().statistics();
    assert_eq!((counted.taken, counted.allocated, counted.recycled, counted.memory), (108, 108, 0, 8 * 4096));
}

/// Catches: a panic, or a hole in the ring, when a buffer cannot be allocated.
#[test]
fn no_memory_drops_packets_and_keeps_the_ring_full() {
    for way in [Allocation::HalfPage, Allocation::Plain] {
        let mock = Mock::new();
        let mut nic = mock.open(&config(way));
        mock.memory.grants.set(Some(2));
        let mut keep = Keep::default();
        for i in 0..40 {
            assert!(mock.receive(&frame(i)));
            nic.rx[0].poll(64, &mut keep).unwrap();
            assert_eq!(nic.rx[0].posted(), 8);
        }
        let counted = nic.rx[0].statistics();
        assert_eq!((counted.packets + counted.dropped_no_buffer, counted.packets), (40, keep.0.len() as u64));
        assert!(counted.dropped_no_buffer > 10, "{way:?} {counted:?}");
        mock.memory.grants.set(None);
        assert!(mock.receive(&frame(40)));
        nic.rx[0].poll(64, &mut keep).unwrap();
        assert_eq!(nic.rx[0].statistics().packets, counted.packets + 1, "goes on when there is memory again");
    }
}

/// Catches: a ring that is open with a hole in it, which no packet would ever fill.
#[test]
fn a_ring_that_cannot_be_filled_is_not_opened() {
    for way in [Allocation::HalfPage, Allocation::Plain] {
        let mock = Mock::new();
        drop(mock.open(&config(way)));
        let rings = mock.memory.allocations() - 8;
        assert_eq!(mock.memory.mapped(), 0);
        for grants in rings..rings + 8 {
            mock.memory.grants.set(Some(grants));
            let refusal = Nic::open(mock.device(), &config(way)).err().expect("no memory");
            assert!(refusal.to_string().contains("the buffers of an RX ring"), "{refusal}");
            assert_eq!(mock.get(registers::RX_QUEUE, queue::CONTROL), 0, "it was stopped again");
            assert_eq!(mock.memory.mapped(), 0);
        }
        mock.memory.grants.set(Some(rings + 8));
        assert_eq!(mock.open(&config(way)).rx[0].posted(), 8);
    }
}

/// Catches: a page that is let go though its other half is home from another thread.
#[test]
fn a_half_that_came_home_from_another_thread_is_flipped_to() {
    let mock = Mock::new();
    let mut nic = mock.open(&config(Allocation::HalfPage));
    for i in 0..64 {
        assert!(mock.receive(&frame(i)));
        let mut keep = Keep::default();
        nic.rx[0].poll(64, &mut keep).unwrap();
        let parcel = keep.0.remove(0).into_buffer().into_parcel();
        std::thread::spawn(move || drop(parcel)).join().unwrap();
    }
    let counted = nic.pool().statistics();
    assert_eq!((counted.allocated, counted.let_go), (9, 0), "{counted:?}");
}

/// Keeps packets, checks them, and lets them go in any order.
struct Shuffle(Vec<(u32, Packet)>, u32);

impl Sink for Shuffle {
    fn deliver(&mut self, packet: Packet) {
        self.0.push((self.1, packet));
        self.1 += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 100 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the consumer keeps and for how long: no packet is written over, the levels add up, and in the end every
    /// buffer is back and all memory released.
    #[test]
    fn packets_are_whole_and_counts_add_up(
        way in prop::sample::select(vec![Allocation::PagePool, Allocation::HalfPage, Allocation::Plain]),
        steps in prop::collection::vec((0..4u8, any::<usize>()), 1..if cfg!(miri) { 30 } else { 150 }),
    ) {
        let mock = Mock::new();
        let mut nic = mock.open(&config(way));
        let pool = nic.pool().clone();
        let free = pool.available();
        let mut sink = Shuffle(Vec::new(), 0);
        let mut received = 0;
        for (what, which) in steps {
            match what {
                0 | 1 if sink.0.len() < 40 => {
                    let before = sink.1;
                    prop_assert!(mock.receive(&frame(received)));
                    sink.1 = received;
                    nic.rx[0].poll(64, &mut sink).unwrap();
                    sink.1 = before;
                    received += 1;
                }
                2 if !sink.0.is_empty() => drop(sink.0.swap_remove(which % sink.0.len())),
                3 if !sink.0.is_empty() => {
                    let (number, packet) = sink.0.swap_remove(which % sink.0.len());
                    let parcel = packet.into_buffer().into_parcel();
                    prop_assert_eq!(parcel.bytes(), frame(number));
                }
                _ => {}
            }
            for (number, packet) in &sink.0 {
                prop_assert_eq!(packet.bytes(), frame(*number));
            }
            pool.resize(pool.buffers()).unwrap();
            let counted = pool.statistics();
            let held = sink.0.len() as u64;
            prop_assert_eq!((counted.held, counted.held_bytes), (held, 60 * held));
            prop_assert!(counted.held_memory >= 2048 * held && counted.held_memory <= 4096 * held);
            prop_assert!(counted.memory >= counted.held_memory);
            prop_assert_eq!(nic.rx[0].posted(), 8);
        }
        sink.0.clear();
        prop_assert_eq!(pool.statistics().held_memory, 0);
        nic.close().unwrap();
        let out: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
        prop_assert!(out.len() as u32 >= free);
        drop((out, pool));
        prop_assert_eq!(mock.memory.mapped(), 0);
    }
}

#[test]
fn a_large_buffer_takes_a_page_of_its_own_size() {
    let memory = Rc::new(crate::memory::Memory::new());
    let pool = ferronic::Pool::new(memory.clone(), 4, 3000, Allocation::HalfPage).unwrap();
    let buffer = pool.get().unwrap();
    assert_eq!((buffer.bytes().len(), pool.statistics().memory), (3000, 8192));
}

//! The buffer pool: what is common to all ways of allocation, and the page pool.

use std::collections::BTreeSet;
use std::rc::Rc;

use ferronic::dma::can_demote;
use ferronic::{Allocation, Buffer, Dma, Pool};

use crate::memory::Memory;
use crate::mock::{frame, small, Keep, Mock};

const WAYS: [Allocation; 3] = [Allocation::PagePool, Allocation::HalfPage, Allocation::Plain];

fn page_pool(memory: &Rc<Memory>, buffers: u32, bytes: u16) -> Pool {
    Pool::new(memory.clone(), buffers, bytes, Allocation::PagePool).unwrap()
}

/// A pool of sixteen regions and what is left over; in Miri, which is slow, of one.
const COUNT: u32 = if cfg!(miri) { 20 } else { 2500 };
const BYTES: u16 = 2000;
const REGIONS: usize = if cfg!(miri) { 1 } else { 17 };

/// Catches: buffers that overlap, a number twice, a panic on an empty pool, memory that the device does not see.
#[test]
fn gives_each_buffer_once_and_runs_empty_without_panic() {
    for way in WAYS {
        let memory = Rc::new(Memory::new());
        let pool = Pool::new(memory.clone(), COUNT, BYTES, way).unwrap();
        let mut buffers: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
        assert_eq!(buffers.len(), COUNT as usize, "{way:?}");
        assert!(pool.get().is_none());
        assert_eq!((pool.available(), pool.statistics().empty), (0, 2));
        // A page pool's regions; a page each.
        assert_eq!(memory.mapped(), if way == Allocation::PagePool { REGIONS } else { COUNT as usize });

        let numbers: BTreeSet<u32> = buffers.iter().map(Buffer::number).collect();
        assert!(numbers.len() == COUNT as usize && numbers.last() < Some(&pool.numbers()));
        let mut places: Vec<_> = buffers.iter().map(Buffer::bus).collect();
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0] + u64::from(BYTES) <= pair[1]), "buffers overlap");
        assert!(places.iter().all(|bus| bus % 64 == 0));

        for buffer in &mut buffers {
            let number = buffer.number();
            buffer.bytes_mut().fill(number as u8);
        }
        assert!(buffers.iter().all(|b| b.bytes().len() == usize::from(BYTES) && b.bytes().iter().all(|&x| x == b.number() as u8)));
        for buffer in &buffers {
            assert_eq!(memory.read_bytes(buffer.bus(), BYTES.into()), buffer.bytes(), "the device sees the same bytes");
        }
        drop(buffers);
        assert_eq!(pool.available(), COUNT);
        let statistics = pool.statistics();
        assert_eq!((statistics.taken, statistics.held), (COUNT.into(), 0));
        assert_eq!(statistics.allocated, if way == Allocation::PagePool { 0 } else { u64::from(COUNT) });
    }
}

#[test]
fn the_last_buffer_back_is_the_first_out() {
    let pool = page_pool(&Rc::new(Memory::new()), 8, 64);
    let (first, second) = (pool.get().unwrap(), pool.get().unwrap());
    let number = first.number();
    drop(second);
    drop(first);
    assert_eq!(pool.get().unwrap().number(), number);
}

#[test]
fn a_buffer_outlives_its_pool_and_two_pools_do_not_mix() {
    for way in WAYS {
        let memory = Rc::new(Memory::new());
        let pool = || Pool::new(memory.clone(), 4, 64, way).unwrap();
        let (a, b) = (pool(), pool());
        let (from_a, mut from_b) = (a.get().unwrap(), b.get().unwrap());
        drop(from_a);
        assert_eq!((a.available(), b.available()), (4, 3));
        drop((a, b));
        from_b.bytes_mut().fill(7);
        assert_eq!(memory.mapped(), 1);
        drop(from_b);
        assert_eq!(memory.mapped(), 0, "{way:?}");
    }
}

/// Catches: memory released under a buffer that is out; a shrinking that forgets buffers; a count that goes astray when
/// the memory for growing runs out half-way.
#[test]
fn shrinks_to_what_is_in_use_and_grows_again() {
    let memory = Rc::new(Memory::new());
    // Regions of 64 KiB: 32 buffers each.
    let pool = page_pool(&memory, 256, 2048);
    assert_eq!((memory.mapped(), pool.statistics().memory), (8, 256 * 2048));
    let kept: Vec<_> = (0..33).map(|_| pool.get().unwrap()).collect();
    assert_eq!(pool.resize(0).unwrap(), 64, "the regions of the 33 stay");
    assert_eq!((memory.mapped(), pool.available(), pool.statistics().memory), (2, 31, 64 * 2048));
    assert!(kept.iter().all(|buffer| buffer.bytes().len() == 2048));
    assert_eq!(pool.resize(100).unwrap(), 128, "in whole regions");
    assert_eq!(pool.resize(97).unwrap(), 128, "not below what is asked for");
    drop(kept);
    assert_eq!(pool.resize(0).unwrap(), 0);
    assert_eq!((memory.mapped(), pool.available()), (0, 0));
    assert!(pool.get().is_none());

    memory.grants.set(Some(3));
    assert!(pool.resize(256).is_err());
    assert_eq!((memory.mapped(), pool.available(), pool.statistics().memory), (3, 96, 96 * 2048), "what there was stays");
    memory.grants.set(None);
    assert_eq!(pool.resize(1000).unwrap(), 256, "no more than it was made for");
    let buffers: Vec<_> = std::iter::from_fn(|| pool.get()).collect();
    assert_eq!(buffers.iter().map(Buffer::number).collect::<BTreeSet<_>>().len(), 256);
}

/// Catches: a level that drifts; bytes counted for packets that were dropped; a forwarded packet no longer counted.
#[test]
fn counts_the_memory_that_packets_really_use() {
    for (way, unit) in WAYS.into_iter().zip([2048, 2048, 4096]) {
        let mock = Mock::new();
        let mut nic = mock.open(&ferronic::Config { allocation: way, ..small() });
        let mut keep = Keep::default();
        for i in 0..24 {
            assert!(mock.receive(&frame(i)));
            nic.rx[0].poll(64, &mut keep).unwrap();
        }
        let counted = nic.pool().statistics();
        assert_eq!((counted.held, counted.held_bytes, counted.bytes), (24, 24 * 60, 24 * 60), "{way:?}");
        assert_eq!(counted.held_memory, 24 * unit, "{way:?}");
        // None is left to take the place of the next: it is dropped, and not counted. Of a page, the other half is left.
        assert!(mock.receive(&frame(0)));
        nic.rx[0].poll(64, &mut keep).unwrap();
        let counted = nic.pool().statistics();
        assert_eq!((counted.held, counted.empty), if way == Allocation::HalfPage { (25, 0) } else { (24, 1) }, "{way:?}");

        let forwarded = keep.0.pop().unwrap().into_buffer();
        keep.0.clear();
        nic.tx.send(forwarded, 0, 60).unwrap();
        let counted = nic.pool().statistics();
        assert_eq!((counted.held, counted.held_bytes), (1, 60), "the TX ring has it");
        nic.tx.flush();
        mock.transmit(1);
        nic.tx.reclaim().unwrap();
        let counted = nic.pool().statistics();
        assert_eq!((counted.held, counted.held_bytes, counted.held_memory), (0, 0, 0), "{way:?}");
    }
}

/// Catches: a hint that writes; lines beyond the piece; a knob that answers what the CPU cannot do.
#[test]
fn demoting_moves_lines_and_changes_none() {
    // On a CPU without the instruction it does nothing.
    let region = Memory::new().allocate(4096, 64).unwrap();
    let mut piece = region.split(200, 256).next().unwrap();
    piece.bytes_mut().fill(0xA5);
    for bytes in [0, 1, 200, 4096, usize::MAX] {
        piece.demote(bytes);
    }
    assert_eq!(piece.bytes(), [0xA5; 200]);

    let mock = Mock::new();
    let mut nic = mock.open(&small());
    nic.pool().set_demote(true);
    assert_eq!(nic.pool().demotes(), can_demote());
    for i in 0..40 {
        assert!(mock.receive(&frame(i)));
        let mut sink = |packet: ferronic::Packet| assert_eq!(packet.bytes(), frame(i));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
    }
    nic.pool().set_demote(false);
    assert!(!nic.pool().demotes());
}

/// Catches: a pool that is not in the list of counters.
#[test]
fn the_device_lists_what_its_pools_count() {
    let mock = Mock::new();
    let nic = mock.open(&small());
    let list = nic.statistics();
    let value = |name: &str| list.iter().find(|(found, _)| found == name).map(|&(_, value)| value);
    assert_eq!(value("rx0_pool_taken"), Some(8));
    assert_eq!(value("rx0_pool_memory"), Some(32 * 2048));
}

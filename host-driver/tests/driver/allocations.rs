//! The data path allocates nothing and reads no register.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use ferronic::policy::tx::{Doorbell, Full, Reclaim, TxPolicy};
use ferronic::rx::PollLog;
use ferronic::tx::TxQueue;
use ferronic::{Allocation, Bond, Classify, Config, Discovery, Packet, Parcel, Pool, Prefetch, Replenish, RxPolicy, Sink};
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::status::{CLASSIFIED, EOP, ERROR};

use crate::memory::Memory;
use crate::mock::{frame, small, small_queues, Mock};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes every request on to the system's allocator unchanged; counting touches only a thread-local
// that needs neither allocation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // A release on the data path is as bad as an allocation.
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations and releases that `work` does.
fn allocations<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATIONS.get();
    let result = work();
    (result, ALLOCATIONS.get() - before)
}

/// Forwards one packet of two and drops the other.
struct Half<'a>(&'a mut TxQueue, u32);

impl Sink for Half<'_> {
    fn deliver(&mut self, packet: Packet) {
        self.1 += 1;
        if self.1.is_multiple_of(2) {
            let length = packet.completion.length;
            let _ = self.0.send(packet.into_buffer(), 0, length);
        }
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))).1, 2);
}

#[test]
fn poll_send_and_reclaim_neither_allocate_nor_read_registers() {
    let mock = Mock::new();
    // So few buffers that some packets are dropped.
    let mut nic = mock.open(&Config { buffers: 10, ..small() });
    let mut sent = 0;
    for round in 0..2000 {
        for _ in 0..round % 9 {
            if mock.receive_with(&frame(sent), |c| c.status.0 ^= round & 1) {
                sent += 1;
            }
        }
        let reads = mock.reads.get();
        let (handled, count) = allocations(|| nic.rx[0].poll(64, &mut Half(&mut nic.tx, 0)));
        handled.unwrap();
        assert_eq!(count, 0, "poll");
        assert_eq!(allocations(|| nic.tx.flush()).1, 0, "flush");
        mock.transmit(usize::MAX);
        let (reclaimed, count) = allocations(|| nic.tx.reclaim());
        reclaimed.unwrap();
        assert_eq!(count, 0, "reclaim");
        assert_eq!(mock.reads.get(), reads, "a register read on the data path");
    }
    let statistics = nic.rx[0].statistics();
    assert!(statistics.packets > 1000 && statistics.dropped_no_buffer > 100, "{statistics:?}");
    assert!(statistics.status_path > 100 && statistics.software_path > 100, "{statistics:?}");
    assert!(nic.tx.statistics().packets > 100);
}

/// Takes packets of several segments apart, and keeps one for a while.
#[derive(Default)]
struct Apart(Option<Packet>, u64);

impl Sink for Apart {
    fn deliver(&mut self, packet: Packet) {
        self.1 += packet.segments().map(|segment| segment.bytes().len() as u64).sum::<u64>();
        match self.0.replace(packet) {
            Some(before) if self.1.is_multiple_of(2) => before.into_segments(drop),
            before => drop(before),
        }
    }
}

/// Catches: a list of segments that grows or is freed; a vector in the way of a compact completion.
#[test]
fn several_queues_scatter_split_and_compact_completions_allocate_nothing_either() {
    let mut config = Config { buffer_bytes: 256, buffers: 14, ..small_queues(4) };
    for (rx, format) in config.rx.iter_mut().zip([Format::Full, Format::CompactHash, Format::CompactTag, Format::Full]) {
        (rx.format, rx.scatter) = (format, true);
    }
    config.rx[1].discovery = Discovery::Index;
    config.rx[3].discovery = Discovery::Index;
    config.rx[3].split = Split::L3;
    let mock = Mock::new();
    let mut nic = mock.open(&config);
    let mut sinks = [(); 4].map(|()| Apart::default());
    for round in 0..4000usize {
        let queue = round % 4;
        for _ in 0..round % 7 {
            let mut bytes = frame(round as u32);
            bytes.resize(60 + round * 37 % 1459, 0);
            let header = if queue == 3 && round % 3 == 0 { 34 } else { 0 };
            mock.receive_by(queue as u8, &bytes, header, |c| {
                if round % 11 == 0 && c.status.get(EOP) == 1 {
                    c.status = c.status.with(ERROR, 1);
                }
                c.status = c.status.with(CLASSIFIED, (round % 5 != 0).into());
            });
        }
        let reads = mock.reads.get();
        let (handled, count) = allocations(|| nic.rx[queue].poll(64, &mut sinks[queue]));
        handled.unwrap();
        assert_eq!((count, mock.reads.get()), (0, reads), "queue {queue}, round {round}");
    }
    for rx in &nic.rx {
        let statistics = rx.statistics();
        assert!(statistics.scattered > 200 && statistics.dropped_cut > 20 && statistics.dropped_no_buffer > 20, "{statistics:?}");
    }
    assert!(nic.rx[3].statistics().split > 50);
}

/// Catches: a list that grows, a copy or a log that allocates, under any policy; a clock or register read by a bare poll.
#[test]
fn no_receive_policy_allocates_on_the_data_path() {
    let replenish = [Replenish::AsTaken { doorbell_every: 3 }, Replenish::Every(5), Replenish::AtEnd, Replenish::OnLowWater];
    let classify = [Classify::Software, Classify::Status, Classify::Sampled { every: 3 }];
    let prefetch = [Prefetch::Off, Prefetch::Current, Prefetch::Next, Prefetch::TwoPass, Prefetch::Wanted];
    let mut config = Config { buffers: 12, ..small() };
    config.rx[0].queue.thresholds.low_water = 3;
    let mock = Mock::new();
    let mut nic = mock.open(&config);
    nic.rx[0].set_log(Some(PollLog::new(8, 4)));
    let mut sink = Apart::default();
    for round in 0..3000usize {
        let policy = RxPolicy {
            replenish: replenish[round % 4],
            classify: classify[round % 3],
            prefetch: prefetch[round % 5],
            copybreak: if round / 64 % 2 == 0 { 0 } else { 100 },
            ..RxPolicy::default()
        };
        if policy.copybreak != nic.rx[0].policy().copybreak {
            // The last copy of another limit would release its pool.
            sink.0 = None;
        }
        nic.rx[0].set_policy(policy).unwrap();
        for number in 0..round % 9 {
            let mut bytes = frame(number as u32);
            bytes.resize(60 + round * 7 % 90, 0);
            mock.receive(&bytes);
        }
        let reads = mock.reads.get();
        let (handled, count) = allocations(|| nic.rx[0].poll(64, &mut sink));
        handled.unwrap();
        assert_eq!((count, mock.reads.get()), (0, reads), "{policy:?}");
        let (turned, count) = allocations(|| nic.rx[0].turn(64, Duration::ZERO, &mut sink));
        turned.unwrap();
        assert_eq!(count, 0, "{policy:?}");
    }
    let statistics = nic.rx[0].statistics();
    assert!(statistics.copied > 1000 && statistics.packets > 8000, "{statistics:?}");
}

/// Catches: a policy that gathers or grows something; a doorbell or an arming that reads a register.
#[test]
fn every_tx_policy_sends_and_reclaims_without_allocating() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let pool = nic.pool().clone();
    for round in 0..3000u16 {
        let policy = TxPolicy {
            reclaim: [Reclaim::All, Reclaim::Constant(2), Reclaim::HalfUsed][usize::from(round % 3)],
            full: [Full::Stop { wake: 3 }, Full::Drop][usize::from(round / 3 % 2)],
            doorbell: [Doorbell::Batch, Doorbell::EveryPacket][usize::from(round / 6 % 2)],
            ..TxPolicy::default()
        };
        let reads = mock.reads.get();
        let (_, count) = allocations(|| {
            nic.tx.set_policy(policy).unwrap();
            for _ in 0..round % 13 {
                let _ = nic.tx.send(pool.get().unwrap(), 0, 60);
            }
            nic.tx.flush();
        });
        assert_eq!(count, 0, "{policy:?}");
        mock.transmit(usize::from(round % 7));
        assert_eq!((allocations(|| nic.tx.reclaim().unwrap()).1, mock.reads.get()), (0, reads), "{policy:?}");
    }
    let counted = nic.tx.statistics();
    assert!(counted.stops > 100 && counted.wakes > 100 && counted.dropped_ring_full > 100, "{counted:?}");
}

/// Catches: a return queue that grows; a shelf of returned buffers that is made anew; a packet that is boxed to travel.
#[test]
fn buffers_that_come_home_from_another_thread_allocate_nothing() {
    let pool = Pool::new(Rc::new(Memory::new()), 64, 256, Allocation::PagePool).unwrap();
    let mut returner = pool.returner();
    let mut out: Vec<Parcel> = Vec::with_capacity(64);
    for round in 0..200 {
        let ((), count) = allocations(|| out.extend(std::iter::from_fn(|| Some(pool.get()?.into_parcel()))));
        assert_eq!(count, 0, "round {round}: taking, and taking in what came home");
        thread::scope(|scope| {
            scope.spawn(|| {
                let ((), count) = allocations(|| {
                    for (i, parcel) in out.drain(..).enumerate() {
                        if i % 5 == 0 {
                            drop(parcel);
                        } else {
                            returner.give(parcel);
                        }
                    }
                    returner.flush();
                });
                assert_eq!(count, 0, "round {round}: giving");
            });
        });
    }
    assert_eq!(pool.statistics().returned, 64 * 199);
}

/// Catches: a table of flows that grows.
#[test]
fn a_bond_finds_a_port_without_allocating() {
    let mocks = [Mock::new(), Mock::new()];
    let mut bond = Bond::new(mocks.iter().map(|mock| mock.open(&small())).collect());
    for flow in 0..1000u32 {
        let mut bytes = frame(flow);
        bytes[14] = 0x45;
        let (port, count) = allocations(|| bond.port(&bytes).map(|nic| nic.tx.outstanding()));
        assert!(port.is_some() && count == 0);
    }
    assert_eq!(bond.statistics().packets, 1000);
}

//! Several RX queues, each on its own.

use std::time::Duration;

use ferronic::rx::{RxFault, Turn};
use ferronic::{Config, Discovery, Error, QueueName};
use ferronic_contract::cause::Cause;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::registers::{self, filter, queue, vector};
use ferronic_contract::ring::RingSize;

use crate::mock::{frame, rx_base, small, small_doorbell, small_queues, Keep, Mock, Numbers, CLOCK_KHZ};

const NOW: Duration = Duration::ZERO;

#[test]
fn each_queue_has_its_own_set_up_rings_and_vector() {
    let mut config = small_queues(3);
    config.rx[1].queue.ring = RingSize::new(16).unwrap();
    config.rx[1].queue.thresholds.prefetch = 9;
    config.rx[2].queue.moderation.frames = 5;
    (config.rx[2].format, config.rx[1].discovery) = (Format::CompactHash, Discovery::Index);
    let mock = Mock::new();
    let nic = mock.open(&config);
    let read = |register| [0, 1, 2, 3].map(|number| mock.get(rx_base(number), register));
    assert_eq!(read(queue::SIZE), [3, 4, 3, 0]);
    assert_eq!(read(queue::THRESHOLDS).map(|value| queue::PTHRESH.of(value)), [32, 9, 32, 0]);
    assert_eq!(read(queue::CONTROL).map(|value| queue::ENABLE.of(value)), [1, 1, 1, 0]);
    assert_eq!(read(queue::CONTROL).map(|value| queue::FORMAT.of(value)), [0, 0, 1, 0]);
    assert_eq!(read(queue::CONTROL).map(|value| queue::INDEX.of(value)), [0, 1, 0, 0]);
    assert_eq!([0, 1, 2].map(|number| mock.ready(number)), [8, 16, 8]);
    let frames = [0, 2, 4].map(|number| mock.get(registers::VECTOR + number * registers::VECTOR_STRIDE, vector::FRAMES));
    assert_eq!(frames, [2, 2, 5]);
    assert!(nic.rx.iter().map(|rx| rx.number()).eq(0..3));
    nic.close().unwrap();
    assert_eq!([0, 1, 2].map(|number| mock.get(rx_base(number), queue::CONTROL)), [0; 3]);
}

#[test]
fn packets_come_by_their_queue_and_wake_it_alone() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(4));
    let mut sink = Numbers::default();
    for rx in &mut nic.rx {
        assert_eq!(rx.turn(4, NOW, &mut sink).unwrap(), Turn::Polled(0));
    }
    for i in 0..3 {
        assert!(mock.receive_by(2, &frame(i), 0, |_| {}));
    }
    for number in [0, 1, 3] {
        assert_eq!(nic.rx[number].turn(4, NOW, &mut sink).unwrap(), Turn::Idle);
    }
    let mut keep = Keep::default();
    assert_eq!(nic.rx[2].turn(4, NOW, &mut keep).unwrap(), Turn::Polled(3));
    assert!(keep.0.iter().all(|packet| packet.queue() == 2));
    assert!(sink.0.is_empty());
    let closed = nic.close().unwrap();
    assert_eq!((closed.rx.packets, closed.rx.interrupts), (3, 1), "of all queues together");
}

/// Catches: one pool for all queues, which a sink that keeps one queue's packets would empty for all.
#[test]
fn a_queue_that_is_not_served_or_whose_packets_are_kept_takes_nothing_from_the_others() {
    let mock = Mock::new();
    let mut config = small_doorbell(1);
    config.rx = vec![config.rx[0]; 3];
    let mut nic = mock.open(&config);
    let (mut keep, mut sink) = (Keep::default(), Numbers::default());
    while mock.receive_by(0, &frame(0), 0, |_| {}) {}
    for i in 0..100 {
        assert!(mock.receive_by(1, &frame(i), 0, |_| {}));
        assert!(mock.receive_by(2, &frame(i), 0, |_| {}));
        assert_eq!(nic.rx[1].poll(64, &mut keep), Ok(1));
        assert_eq!(nic.rx[2].poll(64, &mut sink), Ok(1));
    }
    assert!(sink.0.into_iter().eq(0..100));
    assert_eq!((nic.rx[1].pool().available(), nic.rx[1].statistics().dropped_no_buffer), (0, 76));
    assert_eq!(nic.rx[2].pool().available(), 24);
}

#[test]
fn a_fault_gives_up_its_queue_alone_and_a_stopped_queue_is_named() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let mut sink = Numbers::default();
    assert!(mock.receive_by(1, &frame(0), 0, |c| c.index = 9));
    assert!(mock.receive(&frame(1)));
    assert_eq!(nic.rx[1].poll(64, &mut sink), Err(RxFault::Index { found: 9, expected: 0 }));
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
    mock.set(rx_base(1), queue::STATUS, queue::STOPPED.at(1) | queue::CAUSE.at(Cause::Poisoned as u32));
    match nic.check() {
        Err(Error::Stopped { queue: QueueName::Rx(1), cause: Some(Cause::Poisoned), .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(nic.check().unwrap_err().to_string(), "RX queue 1 was stopped by the core: cause 4 (Some(Poisoned))");
}

#[test]
fn opening_stops_every_queue_that_a_driver_before_left_running() {
    let mock = Mock::new();
    std::mem::forget(mock.open(&small_queues(4)));
    let nic = mock.open(&small());
    let running = [0, 1, 2, 3].map(|number| mock.get(rx_base(number), queue::CONTROL));
    assert_eq!(running, [1, 0, 0, 0]);
    drop(nic);
}

#[test]
fn several_queues_share_by_hash_and_drop_for_a_dry_one() {
    let mock = Mock::new();
    let nic = mock.open(&small_queues(3));
    let table: Vec<u8> = (0..32).flat_map(|i| mock.word(registers::FILTER, filter::INDIRECT, i).to_le_bytes()).collect();
    assert!(table.iter().enumerate().all(|(i, &queue)| usize::from(queue) == i % 3));
    assert_eq!(mock.get(registers::GLOBAL, registers::RSS), 0b111111);
    assert_eq!(mock.get(registers::GLOBAL, registers::HOLD), 33 * CLOCK_KHZ / 1000, "about 4096 cycles");
    drop(nic);

    let nic = mock.open(&small());
    assert_eq!(mock.get(registers::GLOBAL, registers::RSS), 0);
    assert_eq!(mock.word(registers::FILTER, filter::INDIRECT, 0), 0);
    assert_eq!(mock.get(registers::GLOBAL, registers::HOLD), 0, "one queue waits as long as it takes");
    drop(nic);

    drop(mock.open(&Config { hold_usecs: Some(8), ..small() }));
    assert_eq!(mock.get(registers::GLOBAL, registers::HOLD), 1000);
    let mock = Mock::new().without(registers::FEATURE_RSS);
    let nic = mock.open(&small_queues(2));
    assert_eq!(mock.get(registers::GLOBAL, registers::RSS), 0, "a build without RSS is not asked for it");
    drop(nic);
}

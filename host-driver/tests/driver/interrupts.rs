//! The interrupt-driven loop: no packet is stranded, and nothing is polled for nothing.

use std::time::Duration;

use ferronic::rx::{RxFault, Turn};
use ferronic::{Error, QueueName};
use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{self, queue};

use crate::mock::{frame, small, small_doorbell, Mock, Numbers};

const NOW: Duration = Duration::ZERO;

#[test]
fn sleeps_when_idle_and_wakes_for_a_packet() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(0), "looks once, then arms");
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Idle);
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Idle, "stays armed");
    mock.during_wait.borrow_mut().push_back(frame(0));
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(1));
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Idle);
    assert_eq!(nic.rx[0].statistics().interrupts, 1);
    assert_eq!(sink.0, [0]);
}

#[test]
fn a_packet_between_the_last_look_and_the_arming_is_not_stranded() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    mock.receive(&frame(0));
    mock.before_arming.borrow_mut().extend([frame(1), frame(2)]);
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(1));
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(2), "fired at once, nothing else came");
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Idle);
    assert_eq!(sink.0, [0, 1, 2]);
}

#[test]
fn a_budget_used_up_exactly_when_the_ring_is_empty_polls_again_before_it_sleeps() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    for i in 0..4 {
        mock.receive(&frame(i));
    }
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(4));
    // Unarmed, so this one raises no interrupt: only a poll without a wait finds it.
    mock.receive(&frame(4));
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(1));
    assert_eq!(mock.waits.get(), 0);
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Idle);
    assert_eq!(sink.0, [0, 1, 2, 3, 4]);
}

#[test]
fn the_loop_never_strands_a_packet_whatever_the_timing() {
    // Every way to spread packets over the five moments at which one can come.
    for pattern in 0..4u32.pow(3) {
        let mock = Mock::new();
        let mut nic = mock.open(&small());
        let mut sink = Numbers::default();
        let (early, arming, waiting) = (pattern % 4, pattern / 4 % 4, pattern / 16);
        let mut next = 0..;
        let mut some = |count: u32| -> Vec<Vec<u8>> { next.by_ref().take(count as usize).map(frame).collect() };
        for bytes in some(early) {
            assert!(mock.receive(&bytes));
        }
        // With a budget of 2 no arming happens before the early ones are taken.
        mock.before_arming.borrow_mut().extend(some(arming));
        mock.during_wait.borrow_mut().extend(some(waiting));
        let mut idle = 0;
        while idle < 2 {
            idle = if nic.rx[0].turn(2, NOW, &mut sink).unwrap() == Turn::Idle { idle + 1 } else { 0 };
        }
        assert!(sink.0.iter().copied().eq(0..early + arming + waiting), "{pattern}: {:?}", sink.0);
    }
}

#[test]
fn going_to_sleep_gives_the_device_its_whole_ring() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_doorbell(8));
    let mut sink = Numbers::default();
    for i in 0..5 {
        mock.receive(&frame(i));
    }
    nic.rx[0].poll(64, &mut sink).unwrap();
    assert_eq!(mock.rx_ready(), 3, "five posted, told with the next doorbell");
    nic.rx[0].turn(64, NOW, &mut sink).unwrap();
    assert_eq!(mock.rx_ready(), 8);
}

#[test]
fn a_stopped_queue_and_a_removed_device_are_told_with_the_reason() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    nic.rx[0].turn(4, NOW, &mut sink).unwrap();
    mock.set(registers::RX_QUEUE, queue::STATUS, queue::STOPPED.at(1) | queue::CAUSE.at(3));
    mock.event(0);
    match nic.rx[0].turn(4, NOW, &mut sink) {
        Err(Error::Stopped { queue: QueueName::Rx(0), cause: Some(Cause::TimeOut), code: 3 }) => {}
        other => panic!("{other:?}"),
    }
    mock.set(registers::RX_QUEUE, queue::STATUS, 0);

    nic.rx[0].turn(4, NOW, &mut sink).unwrap();
    mock.gone.set(true);
    assert!(matches!(nic.rx[0].turn(4, NOW, &mut sink), Err(Error::DeviceGone)));
    assert!(matches!(nic.check(), Err(Error::DeviceGone)));
    assert!(matches!(nic.close(), Err(Error::DeviceGone)));
}

#[test]
fn a_fault_behind_good_packets_is_told_without_waiting() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    assert!(mock.receive(&frame(0)));
    assert!(mock.receive_with(&frame(1), |c| c.index = 7));
    assert_eq!(nic.rx[0].turn(4, NOW, &mut sink).unwrap(), Turn::Polled(1));
    let fault = RxFault::Index { found: 7, expected: 1 };
    assert!(matches!(nic.rx[0].turn(4, NOW, &mut sink), Err(Error::Rx(found)) if found == fault));
    assert_eq!(mock.waits.get(), 0);
}

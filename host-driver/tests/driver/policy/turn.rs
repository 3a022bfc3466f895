//! Turns: weight, the end of a turn, and when interrupts come back.

use std::time::Duration;

use ferronic::rx::Turn;
use ferronic::{Config, Packet, Rearm, RxPolicy, Weight};
use ferronic_contract::registers::{self, queue};

use crate::mock::{frame, small_policy, Mock, Numbers};

const NOW: Duration = Duration::ZERO;

fn receive(mock: &Mock, count: u32) {
    for i in 0..count {
        assert!(mock.receive(&frame(i)));
    }
}

/// Catches: a weight that bounds a turn, or that is not kept.
#[test]
fn a_turn_polls_by_the_weight_up_to_its_budget() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.weight = Weight::Fixed(3)));
    let mut sink = Numbers::default();
    receive(&mock, 8);
    let polls = nic.rx[0].statistics().polls;
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Polled(8));
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.polls - polls, statistics.time_squeeze), (3, 0), "3, 3 and 2");
    assert!(nic.rx[0].is_armed());
}

/// Catches: a turn that goes beyond its budget, a squeeze that is not counted, a driver that sleeps on a full ring.
#[test]
fn a_turn_that_ends_by_its_budget_is_a_squeeze_and_the_next_goes_on() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.weight = Weight::Fixed(3)));
    let mut sink = Numbers::default();
    receive(&mock, 8);
    assert_eq!(nic.rx[0].turn(5, NOW, &mut sink).unwrap(), Turn::Polled(5));
    assert_eq!((nic.rx[0].statistics().time_squeeze, nic.rx[0].is_armed()), (1, false));
    assert_eq!(nic.rx[0].turn(5, NOW, &mut sink).unwrap(), Turn::Polled(3));
    assert_eq!(mock.waits.get(), 0);
    assert_eq!((nic.rx[0].statistics().time_squeeze, nic.rx[0].is_armed()), (1, true), "the last poll found nothing");
    assert!(sink.0.into_iter().eq(0..8));
}

/// Catches: a turn without end while packets keep coming.
#[test]
fn a_turn_ends_by_time_too() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| (policy.weight, policy.turn_usecs) = (Weight::Fixed(1), 10)));
    let mut taken = 0;
    receive(&mock, 8);
    // Each packet takes 4 µs, and another has come meanwhile.
    let mut slow = |_: Packet| {
        mock.time.set(mock.time.get() + Duration::from_micros(4));
        taken += 1;
        mock.receive(&frame(0));
    };
    assert_eq!(nic.rx[0].turn(1000, NOW, &mut slow).unwrap(), Turn::Polled(3));
    assert_eq!((nic.rx[0].statistics().time_squeeze, nic.rx[0].is_armed()), (1, false));
    let policy = RxPolicy { turn_usecs: 100, ..nic.rx[0].policy() };
    nic.rx[0].set_policy(policy).unwrap();
    assert_eq!(nic.rx[0].turn(1000, NOW, &mut slow).unwrap(), Turn::Polled(25));
    assert_eq!((nic.rx[0].statistics().time_squeeze, taken), (2, 28));
}

/// Catches: an interrupt that comes back after a short poll though the rule says not before an empty one.
#[test]
fn when_idle_polls_again_while_anything_arrives() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.rearm = Rearm::WhenIdle));
    let mut taken = 0;
    let mut more = |_: Packet| {
        taken += 1;
        if taken < 20 {
            assert!(mock.receive(&frame(taken)));
        }
    };
    receive(&mock, 1);
    let polls = nic.rx[0].statistics().polls;
    assert_eq!(nic.rx[0].turn(64, NOW, &mut more).unwrap(), Turn::Polled(20));
    let statistics = nic.rx[0].statistics();
    assert!(nic.rx[0].is_armed() && statistics.polls - polls > 1, "{statistics:?}");
    assert_eq!(mock.waits.get(), 0);
}

/// Catches: a delayed poll that comes at once or never, a vector armed too early, a packet stranded.
#[test]
fn a_delayed_poll_comes_when_it_is_due_and_the_vector_is_armed_after_the_last_empty_one() {
    let mock = Mock::new();
    // 4 frames of 672 ns at 1 Gb/s.
    let delay = Duration::from_nanos(2688);
    let rule = Rearm::Delayed { link_mbps: 1000, frames: 4, empty_polls: 2 };
    let mut nic = mock.open(&small_policy(|policy| policy.rearm = rule));
    let mut sink = Numbers::default();
    receive(&mock, 3);
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Polled(3));
    assert_eq!((nic.rx[0].next_poll(), nic.rx[0].is_armed()), (Some(mock.time.get() + delay), false));
    assert_eq!(mock.rx_ready(), 8, "the device has its whole ring meanwhile");
    assert!(mock.receive(&frame(3)));
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Idle, "not due");
    assert_eq!(nic.rx[0].turn(64, delay / 2, &mut sink).unwrap(), Turn::Idle, "not due after half of it");
    assert_eq!(nic.rx[0].turn(64, delay, &mut sink).unwrap(), Turn::Polled(1), "due, and no later than that");
    assert_eq!(nic.rx[0].next_poll(), Some(mock.time.get() + delay));
    assert_eq!(nic.rx[0].turn(64, delay, &mut sink).unwrap(), Turn::Polled(0), "the first empty one");
    assert!(!nic.rx[0].is_armed());
    mock.before_arming.borrow_mut().push_back(frame(4));
    assert_eq!(nic.rx[0].turn(64, delay, &mut sink).unwrap(), Turn::Polled(0), "the second");
    assert!(nic.rx[0].is_armed());
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Polled(1));
    assert!(sink.0.into_iter().eq(0..5));
}

/// Catches: a queue that sleeps out the delay of a rule that is no longer its own.
#[test]
fn another_rule_ends_the_delay_of_the_one_before() {
    let mock = Mock::new();
    let rule = Rearm::Delayed { link_mbps: 1, frames: 4, empty_polls: 2 };
    let mut nic = mock.open(&small_policy(|policy| policy.rearm = rule));
    let mut sink = Numbers::default();
    receive(&mock, 3);
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Polled(3));
    let policy = RxPolicy { turn_usecs: 100, ..nic.rx[0].policy() };
    nic.rx[0].set_policy(policy).unwrap();
    assert!(nic.rx[0].next_poll().is_some(), "the rule is still the same");
    assert!(mock.receive(&frame(3)));
    nic.rx[0].set_policy(RxPolicy { rearm: Rearm::UnderBudget, ..policy }).unwrap();
    assert_eq!(nic.rx[0].turn(64, NOW, &mut sink).unwrap(), Turn::Polled(1), "at once");
    assert!(nic.rx[0].is_armed());
    nic.rx[0].set_policy(RxPolicy { rearm: rule, ..policy }).unwrap();
    assert!(nic.rx[0].is_armed(), "a vector that is armed stays so");
}

/// Catches: drops that the weight never hears of, a register read with every poll.
#[test]
fn an_adaptive_weight_hears_of_hardware_drops_once_a_millisecond() {
    let mock = Mock::new();
    let weight = Weight::Adaptive { least: 1, most: 8, step: 1, poll_usecs: 1000 };
    let mut nic = mock.open(&Config { ..small_policy(|policy| policy.weight = weight) });
    let mut sink = Numbers::default();
    let mut polled = |budget| {
        receive(&mock, budget as u32);
        let reads = mock.reads.get();
        assert_eq!(nic.rx[0].turn(budget, NOW, &mut sink).unwrap(), Turn::Polled(budget));
        (nic.rx[0].weight(), mock.reads.get() - reads)
    };
    assert_eq!(polled(1), (2, 2), "asked at first, to know the counts");
    for weight in 3..=8 {
        assert_eq!(polled(weight - 1), (weight, 0));
    }
    mock.set(registers::RX_QUEUE, queue::DROP_NO_DESCRIPTOR, 5);
    assert_eq!(polled(8), (8, 0), "not asked yet");
    mock.time.set(mock.time.get() + Duration::from_millis(1));
    assert_eq!(polled(8), (4, 2));
    mock.time.set(mock.time.get() + Duration::from_millis(1));
    assert_eq!(polled(4), (5, 2), "nothing new");
    mock.time.set(mock.time.get() + Duration::from_millis(1));
    mock.set(registers::GLOBAL, registers::DROP_NO_DESCRIPTOR, 1);
    assert_eq!(polled(5), (2, 2));
}

/// Catches: a controller that forgets what it learnt at every change of something else.
#[test]
fn a_weight_that_stays_keeps_what_it_learnt() {
    let mock = Mock::new();
    let weight = Weight::Adaptive { least: 1, most: 8, step: 3, poll_usecs: 1000 };
    let mut nic = mock.open(&small_policy(|policy| policy.weight = weight));
    receive(&mock, 1);
    nic.rx[0].turn(1, NOW, &mut Numbers::default()).unwrap();
    assert_eq!(nic.rx[0].weight(), 4);
    let policy = nic.rx[0].policy();
    nic.rx[0].set_policy(RxPolicy { rearm: Rearm::WhenIdle, ..policy }).unwrap();
    assert_eq!(nic.rx[0].weight(), 4);
    nic.rx[0].set_policy(RxPolicy { weight: Weight::Fixed(6), ..policy }).unwrap();
    assert_eq!(nic.rx[0].weight(), 6);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|_| ()));
    let before = nic.rx[0].policy();
    let delayed = |link_mbps, frames, empty_polls| RxPolicy {
        rearm: Rearm::Delayed { link_mbps, frames, empty_polls },
        ..before
    };
    let adaptive = |least, most, step, poll_usecs| RxPolicy {
        weight: Weight::Adaptive { least, most, step, poll_usecs },
        ..before
    };
    let cases = [
        (RxPolicy { turn_usecs: 0, ..before }, "usecs of a turn is 0; it must be from 1 to 4294967295"),
        (RxPolicy { weight: Weight::Fixed(0), ..before }, "weight is 0; it must be from 1 to 65535"),
        (adaptive(0, 8, 1, 1), "least weight is 0; it must be from 1 to 8"),
        (adaptive(9, 8, 1, 1), "least weight is 9; it must be from 1 to 8"),
        (adaptive(1, 8, 0, 1), "step of the weight is 0; it must be from 1 to 65535"),
        (adaptive(1, 8, 1, 0), "usecs of a poll is 0; it must be from 1 to 4294967295"),
        (
            RxPolicy { weight: Weight::Timed { most: 0, poll_usecs: 1 }, ..before },
            "greatest weight is 0; it must be from 1 to 65535",
        ),
        (delayed(0, 1, 1), "Mb/s of the link is 0; it must be from 1 to 1000000"),
        (delayed(1, 5, 1), "frames of a delay is 5; it must be from 1 to 4"),
        (delayed(1, 4, 0), "empty polls is 0; it must be from 1 to 255"),
    ];
    for (policy, message) in cases {
        assert_eq!(nic.rx[0].set_policy(policy).unwrap_err().to_string(), message);
    }
    assert_eq!(nic.rx[0].policy(), before);
}

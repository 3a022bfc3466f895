//! Every knob changed at random while traffic runs.

use std::time::Duration;

use ferronic::rx::PollLog;
use ferronic::{Classify, Config, Packet, Prefetch, Rearm, Replenish, RxPolicy, Sink, Weight};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::status::CLASSIFIED;
use proptest::prelude::*;

use crate::mock::{frame, number, small, Mock};

fn replenish() -> impl Strategy<Value = Replenish> {
    prop_oneof![
        (1..=8u16).prop_map(|doorbell_every| Replenish::AsTaken { doorbell_every }),
        (1..=8u16).prop_map(Replenish::Every),
        Just(Replenish::AtEnd),
        Just(Replenish::OnLowWater),
    ]
}

fn classify() -> impl Strategy<Value = Classify> {
    prop_oneof![
        Just(Classify::Software),
        Just(Classify::Status),
        (1..5u32).prop_map(|every| Classify::Sampled { every }),
    ]
}

fn prefetch() -> impl Strategy<Value = Prefetch> {
    prop::sample::select(vec![Prefetch::Off, Prefetch::Current, Prefetch::Next, Prefetch::TwoPass, Prefetch::Wanted])
}

fn weight() -> impl Strategy<Value = Weight> {
    prop_oneof![
        (1..20u16).prop_map(Weight::Fixed),
        (1..4u16, 4..20u16, 1..4u16).prop_map(|(least, most, step)| Weight::Adaptive { least, most, step, poll_usecs: 3 }),
        (1..20u16, 1..10u32).prop_map(|(most, poll_usecs)| Weight::Timed { most, poll_usecs }),
    ]
}

fn rearm() -> impl Strategy<Value = Rearm> {
    prop_oneof![
        Just(Rearm::UnderBudget),
        Just(Rearm::WhenIdle),
        (1..=4u16, 1..4u8).prop_map(|(frames, empty_polls)| Rearm::Delayed { link_mbps: 1000, frames, empty_polls }),
    ]
}

fn policy() -> impl Strategy<Value = RxPolicy> {
    let copybreak = prop_oneof![Just(0), 0..=1518u16, 60..=130u16];
    (replenish(), classify(), prefetch(), copybreak, weight(), rearm(), 1..20u32).prop_map(
        |(replenish, classify, prefetch, copybreak, weight, rearm, turn_usecs)| RxPolicy {
            replenish,
            classify,
            prefetch,
            copybreak,
            weight,
            rearm,
            turn_usecs,
        },
    )
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Policy(RxPolicy),
    /// Frames of this length arrive, as many as the ring takes.
    Receive(u32, usize),
    Poll(usize),
    Turn(usize),
    /// The sink lets go of what it keeps.
    Release,
    Mac,
    Log(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => policy().prop_map(Step::Policy),
        4 => (1..10u32, 60..900usize).prop_map(|(count, length)| Step::Receive(count, length)),
        3 => (0..20usize).prop_map(Step::Poll),
        3 => (1..20usize).prop_map(Step::Turn),
        1 => Just(Step::Release),
        1 => Just(Step::Mac),
        1 => any::<bool>().prop_map(Step::Log),
    ]
}

/// Checks every packet and keeps some of them.
#[derive(Default)]
struct Check {
    next: u32,
    kept: Vec<(u32, Packet)>,
    /// Frames by number: their length.
    lengths: Vec<usize>,
}

fn bytes(number: u32, length: usize) -> Vec<u8> {
    let mut bytes = frame(number);
    bytes.extend((60..length).map(|i| i as u8 ^ number as u8));
    bytes
}

impl Sink for Check {
    fn deliver(&mut self, packet: Packet) {
        let whole: Vec<u8> = packet.segments().flat_map(|segment| segment.bytes().to_vec()).collect();
        assert_eq!(number(&whole), self.next, "in order, and none left out");
        assert_eq!(whole, bytes(self.next, self.lengths[self.next as usize]));
        // No more than the pool can spare, so that none is dropped: 5 of at most 4 buffers.
        if self.next.is_multiple_of(3) && self.kept.len() < 5 {
            self.kept.push((self.next, packet));
        }
        self.next += 1;
    }

    fn wants_header(&self, completion: &RxCompletion) -> bool {
        completion.index.is_multiple_of(3)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Catches: a packet lost, repeated, reordered or damaged, a hole in the ring, a buffer that is never given back,
    /// under any change from any policy to any other at any time.
    #[test]
    fn any_policy_at_any_time_loses_nothing(scatter in any::<bool>(), steps in prop::collection::vec(step(), 1..200)) {
        let mock = Mock::new();
        mock.tick.set(Duration::from_nanos(700));
        let mut config = Config { buffers: 8 + 20 + 8, ..small() };
        config.rx[0].queue.thresholds.low_water = 4;
        config.rx[0].scatter = scatter;
        config.buffer_bytes = if scatter { 256 } else { 2048 };
        let mut nic = mock.open(&config);
        let mut sink = Check::default();
        let mut handled = 0;
        for step in steps {
            let rx = &mut nic.rx[0];
            match step {
                Step::Policy(policy) => rx.set_policy(policy).unwrap(),
                Step::Receive(count, length) => for _ in 0..count {
                    let number = sink.lengths.len() as u32;
                    // Some frames the core does not classify.
                    let classified = u32::from(!number.is_multiple_of(7));
                    if mock.receive_with(&bytes(number, length), |c| c.status = c.status.with(CLASSIFIED, classified)) {
                        sink.lengths.push(length);
                    }
                },
                Step::Poll(budget) => handled += rx.poll(budget, &mut sink).unwrap(),
                Step::Turn(budget) => match rx.turn(budget, Duration::from_micros(1), &mut sink).unwrap() {
                    ferronic::Turn::Polled(count) => handled += count,
                    ferronic::Turn::Idle => {}
                },
                Step::Release => sink.kept.clear(),
                Step::Mac => {
                    let mac = nic.mac();
                    nic.set_mac(mac);
                }
                Step::Log(on) => drop(rx.set_log(on.then(|| PollLog::new(4, 4)))),
            }
            let rx = &nic.rx[0];
            prop_assert_eq!(rx.posted() + rx.waiting(), 8, "a hole in the ring");
        }
        // The loop goes to sleep at last, and all has been delivered by then.
        for _ in 0..1000 {
            if nic.rx[0].is_armed() && mock.rx_done() as usize <= handled {
                break;
            }
            if let ferronic::Turn::Polled(count) = nic.rx[0].turn(64, Duration::from_millis(1), &mut sink).unwrap() {
                handled += count;
            }
        }
        prop_assert!(nic.rx[0].is_armed());
        prop_assert_eq!(sink.next as usize, sink.lengths.len());
        for (number, packet) in &sink.kept {
            let whole: Vec<u8> = packet.segments().flat_map(|segment| segment.bytes().to_vec()).collect();
            prop_assert_eq!(whole, bytes(*number, sink.lengths[*number as usize]), "a kept packet was overwritten");
        }
        let statistics = nic.rx[0].statistics();
        prop_assert_eq!(statistics.packets as usize, sink.lengths.len());
        prop_assert_eq!(statistics.status_path + statistics.software_path, statistics.packets);
        prop_assert_eq!((statistics.dropped_no_buffer, statistics.status_disagreed, statistics.bad_completions), (0, 0, 0));
        sink.kept.clear();
        if let Some(copies) = nic.rx[0].copy_pool() {
            prop_assert_eq!(copies.available(), 8);
        }
        let pool = nic.pool().clone();
        nic.close().unwrap();
        prop_assert_eq!(pool.available(), 36);
    }
}

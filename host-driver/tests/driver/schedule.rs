//! Several ports on one CPU: shares are kept, nobody starves.

use std::convert::Infallible;
use std::time::Duration;

use ferronic::rx::RxPort;
use ferronic::schedule::{Port, Round, Schedule, Share, Work};
use proptest::prelude::*;

use crate::mock::{frame, small, Mock, Numbers};

/// Packets of a slice at most, when time is shared.
const SLICE: u64 = 8;

/// A port whose packets cost what the test says.
struct Fake {
    waiting: usize,
    /// Nanoseconds of its packets, one after the other, from the start again.
    costs: Vec<u64>,
    served: u64,
    spent: u64,
}

impl Fake {
    fn new(waiting: usize, costs: &[u64]) -> Self {
        Self { waiting, costs: costs.to_vec(), served: 0, spent: 0 }
    }

    /// One that always has more.
    fn heavy(costs: &[u64]) -> Self {
        Self::new(usize::MAX, costs)
    }
}

impl Port for Fake {
    type Error = Infallible;

    fn poll(&mut self, budget: usize) -> Result<Work, Infallible> {
        let packets = budget.min(self.waiting);
        self.waiting -= if self.waiting == usize::MAX { 0 } else { packets };
        let cost = |i| self.costs[((self.served + i) % self.costs.len() as u64) as usize];
        let nanos = (0..packets as u64).map(cost).sum();
        self.served += packets as u64;
        self.spent += nanos;
        Ok(Work { packets, elapsed: Duration::from_nanos(nanos) })
    }
}

fn round(schedule: &mut Schedule, ports: &mut [Fake]) -> Round {
    let mut ports: Vec<&mut Fake> = ports.iter_mut().collect();
    let Ok(round) = schedule.round(&mut ports);
    round
}

#[test]
fn in_packets_every_busy_port_gets_its_quantum_each_round() {
    let mut schedule = Schedule::new(&Share::Packets(vec![64, 16, 8]));
    let mut ports = [Fake::heavy(&[1000]), Fake::heavy(&[10]), Fake::new(20, &[10])];
    assert_eq!(round(&mut schedule, &mut ports), Round { packets: 88, busy: 3 });
    assert_eq!(ports.each_ref().map(|port| port.served), [64, 16, 8]);
    round(&mut schedule, &mut ports);
    round(&mut schedule, &mut ports);
    assert_eq!(ports.each_ref().map(|port| port.served), [192, 48, 20]);
    for _ in 0..10 {
        assert_eq!(round(&mut schedule, &mut ports), Round { packets: 80, busy: 2 });
    }
    // What it did not need it has not saved.
    ports[2].waiting = 100;
    round(&mut schedule, &mut ports);
    assert_eq!(ports[2].served, 28);
}

/// Catches: time shared by count, so that a port of costly packets takes it all.
#[test]
fn in_time_ports_of_unequal_cost_get_equal_time_and_in_packets_they_do_not() {
    let ports = || [Fake::heavy(&[2000]), Fake::heavy(&[100])];
    let mut fair = ports();
    let mut schedule = Schedule::new(&Share::Time(vec![Duration::from_micros(20); 2]));
    for _ in 0..1000 {
        round(&mut schedule, &mut fair);
    }
    let [costly, cheap] = fair.map(|port| port.spent);
    assert!(costly.abs_diff(cheap) <= 2000 * SLICE, "{costly} and {cheap}");
    let mut unfair = ports();
    let mut schedule = Schedule::new(&Share::Packets(vec![16; 2]));
    for _ in 0..1000 {
        round(&mut schedule, &mut unfair);
    }
    assert_eq!(unfair[0].spent, 20 * unfair[1].spent);
}

/// Catches: an idle port that is polled for ever, or that saves up time.
#[test]
fn idle_ports_end_the_round_and_save_nothing() {
    for share in [Share::Packets(vec![8; 2]), Share::Time(vec![Duration::from_micros(10); 2])] {
        let mut schedule = Schedule::new(&share);
        let mut ports = [Fake::new(0, &[1000]), Fake::new(3, &[1000])];
        assert_eq!(round(&mut schedule, &mut ports), Round { packets: 3, busy: 0 });
        for _ in 0..100 {
            assert_eq!(round(&mut schedule, &mut ports), Round::default());
        }
        ports[0].waiting = 1000;
        let found = round(&mut schedule, &mut ports);
        assert!(found.packets <= 10 && found.busy == 1, "{found:?}");
    }
}

/// Catches: a port that buys time by running empty now and then.
#[test]
fn what_a_port_owes_it_still_owes_after_it_was_idle() {
    let mut schedule = Schedule::new(&Share::Time(vec![Duration::from_micros(10)]));
    // The fourth packet costs fifty rounds, and it is not seen before it is taken.
    let mut costs = vec![1000; 1000];
    costs[3] = 500_000;
    let mut ports = [Fake::new(5, &costs)];
    assert_eq!(round(&mut schedule, &mut ports), Round { packets: 5, busy: 0 });
    ports[0].waiting = 100;
    let paid = (1..100).find(|_| round(&mut schedule, &mut ports).packets > 0);
    assert_eq!(paid, Some(50));
}

/// Catches: shares that are forgotten, or debts forgiven, by a change of shares.
#[test]
fn shares_can_be_changed_between_rounds() {
    let mut schedule = Schedule::new(&Share::Time(vec![Duration::from_micros(1)]));
    let mut ports = [Fake::heavy(&[50_000])];
    assert_eq!(round(&mut schedule, &mut ports).packets, 1);
    schedule.set_share(&Share::Time(vec![Duration::from_micros(10)]));
    let rounds: Vec<usize> = (0..11).map(|_| round(&mut schedule, &mut ports).packets).collect();
    assert_eq!(rounds, [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "it owed 49 µs, and then 49 again");
    schedule.set_share(&Share::Packets(vec![5, 6]));
    assert_eq!(round(&mut schedule, &mut ports).packets, 5);
}

/// A clock that stands still, and a quantum of nothing.
#[test]
fn neither_free_packets_nor_an_empty_quantum_make_a_round_endless() {
    let mut schedule = Schedule::new(&Share::Time(vec![Duration::ZERO]));
    assert!((1..=8000).contains(&round(&mut schedule, &mut [Fake::heavy(&[0])]).packets));
    let mut schedule = Schedule::new(&Share::Packets(vec![0]));
    assert_eq!(round(&mut schedule, &mut [Fake::heavy(&[0])]).packets, 1);
}

/// Fails every time.
struct Broken;

impl Port for Broken {
    type Error = &'static str;

    fn poll(&mut self, _: usize) -> Result<Work, &'static str> {
        Err("broken")
    }
}

struct Sound(usize);

impl Port for Sound {
    type Error = &'static str;

    fn poll(&mut self, budget: usize) -> Result<Work, &'static str> {
        self.0 += budget;
        Ok(Work { packets: budget, elapsed: Duration::ZERO })
    }
}

#[test]
fn a_port_that_fails_takes_no_turn_from_the_others() {
    let mut schedule = Schedule::new(&Share::Packets(vec![4; 3]));
    let (mut broken, mut one, mut two) = (Broken, Sound(0), Sound(0));
    let mut ports: [&mut dyn Port<Error = &'static str>; 3] = [&mut one, &mut broken, &mut two];
    assert_eq!(schedule.round(&mut ports), Err("broken"));
    assert_eq!((one.0, two.0), (4, 4));
}

#[test]
fn rx_queues_of_several_devices_take_their_turns() {
    let mocks = [Mock::new(), Mock::new()];
    let [mut first, mut second] = mocks.each_ref().map(|mock| mock.open(&small()));
    for i in 0..8 {
        mocks.iter().for_each(|mock| assert!(mock.receive(&frame(i))));
    }
    let (mut one, mut two) = (Numbers::default(), Numbers::default());
    let mut schedule = Schedule::new(&Share::Packets(vec![3, 1]));
    for _ in 0..2 {
        let mut first = RxPort { queue: &mut first.rx[0], sink: &mut one };
        let mut second = RxPort { queue: &mut second.rx[0], sink: &mut two };
        assert_eq!(schedule.round(&mut [&mut first, &mut second]), Ok(Round { packets: 4, busy: 2 }));
    }
    assert_eq!((&one.0[..], &two.0[..]), (&[0, 1, 2, 3, 4, 5][..], &[0, 1][..]));
    mocks[0].tick.set(Duration::from_micros(3));
    let mut port = RxPort { queue: &mut first.rx[0], sink: &mut one };
    assert_eq!(port.poll(64), Ok(Work { packets: 2, elapsed: Duration::from_micros(3) }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The theorem of the paper, in packets: whatever the others do, a port that always has packets is served exactly its
    /// quantum each round, and between two of its turns the others are served at most their quanta.
    #[test]
    fn in_packets_the_bound_holds(
        quanta in prop::collection::vec(1..100u32, 2..6),
        arrivals in prop::collection::vec(prop::collection::vec(0..150usize, 5), 1..60),
    ) {
        let mut schedule = Schedule::new(&Share::Packets(quanta.clone()));
        // The first always has some.
        let mut ports: Vec<Fake> = quanta.iter().map(|_| Fake::new(0, &[10])).collect();
        ports[0].waiting = usize::MAX;
        for (rounds, arriving) in (1..).zip(arrivals) {
            for (port, count) in ports[1..].iter_mut().zip(arriving) {
                port.waiting += count;
            }
            let before: Vec<u64> = ports.iter().map(|port| port.served).collect();
            let had: Vec<usize> = ports.iter().map(|port| port.waiting).collect();
            round(&mut schedule, &mut ports);
            prop_assert_eq!(ports[0].served, rounds * u64::from(quanta[0]));
            for i in 1..ports.len() {
                let served = ports[i].served - before[i];
                prop_assert_eq!(served, u64::from(quanta[i]).min(had[i] as u64), "work is left, or stolen");
            }
        }
    }

    /// In time: after any number of rounds a port that always has packets was served its quanta, within one slice of its
    /// dearest packets; so two such ports never differ, in proportion, by more than their slices; and no round is longer
    /// than all quanta and a slice of each.
    #[test]
    fn in_time_the_bound_holds(
        settings in prop::collection::vec((1..200u64, prop::collection::vec(1..30_000u64, 1..6), any::<bool>()), 2..6),
        rounds in 1..200u64,
    ) {
        let quanta: Vec<u64> = settings.iter().map(|(micros, ..)| micros * 1000).collect();
        let mut schedule = Schedule::new(&Share::Time(quanta.iter().map(|&nanos| Duration::from_nanos(nanos)).collect()));
        let mut ports: Vec<Fake> =
            settings.iter().map(|(_, costs, heavy)| if *heavy { Fake::heavy(costs) } else { Fake::new(40, costs) }).collect();
        let slice = |port: &Fake| SLICE * port.costs.iter().max().unwrap();
        let longest: u64 = quanta.iter().zip(&ports).map(|(quantum, port)| quantum + slice(port)).sum();
        let mut served = 0;
        for number in 1..=rounds {
            let before: u64 = ports.iter().map(|port| port.spent).sum();
            served += round(&mut schedule, &mut ports).packets as u64;
            let after: u64 = ports.iter().map(|port| port.spent).sum();
            prop_assert!(after - before <= longest, "a round of {} ns", after - before);
            for (quantum, port) in quanta.iter().zip(&ports).filter(|(_, port)| port.waiting == usize::MAX) {
                prop_assert!(port.spent + 1 >= number * quantum, "starved: {} of {}", port.spent, number * quantum);
                prop_assert!(port.spent <= number * quantum + slice(port), "{} of {}", port.spent, number * quantum);
            }
        }
        prop_assert_eq!(served, ports.iter().map(|port| port.served).sum::<u64>());
    }
}

/// A port that fails until it is mended, and then always has more.
struct Mendable {
    mended: bool,
    /// Of a packet.
    cost: Duration,
    served: usize,
}

impl Port for Mendable {
    type Error = &'static str;

    fn poll(&mut self, budget: usize) -> Result<Work, Self::Error> {
        if !self.mended {
            return Err("broken");
        }
        self.served += budget;
        Ok(Work { packets: budget, elapsed: self.cost.saturating_mul(budget as u32) })
    }
}

/// Catches: quanta saved up in rounds that failed, all of which a port would have at once when it works again.
#[test]
fn a_port_that_failed_has_one_quantum_when_it_works_again() {
    for share in [Share::Packets(vec![5]), Share::Time(vec![Duration::from_micros(5)])] {
        let mut schedule = Schedule::new(&share);
        let mut port = Mendable { mended: false, cost: Duration::from_micros(1), served: 0 };
        for _ in 0..100 {
            assert_eq!(schedule.round(&mut [&mut port]), Err("broken"));
        }
        port.mended = true;
        schedule.round(&mut [&mut port]).unwrap();
        assert_eq!(port.served, 5, "{share:?}");
    }
}

/// Catches: a cost that cannot be multiplied.
#[test]
fn a_clock_that_leaps_stops_no_schedule() {
    let mut schedule = Schedule::new(&Share::Time(vec![Duration::MAX]));
    let mut port = Mendable { mended: true, cost: Duration::MAX, served: 0 };
    for _ in 0..4 {
        schedule.round(&mut [&mut port]).unwrap();
    }
    assert!(port.served >= 2);
}

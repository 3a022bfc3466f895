//! When the ring gets its buffers back.

use ferronic::{Config, Error, Packet, Replenish, Sink};
use std::time::Duration;

use crate::mock::{frame, number, small_policy, Keep, Mock, Numbers};

/// LOW WATER in these tests.
const LOW_WATER: u16 = 3;

const POLICIES: [Replenish; 7] = [
    Replenish::AsTaken { doorbell_every: 1 },
    Replenish::AsTaken { doorbell_every: 8 },
    Replenish::Every(1),
    Replenish::Every(3),
    Replenish::Every(8),
    Replenish::AtEnd,
    Replenish::OnLowWater,
];

fn config(replenish: Replenish) -> Config {
    let mut config = small_policy(|policy| policy.replenish = replenish);
    config.rx[0].queue.thresholds.low_water = LOW_WATER;
    config
}

/// Notes what the device has as each packet is delivered.
struct Watch<'a>(&'a Mock, Vec<u16>);

impl Sink for Watch<'_> {
    fn deliver(&mut self, _: Packet) {
        self.1.push(self.0.rx_ready());
    }
}

/// Catches: a refill a packet too early or late, a doorbell too many.
#[test]
fn each_policy_gives_the_device_its_buffers_when_it_says() {
    let cases: [(Replenish, [u16; 8], u16, u64); 6] = [
        (Replenish::AsTaken { doorbell_every: 3 }, [0, 0, 3, 3, 3, 6, 6, 6], 6, 2),
        (Replenish::Every(1), [1, 2, 3, 4, 5, 6, 7, 8], 8, 8),
        (Replenish::Every(3), [0, 0, 3, 3, 3, 6, 6, 6], 6, 2),
        (Replenish::Every(8), [0, 0, 0, 0, 0, 0, 0, 8], 8, 1),
        (Replenish::AtEnd, [0; 8], 8, 1),
        // Fewer than three are left when the sixth packet was taken.
        (Replenish::OnLowWater, [0, 0, 0, 0, 0, 6, 6, 6], 6, 1),
    ];
    for (policy, during, after, doorbells) in cases {
        let mock = Mock::new();
        let mut nic = mock.open(&config(policy));
        let at_start = nic.rx[0].statistics().doorbells;
        for i in 0..8 {
            assert!(mock.receive(&frame(i)));
        }
        let mut watch = Watch(&mock, Vec::new());
        assert_eq!(nic.rx[0].poll(64, &mut watch), Ok(8));
        assert_eq!((&watch.1[..], mock.rx_ready()), (&during[..], after), "{policy:?}");
        assert_eq!(nic.rx[0].statistics().doorbells - at_start, doorbells, "{policy:?}");
        assert_eq!(nic.rx[0].posted() + nic.rx[0].waiting(), 8, "{policy:?}");
    }
}

/// Catches: a hole in the ring, a ring that stays short for ever, a buffer lost, a packet dropped without need.
#[test]
fn an_empty_pool_never_leaves_a_hole_under_any_policy() {
    for policy in POLICIES {
        let mock = Mock::new();
        // Two buffers beyond the ring.
        let mut nic = mock.open(&Config { buffers: 10, ..config(policy) });
        let mut keep = Keep::default();
        let mut sent = 0;
        for round in 0..100u32 {
            for _ in 0..round % 9 {
                sent += u32::from(mock.receive(&frame(sent)));
            }
            nic.rx[0].poll(64, &mut keep).unwrap();
            assert_eq!(nic.rx[0].posted() + nic.rx[0].waiting(), 8, "{policy:?}");
        }
        assert!(sent > 200, "{policy:?}: the ring ran dry after {sent}");
        let statistics = nic.rx[0].statistics();
        assert_eq!((statistics.packets, statistics.dropped_no_buffer), (2, u64::from(sent) - 2), "{policy:?}");
        assert!(keep.0.iter().map(|packet| number(packet.bytes())).eq(0..2));
        keep.0.clear();
        let mut sink = Numbers::default();
        for i in 0..50 {
            assert!(mock.receive(&frame(i)), "{policy:?}");
            nic.rx[0].poll(64, &mut sink).unwrap();
        }
        assert!(sink.0.into_iter().eq(0..50), "{policy:?}");
        let pool = nic.pool().clone();
        nic.close().unwrap();
        assert_eq!(pool.available(), 10, "{policy:?}");
    }
}

/// Catches: a driver that sleeps with buffers in hand while the device has too few to wake it.
#[test]
fn a_sleeping_driver_leaves_the_device_all_or_at_least_low_water() {
    for policy in POLICIES {
        let mock = Mock::new();
        let mut nic = mock.open(&config(policy));
        let mut sink = Numbers::default();
        for i in 0..300 {
            for _ in 0..=i % u32::from(LOW_WATER) {
                assert!(mock.receive(&frame(i)), "{policy:?}");
            }
            nic.rx[0].turn(64, Duration::ZERO, &mut sink).unwrap();
            assert!(nic.rx[0].is_armed());
            let least = if policy == Replenish::OnLowWater { LOW_WATER } else { 8 };
            assert!(mock.rx_ready() >= least, "{policy:?}: {}", mock.rx_ready());
        }
        assert_eq!(sink.0.len(), 600);
    }
}

/// Catches: buffers that wait under one policy and are forgotten under the next.
#[test]
fn a_change_of_policy_posts_what_waited() {
    for old in POLICIES {
        for new in POLICIES {
            let mock = Mock::new();
            let mut nic = mock.open(&config(old));
            let mut sink = Numbers::default();
            for i in 0..5 {
                assert!(mock.receive(&frame(i)));
            }
            nic.rx[0].poll(64, &mut sink).unwrap();
            let policy = ferronic::RxPolicy { replenish: new, ..nic.rx[0].policy() };
            nic.rx[0].set_policy(policy).unwrap();
            assert_eq!(nic.rx[0].policy().replenish, new);
            assert_eq!((old != new).then_some(mock.rx_ready()), (old != new).then_some(8), "{old:?} to {new:?}");
        }
    }
}

#[test]
fn numbers_that_do_not_go_with_the_ring_are_refused_and_nothing_changes() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|_| ()));
    let before = nic.rx[0].policy();
    let mut refusal = |replenish| match nic.rx[0].set_policy(ferronic::RxPolicy { replenish, ..before }) {
        Err(Error::OutOfRange(why)) => why.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(Replenish::Every(0)), "RX descriptors per refill is 0; it must be from 1 to 8");
    assert_eq!(refusal(Replenish::Every(9)), "RX descriptors per refill is 9; it must be from 1 to 8");
    assert_eq!(refusal(Replenish::OnLowWater), "LOW WATER to refill at is 0; it must be from 1 to 8");
    assert_eq!(
        refusal(Replenish::AsTaken { doorbell_every: 9 }),
        "RX descriptors per doorbell is 9; it must be from 1 to 8"
    );
    assert_eq!(nic.rx[0].policy(), before);
}

//! Small packets are copied.

use ferronic::{Config, Packet, RxPolicy};
use ferronic_contract::ring::RingSize;

use crate::mock::{frame, small_policy, small_with, Keep, Mock};

fn bytes(length: usize) -> Vec<u8> {
    let mut bytes = frame(length as u32);
    bytes.extend((60..length).map(|i| i as u8));
    bytes.truncate(length);
    bytes
}

/// Catches: a limit off by one, a copy that is cut, a ring buffer that does not go straight back.
#[test]
fn packets_up_to_the_limit_are_copied_and_leave_the_pool_alone() {
    for limit in [0, 60, 64, 100, 256, 300, 1518] {
        let mock = Mock::new();
        let mut nic = mock.open(&small_policy(|policy| policy.copybreak = limit));
        let available = nic.pool().available();
        let mut keep = Keep::default();
        for length in [60, 61, 64, 65, 100, 101, 256, 257, 300, 301, 1517, 1518] {
            assert!(mock.receive(&bytes(length)));
            nic.rx[0].poll(64, &mut keep).unwrap();
            let packet = keep.0.pop().unwrap();
            assert_eq!(packet.bytes(), bytes(length), "{length} of {limit}");
            let copied = length <= usize::from(limit);
            assert_eq!(nic.pool().available(), available - u32::from(!copied), "{length} of {limit}");
            assert_eq!(nic.rx[0].posted(), 8);
        }
        let copied = [60, 61, 64, 65, 100, 101, 256, 257, 300, 301, 1517, 1518].iter().filter(|&&length| length <= limit);
        assert_eq!(nic.rx[0].statistics().copied, copied.count() as u64, "{limit}");
        assert_eq!(nic.rx[0].copy_pool().is_some(), limit > 0);
    }
}

/// Catches: a packet lost or dropped because there is no buffer for a copy.
#[test]
fn when_no_small_buffer_is_left_packets_come_in_their_own() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.copybreak = 256));
    let mut keep = Keep::default();
    for length in 60..60 + 8 + 24 {
        assert!(mock.receive(&bytes(length)));
        nic.rx[0].poll(64, &mut keep).unwrap();
    }
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.packets, statistics.copied, statistics.dropped_no_buffer), (32, 8, 0), "a ring of copies");
    assert_eq!((nic.rx[0].copy_pool().unwrap().available(), nic.pool().available()), (0, 0));
    assert!(keep.0.iter().zip(60..).all(|(packet, length)| packet.bytes() == bytes(length)));
    keep.0.clear();
    assert_eq!((nic.rx[0].copy_pool().unwrap().available(), nic.pool().available()), (8, 24));
}

/// Catches: a copy in memory that the device cannot reach.
#[test]
fn a_copy_can_be_sent() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.copybreak = 256));
    for i in 0..100 {
        assert!(mock.receive(&bytes(60 + i)));
        let tx = &mut nic.tx;
        let mut echo = |packet: Packet| {
            let length = packet.completion.length;
            tx.send(packet.into_buffer(), 0, length).unwrap();
        };
        nic.rx[0].poll(64, &mut echo).unwrap();
        nic.tx.flush();
        assert_eq!(mock.transmit(64), [bytes(60 + i)]);
        nic.tx.reclaim().unwrap();
    }
    assert_eq!(nic.rx[0].statistics().copied, 100);
    assert_eq!(nic.rx[0].copy_pool().unwrap().available(), 8);
}

/// Catches: the first buffer of several copied, and the rest lost.
#[test]
fn a_packet_of_several_buffers_is_never_copied() {
    let mock = Mock::new();
    let mut nic = mock.open(&Config {
        buffer_bytes: 256,
        ..small_with(|rx| (rx.scatter, rx.policy.copybreak) = (true, 1518))
    });
    let mut keep = Keep::default();
    assert!(mock.receive(&bytes(400)));
    assert!(mock.receive(&bytes(200)));
    nic.rx[0].poll(64, &mut keep).unwrap();
    let lengths = keep.0.iter().map(|packet| packet.segments().map(|s| s.length).collect::<Vec<_>>());
    assert_eq!(lengths.collect::<Vec<_>>(), [vec![256, 144], vec![200]]);
    assert_eq!(nic.rx[0].statistics().copied, 1);
}

/// Catches: copies that outlive their limit and then overrun or go to a wrong pool; memory that is never given back.
#[test]
fn the_limit_can_be_changed_while_copies_are_out() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.copybreak = 64));
    let mapped = mock.memory.mapped();
    let mut keep = Keep::default();
    for (round, limit) in [1518, 0, 64, 300, 299, 128].into_iter().enumerate() {
        assert!(mock.receive(&bytes(60 + round)));
        nic.rx[0].poll(64, &mut keep).unwrap();
        let policy = RxPolicy { copybreak: limit, ..nic.rx[0].policy() };
        nic.rx[0].set_policy(policy).unwrap();
        let small = nic.rx[0].copy_pool().map_or(0, |pool| pool.buffer_bytes());
        assert_eq!(small, limit.next_multiple_of(64));
    }
    assert!(keep.0.iter().zip(60..).all(|(packet, length)| packet.bytes() == bytes(length)));
    drop(keep);
    assert_eq!(mock.memory.mapped(), mapped);
    let policy = nic.rx[0].policy();
    let refused = nic.rx[0].set_policy(RxPolicy { copybreak: 1519, ..policy }).unwrap_err();
    assert_eq!(refused.to_string(), "copybreak is 1519; it must be from 0 to 1518");
    mock.memory.grants.set(Some(0));
    let refused = nic.rx[0].set_policy(RxPolicy { copybreak: 1000, ..policy }).unwrap_err();
    assert!(refused.to_string().starts_with("no DMA memory for copies of packets"), "{refused}");
    assert_eq!(nic.rx[0].policy().copybreak, 128, "goes on as before");
}

/// Catches: a default that changes unawares.
#[test]
fn the_usual_limit_is_256() {
    let mock = Mock::new();
    let config = Config::sized(RingSize::new(64).unwrap());
    let nic = mock.open(&config);
    assert_eq!(config.rx[0].policy.copybreak, 256);
    let pool = nic.rx[0].copy_pool().unwrap();
    assert_eq!((pool.buffers(), pool.buffer_bytes()), (64, 256));
}

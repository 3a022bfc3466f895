//! Receiving from an honest device.

use ferronic::{Config, Packet, Path, Sink};
use ferronic_contract::class::{classify, PROTOCOL_LLC};
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{Destination, CLASSIFIED, EPOCH, L2, L2_KIND, VLAN};

use crate::mock::{frame, number, small, small_doorbell, Keep, Mock, Numbers, OWN};

#[test]
fn delivers_in_order_over_many_laps_and_the_wrap_of_the_index() {
    for entries in [8, 64, 1024] {
        let mock = Mock::new();
        let mut config = small();
        config.rx[0].queue.ring = RingSize::new(entries).unwrap();
        config.buffers = entries + 5;
        let mut nic = mock.open(&config);
        let mut sink = Numbers::default();
        let (mut sent, mut burst) = (0u32, 1);
        while sent < 140_000 {
            let before = sent;
            while sent - before < burst && mock.receive(&frame(sent)) {
                sent += 1;
            }
            burst = burst % 13 + 1;
            assert_eq!(nic.rx[0].poll(64, &mut sink).unwrap() as u32, sent - before);
            assert_eq!(u32::from(nic.rx[0].posted()), entries, "a hole in the ring");
        }
        assert_eq!(mock.rx_done(), sent as u16, "wrapped twice");
        assert!(sink.0.iter().copied().eq(0..sent));
        let statistics = nic.rx[0].statistics();
        assert_eq!(statistics.packets, u64::from(sent));
        assert_eq!(statistics.bytes, 60 * u64::from(sent));
        assert_eq!((statistics.status_path, statistics.software_path), (u64::from(sent), 0));
        assert_eq!((statistics.dropped_no_buffer, statistics.bad_completions), (0, 0));
    }
}

#[test]
fn a_burst_longer_than_the_ring_fills_it_and_goes_on_behind_the_doorbells() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sent = 0;
    while mock.receive(&frame(sent)) {
        sent += 1;
    }
    assert_eq!(sent, 8, "all of the ring is usable");
    let mut sink = Numbers::default();
    assert_eq!(nic.rx[0].poll(64, &mut sink).unwrap(), 8);
    while mock.receive(&frame(sent)) {
        sent += 1;
    }
    assert_eq!(sent, 16);
    assert_eq!(nic.rx[0].poll(64, &mut sink).unwrap(), 8);
    assert!(sink.0.into_iter().eq(0..16));
}

#[test]
fn rings_the_doorbell_every_so_many_while_taking_packets() {
    for (every, doorbells) in [(1, 8), (2, 4), (3, 2), (8, 1)] {
        let mock = Mock::new();
        let mut nic = mock.open(&small_doorbell(every));
        let at_start = mock.rx_doorbells.get();
        for i in 0..8 {
            assert!(mock.receive(&frame(i)));
        }
        struct Watch<'a>(&'a Mock, Vec<u16>);
        impl Sink for Watch<'_> {
            fn deliver(&mut self, _: Packet) {
                self.1.push(self.0.rx_ready());
            }
        }
        let mut watch = Watch(&mock, Vec::new());
        nic.rx[0].poll(64, &mut watch).unwrap();
        assert_eq!(mock.rx_doorbells.get() - at_start, doorbells);
        let expected: Vec<u16> = (1..=8).map(|taken| taken / every * every).collect();
        assert_eq!(watch.1, expected, "the device gets buffers before the poll ends");
        assert_eq!(nic.rx[0].statistics().doorbells, u64::from(at_start + doorbells));
    }
}

#[test]
fn an_empty_pool_drops_packets_and_keeps_the_ring_full() {
    let mock = Mock::new();
    // Two buffers beyond the ring.
    let mut nic = mock.open(&Config { buffers: 10, ..small_doorbell(1) });
    let mut keep = Keep::default();
    for i in 0..100 {
        assert!(mock.receive(&frame(i)), "the device never runs out of descriptors");
        assert_eq!(nic.rx[0].poll(64, &mut keep).unwrap(), 1);
        assert_eq!(nic.rx[0].posted(), 8);
    }
    assert_eq!(nic.pool().available(), 0);
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.packets, statistics.dropped_no_buffer), (2, 98));
    assert_eq!(keep.0.iter().map(|p| number(p.bytes())).collect::<Vec<_>>(), [0, 1]);

    keep.0.clear();
    assert!(mock.receive(&frame(100)));
    nic.rx[0].poll(64, &mut keep).unwrap();
    assert_eq!(number(keep.0[0].bytes()), 100, "recovers when buffers come back");
}

#[test]
fn a_kept_packet_is_not_overwritten() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut keep = Keep::default();
    for i in 0..24 {
        assert!(mock.receive(&frame(i)));
        nic.rx[0].poll(64, &mut keep).unwrap();
    }
    assert!(keep.0.iter().map(|p| number(p.bytes())).eq(0..24));
}

#[test]
fn the_budget_bounds_a_poll() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    for i in 0..7 {
        assert!(mock.receive(&frame(i)));
    }
    let mut sink = Numbers::default();
    assert_eq!(nic.rx[0].poll(0, &mut sink).unwrap(), 0);
    assert_eq!(nic.rx[0].poll(3, &mut sink).unwrap(), 3);
    assert_eq!(nic.rx[0].poll(3, &mut sink).unwrap(), 3);
    assert_eq!(nic.rx[0].poll(3, &mut sink).unwrap(), 1);
    assert_eq!(nic.rx[0].poll(3, &mut sink).unwrap(), 0);
    assert_eq!(nic.rx[0].statistics().polls, 5);
    assert!(sink.0.into_iter().eq(0..7));
}

#[test]
fn headers_are_prefetched_ahead_while_more_completions_are_there() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut keep = Keep::default();
    for i in 0..5 {
        assert!(mock.receive(&frame(i)));
    }
    nic.rx[0].poll(64, &mut keep).unwrap();
    assert!(mock.receive(&frame(5)));
    nic.rx[0].poll(64, &mut keep).unwrap();
    let ahead: Vec<bool> = keep.0.iter().map(|p| p.prefetched_ahead).collect();
    assert_eq!(ahead, [false, true, true, true, true, false]);
    assert_eq!(nic.rx[0].statistics().prefetched_ahead, 4);
}

#[test]
fn the_status_bits_classify_and_are_believed_over_the_header() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut keep = Keep::default();
    assert!(mock.receive_with(&frame(1), |c| {
        c.protocol = 0x86DD;
        c.status = c.status.with(ferronic_contract::status::DST, 2).with(VLAN, 1).with(L2_KIND, 1);
    }));
    nic.rx[0].poll(64, &mut keep).unwrap();
    let packet = &keep.0[0];
    assert_eq!(packet.path, Path::Status);
    assert_eq!(packet.class.destination, Destination::Multicast);
    assert_eq!((packet.class.protocol, packet.class.l2, packet.class.vlan_tags), (0x86DD, L2::Llc, 1));
    assert_eq!(packet.completion.length, 60);
}

#[test]
fn software_classifies_what_the_bits_do_not() {
    let mut llc = frame(0);
    llc[12..16].copy_from_slice(&[0, 46, 0xAA, 0xAA]);
    let mut foreign = frame(0);
    foreign[5] = 0x77;
    for bytes in [frame(0), llc.clone(), foreign] {
        let mock = Mock::new();
        let mut nic = mock.open(&small());
        let mut keep = Keep::default();
        // Each spoils trust in another way; the other fields are made to lie.
        let lies: [fn(&mut ferronic_contract::completion::RxCompletion); 4] = [
            |c| c.status = c.status.with(CLASSIFIED, 0),
            |c| c.status = c.status.with(EPOCH, c.status.get(EPOCH) + 1),
            |c| c.status = c.status.with(L2_KIND, 3),
            |c| c.status = c.status.with(VLAN, 3),
        ];
        for lie in lies {
            assert!(mock.receive_with(&bytes, |c| {
                c.protocol = 0xDEAD;
                lie(c);
            }));
        }
        assert_eq!(nic.rx[0].poll(64, &mut keep).unwrap(), 4);
        for packet in &keep.0 {
            assert_eq!(packet.path, Path::Software);
            assert_eq!(Some(packet.class), classify(&bytes, &OWN));
        }
        assert_eq!((nic.rx[0].statistics().software_path, nic.rx[0].statistics().status_path), (4, 0));
    }
    assert_eq!(classify(&llc, &OWN).unwrap().protocol, PROTOCOL_LLC);
}

#[test]
fn frames_compared_with_an_old_address_are_classified_anew() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut keep = Keep::default();
    assert!(mock.receive(&frame(0)));
    let other = [0x02, 0, 0, 0, 0, 0x55];
    for change in 0..20 {
        nic.set_mac(if change % 2 == 0 { other } else { OWN });
        assert_eq!(mock.mac(), nic.mac());
        // The frame that was on its way when the address changed, then one that came after.
        assert!(mock.receive(&frame(change)));
        assert_eq!(nic.rx[0].poll(64, &mut keep).unwrap(), 2);
        let [stale, fresh] = &keep.0[..] else { panic!("two packets") };
        assert_eq!((stale.path, fresh.path), (Path::Software, Path::Status));
        assert_eq!(stale.class.destination, fresh.class.destination);
        assert_eq!(fresh.class.destination == Destination::Host, change % 2 == 1);
        keep.0.clear();
        assert!(mock.receive(&frame(0)));
    }
}

#[test]
fn lengths_from_a_header_to_the_whole_buffer_arrive_whole() {
    let mock = Mock::new();
    let mut nic = mock.open(&Config { max_frame: 9600, buffer_bytes: 9600, ..small() });
    let mut keep = Keep::default();
    for length in [14, 59, 60, 1518, 9600] {
        let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
        assert!(mock.receive(&bytes));
        nic.rx[0].poll(64, &mut keep).unwrap();
        assert_eq!(keep.0.last().unwrap().bytes(), bytes);
    }
}

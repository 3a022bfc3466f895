//! Frames over several buffers, header split, and frames that the core had to cut.

use ferronic::rx::RxFault;
use ferronic::{Config, Path, Replenish, Segment};
use ferronic_contract::class::classify;
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{Status, CLASSIFIED, EOP, ERROR, SOP};

use crate::mock::{frame, small_with, Keep, Mock, Numbers, OWN};

/// Buffers of 256 bytes for frames of up to 1518: 6 for the longest.
fn scattering() -> Config {
    Config { buffer_bytes: 256, ..small_with(|rx| rx.scatter = true) }
}

fn long(length: usize, seed: u8) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect();
    let head = frame(seed.into());
    let n = head.len().min(length);
    bytes[..n].copy_from_slice(&head[..n]);
    bytes
}

fn whole(packet: &ferronic::Packet) -> Vec<u8> {
    packet.segments().flat_map(Segment::bytes).copied().collect()
}

#[test]
fn frames_of_every_length_arrive_whole_in_order_and_give_their_buffers_back() {
    for format in [Format::Full, Format::CompactHash] {
        let mut config = scattering();
        config.rx[0].format = format;
        let mock = Mock::new();
        let mut nic = mock.open(&config);
        let mut keep = Keep::default();
        for (round, length) in (14..=1518).enumerate() {
            let bytes = long(length, round as u8);
            assert!(mock.receive_by(0, &bytes, 0, |_| {}));
            assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(1));
            let packet = keep.0.pop().unwrap();
            assert_eq!(whole(&packet), bytes);
            assert_eq!((packet.length() as usize, packet.segments().count()), (length, length.div_ceil(256)));
            assert_eq!((packet.path, packet.is_scattered()), (Path::Status, length > 256));
            assert!(packet.split_header().is_none());
            drop(packet);
            assert_eq!(nic.pool().available(), 32 - 8);
            assert_eq!(nic.rx[0].posted(), 8);
        }
        let statistics = nic.rx[0].statistics();
        assert_eq!((statistics.packets, statistics.scattered), (1505, 1518 - 256));
        assert_eq!(statistics.bytes, (14..=1518).sum::<u64>());
    }
}

/// Catches: a frame forgotten, or delivered in halves, when a poll ends in its middle.
#[test]
fn a_poll_that_ends_within_a_frame_goes_on_with_it_in_the_next() {
    let mock = Mock::new();
    let mut nic = mock.open(&scattering());
    let mut keep = Keep::default();
    let bytes = long(700, 3);
    let status = classify(&bytes, &OWN).unwrap().status(mock.epoch());
    for (i, part) in bytes.chunks(256).enumerate() {
        assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(0));
        let status = status.with(SOP, (i == 0).into()).with(EOP, (i == 2).into());
        mock.part(0, part, 0x0800, status, &mut |_| {});
    }
    assert_eq!(nic.rx[0].poll(1, &mut keep), Ok(1));
    assert_eq!(whole(&keep.0[0]), bytes);
    assert_eq!(keep.0[0].class.protocol, 0x0800);
}

#[test]
fn the_longest_frame_in_the_smallest_buffers() {
    let mut config = Config { buffer_bytes: 64, max_frame: 9600, buffers: 600, ..scattering() };
    config.rx[0].queue.ring = RingSize::new(256).unwrap();
    let mock = Mock::new();
    let mut nic = mock.open(&config);
    let mut keep = Keep::default();
    for round in 0..3 {
        let bytes = long(9600, round);
        assert!(mock.receive_by(0, &bytes, 0, |_| {}));
        assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(1));
        assert_eq!((whole(&keep.0[0]), keep.0[0].segments().count()), (bytes, 150));
        keep.0.clear();
    }
}

#[test]
fn the_header_lies_apart_and_the_payload_behind_it() {
    for scatter in [false, true] {
        let mut config = scattering();
        (config.rx[0].scatter, config.rx[0].split) = (scatter, Split::L4);
        let mock = Mock::new();
        let mut nic = mock.open(&config);
        let mut keep = Keep::default();
        let bytes = long(if scatter { 1400 } else { 300 }, 7);
        assert!(mock.receive_by(0, &bytes, 54, |_| {}));
        assert!(mock.receive_by(0, &bytes[..100], 0, |_| {}), "one that the core did not split");
        assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(2));
        let [split, whole_one] = &keep.0[..] else { panic!("two packets") };
        assert_eq!(split.split_header(), Some(&bytes[..54]));
        assert_eq!(whole(split), bytes);
        assert_eq!(split.segments().count(), 1 + (bytes.len() - 54).div_ceil(256));
        assert_eq!((whole_one.split_header(), whole_one.bytes()), (None, &bytes[..100]));
        assert_eq!(nic.rx[0].statistics().split, 1);
    }
}

/// Catches: software that looks for the whole Ethernet header in the first segment.
#[test]
fn software_reads_a_header_that_lies_in_several_buffers() {
    let mut config = scattering();
    (config.rx[0].split, config.rx[0].split_bytes) = (Split::Fixed, 13);
    let mock = Mock::new();
    let mut nic = mock.open(&config);
    let mut keep = Keep::default();
    let mut bytes = long(400, 9);
    bytes[12..20].copy_from_slice(&[0x88, 0xA8, 0, 1, 0x81, 0, 0, 2]);
    assert!(mock.receive_by(0, &bytes, 13, |c| c.status = c.status.with(CLASSIFIED, 0)));
    assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(1));
    assert_eq!(keep.0[0].path, Path::Software);
    assert_eq!(Some(keep.0[0].class), classify(&bytes, &OWN));
    assert_eq!(keep.0[0].class.vlan_tags, 2);
}

#[test]
fn segments_can_be_taken_one_by_one_and_a_packet_outlives_its_queue() {
    let mock = Mock::new();
    let mut nic = mock.open(&scattering());
    let mut keep = Keep::default();
    let bytes = long(600, 1);
    assert!(mock.receive_by(0, &bytes, 0, |_| {}));
    assert!(mock.receive_by(0, &bytes, 0, |_| {}));
    nic.rx[0].poll(64, &mut keep).unwrap();
    let pool = nic.pool().clone();
    let mut segments = Vec::new();
    keep.0.pop().unwrap().into_segments(|segment| segments.push(segment));
    assert_eq!(segments.iter().flat_map(Segment::bytes).copied().collect::<Vec<u8>>(), bytes);
    nic.close().unwrap();
    assert_eq!(pool.available(), 32 - 6);
    drop(segments);
    assert_eq!(whole(&keep.0[0]), bytes);
    let buffer = keep.0.pop().unwrap().into_buffer();
    assert_eq!((buffer.bytes(), pool.available()), (&bytes[..256], 31), "the others went home");
}

/// A frame whose second buffer is the last that came.
fn cut(mock: &Mock, first: &[u8], last: &[u8]) {
    let status = Status(0).with(CLASSIFIED, 1);
    mock.part(0, first, 0, status.with(SOP, 1), &mut |_| {});
    mock.part(0, last, 0, status.with(EOP, 1).with(ERROR, 1), &mut |_| {});
}

/// Catches: a cut frame delivered; its buffers lost.
#[test]
fn a_frame_cut_short_is_dropped_counted_and_its_buffers_recycled() {
    let mock = Mock::new();
    let mut nic = mock.open(&scattering());
    let mut sink = Numbers::default();
    for round in 0..50 {
        cut(&mock, &long(256, 1), &long(100, 1));
        // Of one buffer, and of a last buffer into which nothing came.
        mock.part(0, &long(256, 1), 0, Status(0).with(SOP, 1).with(EOP, 1).with(ERROR, 1), &mut |_| {});
        cut(&mock, &long(20, 1), &[]);
        assert!(mock.receive(&frame(round)));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(4), "a dropped frame is one handled");
        assert_eq!((nic.rx[0].posted(), nic.pool().available()), (8, 24));
    }
    assert!(sink.0.into_iter().eq(0..50));
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.packets, statistics.dropped_cut, statistics.dropped_no_buffer), (50, 150, 0));
}

#[test]
fn a_frame_that_runs_out_of_buffers_midway_is_dropped_whole() {
    let mock = Mock::new();
    // Two buffers beyond the ring: the third of a frame finds none.
    let mut config = Config { buffers: 10, ..scattering() };
    config.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 1 };
    let mut nic = mock.open(&config);
    let mut keep = Keep::default();
    for round in 0..40u8 {
        assert!(mock.receive_by(0, &long(1400, round), 0, |_| {}));
        assert!(mock.receive_by(0, &long(400, round), 0, |_| {}));
        assert_eq!(nic.rx[0].poll(64, &mut keep), Ok(2));
        assert_eq!(keep.0.len(), 1);
        assert_eq!(whole(&keep.0.pop().unwrap()), long(400, round));
        assert_eq!((nic.rx[0].posted(), nic.pool().available()), (8, 2));
    }
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.packets, statistics.dropped_no_buffer, statistics.dropped_cut), (40, 40, 0));
}

/// What a queue of 256-byte buffers makes of these parts: bytes, SOP, EOP.
fn fault(config: &Config, parts: &[(usize, u32, u32)]) -> RxFault {
    let mock = Mock::new();
    let mut nic = mock.open(config);
    let mut sink = Numbers::default();
    assert!(mock.receive(&frame(7)));
    for &(length, sop, eop) in parts {
        mock.part(0, &long(length, 1), 0, Status(0).with(SOP, sop).with(EOP, eop), &mut |_| {});
    }
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1), "the good one before");
    let fault = nic.rx[0].fault().expect("the queue is given up");
    assert_eq!(nic.rx[0].poll(64, &mut sink), Err(fault));
    assert_eq!((sink.0, nic.rx[0].posted()), (vec![7], 8));
    let pool = nic.pool().clone();
    nic.close().unwrap();
    assert_eq!(pool.available(), 32);
    fault
}

#[test]
fn an_order_that_cannot_be_gives_the_queue_up() {
    let config = scattering();
    assert_eq!(fault(&config, &[(60, 0, 1)]), RxFault::Order { index: 1, sop: false });
    assert_eq!(fault(&config, &[(60, 0, 0)]), RxFault::Order { index: 1, sop: false });
    assert_eq!(fault(&config, &[(256, 1, 0), (60, 1, 1)]), RxFault::Order { index: 2, sop: true });
    assert_eq!(fault(&config, &[(256, 1, 0), (60, 1, 0)]), RxFault::Order { index: 2, sop: true });
    assert_eq!(fault(&config, &[(256, 1, 0), (0, 0, 0)]), RxFault::Length { index: 2, length: 0, min: 1, max: 256 });
    assert_eq!(fault(&config, &[(13, 1, 1)]), RxFault::Length { index: 1, length: 13, min: 14, max: 256 });
    let short = RxFault::Frame { index: 2, length: 13, min: 14, max: 1518 };
    assert_eq!(fault(&config, &[(12, 1, 0), (1, 0, 1)]), short);
    let parts = [(256, 1, 0), (256, 0, 0), (256, 0, 0), (256, 0, 0), (256, 0, 0), (239, 0, 1)];
    assert_eq!(fault(&config, &parts), RxFault::Frame { index: 6, length: 1519, min: 14, max: 1518 });
    let parts = [(20, 1, 0), (20, 0, 0), (20, 0, 0), (20, 0, 0), (20, 0, 0), (20, 0, 0)];
    assert_eq!(fault(&config, &parts), RxFault::Segments { index: 6, max: 6 });
    // A queue that does not scatter has frames of one buffer, and of two when it splits.
    let config = Config { buffer_bytes: 256, ..small_with(|_| ()) };
    assert_eq!(fault(&config, &[(256, 1, 0)]), RxFault::Segments { index: 1, max: 1 });
    let config = Config { buffer_bytes: 256, ..small_with(|rx| rx.split = Split::L2) };
    assert_eq!(fault(&config, &[(14, 1, 0), (60, 0, 0)]), RxFault::Segments { index: 2, max: 2 });
}

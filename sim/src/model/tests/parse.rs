//! The rules of the contract one by one; the fuzzer in the crate `ferronic-tests` looks for what nobody thought of.

use ferronic_contract::parse::{Checksum, L3, L4};
use ferronic_contract::registers;

use super::OWN;
use crate::model::{classify, read, Fate, Reading, Settings};

const TCP: [u8; 20] = [0, 80, 1, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0];
const NO_EXTENSION: &[&[u8]] = &[];

/// A frame of these parts behind the addresses.
fn frame(parts: &[&[u8]]) -> Vec<u8> {
    [&OWN, [2, 0, 0, 0, 0, 2].as_slice(), &parts.concat()].concat()
}

/// IPv4 header and type; the checksum is not right.
fn ipv4(protocol: u8, fragment: u16, payload: usize) -> Vec<u8> {
    let mut header = vec![8, 0, 0x45, 0, 0, 0, 0, 7, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    header[4..6].copy_from_slice(&(20 + payload as u16).to_be_bytes());
    header[8..10].copy_from_slice(&fragment.to_be_bytes());
    header
}

/// IPv6 header with extension headers, and type.
fn ipv6(next: u8, extensions: &[&[u8]], payload: usize) -> Vec<u8> {
    let extensions = extensions.concat();
    let mut header = vec![0x86, 0xDD, 0x60, 0, 0, 0, 0, 0, next, 64];
    header[6..8].copy_from_slice(&((extensions.len() + payload) as u16).to_be_bytes());
    header.extend((0..32).map(|byte| byte | 0x20));
    header.extend(extensions);
    header
}

fn reading(frame: &[u8]) -> Reading {
    read(frame, &classify(frame, &OWN).unwrap())
}

/// L3, L3OPT, FRAG, L4, and where the header ends.
fn layers(frame: &[u8]) -> (L3, bool, bool, L4, u8) {
    let reading = reading(frame);
    (reading.l3, reading.l3_options, reading.fragment, reading.l4, reading.header_length)
}

#[test]
fn the_network_layer_lies_behind_the_tags_that_are_counted() {
    let ip = [ipv4(17, 0, 8), vec![0; 8]].concat();
    let tag = |tpid: u16| [tpid.to_be_bytes(), [0, 5]].concat();
    for (tags, l3, end) in [
        (vec![], L3::Ipv4, 42),
        (vec![0x8100], L3::Ipv4, 46),
        (vec![0x88A8, 0x8100], L3::Ipv4, 50),
        (vec![0x8100, 0x88A8, 0x8100], L3::Other, 22),
        (vec![0x9100], L3::Other, 14),
    ] {
        let tags: Vec<u8> = tags.into_iter().flat_map(tag).collect();
        assert_eq!(layers(&frame(&[&tags, &ip])), (l3, false, false, if l3 == L3::Ipv4 { L4::Udp } else { L4::None }, end));
    }
    assert_eq!(layers(&frame(&[&[8, 6]])), (L3::Arp, false, false, L4::None, 14));
    assert_eq!(layers(&frame(&[&[0, 46], &[0; 46]])), (L3::None, false, false, L4::None, 14));
    assert_eq!(layers(&frame(&[&[8, 0]])), (L3::None, false, false, L4::None, 14));
}

#[test]
fn ipv4_is_told_by_what_the_kernel_takes() {
    let good = frame(&[&ipv4(6, 0, 20), &TCP]);
    assert_eq!(layers(&good), (L3::Ipv4, false, false, L4::Tcp, 54));
    let changed = |at: usize, to: u8| {
        let mut frame = good.clone();
        frame[at] = to;
        layers(&frame)
    };
    let none = (L3::None, false, false, L4::None, 14);
    assert_eq!(changed(14, 0x55), none, "version");
    assert_eq!(changed(14, 0x44), none, "header length 4");
    assert_eq!(changed(14, 0x4B), none, "header behind the packet");
    assert_eq!(changed(14, 0x46).0, L3::Ipv4, "header of 24 in a packet of 40");
    assert!(changed(14, 0x46).1, "options");
    assert_eq!(changed(17, 19), none, "total length under the header");
    assert_eq!(changed(17, 20), (L3::Ipv4, false, false, L4::None, 34), "nothing but the header");
    assert_eq!(changed(17, 39), (L3::Ipv4, false, false, L4::None, 34), "TCP header not whole");
    assert_eq!(changed(17, 41), none, "total length over the frame");
    assert_eq!(changed(46, 0x40).3, L4::None, "data offset 4");
    assert_eq!(changed(46, 0x60).3, L4::None, "data offset behind the packet");
    for (protocol, l4, end) in
        [(17, L4::Udp, 42), (1, L4::Icmp, 42), (132, L4::Sctp, 46), (58, L4::Other, 34), (51, L4::Other, 34), (44, L4::Other, 34)]
    {
        assert_eq!(changed(23, protocol), (L3::Ipv4, false, false, l4, end), "protocol {protocol}");
    }
    // More fragments, offset, and the bit that says not to.
    assert_eq!(changed(20, 0x20), (L3::Ipv4, false, true, L4::Tcp, 54));
    assert_eq!(changed(21, 1), (L3::Ipv4, false, true, L4::None, 34));
    assert_eq!(changed(20, 0x40), (L3::Ipv4, false, false, L4::Tcp, 54));
}

#[test]
fn extension_headers_are_walked_each_by_its_unit() {
    let layers = |next, extensions: &[&[u8]]| layers(&frame(&[&ipv6(next, extensions, 20), &TCP]));
    assert_eq!(layers(6, NO_EXTENSION), (L3::Ipv6, false, false, L4::Tcp, 74));
    assert_eq!(layers(59, NO_EXTENSION), (L3::Ipv6, false, false, L4::None, 54));
    assert_eq!(layers(50, NO_EXTENSION), (L3::Ipv6, false, false, L4::Other, 54));
    assert_eq!(layers(1, NO_EXTENSION), (L3::Ipv6, false, false, L4::Other, 54));
    assert_eq!(layers(58, NO_EXTENSION), (L3::Ipv6, false, false, L4::Icmp, 62));
    for kind in [0, 43, 60] {
        assert_eq!(layers(kind, &[&[6, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]), (L3::Ipv6, true, false, L4::Tcp, 90));
    }
    assert_eq!(layers(51, &[&[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]), (L3::Ipv6, true, false, L4::Tcp, 86));
    assert_eq!(layers(51, &[&[6, 0, 0, 0, 0, 0, 0, 0]]), (L3::Ipv6, true, false, L4::Tcp, 82));
    let fragment = |offset: u16| [[6, 0].as_slice(), &offset.to_be_bytes(), &[0; 4]].concat();
    assert_eq!(layers(44, &[&fragment(0)]), (L3::Ipv6, true, false, L4::Tcp, 82), "an atomic fragment is none");
    assert_eq!(layers(44, &[&fragment(1)]), (L3::Ipv6, true, true, L4::Tcp, 82));
    assert_eq!(layers(44, &[&fragment(6)]), (L3::Ipv6, true, false, L4::Tcp, 82), "reserved bits");
    assert_eq!(layers(44, &[&fragment(8)]), (L3::Ipv6, true, true, L4::None, 62));
    let four = [60, 0, 0, 0, 0, 0, 0, 0].repeat(3);
    assert_eq!(layers(60, &[&four, &[6, 0, 0, 0, 0, 0, 0, 0]]), (L3::Ipv6, true, false, L4::Tcp, 106));
    assert_eq!(layers(60, &[&four, &[60, 0, 0, 0, 0, 0, 0, 0], &[6, 0, 0, 0, 0, 0, 0, 0]]).3, L4::None, "a fifth");
    assert_eq!(layers(60, &[&[6, 9, 0, 0, 0, 0, 0, 0]]), (L3::Ipv6, false, false, L4::None, 54), "longer than the packet");
    let mut jumbo = frame(&[&ipv6(0, &[&[6, 0, 0xC2, 4, 0, 1, 0, 0]], 20), &TCP]);
    jumbo[18..20].fill(0);
    assert_eq!(self::layers(&jumbo), (L3::Ipv6, false, false, L4::None, 54), "payload length 0");
}

#[test]
fn a_header_that_leaves_the_window_is_not_there() {
    // The fixed header ends at 54, and TCP has 20 bytes: 128 is not reached with 48 more, and passed with 56.
    for (longer, l4) in [(5, L4::Tcp), (6, L4::None)] {
        let extension = [[6, longer].as_slice(), &vec![0; 8 * usize::from(longer) + 6]].concat();
        let frame = frame(&[&ipv6(60, &[&extension], 20), &TCP]);
        assert_eq!(layers(&frame).3, l4, "{} bytes", extension.len());
    }
    // Exactly at the end of the window: AH counts by 4 bytes, so 54 + 54 + 20 takes a tag of 4 and headers of 40 and 12.
    let ah = [[60, 8].as_slice(), &[0; 38]].concat();
    for (data_offset, l4) in [(0x50, L4::Tcp), (0x60, L4::None)] {
        let mut tcp = [TCP, [0; 20]].concat();
        tcp[12] = data_offset;
        let headers = ipv6(51, &[&ah, &[6, 0, 0, 0, 0, 0, 0, 0]], 40);
        let frame = frame(&[&[0x81, 0, 0, 1], &headers, &tcp]);
        assert_eq!(layers(&frame), (L3::Ipv6, true, false, l4, if l4 == L4::Tcp { 126 } else { 106 }));
    }
    let extension = [[60, 8].as_slice(), &[0; 70]].concat();
    assert_eq!(layers(&frame(&[&ipv6(60, &[&extension, &[6, 0, 0, 0, 0, 0, 0, 0]], 20), &TCP])), (L3::Ipv6, true, false, L4::None, 126));
}

#[test]
fn checksums_have_a_verdict_only_where_they_apply() {
    let build = |payload: &[u8]| {
        let mut bytes = Vec::new();
        etherparse::PacketBuilder::ethernet2([2; 6], OWN)
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .udp(7, 9)
            .write(&mut bytes, payload)
            .unwrap();
        bytes
    };
    let verdicts = |frame: &[u8]| (reading(frame).ip_checksum, reading(frame).l4_checksum);
    use Checksum::{Bad, Good, NotChecked};
    for length in [0, 1, 2, 17, 1000, 1001] {
        let good = build(&vec![0xA5; length]);
        assert_eq!(verdicts(&good), (Good, Good), "{length}");
        let padded = [good.as_slice(), &[0xFF, 3, 7]].concat();
        assert_eq!(verdicts(&padded), (Good, Good), "padding is not summed");
        for at in 34..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            let expected = if at == 38 || at == 39 { NotChecked } else { Bad };
            assert_eq!(verdicts(&bad), (Good, expected), "{length}, byte {at}");
        }
        let mut zero = good.clone();
        zero[40..42].fill(0);
        assert_eq!(verdicts(&zero), (Good, NotChecked));
        let mut bad = good.clone();
        bad[22] ^= 1;
        assert_eq!(verdicts(&bad), (Bad, Good), "the one does not depend on the other");
    }
}

#[test]
fn segments_left_and_fragments_leave_the_checksum_open() {
    let routing = |left| frame(&[&ipv6(43, &[&[6, 0, 0, left, 0, 0, 0, 0]], 20), &TCP]);
    assert_eq!(reading(&routing(0)).l4_checksum, Checksum::Bad);
    assert_eq!(reading(&routing(1)).l4_checksum, Checksum::NotChecked);
    assert!(reading(&routing(1)).ack);
    let first = frame(&[&ipv4(6, 0x2000, 20), &TCP]);
    assert_eq!((reading(&first).l4, reading(&first).l4_checksum, reading(&first).ack), (L4::Tcp, Checksum::NotChecked, false));
    let data = frame(&[&ipv4(6, 0, 21), &TCP, &[0]]);
    assert!(!reading(&data).ack);
}

#[test]
fn the_raw_sum_is_that_of_all_bytes_behind_byte_14() {
    let raw = |rest: &[u8]| match Settings::default().judge(&frame(&[&[8, 6], rest])) {
        Fate::Queue(delivery) => delivery.completion(ferronic_contract::ring::RingSize::new(8).unwrap(), 0, 0).raw_checksum,
        fate => panic!("{fate:?}"),
    };
    assert_eq!(raw(&[]), 0);
    assert_eq!(raw(&[0; 9]), 0);
    assert_eq!(raw(&[0x12]), 0x1200);
    assert_eq!(raw(&[0x12, 0x34, 0x56]), 0x6834);
    assert_eq!(raw(&[0xFF, 0xFF]), 0xFFFF);
    assert_eq!(raw(&[0xFF, 0xFE, 0, 1]), 0xFFFF);
    assert_eq!(raw(&[0xFF, 0xFF, 0, 1]), 1);
}

#[test]
fn a_stripped_frame_is_read_as_delivered_and_counts_its_tag() {
    let ip = [ipv4(17, 0, 8), vec![0; 8]].concat();
    let (c, s) = (registers::STRIP_C.mask(), registers::STRIP_S.mask());
    let tagged = |tags: &[u16]| {
        let tags: Vec<u8> = tags.iter().zip(1u16..).flat_map(|(tpid, vid)| [tpid.to_be_bytes(), vid.to_be_bytes()].concat()).collect();
        frame(&[&tags, &ip])
    };
    let seen = |wire: &[u8], mode| match (Settings { mode: 1 | mode, ..Settings::default() }).judge(wire) {
        Fate::Queue(delivery) => {
            let completion = delivery.completion(ferronic_contract::ring::RingSize::new(8).unwrap(), 0, 0);
            let status = |field| completion.status.get(field);
            use ferronic_contract::status::{L3, STRIPPED, STRIPPED_S, VLAN};
            assert_eq!(usize::from(completion.length) + 4 * status(STRIPPED) as usize, wire.len());
            (status(VLAN), status(STRIPPED), status(STRIPPED_S), completion.vlan_tci, completion.protocol, completion.l3_offset, status(L3))
        }
        fate => panic!("{fate:?}"),
    };
    assert_eq!(seen(&tagged(&[0x8100]), c), (1, 1, 0, 1, 0x0800, 14, 1));
    assert_eq!(seen(&tagged(&[0x8100]), s), (1, 0, 0, 0, 0x8100, 18, 1));
    assert_eq!(seen(&tagged(&[0x88A8, 0x8100]), c | s), (2, 1, 1, 1, 0x8100, 18, 1), "the outer one alone");
    assert_eq!(seen(&tagged(&[0x88A8, 0x8100]), c), (2, 0, 0, 0, 0x88A8, 22, 1));
    assert_eq!(seen(&tagged(&[0x8100, 0x8100, 0x8100]), c), (2, 1, 0, 1, 0x8100, 18, 4), "a third tag is a type");
    assert_eq!(seen(&frame(&[&[0x81, 0, 0, 1]]), c), (0, 0, 0, 0, 0x8100, 14, 4), "a tag without a type behind it");
    assert_eq!(seen(&frame(&[&[0x81, 0, 0, 1, 0, 3]]), c), (1, 1, 0, 1, 4, 14, 0), "LLC when its tag is gone");
}

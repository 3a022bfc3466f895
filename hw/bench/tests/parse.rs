//! The parser against a plain reading of the rules of `ferronic_contract::parse`: each rule at its edge, and random
//! frames, whole and broken.
//!
//! Caught when tried: an extension header that ends exactly with the packet or the window taken for one that does not fit.

mod parse_support;

use ferronic_contract::parse::{L3, L4};
use parse_support::build::{any, authentication, ethernet, fragment, ipv4, ipv6, options, routing, tcp, udp, OWN};
use parse_support::reading::{read, Frame, Reading};
use parse_support::{Bench, Random};

/// Compares block and reading on one frame, and says what the reading is.
fn parsed(frame: Frame) -> Reading {
    let reading = read(&frame);
    // Twice: the second time behind what the first left.
    Bench::new(1).check([frame.clone(), frame]);
    reading
}

fn over4(packet: Vec<u8>) -> Reading {
    parsed(ethernet(&[], 0x0800, &packet))
}

fn over6(packet: Vec<u8>) -> Reading {
    parsed(ethernet(&[], 0x86DD, &packet))
}

fn with_byte(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    bytes[at] = value;
    bytes
}

fn with_word(mut bytes: Vec<u8>, at: usize, value: u16) -> Vec<u8> {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    bytes
}

const NONE: u8 = L4::None as u8;
const TCP: u8 = L4::Tcp as u8;
const UDP: u8 = L4::Udp as u8;
const ICMP: u8 = L4::Icmp as u8;
const SCTP: u8 = L4::Sctp as u8;
const OTHER: u8 = L4::Other as u8;
const IPV4: u8 = L3::Ipv4 as u8;
const IPV6: u8 = L3::Ipv6 as u8;

#[test]
fn a_plain_tcp_packet_is_read_whole() {
    let reading = over4(ipv4(0, 6, 0x4000, &tcp(5, 10)));
    assert_eq!((reading.l3, reading.l4, reading.l3_offset, reading.l4_offset, reading.header_length), (IPV4, TCP, 14, 34, 54));
    assert!(reading.ip_checked && reading.ip_good && reading.l4_wanted && !reading.ack && !reading.l3opt && !reading.frag);
    assert_eq!((reading.source_port, reading.destination_port), (0x1234, 80));
    assert_eq!(reading.source[..5], [192, 168, 1, 2, 0]);
    // 192.168 + 1.2 + 10.20 + 30.40 + 6 + 30
    assert_eq!(reading.pseudo_sum, 0xC0A8 + 0x0102 + 0x0A14 + 0x1E28 + 36);
    assert_eq!(reading.header_sum, 0xFFFF);
}

#[test]
fn frames_end_anywhere() {
    // Every length of frame, below and beyond the window, with and without tags: nothing behind the end is heeded.
    let long6 = ipv6(&[options(0, 1), fragment(0, false), authentication(4), routing(1, 0)], 6, &tcp(7, 60));
    let frames = [
        ethernet(&[], 0x0800, &ipv4(2, 6, 0, &tcp(8, 90))),
        ethernet(&[(0x8100, 7)], 0x0800, &ipv4(10, 17, 0, &udp(60))),
        ethernet(&[(0x88A8, 7), (0x8100, 8)], 0x86DD, &long6),
        ethernet(&[], 0x86DD, &long6),
        ethernet(&[(0x8100, 7)], 0x05DC, &[0xFF; 60]),
    ];
    let mut bench = Bench::new(2);
    for frame in frames {
        for length in 14..=frame.bytes.len() {
            let mut short = frame.clone();
            short.bytes.truncate(length);
            // Once as the packet claims more than there is, once as it claims what there is.
            bench.cycle(Some(short.clone()));
            let network = usize::from(read(&short).l3_offset);
            match u16::from_be_bytes([short.bytes[network - 2], short.bytes[network - 1]]) {
                0x0800 if length >= network + 4 => {
                    let total = ((length - network) as u16).to_be_bytes();
                    short.bytes[network + 2..network + 4].copy_from_slice(&total);
                }
                0x86DD if length >= network + 40 => {
                    let payload = ((length - network - 40) as u16).to_be_bytes();
                    short.bytes[network + 4..network + 6].copy_from_slice(&payload);
                }
                _ => continue,
            }
            bench.cycle(Some(short));
        }
    }
    bench.finish();
}

#[test]
fn the_link_layer_is_told_as_the_kernel_tells_it() {
    let lengths = [0x0000, 0x05DC, 0x05DD, 0x05FF, 0x0600, 0x0800, 0xFFFF];
    let mut bench = Bench::new(3);
    for kind in lengths {
        for inside in [&[0xFF, 0xFF, 1][..], &[0xFF, 0xFF], &[0xFF], &[], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &[0xE0, 0xE0, 3]] {
            bench.cycle(Some(ethernet(&[], kind, inside)));
        }
    }
    for (destination, own) in [([1; 6], [1; 6]), ([0xFF; 6], [0xFF; 6]), ([0xFF; 6], OWN), ([3; 6], OWN), (OWN, OWN), ([4; 6], OWN)] {
        let mut frame = ethernet(&[], 0x0806, &[0; 46]);
        frame.bytes[..6].copy_from_slice(&destination);
        frame.own = own;
        assert_eq!(read(&frame).l3, L3::Arp as u8);
        bench.cycle(Some(frame));
    }
    bench.finish();
    let llc = parsed(ethernet(&[], 0x05DD, &ipv4(0, 6, 0, &tcp(5, 0))));
    assert_eq!((llc.l2, llc.l3, llc.l4, llc.ethertype_valid, llc.header_length), (1, 0, 0, false, 14));
}

#[test]
fn two_tags_count_and_a_stripped_one_is_one_of_them() {
    let packet = ipv4(0, 17, 0, &udp(20));
    let tags = [(0x88A8, 0x6ABC), (0x8100, 0x0123), (0x8100, 4)];
    for (count, stripped, vlan, l3_offset, l3) in [
        (0, false, 0, 14, IPV4),
        (1, false, 1, 18, IPV4),
        (2, false, 2, 22, IPV4),
        (3, false, 2, 22, L3::Other as u8),
        (0, true, 1, 14, IPV4),
        (1, true, 2, 18, IPV4),
        (2, true, 2, 18, L3::Other as u8),
    ] {
        let mut frame = ethernet(&tags[..count], 0x0800, &packet);
        frame.stripped = stripped.then_some(0x8FFE);
        let reading = parsed(frame);
        assert_eq!((reading.vlan, reading.l3_offset, reading.l3), (vlan, l3_offset, l3), "{count} {stripped}");
        assert_eq!(reading.l4_offset, if l3 == IPV4 { l3_offset + 20 } else { l3_offset });
        assert_eq!(reading.vid_valid, vlan > 0);
        assert_eq!(reading.vid, if stripped { 0xFFE } else if count > 0 { 0xABC } else { 0 });
    }
    // A tag without room for a type is none; behind a tag any type will do.
    assert_eq!(parsed(ethernet(&[], 0x8100, &[0, 1, 8])).vlan, 0);
    assert_eq!(parsed(ethernet(&[(0x8100, 1)], 0x0010, &[0; 40])).l3, L3::Other as u8);
}

#[test]
fn an_ipv4_header_that_breaks_a_rule_is_none() {
    let good = ipv4(0, 6, 0, &tcp(5, 0));
    assert_eq!(over4(good.clone()).l3, IPV4);
    for (at, value) in [(0, 0x55), (0, 0x44), (0, 0x4B), (3, 19), (3, 41), (2, 1), (2, 0x80)] {
        let reading = over4(with_byte(good.clone(), at, value));
        assert_eq!((reading.l3, reading.l4, reading.header_length, reading.l4_offset), (0, 0, 14, 14), "{at} {value}");
        assert!(!reading.ip_checked && !reading.l4_wanted);
        assert_eq!(reading.source, [0; 16]);
    }
    // Header inside the frame, total length less than the header.
    assert_eq!(over4(with_byte(ipv4(1, 6, 0, &tcp(5, 0)), 3, 23)).l3, 0);
    // A wrong checksum is the verdict's business.
    let reading = over4(with_byte(good, 10, 0x12));
    assert!(reading.l3 == IPV4 && reading.l4 == TCP && reading.ip_checked && !reading.ip_good && reading.l4_wanted);
}

#[test]
fn ipv4_options_move_the_transport_header() {
    for count in 0..=10 {
        let reading = over4(ipv4(count, 17, 0, &udp(3)));
        assert_eq!((reading.l3opt, reading.l4, reading.l4_offset), (count > 0, UDP, 34 + 4 * count as u8));
        assert!(reading.ip_good && reading.l4_wanted);
    }
    // Two tags and the longest header: the TCP header ends with the window, and goes beyond it.
    let tags = [(0x8100, 1), (0x8100, 2)];
    for (offset, l4) in [(11, TCP), (12, NONE)] {
        let reading = parsed(ethernet(&tags, 0x0800, &ipv4(10, 6, 0, &tcp(offset, 100))));
        assert_eq!((reading.l4, reading.header_length), (l4, if l4 == TCP { 126 } else { 82 }));
    }
}

#[test]
fn padding_and_other_lengths_are_told_from_the_packet() {
    // 60 bytes with 6 of padding: the packet ends with the TCP header.
    let mut packet = ipv4(0, 6, 0, &tcp(5, 0));
    packet.extend([0xEE; 6]);
    assert!(over4(packet.clone()).ack);
    // One byte of data, and a data offset that goes beyond the packet, not beyond the frame.
    assert!(!over4(with_byte(packet.clone(), 3, 41)).ack);
    let reading = over4(with_byte(packet, 32, 0x60));
    assert_eq!((reading.l4, reading.header_length, reading.ack), (NONE, 34, false));
    // The least data offset.
    assert_eq!(over4(ipv4(0, 6, 0, &tcp(4, 40))).l4, NONE);
    for size in 0..24 {
        for (number, l4, least) in [(6, TCP, 20), (17, UDP, 8), (1, ICMP, 8), (132, SCTP, 12), (47, OTHER, 0), (51, OTHER, 0), (58, OTHER, 0), (43, OTHER, 0)] {
            let mut inside = tcp(5, 4);
            inside.truncate(size);
            assert_eq!(over4(ipv4(0, number, 0, &inside)).l4, if size >= least { l4 } else { NONE });
        }
    }
}

#[test]
fn a_udp_checksum_is_looked_at_when_there_is_one_and_the_length_is_right() {
    for packet in [|inside: &[u8]| (0x0800, ipv4(0, 17, 0, inside)), |inside: &[u8]| (0x86DD, ipv6(&[], 17, inside))] {
        let wanted = |inside: &[u8]| {
            let (kind, packet) = packet(inside);
            let reading = parsed(ethernet(&[], kind, &packet));
            assert_eq!(reading.l4, UDP);
            reading.l4_wanted
        };
        assert!(wanted(&udp(7)) && wanted(&udp(0)));
        assert!(!wanted(&with_word(udp(7), 6, 0)));
        assert!(wanted(&with_word(udp(7), 6, 1)) && wanted(&with_word(udp(7), 6, 0x0100)));
        for length in [0, 14, 16, 15 + 256] {
            assert!(!wanted(&with_word(udp(7), 4, length)), "{length}");
        }
    }
}

#[test]
fn fragments_over_ipv4() {
    for (word, frag, l4) in [(0x4000, false, TCP), (0x8000, false, TCP), (0x2000, true, TCP), (1, true, NONE), (0x3FFF, true, NONE), (0x1000, true, NONE)] {
        let reading = over4(ipv4(0, 6, word, &tcp(5, 0)));
        assert_eq!((reading.frag, reading.l4, reading.l4_wanted, reading.ack), (frag, l4, !frag, !frag), "{word:04x}");
        assert_eq!(reading.l4_offset, 34);
        assert_eq!(reading.destination_port, if l4 == TCP { 80 } else { 0 });
    }
}

#[test]
fn an_ipv6_header_that_breaks_a_rule_is_none() {
    let good = ipv6(&[], 17, &udp(8));
    let reading = over6(good.clone());
    assert_eq!((reading.l3, reading.l4, reading.l4_offset, reading.header_length), (IPV6, UDP, 54, 62));
    assert!(!reading.ip_checked && reading.l4_wanted && !reading.l3opt);
    for (at, value) in [(0, 0x40), (0, 0x70), (5, 17), (4, 1), (4, 0x80)] {
        let reading = over6(with_byte(good.clone(), at, value));
        assert_eq!((reading.l3, reading.l4, reading.header_length), (0, 0, 14));
    }
    assert_eq!(over6(with_byte(good.clone(), 5, 15)).l3, IPV6);
    assert_eq!(over6(good[..39].to_vec()).l3, 0);
    let no_payload = over6(with_byte(good, 5, 0));
    assert_eq!((no_payload.l3, no_payload.l4, no_payload.header_length), (IPV6, NONE, 54));
    for (number, l4) in [(58, ICMP), (1, OTHER), (132, SCTP), (59, NONE), (50, OTHER), (41, OTHER)] {
        assert_eq!(over6(ipv6(&[], number, &[9; 20])).l4, l4);
    }
}

#[test]
fn each_extension_header_has_its_own_unit() {
    for (extension, size) in [
        (options(0, 0), 8), (options(60, 2), 24), (routing(1, 0), 16), (fragment(0, false), 8), (authentication(1), 12),
        (authentication(4), 24), (authentication(0), 8),
    ] {
        let reading = over6(ipv6(&[extension], 6, &tcp(5, 3)));
        assert_eq!((reading.l4, reading.l4_offset, reading.header_length), (TCP, 54 + size, 74 + size));
        assert!(reading.l3opt && !reading.frag && reading.l4_wanted);
    }
}

#[test]
fn four_extension_headers_are_walked_and_no_fifth() {
    let four = [options(60, 0), options(0, 0), routing(0, 0), authentication(0)];
    let reading = over6(ipv6(&four, 17, &udp(2)));
    assert_eq!((reading.l4, reading.l4_offset), (UDP, 86));
    let five: Vec<_> = four.into_iter().chain([options(60, 0)]).collect();
    let reading = over6(ipv6(&five, 17, &udp(2)));
    assert_eq!((reading.l4, reading.l4_offset, reading.header_length, reading.l3opt), (NONE, 86, 86, true));
    let none = over6(ipv6(&[options(0, 0)], 59, &[1; 30]));
    assert_eq!((none.l4, none.l4_offset), (NONE, 62));
}

#[test]
fn an_extension_header_that_is_not_inside_ends_the_walk() {
    // Inside the frame, beyond the packet.
    let packet = ipv6(&[options(0, 0), options(60, 1)], 17, &udp(20));
    for (payload, l4_offset) in [(7, 54), (8, 62), (23, 62), (24, 78), (31, 78)] {
        let reading = over6(with_word(packet.clone(), 4, payload));
        assert_eq!((reading.l4, reading.l4_offset, reading.header_length), (NONE, l4_offset, l4_offset), "{payload}");
    }
    // Inside the packet, beyond the window: 72 bytes behind the header are in it.
    for (units, l4_offset) in [(7, 118), (8, 126), (9, 54), (255, 54)] {
        let reading = over6(ipv6(&[options(0, units)], 41, &[5; 30]));
        assert_eq!((reading.l4, reading.l4_offset), (if units < 9 { OTHER } else { NONE }, l4_offset), "{units}");
    }
    // A TCP header of 24 bytes: behind 48 bytes of options it ends with the window.
    for (units, l4) in [(5, TCP), (6, NONE)] {
        let reading = over6(ipv6(&[options(0, units)], 6, &tcp(6, 40)));
        assert_eq!((reading.l4, reading.l4_offset), (l4, 62 + 8 * units), "{units}");
    }
    let udp_at_the_end = over6(ipv6(&[options(0, 7)], 17, &udp(5)));
    assert_eq!((udp_at_the_end.l4, udp_at_the_end.header_length, udp_at_the_end.l4_wanted), (UDP, 126, true));
    assert_eq!(over6(ipv6(&[options(0, 7), authentication(0)], 17, &udp(5))).l4_offset, 126);
}

#[test]
fn fragments_over_ipv6() {
    for (offset, more, frag, l4) in [(0, false, false, UDP), (0, true, true, UDP), (1, false, true, NONE), (0x1000, true, true, NONE)] {
        let reading = over6(ipv6(&[options(0, 0), fragment(offset, more)], 17, &udp(9)));
        assert_eq!((reading.frag, reading.l4, reading.l4_wanted), (frag, l4, !frag), "{offset} {more}");
        assert_eq!((reading.l4_offset, reading.l3opt), (70, true));
    }
    // What looks like a header behind a fragment that is not the first is none, an extension header no less.
    let reading = over6(ipv6(&[fragment(3, false), options(60, 0)], 6, &tcp(5, 0)));
    assert_eq!((reading.l4, reading.l4_offset), (NONE, 62));
    let first = over6(ipv6(&[fragment(0, true), fragment(0, false)], 6, &tcp(5, 0)));
    assert!(first.frag && first.l4 == TCP && !first.ack && !first.l4_wanted);
}

#[test]
fn a_routing_header_with_segments_left_hides_the_final_destination() {
    for (segments, wanted) in [(0, true), (1, false), (0x80, false)] {
        let reading = over6(ipv6(&[routing(0, segments), options(60, 0)], 6, &tcp(5, 0)));
        assert_eq!((reading.l4, reading.l4_wanted, reading.ack), (TCP, wanted, true));
    }
}

#[test]
fn random_frames_are_read_alike() {
    let seed = 0x5EED;
    let mut random = Random(seed);
    let mut bench = Bench::new(seed);
    let (mut seen, mut wanted, mut options) = ([0u32; 6], 0, 0);
    for part in 0..60 {
        // Back to back, and with gaps.
        let gaps = part % 3 * 30;
        for _ in 0..500 {
            while random.chance(gaps) {
                bench.cycle(None);
            }
            let frame = any(&mut random);
            let reading = read(&frame);
            seen[usize::from(reading.l4)] += 1;
            wanted += u32::from(reading.l4_wanted);
            options += u32::from(reading.l3opt && reading.l3 == IPV6 && reading.l4 != NONE);
            bench.cycle(Some(frame));
        }
    }
    bench.finish();
    // The frames are worth the name: each kind of transport, checksums and walks came often.
    assert!(seen.iter().all(|count| *count > 500) && wanted > 3000 && options > 3000, "{seen:?} {wanted} {options}");
}

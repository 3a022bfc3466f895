use std::net::IpAddr;

use etherparse::PacketBuilder;
use ferronic_contract::field::Field;
use ferronic_contract::parse::RssType;
use ferronic_contract::registers;

use crate::model::{toeplitz, Fate, Settings};

/// Source, destination, hash of the addresses, hash of the addresses and TCP ports.
type Vector = ((&'static str, u16), (&'static str, u16), u32, u32);

/// Microsoft, "Verifying the RSS hash calculation": all of its vectors.
const VECTORS: [Vector; 8] = [
    (("66.9.149.187", 2794), ("161.142.100.80", 1766), 0x323e_8fc2, 0x51cc_c178),
    (("199.92.111.2", 14230), ("65.69.140.83", 4739), 0xd718_262a, 0xc626_b0ea),
    (("24.19.198.95", 12898), ("12.22.207.184", 38024), 0xd2d0_a5de, 0x5c2b_394a),
    (("38.27.205.30", 48228), ("209.142.163.6", 2217), 0x8298_9176, 0xafc7_327f),
    (("153.39.163.191", 44251), ("202.188.127.2", 1303), 0x5d18_09c5, 0x10e8_28a2),
    (("3ffe:2501:200:1fff::7", 2794), ("3ffe:2501:200:3::1", 1766), 0x2cc1_8cd5, 0x4020_7d3d),
    (("3ffe:501:8::260:97ff:fe40:efab", 14230), ("ff02::1", 4739), 0x0f0c_461c, 0xdde5_1bbf),
    (("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251), ("fe80::200:f8ff:fe21:67cf", 38024), 0x4b61_e985, 0x02d1_feef),
];

/// Hash and type of a frame when these types are enabled.
fn hash(vector: &Vector, tcp: bool, types: u32) -> (u32, u8) {
    let ((source, from), (destination, to), ..) = *vector;
    let ethernet = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let ip = match (source.parse().unwrap(), destination.parse().unwrap()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => ethernet.ipv4(source.octets(), destination.octets(), 64),
        (IpAddr::V6(source), IpAddr::V6(destination)) => ethernet.ipv6(source.octets(), destination.octets(), 64),
        _ => panic!("addresses of one kind"),
    };
    let mut frame = Vec::new();
    if tcp {
        ip.tcp(from, to, 0, 0).write(&mut frame, &[]).unwrap();
    } else {
        ip.udp(from, to).write(&mut frame, &[]).unwrap();
    }
    let settings = Settings { rss: types, ..Settings::default() };
    let Fate::Queue(delivery) = settings.judge(&frame) else { panic!("taken") };
    let completion = delivery.completion(ferronic_contract::ring::RingSize::new(8).unwrap(), 0, 0);
    (completion.rss_hash, completion.rss_type)
}

#[test]
fn hashes_are_those_of_the_published_vectors() {
    for vector in &VECTORS {
        let (_, _, addresses, ports) = *vector;
        let v6 = vector.0 .0.contains(':');
        let only = |v4: Field, v6_field: Field| if v6 { v6_field.mask() } else { v4.mask() };
        let of = |v4: RssType, v6_kind: RssType| if v6 { v6_kind as u8 } else { v4 as u8 };
        let ip = only(registers::RSS_IPV4, registers::RSS_IPV6);
        let tcp = only(registers::RSS_TCP4, registers::RSS_TCP6);
        let udp = only(registers::RSS_UDP4, registers::RSS_UDP6);
        let (by_ip, by_tcp, by_udp) =
            (of(RssType::Ipv4, RssType::Ipv6), of(RssType::Tcp4, RssType::Tcp6), of(RssType::Udp4, RssType::Udp6));
        assert_eq!(hash(vector, true, ip | tcp | udp), (ports, by_tcp));
        assert_eq!(hash(vector, false, ip | tcp | udp), (ports, by_udp));
        assert_eq!(hash(vector, true, ip | udp), (addresses, by_ip));
        assert_eq!(hash(vector, false, ip | tcp), (addresses, by_ip));
        assert_eq!(hash(vector, true, tcp), (ports, by_tcp));
        assert_eq!(hash(vector, true, udp), (0, RssType::None as u8));
        // The other version's types do nothing.
        assert_eq!(hash(vector, true, 0x3F & !(ip | tcp | udp)), (0, RssType::None as u8));
    }
}

#[test]
fn a_hash_of_nothing_is_0() {
    assert_eq!(toeplitz(&[]), 0);
    assert_eq!(toeplitz(&[0; 36]), 0);
}

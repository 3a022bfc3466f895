//! The layer 3+4 hash of Linux's bonding (`xmit_hash_policy=layer3+4`; `bond_flow_ip()` and `bond_ip_hash()` in
//! drivers/net/bonding/bond_main.c): ports and addresses, one onto another.
//!
//! What has no ports hashes by addresses; what is not IP, by MAC addresses and type, as in `layer2`. A fragment counts
//! as without ports, so a flow that sends both fragments and whole packets is two flows here, as it is there.

use ferronic_contract::parse::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};

/// EtherTypes of the VLAN tags that are stepped over.
const VLAN: [u16; 2] = [0x8100, 0x88A8];
/// Most of them.
const MOST_TAGS: usize = 2;
/// Start of the type field of an untagged frame.
const TYPE: usize = 12;
/// IP protocols whose header starts with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite (`proto_ports_offset()`).
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
/// MF and the fragment offset.
const FRAGMENT: u16 = 0x3FFF;

/// The hash of a frame without FCS. Any bytes will do, but a frame that is cut short hashes by what can be read.
pub fn layer34(frame: &[u8]) -> u32 {
    let mut offset = TYPE;
    for _ in 0..MOST_TAGS {
        if half(frame, offset).is_some_and(|kind| VLAN.contains(&kind)) {
            offset += 4;
        }
    }
    let kind = half(frame, offset).unwrap_or(0);
    let packet = frame.get(offset + 2..).unwrap_or_default();
    let flow = match kind {
        ETHERTYPE_IPV4 => ipv4(packet),
        ETHERTYPE_IPV6 => ipv6(packet),
        _ => None,
    };
    let mut hash = flow.unwrap_or_else(|| layer2(frame, kind));
    hash ^= hash >> 16;
    hash ^= hash >> 8;
    // Many hosts take even ports alone.
    hash >> 1
}

fn ipv4(packet: &[u8]) -> Option<u32> {
    let addresses = word(packet, 12)? ^ word(packet, 16)?;
    let header = usize::from(packet.first()? & 0xF) * 4;
    let whole = half(packet, 6)? & FRAGMENT == 0;
    Some(addresses ^ if whole { ports(packet, *packet.get(9)?, header) } else { 0 })
}

fn ipv6(packet: &[u8]) -> Option<u32> {
    let mut addresses = 0;
    for offset in (8..40).step_by(4) {
        addresses ^= word(packet, offset)?;
    }
    Some(addresses ^ ports(packet, *packet.get(6)?, 40))
}

/// Source and destination port, one word; 0 where there are none.
fn ports(packet: &[u8], protocol: u8, header: usize) -> u32 {
    if WITH_PORTS.contains(&protocol) {
        word(packet, header).unwrap_or(0)
    } else {
        0
    }
}

/// MAC addresses by their last words, and the type.
fn layer2(frame: &[u8], kind: u16) -> u32 {
    word(frame, 2).unwrap_or(0) ^ word(frame, 8).unwrap_or(0) ^ u32::from(kind)
}

fn half(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().map(|half| u16::from_be_bytes(*half))
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ethernet, VLAN tags, IPv4 with options, and the start of a transport header.
    fn ipv4_frame(tags: usize, protocol: u8, fragment: u16, addresses: [u32; 2], ports: [u16; 2]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        (0..tags).for_each(|_| frame.extend([0x81, 0, 0, 5]));
        frame.extend([8, 0, 0x46, 0, 0, 32, 0, 0]);
        frame.extend(fragment.to_be_bytes());
        frame.extend([64, protocol, 0, 0]);
        addresses.iter().for_each(|address| frame.extend(address.to_be_bytes()));
        frame.extend([1, 1, 1, 1]);
        ports.iter().for_each(|port| frame.extend(port.to_be_bytes()));
        frame
    }

    const FLOW: [u32; 2] = [0x0A00_0001, 0x0A00_0002];

    /// By hand: (1000 << 16 | 80) ^ 10.0.0.1 ^ 10.0.0.2 = 0x03E8_0053; folded by 16
    /// 0x03E8_03BB, by 8 0x03EB_EBB8; halved.
    #[test]
    fn a_known_flow_has_the_hash_of_the_rule() {
        let hash = layer34(&ipv4_frame(0, 6, 0, FLOW, [1000, 80]));
        let sum = (1000u32 << 16 | 80) ^ 0x0000_0003;
        assert_eq!(sum, 0x03E8_0053);
        assert_eq!(hash, 0x01F5_F5DC, "{hash:#x}");
    }

    /// Catches: options, tags or a fragment taken for ports; ports left out.
    #[test]
    fn the_ports_count_where_there_are_ports() {
        let of = |tags, protocol, fragment, ports| layer34(&ipv4_frame(tags, protocol, fragment, FLOW, ports));
        let plain = of(0, 6, 0, [1000, 80]);
        assert_ne!(of(0, 6, 0, [1002, 80]), plain);
        assert_eq!([1, 2].map(|tags| of(tags, 6, 0, [1000, 80])), [plain; 2], "tags make no other flow");
        assert_eq!(of(0, 6, 0x4000, [1000, 80]), plain, "DF is no fragment");
        assert_eq!(of(0, 6, 0x2000, [1000, 80]), of(0, 6, 0x0010, [7, 9]), "all fragments are alike");
        assert_eq!(of(0, 1, 0, [1000, 80]), of(0, 1, 0, [7, 9]), "ICMP has no ports");
    }

    #[test]
    fn ipv6_and_other_frames() {
        let ipv6 = |source: u8, port: u8| {
            let mut frame = vec![0; 12];
            frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, 0, 8, 17, 64]);
            frame.extend([[0; 15].as_slice(), &[source], &[0; 15], &[9], &[0, port, 0, 53]].concat());
            layer34(&frame)
        };
        assert!(ipv6(1, 1) != ipv6(4, 1) && ipv6(1, 1) != ipv6(1, 4));
        let mut arp = vec![0; 60];
        arp[12..14].copy_from_slice(&[8, 6]);
        let before = layer34(&arp);
        arp[30] = 1;
        assert_eq!(layer34(&arp), before, "what is not IP has its MAC addresses");
        arp[11] = 4;
        assert_ne!(layer34(&arp), before);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// No bytes make it panic.
        #[test]
        fn any_bytes_have_a_hash(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..4usize) {
            let mut bytes = bytes;
            for (place, byte) in bytes.iter_mut().skip(12).zip([[8, 0], [0x86, 0xDD], [0x81, 0], [0x88, 0xA8]][kind]) {
                *place = byte;
            }
            layer34(&bytes);
        }
    }
}

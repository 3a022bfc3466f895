//! The kinds of frame that the generator builds, and where each carries its number.

use etherparse::{ArpHardwareId, ArpOperation, ArpPacket, EtherType, PacketBuilder, VlanId};

/// Bytes of the number that a generated frame carries, big-endian, at the start of its payload.
const NUMBER: usize = 4;

/// Source address of generated frames: locally administered.
const PEER_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x02];
const PEER_IPV4: [u8; 4] = [10, 0, 1, 0];
const HOST_IPV4: [u8; 4] = [10, 0, 0, 1];
const PEER_IPV6: [u8; 16] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
const HOST_IPV6: [u8; 16] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
/// The discard service (RFC 863).
const HOST_PORT: u16 = 9;
const HOP_LIMIT: u8 = 64;
/// Local experimental EtherType (IEEE 802).
const EXPERIMENTAL: [u8; 2] = [0x88, 0xB5];
/// Longest payload that an 802.3 length field may state.
const LONGEST_802_3: usize = 1500;

/// A kind of frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// UDP over IPv4.
    Udp,
    /// TCP over IPv4: a segment with data.
    Tcp,
    /// ICMP echo request over IPv4.
    Icmp,
    /// ARP request to the broadcast address; bytes behind it are a trailer.
    Arp,
    /// UDP over IPv6.
    Udp6,
    /// TCP over IPv6.
    Tcp6,
    /// ICMPv6 echo request.
    Icmp6,
    /// UDP over IPv4 behind an 802.1Q tag.
    Vlan,
    /// UDP over IPv4 behind an 802.1ad and an 802.1Q tag.
    Qinq,
    /// 802.3 length and an 802.2 LLC TEST frame.
    Llc,
    /// The local experimental EtherType 0x88B5: nothing but payload behind the Ethernet header.
    Raw,
}

impl Protocol {
    /// All of them with their names in a `mix`.
    pub const NAMES: [(&'static str, Self); 11] = [
        ("udp", Self::Udp),
        ("tcp", Self::Tcp),
        ("icmp", Self::Icmp),
        ("arp", Self::Arp),
        ("udp6", Self::Udp6),
        ("tcp6", Self::Tcp6),
        ("icmp6", Self::Icmp6),
        ("vlan", Self::Vlan),
        ("qinq", Self::Qinq),
        ("llc", Self::Llc),
        ("raw", Self::Raw),
    ];

    /// Its name in a `mix`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Bytes of its headers, and so of its shortest frame without FCS.
    pub const fn headers(self) -> usize {
        match self {
            Self::Raw => 14,
            Self::Llc => 17,
            Self::Udp | Self::Icmp | Self::Arp => 42,
            Self::Vlan => 46,
            Self::Qinq => 50,
            Self::Tcp => 54,
            Self::Udp6 | Self::Icmp6 => 62,
            Self::Tcp6 => 74,
        }
    }

    /// Bytes of its longest frame without FCS.
    pub const fn longest(self) -> usize {
        match self {
            Self::Llc => 14 + LONGEST_802_3,
            _ => super::generate::LONGEST,
        }
    }

    /// Builds frame `number` to `own_mac`, of `size` bytes (within [`Protocol::headers`] and [`Protocol::longest`]).
    /// `flow` chooses among 256 flows; `filler` gives the payload that the number leaves.
    pub(super) fn build(
        self,
        own_mac: [u8; 6],
        size: usize,
        number: u32,
        flow: u8,
        filler: impl FnOnce(&mut [u8]),
    ) -> Vec<u8> {
        let mut payload = vec![0; size - self.headers()];
        filler(&mut payload);
        if let Some(start) = payload.get_mut(..NUMBER) {
            start.copy_from_slice(&number.to_be_bytes());
        }
        let mut frame = Vec::with_capacity(size);
        self.write(own_mac, number, flow, &payload, &mut frame);
        debug_assert_eq!(frame.len(), size);
        frame
    }

    fn write(self, own_mac: [u8; 6], number: u32, flow: u8, payload: &[u8], out: &mut Vec<u8>) {
        let port = 1024 + u16::from(flow);
        let [_, _, high, low] = number.to_be_bytes();
        let echo = u16::from_be_bytes([high, low]);
        let mut ipv4 = PEER_IPV4;
        ipv4[3] = flow;
        let mut ipv6 = PEER_IPV6;
        ipv6[15] = flow;
        let vlan = |id: u16| VlanId::try_new(id).unwrap_or_default();
        let ethernet = PacketBuilder::ethernet2(PEER_MAC, own_mac);

        let written = match self {
            Self::Udp => ethernet
                .ipv4(ipv4, HOST_IPV4, HOP_LIMIT)
                .udp(port, HOST_PORT)
                .write_to_vec(out, payload),
            Self::Vlan => ethernet
                .single_vlan(vlan(5))
                .ipv4(ipv4, HOST_IPV4, HOP_LIMIT)
                .udp(port, HOST_PORT)
                .write_to_vec(out, payload),
            Self::Qinq => ethernet
                .double_vlan(vlan(100), vlan(5))
                .ipv4(ipv4, HOST_IPV4, HOP_LIMIT)
                .udp(port, HOST_PORT)
                .write_to_vec(out, payload),
            Self::Tcp => ethernet
                .ipv4(ipv4, HOST_IPV4, HOP_LIMIT)
                .tcp(port, HOST_PORT, number, u16::MAX)
                .ack(1)
                .psh()
                .write_to_vec(out, payload),
            Self::Icmp => ethernet
                .ipv4(ipv4, HOST_IPV4, HOP_LIMIT)
                .icmpv4_echo_request(port, echo)
                .write_to_vec(out, payload),
            Self::Udp6 => ethernet
                .ipv6(ipv6, HOST_IPV6, HOP_LIMIT)
                .udp(port, HOST_PORT)
                .write_to_vec(out, payload),
            Self::Tcp6 => ethernet
                .ipv6(ipv6, HOST_IPV6, HOP_LIMIT)
                .tcp(port, HOST_PORT, number, u16::MAX)
                .ack(1)
                .psh()
                .write_to_vec(out, payload),
            Self::Icmp6 => ethernet
                .ipv6(ipv6, HOST_IPV6, HOP_LIMIT)
                .icmpv6_echo_request(port, echo)
                .write_to_vec(out, payload),
            Self::Arp => {
                let request = ArpPacket::new(
                    ArpHardwareId::ETHERNET,
                    EtherType::IPV4,
                    ArpOperation::REQUEST,
                    &PEER_MAC,
                    &ipv4,
                    &[0; 6],
                    &HOST_IPV4,
                );
                let request = request.expect("addresses of 6 and 4 bytes fit");
                let written = PacketBuilder::ethernet2(PEER_MAC, [0xFF; 6])
                    .arp(request)
                    .write_to_vec(out);
                out.extend_from_slice(payload);
                written
            }
            Self::Llc | Self::Raw => {
                out.extend_from_slice(&own_mac);
                out.extend_from_slice(&PEER_MAC);
                if self == Self::Raw {
                    out.extend_from_slice(&EXPERIMENTAL);
                } else {
                    out.extend_from_slice(&(payload.len() as u16 + 3).to_be_bytes());
                    // Null service access points, TEST command.
                    out.extend_from_slice(&[0x00, 0x00, 0xE3]);
                }
                out.extend_from_slice(payload);
                Ok(())
            }
        };
        written.expect("a payload of at most 9600 bytes fits every length field");
    }
}

/// The number that a generated frame carries; `None` when the frame is of no kind that the generator builds
/// or has no room for a number. Works also after an outer VLAN tag was taken off.
pub fn sequence(frame: &[u8]) -> Option<u32> {
    let word = |at: usize| {
        frame
            .get(at..at + 2)
            .map(|b| u16::from_be_bytes([b[0], b[1]]))
    };
    let mut at = 12;
    while matches!(word(at)?, 0x8100 | 0x88A8) {
        at += 4;
    }
    let start = match word(at)? {
        0x88B5 => at + 2,
        0x0806 => at + 2 + 28,
        0..=0x05FF => at + 2 + 3,
        0x0800 => at + 2 + 20 + transport_header(*frame.get(at + 11)?)?,
        0x86DD => at + 2 + 40 + transport_header(*frame.get(at + 8)?)?,
        _ => return None,
    };
    let number = frame.get(start..start + NUMBER)?;
    number.try_into().ok().map(u32::from_be_bytes)
}

/// Header bytes of TCP, UDP, ICMP and ICMPv6 as the generator writes them.
fn transport_header(protocol: u8) -> Option<usize> {
    match protocol {
        6 => Some(20),
        1 | 17 | 58 => Some(8),
        _ => None,
    }
}

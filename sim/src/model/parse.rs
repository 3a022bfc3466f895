//! What a frame, as delivered, says of its network and transport layers.
//!
//! One header is read after the other, each from the bytes that the one before leaves: the packet, cut at its end and at
//! the window. What does not fit is not there, and the reading says no more than it has understood.

use std::net::IpAddr;

use etherparse::{EtherType, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice};
use etherparse::{TcpHeaderSlice, UdpHeaderSlice};
use ferronic_contract::parse::{Checksum, L3, L4, MAX_EXTENSIONS, WINDOW};
use ferronic_contract::status::L2;

use super::checksum::sum;
use super::classify::Classification;

/// Bytes of an ICMP header that every message has.
const ICMP_HEADER: usize = 8;
/// The extension headers that are walked.
const EXTENSIONS: [IpNumber; 5] = [
    IpNumber::IPV6_HEADER_HOP_BY_HOP,
    IpNumber::IPV6_ROUTE_HEADER,
    IpNumber::IPV6_FRAGMENTATION_HEADER,
    IpNumber::AUTHENTICATION_HEADER,
    IpNumber::IPV6_DESTINATION_OPTIONS,
];
/// Bytes of SCTP's common header (RFC 9260, section 3.1).
const SCTP_HEADER: usize = 12;

/// The network and transport layers of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The type behind the VLAN tags; none when the frame is not Ethernet II.
    pub ethertype: Option<u16>,
    /// Offset of the network header.
    pub l3_offset: u8,
    /// Network layer.
    pub l3: L3,
    /// IPv4 options or IPv6 extension headers.
    pub l3_options: bool,
    /// Any fragment.
    pub fragment: bool,
    /// Offset behind the network header and the extension headers walked; `l3_offset` when L3 is not IP.
    pub network_end: u8,
    /// Transport layer.
    pub l4: L4,
    /// A TCP segment without data.
    pub ack: bool,
    /// Offset behind the last header understood.
    pub header_length: u8,
    /// Verdict on the IPv4 header's checksum.
    pub ip_checksum: Checksum,
    /// Verdict on the checksum of TCP or UDP.
    pub l4_checksum: Checksum,
    /// Source and destination address.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// Source and destination port of TCP, UDP or SCTP.
    pub ports: Option<(u16, u16)>,
}

/// A network header with its extension headers.
struct Network {
    /// Bytes of the headers.
    header: usize,
    /// Bytes of the packet.
    packet: usize,
    options: bool,
    fragment: bool,
    /// What follows; `None` when there is no telling.
    next: Option<IpNumber>,
    /// The destination address is not the final one.
    rerouted: bool,
    addresses: (IpAddr, IpAddr),
    checksum: Checksum,
}

/// A transport header.
#[derive(Default)]
struct Transport {
    l4: L4,
    header: usize,
    ports: Option<(u16, u16)>,
    /// Carries a checksum that can be checked.
    checked: bool,
}

/// Reads a frame of which the link layer is known.
pub fn read(frame: &[u8], class: &Classification) -> Reading {
    let start = usize::from(class.l3_offset);
    let bare = Reading { l3_offset: class.l3_offset, network_end: class.l3_offset, header_length: class.l3_offset, ..Reading::default() };
    let (L2::EthernetII, Some([.., high, low])) = (class.l2, frame.get(..start)) else { return bare };
    let ethertype = EtherType(u16::from_be_bytes([*high, *low]));
    let packet = &frame[start..];
    let (l3, network) = match ethertype {
        EtherType::IPV4 => (L3::Ipv4, ipv4(packet, WINDOW - start)),
        EtherType::IPV6 => (L3::Ipv6, ipv6(packet, WINDOW - start)),
        EtherType::ARP => (L3::Arp, None),
        _ => (L3::Other, None),
    };
    let bare = Reading { ethertype: Some(ethertype.0), ..bare };
    match network {
        Some(network) => internet(&packet[..network.packet], WINDOW - start, Reading { l3, ..bare }, &network),
        None if matches!(l3, L3::Ipv4 | L3::Ipv6) => bare,
        None => Reading { l3, ..bare },
    }
}

/// Completes the reading of an IP packet.
fn internet(packet: &[u8], window: usize, bare: Reading, network: &Network) -> Reading {
    let inside = &packet[..packet.len().min(window)];
    let transport = network.next.map(|next| transport(next, bare.l3, &inside[network.header..], packet.len() - network.header));
    let Transport { l4, header, ports, checked } = transport.unwrap_or_default();
    let end = network.header + header;
    let l4_checksum = match network.next {
        Some(next) if checked && !network.fragment && !network.rerouted => {
            verdict(&network.addresses, next, &packet[network.header..])
        }
        _ => Checksum::NotChecked,
    };
    Reading {
        l3_options: network.options,
        fragment: network.fragment,
        network_end: bare.l3_offset + network.header as u8,
        l4,
        ack: l4 == L4::Tcp && !network.fragment && packet.len() == end,
        header_length: bare.l3_offset + end as u8,
        ip_checksum: network.checksum,
        l4_checksum,
        addresses: Some(network.addresses),
        ports,
        ..bare
    }
}

/// Of the bytes behind the Ethernet header and its tags, `window` may be looked at.
fn ipv4(bytes: &[u8], window: usize) -> Option<Network> {
    let header = Ipv4HeaderSlice::from_slice(&bytes[..bytes.len().min(window)]).ok()?;
    let packet = usize::from(header.total_len());
    if packet < header.slice().len() || packet > bytes.len() {
        return None;
    }
    let later = header.fragments_offset().value() != 0;
    Some(Network {
        header: header.slice().len(),
        packet,
        options: !header.options().is_empty(),
        fragment: later || header.more_fragments(),
        next: (!later).then_some(header.protocol()),
        rerouted: false,
        addresses: (header.source_addr().into(), header.destination_addr().into()),
        checksum: if sum(&[header.slice()]) == 0xFFFF { Checksum::Good } else { Checksum::Bad },
    })
}

fn ipv6(bytes: &[u8], window: usize) -> Option<Network> {
    let fixed = Ipv6HeaderSlice::from_slice(&bytes[..bytes.len().min(window)]).ok()?;
    let packet = fixed.slice().len() + usize::from(fixed.payload_length());
    if packet > bytes.len() {
        return None;
    }
    let mut network = Network {
        header: fixed.slice().len(),
        packet,
        options: false,
        fragment: false,
        next: Some(fixed.next_header()),
        rerouted: false,
        addresses: (fixed.source_addr().into(), fixed.destination_addr().into()),
        checksum: Checksum::NotChecked,
    };
    for walked in 0.. {
        let Some(kind) = network.next.filter(|kind| EXTENSIONS.contains(kind)) else { break };
        network.next = None;
        if walked == MAX_EXTENSIONS {
            break;
        }
        let rest = &bytes[network.header..packet.min(window)];
        extend(&mut network, kind, rest);
    }
    network.next = network.next.filter(|next| *next != IpNumber::IPV6_NO_NEXT_HEADER);
    Some(network)
}

/// Walks over the extension header at the start of `rest`.
fn extend(network: &mut Network, kind: IpNumber, rest: &[u8]) {
    let next = rest.first().copied().map(IpNumber);
    let (header, next) = match kind {
        IpNumber::IPV6_FRAGMENTATION_HEADER => match Ipv6FragmentHeaderSlice::from_slice(rest) {
            Ok(header) => {
                network.fragment |= header.is_fragmenting_payload();
                let first = header.fragment_offset().value() == 0;
                (header.slice().len(), next.filter(|_| first))
            }
            Err(_) => (0, None),
        },
        // The crate refuses lengths that the contract takes.
        IpNumber::AUTHENTICATION_HEADER => match rest.get(1).map(|length| 4 * (usize::from(*length) + 2)) {
            Some(header) if header <= rest.len() => (header, next),
            _ => (0, None),
        },
        _ => match Ipv6RawExtHeaderSlice::from_slice(rest) {
            Ok(header) => {
                let segments_left = header.payload()[1];
                network.rerouted |= kind == IpNumber::IPV6_ROUTE_HEADER && segments_left != 0;
                (header.slice().len(), next)
            }
            Err(_) => (0, None),
        },
    };
    network.header += header;
    network.options |= header != 0;
    network.next = next;
}

/// Reads a transport header. `rest` is what may be looked at, `length` what the packet holds.
fn transport(next: IpNumber, l3: L3, rest: &[u8], length: usize) -> Transport {
    let plain = |l4, header| if rest.len() >= header { Transport { l4, header, ..Transport::default() } } else { Transport::default() };
    match next {
        IpNumber::TCP => TcpHeaderSlice::from_slice(rest).map_or_else(
            |_| Transport::default(),
            |tcp| Transport {
                l4: L4::Tcp,
                header: tcp.slice().len(),
                ports: Some((tcp.source_port(), tcp.destination_port())),
                checked: true,
            },
        ),
        IpNumber::UDP => UdpHeaderSlice::from_slice(rest).map_or_else(
            |_| Transport::default(),
            |udp| Transport {
                l4: L4::Udp,
                header: udp.slice().len(),
                ports: Some((udp.source_port(), udp.destination_port())),
                checked: usize::from(udp.length()) == length && udp.checksum() != 0,
            },
        ),
        IpNumber::SCTP => {
            let ports = rest.first_chunk::<4>().map(|[a, b, c, d]| (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])));
            let sctp = plain(L4::Sctp, SCTP_HEADER);
            Transport { ports: ports.filter(|_| sctp.l4 == L4::Sctp), ..sctp }
        }
        IpNumber::ICMP if l3 == L3::Ipv4 => plain(L4::Icmp, ICMP_HEADER),
        IpNumber::IPV6_ICMP if l3 == L3::Ipv6 => plain(L4::Icmp, ICMP_HEADER),
        _ => plain(L4::Other, 0),
    }
}

/// Checks a segment or datagram with its pseudo header (RFC 9293, section 3.1; RFC 8200, section 8.1).
fn verdict((source, destination): &(IpAddr, IpAddr), next: IpNumber, segment: &[u8]) -> Checksum {
    // Both pseudo headers hold the same: the order of words and leading zeros do not change a sum.
    let tail = [(segment.len() as u32).to_be_bytes(), u32::from(next.0).to_be_bytes()];
    let (source, destination) = (octets(source), octets(destination));
    match sum(&[&source, &destination, tail.as_flattened(), segment]) {
        0xFFFF => Checksum::Good,
        _ => Checksum::Bad,
    }
}

/// An address as on the wire.
pub(super) fn octets(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

//! What another library says of a frame: the wire types of `smoltcp`, a TCP/IP stack.
//!
//! The model is written over `etherparse`. Where both are given the same frame, they must see the same packet.

use ferronic_contract::parse::{Checksum, L3, L4, MAX_EXTENSIONS, WINDOW};
use smoltcp::wire::{
    checksum, EthernetFrame, EthernetProtocol, IpAddress, IpProtocol, IpSecAuthHeaderPacket, Ipv4Packet, Ipv6ExtHeader,
    Ipv6FragmentHeader, Ipv6Packet, TcpPacket, UdpPacket,
};

/// The layers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Network layer.
    pub l3: L3,
    /// Any fragment.
    pub fragment: bool,
    /// Transport layer.
    pub l4: L4,
    /// Verdict on the IPv4 header.
    pub ip_checksum: Checksum,
    /// Verdict on TCP or UDP.
    pub l4_checksum: Checksum,
}

/// Reads a frame as delivered, behind at most `most_tags` VLAN tags; `None` where the library has no opinion: it refuses
/// authentication headers that are shorter than their fixed part, and the contract takes them.
pub fn judge(frame: &[u8], most_tags: usize) -> Option<Judgement> {
    let none = Judgement::default();
    let Ok(mut ethernet) = EthernetFrame::new_checked(frame) else { return Some(none) };
    if u16::from(ethernet.ethertype()) < 0x0600 {
        return Some(none);
    }
    let mut start = 14;
    for _ in 0..most_tags {
        let tag = [0x8100, 0x88A8].contains(&u16::from(ethernet.ethertype()));
        match frame.get(start - 10..).map(EthernetFrame::new_checked) {
            // Moved by a tag, the frame has the type behind the tag where the type is.
            Some(Ok(behind)) if tag => (ethernet, start) = (behind, start + 4),
            _ => break,
        }
    }
    let packet = ethernet.payload();
    match ethernet.ethertype() {
        EthernetProtocol::Ipv4 => Some(ipv4(packet, start)),
        EthernetProtocol::Ipv6 => ipv6(packet, start),
        EthernetProtocol::Arp => Some(Judgement { l3: L3::Arp, ..none }),
        EthernetProtocol::Unknown(_) => Some(Judgement { l3: L3::Other, ..none }),
    }
}

/// The one's-complement sum from byte 14 on.
pub fn raw_checksum(frame: &[u8]) -> u16 {
    checksum::data(&frame[14..])
}

const fn verdict(good: bool) -> Checksum {
    if good {
        Checksum::Good
    } else {
        Checksum::Bad
    }
}

fn ipv4(bytes: &[u8], start: usize) -> Judgement {
    let packet = match Ipv4Packet::new_checked(bytes) {
        Ok(packet) if packet.version() == 4 => packet,
        _ => return Judgement::default(),
    };
    let fragment = packet.more_frags() || packet.frag_offset() != 0;
    let base = Judgement { l3: L3::Ipv4, fragment, ip_checksum: verdict(packet.verify_checksum()), ..Judgement::default() };
    if packet.frag_offset() != 0 {
        return base;
    }
    let addresses = (packet.src_addr().into(), packet.dst_addr().into());
    let l4 = match packet.next_header() {
        IpProtocol::Icmp => L4::Icmp,
        protocol => common(protocol),
    };
    transport(base, l4, packet.payload(), start + usize::from(packet.header_len()), addresses, fragment)
}

fn ipv6(bytes: &[u8], start: usize) -> Option<Judgement> {
    let packet = match Ipv6Packet::new_checked(bytes) {
        Ok(packet) if packet.version() == 6 => packet,
        _ => return Some(Judgement::default()),
    };
    let mut base = Judgement { l3: L3::Ipv6, ..Judgement::default() };
    let (mut protocol, mut rest, mut rerouted) = (packet.next_header(), packet.payload(), false);
    let mut walked = 0;
    loop {
        let at = start + packet.header_len() + packet.payload().len() - rest.len();
        let visible = &rest[..rest.len().min(WINDOW - at)];
        let known = [
            IpProtocol::HopByHop,
            IpProtocol::Ipv6Route,
            IpProtocol::Ipv6Opts,
            IpProtocol::Ipv6Frag,
            IpProtocol::IpSecAh,
        ];
        if !known.contains(&protocol) {
            let l4 = match protocol {
                IpProtocol::Icmpv6 => L4::Icmp,
                IpProtocol::Ipv6NoNxt => L4::None,
                protocol => common(protocol),
            };
            let addresses = (packet.src_addr().into(), packet.dst_addr().into());
            return Some(transport(base, l4, rest, at, addresses, base.fragment || rerouted));
        }
        if walked == MAX_EXTENSIONS {
            return Some(base);
        }
        walked += 1;
        let length = match protocol {
            IpProtocol::Ipv6Frag => {
                let Some(Ok(header)) = visible.get(2..8).map(Ipv6FragmentHeader::new_checked) else { return Some(base) };
                base.fragment |= header.more_frags() || header.frag_offset() != 0;
                if header.frag_offset() != 0 {
                    return Some(base);
                }
                8
            }
            IpProtocol::IpSecAh => {
                if visible.len() >= 8 && visible[1] == 0 {
                    return None;
                }
                let Ok(header) = IpSecAuthHeaderPacket::new_checked(visible) else { return Some(base) };
                12 + header.integrity_check_value().len()
            }
            _ => {
                let Ok(header) = Ipv6ExtHeader::new_checked(visible) else { return Some(base) };
                rerouted |= protocol == IpProtocol::Ipv6Route && header.payload()[1] != 0;
                2 + header.payload().len()
            }
        };
        (protocol, rest) = (rest[0].into(), &rest[length..]);
    }
}

/// Transport layers that are the same over both.
fn common(protocol: IpProtocol) -> L4 {
    match protocol {
        IpProtocol::Tcp => L4::Tcp,
        IpProtocol::Udp => L4::Udp,
        IpProtocol::Unknown(132) => L4::Sctp,
        _ => L4::Other,
    }
}

/// Completes a judgement; `open` says that the checksum cannot be told.
fn transport(
    base: Judgement,
    l4: L4,
    segment: &[u8],
    start: usize,
    (source, destination): (IpAddress, IpAddress),
    open: bool,
) -> Judgement {
    let visible = &segment[..segment.len().min(WINDOW - start)];
    let whole = match l4 {
        L4::Tcp => TcpPacket::new_checked(visible).is_ok(),
        L4::Udp | L4::Icmp => visible.len() >= 8,
        L4::Sctp => visible.len() >= 12,
        L4::None | L4::Other => true,
    };
    if !whole {
        return base;
    }
    let good = match l4 {
        L4::Tcp => TcpPacket::new_checked(segment).ok().map(|tcp| tcp.verify_checksum(&source, &destination)),
        L4::Udp => UdpPacket::new_checked(segment)
            .ok()
            .filter(|udp| usize::from(udp.len()) == segment.len() && udp.checksum() != 0)
            .map(|udp| udp.verify_checksum(&source, &destination)),
        _ => None,
    };
    Judgement { l4, l4_checksum: good.filter(|_| !open).map_or(Checksum::NotChecked, verdict), ..base }
}

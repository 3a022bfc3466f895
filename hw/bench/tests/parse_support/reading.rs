//! The rules of `ferronic_contract::parse`, read in plain software: over bytes, header by header, without a grid.

use ferronic_contract::class::{classify, Mac, TPID_C, TPID_S};
use ferronic_contract::parse::{ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_IPV6, MAX_EXTENSIONS, WINDOW};
use ferronic_contract::parse::{L3, L4};
use ferronic_contract::status::L2;

/// What comes in with a frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// As delivered.
    pub bytes: Vec<u8>,
    /// The TCI of a stripped tag.
    pub stripped: Option<u16>,
    pub own: Mac,
    pub epoch: u8,
    /// The upper bits of `info`, which are handed on.
    pub time: u64,
}

impl Frame {
    pub fn info(&self) -> u64 {
        let tci = self.stripped.map_or(0x5555, u64::from);
        tci | u64::from(self.stripped.is_some()) << 16 | self.time << 17
    }
}

/// What comes out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub length: u16,
    pub info: u64,
    pub epoch: u8,
    pub classified: bool,
    pub dst: u8,
    pub l2: u8,
    pub vlan: u8,
    pub protocol: u16,
    pub l3_offset: u8,
    pub l3: u8,
    pub l3opt: bool,
    pub frag: bool,
    pub l4: u8,
    pub ack: bool,
    pub header_length: u8,
    pub l4_offset: u8,
    pub ip_checked: bool,
    pub ip_good: bool,
    pub l4_wanted: bool,
    pub header_sum: u16,
    /// 0 here and there unless `l4_wanted`.
    pub pseudo_sum: u16,
    pub dmac: [u8; 6],
    pub ethertype: u16,
    pub ethertype_valid: bool,
    /// 0 here and there unless `vid_valid`.
    pub vid: u16,
    pub vid_valid: bool,
    pub source: [u8; 16],
    pub destination: [u8; 16],
    pub source_port: u16,
    pub destination_port: u16,
}

/// The one's-complement sum of 16-bit words, folded; an odd last byte is padded with 0.
pub fn sum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    fold(bytes.chunks(2).map(word).sum())
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    sum as u16
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a frame of 14 bytes or more.
pub fn read(frame: &Frame) -> Reading {
    let bytes = &frame.bytes[..];
    let class = classify(bytes, &frame.own).expect("no shorter frame comes here");
    // Of the two tags that count, a stripped one is the first.
    let left = class.vlan_tags.min(if frame.stripped.is_some() { 1 } else { 2 });
    let network = 14 + 4 * usize::from(left);
    let ethernet = class.l2 == L2::EthernetII;
    let outer = [TPID_C, TPID_S].contains(&be16(bytes, 12)) && bytes.len() >= 18;
    let tci = frame.stripped.or_else(|| outer.then(|| be16(bytes, 14)));
    let mut reading = Reading {
        length: bytes.len() as u16,
        info: frame.info(),
        epoch: frame.epoch,
        classified: true,
        dst: class.destination as u8,
        l2: class.l2 as u8,
        vlan: left + u8::from(frame.stripped.is_some()),
        protocol: class.protocol,
        l3_offset: network as u8,
        header_length: network as u8,
        l4_offset: network as u8,
        dmac: bytes[..6].try_into().unwrap(),
        ethertype: be16(bytes, network - 2),
        ethertype_valid: ethernet,
        vid: tci.unwrap_or(0) & 0xFFF,
        vid_valid: tci.is_some(),
        ..Reading::default()
    };
    if ethernet {
        match reading.ethertype {
            ETHERTYPE_IPV4 => ipv4(bytes, network, &mut reading),
            ETHERTYPE_IPV6 => ipv6(bytes, network, &mut reading),
            ETHERTYPE_ARP => reading.l3 = L3::Arp as u8,
            _ => reading.l3 = L3::Other as u8,
        }
    }
    reading.header_sum = sum(&bytes[14..reading.l4_offset.into()]);
    reading
}

fn ipv4(bytes: &[u8], start: usize, reading: &mut Reading) {
    let Some(header) = bytes.get(start..start + 20) else { return };
    let size = 4 * usize::from(header[0] & 15);
    let total = usize::from(be16(header, 2));
    if header[0] >> 4 != 4 || size < 20 || total < size || start + total > bytes.len() {
        return;
    }
    let fragment = be16(header, 6);
    reading.l3 = L3::Ipv4 as u8;
    reading.l3opt = size > 20;
    reading.frag = fragment & 0x3FFF != 0;
    reading.ip_checked = true;
    reading.ip_good = sum(&bytes[start..start + size]) == 0xFFFF;
    reading.source[..4].copy_from_slice(&header[12..16]);
    reading.destination[..4].copy_from_slice(&header[16..20]);
    reading.header_length = (start + size) as u8;
    reading.l4_offset = reading.header_length;
    if fragment & 0x1FFF == 0 {
        transport(bytes, start + size, start + total, header[9], 1, true, reading);
    }
}

fn ipv6(bytes: &[u8], start: usize, reading: &mut Reading) {
    let Some(header) = bytes.get(start..start + 40) else { return };
    let end = start + 40 + usize::from(be16(header, 4));
    if header[0] >> 4 != 6 || end > bytes.len() {
        return;
    }
    reading.l3 = L3::Ipv6 as u8;
    reading.source.copy_from_slice(&header[8..24]);
    reading.destination.copy_from_slice(&header[24..40]);
    let (mut at, mut next, mut final_destination) = (start + 40, header[6], true);
    let mut walked = 0;
    let mut whole = true;
    while whole && [0, 43, 44, 51, 60].contains(&next) {
        // The length is in the second byte, so that must be there first.
        let inside = |size: usize| at + size <= end.min(WINDOW);
        let size = if inside(2) {
            let units = usize::from(bytes[at + 1]);
            match next {
                44 => 8,
                51 => 4 * (units + 2),
                _ => 8 * (units + 1),
            }
        } else {
            usize::MAX / 2
        };
        whole = walked < MAX_EXTENSIONS && inside(size);
        if whole {
            walked += 1;
            if next == 43 && bytes[at + 3] != 0 {
                final_destination = false;
            }
            if next == 44 {
                let fragment = be16(bytes, at + 2);
                reading.frag |= fragment & 0xFFF9 != 0;
                whole = fragment & 0xFFF8 == 0;
            }
            next = bytes[at];
            at += size;
        }
    }
    reading.l3opt = walked > 0;
    reading.header_length = at as u8;
    reading.l4_offset = at as u8;
    if whole && next != 59 {
        transport(bytes, at, end, next, 58, final_destination, reading);
    }
}

fn transport(bytes: &[u8], at: usize, end: usize, number: u8, icmp: u8, final_destination: bool, reading: &mut Reading) {
    let inside = |size: usize| at + size <= end.min(WINDOW);
    let (l4, size) = match number {
        6 if inside(20) => (L4::Tcp, (4 * usize::from(bytes[at + 12] >> 4)).max(1)),
        17 => (L4::Udp, 8),
        132 => (L4::Sctp, 12),
        _ if number == icmp => (L4::Icmp, 8),
        6 => return,
        _ => (L4::Other, 0),
    };
    if !inside(size) || (l4 == L4::Tcp && size < 20) {
        return;
    }
    reading.l4 = l4 as u8;
    reading.header_length = (at + size) as u8;
    if [L4::Tcp, L4::Udp, L4::Sctp].contains(&l4) {
        reading.source_port = be16(bytes, at);
        reading.destination_port = be16(bytes, at + 2);
    }
    reading.ack = l4 == L4::Tcp && !reading.frag && at + size == end;
    let claimed = match l4 {
        L4::Tcp => true,
        L4::Udp => usize::from(be16(bytes, at + 4)) == end - at && be16(bytes, at + 6) != 0,
        _ => false,
    };
    reading.l4_wanted = claimed && !reading.frag && final_destination;
    if reading.l4_wanted {
        let words = [sum(&reading.source), sum(&reading.destination), number.into(), (end - at) as u16];
        reading.pseudo_sum = fold(words.into_iter().map(u32::from).sum());
    }
}

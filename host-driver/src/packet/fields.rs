//! What the completion says of a packet, where it says it.

use ferronic_contract::class::{TPID_C, TPID_S};
use ferronic_contract::field::Field;
use ferronic_contract::parse::{Checksum, RssType, L3, L4};
use ferronic_contract::registers::queue::Format;
use ferronic_contract::registers::{
    FEATURE_CHECKSUM, FEATURE_FILTER, FEATURE_L2, FEATURE_L3, FEATURE_RSS, FEATURE_TIME,
};
use ferronic_contract::status;

use super::verdict::stripped;
use super::Packet;

/// A packet's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RssHash {
    /// The Toeplitz hash.
    pub hash: u32,
    /// What it was computed over; `None` in a compact completion, which does not say.
    pub over: Option<RssType>,
}

impl Packet {
    /// RX queue that it came by.
    pub fn queue(&self) -> u8 {
        self.origin.queue
    }

    /// A field of the status bits, when the build has the block behind it and the core classified the frame.
    fn status(&self, feature: Field, field: Field) -> Option<u32> {
        let status = self.completion.status;
        (self.origin.features.has(feature) && status.classified()).then(|| status.get(field))
    }

    /// Whether the build has the block, and the completion all its 32 bytes.
    fn full(&self, feature: Field) -> bool {
        self.origin.format == Format::Full && self.origin.features.has(feature)
    }

    /// Network layer.
    pub fn l3(&self) -> Option<L3> {
        match self.status(FEATURE_L3, status::L3)? {
            0 => Some(L3::None),
            1 => Some(L3::Ipv4),
            2 => Some(L3::Ipv6),
            3 => Some(L3::Arp),
            4 => Some(L3::Other),
            _ => None,
        }
    }

    /// Whether there are IPv4 options or IPv6 extension headers.
    pub fn l3_options(&self) -> Option<bool> {
        self.status(FEATURE_L3, status::L3OPT).map(|bit| bit == 1)
    }

    /// Whether it is a fragment, the first included.
    pub fn fragment(&self) -> Option<bool> {
        self.status(FEATURE_L3, status::FRAG).map(|bit| bit == 1)
    }

    /// Transport layer.
    pub fn l4(&self) -> Option<L4> {
        match self.status(FEATURE_L3, status::L4)? {
            0 => Some(L4::None),
            1 => Some(L4::Tcp),
            2 => Some(L4::Udp),
            3 => Some(L4::Icmp),
            4 => Some(L4::Sctp),
            5 => Some(L4::Other),
            _ => None,
        }
    }

    /// Whether it is a TCP segment that carries no data.
    pub fn ack(&self) -> Option<bool> {
        self.status(FEATURE_L3, status::ACK).map(|bit| bit == 1)
    }

    /// Offset of the network header in the frame as delivered.
    pub fn l3_offset(&self) -> Option<u8> {
        (self.full(FEATURE_L2) && self.completion.status.classified()).then_some(self.completion.l3_offset)
    }

    /// Bytes up to the end of the last header understood.
    pub fn header_length(&self) -> Option<u16> {
        (self.full(FEATURE_L3) && self.completion.status.classified()).then_some(self.completion.header_length)
    }

    /// Verdict on the IPv4 header's checksum.
    pub fn ip_checksum(&self) -> Option<Checksum> {
        self.verdict(status::IPCSUM)
    }

    /// Verdict on the transport checksum.
    pub fn l4_checksum(&self) -> Option<Checksum> {
        self.verdict(status::L4CSUM)
    }

    fn verdict(&self, field: Field) -> Option<Checksum> {
        match self.status(FEATURE_CHECKSUM, field)? {
            0 => Some(Checksum::NotChecked),
            1 => Some(Checksum::Good),
            2 => Some(Checksum::Bad),
            _ => None,
        }
    }

    /// One's-complement sum of the frame from byte 14 on, as delivered.
    pub fn raw_checksum(&self) -> Option<u16> {
        self.full(FEATURE_CHECKSUM).then_some(self.completion.raw_checksum)
    }

    /// The hash, when one was computed. A compact completion shows none as 0.
    pub fn rss(&self) -> Option<RssHash> {
        if !self.origin.features.has(FEATURE_RSS) {
            return None;
        }
        let hash = self.completion.rss_hash;
        let over = match (self.origin.format, self.completion.rss_type) {
            (Format::CompactTag, _) => return None,
            (Format::CompactHash, _) => return (hash != 0).then_some(RssHash { hash, over: None }),
            (Format::Full, 1) => RssType::Ipv4,
            (Format::Full, 2) => RssType::Tcp4,
            (Format::Full, 3) => RssType::Udp4,
            (Format::Full, 4) => RssType::Ipv6,
            (Format::Full, 5) => RssType::Tcp6,
            (Format::Full, 6) => RssType::Udp6,
            (Format::Full, _) => return None,
        };
        Some(RssHash { hash, over: Some(over) })
    }

    /// Whether a filter matched, when the filters are still those that it was compared with.
    pub fn filtered(&self) -> Option<bool> {
        if !self.current {
            return None;
        }
        self.status(FEATURE_FILTER, status::FILTER).map(|bit| bit == 1)
    }

    /// The tag of the filter that matched.
    pub fn filter_tag(&self) -> Option<u16> {
        let tagged = self.filtered()? && self.completion.status.get(status::TAG) == 1;
        (tagged && self.origin.format != Format::CompactHash).then_some(self.completion.filter_tag)
    }

    /// TPID of the VLAN tag that the core took out, if it did.
    pub fn stripped_tpid(&self) -> Option<u16> {
        let service = self.completion.status.get(status::STRIPPED_S) == 1;
        stripped(&self.completion, &self.origin).then_some(if service { TPID_S } else { TPID_C })
    }

    /// TCI of the VLAN tag that the core took out, if it did.
    pub fn stripped_tci(&self) -> Option<u16> {
        let said = self.origin.format != Format::CompactHash;
        (said && stripped(&self.completion, &self.origin)).then_some(self.completion.vlan_tci)
    }

    /// When its first beat came from the wire, in cycles of the core's clock, 32 bits.
    pub fn timestamp(&self) -> Option<u32> {
        self.full(FEATURE_TIME).then_some(self.completion.timestamp)
    }
}

//! What became of a frame.

use crate::model::DropCause;
use ferronic::packet::{Packet, Path};
use ferronic_contract::parse::{Checksum, RssType, L3, L4};
use ferronic_contract::status::{self, Destination, L2};
use serde::Serialize;

/// Why a frame did not reach the driver's sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The core dropped it.
    Core(DropCause),
    /// It was cut short in memory: no further buffer came.
    Cut,
    /// The driver had no buffer to take the place of the frame's.
    NoHostBuffer,
    /// It is in the memory of a queue that nobody polls.
    Unserved,
}

impl Lost {
    /// Name in reports; the core's causes carry the names of its counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core(cause) => cause.name(),
            Self::Cut => "cut",
            Self::Unserved => "unserved",
            Self::NoHostBuffer => "no_host_buffer",
        }
    }
}

/// The causes of the packet FIFO, in the order of the bits that the core shows.
const AT_THE_FIFO: [DropCause; 6] = [
    DropCause::Disabled,
    DropCause::Bad,
    DropCause::Undersize,
    DropCause::Oversize,
    DropCause::Fifo,
    DropCause::NoDescriptor,
];

/// The cause in the bits that the core shows when a frame ends; `None` when no bit is set.
///
/// # Errors
///
/// More than one bit, or an unknown one: the core must give one cause a frame.
pub fn cause_from_bits(bits: u8) -> Result<Option<DropCause>, u8> {
    match bits.count_ones() {
        0 => Ok(None),
        1 => AT_THE_FIFO.get(bits.trailing_zeros() as usize).copied().map(Some).ok_or(bits),
        _ => Err(bits),
    }
}

/// What became of the oldest frame taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// It goes to memory, whole.
    Delivered,
    /// It goes to memory, but not all of it.
    Cut,
    /// It is dropped.
    Dropped(DropCause),
}

/// What the core does with the oldest frame, in the order of the bits that it shows.
const AT_THE_HEAD: [Head; 6] = [
    Head::Dropped(DropCause::Pause),
    Head::Dropped(DropCause::Filter),
    Head::Dropped(DropCause::QueueDisabled),
    Head::Dropped(DropCause::QueueNoDescriptor),
    Head::Dropped(DropCause::Buffer),
    Head::Cut,
];

/// What became of the oldest frame, in the bits that the core shows.
///
/// # Errors
///
/// More than one bit, or an unknown one.
pub fn head_cause_from_bits(bits: u8) -> Result<Head, u8> {
    match bits.count_ones() {
        0 => Ok(Head::Delivered),
        1 => AT_THE_HEAD.get(bits.trailing_zeros() as usize).copied().ok_or(bits),
        _ => Err(bits),
    }
}

/// One frame of the run, as `--frames` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameLine {
    /// File name of the capture, or "generated".
    pub capture: String,
    /// Index in the capture, from 0.
    pub index: usize,
    /// "delivered", or "dropped:" and the cause.
    pub outcome: String,
    /// Bytes on the wire, without FCS, padding included.
    pub length: usize,
    /// What the core and the driver said of it; in JSON, nulls for a dropped frame.
    #[serde(flatten, serialize_with = "class_or_nulls")]
    pub class: Option<ClassLine>,
}

/// What core and driver say of a delivered frame. `None` where the core does not say it: the build lacks the block, or the
/// completion is compact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassLine {
    /// RX queue.
    pub queue: u8,
    /// Buffers that it takes.
    pub buffers: usize,
    /// The header has a buffer of its own.
    pub split: bool,
    /// The core vouches for the classification.
    pub classified: bool,
    /// host, broadcast, multicast, other_host.
    pub dst: &'static str,
    /// What `skb->protocol` would be.
    pub protocol: u16,
    /// ethernet_ii, llc, raw.
    pub l2: &'static str,
    /// 0 to 2, a tag that was taken out included.
    pub vlan_tags: u8,
    /// The outer tag was taken out.
    pub stripped: bool,
    /// Its TCI.
    pub vlan_tci: Option<u16>,
    /// none, ipv4, ipv6, arp, other.
    pub l3: Option<&'static str>,
    /// Bytes.
    pub l3_offset: Option<u8>,
    /// none, tcp, udp, icmp, sctp, other.
    pub l4: Option<&'static str>,
    /// Bytes.
    pub header_length: Option<u16>,
    /// A fragment, the first included.
    pub frag: Option<bool>,
    /// A TCP segment without data.
    pub ack: Option<bool>,
    /// not_checked, good, bad.
    pub ip_csum: Option<&'static str>,
    /// not_checked, good, bad.
    pub l4_csum: Option<&'static str>,
    /// One's-complement sum from byte 14 on.
    pub raw_csum: Option<u16>,
    /// The hash.
    pub rss: Option<u32>,
    /// ipv4, tcp4, udp4, ipv6, tcp6, udp6.
    pub rss_type: Option<&'static str>,
    /// A filter matched.
    pub filter: Option<bool>,
    /// Its tag.
    pub tag: Option<u16>,
    /// Address-filter epoch, 0 to 7.
    pub epoch: u8,
    /// status, software.
    pub path: &'static str,
}

impl ClassLine {
    /// What is said of a packet that takes so many buffers.
    pub fn of(packet: &Packet, buffers: usize) -> Self {
        let bits = packet.completion.status;
        Self {
            queue: packet.queue(),
            buffers,
            split: bits.get(status::SPLIT) == 1,
            classified: bits.classified(),
            dst: match packet.class.destination {
                Destination::Host => "host",
                Destination::Broadcast => "broadcast",
                Destination::Multicast => "multicast",
                Destination::OtherHost => "other_host",
            },
            protocol: packet.class.protocol,
            l2: match packet.class.l2 {
                L2::EthernetII => "ethernet_ii",
                L2::Llc => "llc",
                L2::Raw => "raw",
            },
            vlan_tags: packet.class.vlan_tags,
            stripped: bits.get(status::STRIPPED) == 1,
            vlan_tci: packet.stripped_tci(),
            l3: packet.l3().map(|l3| match l3 {
                L3::None => "none",
                L3::Ipv4 => "ipv4",
                L3::Ipv6 => "ipv6",
                L3::Arp => "arp",
                L3::Other => "other",
            }),
            l3_offset: packet.l3_offset(),
            l4: packet.l4().map(|l4| match l4 {
                L4::None => "none",
                L4::Tcp => "tcp",
                L4::Udp => "udp",
                L4::Icmp => "icmp",
                L4::Sctp => "sctp",
                L4::Other => "other",
            }),
            header_length: packet.header_length(),
            frag: packet.fragment(),
            ack: packet.ack(),
            ip_csum: packet.ip_checksum().map(verdict),
            l4_csum: packet.l4_checksum().map(verdict),
            raw_csum: packet.raw_checksum(),
            rss: packet.rss().map(|rss| rss.hash),
            rss_type: packet.rss().and_then(|rss| rss.over).and_then(|over| match over {
                RssType::None => None,
                RssType::Ipv4 => Some("ipv4"),
                RssType::Tcp4 => Some("tcp4"),
                RssType::Udp4 => Some("udp4"),
                RssType::Ipv6 => Some("ipv6"),
                RssType::Tcp6 => Some("tcp6"),
                RssType::Udp6 => Some("udp6"),
            }),
            filter: packet.filtered(),
            tag: packet.filter_tag(),
            epoch: bits.epoch(),
            path: match packet.path {
                Path::Status => "status",
                Path::Software => "software",
            },
        }
    }
}

fn verdict(checksum: Checksum) -> &'static str {
    match checksum {
        Checksum::NotChecked => "not_checked",
        Checksum::Good => "good",
        Checksum::Bad => "bad",
    }
}

/// The keys of [`ClassLine`], for the line of a dropped frame.
const KEYS: [&str; 25] = [
    "queue", "buffers", "split", "classified", "dst", "protocol", "l2", "vlan_tags", "stripped", "vlan_tci", "l3",
    "l3_offset", "l4", "header_length", "frag", "ack", "ip_csum", "l4_csum", "raw_csum", "rss", "rss_type", "filter",
    "tag", "epoch", "path",
];

/// Every line has every field, so that a table can be made of them.
fn class_or_nulls<S: serde::Serializer>(class: &Option<ClassLine>, serializer: S) -> Result<S::Ok, S::Error> {
    match class {
        Some(class) => class.serialize(serializer),
        None => serializer.collect_map(KEYS.map(|key| (key, ()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_frames_line_has_the_fields_of_a_delivered_ones() {
        let class = ClassLine {
            queue: 0,
            buffers: 1,
            split: false,
            classified: true,
            dst: "host",
            protocol: 0x0800,
            l2: "llc",
            vlan_tags: 0,
            stripped: false,
            vlan_tci: None,
            l3: Some("ipv4"),
            l3_offset: Some(14),
            l4: None,
            header_length: None,
            frag: None,
            ack: None,
            ip_csum: None,
            l4_csum: None,
            raw_csum: None,
            rss: None,
            rss_type: None,
            filter: None,
            tag: None,
            epoch: 1,
            path: "status",
        };
        let line = |class| FrameLine { capture: "a".into(), index: 0, outcome: "b".into(), length: 60, class };
        let value = |line: FrameLine| serde_json::to_value(line).unwrap();
        let (kept, lost) = (value(line(Some(class))), value(line(None)));
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&kept), keys(&lost));
        assert!(lost["classified"].is_null() && kept["classified"] == true);
    }
}

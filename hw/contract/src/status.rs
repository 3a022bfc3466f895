//! The 32 status bits of an RX completion.

use crate::field::Field;

const fn bit(name: &'static str, low: u32, width: u32, about: &'static str) -> Field {
    Field::new(name, 0, low, width, about)
}

/// The fields below can be trusted; 0 makes software decide.
pub const CLASSIFIED: Field = bit("CLASSIFIED", 0, 1, "the fields below are trustworthy; 0 makes software decide");
/// Destination kind, numbered as Linux `PACKET_*` (include/uapi/linux/if_packet.h).
pub const DST: Field = bit("DST", 1, 2, "0 host, 1 broadcast, 2 multicast, 3 other host (Linux PACKET_*)");
/// Framing: see [`L2`].
pub const L2_KIND: Field = bit("L2", 3, 2, "0 Ethernet II, 1 802.2 LLC, 2 raw 802.3");
/// VLAN tags seen, 0 to 2.
pub const VLAN: Field = bit("VLAN", 5, 2, "VLAN tags on the wire, a stripped one included, 0 to 2 (TPID 0x8100 or 0x88A8)");
/// Outer tag removed; its TCI is in the completion.
pub const STRIPPED: Field = bit("STRIPPED", 7, 1, "outer tag removed, its TCI in the completion");
/// Network layer.
pub const L3: Field = bit("L3", 8, 3, "0 none, 1 IPv4, 2 IPv6, 3 ARP, 4 other");
/// IPv4 options or IPv6 extension headers present.
pub const L3OPT: Field = bit("L3OPT", 11, 1, "IPv4 options or IPv6 extension headers present");
/// Any fragment.
pub const FRAG: Field = bit("FRAG", 12, 1, "a fragment, the first included");
/// Transport layer.
pub const L4: Field = bit("L4", 13, 3, "0 none, 1 TCP, 2 UDP, 3 ICMP, 4 SCTP, 5 other");
/// TCP segment that carries no data.
pub const ACK: Field = bit("ACK", 16, 1, "TCP segment that carries no data");
/// IPv4 header checksum verdict.
pub const IPCSUM: Field = bit("IPCSUM", 17, 2, "0 not checked, 1 good, 2 bad");
/// L4 checksum verdict.
pub const L4CSUM: Field = bit("L4CSUM", 19, 2, "0 not checked, 1 good, 2 bad");
/// A filter matched.
pub const FILTER: Field = bit("FILTER", 21, 1, "an exact or hash filter matched");
/// The filter's tag is in the completion.
pub const TAG: Field = bit("TAG", 22, 1, "the filter's tag is in the completion");
/// Address-filter epoch in force when the frame was classified.
pub const EPOCH: Field = bit("EPOCH", 23, 3, "address-filter epoch in force for this frame");
/// First buffer of the frame.
pub const SOP: Field = bit("SOP", 26, 1, "first buffer of the frame");
/// Last buffer of the frame.
pub const EOP: Field = bit("EOP", 27, 1, "last buffer of the frame");
/// Header placed apart from the payload.
pub const SPLIT: Field = bit("SPLIT", 28, 1, "header placed apart from the payload");
/// The frame is cut short.
pub const ERROR: Field = bit("ERROR", 29, 1, "with EOP: the frame is cut short, its other buffers never came");

/// The tag removed was a service tag.
pub const STRIPPED_S: Field = bit("STRIPPED_S", 30, 1, "with STRIPPED: TPID 0x88A8, else 0x8100");
/// Phase, in a compact completion only.
pub const COMPACT_PHASE: Field = bit("COMPACT_PHASE", 31, 1, "compact completion: the phase; full completion: 0");

/// Every status field, from the lowest bit up.
pub const FIELDS: [Field; 21] = [
    CLASSIFIED, DST, L2_KIND, VLAN, STRIPPED, L3, L3OPT, FRAG, L4, ACK, IPCSUM, L4CSUM, FILTER, TAG, EPOCH, SOP, EOP,
    SPLIT, ERROR, STRIPPED_S, COMPACT_PHASE,
];

/// Whom a frame is for: the numbers of Linux `PACKET_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Destination {
    /// This station.
    Host = 0,
    /// Everyone.
    Broadcast = 1,
    /// A group.
    Multicast = 2,
    /// Another station.
    OtherHost = 3,
}

impl Destination {
    /// From the two bits of DST.
    pub const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Host,
            1 => Self::Broadcast,
            2 => Self::Multicast,
            _ => Self::OtherHost,
        }
    }
}

/// How a frame says what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum L2 {
    /// Type field of 0x0600 or more.
    EthernetII = 0,
    /// Length field, then 802.2 LLC.
    Llc = 1,
    /// Length field, then 0xFFFF: IPX in "raw 802.3".
    Raw = 2,
}

impl L2 {
    /// From the two bits of L2; `None` for 3, which the core never writes.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match bits {
            0 => Some(Self::EthernetII),
            1 => Some(Self::Llc),
            2 => Some(Self::Raw),
            _ => None,
        }
    }
}

/// The status word of a completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    /// A field's value.
    pub const fn get(self, field: Field) -> u32 {
        field.of(self.0)
    }

    /// The status with one field replaced.
    pub const fn with(self, field: Field, value: u32) -> Self {
        Self((self.0 & !field.mask()) | field.at(value))
    }

    /// Whether the core vouches for the classification.
    pub const fn classified(self) -> bool {
        self.get(CLASSIFIED) == 1
    }

    /// Whom the frame is for.
    pub const fn destination(self) -> Destination {
        Destination::from_bits(self.get(DST))
    }

    /// Framing.
    pub const fn l2(self) -> Option<L2> {
        L2::from_bits(self.get(L2_KIND))
    }

    /// VLAN tags seen, 0 to 2.
    pub const fn vlan_tags(self) -> u8 {
        self.get(VLAN) as u8
    }

    /// Address-filter epoch, 0 to 7.
    pub const fn epoch(self) -> u8 {
        self.get(EPOCH) as u8
    }
}

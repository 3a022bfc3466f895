//! What the core answers: the RX completion of 32 bytes, and the TX index.
//!
//! **RX.** One completion a descriptor used, written in one TLP after the frame's data, into a ring with as
//! many slots as the descriptor ring. The phase bit is in the last dword: when software sees it, the rest
//! is there. **TX.** The core writes its consumer index, zero-extended to 32 bits, to one address; it never
//! rewrites descriptors.

use crate::field::Field;
use crate::status::Status;

/// Bytes of an RX completion.
pub const BYTES: usize = 32;
/// Words of an RX completion.
pub const WORDS: usize = BYTES / 4;

/// Bytes of the frame.
pub const LENGTH: Field = Field::new("LENGTH", 0, 0, 16, "bytes of the frame, without FCS");
/// Bytes of all headers; 0 while FEATURES has no L3.
pub const HEADER_LENGTH: Field = Field::new("HEADER_LENGTH", 0, 16, 16, "bytes of all headers; 0 when not parsed");
/// What `skb->protocol` would be, in host order.
pub const PROTOCOL: Field = Field::new("PROTOCOL", 1, 0, 16, "what skb->protocol would be, in host order");
/// Outer VLAN tag, when STRIPPED.
pub const VLAN_TCI: Field = Field::new("VLAN_TCI", 1, 16, 16, "outer VLAN tag when STRIPPED, else 0");
/// Status bits, see [`crate::status`].
pub const STATUS: Field = Field::new("STATUS", 2, 0, 32, "status bits");
/// RSS hash; 0 while FEATURES has no RSS.
pub const RSS_HASH: Field = Field::new("RSS_HASH", 3, 0, 32, "RSS hash; 0 when not computed");
/// The descriptor's cookie.
pub const COOKIE: Field = Field::new("COOKIE", 4, 0, 32, "cookie of the descriptor");
/// Filter tag, when TAG.
pub const FILTER_TAG: Field = Field::new("FILTER_TAG", 5, 0, 16, "filter tag when TAG, else 0");
/// One's-complement sum of the L2 payload; 0 while FEATURES has no checksum.
pub const RAW_CHECKSUM: Field = Field::new("RAW_CHECKSUM", 5, 16, 16, "sum of the L2 payload; 0 when not computed");
/// Time at the wire; 0 while FEATURES has no time stamps.
pub const TIMESTAMP: Field = Field::new("TIMESTAMP", 6, 0, 32, "time at the wire; 0 when not taken");
/// Free-running completion index.
pub const INDEX: Field = Field::new("INDEX", 7, 0, 16, "free-running index of this completion");
/// Offset of the network header.
pub const L3_OFFSET: Field = Field::new("L3_OFFSET", 7, 16, 8, "offset of the network header");
/// Flips with each pass over the ring, 1 in the first.
pub const PHASE: Field = Field::new("PHASE", 7, 31, 1, "1 in the first pass over the ring, then alternating");

/// Fields of a completion.
pub const FIELDS: [Field; 13] = [
    LENGTH, HEADER_LENGTH, PROTOCOL, VLAN_TCI, STATUS, RSS_HASH, COOKIE, FILTER_TAG, RAW_CHECKSUM, TIMESTAMP, INDEX,
    L3_OFFSET, PHASE,
];

/// An RX completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxCompletion {
    /// Bytes of the frame, without FCS.
    pub length: u16,
    /// Bytes of all headers; 0 when not parsed.
    pub header_length: u16,
    /// What `skb->protocol` would be, in host order.
    pub protocol: u16,
    /// Outer VLAN tag when stripped.
    pub vlan_tci: u16,
    /// Status bits.
    pub status: Status,
    /// RSS hash; 0 when not computed.
    pub rss_hash: u32,
    /// Cookie of the descriptor.
    pub cookie: u32,
    /// Filter tag.
    pub filter_tag: u16,
    /// Sum of the L2 payload; 0 when not computed.
    pub raw_checksum: u16,
    /// Time at the wire; 0 when not taken.
    pub timestamp: u32,
    /// Free-running index of this completion.
    pub index: u16,
    /// Offset of the network header, bytes.
    pub l3_offset: u8,
    /// Phase.
    pub phase: bool,
}

impl RxCompletion {
    /// As little-endian words in memory.
    pub const fn encode(&self) -> [u32; WORDS] {
        [
            LENGTH.at(self.length as u32) | HEADER_LENGTH.at(self.header_length as u32),
            PROTOCOL.at(self.protocol as u32) | VLAN_TCI.at(self.vlan_tci as u32),
            self.status.0,
            self.rss_hash,
            self.cookie,
            FILTER_TAG.at(self.filter_tag as u32) | RAW_CHECKSUM.at(self.raw_checksum as u32),
            self.timestamp,
            INDEX.at(self.index as u32) | L3_OFFSET.at(self.l3_offset as u32) | PHASE.at(self.phase as u32),
        ]
    }

    /// From the words in memory; reserved bits are ignored.
    pub const fn decode(words: &[u32; WORDS]) -> Self {
        Self {
            length: LENGTH.get(words) as u16,
            header_length: HEADER_LENGTH.get(words) as u16,
            protocol: PROTOCOL.get(words) as u16,
            vlan_tci: VLAN_TCI.get(words) as u16,
            status: Status(STATUS.get(words)),
            rss_hash: RSS_HASH.get(words),
            cookie: COOKIE.get(words),
            filter_tag: FILTER_TAG.get(words) as u16,
            raw_checksum: RAW_CHECKSUM.get(words) as u16,
            timestamp: TIMESTAMP.get(words),
            index: INDEX.get(words) as u16,
            l3_offset: L3_OFFSET.get(words) as u8,
            phase: PHASE.get(words) == 1,
        }
    }
}

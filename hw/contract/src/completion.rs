//! What the core answers: the RX completion of 32 or 16 bytes, and the TX index.
//!
//! **RX.** One completion a descriptor used, written in one TLP after its buffer's data, into a ring with as
//! many slots as the descriptor ring; completions that lie in one 64-byte line and are ready together share a TLP.
//! The phase bit is in the last dword: when software sees it, the rest is there. A frame over several buffers has as many
//! completions, one behind the other: LENGTH is that of the buffer, SOP and EOP mark the first and the last, and all
//! else is the same in each. A queue may ask for the **compact** completion of 16 bytes instead: length, protocol,
//! cookie, hash or tag, status with the phase.
//! **Producer index.** When a queue asks for it, the index behind the last completion written, zero-extended to 32 bits, goes to
//! one address after each batch, so that software can look at one word instead of at phases. **TX.** The core writes its consumer index, zero-extended to 32 bits, to one address; it never
//! rewrites descriptors.

use crate::field::Field;
use crate::registers::queue::Format;
use crate::status::{Status, COMPACT_PHASE, TAG};

/// Bytes of an RX completion.
pub const BYTES: usize = 32;
/// Words of an RX completion.
pub const WORDS: usize = BYTES / 4;

/// Bytes of the frame.
pub const LENGTH: Field = Field::new("LENGTH", 0, 0, 16, "bytes in this buffer; of the frame, without FCS, when SOP and EOP are set");
/// Bytes of all headers understood, see [`crate::parse`]; 0 while FEATURES has no L3.
pub const HEADER_LENGTH: Field = Field::new("HEADER_LENGTH", 0, 16, 16, "bytes up to the end of the last header understood; 0 while FEATURES has no L3");
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
pub const RAW_CHECKSUM: Field = Field::new("RAW_CHECKSUM", 5, 16, 16, "one's-complement sum of the frame from byte 14 on, as delivered; in network order as a number");
/// Time at the wire; 0 while FEATURES has no time stamps.
pub const TIMESTAMP: Field = Field::new("TIMESTAMP", 6, 0, 32, "time at which the first beat came from the wire, in cycles");
/// Free-running completion index.
pub const INDEX: Field = Field::new("INDEX", 7, 0, 16, "free-running index of this completion");
/// Offset of the network header.
pub const L3_OFFSET: Field = Field::new("L3_OFFSET", 7, 16, 8, "offset of the network header");
/// What RSS_HASH was computed over, see [`crate::parse::RssType`].
pub const RSS_TYPE: Field = Field::new("RSS_TYPE", 7, 24, 3, "0 no hash, 1 IPv4, 2 TCP4, 3 UDP4, 4 IPv6, 5 TCP6, 6 UDP6");
/// Flips with each pass over the ring, 1 in the first.
pub const PHASE: Field = Field::new("PHASE", 7, 31, 1, "1 in the first pass over the ring, then alternating");

/// Fields of a completion.
pub const FIELDS: [Field; 14] = [
    LENGTH, HEADER_LENGTH, PROTOCOL, VLAN_TCI, STATUS, RSS_HASH, COOKIE, FILTER_TAG, RAW_CHECKSUM, TIMESTAMP, INDEX,
    L3_OFFSET, RSS_TYPE, PHASE,
];

/// Bytes of a compact completion.
pub const COMPACT_BYTES: usize = 16;
/// Words of a compact completion.
pub const COMPACT_WORDS: usize = COMPACT_BYTES / 4;
/// Bytes, as in the full completion.
pub const COMPACT_LENGTH: Field = Field::new("LENGTH", 0, 0, 16, "as in the full completion");
/// Protocol.
pub const COMPACT_PROTOCOL: Field = Field::new("PROTOCOL", 0, 16, 16, "as in the full completion");
/// Cookie.
pub const COMPACT_COOKIE: Field = Field::new("COOKIE", 1, 0, 32, "cookie of the descriptor");
/// Hash, or tag and TCI.
pub const COMPACT_EXTRA: Field = Field::new("EXTRA", 2, 0, 32, "RSS hash; or filter tag in 15:0 and TCI in 31:16");
/// Status with phase.
pub const COMPACT_STATUS: Field = Field::new("STATUS", 3, 0, 32, "status bits; the phase in bit 31");

/// Fields of a compact completion.
pub const COMPACT_FIELDS: [Field; 5] = [COMPACT_LENGTH, COMPACT_PROTOCOL, COMPACT_COOKIE, COMPACT_EXTRA, COMPACT_STATUS];

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
    /// What the hash was computed over.
    pub rss_type: u8,
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
            INDEX.at(self.index as u32) | L3_OFFSET.at(self.l3_offset as u32) | RSS_TYPE.at(self.rss_type as u32) | PHASE.at(self.phase as u32),
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
            rss_type: RSS_TYPE.get(words) as u8,
            phase: PHASE.get(words) == 1,
        }
    }

    /// As little-endian words of the compact form. What has no place in it is lost.
    pub const fn encode_compact(&self, with_tag: bool) -> [u32; COMPACT_WORDS] {
        [
            COMPACT_LENGTH.at(self.length as u32) | COMPACT_PROTOCOL.at(self.protocol as u32),
            self.cookie,
            if with_tag { self.filter_tag as u32 | (self.vlan_tci as u32) << 16 } else { self.rss_hash },
            // Without its place, the tag is not in the completion.
            if with_tag { self.status } else { self.status.with(TAG, 0) }.with(COMPACT_PHASE, self.phase as u32).0,
        ]
    }

    /// From the words of the compact form; fields without a place in it are 0.
    pub const fn decode_compact(words: &[u32; COMPACT_WORDS], format: Format) -> Self {
        let status = Status(COMPACT_STATUS.get(words));
        let extra = COMPACT_EXTRA.get(words);
        let (rss_hash, filter_tag, vlan_tci) = match format {
            Format::CompactTag => (0, extra as u16, (extra >> 16) as u16),
            Format::Full | Format::CompactHash => (extra, 0, 0),
        };
        Self {
            length: COMPACT_LENGTH.get(words) as u16,
            header_length: 0,
            protocol: COMPACT_PROTOCOL.get(words) as u16,
            vlan_tci,
            status: status.with(COMPACT_PHASE, 0),
            rss_hash,
            cookie: COMPACT_COOKIE.get(words),
            filter_tag,
            raw_checksum: 0,
            timestamp: 0,
            index: 0,
            l3_offset: 0,
            rss_type: 0,
            phase: status.get(COMPACT_PHASE) == 1,
        }
    }
}

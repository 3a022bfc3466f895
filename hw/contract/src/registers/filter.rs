//! Filters: which frames are taken, where they go, and the tag they carry.
//!
//! **Exact filters.** A table of [`ROWS`] rows, each the values of up to seven fields of a frame, an action and a
//! tag. Which fields count is said by the row's *kind*; four kinds can be in use at a time. For each enabled kind,
//! lowest first, the core takes the frame's fields that the kind names, all others 0, and looks at the four rows of
//! two buckets ([`Key::buckets`]); the first row that is valid, of that kind and equal in every field matches, and no
//! further kind is looked at. Bucket b is rows 2b and 2b + 1. Software keeps the table so that a row lies in one of its
//! key's two buckets ("cuckoo hashing", Pagh and Rodler, 2001); at half load a place is practically always found.
//!
//! A field that the frame does not have (no tag, no transport header that was recognised, no address) never matches.
//!
//! **Writing.** A row is staged in [`ENTRY`] and takes effect whole with [`COMMIT`], which also makes a new epoch valid: a
//! frame that shows the new epoch was looked up in the new table. To move a row, write the copy before the original goes.
//!
//! **Address hash.** 512 bits; a destination address is in it when the bit numbered by [`address_hash`] is set.
//!
//! **Order.** Exact filters first. Else a frame that is for this station, broadcast, or let in by a mode of RX_MODE goes by
//! RSS; a frame that only the address hash lets in follows HASH_FILTER. Any other is dropped.

use super::Access::{Rw, Wo};
use super::{bits, fields, reg, Register};
use crate::class::Mac;
use crate::field::Field;

/// Rows of the table.
pub const ROWS: usize = 512;
/// Exact filters that software may count on: half of the rows.
pub const FILTERS: usize = 256;
/// Kinds in use at a time.
pub const KINDS: usize = 4;
/// Words of a row.
pub const ENTRY_WORDS: usize = 12;
/// Entries of the indirection table.
pub const INDIRECTION: usize = 128;
/// Bits of the address hash table.
pub const HASH_BITS: usize = 512;

/// Words 0 to 11 of the row that COMMIT writes, a register each: 0x00 to 0x2C.
pub const ENTRY: Register = reg("ENTRY", 0x00, Wo, "word 0 of the row to write; words 1 to 11 follow");
/// Writes a row.
pub const COMMIT: Register =
    fields(reg("COMMIT", 0x30, Wo, "writes the staged row, whole, between two look-ups"), &[COMMIT_ROW, COMMIT_EPOCH]);
/// Row.
pub const COMMIT_ROW: Field = bits("ROW", 0, 9, "row of the table");
/// Epoch.
pub const COMMIT_EPOCH: Field = bits("EPOCH", 16, 3, "epoch of the address filter from here on");
/// Fields of kinds 0 to 3, a register each: 0x40 to 0x4C.
pub const KIND: Register = fields(
    reg("KIND", 0x40, Rw, "fields of kind 0; kinds 1 to 3 follow; 0, after reset, is not in use"),
    &[KIND_DMAC, KIND_VLAN, KIND_TYPE, KIND_SOURCE, KIND_DESTINATION, KIND_PORT],
);
/// Destination MAC.
pub const KIND_DMAC: Field = bits("DMAC", 0, 1, "destination address");
/// VLAN.
pub const KIND_VLAN: Field = bits("VLAN", 1, 1, "VID of the outer VLAN tag, stripped or not");
/// EtherType.
pub const KIND_TYPE: Field = bits("TYPE", 2, 1, "EtherType behind the VLAN tags; Ethernet II only");
/// Source.
pub const KIND_SOURCE: Field = bits("SOURCE", 3, 1, "source address, IPv4 or IPv6, and which of the two");
/// Destination.
pub const KIND_DESTINATION: Field = bits("DESTINATION", 4, 1, "destination address, IPv4 or IPv6, and which of the two");
/// Port.
pub const KIND_PORT: Field = bits("PORT", 5, 1, "destination port of TCP, UDP or SCTP, and which of the three");
/// Address hash table, 16 words: 0x80 to 0xBC.
pub const HASH: Register = reg("HASH", 0x80, Rw, "bits 31:0 of the address hash table; 15 more words follow");
/// Indirection table, 32 words of 4 entries: 0x100 to 0x17C.
pub const INDIRECT: Register =
    reg("INDIRECT", 0x100, Wo, "queues of RSS hashes 0 to 3 (the low 7 bits), 8 bits each, lowest first; 31 more words follow");

/// First registers of each table.
pub const REGISTERS: [Register; 5] = [ENTRY, COMMIT, KIND, HASH, INDIRECT];

/// Words 0 and 1: destination MAC; word 1: EtherType.
pub const ROW_DMAC_LOW: Field = Field::new("DMAC_LOW", 0, 0, 32, "destination MAC, bytes 0 to 3, byte 0 in bits 7:0");
/// Rest of the destination MAC.
pub const ROW_DMAC_HIGH: Field = Field::new("DMAC_HIGH", 1, 0, 16, "destination MAC, bytes 4 and 5");
/// EtherType.
pub const ROW_TYPE: Field = Field::new("TYPE", 1, 16, 16, "EtherType, as a number");
/// Port.
pub const ROW_PORT: Field = Field::new("PORT", 2, 0, 16, "destination port, as a number");
/// VID.
pub const ROW_VLAN: Field = Field::new("VLAN", 2, 16, 12, "VID of the outer tag");
/// Transport.
pub const ROW_L4: Field = Field::new("L4", 2, 28, 3, "with PORT: 1 TCP, 2 UDP, 4 SCTP; else 0");
/// Kind.
pub const ROW_KIND: Field = Field::new("KIND", 3, 0, 2, "kind of the row");
/// Valid.
pub const ROW_VALID: Field = Field::new("VALID", 3, 2, 1, "1: the row can match");
/// Action.
pub const ROW_ACTION: Field = Field::new("ACTION", 3, 4, 2, "0 RSS, 1 queue, 2 drop");
/// Queue.
pub const ROW_QUEUE: Field = Field::new("QUEUE", 3, 8, 4, "queue of action 1");
/// Network.
pub const ROW_L3: Field = Field::new("L3", 3, 12, 3, "with SOURCE or DESTINATION: 1 IPv4, 2 IPv6; else 0");
/// Tag.
pub const ROW_TAG: Field = Field::new("TAG", 3, 16, 16, "filter tag in the completion");
/// Source, first word.
pub const ROW_SOURCE: Field = Field::new("SOURCE", 4, 0, 32, "source address as on the wire, first byte in bits 7:0; words 4 to 7, IPv4 in word 4");
/// Destination, first word.
pub const ROW_DESTINATION: Field = Field::new("DESTINATION", 8, 0, 32, "destination address, words 8 to 11 likewise");

/// Fields of a row.
pub const ROW_FIELDS: [Field; 13] = [
    ROW_DMAC_LOW, ROW_DMAC_HIGH, ROW_TYPE, ROW_PORT, ROW_VLAN, ROW_L4, ROW_KIND, ROW_VALID, ROW_ACTION, ROW_QUEUE, ROW_L3,
    ROW_TAG, ROW_SOURCE,
];

/// What happens to a frame that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Spread like a frame without a filter.
    #[default]
    Rss = 0,
    /// Deliver to the queue.
    Queue = 1,
    /// Drop, counted as DROP_FILTER.
    Drop = 2,
}

/// The fields of a frame, or of a row, that a kind names; all others 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    /// Destination MAC.
    pub dmac: Mac,
    /// EtherType behind the tags.
    pub ethertype: u16,
    /// VID of the outer tag.
    pub vlan: u16,
    /// 1 TCP, 2 UDP, 4 SCTP.
    pub l4: u8,
    /// Destination port.
    pub port: u16,
    /// 1 IPv4, 2 IPv6.
    pub l3: u8,
    /// Source address; IPv4 in the first four bytes.
    pub source: [u8; 16],
    /// Destination address.
    pub destination: [u8; 16],
}

impl Key {
    /// The row of this key.
    pub fn row(&self, kind: u8, valid: bool, action: Action, queue: u8, tag: u16) -> [u32; ENTRY_WORDS] {
        let mut words = [0; ENTRY_WORDS];
        let [a, b, c, d, e, f] = self.dmac;
        ROW_DMAC_LOW.put(&mut words, u32::from_le_bytes([a, b, c, d]));
        ROW_DMAC_HIGH.put(&mut words, u32::from_le_bytes([e, f, 0, 0]));
        ROW_TYPE.put(&mut words, u32::from(self.ethertype));
        ROW_PORT.put(&mut words, u32::from(self.port));
        ROW_VLAN.put(&mut words, u32::from(self.vlan));
        ROW_L4.put(&mut words, u32::from(self.l4));
        ROW_KIND.put(&mut words, u32::from(kind));
        ROW_VALID.put(&mut words, u32::from(valid));
        ROW_ACTION.put(&mut words, action as u32);
        ROW_QUEUE.put(&mut words, u32::from(queue));
        ROW_L3.put(&mut words, u32::from(self.l3));
        ROW_TAG.put(&mut words, u32::from(tag));
        for (place, bytes) in words[ROW_SOURCE.word..].iter_mut().zip(self.source.chunks(4).chain(self.destination.chunks(4))) {
            *place = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        words
    }

    /// The two buckets, 0 to 255, in which a row of this key may lie.
    ///
    /// The key's row with action, queue, tag and validity 0 is folded to 32 bits: the exclusive or of word i rotated left by
    /// 5i bits (mod 32). The first bucket is the exclusive or of that number's four bytes; the second that of its bits from 0,
    /// 7, 14, 21 and 28 up, eight of each.
    pub fn buckets(&self, kind: u8) -> [u8; 2] {
        let row = self.row(kind, false, Action::Rss, 0, 0);
        let fold = row.iter().zip(0..).fold(0u32, |fold, (word, i)| fold ^ word.rotate_left(5 * i % 32));
        let sevens = fold ^ fold >> 7 ^ fold >> 14 ^ fold >> 21 ^ fold >> 28;
        let [a, b, c, d] = fold.to_le_bytes();
        [a ^ b ^ c ^ d, sevens as u8]
    }
}

/// The bit of the address hash table for a destination address: the low 9 bits of the Ethernet CRC-32 (IEEE 802.3,
/// 3.2.9, reflected, all ones at the start, not inverted at the end) over the six bytes.
pub fn address_hash(address: &Mac) -> u16 {
    let crc = address.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    (crc & 0x1FF) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_hash_is_the_ethernet_crc() {
        // The FCS of a frame is the complement of the remainder; these six bytes are the start of "123456789".
        assert_eq!(address_hash(b"123456"), (!0x0972_D361u32 & 0x1FF) as u16);
    }

    #[test]
    fn keys_that_differ_in_little_differ_in_buckets() {
        let host = |last| Key { l3: 1, destination: [10, 0, 0, last, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], ..Key::default() };
        for last in 1..=255 {
            assert_ne!(host(last).buckets(0), host(last - 1).buckets(0));
        }
        assert_ne!(host(1).buckets(0), host(1).buckets(1));
    }
}

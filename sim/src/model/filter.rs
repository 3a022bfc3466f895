//! Filters: the tables, and which entry a frame meets.

use std::net::IpAddr;

use ferronic_contract::class::Mac;
use ferronic_contract::parse::{L3, L4};
use ferronic_contract::registers::filter::{self, address_hash, Action, Key, ENTRY_WORDS};
use ferronic_contract::registers::{self, Register};
use ferronic_contract::status::Destination;

use super::parse::{octets, Reading};

/// What a filter does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// What becomes of the frame.
    pub action: Action,
    /// Queue of [`Action::Queue`].
    pub queue: u8,
    /// Tag for the completion.
    pub tag: u16,
}

/// What the filters say of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is taken, and none had a say.
    Taken,
    /// One matched.
    Matched(Match),
    /// It is for somebody else.
    Refused,
}

/// The tables of the filter registers.
#[derive(Clone)]
pub struct Filters {
    rows: Box<[[u32; ENTRY_WORDS]; filter::ROWS]>,
    kinds: [u32; filter::KINDS],
    addresses: [u32; filter::HASH_BITS / 32],
    indirection: [u32; filter::INDIRECTION / 4],
    staged: [u32; ENTRY_WORDS],
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            rows: Box::new([[0; ENTRY_WORDS]; filter::ROWS]),
            kinds: Default::default(),
            addresses: Default::default(),
            indirection: [0; filter::INDIRECTION / 4],
            staged: Default::default(),
        }
    }
}

impl Filters {
    /// What software reads at a byte offset of the filter registers.
    pub fn read(&self, offset: u32) -> u32 {
        let word = |first: Register, table: &[u32]| table.get((offset.checked_sub(first.offset)? / 4) as usize).copied();
        word(filter::KIND, &self.kinds).or_else(|| word(filter::HASH, &self.addresses)).unwrap_or(0)
    }

    /// Software writes at a byte offset of the filter registers. The new epoch, when it made one valid.
    pub fn write(&mut self, offset: u32, value: u32) -> Option<u8> {
        if offset == filter::COMMIT.offset {
            self.rows[filter::COMMIT_ROW.of(value) as usize] = self.staged;
            return Some(filter::COMMIT_EPOCH.of(value) as u8);
        }
        let tables: [(Register, &mut [u32], u32); 4] = [
            (filter::ENTRY, &mut self.staged, u32::MAX),
            (filter::KIND, &mut self.kinds, filter::KIND.bits()),
            (filter::HASH, &mut self.addresses, u32::MAX),
            (filter::INDIRECT, &mut self.indirection, u32::MAX),
        ];
        for (first, table, mask) in tables {
            let word = offset.checked_sub(first.offset).and_then(|rest| table.get_mut(rest as usize / 4));
            if let Some(word) = word {
                *word = value & mask;
            }
        }
        None
    }

    /// The queue of an RSS hash.
    pub fn queue_of(&self, hash: u32) -> u8 {
        let entry = hash as usize % filter::INDIRECTION;
        (self.indirection[entry / 4].to_le_bytes()[entry % 4]) & 0xF
    }

    /// What becomes of a frame. `mode` is the register RX_MODE, `hash_filter` the register HASH_FILTER, `outer` the outer tag's TCI.
    pub fn answer(&self, frame: &Subject<'_>, mode: u32, hash_filter: u32) -> Answer {
        if let Some(row) = self.exact(frame) {
            return Answer::Matched(row);
        }
        let bit = address_hash(&frame.destination_address) as usize;
        let in_hash = self.addresses[bit / 32] >> (bit % 32) & 1 == 1;
        let has = |field: ferronic_contract::field::Field| field.of(mode) == 1;
        let by_hash = match frame.destination {
            Destination::Host | Destination::Broadcast => return Answer::Taken,
            _ if has(registers::PROMISCUOUS) => return Answer::Taken,
            Destination::Multicast if has(registers::ALL_MULTICAST) => return Answer::Taken,
            Destination::Multicast => has(registers::HASH_MULTICAST),
            Destination::OtherHost => has(registers::HASH_UNICAST),
        };
        if !by_hash || !in_hash {
            return Answer::Refused;
        }
        Answer::Matched(Match {
            action: action(registers::HASH_ACTION.of(hash_filter)),
            queue: registers::HASH_QUEUE.of(hash_filter) as u8,
            tag: registers::HASH_TAG.of(hash_filter) as u16,
        })
    }

    /// The first row that matches.
    fn exact(&self, frame: &Subject<'_>) -> Option<Match> {
        (0..).zip(&self.kinds).filter(|(_, fields)| **fields != 0).find_map(|(kind, fields)| {
            let key = frame.key(*fields)?;
            let rows = key.buckets(kind).into_iter().flat_map(|bucket| [2 * usize::from(bucket), 2 * usize::from(bucket) + 1]);
            rows.map(|row| &self.rows[row]).find(|row| {
                let used = filter::ROW_VALID.get(row) == 1 && filter::ROW_KIND.get(row) == u32::from(kind);
                used && key_of(row) == key
            })
        })
        .map(|row| Match {
            action: action(filter::ROW_ACTION.get(row)),
            queue: filter::ROW_QUEUE.get(row) as u8,
            tag: filter::ROW_TAG.get(row) as u16,
        })
    }
}

/// 3 means nothing in the contract; it is taken for RSS.
fn action(bits: u32) -> Action {
    match bits {
        1 => Action::Queue,
        2 => Action::Drop,
        _ => Action::Rss,
    }
}

/// The values that a row compares with.
fn key_of(row: &[u32; ENTRY_WORDS]) -> Key {
    let [a, b, c, d] = filter::ROW_DMAC_LOW.get(row).to_le_bytes();
    let [e, f, ..] = filter::ROW_DMAC_HIGH.get(row).to_le_bytes();
    let address = |first: usize| {
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip(&row[first..]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    };
    Key {
        dmac: [a, b, c, d, e, f],
        ethertype: filter::ROW_TYPE.get(row) as u16,
        vlan: filter::ROW_VLAN.get(row) as u16,
        l4: filter::ROW_L4.get(row) as u8,
        port: filter::ROW_PORT.get(row) as u16,
        l3: filter::ROW_L3.get(row) as u8,
        source: address(filter::ROW_SOURCE.word),
        destination: address(filter::ROW_DESTINATION.word),
    }
}

/// What the filters look at.
pub struct Subject<'a> {
    /// Whom the frame is for.
    pub destination: Destination,
    /// Its destination address.
    pub destination_address: Mac,
    /// TCI of the outer tag, stripped or not.
    pub outer: Option<u16>,
    /// Its upper layers.
    pub reading: &'a Reading,
}

impl Subject<'_> {
    /// The fields that a kind names; `None` when the frame does not have them all.
    fn key(&self, fields: u32) -> Option<Key> {
        let mut key = Key::default();
        let wide = |address: &IpAddr| {
            let mut bytes = [0; 16];
            let narrow = octets(address);
            bytes[..narrow.len()].copy_from_slice(&narrow);
            bytes
        };
        if filter::KIND_DMAC.of(fields) == 1 {
            key.dmac = self.destination_address;
        }
        if filter::KIND_VLAN.of(fields) == 1 {
            key.vlan = self.outer? & 0xFFF;
        }
        if filter::KIND_TYPE.of(fields) == 1 {
            key.ethertype = self.reading.ethertype?;
        }
        if filter::KIND_SOURCE.of(fields) == 1 {
            key.source = wide(&self.reading.addresses?.0);
        }
        if filter::KIND_DESTINATION.of(fields) == 1 {
            key.destination = wide(&self.reading.addresses?.1);
        }
        if filter::KIND_SOURCE.of(fields) == 1 || filter::KIND_DESTINATION.of(fields) == 1 {
            key.l3 = match self.reading.l3 {
                L3::Ipv4 => 1,
                L3::Ipv6 => 2,
                _ => return None,
            };
        }
        if filter::KIND_PORT.of(fields) == 1 {
            key.port = self.reading.ports?.1;
            key.l4 = match self.reading.l4 {
                L4::Tcp => 1,
                L4::Udp => 2,
                L4::Sctp => 4,
                _ => return None,
            };
        }
        Some(key)
    }
}

//! What the contract says of a frame and the tables, in software.

use crate::host::Random;
use ferronic_contract::class::Mac;
use ferronic_contract::field::Field;
use ferronic_contract::registers;
use ferronic_contract::registers::filter::*;

pub type Row = [u32; ENTRY_WORDS];

#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub dst: u8,
    pub dmac: Mac,
    pub ethertype: Option<u16>,
    pub vid: Option<u16>,
    pub l3: u8,
    pub l4: u8,
    pub source: [u8; 16],
    pub destination: [u8; 16],
    pub port: u16,
}

/// What becomes of a frame; `None`: dropped.
pub type Decision = Option<Taken>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// `None`: by RSS.
    pub queue: Option<u8>,
    /// `None`: no filter matched.
    pub tag: Option<u16>,
}

pub const BY_RSS: Decision = Some(Taken { queue: None, tag: None });

/// A decision that a row or HASH_FILTER asks for.
pub fn ruled(word: u32) -> Decision {
    let queue = (ROW_ACTION.of(word) == Action::Queue as u32).then(|| ROW_QUEUE.of(word) as u8);
    let tag = Some(ROW_TAG.of(word) as u16);
    (ROW_ACTION.of(word) < Action::Drop as u32).then_some(Taken { queue, tag })
}

/// The key of a frame for a kind; `None` when the frame lacks a field.
pub fn key(frame: &Frame, fields: u32) -> Option<Key> {
    let mut key = Key::default();
    if KIND_DMAC.of(fields) == 1 {
        key.dmac = frame.dmac;
    }
    if KIND_VLAN.of(fields) == 1 {
        key.vlan = frame.vid?;
    }
    if KIND_TYPE.of(fields) == 1 {
        key.ethertype = frame.ethertype?;
    }
    for (field, from, to) in
        [(KIND_SOURCE, &frame.source, &mut key.source), (KIND_DESTINATION, &frame.destination, &mut key.destination)]
    {
        if field.of(fields) == 1 {
            key.l3 = [1, 2].contains(&frame.l3).then_some(frame.l3)?;
            *to = *from;
        }
    }
    if KIND_PORT.of(fields) == 1 {
        key.l4 = [1, 2, 4].contains(&frame.l4).then_some(frame.l4)?;
        key.port = frame.port;
    }
    Some(key)
}

/// What software has written.
#[derive(Clone)]
pub struct Tables {
    pub rows: Vec<Row>,
    pub kinds: [u32; KINDS],
    pub bits: [u32; 16],
    pub mode: u32,
    pub hash_filter: u32,
}

impl Tables {
    pub fn exact(&self, frame: &Frame) -> Option<u32> {
        let compared = |row: &Row| {
            let mut row = *row;
            row[2] &= ROW_PORT.mask() | ROW_VLAN.mask() | ROW_L4.mask();
            row[3] &= ROW_KIND.mask() | ROW_VALID.mask() | ROW_L3.mask();
            row
        };
        (0..KINDS as u8).filter(|kind| self.kinds[usize::from(*kind)] != 0).find_map(|kind| {
            let key = key(frame, self.kinds[usize::from(kind)])?;
            let wanted = key.row(kind, true, Action::Rss, 0, 0);
            places(&key, kind).into_iter().map(|place| self.rows[place]).find(|row| compared(row) == wanted).map(|row| row[3])
        })
    }

    pub fn decide(&self, frame: &Frame) -> Decision {
        if let Some(word) = self.exact(frame) {
            return ruled(word);
        }
        let on = |field: Field| field.of(self.mode) == 1;
        if on(registers::PROMISCUOUS) || frame.dst < 2 || (frame.dst == 2 && on(registers::ALL_MULTICAST)) {
            return BY_RSS;
        }
        let place = usize::from(address_hash(&frame.dmac));
        let by_hash = if frame.dst == 2 { on(registers::HASH_MULTICAST) } else { on(registers::HASH_UNICAST) };
        if by_hash && self.bits[place / 32] >> (place % 32) & 1 == 1 {
            return ruled(self.hash_filter);
        }
        None
    }

    /// A row into one of its buckets, others pushed to their other bucket. The places written, in order.
    pub fn place(&mut self, random: &mut Random, mut row: Row, kind: u8, key: Key) -> Vec<usize> {
        let mut placed = Vec::new();
        let mut choice = places(&key, kind);
        for _ in 0..200 {
            if let Some(free) = choice.iter().find(|place| ROW_VALID.get(&self.rows[**place]) == 0) {
                self.rows[*free] = row;
                placed.push(*free);
                return placed;
            }
            let victim = choice[random.below(4) as usize];
            std::mem::swap(&mut self.rows[victim], &mut row);
            placed.push(victim);
            choice = places(&of_row(&row), ROW_KIND.get(&row) as u8);
        }
        panic!("no place at half load");
    }
}

/// The four rows in which a key is looked for, in order.
pub fn places(key: &Key, kind: u8) -> [usize; 4] {
    let [a, b] = key.buckets(kind).map(|bucket| 2 * usize::from(bucket));
    [a, a + 1, b, b + 1]
}

/// The rest of a row's word 3 or of HASH_FILTER: any queue, any tag.
pub fn ruling(random: &mut Random, action: u32) -> u32 {
    ROW_ACTION.at(action) | ROW_QUEUE.at(random.next() as u32) | ROW_TAG.at(random.next() as u32)
}

/// The key of a row.
pub fn of_row(row: &Row) -> Key {
    let bytes = |first: usize| {
        let mut bytes = [0; 16];
        (0..4).for_each(|i| bytes[4 * i..4 * i + 4].copy_from_slice(&row[first + i].to_le_bytes()));
        bytes
    };
    let ([a, b, c, d], [e, f, ..]) = (row[0].to_le_bytes(), row[1].to_le_bytes());
    Key {
        dmac: [a, b, c, d, e, f],
        ethertype: ROW_TYPE.get(row) as u16,
        vlan: ROW_VLAN.get(row) as u16,
        l4: ROW_L4.get(row) as u8,
        port: ROW_PORT.get(row) as u16,
        l3: ROW_L3.get(row) as u8,
        source: bytes(4),
        destination: bytes(8),
    }
}

/// A frame of few different values, so that its parts are often those of another.
pub fn frame(random: &mut Random) -> Frame {
    let mut address = || std::array::from_fn(|_| [0, 0xFF, 0x5A][random.below(3) as usize]);
    let (source, destination) = (address(), address());
    let l3 = random.below(5) as u8;
    let l4 = random.below(6) as u8;
    Frame {
        dst: random.below(4) as u8,
        dmac: (random.next() & 0x0300_0000_0001).to_le_bytes()[..6].try_into().unwrap(),
        ethertype: (!random.one_in(4)).then(|| [0x800, 0x86DD][random.below(2) as usize]),
        vid: (!random.one_in(4)).then(|| random.below(8) as u16),
        l3,
        l4,
        source: if [1, 2].contains(&l3) { source } else { [0; 16] },
        destination: if [1, 2].contains(&l3) { destination } else { [0; 16] },
        port: if [1, 2, 4].contains(&l4) { random.below(8) as u16 } else { 0 },
    }
}

/// A frame that has every field.
pub fn whole() -> Frame {
    Frame {
        dst: 3,
        dmac: [1, 2, 3, 4, 5, 6],
        ethertype: Some(0x86DD),
        vid: Some(0xABC),
        l3: 2,
        l4: 2,
        source: std::array::from_fn(|i| 0x20 + i as u8),
        destination: std::array::from_fn(|i| 0xC0 ^ i as u8),
        port: 0x1234,
    }
}

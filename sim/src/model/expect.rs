//! What must become of a frame, and the completions that must tell of it.
//!
//! ```text
//! frame → PAUSE? → strip → read → filter, RSS → Delivery → place in buffers → completions
//! ```

use std::ops::Range;

use ferronic_contract::class::Mac;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::field::Field;
use ferronic_contract::parse::{RssType, L4};
use ferronic_contract::registers::filter::Action;
use ferronic_contract::registers::{self, queue};
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{self, Status};

use super::checksum::sum;
use super::classify::{classify_delivered, Classification};
use super::filter::{Answer, Match, Subject};
use super::parse::{read, Reading};
use super::rss;
use super::settings::Settings;
use super::strip::{strip, Delivered};

/// MAC control frames (IEEE 802.3, clause 31), and the opcode of PAUSE (annex 31B).
const MAC_CONTROL: [u8; 2] = [0x88, 0x08];
const PAUSE: [u8; 2] = [0x00, 0x01];
/// Where PAUSE frames go, when not to the station itself (annex 31B.1).
const PAUSE_ADDRESS: Mac = [0x01, 0x80, 0xC2, 0x00, 0x00, 0x01];

/// What becomes of a frame that the wire brought whole, before its queue has a say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A PAUSE frame that is heeded.
    Pause,
    /// Dropped by a filter, or for another station.
    Filtered,
    /// It goes to a queue.
    Queue(Delivery),
}

/// A frame on its way to a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which queue.
    pub queue: u8,
    /// The bytes that must arrive.
    pub bytes: Vec<u8>,
    /// Its upper layers.
    pub reading: Reading,
    /// What is the same in each of its completions.
    common: RxCompletion,
}

impl Settings {
    /// Judges a frame as it came from the wire. One without a whole Ethernet header never gets so far: it counts as filtered.
    pub fn judge(&self, frame: &[u8]) -> Fate {
        if self.has(registers::FEATURE_FLOW) && registers::PAUSE_HONOUR.of(self.flow) == 1 && is_pause(frame, &self.own) {
            return Fate::Pause;
        }
        let mode = if self.has(registers::FEATURE_STRIP) { self.mode } else { 0 };
        let delivered = strip(frame, mode);
        let Some(class) = classify_delivered(&delivered.bytes, &self.own, delivered.stripped.is_some()) else {
            return Fate::Filtered;
        };
        let reading = read(&delivered.bytes, &class);
        let answer = if self.has(registers::FEATURE_FILTER) {
            self.filters.answer(&subject(frame, &class, &reading), self.mode, self.hash_filter)
        } else {
            Answer::Taken
        };
        let (hash, hash_type) =
            if self.has(registers::FEATURE_RSS) { rss::hash(&reading, self.rss) } else { (0, RssType::None) };
        let by_rss = match hash_type {
            RssType::None => registers::DEFAULT_QUEUE.of(self.rss) as u8,
            _ => self.filters.queue_of(hash),
        };
        let (queue, filter) = match answer {
            Answer::Refused | Answer::Matched(Match { action: Action::Drop, .. }) => return Fate::Filtered,
            Answer::Taken => (by_rss, None),
            Answer::Matched(filter @ Match { action: Action::Rss, .. }) => (by_rss, Some(filter)),
            Answer::Matched(filter @ Match { action: Action::Queue, .. }) => (filter.queue, Some(filter)),
        };
        let mut common = self.layers(&delivered, &class, &reading);
        (common.rss_hash, common.rss_type) = (hash, hash_type as u8);
        if let Some(filter) = filter {
            common.filter_tag = filter.tag;
            common.status = common.status.with(status::FILTER, 1).with(status::TAG, 1);
        }
        Fate::Queue(Delivery { queue, bytes: delivered.bytes.into_owned(), reading, common })
    }

    fn has(&self, feature: Field) -> bool {
        feature.of(self.features) == 1
    }

    /// What a completion says of the frame itself.
    fn layers(&self, delivered: &Delivered, class: &Classification, reading: &Reading) -> RxCompletion {
        use registers::{FEATURE_CHECKSUM, FEATURE_L2, FEATURE_L3, FEATURE_STRIP};
        let (tag, has) = (delivered.stripped, |feature| self.has(feature));
        let bits = [
            (FEATURE_L2, status::CLASSIFIED, 1),
            (FEATURE_L2, status::DST, class.destination as u32),
            (FEATURE_L2, status::L2_KIND, class.l2 as u32),
            (FEATURE_L2, status::VLAN, u32::from(class.vlan_tags)),
            (FEATURE_L2, status::EPOCH, u32::from(self.epoch)),
            (FEATURE_L3, status::L3, reading.l3 as u32),
            (FEATURE_L3, status::L3OPT, u32::from(reading.l3_options)),
            (FEATURE_L3, status::FRAG, u32::from(reading.fragment)),
            (FEATURE_L3, status::L4, reading.l4 as u32),
            (FEATURE_L3, status::ACK, u32::from(reading.ack)),
            (FEATURE_CHECKSUM, status::IPCSUM, reading.ip_checksum as u32),
            (FEATURE_CHECKSUM, status::L4CSUM, reading.l4_checksum as u32),
            (FEATURE_STRIP, status::STRIPPED, u32::from(tag.is_some())),
            (FEATURE_STRIP, status::STRIPPED_S, u32::from(tag.is_some_and(|tag| tag.service))),
        ];
        let bits = bits.into_iter().filter(|(feature, ..)| has(*feature));
        RxCompletion {
            protocol: if has(FEATURE_L2) { class.protocol } else { 0 },
            l3_offset: if has(FEATURE_L2) { class.l3_offset } else { 0 },
            header_length: if has(FEATURE_L3) { reading.header_length.into() } else { 0 },
            raw_checksum: if has(FEATURE_CHECKSUM) { sum(&[&delivered.bytes[14..]]) } else { 0 },
            vlan_tci: tag.map_or(0, |tag| tag.tci),
            status: bits.fold(Status::default(), |all, (_, field, value)| all.with(field, value)),
            ..RxCompletion::default()
        }
    }
}

/// What the filters look at. The outer tag is where it was on the wire.
fn subject<'a>(wire: &[u8], class: &Classification, reading: &'a Reading) -> Subject<'a> {
    let outer = wire.get(14..16).filter(|_| class.vlan_tags > 0).map(|tci| u16::from_be_bytes([tci[0], tci[1]]));
    let destination_address = wire.first_chunk().copied().unwrap_or_default();
    Subject { destination: class.destination, destination_address, outer, reading }
}

/// A PAUSE frame for this station, opcode and quanta included.
fn is_pause(frame: &[u8], own: &Mac) -> bool {
    let to_us = frame.starts_with(&PAUSE_ADDRESS) || frame.starts_with(own);
    to_us && frame.len() >= 18 && frame[12..14] == MAC_CONTROL && frame[14..16] == PAUSE
}

/// Where the bytes of a frame went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The bytes in each buffer.
    pub pieces: Vec<Range<usize>>,
    /// The first buffers hold the header alone.
    pub split: bool,
    /// There was no buffer for the rest.
    pub cut: bool,
}

/// Why a frame went nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No buffer at all.
    NoBuffer,
    /// A buffer too short, in a queue that does not scatter.
    TooLong,
}

impl Delivery {
    /// Where the header ends for a queue with this register CONTROL; `None` when the frame is not split.
    fn split_at(&self, control: u32) -> Option<usize> {
        let reading = &self.reading;
        let at = match queue::SPLIT.of(control) {
            1 => reading.l3_offset.into(),
            2 if reading.addresses.is_some() => reading.network_end.into(),
            3 if !matches!(reading.l4, L4::None | L4::Other) => reading.header_length.into(),
            4 => queue::SPLIT_BYTES.of(control) as usize,
            _ => 0,
        };
        (1..self.bytes.len()).contains(&at).then_some(at)
    }

    /// Lays the frame into buffers of a queue with this register CONTROL; `buffer` tells their lengths one by one. Header and
    /// payload of a split frame share no buffer, and without SCATTER have one each.
    ///
    /// # Errors
    ///
    /// It goes nowhere, and the buffers stay for the next frame.
    pub fn place(&self, control: u32, mut buffer: impl FnMut() -> Option<u16>) -> Result<Placed, Misfit> {
        let scatter = queue::SCATTER.of(control) == 1;
        let split = self.split_at(control);
        let at = split.unwrap_or(self.bytes.len());
        let mut placed = Placed { pieces: Vec::new(), split: split.is_some(), cut: false };
        for mut part in [0..at, at..self.bytes.len()] {
            while !part.is_empty() {
                // A buffer without a byte carries nothing on.
                let Some(room) = buffer().filter(|room| *room > 0 || placed.pieces.is_empty()) else {
                    placed.cut = true;
                    return if placed.pieces.is_empty() { Err(Misfit::NoBuffer) } else { Ok(placed) };
                };
                if !scatter && part.len() > usize::from(room) {
                    return Err(Misfit::TooLong);
                }
                let end = part.end.min(part.start + usize::from(room));
                placed.pieces.push(part.start..end);
                part.start = end;
            }
        }
        Ok(placed)
    }

    /// The completions of a frame that lies in buffers with these cookies, the first of them number `index` in a ring of
    /// `size`.
    pub fn completions(&self, placed: &Placed, size: RingSize, index: u16, cookies: &[u32]) -> Vec<RxCompletion> {
        let last = placed.pieces.len().saturating_sub(1);
        let pieces = placed.pieces.iter().zip(cookies).enumerate();
        let completion = |(number, (piece, cookie)): (usize, (&Range<usize>, &u32))| {
            let index = index.wrapping_add(number as u16);
            let status = [
                (status::SOP, number == 0),
                (status::EOP, number == last),
                (status::SPLIT, placed.split),
                (status::ERROR, placed.cut && number == last),
            ];
            RxCompletion {
                length: piece.len() as u16,
                status: status.iter().fold(self.common.status, |all, (field, set)| all.with(*field, u32::from(*set))),
                cookie: *cookie,
                index,
                // The first pass over the ring is written with phase 1, the second with 0, and so on.
                phase: (u32::from(index) / size.entries()).is_multiple_of(2),
                ..self.common
            }
        };
        pieces.map(completion).collect()
    }

    /// The completion of a frame in one buffer.
    pub fn completion(&self, size: RingSize, index: u16, cookie: u32) -> RxCompletion {
        let whole = Placed { pieces: vec![0..self.bytes.len()], split: false, cut: false };
        self.completions(&whole, size, index, &[cookie])[0]
    }
}

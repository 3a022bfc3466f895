//! Frames that look for mistakes in whoever reads them: every layer is mostly right, and now and then wrong in one of the
//! ways in which it can be.
//!
//! ```text
//! addresses → 0 to 3 tags → LLC, ARP, IPv4 or IPv6 → extension headers → TCP, UDP, … → padding → cuts and flipped bytes
//! ```
//!
//! The same seed gives the same frames.

use std::ops::RangeInclusive;
use std::sync::Arc;

use etherparse::checksum::Sum16BitWords;

use super::generate::{LONGEST, SHORTEST};
use super::{Frame, MIN_FRAME};

/// [`Frame::source`] of these frames.
const FUZZED: &str = "fuzzed";
const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
/// Protocols, the frequent ones several times; the last is none that has a header.
const PROTOCOLS: [u8; 20] = [TCP, TCP, TCP, TCP, TCP, UDP, UDP, UDP, UDP, UDP, 1, 58, 132, 132, 2, 41, 47, 50, AUTHENTICATION, 59];
const EXTENSIONS: [u8; 5] = [HOP_BY_HOP, ROUTING, DESTINATION_OPTIONS, FRAGMENT, AUTHENTICATION];
const IPV4_HEADER: usize = 20;

/// An endless stream of frames for a station.
pub struct Fuzz {
    random: fastrand::Rng,
    own_mac: [u8; 6],
    source: Arc<str>,
    index: usize,
}

impl Fuzz {
    /// Frames of which many are for `own_mac`.
    pub fn new(seed: u64, own_mac: [u8; 6]) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), own_mac, source: FUZZED.into(), index: 0 }
    }

    /// True once in `n` times.
    fn one_in(&mut self, n: u32) -> bool {
        self.random.u32(..n) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.usize(..choices.len())]
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.random.fill(&mut bytes);
        bytes
    }

    /// A number mostly as it should be, else a little less, a little more, or anything.
    fn mostly(&mut self, right: usize) -> u16 {
        let near = right as u16;
        match self.random.u32(..48) {
            0 => near.wrapping_sub(self.random.u16(1..=24)),
            1 => near.wrapping_add(self.random.u16(1..=24)),
            2 => self.random.u16(..),
            3 => 0,
            _ => near,
        }
    }

    /// Bytes of payload: short as a rule, sometimes all that a frame holds.
    fn payload(&mut self) -> Vec<u8> {
        let lengths: RangeInclusive<usize> = match self.random.u32(..64) {
            0 => 0..=LONGEST - 200,
            1..=6 => 0..=1480,
            7..=16 => 0..=0,
            _ => 0..=80,
        };
        let length = self.random.usize(lengths);
        self.bytes(length)
    }

    fn build(&mut self) -> Vec<u8> {
        let mut frame = self.destination().to_vec();
        frame.extend(self.bytes(6));
        let tags = self.pick(&[0, 0, 0, 0, 1, 1, 2, 2, 3]);
        for _ in 0..tags {
            let tpid: u16 = self.pick(&[0x8100, 0x8100, 0x88A8]);
            frame.extend(tpid.to_be_bytes());
            frame.extend(self.bytes(2));
        }
        match self.random.u32(..20) {
            0 => self.length_frame(&mut frame),
            1 => self.typed(&mut frame, 0x0806, 28),
            2 => {
                let kind = self.pick(&[0x88CC, 0x88B5, 0x8847, 0x9100, 0x0600, 0x86DC]);
                self.typed(&mut frame, kind, 60);
            }
            3..=11 => self.ipv4(&mut frame),
            _ => self.ipv6(&mut frame),
        }
        self.pad(&mut frame);
        self.damage(&mut frame);
        frame
    }

    fn destination(&mut self) -> [u8; 6] {
        let mut near = self.own_mac;
        near[self.random.usize(..6)] ^= 1 << self.random.u8(..8);
        let own = self.own_mac;
        self.pick(&[own, own, own, near, [0xFF; 6], [1, 0, 0x5E, 0, 0, 1], [0x33, 0x33, 0, 0, 0, 1], [1, 0x80, 0xC2, 0, 0, 1]])
    }

    /// 802.3: a length, then LLC, SNAP, raw IPX, or nothing.
    fn length_frame(&mut self, frame: &mut Vec<u8>) {
        let start: &[u8] = self.pick(&[&[0xFF, 0xFF], &[0xFF, 0xFE], &[0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &[0x42, 0x42, 3], &[0xFF], &[]]);
        let rest = self.random.usize(..100);
        let length: u16 = match self.random.u32(..4) {
            0 => self.random.u16(0x05DC..=0x05FF),
            _ => (start.len() + rest) as u16,
        };
        frame.extend(length.to_be_bytes());
        frame.extend(start);
        let rest = self.bytes(rest);
        frame.extend(rest);
    }

    fn typed(&mut self, frame: &mut Vec<u8>, kind: u16, length: usize) {
        frame.extend(kind.to_be_bytes());
        let content = self.bytes(length);
        frame.extend(content);
    }

    fn ipv4(&mut self, frame: &mut Vec<u8>) {
        let words = if self.one_in(4) { self.random.usize(0..=10) } else { 0 };
        let mut header = self.bytes(IPV4_HEADER + 4 * words);
        let protocol = if self.one_in(20) { self.random.u8(..) } else { self.pick(&PROTOCOLS) };
        let segment = self.segment(protocol, &header[12..20].to_vec());
        header[0] = 0x40 | (5 + words as u8);
        let right = header.len() + segment.len();
        header[2..4].copy_from_slice(&self.mostly(right).to_be_bytes());
        let fragment: u16 = match self.random.u32(..16) {
            0 => 0x2000,
            1 => self.random.u16(1..0x2000),
            2 => self.random.u16(..),
            _ => self.pick(&[0, 0x4000, 0x8000]),
        };
        header[6..8].copy_from_slice(&fragment.to_be_bytes());
        header[9] = protocol;
        header[10..12].fill(0);
        let checksum = !sum(&[&header]);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        if self.one_in(12) {
            let at = self.random.usize(..header.len());
            header[at] ^= self.random.u8(1..);
        }
        if self.one_in(24) {
            header[0] = self.random.u8(..);
        }
        frame.extend([0x08, 0x00]);
        frame.extend(header);
        frame.extend(segment);
    }

    fn ipv6(&mut self, frame: &mut Vec<u8>) {
        let mut kinds = Vec::new();
        if self.one_in(2) {
            let most = self.pick(&[1, 1, 2, 3, 4, 5, 6]);
            kinds = (0..most).map(|_| self.pick(&EXTENSIONS)).collect();
        }
        let protocol = if self.one_in(20) { self.random.u8(..) } else { self.pick(&PROTOCOLS) };
        let addresses = self.bytes(32);
        let segment = self.segment(protocol, &addresses);
        let followers = kinds.iter().skip(1).copied().chain([protocol]).collect::<Vec<u8>>();
        let chain: Vec<u8> = kinds.iter().zip(followers).flat_map(|(kind, next)| self.extension(*kind, next)).collect();
        let mut header = vec![0x60, 0, 0, 0];
        if self.one_in(40) {
            header[0] = self.random.u8(..);
        }
        header.extend(self.mostly(chain.len() + segment.len()).to_be_bytes());
        header.extend([kinds.first().copied().unwrap_or(protocol), 64]);
        frame.extend([0x86, 0xDD]);
        frame.extend(header);
        frame.extend(addresses);
        frame.extend(chain);
        frame.extend(segment);
    }

    /// An extension header with another behind it.
    fn extension(&mut self, kind: u8, next: u8) -> Vec<u8> {
        let units = self.pick(&[0, 0, 0, 1, 1, 2, 3, 5, 7]);
        let mut header = match kind {
            FRAGMENT => self.bytes(8),
            AUTHENTICATION => self.bytes(4 * (units + 2)),
            _ => self.bytes(8 * (units + 1)),
        };
        header[0] = next;
        header[1] = units as u8;
        match kind {
            FRAGMENT => {
                let offset = self.pick(&[0, 0, 0, 1, 1, 1, 6, 8, 0x1238, 0xFFF9]);
                header[2..4].copy_from_slice(&u16::to_be_bytes(offset));
            }
            ROUTING => header[3] = self.pick(&[0, 0, 1, 200]),
            _ => {}
        }
        // A length that leads astray.
        if self.one_in(30) {
            header[1] = self.random.u8(..);
        }
        header
    }

    /// A transport header with its payload, to be carried between these addresses.
    fn segment(&mut self, protocol: u8, addresses: &[u8]) -> Vec<u8> {
        let payload = self.payload();
        let (header, checksum_at) = match protocol {
            TCP => {
                let words = if self.one_in(3) { self.random.usize(..=10) } else { 0 };
                let mut header = self.bytes(20 + 4 * words);
                header[12] = (5 + words as u8) << 4 | header[12] & 0xF;
                if self.one_in(24) {
                    header[12] = self.random.u8(..);
                }
                (header, Some(16))
            }
            UDP => {
                let mut header = self.bytes(8);
                header[4..6].copy_from_slice(&self.mostly(8 + payload.len()).to_be_bytes());
                (header, Some(6))
            }
            132 => (self.bytes(12), None),
            59 => (Vec::new(), None),
            _ => (self.bytes(8), None),
        };
        let mut segment = [header, payload].concat();
        if let Some(at) = checksum_at {
            let checksum = self.checksum(protocol, addresses, &mut segment, at);
            segment[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        if self.one_in(24) {
            segment.truncate(self.random.usize(..24));
        }
        segment
    }

    /// Mostly right, sometimes 0, sometimes wrong by a bit.
    fn checksum(&mut self, protocol: u8, addresses: &[u8], segment: &mut [u8], at: usize) -> u16 {
        segment[at..at + 2].fill(0);
        let tail = [(segment.len() as u32).to_be_bytes(), u32::from(protocol).to_be_bytes()];
        // UDP writes 0xFFFF for a sum of 0 (RFC 768).
        let right = match !sum(&[addresses, tail.as_flattened(), segment]) {
            0 if protocol == UDP => 0xFFFF,
            right => right,
        };
        match self.random.u32(..12) {
            0 => 0,
            1 | 2 => right ^ 1 << self.random.u32(..16),
            _ => right,
        }
    }

    /// Up to the shortest frame on the wire, with zeros or not; sometimes more, also behind long packets.
    fn pad(&mut self, frame: &mut Vec<u8>) {
        let mut length = frame.len();
        if self.one_in(2) {
            length = length.max(MIN_FRAME);
        }
        if self.one_in(12) {
            length += self.random.usize(..70);
        }
        let zeros = self.one_in(2);
        let padding = self.bytes(length - frame.len());
        frame.extend(padding.into_iter().map(|byte| if zeros { 0 } else { byte }));
    }

    fn damage(&mut self, frame: &mut Vec<u8>) {
        if self.one_in(16) {
            frame.truncate(self.random.usize(SHORTEST..=frame.len()));
        }
        if self.one_in(16) {
            for _ in 0..self.random.usize(1..=3) {
                // Headers lie in front.
                let most = frame.len().min(self.pick(&[32, 80, 160, LONGEST]));
                let at = self.random.usize(12..most);
                frame[at] ^= 1 << self.random.u8(..8);
            }
        }
        frame.truncate(LONGEST);
    }
}

impl Iterator for Fuzz {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let frame = Frame::new(self.build(), self.source.clone(), self.index);
        self.index += 1;
        Some(frame)
    }
}

/// The one's-complement sum of big-endian words (RFC 1071).
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().fold(Sum16BitWords::new(), |sum, part| sum.add_slice(part));
    u16::from_be(!words.ones_complement())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_of_every_size_and_the_same_for_the_same_seed() {
        let frames = |seed| Fuzz::new(seed, [2; 6]).take(20_000).map(|frame| frame.bytes).collect::<Vec<_>>();
        let once = frames(1);
        assert!(once.iter().all(|frame| (SHORTEST..=LONGEST).contains(&frame.len())));
        assert_eq!(once, frames(1));
        assert_ne!(once, frames(2));
        for range in [14..15, 15..60, 60..61, 61..1515, 1515..9000, 9000..9601] {
            assert!(once.iter().any(|frame| range.contains(&frame.len())), "{range:?}");
        }
    }
}

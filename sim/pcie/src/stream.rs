//! The raw TLP stream between root complex and device: valid, ready, data, keep (a bit a DW), last.

use crate::rules::{Rule, RuleSet};

/// The most DW lanes a stream may have (512 bits).
pub const MAX_LANES: usize = 16;

/// The most bytes a TLP may have (a 4 DW header, 4096 bytes of payload, a digest), and one DW more, by which
/// a TLP that is too long is known.
const KEPT: usize = 16 + 4096 + 4 + 4;

/// One transfer on a TLP stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beat {
    /// Word `i` is lane `i`; byte `k` of the lane in wire order is in bits 8k+7:8k.
    pub data: [u32; MAX_LANES],
    /// Bit `i` set: lane `i` carries a DW.
    pub keep: u16,
    /// The TLP ends with this beat.
    pub last: bool,
}

impl Beat {
    /// An empty beat.
    pub const EMPTY: Self = Self {
        data: [0; MAX_LANES],
        keep: 0,
        last: false,
    };

    /// The beat that carries the front of `bytes`, a non-empty TLP or the rest of one, on `lanes` (1 to
    /// 16) lanes.
    pub fn front(bytes: &[u8], lanes: usize) -> Self {
        let mut beat = Self::EMPTY;
        let words = bytes.chunks_exact(4).take(lanes);
        beat.keep = ((1u32 << words.len()) - 1) as u16;
        beat.last = bytes.len() <= lanes * 4;
        for (lane, word) in beat.data.iter_mut().zip(words) {
            *lane = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        }
        beat
    }
}

/// The beats of an encoded TLP on `lanes` (1 to 16) lanes.
pub fn beats(tlp: &[u8], lanes: usize) -> impl Iterator<Item = Beat> + '_ {
    tlp.chunks(lanes * 4)
        .enumerate()
        .map(move |(i, _)| Beat::front(&tlp[i * lanes * 4..], lanes))
}

/// Gathers beats into TLPs.
#[derive(Debug)]
pub(crate) struct Framer {
    lanes: usize,
    bytes: Vec<u8>,
    /// Bytes that came, also those beyond the longest TLP, which are not kept.
    pub received: usize,
    pub broken: RuleSet,
}

impl Framer {
    pub fn new(lanes: usize) -> Self {
        Self {
            lanes,
            bytes: Vec::with_capacity(KEPT),
            received: 0,
            broken: RuleSet::NONE,
        }
    }

    /// Takes a beat; returns whether the TLP is complete and can be read with `bytes`.
    pub fn push(&mut self, beat: &Beat) -> bool {
        let full = ((1u32 << self.lanes) - 1) as u16;
        let contiguous = beat.keep != 0 && beat.keep & beat.keep.wrapping_add(1) == 0;
        if !contiguous || beat.keep & !full != 0 || (!beat.last && beat.keep != full) {
            self.broken.add(Rule::Framing);
        }
        for (lane, word) in beat.data[..self.lanes].iter().enumerate() {
            if beat.keep >> lane & 1 != 0 {
                self.received += 4;
                if self.bytes.len() < KEPT {
                    self.bytes.extend_from_slice(&word.to_le_bytes());
                }
            }
        }
        beat.last
    }

    /// The bytes so far; shorter than `received` if the TLP is too long to be one.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gets ready for the next TLP.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.received = 0;
        self.broken = RuleSet::NONE;
    }
}

//! Frames as beats of a stream of any width, and what a model's ports make of them.

#![allow(dead_code)] // each bench uses a part

/// A beat of at most 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    pub bytes: [u8; 64],
    pub keep: u64,
    pub last: bool,
}

/// A frame in beats of `width` bytes. What is behind its end is noise.
pub fn beats(frame: &[u8], width: usize) -> Vec<Beat> {
    let count = frame.len().div_ceil(width);
    let beat = |(i, chunk): (usize, &[u8])| {
        let mut bytes = [0xA5; 64];
        bytes[..chunk.len()].copy_from_slice(chunk);
        Beat { bytes, keep: keep(chunk.len()), last: i + 1 == count }
    };
    frame.chunks(width).enumerate().map(beat).collect()
}

/// The first `count` bytes.
pub fn keep(count: usize) -> u64 {
    u64::MAX >> (64 - count)
}

/// A data port.
pub trait Word {
    /// From the first bytes of a beat.
    fn of(bytes: &[u8; 64]) -> Self;
    /// Back to bytes, zeros behind.
    fn bytes(&self) -> [u8; 64];
}

impl Word for u64 {
    fn of(bytes: &[u8; 64]) -> Self {
        (0..8).fold(0, |word, i| word | u64::from(bytes[i]) << (8 * i))
    }

    fn bytes(&self) -> [u8; 64] {
        std::array::from_fn(|i| if i < 8 { (self >> (8 * i)) as u8 } else { 0 })
    }
}

impl<const N: usize> Word for [u32; N] {
    fn of(bytes: &[u8; 64]) -> Self {
        std::array::from_fn(|i| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
    }

    fn bytes(&self) -> [u8; 64] {
        std::array::from_fn(|i| self.get(i / 4).map_or(0, |word| word.to_le_bytes()[i % 4]))
    }
}

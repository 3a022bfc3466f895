//! What the benches of the PCI Express side share: a random generator, and beats as port values.

#![allow(dead_code)] // each bench uses a part

use ferronic_pcie::Beat;

/// SplitMix64: small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 0 to `end` - 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// A dword-aligned address, as often below 4 GiB as above.
    pub fn address(&mut self) -> u64 {
        let address = self.next() & !3;
        if self.percent(50) { address & 0xFFFF_FFFC } else { address | 1 << 32 }
    }
}

/// The value of a data port.
pub trait Word: Copy {
    const LANES: usize;
    fn pack(lanes: &[u32; 16]) -> Self;
    fn lanes(self) -> Vec<u32>;
}

impl Word for u64 {
    const LANES: usize = 2;
    fn pack(lanes: &[u32; 16]) -> Self {
        u64::from(lanes[0]) | u64::from(lanes[1]) << 32
    }
    fn lanes(self) -> Vec<u32> {
        vec![self as u32, (self >> 32) as u32]
    }
}

impl<const N: usize> Word for [u32; N] {
    const LANES: usize = N;
    fn pack(lanes: &[u32; 16]) -> Self {
        std::array::from_fn(|i| lanes[i])
    }
    fn lanes(self) -> Vec<u32> {
        self.to_vec()
    }
}

/// The beats of a TLP for a port of type `W`.
pub fn beats<W: Word>(tlp: &[u8]) -> Vec<Beat> {
    ferronic_pcie::beats(tlp, W::LANES).collect()
}

/// Bytes as little-endian dwords.
pub fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// One cycle: rising edge, then falling edge.
#[macro_export]
macro_rules! tick {
    ($model:expr) => {{
        $model.set_clock(true);
        $model.eval();
        $model.set_clock(false);
        $model.eval();
    }};
}

/// Two cycles of reset.
#[macro_export]
macro_rules! start {
    ($model:expr) => {{
        $model.set_reset(true);
        $model.eval();
        $crate::tick!($model);
        $crate::tick!($model);
        $model.set_reset(false);
        $model.eval();
    }};
}

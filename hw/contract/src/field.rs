//! How a field sits in little-endian 32-bit words.

/// A run of bits in one 32-bit word of a register, descriptor or completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name, as in `CONTRACT.md`.
    pub name: &'static str,
    /// Index of the 32-bit word; 0 for registers.
    pub word: usize,
    /// Lowest bit, 0..=31.
    pub low: u32,
    /// Bits, 1..=32.
    pub width: u32,
    /// Meaning, in one line.
    pub about: &'static str,
}

impl Field {
    /// A field of `width` bits from bit `low` of word `word`.
    pub const fn new(name: &'static str, word: usize, low: u32, width: u32, about: &'static str) -> Self {
        assert!(width >= 1 && low + width <= 32);
        Self { name, word, low, width, about }
    }

    /// Largest value that fits.
    pub const fn max(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// The bits the field takes in its word.
    pub const fn mask(&self) -> u32 {
        self.max() << self.low
    }

    /// The field's value in a word.
    pub const fn of(&self, word: u32) -> u32 {
        (word >> self.low) & self.max()
    }

    /// `value` moved to the field's place. Bits that do not fit are cut off.
    pub const fn at(&self, value: u32) -> u32 {
        (value & self.max()) << self.low
    }

    /// Reads the field from the record's words.
    pub const fn get<const N: usize>(&self, words: &[u32; N]) -> u32 {
        self.of(words[self.word])
    }

    /// Writes the field into the record's words and leaves the rest.
    pub const fn put<const N: usize>(&self, words: &mut [u32; N], value: u32) {
        words[self.word] = (words[self.word] & !self.mask()) | self.at(value);
    }
}

//! What the driver posts: RX and TX descriptors of 16 bytes.

use crate::field::Field;

/// Bytes of a descriptor.
pub const BYTES: usize = 16;

/// Low half of the buffer's bus address.
pub const ADDRESS_LOW: Field = Field::new("ADDRESS_LOW", 0, 0, 32, "buffer address, bits 31:0");
/// High half of the buffer's bus address.
pub const ADDRESS_HIGH: Field = Field::new("ADDRESS_HIGH", 1, 0, 32, "buffer address, bits 63:32");
/// Bytes of the buffer (RX) or of the data (TX).
pub const LENGTH: Field = Field::new("LENGTH", 2, 0, 16, "RX: bytes of the buffer; TX: bytes to send");
/// Flags; none are defined for RX, which must write 0.
pub const FLAGS: Field = Field::new("FLAGS", 2, 16, 16, "flags, see below; RX: reserved, 0");
/// RX only.
pub const COOKIE: Field = Field::new("COOKIE", 3, 0, 32, "RX: comes back in the completion; TX: reserved, 0");

/// Fields of a descriptor.
pub const FIELDS: [Field; 5] = [ADDRESS_LOW, ADDRESS_HIGH, LENGTH, FLAGS, COOKIE];

/// TX flag: last buffer of the frame. In this version every frame is one buffer, so it must be set.
pub const FLAG_EOP: u16 = 1 << 0;

/// A free buffer for a received frame, at any byte alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxDescriptor {
    /// Bus address of the buffer's first byte.
    pub address: u64,
    /// Bytes of the buffer. A frame that is longer is dropped and counted, and the buffer waits for the next.
    pub length: u16,
    /// Comes back in the completion, so that the driver needs no lookup by ring position.
    pub cookie: u32,
}

impl RxDescriptor {
    /// As little-endian words in memory.
    pub const fn encode(&self) -> [u32; 4] {
        [self.address as u32, (self.address >> 32) as u32, LENGTH.at(self.length as u32), self.cookie]
    }

    /// From the words in memory; reserved bits are ignored.
    pub const fn decode(words: &[u32; 4]) -> Self {
        Self { address: address(words), length: LENGTH.get(words) as u16, cookie: COOKIE.get(words) }
    }
}

/// A frame to send, at any byte alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxDescriptor {
    /// Bus address of the first byte.
    pub address: u64,
    /// Bytes to send, 14..=9600 and at most MAX_FRAME; the MAC pads to 60.
    pub length: u16,
    /// [`FLAG_EOP`].
    pub flags: u16,
}

impl TxDescriptor {
    /// As little-endian words in memory.
    pub const fn encode(&self) -> [u32; 4] {
        [
            self.address as u32,
            (self.address >> 32) as u32,
            LENGTH.at(self.length as u32) | FLAGS.at(self.flags as u32),
            0,
        ]
    }

    /// From the words in memory; reserved bits are ignored.
    pub const fn decode(words: &[u32; 4]) -> Self {
        Self { address: address(words), length: LENGTH.get(words) as u16, flags: FLAGS.get(words) as u16 }
    }
}

const fn address(words: &[u32; 4]) -> u64 {
    words[ADDRESS_LOW.word] as u64 | (words[ADDRESS_HIGH.word] as u64) << 32
}

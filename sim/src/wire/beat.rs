//! One beat of the core's stream.

/// What the stream carries in one cycle: `B` bytes (1 to 64), the first byte on the wire in `data[0]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat<const B: usize> {
    /// The bytes. Those without a keep bit have no meaning.
    pub data: [u8; B],
    /// Bit `i` tells that `data[i]` is a byte of the frame.
    pub keep: u64,
    /// The frame ends with this beat.
    pub last: bool,
    /// With `last`: the frame is bad (wrong FCS).
    pub error: bool,
}

/// The keep pattern of a beat that holds `bytes` bytes (0 to 64), from bit 0 up without holes.
pub const fn keep_of(bytes: usize) -> u64 {
    if bytes >= 64 {
        u64::MAX
    } else {
        (1 << bytes) - 1
    }
}

impl Beat<8> {
    /// A beat of a 64-bit stream from its signals; the first byte on the wire is in bits 7:0.
    pub fn from_signals(data: u64, keep: u8, last: bool, error: bool) -> Self {
        Self {
            data: data.to_le_bytes(),
            keep: u64::from(keep),
            last,
            error,
        }
    }

    /// The data signal of a 64-bit stream.
    pub fn word(&self) -> u64 {
        u64::from_le_bytes(self.data)
    }
}

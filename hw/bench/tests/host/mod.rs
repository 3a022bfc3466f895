//! What the other end of the link does, for the benches of the blocks that read host memory: contents, and
//! completions cut as a root complex may cut them.
#![allow(dead_code)] // each bench uses its part

/// A seeded generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// From 0 to `limit` - 1.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The byte that host memory holds at an address nobody wrote.
pub fn byte(address: u64) -> u8 {
    mix(address ^ 0x5EED) as u8
}

/// The dword of such memory at a multiple of 4.
pub fn dword(address: u64) -> u32 {
    u32::from_le_bytes([byte(address), byte(address + 1), byte(address + 2), byte(address + 3)])
}

/// One completion TLP.
#[derive(Clone, Debug)]
pub struct Completion {
    pub tag: u8,
    pub status: u8,
    pub poisoned: bool,
    pub byte_count: u16,
    pub lower: u8,
    pub requester: u16,
    pub dwords: u16,
    pub data: Vec<u32>,
}

impl Completion {
    /// The answer without data: Unsupported Request 1, Completer Abort 4.
    pub fn refusal(tag: u8, requester: u16, status: u8, address: u64, bytes: u16) -> Self {
        let lower = (address & 0x7F) as u8;
        Self { tag, status, poisoned: false, byte_count: bytes, lower, requester, dwords: 0, data: Vec::new() }
    }
}

/// Answers a read with completions that end at multiples of 64 bytes, chosen at random.
pub fn complete(
    random: &mut Random,
    tag: u8,
    requester: u16,
    address: u64,
    bytes: u16,
    memory: impl Fn(u64) -> u32,
) -> Vec<Completion> {
    let (mut at, end) = (address, address + u64::from(bytes));
    let whole = random.one_in(3);
    let mut answer = Vec::new();
    while at < end {
        let mut stop = (at | 63) + 1;
        while stop < end && (whole || random.one_in(2)) {
            stop += 64;
        }
        let stop = stop.min(end);
        let data: Vec<u32> = (at >> 2..stop.div_ceil(4)).map(|n| memory(n << 2)).collect();
        answer.push(Completion {
            tag,
            status: 0,
            poisoned: false,
            byte_count: (end - at) as u16,
            lower: (at & 0x7F) as u8,
            requester,
            dwords: data.len() as u16,
            data,
        });
        at = stop;
    }
    answer
}

/// A beat of 64 bits from dwords; missing ones are 0.
pub fn beat_64(dwords: &[u32]) -> u64 {
    let dword = |n: usize| u64::from(dwords.get(n).copied().unwrap_or(0));
    dword(0) | dword(1) << 32
}

/// A wider beat from dwords.
pub fn beat<const N: usize>(dwords: &[u32]) -> [u32; N] {
    std::array::from_fn(|n| dwords.get(n).copied().unwrap_or(0))
}

/// The dwords of a beat of 64 bits.
pub fn dwords_64(beat: u64) -> Vec<u32> {
    vec![beat as u32, (beat >> 32) as u32]
}

/// The dwords of a wider beat.
pub fn dwords<const N: usize>(beat: [u32; N]) -> Vec<u32> {
    beat.to_vec()
}

//! The link: rate, width, and the time that a TLP occupies it with everything that travels around it.

use crate::counters::{Counters, Direction};
use crate::tlp::Header;
use std::fmt;
use std::str::FromStr;

/// Bytes around a TLP. Gen1 and Gen2: STP 1, sequence number 2, LCRC 4, END 1. Gen3 and later: STP token
/// 4 with the sequence number in it, LCRC 4. Both are 8 (sections 3.5.2, 4.2.1.2, 4.2.2.3.1).
pub const TLP_OVERHEAD: usize = 8;

/// Bytes of a DLLP with its framing: SDP 1, content 4, CRC 2, END 1; or SDP token 2, content 4, CRC 2.
pub const DLLP_BYTES: usize = 8;

/// Generation and width of a link, for example `gen1x1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    generation: u8,
    lanes: u8,
}

/// A link name that is not one of the legal ones.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("link '{0}' is unknown; legal are gen1, gen2, gen3, gen4 with x1, x2, x4, x8, x16, for example gen1x1")]
pub struct LinkError(String);

impl Link {
    /// 2.5 GT/s on one lane: 250 MB/s each way.
    pub const GEN1_X1: Self = Self {
        generation: 1,
        lanes: 1,
    };

    /// Reads a name from `gen1x1` to `gen4x16`.
    ///
    /// # Errors
    /// Any other name; the message lists the legal ones.
    pub fn parse(name: &str) -> Result<Self, LinkError> {
        (1..=4)
            .flat_map(|generation| [1, 2, 4, 8, 16].map(|lanes| Self { generation, lanes }))
            .find(|link| link.to_string() == name)
            .ok_or_else(|| LinkError(name.to_owned()))
    }

    /// Time that `bytes` bytes occupy the link, in ps, rounded up; the encoding (8b/10b up to Gen2,
    /// 128b/130b from Gen3) is part of it.
    pub const fn transfer_ps(self, bytes: u64) -> u64 {
        // ps for 16 bytes on one lane
        let sixteen = match self.generation {
            1 => 64_000,
            2 => 32_000,
            3 => 16_250,
            _ => 8_125,
        };
        (bytes * sixteen).div_ceil(16 * self.lanes as u64)
    }

    /// Payload-independent raw rate of one direction in bytes per second, rounded down.
    pub const fn bytes_per_second(self) -> u64 {
        1_000_000_000_000_000 / self.transfer_ps(1000)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gen{}x{}", self.generation, self.lanes)
    }
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(name: &str) -> Result<Self, LinkError> {
        Self::parse(name)
    }
}

/// How many TLPs of one direction cause a DLLP in the other. 0 means none.
///
/// A receiver may gather several TLPs in one Ack: the Ack latency limit is about 1.4 TLPs of the largest
/// size (section 3.5.3.1), which is two or three of 64 bytes. UpdateFC goes out when credits
/// return; receivers gather these too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DllpShare {
    /// TLPs acknowledged by one Ack.
    pub tlps_per_ack: u32,
    /// TLPs whose credits one UpdateFC returns.
    pub tlps_per_update_fc: u32,
}

impl DllpShare {
    /// No DLLPs at all, for arithmetic that counts TLPs alone.
    pub const NONE: Self = Self {
        tlps_per_ack: 0,
        tlps_per_update_fc: 0,
    };
}

impl Default for DllpShare {
    fn default() -> Self {
        Self {
            tlps_per_ack: 2,
            tlps_per_update_fc: 4,
        }
    }
}

/// Both directions of a link in time.
#[derive(Debug)]
pub(crate) struct Wire {
    link: Link,
    share: DllpShare,
    free_at: [u64; 2],
    sent: [u32; 2],
    pub counters: Counters,
}

impl Wire {
    pub fn new(link: Link, share: DllpShare) -> Self {
        Self {
            link,
            share,
            free_at: [0; 2],
            sent: [0; 2],
            counters: Counters::default(),
        }
    }

    /// When the direction has nothing more to send, in ps.
    pub fn free_at(&self, direction: Direction) -> u64 {
        self.free_at[direction as usize]
    }

    /// Sends a TLP as soon as the link is free, not before `earliest`; returns when its last byte has
    /// left. The DLLPs that answer it occupy the other direction.
    pub fn send(&mut self, direction: Direction, earliest: u64, header: &Header) -> u64 {
        let bytes = (header.total_bytes() + TLP_OVERHEAD) as u64;
        let start = self.occupy(direction, earliest, bytes);
        self.counters.count(direction, header, bytes);
        self.sent[direction as usize] = self.sent[direction as usize].wrapping_add(1);
        for every in [self.share.tlps_per_ack, self.share.tlps_per_update_fc] {
            if every != 0 && self.sent[direction as usize].is_multiple_of(every) {
                self.occupy(direction.other(), start, DLLP_BYTES as u64);
                self.counters
                    .count_dllp(direction.other(), DLLP_BYTES as u64);
            }
        }
        self.free_at(direction)
    }

    /// Occupies a direction and returns the start.
    fn occupy(&mut self, direction: Direction, earliest: u64, bytes: u64) -> u64 {
        let free_at = &mut self.free_at[direction as usize];
        let start = earliest.max(*free_at);
        let time = self.link.transfer_ps(bytes);
        *free_at = start + time;
        self.counters.busy(direction, time);
        start
    }
}

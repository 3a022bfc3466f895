//! What crossed the link, by direction and kind of TLP.

use crate::tlp::{Header, Kind};
use serde::Serialize;

/// Direction of travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the device to the root complex.
    Up,
    /// From the root complex to the device.
    Down,
}

impl Direction {
    /// The opposite direction.
    pub const fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// One kind of TLP in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Traffic {
    /// TLPs.
    pub tlps: u64,
    /// Bytes on the link: header, payload, framing, sequence number, LCRC.
    pub bytes: u64,
    /// Bytes of payload among them.
    pub payload_bytes: u64,
}

/// One direction of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DirectionCounters {
    /// Memory writes.
    pub mwr: Traffic,
    /// Memory reads.
    pub mrd: Traffic,
    /// Completions with data.
    pub cpld: Traffic,
    /// Completions without data.
    pub cpl: Traffic,
    /// Configuration requests.
    pub cfg: Traffic,
    /// Messages.
    pub msg: Traffic,
    /// Bytes of DLLPs.
    pub dllp_bytes: u64,
    /// Time the link was occupied, in ps.
    pub busy_ps: u64,
}

impl DirectionCounters {
    /// All kinds of TLP together.
    pub fn total(&self) -> Traffic {
        let kinds = [self.mwr, self.mrd, self.cpld, self.cpl, self.cfg, self.msg];
        kinds.iter().fold(Traffic::default(), |sum, kind| Traffic {
            tlps: sum.tlps + kind.tlps,
            bytes: sum.bytes + kind.bytes,
            payload_bytes: sum.payload_bytes + kind.payload_bytes,
        })
    }
}

/// Both directions of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counters {
    /// From the device to the root complex.
    pub up: DirectionCounters,
    /// From the root complex to the device.
    pub down: DirectionCounters,
    /// Pages whose translation had to be looked up.
    pub iotlb_misses: u64,
}

impl Counters {
    fn side(&mut self, direction: Direction) -> &mut DirectionCounters {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }

    pub(crate) fn count(&mut self, direction: Direction, header: &Header, bytes: u64) {
        let side = self.side(direction);
        let kind = match header.kind() {
            Kind::MWr => &mut side.mwr,
            Kind::MRd => &mut side.mrd,
            Kind::CplD => &mut side.cpld,
            Kind::Cpl => &mut side.cpl,
            Kind::Cfg => &mut side.cfg,
            Kind::Msg => &mut side.msg,
        };
        kind.tlps += 1;
        kind.bytes += bytes;
        kind.payload_bytes += header.payload_bytes() as u64;
    }

    pub(crate) fn count_dllp(&mut self, direction: Direction, bytes: u64) {
        self.side(direction).dllp_bytes += bytes;
    }

    pub(crate) fn busy(&mut self, direction: Direction, ps: u64) {
        self.side(direction).busy_ps += ps;
    }
}

//! What a build of the core has.

use ferronic_contract::field::Field;
use ferronic_contract::registers;

use crate::device::Group;
use crate::error::Error;

mod offloads;

pub use offloads::{Offload, Offloads, Refusal, Why};

/// The core's PARAMS and FEATURES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    params: u32,
    features: u32,
}

impl Features {
    pub(crate) fn read(global: &Group) -> Self {
        Self { params: global.read(registers::PARAMS), features: global.read(registers::FEATURES) }
    }

    /// RX queues of the core.
    pub const fn rx_queues(&self) -> u8 {
        registers::RX_QUEUES.of(self.params) as u8
    }

    /// TX queues of the core.
    pub const fn tx_queues(&self) -> u8 {
        registers::TX_QUEUES.of(self.params) as u8
    }

    /// Bytes of the RX packet FIFO.
    pub const fn rx_fifo_bytes(&self) -> u32 {
        1 << registers::RX_FIFO_LOG2.of(self.params)
    }

    /// Whether the build has an optional block: one of the contract's `FEATURE_*`.
    pub const fn has(&self, feature: Field) -> bool {
        feature.of(self.features) == 1
    }

    /// Refuses `what` when the build lacks the block for it.
    pub(crate) fn need(&self, feature: Field, what: &'static str) -> Result<(), Error> {
        if self.has(feature) {
            Ok(())
        } else {
            Err(Error::Missing { what, feature: feature.name })
        }
    }
}

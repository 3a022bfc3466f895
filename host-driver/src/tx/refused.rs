//! Frames that are not taken, and how a device can break the contract on the TX side.

use ferronic_contract::MIN_FRAME;

use crate::pool::Buffer;

/// A frame that was not taken; the buffer is the caller's again.
#[derive(Debug, thiserror::Error)]
#[error("frame not sent: {why}")]
pub struct Refused {
    /// The buffer.
    pub buffer: Buffer,
    /// Why.
    pub why: Why,
}

/// Why a frame was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// No descriptor is free; try again after [`TxQueue::wait`](super::TxQueue::wait) or later.
    #[error("the TX ring is full")]
    RingFull,
    /// Too short or too long.
    #[error("length {length} is not from {min} to {max}", min = MIN_FRAME)]
    Length {
        /// The length given.
        length: u16,
        /// Longest frame that the core was set to.
        max: u16,
    },
    /// The frame is not wholly in the buffer.
    #[error("bytes {offset} to {offset} + {length} are not in a buffer of {capacity}")]
    Range {
        /// The offset given.
        offset: u16,
        /// The length given.
        length: u16,
        /// Bytes of the buffer.
        capacity: u32,
    },
    /// The queue was given up.
    #[error(transparent)]
    Fault(TxFault),
}

/// An index write-back that broke the contract. The queue is given up with its buffers still lent to the
/// device; closing and opening the device starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TX index write-back of {word:#x}, which is not from {from} to {to}")]
pub struct TxFault {
    /// What the core wrote.
    pub word: u32,
    /// The least it could write.
    pub from: u16,
    /// The most it could write.
    pub to: u16,
}

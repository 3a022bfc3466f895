//! A frame on its way to the core, with where it came from.

use std::sync::Arc;

/// Bytes of the shortest frame a sender puts on the wire, without FCS (IEEE 802.3, 64 with FCS).
pub const MIN_FRAME: usize = 60;

/// An Ethernet frame from destination address to the end of its payload, without FCS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The frame as the capture holds it: not padded, and short when the capture's snap length cut it.
    pub bytes: Vec<u8>,
    /// File name of the capture, or [`super::GENERATED`].
    pub source: Arc<str>,
    /// Position in the capture, counted from 0.
    pub index: usize,
    /// When it was captured: nanoseconds since the Unix epoch. 0 where the capture has no time.
    pub timestamp_ns: u64,
    /// Sent with a wrong FCS, so that the receiving MAC flags its last beat.
    pub bad_fcs: bool,
}

impl Frame {
    /// A frame with a right FCS that carries no time.
    pub fn new(bytes: Vec<u8>, source: Arc<str>, index: usize) -> Self {
        Self {
            bytes,
            source,
            index,
            timestamp_ns: 0,
            bad_fcs: false,
        }
    }

    /// Adds zeros up to [`MIN_FRAME`], as a sending MAC does. [`super::WireSource`] does it to every frame.
    pub fn pad(&mut self) {
        if self.bytes.len() < MIN_FRAME {
            self.bytes.resize(MIN_FRAME, 0);
        }
    }
}

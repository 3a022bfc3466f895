//! Registers of a queue: RX and TX alike.
//!
//! Set up a queue while it is disabled and idle; enabling starts both indices at 0. Disabling stops
//! fetching, lets what is in flight end, forgets the descriptors on chip, and then sets IDLE.

use super::Access::{Ro, Rw, Wo};
use super::{bits, fields, reg, Register};
use crate::field::Field;

/// Control.
pub const CONTROL: Register =
    fields(reg("CONTROL", 0x00, Rw, "queue control"), &[ENABLE, SCATTER, FORMAT, INDEX, SPLIT, SPLIT_BYTES]);
/// Runs the queue.
pub const ENABLE: Field = bits("ENABLE", 0, 1, "runs the queue");
/// Frames over several buffers.
pub const SCATTER: Field = bits("SCATTER", 1, 1, "RX: a frame longer than its buffer goes on in the next; 0 drops it");
/// Format of completions, see [`Format`].
pub const FORMAT: Field = bits("FORMAT", 2, 2, "RX: 0 completions of 32 bytes, 1 compact with hash, 2 compact with tag");
/// Producer index.
pub const INDEX: Field = bits("INDEX", 4, 1, "RX: also write the producer index to INDEX_LOW and INDEX_HIGH after each batch of completions");
/// Header split, see [`Split`].
pub const SPLIT: Field = bits("SPLIT", 8, 3, "RX: the header goes to a buffer of its own: 0 off, 1 L2, 2 L3, 3 L4, 4 SPLIT_BYTES");
/// Fixed split.
pub const SPLIT_BYTES: Field = bits("SPLIT_BYTES", 16, 10, "RX: bytes of the header for SPLIT 4, 1 to 1023");
/// Status.
pub const STATUS: Register = fields(reg("STATUS", 0x04, Ro, "queue status"), &[IDLE, STOPPED, CAUSE]);
/// Nothing in flight.
pub const IDLE: Field = bits("IDLE", 0, 1, "disabled or stopped, and nothing in flight");
/// Stopped by an error.
pub const STOPPED: Field = bits("STOPPED", 1, 1, "stopped by an error; disable the queue to clear");
/// Why.
pub const CAUSE: Field = bits("CAUSE", 4, 4, "why it stopped: see causes");
/// Descriptor ring, low.
pub const RING_LOW: Register = reg("RING_LOW", 0x08, Rw, "descriptor ring, bits 31:0; 4 KiB aligned, bits 11:0 are ignored");
/// Descriptor ring, high.
pub const RING_HIGH: Register = reg("RING_HIGH", 0x0C, Rw, "descriptor ring, bits 63:32");
/// Ring size.
pub const SIZE: Register = reg("SIZE", 0x10, Rw, "log2 of the ring's entries, 3 to 15");
/// Completion ring or write-back address, low.
pub const DONE_LOW: Register = reg("DONE_LOW", 0x14, Rw, "RX: completion ring, bits 31:0, 4 KiB aligned; TX: address of the index write-back, 4 bytes aligned");
/// Completion ring or write-back address, high.
pub const DONE_HIGH: Register = reg("DONE_HIGH", 0x18, Rw, "the same, bits 63:32");
/// Thresholds.
pub const THRESHOLDS: Register =
    fields(reg("THRESHOLDS", 0x1C, Rw, "prefetch and write-back thresholds; may be changed while the queue runs"), &[PTHRESH, HTHRESH, BATCH, WTHRESH]);
/// Prefetch threshold.
pub const PTHRESH: Field = bits("PTHRESH", 0, 8, "1 to 64: prefetch while fewer are on chip");
/// Host threshold.
pub const HTHRESH: Field = bits("HTHRESH", 8, 8, "1 to 64: prefetch when the host has so many, or the chip none");
/// Batch.
pub const BATCH: Field = bits("BATCH", 16, 8, "1 to 32: most descriptors in one read");
/// Write-back threshold.
pub const WTHRESH: Field = bits("WTHRESH", 24, 8, "1 to 8: RX completions, or TX frames, gathered before they are written; RX completions that share a 64-byte line go in one TLP");
/// Low water.
pub const LOW_WATER: Register = reg("LOW_WATER", 0x20, Rw, "an event when fewer descriptors than this are left on chip and in the host, and not again before LOW_WATER + BATCH are; 0 is off");
/// Write-back timer.
pub const WTIMER: Register = reg("WTIMER", 0x24, Rw, "cycles after which gathered completions are written though fewer than WTHRESH, 24 bits");
/// Tail doorbell.
pub const TAIL: Register = reg("TAIL", 0x28, Wo, "doorbell: the tail, the free-running 16-bit index behind the last descriptor posted");
/// Head.
pub const HEAD: Register = reg("HEAD", 0x2C, Ro, "free-running 16-bit index of the next descriptor to fetch");
/// Done.
pub const DONE: Register = reg("DONE", 0x30, Ro, "free-running 16-bit index of the next completion to write (RX) or frames' descriptors done (TX)");
/// Producer index's address, low.
pub const INDEX_LOW: Register = reg("INDEX_LOW", 0x34, Rw, "RX: where the producer index is written, bits 31:0, 4 bytes aligned");
/// Producer index's address, high.
pub const INDEX_HIGH: Register = reg("INDEX_HIGH", 0x38, Rw, "the same, bits 63:32");
/// Descriptor reads.
pub const READS: Register = reg("READS", 0x40, Ro, "counter: descriptor reads");
/// Descriptors read.
pub const DESCRIPTORS: Register = reg("DESCRIPTORS", 0x44, Ro, "counter: descriptors read");
/// Starved cycles.
pub const STARVED: Register = reg("STARVED", 0x48, Ro, "counter: cycles in which a frame waited for a descriptor (RX); TX: cycles in which the engine was idle and descriptors were on their way");
/// Frames that waited.
pub const WAITED: Register = reg("WAITED", 0x4C, Ro, "counter: frames that had to wait for a descriptor (RX); 0 for TX");
/// Frames.
pub const FRAMES: Register = reg("FRAMES", 0x50, Ro, "counter: frames delivered to memory (RX) or read from it (TX)");
/// Too long for the buffer.
pub const DROP_BUFFER: Register = reg("DROP_BUFFER", 0x54, Ro, "counter: dropped, longer than its buffer while SCATTER is 0 (RX); refused or failed (TX)");
/// Low-water events.
pub const LOW_WATER_EVENTS: Register = reg("LOW_WATER_EVENTS", 0x58, Ro, "counter: low-water events");
/// No descriptor in time.
pub const DROP_NO_DESCRIPTOR: Register = reg("DROP_NO_DESCRIPTOR", 0x5C, Ro, "counter: dropped for want of a descriptor, after HOLD (RX)");
/// Queue off.
pub const DROP_DISABLED: Register = reg("DROP_DISABLED", 0x60, Ro, "counter: dropped, queue disabled or stopped (RX)");
/// Frames cut short.
pub const CUT: Register = reg("CUT", 0x64, Ro, "counter: frames delivered with ERROR: no further descriptor came, or the queue went down, in their middle (RX)");

/// Completion format of an RX queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Format {
    /// 32 bytes, two to a 64-byte line.
    #[default]
    Full = 0,
    /// 16 bytes, four to a line, with the RSS hash.
    CompactHash = 1,
    /// 16 bytes, four to a line, with filter tag and TCI.
    CompactTag = 2,
}

impl Format {
    /// Bytes of a completion, and from one slot of the ring to the next.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Full => crate::completion::BYTES,
            Self::CompactHash | Self::CompactTag => crate::completion::COMPACT_BYTES,
        }
    }
}

/// Where an RX queue splits a frame. A frame whose header does not end where the rule says (layer not recognised,
/// nothing behind it) is not split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Split {
    /// Nowhere.
    #[default]
    Off = 0,
    /// Behind the Ethernet header and VLAN tags: at L3_OFFSET.
    L2 = 1,
    /// Behind the network header, extension headers included, when L3 is IPv4 or IPv6.
    L3 = 2,
    /// Behind the transport header, at HEADER_LENGTH, when L4 is TCP, UDP, ICMP or SCTP.
    L4 = 3,
    /// Behind SPLIT_BYTES bytes.
    Fixed = 4,
}

/// Registers of a queue.
pub const REGISTERS: [Register; 25] = [
    CONTROL, STATUS, RING_LOW, RING_HIGH, SIZE, DONE_LOW, DONE_HIGH, THRESHOLDS, LOW_WATER, WTIMER, TAIL, HEAD,
    DONE, READS, DESCRIPTORS, STARVED, WAITED, FRAMES, DROP_BUFFER, LOW_WATER_EVENTS, INDEX_LOW,
    INDEX_HIGH, DROP_NO_DESCRIPTOR, DROP_DISABLED, CUT,
];

//! BAR 0: 64 KiB of 32-bit registers.
//!
//! A read or write is one dword, naturally aligned; reads and writes of two dwords are taken as two. A
//! longer or unaligned read is answered with Completer Abort, and such a write is dropped. A write whose byte enables
//! are not all set changes only those bytes in the MSI-X table and is ignored elsewhere. Unused offsets
//! read 0. The driver's data path writes doorbells and never reads.
//!
//! Counters are 32 bits, free-running, and read-only. Times are in cycles of the core's clock; CLOCK_KHZ
//! gives its rate.

use crate::field::Field;

/// Who may do what with a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only; writes are ignored.
    Ro,
    /// Read and write.
    Rw,
    /// Write only; reads 0.
    Wo,
}

/// A register: its offset from the start of its group.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Name, as in `CONTRACT.md`.
    pub name: &'static str,
    /// Byte offset in the group.
    pub offset: u32,
    /// Who may do what.
    pub access: Access,
    /// Meaning.
    pub about: &'static str,
    /// Fields; empty when the register is one number.
    pub fields: &'static [Field],
}

const fn reg(name: &'static str, offset: u32, access: Access, about: &'static str) -> Register {
    Register { name, offset, access, about, fields: &[] }
}

const fn fields(register: Register, fields: &'static [Field]) -> Register {
    Register { fields, ..register }
}

const fn bits(name: &'static str, low: u32, width: u32, about: &'static str) -> Field {
    Field::new(name, 0, low, width, about)
}

use Access::{Ro, Rw, Wo};

/// Start of the global registers.
pub const GLOBAL: u32 = 0x0000;
/// Start of RX queue 0; see [`queue`].
pub const RX_QUEUE: u32 = 0x1000;
/// Start of TX queue 0; see [`queue`].
pub const TX_QUEUE: u32 = 0x2000;
/// Bytes from one queue to the next.
pub const QUEUE_STRIDE: u32 = 0x100;
/// Start of interrupt vector 0; see [`vector`].
pub const VECTOR: u32 = 0x3000;
/// Bytes from one vector to the next.
pub const VECTOR_STRIDE: u32 = 0x20;
/// MSI-X table (PCIe Base Specification, 7.7.2.5).
pub const MSIX_TABLE: u32 = 0x8000;
/// MSI-X pending bits.
pub const MSIX_PBA: u32 = 0xC000;

/// Interrupt vector of RX queue `queue`.
pub const fn rx_vector(queue: u32) -> u32 {
    2 * queue
}

/// Interrupt vector of TX queue `queue`.
pub const fn tx_vector(queue: u32) -> u32 {
    2 * queue + 1
}

/// Value of [`ID`]: "FRNC" read as a little-endian word.
pub const ID_VALUE: u32 = u32::from_le_bytes(*b"FRNC");
/// Value of [`VERSION`]: major in the upper half (changes that break a driver), minor in the lower.
pub const VERSION_VALUE: u32 = 0x0000_0001;

/// Identity.
pub const ID: Register = reg("ID", 0x00, Ro, "0x434E5246, \"FRNC\"");
/// Contract version.
pub const VERSION: Register = reg("VERSION", 0x04, Ro, "contract version, major in 31:16, minor in 15:0");
/// What this build of the core has.
pub const PARAMS: Register =
    fields(reg("PARAMS", 0x08, Ro, "what this build of the core has"), &[QUEUES, STREAM_BYTES, RX_FIFO_LOG2, READ_TAGS]);
/// Queue pairs.
pub const QUEUES: Field = bits("QUEUES", 0, 8, "queue pairs");
/// Bytes of the stream a cycle.
pub const STREAM_BYTES: Field = bits("STREAM_BYTES", 8, 8, "bytes of the stream a cycle");
/// RX packet FIFO.
pub const RX_FIFO_LOG2: Field = bits("RX_FIFO_LOG2", 16, 8, "log2 of the bytes of the RX packet FIFO");
/// Tags for payload reads.
pub const READ_TAGS: Field = bits("READ_TAGS", 24, 8, "tags for payload reads, so reads in flight");
/// Optional blocks.
pub const FEATURES: Register = fields(reg("FEATURES", 0x0C, Ro, "optional blocks of this build"), &[FEATURE_L2]);
/// L2 classification.
pub const FEATURE_L2: Field = bits("L2", 0, 1, "L2 classification: CLASSIFIED, DST, L2, VLAN, protocol, EPOCH");
/// Global control.
pub const CONTROL: Register =
    fields(reg("CONTROL", 0x10, Rw, "global control, 0 after reset"), &[RESET, RX_ENABLE, TX_ENABLE]);
/// Resets the core.
pub const RESET: Field = bits("RESET", 0, 1, "1 resets queues, tags and counters; clears itself");
/// Takes frames from the wire.
pub const RX_ENABLE: Field = bits("RX_ENABLE", 1, 1, "take frames from the wire; 0 drops them, counted as disabled");
/// Sends frames.
pub const TX_ENABLE: Field = bits("TX_ENABLE", 2, 1, "put frames on the wire; 0 holds them");
/// Own address, first four bytes.
pub const MAC_LOW: Register = reg("MAC_LOW", 0x14, Rw, "own address, bytes 0 to 3, byte 0 in bits 7:0; takes effect with MAC_HIGH");
/// Own address, last two bytes, and the epoch.
pub const MAC_HIGH: Register = fields(
    reg("MAC_HIGH", 0x18, Rw, "own address, bytes 4 and 5, and the epoch; a write makes the whole address and the epoch valid at once, between two frames"),
    &[MAC_45, MAC_EPOCH],
);
/// Own address, bytes 4 and 5.
pub const MAC_45: Field = bits("MAC_45", 0, 16, "own address, bytes 4 (bits 7:0) and 5");
/// Epoch of the address filter.
pub const MAC_EPOCH: Field = bits("EPOCH", 16, 3, "epoch of the address filter; software bumps it with each write");
/// Longest frame.
pub const MAX_FRAME: Register = reg("MAX_FRAME", 0x1C, Rw, "longest frame in bytes without FCS, 60 to 9600; 1518 after reset; longer ones are dropped");
/// Core clock.
pub const CLOCK_KHZ: Register = reg("CLOCK_KHZ", 0x20, Ro, "rate of the core's clock in kHz");
/// Completion time-out.
pub const TIMEOUT: Register = reg("TIMEOUT", 0x24, Rw, "completion time-out in units of 1024 cycles, 1 to 65535; 6104 (50 ms at 125 MHz) after reset");
/// Frames seen on the wire.
pub const FRAMES_IN: Register = reg("FRAMES_IN", 0x40, Ro, "counter: frames seen on the wire; each is delivered or counted once as dropped, for the first cause that holds: disabled, bad, undersize, oversize, no room");
/// Dropped.
pub const DROP_DISABLED: Register = reg("DROP_DISABLED", 0x44, Ro, "counter: dropped at the wire, RX or its queue disabled or stopped");
/// Dropped.
pub const DROP_UNDERSIZE: Register = reg("DROP_UNDERSIZE", 0x48, Ro, "counter: dropped, under 14 bytes");
/// Dropped.
pub const DROP_OVERSIZE: Register = reg("DROP_OVERSIZE", 0x4C, Ro, "counter: dropped, over MAX_FRAME");
/// Dropped.
pub const DROP_BAD: Register = reg("DROP_BAD", 0x50, Ro, "counter: dropped, marked bad by the MAC");
/// Dropped.
pub const DROP_FIFO: Register = reg("DROP_FIFO", 0x54, Ro, "counter: dropped for want of buffer: packet FIFO full while descriptors were there");
/// Dropped.
pub const DROP_NO_DESCRIPTOR: Register = reg("DROP_NO_DESCRIPTOR", 0x58, Ro, "counter: dropped for want of a descriptor: packet FIFO full while its head waited for one");
/// Frames sent.
pub const FRAMES_OUT: Register = reg("FRAMES_OUT", 0x5C, Ro, "counter: frames put on the wire");
/// Unexpected completions.
pub const UNEXPECTED: Register = reg("UNEXPECTED", 0x60, Ro, "counter: completions that answer no outstanding read");
/// Malformed requests.
pub const MALFORMED: Register = reg("MALFORMED", 0x64, Ro, "counter: received TLPs dropped as malformed, poisoned or unsupported");

/// Global registers.
pub const GLOBALS: [Register; 21] = [
    ID, VERSION, PARAMS, FEATURES, CONTROL, MAC_LOW, MAC_HIGH, MAX_FRAME, CLOCK_KHZ, TIMEOUT, FRAMES_IN,
    DROP_DISABLED, DROP_UNDERSIZE, DROP_OVERSIZE, DROP_BAD, DROP_FIFO, DROP_NO_DESCRIPTOR, FRAMES_OUT,
    UNEXPECTED, MALFORMED, SCRATCH,
];

/// Scratch register.
pub const SCRATCH: Register = reg("SCRATCH", 0x7C, Rw, "no effect; for register tests");

/// Registers of a queue: RX and TX alike.
///
/// Set up a queue while it is disabled and idle; enabling starts both indices at 0. Disabling stops
/// fetching, lets what is in flight end, forgets the descriptors on chip, and then sets IDLE.
pub mod queue {
    use super::{bits, fields, reg, Field, Register, Ro, Rw, Wo};

    /// Control.
    pub const CONTROL: Register = fields(reg("CONTROL", 0x00, Rw, "queue control"), &[ENABLE]);
    /// Runs the queue.
    pub const ENABLE: Field = bits("ENABLE", 0, 1, "runs the queue");
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
    pub const WTHRESH: Field = bits("WTHRESH", 24, 8, "1 to 8: RX completions, or TX frames, gathered before they are written");
    /// Low water.
    pub const LOW_WATER: Register = reg("LOW_WATER", 0x20, Rw, "an event when fewer descriptors than this are left on chip and in the host; 0 is off");
    /// Write-back timer.
    pub const WTIMER: Register = reg("WTIMER", 0x24, Rw, "cycles after which gathered completions are written though fewer than WTHRESH, 24 bits");
    /// Tail doorbell.
    pub const TAIL: Register = reg("TAIL", 0x28, Wo, "doorbell: the tail, the free-running 16-bit index behind the last descriptor posted");
    /// Head.
    pub const HEAD: Register = reg("HEAD", 0x2C, Ro, "free-running 16-bit index of the next descriptor to fetch");
    /// Done.
    pub const DONE: Register = reg("DONE", 0x30, Ro, "free-running 16-bit index of the next completion to write (RX) or frames' descriptors done (TX)");
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
    pub const DROP_BUFFER: Register = reg("DROP_BUFFER", 0x54, Ro, "counter: dropped, longer than the descriptor's buffer (RX); refused or failed (TX)");
    /// Low-water events.
    pub const LOW_WATER_EVENTS: Register = reg("LOW_WATER_EVENTS", 0x58, Ro, "counter: low-water events");

    /// Registers of a queue.
    pub const REGISTERS: [Register; 20] = [
        CONTROL, STATUS, RING_LOW, RING_HIGH, SIZE, DONE_LOW, DONE_HIGH, THRESHOLDS, LOW_WATER, WTIMER, TAIL, HEAD,
        DONE, READS, DESCRIPTORS, STARVED, WAITED, FRAMES, DROP_BUFFER, LOW_WATER_EVENTS,
    ];
}

/// Registers of an interrupt vector.
///
/// A vector fires once and is then disarmed. Arming tells the index that software has seen: if the producer
/// has moved on, the interrupt fires at once, so no event is lost between the last look and the re-arm. Else
/// it fires when `FRAMES` events have come, or `CYCLES` after the first. A low-water event or a stopped queue
/// fires an armed vector at once, and is kept for the next arming otherwise.
pub mod vector {
    use super::{reg, Register, Ro, Rw, Wo};

    /// `rx-frames`.
    pub const FRAMES: Register = reg("FRAMES", 0x00, Rw, "events before an interrupt, 1 to 255 (ethtool rx-frames); 1 after reset");
    /// `rx-usecs`.
    pub const CYCLES: Register = reg("CYCLES", 0x04, Rw, "cycles from the first event to an interrupt, 24 bits (ethtool rx-usecs); 0 fires at once");
    /// Arm.
    pub const ARM: Register = reg("ARM", 0x08, Wo, "arms the vector; the value is the 16-bit index that software has seen");
    /// Disarm.
    pub const DISARM: Register = reg("DISARM", 0x0C, Wo, "disarms the vector, whatever the value");
    /// Interrupts sent.
    pub const SENT: Register = reg("SENT", 0x10, Ro, "counter: interrupts raised (a masked vector's wait in its pending bit)");

    /// Registers of a vector.
    pub const REGISTERS: [Register; 5] = [FRAMES, CYCLES, ARM, DISARM, SENT];
}

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

impl Register {
    /// The bits that its fields take; all of them when it is one number.
    pub const fn bits(&self) -> u32 {
        if self.fields.is_empty() {
            return u32::MAX;
        }
        let (mut bits, mut i) = (0, 0);
        while i < self.fields.len() {
            bits |= self.fields[i].mask();
            i += 1;
        }
        bits
    }
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

use Access::{Ro, Rw};

pub mod filter;
pub mod queue;
pub mod vector;

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
/// Start of the filters: exact, address hash, indirection; see [`filter`].
pub const FILTER: u32 = 0x4000;
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
    fields(reg("PARAMS", 0x08, Ro, "what this build of the core has"), &[RX_QUEUES, TX_QUEUES, STREAM_BYTES, RX_FIFO_LOG2, READ_TAGS]);
/// RX queues.
pub const RX_QUEUES: Field = bits("RX_QUEUES", 0, 5, "RX queues, 1 to 16");
/// TX queues.
pub const TX_QUEUES: Field = bits("TX_QUEUES", 5, 5, "TX queues, 1 to 16");
/// Bytes of the stream a cycle.
pub const STREAM_BYTES: Field = bits("STREAM_BYTES", 10, 7, "bytes of the stream a cycle");
/// RX packet FIFO.
pub const RX_FIFO_LOG2: Field = bits("RX_FIFO_LOG2", 17, 5, "log2 of the bytes of the RX packet FIFO");
/// Tags for payload reads.
pub const READ_TAGS: Field = bits("READ_TAGS", 22, 6, "tags for payload reads, so reads in flight");
/// Optional blocks.
pub const FEATURES: Register = fields(reg("FEATURES", 0x0C, Ro, "optional blocks of this build; what a build leaves out reads 0 in completions"), &[FEATURE_L2, FEATURE_L3, FEATURE_CHECKSUM, FEATURE_RSS, FEATURE_FILTER, FEATURE_STRIP, FEATURE_SPLIT, FEATURE_COMPACT, FEATURE_FLOW, FEATURE_TIME]);
/// L2 classification.
pub const FEATURE_L2: Field = bits("L2", 0, 1, "L2 classification: CLASSIFIED, DST, L2, VLAN, protocol, EPOCH");
/// L3 and L4 classification.
pub const FEATURE_L3: Field = bits("L3", 1, 1, "L3 and L4 classification: L3, L3OPT, FRAG, L4, ACK, header length");
/// Checksums.
pub const FEATURE_CHECKSUM: Field = bits("CHECKSUM", 2, 1, "IPCSUM, L4CSUM and the raw checksum; needs L3");
/// Receive-side scaling.
pub const FEATURE_RSS: Field = bits("RSS", 3, 1, "Toeplitz hash and indirection table; needs L3");
/// Filters.
pub const FEATURE_FILTER: Field = bits("FILTER", 4, 1, "exact filters, address hash, promiscuous modes; without it every frame is taken; needs L3");
/// VLAN strip.
pub const FEATURE_STRIP: Field = bits("STRIP", 5, 1, "removal of the outer VLAN tag");
/// Several buffers a frame.
pub const FEATURE_SPLIT: Field = bits("SPLIT", 6, 1, "SCATTER and SPLIT of a queue");
/// Compact completions.
pub const FEATURE_COMPACT: Field = bits("COMPACT", 7, 1, "compact completions and the producer index in host memory");
/// PAUSE frames.
pub const FEATURE_FLOW: Field = bits("FLOW", 8, 1, "PAUSE frames sent and honoured");
/// Time stamps.
pub const FEATURE_TIME: Field = bits("TIME", 9, 1, "time stamps of received frames");
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
/// Longest wait for a descriptor.
pub const HOLD: Register = reg("HOLD", 0x28, Rw, "cycles that the oldest frame waits for a descriptor before its queue counts as dry and it is dropped, 24 bits; a dry queue's frames are dropped at once until it has a descriptor; 0, after reset: it waits as long as it takes");
/// Which frames are taken.
pub const RX_MODE: Register = fields(
    reg("RX_MODE", 0x2C, Rw, "which frames are taken, and what is removed from them; 1 after reset"),
    &[PROMISCUOUS, ALL_MULTICAST, HASH_MULTICAST, HASH_UNICAST, STRIP_C, STRIP_S],
);
/// All frames.
pub const PROMISCUOUS: Field = bits("PROMISCUOUS", 0, 1, "take every frame; else own address, broadcast, what the bits below or an exact filter let in");
/// All groups.
pub const ALL_MULTICAST: Field = bits("ALL_MULTICAST", 1, 1, "take every multicast frame");
/// Some groups.
pub const HASH_MULTICAST: Field = bits("HASH_MULTICAST", 2, 1, "take multicast frames whose destination is in the hash table");
/// Some stations.
pub const HASH_UNICAST: Field = bits("HASH_UNICAST", 3, 1, "take other frames whose destination is in the hash table");
/// Removes customer tags.
pub const STRIP_C: Field = bits("STRIP_C", 8, 1, "remove an outer VLAN tag of TPID 0x8100");
/// Removes service tags.
pub const STRIP_S: Field = bits("STRIP_S", 9, 1, "remove an outer VLAN tag of TPID 0x88A8");
/// Receive-side scaling.
pub const RSS: Register = fields(
    reg("RSS", 0x30, Rw, "which frames are spread by hash, and where the others go; 0 after reset"),
    &[RSS_IPV4, RSS_TCP4, RSS_UDP4, RSS_IPV6, RSS_TCP6, RSS_UDP6, DEFAULT_QUEUE],
);
/// IPv4 addresses.
pub const RSS_IPV4: Field = bits("IPV4", 0, 1, "hash the addresses of IPv4 packets");
/// TCP over IPv4.
pub const RSS_TCP4: Field = bits("TCP4", 1, 1, "hash addresses and ports of TCP over IPv4");
/// UDP over IPv4.
pub const RSS_UDP4: Field = bits("UDP4", 2, 1, "hash addresses and ports of UDP over IPv4");
/// IPv6 addresses.
pub const RSS_IPV6: Field = bits("IPV6", 3, 1, "hash the addresses of IPv6 packets");
/// TCP over IPv6.
pub const RSS_TCP6: Field = bits("TCP6", 4, 1, "hash addresses and ports of TCP over IPv6");
/// UDP over IPv6.
pub const RSS_UDP6: Field = bits("UDP6", 5, 1, "hash addresses and ports of UDP over IPv6");
/// Frames without a hash.
pub const DEFAULT_QUEUE: Field = bits("DEFAULT_QUEUE", 8, 4, "queue of frames that no filter steers and that have no hash");
/// The address hash filter's tag and action.
pub const HASH_FILTER: Register = fields(
    reg("HASH_FILTER", 0x34, Rw, "what happens to frames that only the address hash table lets in; 0 after reset"),
    &[HASH_ACTION, HASH_QUEUE, HASH_TAG],
);
/// Action, see [`filter::Action`].
pub const HASH_ACTION: Field = bits("ACTION", 4, 2, "0 RSS, 1 queue, 2 drop");
/// Queue of action 1.
pub const HASH_QUEUE: Field = bits("QUEUE", 8, 4, "queue of action 1");
/// Tag.
pub const HASH_TAG: Field = bits("TAG", 16, 16, "filter tag in the completion");
/// Flow control (IEEE 802.3, annex 31B).
pub const FLOW: Register = fields(
    reg("FLOW", 0x38, Rw, "flow control by PAUSE frames (IEEE 802.3, annex 31B); 0 after reset"),
    &[PAUSE_SEND, PAUSE_HONOUR, PAUSE_CYCLES, PAUSE_QUANTA],
);
/// Sends PAUSE.
pub const PAUSE_SEND: Field = bits("SEND", 0, 1, "send PAUSE when the packet FIFO reaches HIGH, and again each half of the time asked for; PAUSE of 0 when it is back at LOW");
/// Heeds PAUSE.
pub const PAUSE_HONOUR: Field = bits("HONOUR", 1, 1, "start no frame while the other side asks for a pause; PAUSE frames are taken out, counted, and not delivered");
/// Length of a quantum.
pub const PAUSE_CYCLES: Field = bits("CYCLES", 4, 12, "cycles of a quantum of 512 bit times; 64 for 1 Gb/s at 125 MHz");
/// Time asked for.
pub const PAUSE_QUANTA: Field = bits("QUANTA", 16, 16, "pause asked for, in quanta");
/// Marks of the packet FIFO.
pub const FLOW_MARKS: Register = fields(
    reg("FLOW_MARKS", 0x3C, Rw, "fill of the packet FIFO at which PAUSE is sent, in units of 64 bytes; 0 after reset"),
    &[FLOW_HIGH, FLOW_LOW],
);
/// High-water mark.
pub const FLOW_HIGH: Field = bits("HIGH", 0, 16, "high-water mark");
/// Low-water mark.
pub const FLOW_LOW: Field = bits("LOW", 16, 16, "low-water mark");
/// Frames seen on the wire.
pub const FRAMES_IN: Register = reg("FRAMES_IN", 0x40, Ro, "counter: frames seen on the wire; each is delivered or counted once as dropped or as PAUSE, for the first cause that holds: disabled, bad, undersize, oversize, no room, PAUSE, filter; then, in its queue: disabled, no descriptor, buffer");
/// Dropped.
pub const DROP_DISABLED: Register = reg("DROP_DISABLED", 0x44, Ro, "counter: dropped at the wire: RX disabled, or no queue running");
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
/// Filtered.
pub const DROP_FILTER: Register = reg("DROP_FILTER", 0x68, Ro, "counter: dropped by a filter, or for another station");
/// PAUSE frames received.
pub const PAUSE_IN: Register = reg("PAUSE_IN", 0x6C, Ro, "counter: PAUSE frames taken out and honoured");
/// PAUSE frames sent.
pub const PAUSE_OUT: Register = reg("PAUSE_OUT", 0x70, Ro, "counter: PAUSE frames sent");
/// Clock of the time stamps.
pub const TIME: Register = reg("TIME", 0x78, Ro, "the time that stamps frames: cycles since reset, 32 bits");

/// Global registers.
pub const GLOBALS: [Register; 31] = [
    ID, VERSION, PARAMS, FEATURES, CONTROL, MAC_LOW, MAC_HIGH, MAX_FRAME, CLOCK_KHZ, TIMEOUT, FRAMES_IN,
    DROP_DISABLED, DROP_UNDERSIZE, DROP_OVERSIZE, DROP_BAD, DROP_FIFO, DROP_NO_DESCRIPTOR, FRAMES_OUT,
    UNEXPECTED, MALFORMED, SCRATCH, HOLD, RX_MODE, RSS, HASH_FILTER, FLOW, FLOW_MARKS, DROP_FILTER, PAUSE_IN, PAUSE_OUT,
    TIME,
];

/// Scratch register.
pub const SCRATCH: Register = reg("SCRATCH", 0x7C, Rw, "no effect; for register tests");


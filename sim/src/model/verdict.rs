//! Which frames the core drops, and why.

use ferronic_contract::registers::{self, Register};
use ferronic_contract::MIN_FRAME;

/// Why a frame did not get to memory. Every received frame is delivered or lost for one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropCause {
    /// RX was disabled, or no queue was running.
    Disabled,
    /// Marked bad by the MAC: its FCS is wrong.
    Bad,
    /// Under 14 bytes.
    Undersize,
    /// Over MAX_FRAME.
    Oversize,
    /// The packet FIFO was full while descriptors were there.
    Fifo,
    /// The packet FIFO was full while its head waited for a descriptor.
    NoDescriptor,
    /// A PAUSE frame, taken out and heeded.
    Pause,
    /// Dropped by a filter, or for another station.
    Filter,
    /// Its queue was disabled or stopped.
    QueueDisabled,
    /// Its queue had no descriptor in time.
    QueueNoDescriptor,
    /// Longer than the buffer, in a queue that does not scatter.
    Buffer,
}

impl DropCause {
    /// Every cause, in the order in which the core asks.
    pub const ALL: [Self; 11] = [
        Self::Disabled,
        Self::Bad,
        Self::Undersize,
        Self::Oversize,
        Self::Fifo,
        Self::NoDescriptor,
        Self::Pause,
        Self::Filter,
        Self::QueueDisabled,
        Self::QueueNoDescriptor,
        Self::Buffer,
    ];

    /// Short name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Bad => "bad",
            Self::Undersize => "undersize",
            Self::Oversize => "oversize",
            Self::Fifo => "fifo",
            Self::NoDescriptor => "no_descriptor",
            Self::Pause => "pause",
            Self::Filter => "filter",
            Self::QueueDisabled => "queue_disabled",
            Self::QueueNoDescriptor => "queue_no_descriptor",
            Self::Buffer => "buffer",
        }
    }

    /// The counter of a cause, for a frame of RX queue `queue` where it is the queue's own: where its group of registers
    /// starts in the BAR, and the register.
    pub const fn counter(self, queue: u32) -> (u32, Register) {
        let own = registers::RX_QUEUE + queue * registers::QUEUE_STRIDE;
        match self {
            Self::Disabled => (registers::GLOBAL, registers::DROP_DISABLED),
            Self::Bad => (registers::GLOBAL, registers::DROP_BAD),
            Self::Undersize => (registers::GLOBAL, registers::DROP_UNDERSIZE),
            Self::Oversize => (registers::GLOBAL, registers::DROP_OVERSIZE),
            Self::Fifo => (registers::GLOBAL, registers::DROP_FIFO),
            Self::NoDescriptor => (registers::GLOBAL, registers::DROP_NO_DESCRIPTOR),
            Self::Pause => (registers::GLOBAL, registers::PAUSE_IN),
            Self::Filter => (registers::GLOBAL, registers::DROP_FILTER),
            Self::QueueDisabled => (own, registers::queue::DROP_DISABLED),
            Self::QueueNoDescriptor => (own, registers::queue::DROP_NO_DESCRIPTOR),
            Self::Buffer => (own, registers::queue::DROP_BUFFER),
        }
    }
}

impl std::fmt::Display for DropCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What becomes of a frame by its length and its FCS alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on to a descriptor.
    Accept,
    /// It ends at the wire.
    Drop(DropCause),
}

/// Judges a frame of `length` bytes without FCS. `max_frame` is the MAX_FRAME register.
///
/// Where several causes hold, the bad FCS is the one counted: the length of such a frame means nothing.
pub fn verdict(length: usize, bad_fcs: bool, max_frame: u16) -> Verdict {
    if bad_fcs {
        Verdict::Drop(DropCause::Bad)
    } else if length < usize::from(MIN_FRAME) {
        Verdict::Drop(DropCause::Undersize)
    } else if length > usize::from(max_frame) {
        Verdict::Drop(DropCause::Oversize)
    } else {
        Verdict::Accept
    }
}

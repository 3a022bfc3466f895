//! How a device can break the contract on the RX side.

/// A completion, or a producer index, that broke the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RxFault {
    /// Not the index that is due.
    #[error("RX completion with index {found}, where {expected} is due")]
    Index {
        /// What the completion says.
        found: u16,
        /// What is due.
        expected: u16,
    },
    /// A producer index that cannot be.
    #[error("RX producer index of {word:#x}, which is not from {from} to {to}")]
    ProducerIndex {
        /// What the core wrote.
        word: u32,
        /// The least it could write.
        from: u16,
        /// The most it could write.
        to: u16,
    },
    /// Not written, though the producer index says so.
    #[error("RX completion {index} lies before the producer index and has the phase of the last pass")]
    Phase {
        /// Index of the completion.
        index: u16,
    },
    /// A completion without a descriptor: the device has finished all that it was told of.
    #[error("RX completion {index}, though the device has no descriptor")]
    NotLent {
        /// Index of the completion.
        index: u16,
    },
    /// A cookie of no posted buffer.
    #[error("RX completion {index} with cookie {cookie}, which is no posted buffer")]
    Cookie {
        /// Index of the completion.
        index: u16,
        /// The cookie.
        cookie: u32,
    },
    /// A length that this part of a frame cannot have in this buffer.
    #[error("RX completion {index} with length {length}, which is not from {min} to {max}")]
    Length {
        /// Index of the completion.
        index: u16,
        /// The length.
        length: u16,
        /// Least length.
        min: u16,
        /// Bytes of the buffer.
        max: u16,
    },
    /// SOP in the middle of a frame, or none at its start.
    #[error("RX completion {index} with SOP {sop}, {} a frame", if *.sop { "within" } else { "outside of" })]
    Order {
        /// Index of the completion.
        index: u16,
        /// Its SOP.
        sop: bool,
    },
    /// A frame over more buffers than the queue's set-up allows.
    #[error("RX completion {index} without EOP, though it is the last of {max} buffers that a frame can take")]
    Segments {
        /// Index of the completion.
        index: u16,
        /// Most buffers of a frame.
        max: usize,
    },
    /// A frame over several buffers that is too short, or longer than MAX_FRAME.
    #[error("RX completion {index} makes a frame of {length} bytes, which is not from {min} to {max}")]
    Frame {
        /// Index of the completion.
        index: u16,
        /// Bytes so far.
        length: u32,
        /// Least length of a frame.
        min: u16,
        /// Greatest length of a frame.
        max: u16,
    },
}

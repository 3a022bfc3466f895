//! What the root complex asks of host memory.

/// Why host memory refused an access.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("host memory at {address:#x}: {reason}")]
pub struct Fault {
    /// The first byte address that is not accessible.
    pub address: u64,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Host memory as the root complex sees it. Byte enables are resolved before: every access is a plain
/// range of bytes.
pub trait Memory {
    /// Fills `buffer` from `address`.
    ///
    /// # Errors
    /// An address that the device may not read; the device gets an Unsupported Request.
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault>;

    /// Stores `data` at `address`.
    ///
    /// # Errors
    /// An address that the device may not write; the write is dropped.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault>;
}

/// An access of the device that host memory refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryFault {
    /// When, in ps.
    pub at_ps: u64,
    /// First enabled byte of the access.
    pub address: u64,
    /// Length of the access in bytes.
    pub bytes: u16,
    /// A write; a read otherwise.
    pub write: bool,
    /// What host memory said.
    pub fault: Fault,
}

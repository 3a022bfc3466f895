//! Payload buffers that are used again, so that a TLP in flight costs no allocation.

/// Buffers kept; more than are ever in flight on a link with ordinary credits.
const KEPT: usize = 128;

/// Empty buffers.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Vec<u8>>);

impl Pool {
    /// An empty buffer.
    pub fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < KEPT {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

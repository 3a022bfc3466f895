//! Copybreak: a small packet is copied, so that its buffer can go straight back into the ring.
//!
//! Copies go into buffers of their own pool, as small as the limit allows, which the device can reach like all others.
//! Both ends of a copy start at a cache line, so whole lines are copied, without a byte at either end.

use std::rc::Rc;

use crate::device::Dma;
use crate::dma::LINE;
use crate::error::Error;
use crate::pool::{Allocation, Buffer, Pool};

/// Where the copies of one queue go.
pub(super) struct Copies {
    limit: u16,
    pool: Option<Pool>,
}

impl Copies {
    /// For packets of up to `limit` bytes, at most `count` of them out at a time.
    pub(super) fn new(dma: &Rc<dyn Dma>, limit: u16, count: u32) -> Result<Self, Error> {
        let pool = match limit.next_multiple_of(LINE as u16) {
            0 => None,
            bytes => {
                let pool = Pool::new(Rc::clone(dma), count, bytes, Allocation::PagePool);
                Some(pool.map_err(|source| Error::Memory { what: "copies of packets", source })?)
            }
        };
        Ok(Self { limit, pool })
    }

    /// The same for another limit. Buffers that are out stay what they are.
    pub(super) fn set_limit(&mut self, dma: &Rc<dyn Dma>, limit: u16, count: u32) -> Result<(), Error> {
        if limit.div_ceil(LINE as u16) == self.limit.div_ceil(LINE as u16) {
            self.limit = limit;
        } else {
            *self = Self::new(dma, limit, count)?;
        }
        Ok(())
    }

    /// Longest packet that is copied; 0 is none.
    #[inline]
    pub(super) fn limit(&self) -> u16 {
        self.limit
    }

    /// The pool, when packets are copied.
    pub(super) fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref()
    }

    /// A copy of a packet no longer than the limit; `None` when all buffers are out.
    #[inline]
    pub(super) fn copy(&self, from: &Buffer, length: u16) -> Option<Buffer> {
        let mut to = self.pool.as_ref()?.get()?;
        copy_lines(from.bytes(), to.bytes_mut(), usize::from(length));
        to.received(length);
        Some(to)
    }
}

/// Copies at least `length` bytes, by whole lines as far as both ends have them.
#[inline]
fn copy_lines(from: &[u8], to: &mut [u8], length: usize) {
    let most = length.next_multiple_of(LINE).min(from.len()).min(to.len());
    let (from_lines, from_rest) = from[..most].as_chunks::<LINE>();
    let (to_lines, to_rest) = to[..most].as_chunks_mut::<LINE>();
    for (to, from) in to_lines.iter_mut().zip(from_lines) {
        *to = *from;
    }
    to_rest.copy_from_slice(from_rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: a last line that is cut, an end that is overrun, more lines than the packet has.
    #[test]
    fn whole_lines_are_copied_and_no_more_than_both_ends_have() {
        let from: Vec<u8> = (0..200).map(|i| i as u8 + 1).collect();
        for (source, target) in [(200, 256), (100, 128), (128, 128), (70, 64)] {
            for length in 1..=source.min(target) {
                let mut to = vec![0; target];
                copy_lines(&from[..source], &mut to, length);
                let copied = length.next_multiple_of(LINE).min(source).min(target);
                assert_eq!(to[..copied], from[..copied]);
                assert!(to[copied..].iter().all(|byte| *byte == 0), "{source} {target} {length}");
            }
        }
    }
}

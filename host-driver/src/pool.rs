//! A pool of buffers of one size that stay mapped for the device.
//!
//! A [`Buffer`] is owned: dropping it, anywhere, gives it back to the pool that it came from, so it can be
//! neither leaked by an early return nor given back twice. Taking and giving back are O(1) and allocate
//! nothing. The last buffer given back is the first taken, because its lines are the likeliest in the cache.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;

use crate::device::Dma;
use crate::dma::DmaPiece;

/// Bytes of one allocation at most: a huge page, so that a pool costs few entries of an IOMMU's TLB.
const REGION_BYTES: usize = 2 << 20;
/// Buffers start at cache lines.
const LINE: usize = 64;
/// Alignment of a region.
const PAGE: usize = 4096;

/// A pool; clones share the buffers.
#[derive(Clone)]
pub struct Pool(Rc<Inner>);

struct Inner {
    /// Capacity for every buffer from the start on.
    free: RefCell<Vec<(u32, DmaPiece)>>,
    buffers: u32,
    buffer_bytes: u16,
}

impl Pool {
    /// A pool of `buffers` buffers of `buffer_bytes` bytes each.
    pub fn new(dma: &dyn Dma, buffers: u32, buffer_bytes: u16) -> io::Result<Self> {
        let stride = usize::from(buffer_bytes).next_multiple_of(LINE).max(LINE);
        let mut free = Vec::with_capacity(buffers as usize);
        while free.len() < buffers as usize {
            let missing = buffers as usize - free.len();
            let region = dma.allocate(missing.min(REGION_BYTES / stride) * stride, PAGE)?;
            for piece in region.split(u32::from(buffer_bytes), stride).take(missing) {
                free.push((free.len() as u32, piece));
            }
        }
        // The buffer with the lowest number first.
        free.reverse();
        Ok(Self(Rc::new(Inner { free: RefCell::new(free), buffers, buffer_bytes })))
    }

    /// Takes a buffer; `None` when all are out. Its bytes are what the last holder left.
    #[inline]
    pub fn get(&self) -> Option<Buffer> {
        let (number, piece) = self.0.free.borrow_mut().pop()?;
        Some(Buffer { number, piece, home: Rc::clone(&self.0) })
    }

    /// Buffers that can be taken now.
    pub fn available(&self) -> u32 {
        self.0.free.borrow().len() as u32
    }

    /// Buffers in all.
    pub fn buffers(&self) -> u32 {
        self.0.buffers
    }

    /// Bytes of a buffer.
    pub fn buffer_bytes(&self) -> u16 {
        self.0.buffer_bytes
    }
}

/// A buffer that its holder owns.
pub struct Buffer {
    number: u32,
    piece: DmaPiece,
    home: Rc<Inner>,
}

impl Buffer {
    /// Number in its pool, 0 to `buffers - 1`: the cookie of an RX descriptor.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Bus address of the first byte.
    pub fn bus(&self) -> u64 {
        self.piece.bus()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.piece.bytes()
    }

    /// The bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.piece.bytes_mut()
    }

    /// Asks the cache for the line at an offset.
    pub fn prefetch(&self, offset: usize) {
        self.piece.prefetch(offset);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        self.home.free.borrow_mut().push((self.number, piece));
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer {{ number: {}, bus: {:#x} }}", self.number, self.bus())
    }
}

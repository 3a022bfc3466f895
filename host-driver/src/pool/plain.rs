//! Plain allocation: memory is found and mapped for each buffer when it is taken, and released when it comes back.
//!
//! It is what a driver pays that has no pool: `netdev_alloc_skb()` and `dma_map_single()` for each packet, and with an
//! IOMMU a mapping and an unmapping. A mapping of its own takes whole pages.

use std::rc::Rc;

use super::buffer::OwnedSlot;
use super::PAGE;
use crate::device::Dma;

pub(super) struct Plain {
    dma: Rc<dyn Dma>,
    buffer_bytes: u16,
    /// Buffers without memory: all that are not out.
    free: Vec<OwnedSlot>,
}

impl Plain {
    pub(super) fn new(dma: Rc<dyn Dma>, buffer_bytes: u16, slots: Vec<OwnedSlot>) -> Self {
        Self { dma, buffer_bytes, free: slots }
    }

    /// Bytes of memory that a buffer takes.
    pub(super) fn unit(&self) -> u64 {
        usize::from(self.buffer_bytes).next_multiple_of(PAGE) as u64
    }

    /// Buffers that could be allocated.
    pub(super) fn obtainable(&self) -> u32 {
        self.free.len() as u32
    }

    /// A buffer with memory of its own.
    pub(super) fn allocate(&mut self) -> Option<OwnedSlot> {
        let unit = self.unit() as usize;
        let slot = self.free.last_mut()?;
        slot.piece = self.dma.allocate(unit, PAGE).ok()?.split(self.buffer_bytes.into(), unit).next()?;
        self.free.pop()
    }

    /// Takes a buffer back and releases its memory.
    pub(super) fn put(&mut self, mut slot: OwnedSlot) {
        slot.piece = Default::default();
        self.free.push(slot);
    }
}

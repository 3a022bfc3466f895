//! Half-page flip: the driver keeps a page as long as one half of it is free.
//!
//! A page is two buffers. One half is in service: posted, or ready to be. When it comes back with a packet, and the other
//! half is free, the page is flipped: the other half goes into service, still mapped, and the consumer has the first.
//! When the consumer still holds the other half, the driver lets the page go. It is released when the consumer has given
//! both halves back; until then one small packet can pin it whole. A new page takes its place.
//!
//! That is how Intel's drivers recycle (ixgbe_can_reuse_rx_page() and ixgbe_reuse_rx_page() in
//! drivers/net/ethernet/intel/ixgbe/ixgbe_main.c). There the use count of the page tells whether the other half is free;
//! here the half itself does, by being at rest with its page. There a page that was let go is unmapped at once, and its
//! memory released later; here both happen when it is released.

use std::rc::Rc;

use super::buffer::{OwnedSlot, Slot};
use super::PAGE;
use crate::device::Dma;

pub(super) struct Halves {
    dma: Rc<dyn Dma>,
    buffer_bytes: u16,
    /// Bytes of a half.
    half: usize,
    pages: Vec<Page>,
    /// Pages without memory.
    free: Vec<u32>,
}

/// A page: the buffers 2p and 2p + 1 are its halves.
struct Page {
    /// The halves that nobody has and that are not in service.
    at_rest: [Option<OwnedSlot>; 2],
    /// Whether the driver has a half in service.
    in_service: bool,
}

/// What became of a half that was given back.
pub(super) enum Fate {
    /// It is in service, ready to be taken.
    Ready(OwnedSlot),
    /// It rests with its page.
    Rests,
    /// It still pins its page, which was let go.
    Pins,
    /// It was the last that pinned its page: both halves' memory is released.
    Released,
}

impl Halves {
    /// Pages without memory, of two of the slots each.
    pub(super) fn new(dma: Rc<dyn Dma>, buffer_bytes: u16, slots: Vec<OwnedSlot>) -> Self {
        let half = (2 * usize::from(buffer_bytes)).next_multiple_of(PAGE) / 2;
        let mut slots = slots.into_iter();
        let pages: Vec<Page> = std::iter::from_fn(|| {
            Some(Page { at_rest: [Some(slots.next()?), Some(slots.next()?)], in_service: false })
        })
        .collect();
        let free = (0..pages.len() as u32).rev().collect();
        Self { dma, buffer_bytes, half, pages, free }
    }

    /// Bytes of memory that a buffer takes.
    pub(super) fn unit(&self) -> u64 {
        self.half as u64
    }

    /// Pages that could be allocated.
    pub(super) fn obtainable(&self) -> u32 {
        self.free.len() as u32
    }

    /// Allocates a page, puts one half of it into service and says how many bytes the page has.
    pub(super) fn allocate(&mut self) -> Option<(OwnedSlot, u64)> {
        let page = self.pages.get_mut(*self.free.last()? as usize)?;
        let region = self.dma.allocate(2 * self.half, PAGE).ok()?;
        for (slot, piece) in page.at_rest.iter_mut().flatten().zip(region.split(self.buffer_bytes.into(), self.half)) {
            slot.piece = piece;
        }
        self.free.pop();
        page.in_service = true;
        Some((page.at_rest[0].take()?, 2 * self.unit()))
    }

    /// The half in service came back with a packet: flips the page, if the other half is free, else lets it go.
    pub(super) fn flip(&mut self, received: &Slot) -> Option<OwnedSlot> {
        let page = self.pages.get_mut(received.number as usize / 2)?;
        let other = page.at_rest[(received.number as usize + 1) % 2].take();
        page.in_service = other.is_some();
        other
    }

    /// Takes a half back; `received` says that it was the consumer's.
    pub(super) fn put(&mut self, slot: OwnedSlot, received: bool) -> Fate {
        let number = slot.number;
        let Some(page) = self.pages.get_mut(number as usize / 2) else { return Fate::Ready(slot) };
        if page.in_service && !received {
            return Fate::Ready(slot);
        }
        page.at_rest[number as usize % 2] = Some(slot);
        if page.in_service {
            return Fate::Rests;
        }
        if page.at_rest.iter().any(Option::is_none) {
            return Fate::Pins;
        }
        for slot in page.at_rest.iter_mut().flatten() {
            slot.piece = Default::default();
        }
        self.free.push(number / 2);
        Fate::Released
    }
}

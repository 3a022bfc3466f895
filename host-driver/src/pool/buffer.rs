//! A buffer and its owner.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::parcel::Parcel;
use super::returns::Returns;
use super::Inner;
use crate::dma::DmaPiece;

/// All there is of one buffer, in a cache line of its own: two cores that work on neighbours do not disturb each other.
#[repr(align(64))]
pub(super) struct Slot {
    /// Its number in the pool.
    pub(super) number: u32,
    /// Bytes of the packet in it, from when it is received to when it is given back.
    pub(super) packet: Option<u16>,
    /// Bytes that a holder may have brought into the cache since the device wrote them.
    pub(super) touched: u16,
    /// The memory; none while the pool has none for it.
    pub(super) piece: DmaPiece,
    /// The way home from another thread.
    pub(super) returns: Arc<Returns<OwnedSlot>>,
}

/// Who has this owns the buffer. It is boxed so that a word changes hands, and the line stays where it is.
pub(super) type OwnedSlot = Box<Slot>;

/// A buffer that its holder owns.
pub struct Buffer {
    /// There until it is dropped or sent away.
    slot: Option<OwnedSlot>,
    home: Rc<Inner>,
}

impl Buffer {
    pub(super) fn new(slot: OwnedSlot, home: Rc<Inner>) -> Self {
        Self { slot: Some(slot), home }
    }

    /// Number in its pool, below [`Pool::numbers`](super::Pool::numbers): the cookie of an RX descriptor.
    #[inline]
    pub fn number(&self) -> u32 {
        self.slot.as_ref().map_or(u32::MAX, |slot| slot.number)
    }

    /// Bus address of the first byte.
    #[inline]
    pub fn bus(&self) -> u64 {
        self.slot.as_ref().map_or(0, |slot| slot.piece.bus())
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.slot.as_ref().map_or(&[], |slot| slot.piece.bytes())
    }

    /// The bytes, to write.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.slot.as_mut().map_or(&mut [], |slot| slot.piece.bytes_mut())
    }

    /// Asks the cache for the line at an offset.
    #[inline]
    pub fn prefetch(&self, offset: usize) {
        if let Some(slot) = &self.slot {
            slot.piece.prefetch(offset);
        }
    }

    /// The buffer has come back from the device with `length` bytes of a packet, and is the consumer's from here on.
    /// The pool counts the packet until the buffer is given back, and may reuse what shares a page with it.
    #[inline]
    pub(crate) fn received(&mut self, length: u16) {
        if let Some(slot) = &mut self.slot {
            slot.touched = length;
            let before = slot.packet.replace(length);
            self.home.received(slot, before);
        }
    }

    /// The driver itself has looked at `length` bytes, and the buffer goes back to the device.
    #[inline]
    pub(crate) fn copied_from(&mut self, length: u16) {
        if let Some(slot) = &mut self.slot {
            slot.touched = length;
        }
    }

    /// The buffer is about to be lent to the device for a packet. Its lines leave the cache if the pool
    /// [demotes](super::Pool::set_demote).
    #[inline]
    pub(crate) fn lend(&mut self) {
        if let Some(slot) = &mut self.slot {
            let touched = std::mem::take(&mut slot.touched);
            if self.home.demote.get() {
                slot.piece.demote(touched.into());
            }
        }
    }

    /// Makes it fit to be sent to another thread, where dropping it sends it home.
    pub fn into_parcel(mut self) -> Parcel {
        Parcel::new(self.slot.take())
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.home.put(slot);
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer {{ number: {}, bus: {:#x} }}", self.number(), self.bus())
    }
}

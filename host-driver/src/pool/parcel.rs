//! Buffers in other threads, and their way back.

use std::fmt;
use std::sync::Arc;

use super::buffer::OwnedSlot;
use super::returns::Returns;

/// Parcels that a [`Returner`] gathers: Linux's `XDP_BULK_QUEUE_SIZE` is 16, for the same purpose.
const BULK: usize = 16;

/// A buffer that can be sent to another thread: [`Buffer::into_parcel`](super::Buffer::into_parcel).
///
/// Dropping it, in any thread, sends the buffer home; a [`Returner`] sends many at once. The pool's own thread has it
/// again when it next runs out of buffers, or wants to flip a page. A thread that drops a parcel may wait for another that does the same just
/// then; the pool's thread waits for neither.
///
/// When the pool is gone by then the buffer goes with its memory, except for the last one of a region: a backend's
/// memory is released in the thread that it came from, or never. So let parcels come home before the pool goes.
pub struct Parcel {
    slot: Option<OwnedSlot>,
}

impl Parcel {
    pub(super) fn new(slot: Option<OwnedSlot>) -> Self {
        Self { slot }
    }

    /// The bytes of the packet; all bytes of the buffer if no packet was received in it.
    pub fn bytes(&self) -> &[u8] {
        let Some(slot) = &self.slot else { return &[] };
        let bytes = slot.piece.bytes();
        slot.packet.and_then(|length| bytes.get(..length.into())).unwrap_or(bytes)
    }

    /// The same, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.bytes().len();
        self.slot.as_mut().and_then(|slot| slot.piece.bytes_mut().get_mut(..length)).unwrap_or_default()
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            let returns = Arc::clone(&slot.returns);
            // Without a pool to go to, it ends here.
            drop(returns.give(slot));
        }
    }
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parcel").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

/// Sends the parcels of one pool home in bulk. Each thread that has parcels makes its own from a clone:
/// [`Pool::returner`](super::Pool::returner).
pub struct Returner {
    returns: Arc<Returns<OwnedSlot>>,
    /// Those that wait to be sent together.
    gathered: Vec<OwnedSlot>,
}

impl Returner {
    pub(super) fn new(returns: Arc<Returns<OwnedSlot>>) -> Self {
        Self { returns, gathered: Vec::with_capacity(BULK) }
    }

    /// Gives a parcel back; it goes home with others, when 16 have come together, or on [`flush`](Self::flush). A parcel
    /// of another pool goes home at once.
    pub fn give(&mut self, mut parcel: Parcel) {
        let ours = parcel.slot.as_ref().is_some_and(|slot| Arc::ptr_eq(&slot.returns, &self.returns));
        if !ours {
            return;
        }
        self.gathered.extend(parcel.slot.take());
        if self.gathered.len() >= BULK {
            self.flush();
        }
    }

    /// Sends home what was gathered.
    pub fn flush(&mut self) {
        if !self.gathered.is_empty() {
            self.returns.give_all(&mut self.gathered);
            // Without a pool to go to, they end here.
            self.gathered.clear();
        }
    }
}

impl Clone for Returner {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.returns))
    }
}

impl Drop for Returner {
    fn drop(&mut self) {
        self.flush();
    }
}

impl fmt::Debug for Returner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Returner").field("gathered", &self.gathered.len()).finish_non_exhaustive()
    }
}

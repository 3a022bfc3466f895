//! Producer and consumer arithmetic of the rings.
//!
//! This module depends on the contract's ring size alone: not on hardware, not on DMA memory, not on
//! buffers; it has no `unsafe` and allocates nothing. It says which slot is next; others write it.
//!
//! A producer's three indices run free and wrap at 2¹⁶: `done ≤ published ≤ next ≤ done + entries`. The
//! device owns what lies between `done` and `published`.

use ferronic_contract::ring::{distance, RingSize};

/// The driver's side of a descriptor ring, RX or TX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    size: RingSize,
    /// Next index to post.
    next: u16,
    /// The tail that the last doorbell told.
    published: u16,
    /// First index that the device has not given back.
    done: u16,
}

impl Producer {
    /// An empty ring, at index 0 as the core after enabling.
    pub const fn new(size: RingSize) -> Self {
        Self { size, next: 0, published: 0, done: 0 }
    }

    /// Size of the ring.
    pub const fn size(&self) -> RingSize {
        self.size
    }

    /// Descriptors posted and not given back, 0..=entries.
    pub const fn outstanding(&self) -> u16 {
        distance(self.done, self.next)
    }

    /// Descriptors that can be posted now, 0..=entries.
    pub const fn free(&self) -> u16 {
        self.size.entries() as u16 - self.outstanding()
    }

    /// Descriptors posted that the device has not been told of.
    pub const fn unpublished(&self) -> u16 {
        distance(self.published, self.next)
    }

    /// Descriptors that the device was told of and has not given back.
    pub const fn lent(&self) -> u16 {
        distance(self.done, self.published)
    }

    /// First index that the device has not given back.
    pub const fn done(&self) -> u16 {
        self.done
    }

    /// The tail that the device was told last.
    pub const fn published(&self) -> u16 {
        self.published
    }

    /// Takes the next slot, which the caller must write before publishing; `None` when the ring is full.
    pub fn post(&mut self) -> Option<usize> {
        if self.free() == 0 {
            return None;
        }
        let slot = self.size.slot(self.next);
        self.next = self.next.wrapping_add(1);
        Some(slot)
    }

    /// The tail to write to the doorbell; `None` when the device knows all.
    pub fn publish(&mut self) -> Option<u16> {
        if self.unpublished() == 0 {
            return None;
        }
        self.published = self.next;
        Some(self.published)
    }

    /// Whether the device may say that it has finished everything before `index`.
    pub const fn plausible(&self, index: u16) -> bool {
        distance(self.done, index) <= self.lent()
    }

    /// Takes one slot back from the device; `None` when the device has none.
    pub fn retire(&mut self) -> Option<usize> {
        if self.done == self.published {
            return None;
        }
        let slot = self.size.slot(self.done);
        self.done = self.done.wrapping_add(1);
        Some(slot)
    }
}

/// What the next completion must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its free-running index.
    pub index: u16,
    /// Its slot in the ring.
    pub slot: usize,
    /// Its phase bit; the other value means that it has not been written yet.
    pub phase: bool,
}

/// The driver's side of a completion ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consumer {
    size: RingSize,
    next: u16,
}

impl Consumer {
    /// At index 0, as the core after enabling.
    pub const fn new(size: RingSize) -> Self {
        Self { size, next: 0 }
    }

    /// Index of the next completion: all before it have been taken.
    pub const fn next(&self) -> u16 {
        self.next
    }

    /// What the completion `ahead` places after the next must look like.
    pub const fn expect(&self, ahead: u16) -> Expected {
        let index = self.next.wrapping_add(ahead);
        Expected { index, slot: self.size.slot(index), phase: self.size.phase(index) }
    }

    /// Takes the next completion.
    pub fn take(&mut self) {
        self.next = self.next.wrapping_add(1);
    }
}

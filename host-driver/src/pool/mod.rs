//! Buffers of one size for the device, and what becomes of them.
//!
//! A [`Buffer`] is owned: dropping it, anywhere in its thread, gives it back to the pool that it came from, so it can be
//! neither leaked by an early return nor given back twice. As a [`Parcel`] it can go to other threads, and comes home in
//! bulk through a bounded queue ([`Returner`]).
//!
//! Where the memory comes from is one of three ways ([`Allocation`]), which differ in nothing else. The queues know
//! `get`, and a buffer's `lend` (it goes to the device), `received` (it came back with a packet) and drop.
//!
//! With the page pool taking and giving back are O(1), and allocate nothing. The last buffer given back is the first
//! taken, because its lines are the likeliest in the cache. Where they should not be, because the device writes to
//! memory past the caches, buffers can be [demoted](Pool::set_demote) before they are lent.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use crate::device::Dma;

mod buffer;
mod halves;
mod pages;
mod parcel;
mod plain;
mod returns;
mod statistics;

pub use buffer::Buffer;
pub use parcel::{Parcel, Returner};
pub use statistics::PoolStatistics;

use buffer::{OwnedSlot, Slot};
use halves::{Fate, Halves};
use pages::Pages;
use plain::Plain;
use returns::Returns;
use statistics::{add, sub, Counts};

/// Alignment of memory.
const PAGE: usize = 4096;

/// Where a pool's memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// A page pool: all memory is allocated at first and stays mapped (Linux, net/core/page_pool.c).
    #[default]
    PagePool,
    /// Pages of two halves that are flipped while the other half is free, else let go (Intel's drivers; ixgbe_main.c).
    /// A buffer that is out can pin a page, so there are as many pages as a page pool has buffers.
    HalfPage,
    /// Memory for each buffer by itself, when it is taken: a driver without a pool.
    Plain,
}

/// A pool; clones share the buffers.
#[derive(Clone)]
pub struct Pool(Rc<Inner>);

/// What the handles of a pool share.
struct Inner {
    /// Buffers with memory that can be taken. Room for every one of them from the start on.
    ready: RefCell<Vec<OwnedSlot>>,
    source: RefCell<Source>,
    returns: Arc<Returns<OwnedSlot>>,
    /// For collecting what was returned: empty between two calls, with room for every buffer.
    spare: Cell<Vec<OwnedSlot>>,
    counts: Counts,
    demote: Cell<bool>,
    /// Memory of a buffer.
    unit: u64,
    allocation: Allocation,
    buffers: u32,
    numbers: u32,
    buffer_bytes: u16,
}

enum Source {
    Pages(Pages),
    Halves(Halves),
    Plain(Plain),
}

impl Pool {
    /// A pool from which `buffers` buffers of `buffer_bytes` bytes can be out at a time; with half pages it can be more.
    ///
    /// # Errors
    ///
    /// The page pool gets no memory. The other ways allocate later.
    pub fn new(dma: Rc<dyn Dma>, buffers: u32, buffer_bytes: u16, allocation: Allocation) -> io::Result<Self> {
        let numbers = if allocation == Allocation::HalfPage { 2 * buffers } else { buffers };
        let returns = Arc::new(Returns::new(numbers));
        let slot = |number| {
            let piece = Default::default();
            Box::new(Slot { number, packet: None, touched: 0, piece, returns: Arc::clone(&returns) })
        };
        let slots: Vec<OwnedSlot> = (0..numbers).map(slot).collect();
        let (source, unit) = match allocation {
            Allocation::PagePool => {
                let pages = Pages::new(dma, buffer_bytes, slots);
                let unit = pages.unit();
                (Source::Pages(pages), unit)
            }
            Allocation::HalfPage => {
                let halves = Halves::new(dma, buffer_bytes, slots);
                let unit = halves.unit();
                (Source::Halves(halves), unit)
            }
            Allocation::Plain => {
                let plain = Plain::new(dma, buffer_bytes, slots);
                let unit = plain.unit();
                (Source::Plain(plain), unit)
            }
        };
        let pool = Self(Rc::new(Inner {
            ready: RefCell::new(Vec::with_capacity(numbers as usize)),
            source: RefCell::new(source),
            returns,
            spare: Cell::new(Vec::with_capacity(numbers as usize)),
            counts: Counts::default(),
            demote: Cell::new(false),
            unit,
            allocation,
            buffers,
            numbers,
            buffer_bytes,
        }));
        pool.resize(buffers)?;
        Ok(pool)
    }

    /// Takes a buffer; `None` when none can be had. Its bytes are what the last holder left.
    #[inline]
    pub fn get(&self) -> Option<Buffer> {
        let ready = self.0.ready.borrow_mut().pop();
        let slot = match ready {
            Some(slot) => slot,
            None => self.0.find()?,
        };
        add(&self.0.counts.taken, 1);
        Some(Buffer::new(slot, Rc::clone(&self.0)))
    }

    /// Buffers that can be taken now, if there is memory for them.
    pub fn available(&self) -> u32 {
        let obtainable = match &*self.0.source.borrow() {
            Source::Pages(_) => 0,
            Source::Halves(halves) => halves.obtainable(),
            Source::Plain(plain) => plain.obtainable(),
        };
        self.0.ready.borrow().len() as u32 + self.0.returns.waiting() + obtainable
    }

    /// Buffers that can be out at a time, at least.
    pub fn buffers(&self) -> u32 {
        self.0.buffers
    }

    /// Numbers that buffers have: 0 to one less than this.
    pub fn numbers(&self) -> u32 {
        self.0.numbers
    }

    /// Bytes of a buffer.
    pub fn buffer_bytes(&self) -> u16 {
        self.0.buffer_bytes
    }

    /// Where the memory comes from.
    pub fn allocation(&self) -> Allocation {
        self.0.allocation
    }

    /// What was counted.
    pub fn statistics(&self) -> PoolStatistics {
        self.0.counts.read()
    }

    /// Whether lines of a buffer that a packet was in are moved out of the core's own caches before the buffer is lent
    /// to the device again (CLDEMOTE). False, and without effect, unless the CPU
    /// [has that](crate::dma::can_demote).
    pub fn set_demote(&self, demote: bool) {
        self.0.demote.set(demote && crate::dma::can_demote());
    }

    /// Whether buffers are demoted.
    pub fn demotes(&self) -> bool {
        self.0.demote.get()
    }

    /// For threads that get [`Parcel`]s of this pool: sends them home in bulk.
    pub fn returner(&self) -> Returner {
        Returner::new(Arc::clone(&self.0.returns))
    }

    /// Makes the page pool's memory what `buffers` buffers need, from 0 to [`buffers`](Self::buffers), and says for how
    /// many it is now. Memory is released region by region, and only where every buffer is back; so more may stay. The
    /// other ways keep no memory that is not in use, and answer with what is.
    ///
    /// # Errors
    ///
    /// No memory to grow; what there was stays.
    pub fn resize(&self, buffers: u32) -> io::Result<u32> {
        self.0.collect();
        let counts = &self.0.counts;
        let present = || (counts.memory.get() / self.0.unit) as u32;
        if let Source::Pages(pages) = &mut *self.0.source.borrow_mut() {
            let mut ready = self.0.ready.borrow_mut();
            let wanted = buffers.min(self.0.buffers);
            if wanted > present() {
                pages.grow(wanted - present(), &mut ready, &counts.memory)?;
            } else {
                pages.shrink(present() - wanted, &mut ready, &counts.memory);
            }
        }
        Ok(present())
    }
}

impl Inner {
    /// A buffer when none is ready: from those that came home, or with new memory.
    #[cold]
    fn find(&self) -> Option<OwnedSlot> {
        self.collect();
        let ready = self.ready.borrow_mut().pop();
        let found = ready.or_else(|| {
            let (slot, bytes) = match &mut *self.source.borrow_mut() {
                Source::Pages(_) => return None,
                Source::Halves(halves) => halves.allocate()?,
                Source::Plain(plain) => (plain.allocate()?, self.unit),
            };
            add(&self.counts.allocated, 1);
            add(&self.counts.memory, bytes);
            Some(slot)
        });
        add(&self.counts.empty, u64::from(found.is_none()));
        found
    }

    /// Takes in what came home from other threads.
    fn collect(&self) {
        let mut home = self.spare.take();
        self.returns.collect(&mut home);
        add(&self.counts.returned, home.len() as u64);
        home.drain(..).for_each(|slot| self.put(slot));
        self.spare.set(home);
    }

    /// A buffer of which `before` bytes of a packet were known, if any, now has `slot.packet` of them.
    fn received(&self, slot: &Slot, before: Option<u16>) {
        let length = slot.packet.map_or(0, u64::from);
        add(&self.counts.bytes, length);
        add(&self.counts.held_bytes, length);
        if let Some(before) = before {
            return sub(&self.counts.held_bytes, before.into());
        }
        add(&self.counts.held, 1);
        add(&self.counts.held_memory, self.unit);
        if self.allocation == Allocation::HalfPage {
            self.flip(slot);
        }
    }

    fn flip(&self, slot: &Slot) {
        // The other half may be home from another thread already.
        self.collect();
        if let Source::Halves(halves) = &mut *self.source.borrow_mut() {
            match halves.flip(slot) {
                Some(other) => self.ready.borrow_mut().push(other),
                None => add(&self.counts.let_go, 1),
            }
        }
    }

    /// Takes a buffer back.
    #[inline]
    fn put(&self, mut slot: OwnedSlot) {
        let packet = slot.packet.take();
        if let Some(length) = packet {
            sub(&self.counts.held, 1);
            sub(&self.counts.held_bytes, length.into());
            sub(&self.counts.held_memory, self.unit);
        }
        match self.allocation {
            Allocation::PagePool => self.ready.borrow_mut().push(slot),
            Allocation::HalfPage | Allocation::Plain => self.release(slot, packet.is_some()),
        }
    }

    /// Takes a buffer back that does not simply become ready.
    fn release(&self, slot: OwnedSlot, received: bool) {
        match &mut *self.source.borrow_mut() {
            Source::Pages(_) => self.ready.borrow_mut().push(slot),
            Source::Halves(halves) => match halves.put(slot, received) {
                Fate::Ready(slot) => self.ready.borrow_mut().push(slot),
                Fate::Rests => {}
                // It cannot be used for anything before the other half is back.
                Fate::Pins => add(&self.counts.held_memory, self.unit),
                Fate::Released => {
                    sub(&self.counts.held_memory, self.unit);
                    sub(&self.counts.memory, 2 * self.unit);
                }
            },
            Source::Plain(plain) => {
                plain.put(slot);
                sub(&self.counts.memory, self.unit);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Those that waited go with the pool; those still with other threads end where they are.
        drop(self.returns.close());
    }
}

//! The descriptor ring: which buffers the device has, and when it gets others for those that came back.
//!
//! Every slot has its buffer, posted or waiting to be: the two together are the ring's entries at any time. A waiting one
//! is posted when the [policy](Replenish) says so.

use std::io;

use ferronic_contract::descriptor::{self, RxDescriptor};

use crate::config::RxConfig;
use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::policy::Replenish;
use crate::pool::{Buffer, Pool};
use crate::queue::{Queue, RING_ALIGNMENT};
use crate::ring::Producer;

/// The driver's side of an RX descriptor ring.
pub(super) struct Descriptors {
    ring: DmaRegion,
    producer: Producer,
    /// Posted buffers, by number, which is the cookie.
    posted: Vec<Option<Buffer>>,
    /// Buffers that wait to be posted. Has room for the whole ring.
    waiting: Vec<Buffer>,
    replenish: Replenish,
    low_water: u16,
    buffer_bytes: u16,
    /// Doorbells rung.
    pub(super) doorbells: u64,
}

impl Descriptors {
    pub(super) fn new(device: &Device, config: &RxConfig, pool: &Pool) -> Result<Self, Error> {
        let entries = config.queue.ring.entries() as usize;
        Ok(Self {
            ring: device.allocate("the RX descriptor ring", entries * descriptor::BYTES, RING_ALIGNMENT)?,
            producer: Producer::new(config.queue.ring),
            posted: (0..pool.numbers()).map(|_| None).collect(),
            waiting: Vec::with_capacity(entries),
            replenish: config.policy.replenish,
            low_water: config.queue.thresholds.low_water,
            buffer_bytes: pool.buffer_bytes(),
            doorbells: 0,
        })
    }

    /// Bus address of the ring.
    pub(super) fn bus(&self) -> u64 {
        self.ring.bus()
    }

    /// Fills the ring of a queue that has just been enabled. Afterwards each buffer that comes is replaced by one, so a
    /// ring that is not full now never would be.
    pub(super) fn fill(&mut self, pool: &Pool, queue: &Queue) -> Result<(), Error> {
        while self.producer.free() > 0 {
            let none = || Error::Memory { what: "the buffers of an RX ring", source: io::ErrorKind::OutOfMemory.into() };
            self.post(pool.get().ok_or_else(none)?);
        }
        self.publish(queue);
        Ok(())
    }

    /// Leaves the ring and the posted buffers to the device for ever.
    pub(super) fn abandon(&mut self) {
        self.ring.leak();
        std::mem::forget(std::mem::take(&mut self.posted));
    }

    /// Ring arithmetic.
    pub(super) fn producer(&self) -> &Producer {
        &self.producer
    }

    /// Buffers that wait to be posted.
    pub(super) fn waiting(&self) -> u16 {
        self.waiting.len() as u16
    }

    /// A posted buffer by its cookie.
    #[inline]
    pub(super) fn get(&self, cookie: u32) -> Option<&Buffer> {
        self.posted.get(cookie as usize)?.as_ref()
    }

    /// Takes a buffer that the device is done with; `None` when the cookie is that of no posted buffer. The device must have
    /// been lent one, and the ring owes its slot another: [`replace`](Self::replace).
    #[inline]
    pub(super) fn take(&mut self, cookie: u32) -> Option<Buffer> {
        let buffer = self.posted.get_mut(cookie as usize)?.take()?;
        self.producer.retire();
        Some(buffer)
    }

    /// Puts a buffer in the place of the one that was taken, now or later.
    #[inline]
    pub(super) fn replace(&mut self, buffer: Buffer, queue: &Queue) {
        let due = match self.replenish {
            Replenish::AsTaken { doorbell_every } => {
                self.post(buffer);
                if self.producer.unpublished() >= doorbell_every {
                    self.publish(queue);
                }
                return;
            }
            Replenish::Every(count) => self.waiting() + 1 >= count,
            Replenish::AtEnd => false,
            Replenish::OnLowWater => self.producer.lent() < self.low_water,
        };
        self.waiting.push(buffer);
        if due {
            self.refill(queue);
        }
    }

    /// A poll is over.
    pub(super) fn end_poll(&mut self, queue: &Queue) {
        if self.replenish == Replenish::AtEnd {
            self.refill(queue);
        }
    }

    /// The driver goes to sleep: the device gets what was left over, unless it has enough until its next event.
    pub(super) fn settle(&mut self, queue: &Queue) {
        if self.replenish != Replenish::OnLowWater {
            self.refill(queue);
        }
    }

    /// Changes the policy. What waited under the old one is posted.
    pub(super) fn set_replenish(&mut self, replenish: Replenish, queue: &Queue) {
        self.replenish = replenish;
        self.refill(queue);
    }

    /// Posts all that waits and tells the device.
    fn refill(&mut self, queue: &Queue) {
        while let Some(buffer) = self.waiting.pop() {
            self.post(buffer);
        }
        self.publish(queue);
    }

    /// Lends a buffer to the device, which learns of it with the next doorbell.
    #[inline]
    fn post(&mut self, mut buffer: Buffer) {
        let Some(slot) = self.producer.post() else { return };
        buffer.lend();
        let descriptor = RxDescriptor { address: buffer.bus(), length: self.buffer_bytes, cookie: buffer.number() };
        self.ring.write(slot * descriptor::BYTES, descriptor.encode());
        if let Some(place) = self.posted.get_mut(buffer.number() as usize) {
            *place = Some(buffer);
        }
    }

    fn publish(&mut self, queue: &Queue) {
        if let Some(tail) = self.producer.publish() {
            queue.doorbell(tail);
            self.doorbells += 1;
        }
    }
}

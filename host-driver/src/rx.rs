//! Receiving.
//!
//! A poll looks at a batch of completions first, then takes one packet after the other: put a fresh buffer
//! into the ring in the packet's place, publish every so many, prefetch the next packet's header, classify,
//! deliver. When the pool has no fresh buffer the packet is dropped and its own buffer goes back, so the
//! ring never has a hole.
//!
//! Nothing the device writes is trusted: a completion that does not fit stops the queue ([`RxFault`]) with
//! its buffers still lent to the device; closing and opening the device starts anew.

use std::time::Duration;

use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::descriptor::{self, RxDescriptor};
use ferronic_contract::MIN_FRAME;

use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::nic::Config;
use crate::packet::Filter;
pub use crate::packet::{Packet, Path, Sink};
use crate::pool::{Buffer, Pool};
use crate::queue::{Queue, RING_ALIGNMENT};
use crate::ring::{Consumer, Producer};
use crate::statistics::RxStatistics;

/// Completions looked at before the first of them is handled.
const BATCH: usize = 32;

/// A completion that broke the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RxFault {
    /// Not the index that is due.
    #[error("RX completion with index {found}, where {expected} is due")]
    Index {
        /// What the completion says.
        found: u16,
        /// What is due.
        expected: u16,
    },
    /// A cookie of no posted buffer.
    #[error("RX completion {index} with cookie {cookie}, which is no posted buffer")]
    Cookie {
        /// Index of the completion.
        index: u16,
        /// The cookie.
        cookie: u32,
    },
    /// A length that no frame in this buffer can have.
    #[error("RX completion {index} with length {length}, which is not from {min} to {max}", min = MIN_FRAME)]
    Length {
        /// Index of the completion.
        index: u16,
        /// The length.
        length: u16,
        /// Bytes of the buffer.
        max: u16,
    },
}

/// What a [turn](RxQueue::turn) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// No interrupt came within the time-out.
    Idle,
    /// So many packets were handled.
    Polled(usize),
}

/// An RX queue.
pub struct RxQueue {
    pub(crate) queue: Queue,
    descriptors: DmaRegion,
    completions: DmaRegion,
    producer: Producer,
    consumer: Consumer,
    /// Buffers lent to the device, by number, which is the cookie.
    posted: Vec<Option<Buffer>>,
    batch: [RxCompletion; BATCH],
    pool: Pool,
    doorbell_every: u16,
    pub(crate) filter: Filter,
    armed: bool,
    fault: Option<RxFault>,
    statistics: RxStatistics,
}

impl RxQueue {
    /// Sets the queue up; it does not run yet.
    pub(crate) fn new(
        device: &Device,
        pool: Pool,
        config: &Config,
        filter: Filter,
        clock_khz: u32,
    ) -> Result<Self, Error> {
        let ring = config.rx.ring;
        let entries = ring.entries() as usize;
        let descriptors = device.allocate("the RX descriptor ring", entries * descriptor::BYTES, RING_ALIGNMENT)?;
        let completions = device.allocate("the RX completion ring", entries * completion::BYTES, RING_ALIGNMENT)?;
        let queue = Queue::rx(device);
        queue.set_up(&config.rx, descriptors.bus(), completions.bus(), clock_khz)?;
        Ok(Self {
            queue,
            descriptors,
            completions,
            producer: Producer::new(ring),
            consumer: Consumer::new(ring),
            posted: (0..pool.buffers()).map(|_| None).collect(),
            batch: [RxCompletion::default(); BATCH],
            pool,
            doorbell_every: config.doorbell_every,
            filter,
            armed: false,
            fault: None,
            statistics: RxStatistics::default(),
        })
    }

    /// Enables the queue and fills its ring.
    pub(crate) fn start(&mut self) {
        self.queue.enable();
        while self.producer.free() > 0 {
            let Some(buffer) = self.pool.get() else { break };
            self.post(buffer);
        }
        self.publish();
    }

    /// Leaves rings and lent buffers to the device for ever.
    pub(crate) fn abandon(&mut self) {
        self.descriptors.leak();
        self.completions.leak();
        std::mem::forget(std::mem::take(&mut self.posted));
    }

    /// What was counted.
    pub fn statistics(&self) -> RxStatistics {
        self.statistics
    }

    /// Why the queue was given up, if it was.
    pub fn fault(&self) -> Option<RxFault> {
        self.fault
    }

    /// Descriptors in the ring that hold a buffer: the ring's size, at any time between polls.
    pub fn posted(&self) -> u16 {
        self.producer.outstanding()
    }

    /// Handles up to `budget` packets and says how many, dropped ones included. Fewer than `budget` means
    /// that no more were there. Reads no register.
    ///
    /// # Errors
    ///
    /// A completion broke the contract, and nothing was handled; so does every later call.
    pub fn poll<S: Sink + ?Sized>(&mut self, budget: usize, sink: &mut S) -> Result<usize, RxFault> {
        self.statistics.polls += 1;
        let mut handled = 0;
        while self.fault.is_none() && handled < budget {
            let seen = self.look((budget - handled).min(BATCH));
            if seen == 0 {
                break;
            }
            self.prefetch(0);
            for position in 0..seen {
                let Some(buffer) = self.take(position) else { break };
                self.handle(position, seen, buffer, sink);
                handled += 1;
            }
        }
        match self.fault {
            Some(fault) if handled == 0 => Err(fault),
            _ => Ok(handled),
        }
    }

    /// One turn of an interrupt-driven loop: waits when the vector is armed, polls once, and arms the vector
    /// when fewer packets than the budget were there. Call it again and again.
    ///
    /// Arming tells the device how far the driver has looked, so it fires at once for what came since. A
    /// poll that used its budget up leaves the vector unarmed even if the ring is empty by now: the next
    /// turn polls without waiting and finds out.
    ///
    /// # Errors
    ///
    /// The wait failed, the device is gone, the core stopped the queue, or a completion broke the contract.
    pub fn turn<S: Sink + ?Sized>(&mut self, budget: usize, timeout: Duration, sink: &mut S) -> Result<Turn, Error> {
        if self.armed {
            if !self.queue.wait(timeout).map_err(Error::Interrupt)? {
                self.queue.check()?;
                return Ok(Turn::Idle);
            }
            self.armed = false;
            self.statistics.interrupts += 1;
        }
        let handled = self.poll(budget, sink)?;
        if handled == 0 {
            // An interrupt without a packet: low water, or a stopped queue.
            self.queue.check()?;
        }
        if handled < budget && self.fault.is_none() {
            self.publish();
            self.queue.arm(self.consumer.next());
            self.armed = true;
        }
        Ok(Turn::Polled(handled))
    }

    /// Gathers up to `most` completions that are there.
    fn look(&mut self, most: usize) -> usize {
        let mut seen = 0;
        for place in self.batch.iter_mut().take(most) {
            let expected = self.consumer.expect(seen as u16);
            let offset = expected.slot * completion::BYTES;
            let last = self.completions.load_acquire(offset + 4 * completion::PHASE.word);
            if (completion::PHASE.of(last) == 1) != expected.phase {
                break;
            }
            *place = RxCompletion::decode(&self.completions.read(offset));
            seen += 1;
        }
        seen
    }

    /// Asks the cache for the header of a completion of the batch.
    fn prefetch(&self, position: usize) {
        if let Some(Some(buffer)) = self.posted.get(self.batch[position].cookie as usize) {
            buffer.prefetch(0);
        }
    }

    /// Takes a completion of the batch and its buffer; `None`, with the fault noted, when it breaks the contract.
    fn take(&mut self, position: usize) -> Option<Buffer> {
        match self.check(&self.batch[position]) {
            Ok(()) => {
                self.consumer.take();
                self.producer.retire();
                self.posted.get_mut(self.batch[position].cookie as usize).and_then(Option::take)
            }
            Err(fault) => {
                self.statistics.bad_completions += 1;
                self.fault = Some(fault);
                None
            }
        }
    }

    /// Of the descriptors there is always one that the device may have completed: the ring is full between
    /// packets, and fewer than `doorbell_every`, which is at most the ring, are not published.
    fn check(&self, completion: &RxCompletion) -> Result<(), RxFault> {
        let RxCompletion { index, length, cookie, .. } = *completion;
        let expected = self.consumer.next();
        if index != expected {
            return Err(RxFault::Index { found: index, expected });
        }
        let Some(Some(_)) = self.posted.get(cookie as usize) else {
            return Err(RxFault::Cookie { index, cookie });
        };
        let max = self.pool.buffer_bytes();
        if length < MIN_FRAME || length > max {
            return Err(RxFault::Length { index, length, max });
        }
        Ok(())
    }

    /// Refills the ring in the place of the packet at `position`, then delivers the packet.
    fn handle<S: Sink + ?Sized>(&mut self, position: usize, seen: usize, buffer: Buffer, sink: &mut S) {
        let packet = match self.pool.get() {
            Some(fresh) => {
                self.post(fresh);
                Some(buffer)
            }
            None => {
                self.statistics.dropped_no_buffer += 1;
                self.post(buffer);
                None
            }
        };
        if self.producer.unpublished() >= self.doorbell_every {
            self.publish();
        }
        if position + 1 < seen {
            self.prefetch(position + 1);
        }
        if let Some(buffer) = packet {
            self.deliver(position, buffer, sink);
        }
    }

    fn deliver<S: Sink + ?Sized>(&mut self, position: usize, buffer: Buffer, sink: &mut S) {
        let completion = self.batch[position];
        let prefetched_ahead = position > 0;
        // `check` refused frames that are too short to be classified.
        let Some(packet) = Packet::new(buffer, completion, &self.filter, prefetched_ahead) else { return };
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(completion.length);
        self.statistics.prefetched_ahead += u64::from(prefetched_ahead);
        match packet.path {
            Path::Status => self.statistics.status_path += 1,
            Path::Software => self.statistics.software_path += 1,
        }
        sink.deliver(packet);
    }

    /// Lends a buffer to the device, which learns of it with the next doorbell.
    fn post(&mut self, buffer: Buffer) {
        let Some(slot) = self.producer.post() else { return };
        let length = self.pool.buffer_bytes();
        let descriptor = RxDescriptor { address: buffer.bus(), length, cookie: buffer.number() };
        self.descriptors.write(slot * descriptor::BYTES, descriptor.encode());
        if let Some(place) = self.posted.get_mut(buffer.number() as usize) {
            *place = Some(buffer);
        }
    }

    fn publish(&mut self) {
        if let Some(tail) = self.producer.publish() {
            self.queue.doorbell(tail);
            self.statistics.doorbells += 1;
        }
    }
}

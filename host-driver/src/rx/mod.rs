//! Receiving.
//!
//! A poll looks at a batch of completions first, then takes one after the other: put a fresh buffer into the ring in
//! the place of the one that came, publish every so many, prefetch the next header; with the last buffer of a frame,
//! classify and deliver. When the pool has no fresh buffer the frame is dropped and its own buffers go back, so the
//! ring never has a hole.
//!
//! Nothing the device writes is trusted: a completion that does not fit stops the queue ([`RxFault`]) with
//! its buffers still lent to the device; closing and opening the device starts anew.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::{self, RxDescriptor};
use ferronic_contract::status::SOP;

use crate::config::Config;
use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::features::Features;
use crate::packet::{Frame, Origin};
pub use crate::packet::{Packet, Path, Segment, Sink};
use crate::pool::{Buffer, Pool};
use crate::queue::{Queue, QueueName, RING_ALIGNMENT};
use crate::ring::Producer;
use crate::station::Station;
use crate::statistics::RxStatistics;

mod assemble;
mod completions;
mod fault;

use assemble::{Assembler, Limits, Loss};
use completions::Completions;
pub use fault::RxFault;

/// Completions looked at before the first of them is handled.
const BATCH: usize = 32;

/// What a [turn](RxQueue::turn) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// No interrupt came within the time-out.
    Idle,
    /// So many packets were handled.
    Polled(usize),
}

/// What the queues of a device have in common.
pub(crate) struct Shared<'a> {
    pub(crate) device: &'a Device,
    pub(crate) config: &'a Config,
    pub(crate) features: Features,
    pub(crate) station: &'a Arc<Station>,
    pub(crate) clock_khz: u32,
}

/// An RX queue. It has a pool of its own, so what happens to its packets takes nothing from the other queues; with them it
/// shares the device's registers and the epoch of the address filter.
pub struct RxQueue {
    pub(crate) queue: Queue,
    control: u32,
    descriptors: DmaRegion,
    completions: Completions,
    producer: Producer,
    /// Buffers lent to the device, by number, which is the cookie.
    posted: Vec<Option<Buffer>>,
    batch: [RxCompletion; BATCH],
    assembler: Assembler,
    pool: Pool,
    doorbell_every: u16,
    origin: Origin,
    station: Arc<Station>,
    armed: bool,
    fault: Option<RxFault>,
    statistics: RxStatistics,
}

impl RxQueue {
    /// Sets the queue up; it does not run yet.
    pub(crate) fn new(shared: &Shared, number: u8) -> Result<Self, Error> {
        let Shared { device, config, features, station, clock_khz } = *shared;
        let rx = &config.rx[usize::from(number)];
        let pool = Pool::new(Rc::clone(&device.dma), config.buffers, config.buffer_bytes, config.allocation)
            .map_err(|source| Error::Memory { what: "packet buffers", source })?;
        let bytes = rx.queue.ring.entries() as usize * descriptor::BYTES;
        let descriptors = device.allocate("the RX descriptor ring", bytes, RING_ALIGNMENT)?;
        let completions = Completions::new(device, rx)?;
        let queue = Queue::new(device, QueueName::Rx(number));
        queue.set_up(&rx.queue, descriptors.bus(), completions.bus(), clock_khz)?;
        completions.set_index(&queue);
        let limits = Limits {
            segments: rx.most_segments(config.max_frame, config.buffer_bytes),
            buffer: config.buffer_bytes,
            frame: config.max_frame,
        };
        Ok(Self {
            queue,
            control: rx.control(),
            descriptors,
            completions,
            producer: Producer::new(rx.queue.ring),
            posted: (0..pool.numbers()).map(|_| None).collect(),
            batch: [RxCompletion::default(); BATCH],
            assembler: Assembler::new(limits, pool.buffers()),
            pool,
            doorbell_every: config.doorbell_every,
            origin: Origin { queue: number, format: rx.format, features },
            station: Arc::clone(station),
            armed: false,
            fault: None,
            statistics: RxStatistics::default(),
        })
    }

    /// Enables the queue and fills its ring.
    pub(crate) fn start(&mut self) {
        self.queue.enable(self.control);
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

    /// Number of the queue.
    pub fn number(&self) -> u8 {
        self.origin.queue
    }

    /// The pool that the queue takes its buffers from.
    pub fn pool(&self) -> &Pool {
        &self.pool
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
            // No frame has less than a completion, so this many cannot be more than the budget.
            let most = (budget - handled).min(BATCH);
            let seen = match self.completions.look(&mut self.batch[..most], &self.producer) {
                Ok(0) => break,
                Ok(seen) => seen,
                Err(fault) => {
                    self.give_up(fault);
                    break;
                }
            };
            self.prefetch(0);
            for position in 0..seen {
                let Some(buffer) = self.take(position) else { break };
                handled += usize::from(self.handle(position, seen, buffer, sink));
            }
        }
        match self.fault {
            Some(fault) if handled == 0 => Err(fault),
            _ => Ok(handled),
        }
    }

    /// Whether the vector is armed: then a turn without an interrupt would find nothing.
    pub fn is_armed(&self) -> bool {
        self.armed
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
            self.queue.arm(self.completions.next());
            self.armed = true;
        }
        Ok(Turn::Polled(handled))
    }

    /// Asks the cache for the header that a completion of the batch begins with.
    fn prefetch(&self, position: usize) {
        let completion = &self.batch[position];
        if completion.status.get(SOP) == 0 {
            return;
        }
        if let Some(Some(buffer)) = self.posted.get(completion.cookie as usize) {
            buffer.prefetch(0);
        }
    }

    /// Takes a completion of the batch and its buffer; `None`, with the fault noted, when it breaks the contract.
    fn take(&mut self, position: usize) -> Option<Buffer> {
        match self.check(&self.batch[position]) {
            Ok(()) => {
                self.completions.take();
                self.producer.retire();
                self.posted.get_mut(self.batch[position].cookie as usize).and_then(Option::take)
            }
            Err(fault) => {
                self.give_up(fault);
                None
            }
        }
    }

    fn give_up(&mut self, fault: RxFault) {
        self.statistics.bad_completions += 1;
        self.fault = Some(fault);
    }

    /// Of the descriptors there is always one that the device may have completed: the ring is full between
    /// packets, and fewer than `doorbell_every`, which is at most the ring, are not published.
    fn check(&self, completion: &RxCompletion) -> Result<(), RxFault> {
        let RxCompletion { index, cookie, .. } = *completion;
        let expected = self.completions.next();
        if index != expected {
            return Err(RxFault::Index { found: index, expected });
        }
        let Some(Some(_)) = self.posted.get(cookie as usize) else {
            return Err(RxFault::Cookie { index, cookie });
        };
        self.assembler.check(completion)
    }

    /// Refills the ring in the place of the completion at `position`, then takes its buffer in; true when that ends a
    /// frame, which is delivered or dropped.
    fn handle<S: Sink + ?Sized>(&mut self, position: usize, seen: usize, mut buffer: Buffer, sink: &mut S) -> bool {
        let completion = self.batch[position];
        let fresh = if self.assembler.wants(&completion) { self.pool.get() } else { None };
        let kept = match fresh {
            Some(fresh) => {
                self.post(fresh);
                buffer.received(completion.length);
                Ok(Segment { buffer, length: completion.length })
            }
            None => {
                self.post(buffer);
                Err(assemble::loss(&completion))
            }
        };
        if self.producer.unpublished() >= self.doorbell_every {
            self.publish();
        }
        if position + 1 < seen {
            self.prefetch(position + 1);
        }
        let ended = self.assembler.add(completion, kept, position > 0);
        match ended {
            None => return false,
            Some(Ok(frame)) => self.deliver(frame, sink),
            Some(Err(Loss::NoBuffer)) => self.statistics.dropped_no_buffer += 1,
            Some(Err(Loss::Cut)) => self.statistics.dropped_cut += 1,
        }
        true
    }

    fn deliver<S: Sink + ?Sized>(&mut self, frame: Frame, sink: &mut S) {
        // The checks refused frames that are too short to be classified.
        let Some(packet) = Packet::new(frame, self.origin, &self.station) else { return };
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(packet.length());
        self.statistics.scattered += u64::from(packet.is_scattered());
        self.statistics.split += u64::from(packet.split_header().is_some());
        self.statistics.prefetched_ahead += u64::from(packet.prefetched_ahead);
        match packet.path {
            Path::Status => self.statistics.status_path += 1,
            Path::Software => self.statistics.software_path += 1,
        }
        sink.deliver(packet);
    }

    /// Lends a buffer to the device, which learns of it with the next doorbell.
    fn post(&mut self, mut buffer: Buffer) {
        let Some(slot) = self.producer.post() else { return };
        buffer.lend();
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

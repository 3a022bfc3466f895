//! Sending.
//!
//! A frame is one buffer; the ring keeps it until the core's written-back index has passed it, then the
//! buffer goes home to its pool. Descriptors become the device's with [`TxQueue::flush`], one doorbell for
//! as many frames as were sent since. The data path reads memory, never a register.

use std::time::Duration;

use ferronic_contract::descriptor::{self, TxDescriptor, FLAG_EOP};
use ferronic_contract::registers::queue;
use ferronic_contract::MIN_FRAME;

use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::pool::Buffer;
use crate::queue::{Queue, QueueConfig, QueueName, RING_ALIGNMENT};
use crate::ring::Producer;
use crate::statistics::TxStatistics;

/// The index write-back is one word; a cache line of its own keeps it apart.
const WRITE_BACK_BYTES: usize = 64;

/// A frame that was not taken; the buffer is the caller's again.
#[derive(Debug, thiserror::Error)]
#[error("frame not sent: {why}")]
pub struct Refused {
    /// The buffer.
    pub buffer: Buffer,
    /// Why.
    pub why: Why,
}

/// Why a frame was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// No descriptor is free; try again after [`TxQueue::wait`] or later.
    #[error("the TX ring is full")]
    RingFull,
    /// Too short or too long.
    #[error("length {length} is not from {min} to {max}", min = MIN_FRAME)]
    Length {
        /// The length given.
        length: u16,
        /// Longest frame that the core was set to.
        max: u16,
    },
    /// The frame is not wholly in the buffer.
    #[error("bytes {offset} to {offset} + {length} are not in a buffer of {capacity}")]
    Range {
        /// The offset given.
        offset: u16,
        /// The length given.
        length: u16,
        /// Bytes of the buffer.
        capacity: u32,
    },
    /// The queue was given up.
    #[error(transparent)]
    Fault(TxFault),
}

/// An index write-back that broke the contract. The queue is given up with its buffers still lent to the
/// device; closing and opening the device starts anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TX index write-back of {word:#x}, which is not from {from} to {to}")]
pub struct TxFault {
    /// What the core wrote.
    pub word: u32,
    /// The least it could write.
    pub from: u16,
    /// The most it could write.
    pub to: u16,
}

/// A TX queue.
pub struct TxQueue {
    pub(crate) queue: Queue,
    descriptors: DmaRegion,
    write_back: DmaRegion,
    producer: Producer,
    /// Buffers lent to the device, by slot.
    in_flight: Vec<Option<Buffer>>,
    max_frame: u16,
    fault: Option<TxFault>,
    statistics: TxStatistics,
}

impl TxQueue {
    pub(crate) fn new(device: &Device, config: &QueueConfig, max_frame: u16, clock_khz: u32) -> Result<Self, Error> {
        let entries = config.ring.entries() as usize;
        let descriptors = device.allocate("the TX descriptor ring", entries * descriptor::BYTES, RING_ALIGNMENT)?;
        let write_back = device.allocate("the TX index write-back", WRITE_BACK_BYTES, WRITE_BACK_BYTES)?;
        let queue = Queue::new(device, QueueName::Tx(0));
        queue.set_up(config, descriptors.bus(), write_back.bus(), clock_khz)?;
        Ok(Self {
            queue,
            descriptors,
            write_back,
            producer: Producer::new(config.ring),
            in_flight: (0..entries).map(|_| None).collect(),
            max_frame,
            fault: None,
            statistics: TxStatistics::default(),
        })
    }

    /// Runs the queue.
    pub(crate) fn start(&self) {
        self.queue.enable(queue::ENABLE.at(1));
    }

    /// Leaves rings and lent buffers to the device for ever.
    pub(crate) fn abandon(&mut self) {
        self.descriptors.leak();
        self.write_back.leak();
        std::mem::forget(std::mem::take(&mut self.in_flight));
    }

    /// What was counted.
    pub fn statistics(&self) -> TxStatistics {
        self.statistics
    }

    /// Frames given to the ring whose buffers are not back yet.
    pub fn outstanding(&self) -> u16 {
        self.producer.outstanding()
    }

    /// Queues the `length` bytes at `offset` of the buffer as a frame without FCS; the core pads it to 60.
    /// It goes out with the next [`flush`](Self::flush), or when the ring is full.
    ///
    /// # Errors
    ///
    /// The frame was refused and the buffer comes back.
    pub fn send(&mut self, buffer: Buffer, offset: u16, length: u16) -> Result<(), Refused> {
        let slot = match self.place(&buffer, offset, length) {
            Ok(slot) => slot,
            Err(why) => return Err(Refused { buffer, why }),
        };
        let descriptor = TxDescriptor { address: buffer.bus() + u64::from(offset), length, flags: FLAG_EOP };
        self.descriptors.write(slot * descriptor::BYTES, descriptor.encode());
        self.in_flight[slot] = Some(buffer);
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(length);
        Ok(())
    }

    /// The slot for a frame.
    fn place(&mut self, buffer: &Buffer, offset: u16, length: u16) -> Result<usize, Why> {
        if length < MIN_FRAME || length > self.max_frame {
            return Err(Why::Length { length, max: self.max_frame });
        }
        let capacity = buffer.bytes().len() as u32;
        if u32::from(offset) + u32::from(length) > capacity {
            return Err(Why::Range { offset, length, capacity });
        }
        if self.producer.free() == 0 {
            // The device cannot make room by frames that it does not know of.
            self.flush();
            self.reclaim().map_err(Why::Fault)?;
        }
        self.producer.post().ok_or_else(|| {
            self.statistics.ring_full += 1;
            Why::RingFull
        })
    }

    /// Tells the device of the frames queued since the last doorbell.
    pub fn flush(&mut self) {
        if let Some(tail) = self.producer.publish() {
            self.queue.doorbell(tail);
            self.statistics.doorbells += 1;
        }
    }

    /// Gives the buffers of frames that the core is done with back to their pools, and says how many.
    ///
    /// # Errors
    ///
    /// The index written back broke the contract; nothing is given back, now and later.
    pub fn reclaim(&mut self) -> Result<usize, TxFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let word = self.write_back.load_acquire(0);
        let index = word as u16;
        if word != u32::from(index) || !self.producer.plausible(index) {
            let fault = TxFault { word, from: self.producer.done(), to: self.producer.published() };
            self.statistics.bad_indices += 1;
            self.fault = Some(fault);
            return Err(fault);
        }
        let mut count = 0;
        while self.producer.done() != index {
            let Some(slot) = self.producer.retire() else { break };
            self.in_flight[slot] = None;
            count += 1;
        }
        self.statistics.reclaimed += count as u64;
        Ok(count)
    }

    /// Waits, at most for `timeout`, until frames are done, and says how many were reclaimed; it may be 0.
    ///
    /// # Errors
    ///
    /// The wait failed, the device is gone, the core stopped the queue, or the index broke the contract.
    pub fn wait(&mut self, timeout: Duration) -> Result<usize, Error> {
        self.flush();
        let count = self.reclaim()?;
        if count > 0 {
            return Ok(count);
        }
        // Fires at once if frames were done since `reclaim` looked.
        self.queue.arm(self.producer.done());
        self.queue.wait(timeout).map_err(Error::Interrupt)?;
        let count = self.reclaim()?;
        if count == 0 {
            self.queue.check()?;
        }
        Ok(count)
    }
}

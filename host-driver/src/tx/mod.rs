//! Sending.
//!
//! A frame is one buffer; the ring keeps it until the core's written-back index has passed it, then the
//! buffer goes home to its pool. Descriptors become the device's with [`TxQueue::flush`], one doorbell for
//! as many frames as were sent since. The data path reads memory, never a register.
//!
//! When buffers come back, what a full ring means, and who is told when, is the queue's [`TxPolicy`].

use std::time::Duration;

use ferronic_contract::descriptor::{self, TxDescriptor, FLAG_EOP};
use ferronic_contract::registers::queue;
use ferronic_contract::thresholds::OutOfRange;
use ferronic_contract::MIN_FRAME;

use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::policy::tx::{Doorbell, Full, Reclaim, TxPolicy};
use crate::pool::Buffer;
use crate::queue::{Queue, QueueConfig, QueueName, MAX_CYCLES, RING_ALIGNMENT};
use crate::ring::Producer;
use crate::statistics::TxStatistics;

mod refused;

pub use refused::{Refused, TxFault, Why};

/// The index write-back is one word; a cache line of its own keeps it apart.
const WRITE_BACK_BYTES: usize = 64;

/// A TX queue.
pub struct TxQueue {
    pub(crate) queue: Queue,
    descriptors: DmaRegion,
    write_back: DmaRegion,
    producer: Producer,
    /// Buffers lent to the device, by slot.
    in_flight: Vec<Option<Buffer>>,
    max_frame: u16,
    policy: TxPolicy,
    /// The ring was full, and not enough of it is free again.
    stopped: bool,
    /// FRAMES and CYCLES as configured.
    usual: (u32, u32),
    /// FRAMES and CYCLES as the vector has them.
    moderation: (u32, u32),
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
        let moderation = config.moderation.registers(clock_khz)?;
        Ok(Self {
            queue,
            descriptors,
            write_back,
            producer: Producer::new(config.ring),
            in_flight: (0..entries).map(|_| None).collect(),
            max_frame,
            policy: TxPolicy::default(),
            stopped: false,
            usual: moderation,
            moderation,
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

    /// How the queue sends.
    pub fn policy(&self) -> TxPolicy {
        self.policy
    }

    /// Changes how the queue sends, from the next call on. With [`Doorbell::EveryPacket`] the device is told at once of the
    /// frames that waited for a flush.
    ///
    /// # Errors
    ///
    /// A number that does not go with the ring; the policy stays as it was.
    pub fn set_policy(&mut self, policy: TxPolicy) -> Result<(), OutOfRange> {
        policy.check(self.producer.size())?;
        self.policy = policy;
        self.wake();
        if policy.doorbell == Doorbell::EveryPacket {
            // Nobody has to flush any more, so nobody may.
            self.flush();
        }
        Ok(())
    }

    /// Frames given to the ring whose buffers are not back yet.
    pub fn outstanding(&self) -> u16 {
        self.producer.outstanding()
    }

    /// Whether the ring was full, and is not free enough yet to go on: see [`Full::Stop`].
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Queues the `length` bytes at `offset` of the buffer as a frame without FCS; the core pads it to 60.
    /// With [`Doorbell::Batch`] it goes out with the next [`flush`](Self::flush), or when the ring is full.
    ///
    /// # Errors
    ///
    /// The frame was refused and the buffer comes back. With [`Full::Drop`], a full ring is no error: the frame is dropped.
    #[inline]
    pub fn send(&mut self, buffer: Buffer, offset: u16, length: u16) -> Result<(), Refused> {
        let slot = match self.check(&buffer, offset, length).and_then(|()| self.place()) {
            Ok(Some(slot)) => slot,
            Ok(None) => {
                self.statistics.dropped_ring_full += 1;
                return Ok(());
            }
            Err(why) => return Err(Refused { buffer, why }),
        };
        let descriptor = TxDescriptor { address: buffer.bus() + u64::from(offset), length, flags: FLAG_EOP };
        self.descriptors.write(slot * descriptor::BYTES, descriptor.encode());
        self.in_flight[slot] = Some(buffer);
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(length);
        let full = self.producer.free() == 0;
        if full || self.policy.doorbell == Doorbell::EveryPacket {
            // The device cannot make room by frames that it does not know of.
            self.flush();
        }
        if full && self.policy.full != Full::Drop {
            self.stopped = true;
            self.statistics.stops += 1;
        }
        Ok(())
    }

    /// Refuses what can never be sent.
    fn check(&self, buffer: &Buffer, offset: u16, length: u16) -> Result<(), Why> {
        if let Some(fault) = self.fault {
            return Err(Why::Fault(fault));
        }
        if length < MIN_FRAME || length > self.max_frame {
            return Err(Why::Length { length, max: self.max_frame });
        }
        let capacity = buffer.bytes().len() as u32;
        if u32::from(offset) + u32::from(length) > capacity {
            return Err(Why::Range { offset, length, capacity });
        }
        Ok(())
    }

    /// The slot for a frame; `None` when it is to be dropped.
    fn place(&mut self) -> Result<Option<usize>, Why> {
        let due = self.policy.reclaim == Reclaim::HalfUsed;
        if due || self.stopped || self.producer.free() == 0 {
            self.reclaim().map_err(Why::Fault)?;
        }
        let slot = if self.stopped { None } else { self.producer.post() };
        if slot.is_none() && self.policy.full != Full::Drop {
            self.statistics.ring_full += 1;
            return Err(Why::RingFull);
        }
        Ok(slot)
    }

    /// Tells the device of the frames queued since the last doorbell; nothing when it knows them all.
    #[inline]
    pub fn flush(&mut self) {
        if let Some(tail) = self.producer.publish() {
            self.queue.doorbell(tail);
            self.statistics.doorbells += 1;
        }
    }

    /// Gives buffers of frames that the core is done with back to their pools, as many as the policy says, and says how
    /// many.
    ///
    /// # Errors
    ///
    /// The index written back broke the contract; nothing is given back, now and later.
    #[inline]
    pub fn reclaim(&mut self) -> Result<usize, TxFault> {
        self.reclaim_some(if self.stopped { self.waited_for() } else { self.due() })
    }

    /// Gives the buffers of all frames that the core is done with back to their pools, whatever the policy, and says how
    /// many.
    ///
    /// # Errors
    ///
    /// As for [`reclaim`](Self::reclaim).
    pub fn reclaim_all(&mut self) -> Result<usize, TxFault> {
        self.reclaim_some(u16::MAX)
    }

    /// Frames that a call takes back at most.
    fn due(&self) -> u16 {
        self.policy.reclaim.most(self.producer.outstanding(), self.producer.size().entries())
    }

    /// The same when somebody waits for room: then it is always time to look.
    fn waited_for(&self) -> u16 {
        let entries = self.producer.size().entries();
        self.policy.reclaim.most(entries as u16, entries)
    }

    fn reclaim_some(&mut self, most: u16) -> Result<usize, TxFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if most == 0 {
            return Ok(0);
        }
        self.statistics.reclaims += 1;
        let word = self.write_back.load_acquire(0);
        let index = word as u16;
        if word != u32::from(index) || !self.producer.plausible(index) {
            let fault = TxFault { word, from: self.producer.done(), to: self.producer.published() };
            self.statistics.bad_indices += 1;
            self.fault = Some(fault);
            return Err(fault);
        }
        let mut count = 0;
        while count < most && self.producer.done() != index {
            let Some(slot) = self.producer.retire() else { break };
            self.in_flight[slot] = None;
            count += 1;
        }
        self.statistics.reclaimed += u64::from(count);
        self.wake();
        Ok(count.into())
    }

    /// Lets a stopped queue go on if there is room enough.
    fn wake(&mut self) {
        let enough = match self.policy.full {
            Full::Stop { wake } => self.producer.free() >= wake,
            Full::Drop => true,
        };
        if self.stopped && enough {
            self.stopped = false;
            self.statistics.wakes += 1;
        }
    }

    /// Waits, at most for `timeout`, until frames are done as the policy's [`Notify`](crate::policy::tx::Notify) says, and
    /// says how many were reclaimed; it may be 0. When frames are done already, or none are under way, it does not wait.
    ///
    /// # Errors
    ///
    /// The wait failed, the device is gone, the core stopped the queue, or the index broke the contract.
    pub fn wait(&mut self, timeout: Duration) -> Result<usize, Error> {
        self.flush();
        let count = self.reclaim_some(self.waited_for())?;
        if count > 0 || self.producer.outstanding() == 0 {
            return Ok(count);
        }
        self.arm();
        let fired = self.queue.wait(timeout).map_err(Error::Interrupt)?;
        self.statistics.interrupts += u64::from(fired);
        self.statistics.timeouts += u64::from(!fired);
        let count = self.reclaim_some(self.waited_for())?;
        if count == 0 {
            self.queue.check()?;
        }
        Ok(count)
    }

    /// Arms the vector. It fires at once if frames were done since the last look.
    fn arm(&mut self) {
        let needed = match self.policy.full {
            Full::Stop { wake } if self.stopped => Some(wake.saturating_sub(self.producer.free())),
            _ => None,
        };
        let moderation = match self.policy.notify.events(self.producer.outstanding(), needed) {
            None => self.usual,
            // The next frame is one event, and not to be waited for longer.
            Some(1) => (1, 0),
            Some(events) => (events.into(), MAX_CYCLES as u32),
        };
        if moderation != self.moderation {
            self.moderation = moderation;
            self.queue.set_moderation(moderation);
        }
        self.queue.arm(self.producer.done());
    }
}

impl Drop for TxQueue {
    /// As for an RX queue: one that still runs is stopped before its memory goes, or the memory stays for ever.
    fn drop(&mut self) {
        if self.queue.stop_running().is_err() {
            self.abandon();
        }
    }
}

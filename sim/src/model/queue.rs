//! A queue, RX or TX: its registers, its descriptors, and why it stopped.

use std::collections::VecDeque;

use ferronic_contract::cause::Cause;
use ferronic_contract::descriptor;
use ferronic_contract::registers::{queue, Register};
use ferronic_contract::ring::{distance, RingSize};
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Memory;

use super::bank::Bank;

/// Bits of a ring's address that count: rings start at 4 KiB.
const RING_ADDRESS: u64 = !0xFFF;

/// The words of a descriptor.
pub(super) type Words = [u32; descriptor::BYTES / 4];

/// What asking for a descriptor gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetched {
    /// A descriptor. It stays where it is until [`Queue::finish`].
    Descriptor(Words),
    /// None is posted.
    Empty,
    /// The queue is disabled or stopped.
    Off,
    /// The ring could not be read, which stopped the queue just now.
    Failed,
}

/// A queue.
pub(super) struct Queue {
    pub(super) bank: Bank,
    /// Size of the ring while the queue is enabled.
    running: Option<RingSize>,
    cause: Cause,
    /// Behind the last descriptor posted.
    tail: u16,
    /// First descriptor that is not done.
    done: u16,
    /// The descriptors from `done` on that were read.
    held: VecDeque<Words>,
    /// Descriptors that must be left before a low-water event can come: LOW_WATER at first, LOW_WATER + BATCH after one.
    /// `None` once they were.
    wanted: Option<u32>,
}

impl Default for Queue {
    fn default() -> Self {
        let after_reset = [(queue::SIZE, 3), (queue::THRESHOLDS, Thresholds::default().register())];
        let bank = Bank::new(&queue::REGISTERS, &after_reset);
        Self { bank, running: None, cause: Cause::None, tail: 0, done: 0, held: VecDeque::new(), wanted: None }
    }
}

impl Queue {
    pub(super) fn read(&self, offset: u32) -> u32 {
        let is = |register: Register| register.offset == offset;
        if is(queue::STATUS) {
            let stopped = self.cause != Cause::None;
            queue::IDLE.at(u32::from(stopped || self.running.is_none()))
                | queue::STOPPED.at(u32::from(stopped))
                | queue::CAUSE.at(self.cause as u32)
        } else if is(queue::HEAD) {
            u32::from(self.done.wrapping_add(self.held.len() as u16))
        } else if is(queue::DONE) {
            u32::from(self.done)
        } else {
            self.bank.read(offset)
        }
    }

    /// Software writes a register. True when that stopped the queue.
    pub(super) fn write(&mut self, offset: u32, value: u32) -> bool {
        self.bank.write(offset, value);
        if offset == queue::CONTROL.offset {
            self.enable(queue::ENABLE.of(value) == 1);
        } else if offset == queue::TAIL.offset {
            return self.doorbell(value as u16);
        }
        false
    }

    fn enable(&mut self, enable: bool) {
        if !enable {
            self.running = None;
            self.cause = Cause::None;
            self.held.clear();
        } else if self.running.is_none() {
            // A size outside of the contract is no ring, and the queue stays as it is.
            self.running = 1u32.checked_shl(self.bank.get(queue::SIZE)).and_then(RingSize::new);
            (self.tail, self.done) = (0, 0);
            // An empty ring that was never filled is nothing to warn of.
            self.wanted = Some(self.bank.get(queue::LOW_WATER));
        }
    }

    fn doorbell(&mut self, tail: u16) -> bool {
        let Some(size) = self.running.filter(|_| self.cause == Cause::None) else { return false };
        if u32::from(distance(self.done, tail)) > size.entries() {
            self.stop(Cause::BadDoorbell);
            return true;
        }
        self.tail = tail;
        self.wanted = self.wanted.filter(|wanted| self.left() < *wanted);
        false
    }

    /// An error: nothing more is fetched until the queue is disabled.
    pub(super) fn stop(&mut self, cause: Cause) {
        self.cause = cause;
    }

    /// The size of the ring, while the queue runs.
    pub(super) fn running(&self) -> Option<RingSize> {
        self.running.filter(|_| self.cause == Cause::None)
    }

    /// Index of the next completion.
    pub(super) fn done(&self) -> u16 {
        self.done
    }

    /// Descriptor number `ahead` of those that are not done, counted from 0; it is read behind all before it. A ring that
    /// cannot be read stops the queue.
    pub(super) fn fetch(&mut self, memory: &mut dyn Memory, ahead: usize) -> Fetched {
        let Some(size) = self.running() else { return Fetched::Off };
        if let Some(words) = self.held.get(ahead) {
            return Fetched::Descriptor(*words);
        }
        let index = self.done.wrapping_add(ahead as u16);
        if ahead as u32 >= self.left() {
            return Fetched::Empty;
        }
        let ring = self.bank.address(queue::RING_LOW, queue::RING_HIGH) & RING_ADDRESS;
        let mut bytes = [0; descriptor::BYTES];
        self.bank.count(queue::READS);
        if memory.read(ring + (size.slot(index) * descriptor::BYTES) as u64, &mut bytes).is_err() {
            self.stop(Cause::UnsupportedRequest);
            return Fetched::Failed;
        }
        self.bank.count(queue::DESCRIPTORS);
        let (words, _) = bytes.as_chunks::<4>();
        let words = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
        self.held.push_back(words);
        Fetched::Descriptor(words)
    }

    /// Done with the first of the descriptors. True when that left fewer than LOW_WATER.
    pub(super) fn finish(&mut self) -> bool {
        self.held.pop_front();
        self.done = self.done.wrapping_add(1);
        let low_water = self.bank.get(queue::LOW_WATER);
        let event = self.wanted.is_none() && self.left() < low_water;
        if event {
            self.wanted = Some(low_water + queue::BATCH.of(self.bank.get(queue::THRESHOLDS)));
            self.bank.count(queue::LOW_WATER_EVENTS);
        }
        event
    }

    /// Descriptors posted and not done.
    pub(super) fn left(&self) -> u32 {
        distance(self.done, self.tail).into()
    }
}

//! The completion ring: finding out what is there, and reading it in the queue's format.
//!
//! **By phase:** the word that has the phase bit is read first, then, behind a barrier, the rest. **By index:** one word
//! says how far the core has written; it is read again only when all before it has been taken, and nothing behind it
//! is looked at.

use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::registers::queue::Format;
use ferronic_contract::ring::distance;
use ferronic_contract::status::COMPACT_PHASE;

use super::fault::RxFault;
use crate::config::{Discovery, RxConfig};
use crate::device::Device;
use crate::dma::DmaRegion;
use crate::error::Error;
use crate::queue::{Queue, RING_ALIGNMENT};
use crate::ring::{Consumer, Expected, Producer};

/// The producer index is one word; a cache line of its own keeps it apart.
const INDEX_BYTES: usize = 64;

/// The driver's side of an RX completion ring.
pub(super) struct Completions {
    ring: DmaRegion,
    format: Format,
    consumer: Consumer,
    index: Option<ProducerIndex>,
}

struct ProducerIndex {
    word: DmaRegion,
    /// What it said last.
    seen: u16,
}

impl Completions {
    pub(super) fn new(device: &Device, config: &RxConfig) -> Result<Self, Error> {
        let bytes = config.queue.ring.entries() as usize * config.format.bytes();
        let ring = device.allocate("the RX completion ring", bytes, RING_ALIGNMENT)?;
        let index = match config.discovery {
            Discovery::Phase => None,
            Discovery::Index => {
                let word = device.allocate("the RX producer index", INDEX_BYTES, INDEX_BYTES)?;
                Some(ProducerIndex { word, seen: 0 })
            }
        };
        Ok(Self { ring, format: config.format, consumer: Consumer::new(config.queue.ring), index })
    }

    /// Bus address of the ring.
    pub(super) fn bus(&self) -> u64 {
        self.ring.bus()
    }

    /// Tells the queue where the producer index goes, if it is wanted.
    pub(super) fn set_index(&self, queue: &Queue) {
        if let Some(index) = &self.index {
            queue.set_index(index.word.bus());
        }
    }

    pub(super) fn leak(&self) {
        self.ring.leak();
        if let Some(index) = &self.index {
            index.word.leak();
        }
    }

    /// Index of the next completion: all before it have been taken.
    pub(super) fn next(&self) -> u16 {
        self.consumer.next()
    }

    /// Takes the next completion.
    pub(super) fn take(&mut self) {
        self.consumer.take();
    }

    /// Gathers completions that are there, as many as `batch` has room for, and says how many. `producer` is the
    /// descriptor ring, of which the core can have used no more than was published.
    pub(super) fn look(&mut self, batch: &mut [RxCompletion], producer: &Producer) -> Result<usize, RxFault> {
        let most = self.written(producer)?.map_or(batch.len(), |written| batch.len().min(usize::from(written)));
        let mut seen = 0;
        for place in &mut batch[..most] {
            let expected = self.consumer.expect(seen as u16);
            match self.read(expected) {
                Some(completion) => *place = completion,
                None if self.index.is_some() && seen == 0 => return Err(RxFault::Phase { index: expected.index }),
                None => break,
            }
            seen += 1;
        }
        Ok(seen)
    }

    /// Completions that the producer index says are there; `None` without one.
    fn written(&mut self, producer: &Producer) -> Result<Option<u16>, RxFault> {
        let Some(index) = &mut self.index else { return Ok(None) };
        let next = self.consumer.next();
        if index.seen == next {
            let word = index.word.load_acquire(0);
            let seen = word as u16;
            if word != u32::from(seen) || !producer.plausible(seen) {
                return Err(RxFault::ProducerIndex { word, from: next, to: producer.published() });
            }
            index.seen = seen;
        }
        Ok(Some(distance(next, index.seen)))
    }

    /// A completion; `None` when its phase is not the one due. A compact one has no index of its own and gets that of
    /// its place.
    fn read(&self, expected: Expected) -> Option<RxCompletion> {
        let offset = expected.slot * self.format.bytes();
        let (word, phase) = match self.format {
            Format::Full => (completion::PHASE.word, completion::PHASE),
            Format::CompactHash | Format::CompactTag => (completion::COMPACT_STATUS.word, COMPACT_PHASE),
        };
        let last = self.ring.load_acquire(offset + 4 * word);
        if (phase.of(last) == 1) != expected.phase {
            return None;
        }
        Some(match self.format {
            Format::Full => RxCompletion::decode(&self.ring.read(offset)),
            format => RxCompletion {
                index: expected.index,
                ..RxCompletion::decode_compact(&self.ring.read(offset), format)
            },
        })
    }
}

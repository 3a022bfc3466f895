//! A page pool: buffers whose memory stays mapped, allocated many to a region.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use super::buffer::OwnedSlot;
use super::statistics::{add, sub};
use super::PAGE;
use crate::device::Dma;
use crate::dma::LINE;

/// Bytes of a region at most: a huge page, so that a large pool costs few entries of an IOMMU's TLB.
const MOST_REGION: usize = 2 << 20;
/// Bytes of a region at least.
const LEAST_REGION: usize = 64 << 10;
/// Regions that a pool is cut into, if their size allows: what shrinking gives back is whole regions.
const REGIONS: usize = 16;

pub(super) struct Pages {
    dma: Rc<dyn Dma>,
    buffer_bytes: u16,
    stride: usize,
    buffers: u32,
    /// Buffers of a region; the last one may have fewer. A buffer's number divided by this is its region.
    per_region: u32,
    /// Buffers without memory, by region.
    absent: BTreeMap<u32, Vec<OwnedSlot>>,
}

impl Pages {
    /// All buffers, without memory yet.
    pub(super) fn new(dma: Rc<dyn Dma>, buffer_bytes: u16, slots: Vec<OwnedSlot>) -> Self {
        // Buffers start at cache lines.
        let stride = usize::from(buffer_bytes).next_multiple_of(LINE).max(LINE);
        let region = (slots.len() * stride / REGIONS).clamp(LEAST_REGION, MOST_REGION);
        let per_region = (region / stride) as u32;
        let buffers = slots.len() as u32;
        let mut absent = BTreeMap::<u32, Vec<_>>::new();
        for slot in slots {
            absent.entry(slot.number / per_region).or_default().push(slot);
        }
        Self { dma, buffer_bytes, stride, buffers, per_region, absent }
    }

    /// Bytes of memory that a buffer takes.
    pub(super) fn unit(&self) -> u64 {
        self.stride as u64
    }

    /// Allocates regions until `missing` buffers more are ready, and counts the memory.
    pub(super) fn grow(&mut self, missing: u32, ready: &mut Vec<OwnedSlot>, memory: &Cell<u64>) -> io::Result<()> {
        let before = ready.len();
        let enough = before + missing as usize;
        while ready.len() < enough {
            let Some(entry) = self.absent.first_entry() else { break };
            let bytes = entry.get().len() * self.stride;
            let region = self.dma.allocate(bytes, PAGE)?;
            add(memory, bytes as u64);
            let pieces = region.split(u32::from(self.buffer_bytes), self.stride);
            ready.extend(entry.remove().into_iter().zip(pieces).map(|(mut slot, piece)| {
                slot.piece = piece;
                slot
            }));
        }
        // The buffer with the lowest number is the first to be taken.
        ready[before..].reverse();
        Ok(())
    }

    /// Gives regions back of which all buffers are ready, `surplus` buffers at most, and counts the memory.
    pub(super) fn shrink(&mut self, mut surplus: u32, ready: &mut Vec<OwnedSlot>, memory: &Cell<u64>) {
        let mut idle = BTreeMap::<u32, u32>::new();
        for slot in ready.iter() {
            *idle.entry(slot.number / self.per_region).or_default() += 1;
        }
        idle.retain(|&region, &mut count| {
            let whole = self.per_region.min(self.buffers - region * self.per_region);
            let goes = count == whole && count <= surplus;
            surplus -= if goes { count } else { 0 };
            goes
        });
        let before = ready.len();
        for mut slot in ready.extract_if(.., |slot| idle.contains_key(&(slot.number / self.per_region))) {
            slot.piece = Default::default();
            self.absent.entry(slot.number / self.per_region).or_default().push(slot);
        }
        self.absent.values_mut().for_each(|slots| slots.sort_unstable_by_key(|slot| slot.number));
        sub(memory, ((before - ready.len()) * self.stride) as u64);
    }
}

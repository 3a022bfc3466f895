//! Host memory that the device can reach: only mapped regions exist.
//!
//! A region is allocated by the driver through [`HostMemory::allocate`] and disappears from the bus when the
//! driver drops it. A DMA access outside every region is refused with a reason; the root complex answers it
//! with Unsupported Request and records it. The one module of this crate with `unsafe` in it.

#![allow(unsafe_code)]

use ferronic::dma::DmaRegion;
use ferronic_pcie::{Fault, Memory};
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::cell::RefCell;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;

/// Regions below 4 GiB start here: above the BAR window of no interest to DMA, and not at 0, so that a null
/// address is a fault.
const LOW_START: u64 = 0x0010_0000;
/// Regions above 4 GiB start here.
const HIGH_START: u64 = 0x12_3456_0000_0000;
/// What lies between two regions, so that running off the end of one is a fault.
const GUARD: u64 = 0x1_0000;
/// Bus addresses and host addresses agree modulo a page.
const PAGE: usize = 4096;

struct Mapping {
    bus: u64,
    bytes: u64,
    pointer: NonNull<u8>,
}

struct Map {
    /// Sorted by bus address.
    mappings: Vec<Mapping>,
    next_low: u64,
    next_high: u64,
    high: bool,
}

/// The memory of the simulated host. Clones are handles to the same memory.
#[derive(Clone)]
pub struct HostMemory(Rc<RefCell<Map>>);

/// Keeps a region's memory and its place on the bus.
struct Owner {
    map: HostMemory,
    bus: u64,
    pointer: NonNull<u8>,
    layout: Layout,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.map.0.borrow_mut().mappings.retain(|mapping| mapping.bus != self.bus);
        // SAFETY: `pointer` came from `alloc_zeroed` with this layout, and this is its only owner; the mapping through
        // which the device reached it is gone.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

impl Default for HostMemory {
    fn default() -> Self {
        let map = Map { mappings: Vec::new(), next_low: LOW_START, next_high: HIGH_START, high: false };
        Self(Rc::new(RefCell::new(map)))
    }
}

impl HostMemory {
    /// A zeroed region. Regions lie in turn below and above 4 GiB, so that both kinds of TLP header are used.
    ///
    /// # Errors
    ///
    /// An alignment that is no power of two, or no bytes.
    pub fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion> {
        let layout = Layout::from_size_align(bytes, alignment.max(PAGE))
            .ok()
            .filter(|layout| layout.size() > 0)
            .ok_or_else(|| io::Error::other(format!("cannot allocate {bytes} bytes aligned to {alignment}")))?;
        // SAFETY: the layout has a size above 0.
        let raw = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(raw) else { handle_alloc_error(layout) };
        let bus = self.0.borrow_mut().place(pointer, layout);
        let owner = Owner { map: self.clone(), bus, pointer, layout };
        // SAFETY: `pointer` is valid for `bytes` zeroed bytes until `owner` is dropped, which first takes the mapping
        // out of the device's reach. Nothing else has the pointer but the mapping, through which only the
        // simulated device goes, in this same thread and never during a call into the driver.
        Ok(unsafe { DmaRegion::new(bus, pointer, bytes, Rc::new(owner)) })
    }
}

impl Map {
    fn place(&mut self, pointer: NonNull<u8>, layout: Layout) -> u64 {
        let next = if self.high { &mut self.next_high } else { &mut self.next_low };
        self.high = !self.high;
        let bus = next.next_multiple_of(layout.align() as u64);
        *next = bus + layout.size() as u64 + GUARD;
        let at = self.mappings.partition_point(|mapping| mapping.bus < bus);
        self.mappings.insert(at, Mapping { bus, bytes: layout.size() as u64, pointer });
        bus
    }

    /// The host address of `bytes` bytes at a bus address.
    fn find(&self, address: u64, bytes: usize) -> Result<NonNull<u8>, Fault> {
        let outside = || Fault { address, reason: "outside every region that the driver mapped" };
        let after = self.mappings.partition_point(|mapping| mapping.bus <= address);
        let mapping = after.checked_sub(1).map(|at| &self.mappings[at]).ok_or_else(outside)?;
        let offset = address - mapping.bus;
        if offset >= mapping.bytes {
            return Err(outside());
        }
        if mapping.bytes - offset < bytes as u64 {
            return Err(Fault { address, reason: "runs off the end of a region that the driver mapped" });
        }
        // SAFETY: `offset` is inside the allocation, as was just checked.
        Ok(unsafe { mapping.pointer.add(offset as usize) })
    }
}

impl Memory for HostMemory {
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let source = self.0.borrow().find(address, buffer.len())?;
        // SAFETY: `find` checked that the bytes are inside a live allocation; `buffer` is not part of it, since the
        // driver holds no plain reference to memory that it has given to the device.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), buffer.as_mut_ptr(), buffer.len()) }
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        let target = self.0.borrow().find(address, data.len())?;
        // SAFETY: as in `read`; one thread runs the driver and the device in turn.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target.as_ptr(), data.len()) }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_device_writes_the_driver_reads() {
        let mut memory = HostMemory::default();
        let (low, high) = (memory.allocate(4096, 64).unwrap(), memory.allocate(8192, 4096).unwrap());
        assert!(low.bus() < 1 << 32 && high.bus() >= 1 << 32);
        memory.write(high.bus() + 8188, &[1, 2, 3, 4]).unwrap();
        assert_eq!(high.load_acquire(8188), 0x0403_0201);
        let mut back = [0; 2];
        memory.read(high.bus() + 8189, &mut back).unwrap();
        assert_eq!(back, [2, 3]);
        assert_eq!(low.load_acquire(0), 0);
    }

    #[test]
    fn only_mapped_bytes_exist() {
        let mut memory = HostMemory::default();
        let region = memory.allocate(4096, 64).unwrap();
        let bus = region.bus();
        assert!(memory.write(bus + 4093, &[0; 4]).unwrap_err().reason.contains("off the end"));
        assert!(memory.write(bus - 1, &[0; 1]).is_err());
        assert!(memory.write(bus + 4096, &[0; 1]).is_err());
        assert!(memory.read(0, &mut [0; 4]).is_err());
        drop(region);
        assert!(memory.write(bus, &[0; 4]).is_err(), "an unmapped region is gone");
    }
}

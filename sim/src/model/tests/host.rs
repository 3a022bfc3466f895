//! Host memory for the tests: regions by bus address, and nothing between them.

#![allow(unsafe_code)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;

use ferronic::dma::DmaRegion;
use ferronic::Dma;
use ferronic_pcie::{Fault, Memory};

/// Memory that a driver and a model share; clones are the same memory.
#[derive(Clone, Default)]
pub struct Host(Rc<RefCell<BTreeMap<u64, Block>>>);

#[derive(Clone, Copy)]
struct Block {
    pointer: NonNull<u8>,
    layout: Layout,
}

/// Unmaps and frees a block when its region goes.
struct Owner(Host, u64);

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(block) = self.0 .0.borrow_mut().remove(&self.1) {
            // SAFETY: allocated with this layout; the map had the one way to it, and the region is gone.
            unsafe { dealloc(block.pointer.as_ptr(), block.layout) }
        }
    }
}

impl Dma for Host {
    fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion> {
        let layout = Layout::from_size_align(bytes.max(4), alignment.max(4)).map_err(io::Error::other)?;
        // SAFETY: the layout is not empty.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        // Host addresses, moved so that one taken for the other is a fault.
        let bus = pointer.as_ptr() as u64 + (1 << 48);
        self.0.borrow_mut().insert(bus, Block { pointer, layout });
        // SAFETY: zeroed, aligned, and valid until the owner goes; the model touches it only in calls from the
        // test, in the driver's thread, rings and posted buffers alone.
        Ok(unsafe { DmaRegion::new(bus, pointer, bytes, Rc::new(Owner(self.clone(), bus))) })
    }
}

impl Host {
    fn find(&self, address: u64, bytes: usize) -> Result<NonNull<u8>, Fault> {
        let map = self.0.borrow();
        let block = map.range(..=address).next_back();
        match block.map(|(bus, block)| ((address - bus) as usize, block)) {
            // SAFETY: the offset is inside the block.
            Some((offset, block)) if offset + bytes <= block.layout.size() => Ok(unsafe { block.pointer.add(offset) }),
            _ => Err(Fault { address, reason: "not mapped" }),
        }
    }
}

impl Memory for Host {
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let source = self.find(address, buffer.len())?;
        // SAFETY: `find` checked the range; the driver holds no reference to what the device may read.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), buffer.as_mut_ptr(), buffer.len()) }
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        let target = self.find(address, data.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target.as_ptr(), data.len()) }
        Ok(())
    }
}

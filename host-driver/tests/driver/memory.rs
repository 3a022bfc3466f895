//! DMA memory for the test device: heap memory under made-up bus addresses.

#![allow(unsafe_code)]

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::{Cell, RefCell};
use std::io;
use std::ptr::NonNull;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU32, Ordering};

use ferronic::dma::DmaRegion;
use ferronic::Dma;

/// First bus address: above 4 GiB, so that the upper halves of addresses matter.
const FIRST_BUS: u64 = 0x12_3456_0000;

struct Block {
    bus: u64,
    pointer: NonNull<u8>,
    layout: Layout,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate` with this layout and freed once, here.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

/// All memory that the device can reach.
pub struct Memory {
    blocks: RefCell<Vec<Weak<Block>>>,
    next_bus: Cell<u64>,
    /// Allocations to grant before failing; `None` grants all.
    pub grants: Cell<Option<u32>>,
}

impl Memory {
    pub fn new() -> Self {
        Self { blocks: RefCell::new(Vec::new()), next_bus: Cell::new(FIRST_BUS), grants: Cell::new(None) }
    }

    /// Allocations so far.
    pub fn allocations(&self) -> u32 {
        self.blocks.borrow().len() as u32
    }

    /// Blocks that are still alive.
    pub fn mapped(&self) -> usize {
        self.blocks.borrow().iter().filter(|b| b.strong_count() > 0).count()
    }

    /// Where `bytes` bytes at a bus address are; panics on a wild access, which fails the test.
    fn locate(&self, bus: u64, bytes: usize) -> (Rc<Block>, *mut u8) {
        for block in self.blocks.borrow().iter().filter_map(Weak::upgrade) {
            if bus >= block.bus && bus + bytes as u64 <= block.bus + block.layout.size() as u64 {
                let offset = (bus - block.bus) as usize;
                // SAFETY: `offset` lies in the block.
                let pointer = unsafe { block.pointer.as_ptr().add(offset) };
                return (block, pointer);
            }
        }
        panic!("the device touches {bytes} bytes at {bus:#x}, which are not mapped");
    }

    pub fn read_word(&self, bus: u64) -> u32 {
        let (_block, pointer) = self.locate(bus, 4);
        // SAFETY: located, aligned as all words of rings are, and the driver uses atomic words too.
        u32::from_le(unsafe { AtomicU32::from_ptr(pointer.cast()) }.load(Ordering::Acquire))
    }

    pub fn write_word(&self, bus: u64, word: u32) {
        let (_block, pointer) = self.locate(bus, 4);
        // SAFETY: as in `read_word`.
        unsafe { AtomicU32::from_ptr(pointer.cast()) }.store(word.to_le(), Ordering::Release);
    }

    pub fn read_bytes(&self, bus: u64, bytes: usize) -> Vec<u8> {
        let (_block, pointer) = self.locate(bus, bytes);
        // SAFETY: located; one thread, and the driver holds no reference into a posted buffer.
        unsafe { std::slice::from_raw_parts(pointer, bytes) }.to_vec()
    }

    pub fn write_bytes(&self, bus: u64, data: &[u8]) {
        let (_block, pointer) = self.locate(bus, data.len());
        // SAFETY: as in `read_bytes`.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), pointer, data.len()) }
    }
}

impl Dma for Memory {
    fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion> {
        match self.grants.get() {
            Some(0) => return Err(io::Error::other("the test grants no more memory")),
            Some(grants) => self.grants.set(Some(grants - 1)),
            None => {}
        }
        let layout = Layout::from_size_align(bytes.max(4), alignment.max(4)).map_err(io::Error::other)?;
        // SAFETY: the layout is not empty.
        let pointer = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        let bus = self.next_bus.get().next_multiple_of(alignment as u64);
        // A gap, so that an access beyond the end is a wild one.
        self.next_bus.set(bus + layout.size() as u64 + 1);
        let block = Rc::new(Block { bus, pointer, layout });
        self.blocks.borrow_mut().push(Rc::downgrade(&block));
        // SAFETY: the block owns zeroed memory of this size until it is dropped, which also ends the
        // device's reach; the test device touches rings as atomic words and buffers only while posted.
        Ok(unsafe { DmaRegion::new(bus, pointer, bytes, block) })
    }
}

//! Memory that the driver's thread and the device's thread both reach.
//!
//! A region's bus address is its host address, as with an IOMMU that maps each page to itself. The device's thread
//! keeps the list of regions, and touches nothing outside of it; a region is unmapped by a request that waits for the
//! device, as an IOMMU's invalidation does, and its memory is freed behind that.
//!
//! Rings are written and read as atomic words, the last of a completion with release order. Payload is written past the
//! caches ([`Writes::Memory`]), so that the driver's first look at a header goes to memory.

#![allow(unsafe_code)]

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::cell::RefCell;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use ferronic::dma::DmaRegion;
use ferronic::Dma;
use ferronic_pcie::{Fault, Memory};

use super::engine::Request;
use super::seams::Port;

/// Regions start at pages.
const PAGE: usize = 4096;
/// Longest write that can be a ring's: a completion.
const COMPLETION: usize = 32;
/// Longest read that can be a ring's: a descriptor.
const DESCRIPTOR: usize = 16;

/// How the device's payload gets to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Past every cache: a host whose DMA goes to memory.
    Memory,
    /// Into the cache of the device's core: nearest to a host that lets DMA write into its last-level cache.
    Cache,
}

/// A region, as the device's thread knows it.
pub(super) struct Mapping {
    pointer: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory behind the pointer is not bound to a thread, and stays until the device's thread has answered the
// request to unmap it.
unsafe impl Send for Mapping {}

impl Mapping {
    pub(super) fn start(&self) -> u64 {
        self.pointer.as_ptr() as u64
    }
}

/// The regions that are mapped, as the driver's thread knows them: start and bytes.
#[derive(Clone, Default)]
pub struct Regions(Rc<RefCell<Vec<(NonNull<u8>, usize)>>>);

impl Regions {
    /// Every region: where it starts, and its bytes. They are mapped as long as the driver keeps them.
    pub fn list(&self) -> Vec<(NonNull<u8>, usize)> {
        self.0.borrow().clone()
    }
}

/// The driver's side: allocates and maps.
pub(super) struct SharedMemory {
    port: Rc<Port>,
    regions: Regions,
}

impl SharedMemory {
    pub(super) fn new(port: Rc<Port>, regions: Regions) -> Self {
        Self { port, regions }
    }
}

/// Keeps a region's memory and its mapping.
struct Owner {
    port: Rc<Port>,
    regions: Regions,
    pointer: NonNull<u8>,
    layout: Layout,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.regions.0.borrow_mut().retain(|(start, _)| *start != self.pointer);
        let start = self.pointer.as_ptr() as u64;
        self.port.ask(|number| Request::Unmap { start, number });
        // SAFETY: `pointer` came from `alloc_zeroed` with this layout, and this is its only owner. The device's thread
        // has answered that it knows the region no more, or is gone.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

impl Dma for SharedMemory {
    fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion> {
        let layout = Layout::from_size_align(bytes, alignment.max(PAGE))
            .ok()
            .filter(|layout| layout.size() > 0)
            .ok_or_else(|| io::Error::other(format!("cannot allocate {bytes} bytes aligned to {alignment}")))?;
        // SAFETY: the layout has a size above 0.
        let raw = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(raw) else { handle_alloc_error(layout) };
        self.regions.0.borrow_mut().push((pointer, bytes));
        self.port.post(Request::Map(Mapping { pointer, bytes }));
        let owner = Owner { port: Rc::clone(&self.port), regions: self.regions.clone(), pointer, layout };
        // SAFETY: `pointer` is valid for `bytes` zeroed bytes until `owner` is dropped, which first takes the mapping
        // from the device's thread. That thread goes through [`DeviceMemory`] alone, which writes rings as atomic
        // words, and payload only between a descriptor and its completion.
        Ok(unsafe { DmaRegion::new(pointer.as_ptr() as u64, pointer, bytes, Rc::new(owner)) })
    }
}

/// The device's side. Clones are handles to the same list.
#[derive(Clone)]
pub(super) struct DeviceMemory {
    /// Sorted by address.
    mappings: Rc<RefCell<Vec<Mapping>>>,
    writes: Writes,
}

impl DeviceMemory {
    pub(super) fn new(writes: Writes) -> Self {
        Self { mappings: Rc::default(), writes }
    }

    pub(super) fn map(&self, mapping: Mapping) {
        let mut mappings = self.mappings.borrow_mut();
        let at = mappings.partition_point(|other| other.start() < mapping.start());
        mappings.insert(at, mapping);
    }

    pub(super) fn unmap(&self, start: u64) {
        self.mappings.borrow_mut().retain(|mapping| mapping.start() != start);
    }

    /// Host address of `bytes` bytes.
    fn find(&self, address: u64, bytes: usize) -> Result<NonNull<u8>, Fault> {
        let outside = Fault { address, reason: "outside every region that the driver mapped" };
        let mappings = self.mappings.borrow();
        let after = mappings.partition_point(|mapping| mapping.start() <= address);
        let Some(mapping) = after.checked_sub(1).map(|at| &mappings[at]) else { return Err(outside) };
        let offset = (address - mapping.start()) as usize;
        if offset >= mapping.bytes || mapping.bytes - offset < bytes {
            return Err(outside);
        }
        // SAFETY: `offset` is inside the region, as was just checked.
        Ok(unsafe { mapping.pointer.add(offset) })
    }
}

/// Whether an access is one to whole words of a ring, by its size and place.
fn is_words(pointer: NonNull<u8>, bytes: usize, most: usize) -> bool {
    bytes <= most && bytes.is_multiple_of(4) && pointer.cast::<u32>().is_aligned()
}

impl Memory for DeviceMemory {
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let source = self.find(address, buffer.len())?;
        if !is_words(source, buffer.len(), DESCRIPTOR) {
            // SAFETY: `find` checked the bytes, and they stay mapped while this thread does not unmap them. The driver
            // has given a TX buffer away before its descriptor was published, and takes it back behind the index that
            // is written after this.
            unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), buffer.as_mut_ptr(), buffer.len()) }
            return Ok(());
        }
        for (number, word) in buffer.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // SAFETY: in the bytes that `find` checked, aligned as `is_words` checked; both threads use atomic words.
            let shared = unsafe { AtomicU32::from_ptr(source.as_ptr().cast::<u32>().add(number)) };
            *word = shared.load(Ordering::Relaxed).to_ne_bytes();
        }
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        let target = self.find(address, data.len())?;
        if !is_words(target, data.len(), COMPLETION) {
            match self.writes {
                // SAFETY: `find` checked the bytes, and they stay mapped while this thread does not unmap them. They are
                // a posted buffer, which the driver does not touch before it has seen the completion.
                Writes::Cache => unsafe {
                    std::ptr::copy_nonoverlapping(data.as_ptr(), target.as_ptr(), data.len());
                },
                // SAFETY: the same.
                Writes::Memory => unsafe { stream(target.as_ptr(), data) },
            }
            return Ok(());
        }
        // Payload first: what went past the caches is not ordered by the release below.
        if self.writes == Writes::Memory {
            drain();
        }
        let words = data.as_chunks::<4>().0;
        for (number, word) in words.iter().enumerate() {
            // SAFETY: in the bytes that `find` checked, aligned as `is_words` checked; both threads use atomic words.
            let shared = unsafe { AtomicU32::from_ptr(target.as_ptr().cast::<u32>().add(number)) };
            let order = if number + 1 == words.len() { Ordering::Release } else { Ordering::Relaxed };
            shared.store(u32::from_ne_bytes(*word), order);
        }
        Ok(())
    }
}

/// Writes past the caches.
///
/// # Safety
///
/// `target` is valid for writes of as many bytes as `data` has, and nothing else touches them meanwhile.
#[cfg(target_arch = "x86_64")]
unsafe fn stream(target: *mut u8, data: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128, _mm_stream_si32};
    let mut at = 0;
    let left = |at: usize| data.len() - at;
    if (target as usize).is_multiple_of(16) {
        while left(at) >= 16 {
            // SAFETY: 16 bytes are left on both sides, and the target is aligned to 16, as is each step.
            unsafe {
                let block = _mm_loadu_si128(data.as_ptr().add(at).cast::<__m128i>());
                _mm_stream_si128(target.add(at).cast::<__m128i>(), block);
            }
            at += 16;
        }
    }
    if (target as usize).is_multiple_of(4) {
        while left(at) >= 4 {
            // SAFETY: 4 bytes are left on both sides, and the target is aligned to 4, as is each step so far.
            unsafe {
                let word = data.as_ptr().add(at).cast::<i32>().read_unaligned();
                _mm_stream_si32(target.add(at).cast::<i32>(), word);
            }
            at += 4;
        }
    }
    // SAFETY: as many bytes are left on both sides.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().add(at), target.add(at), left(at)) }
}

/// Where there are no such stores, the payload stays in the cache of the device's core.
///
/// # Safety
///
/// `target` is valid for writes of as many bytes as `data` has, and nothing else touches them meanwhile.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn stream(target: *mut u8, data: &[u8]) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), target, data.len()) }
}

/// Waits until what was written past the caches is there for all.
fn drain() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a barrier; SSE is part of x86_64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

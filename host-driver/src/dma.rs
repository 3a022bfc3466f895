//! Memory that host and device share. The one module with `unsafe` in it.
//!
//! Rings are [`DmaRegion`]s: both sides may touch them at any time, so they are read and written as atomic
//! words, little-endian on the bus. Buffers are [`DmaPiece`]s: who holds the piece owns the bytes, and the
//! driver gives a piece away (into a ring) before it tells the device the address. A piece can go to another thread.
//!
//! Order: a completion's phase word is read with [`DmaRegion::load_acquire`] and the rest after it;
//! descriptors are written, then [`write_barrier`], then the doorbell.

#![allow(unsafe_code)]

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{fence, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// What keeps memory alive. A backend's owner belongs to the thread that made it and is dropped there, or never: when
/// the last piece of a region ends in another thread, the memory stays mapped for good.
struct Owner {
    keeps: ManuallyDrop<Rc<dyn Any>>,
    home: ThreadId,
}

// SAFETY: nothing but `drop` touches `keeps`, and that only in the thread that it came from. So its count is never
// changed, nor what it owns reached, from elsewhere.
unsafe impl Send for Owner {}
// SAFETY: as above: there is no way to `keeps` through a shared reference.
unsafe impl Sync for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        if thread::current().id() == self.home {
            // SAFETY: dropped once, here, in its own thread.
            unsafe { ManuallyDrop::drop(&mut self.keeps) }
        }
    }
}

/// A region of memory that the device can reach.
pub struct DmaRegion {
    bus: u64,
    pointer: NonNull<u8>,
    bytes: usize,
    owner: Arc<Owner>,
}

impl DmaRegion {
    /// A region from a backend. `owner` keeps the memory alive and mapped for the device.
    ///
    /// # Safety
    ///
    /// Until `owner` is dropped, `pointer` is valid for reads and writes of `bytes` bytes, zeroed at first,
    /// aligned to 4 at least, and neither host code other than through this region nor any other region
    /// touches them. The device touches them at bus address `bus` only as the contract allows: rings at any
    /// time in whole aligned words, buffers only between their posting and their completion. A software
    /// device in the same process keeps that rule too, and touches rings with atomic words. Dropping `owner`
    /// first takes the memory out of the device's reach. The memory may be touched from any thread.
    ///
    /// # Panics
    ///
    /// `pointer` is not aligned to 4.
    pub unsafe fn new(bus: u64, pointer: NonNull<u8>, bytes: usize, owner: Rc<dyn Any>) -> Self {
        assert!((pointer.as_ptr() as usize).is_multiple_of(4), "DMA memory is aligned to words");
        let owner = Owner { keeps: ManuallyDrop::new(owner), home: thread::current().id() };
        Self { bus, pointer, bytes, owner: Arc::new(owner) }
    }

    /// Bus address of the first byte.
    pub fn bus(&self) -> u64 {
        self.bus
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The word at a byte offset. Offsets come from masked ring slots, never from the device.
    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.bytes, "word outside of the DMA region");
        // SAFETY: in bounds and aligned by the assertion and the constructor's contract; valid while
        // `self.owner` lives, which the borrow of `self` outlasts not; both sides use atomic words only.
        unsafe { AtomicU32::from_ptr(self.pointer.as_ptr().add(offset).cast()) }
    }

    /// Reads the word at a byte offset; what is read after it in program order is read after it in memory.
    #[inline]
    pub fn load_acquire(&self, offset: usize) -> u32 {
        let word = u32::from_le(self.word(offset).load(Ordering::Relaxed));
        read_barrier();
        word
    }

    /// Reads `N` words from a byte offset on, in no set order among themselves.
    #[inline]
    pub fn read<const N: usize>(&self, offset: usize) -> [u32; N] {
        std::array::from_fn(|i| u32::from_le(self.word(offset + 4 * i).load(Ordering::Relaxed)))
    }

    /// Writes `N` words from a byte offset on. The device may see them in any order until [`write_barrier`].
    #[inline]
    pub fn write<const N: usize>(&self, offset: usize, words: [u32; N]) {
        for (i, word) in words.into_iter().enumerate() {
            self.word(offset + 4 * i).store(word.to_le(), Ordering::Relaxed);
        }
    }

    /// Cuts the region into pieces of `bytes` bytes each, `stride` apart; what is left over stays unused.
    ///
    /// # Panics
    ///
    /// Pieces would overlap: `bytes` is greater than `stride`, or `stride` is 0.
    pub fn split(self, bytes: u32, stride: usize) -> impl Iterator<Item = DmaPiece> {
        assert!(bytes as usize <= stride && stride > 0, "pieces overlap");
        (0..self.bytes / stride).map(move |i| DmaPiece {
            bus: self.bus + (i * stride) as u64,
            // SAFETY: `i * stride + stride <= self.bytes`, so the piece lies in the region.
            pointer: unsafe { self.pointer.add(i * stride) },
            bytes,
            _owner: Some(Arc::clone(&self.owner)),
        })
    }

    /// Never frees the memory: for a device that cannot be told to stop writing into it.
    pub(crate) fn leak(&self) {
        std::mem::forget(Arc::clone(&self.owner));
    }
}

/// A piece of a region that one holder owns: bytes that the device is not using.
///
/// There is one `DmaPiece` for these bytes and it cannot be copied. So a `&[u8]` into it cannot coexist with
/// its being posted, as long as posting takes the piece.
pub struct DmaPiece {
    bus: u64,
    pointer: NonNull<u8>,
    bytes: u32,
    /// Keeps the memory alive and mapped.
    _owner: Option<Arc<Owner>>,
}

// SAFETY: the piece is the only way to its bytes on this side, and they may be touched from any thread (contract of
// `DmaRegion::new`); what keeps them alive is `Send`.
unsafe impl Send for DmaPiece {}

impl Default for DmaPiece {
    /// The piece of no bytes.
    fn default() -> Self {
        Self { bus: 0, pointer: NonNull::dangling(), bytes: 0, _owner: None }
    }
}

impl DmaPiece {
    /// Bus address of the first byte.
    #[inline]
    pub fn bus(&self) -> u64 {
        self.bus
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are valid and initialised by the contract of `DmaRegion::new` while `_owner` lives
        // (or there are none); pieces do not overlap; only `&mut self` writes them on this side, and the
        // device does not while the piece is not posted.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.bytes as usize) }
    }

    /// The bytes, to write.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` is the only borrow of the only piece with these bytes.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.bytes as usize) }
    }

    /// Bytes.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.bytes
    }

    /// Asks the cache for the line at an offset. Does nothing where there is no such instruction.
    #[inline]
    pub fn prefetch(&self, offset: usize) {
        let address = self.pointer.as_ptr().wrapping_add(offset);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a hint that cannot fault, whatever the address; SSE is part of x86_64.
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        // SAFETY: a hint that cannot fault, whatever the address, and that writes neither memory nor flags.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
        let _ = address;
    }

    /// Moves the lines of the first `bytes` bytes from this core's caches to one that is shared, where a device's write
    /// finds them sooner (CLDEMOTE; Intel, Software Developer's Manual, volume 2). Nothing happens where
    /// [there is no such instruction](can_demote).
    #[inline]
    pub fn demote(&self, bytes: usize) {
        for offset in (0..bytes.min(self.bytes as usize)).step_by(LINE) {
            let address = self.pointer.as_ptr().wrapping_add(offset);
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            // SAFETY: a hint, encoded as a no-operation for CPUs that do not know it, that cannot fault and changes
            // neither memory nor flags.
            unsafe {
                std::arch::asm!("cldemote [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
            }
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            let _ = address;
        }
    }
}

/// Whether the CPU has CLDEMOTE: CPUID leaf 7, ECX bit 25.
pub fn can_demote() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{__cpuid, __cpuid_count};
        __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & 1 << 25 != 0
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

/// Orders earlier reads of DMA memory before later ones.
#[inline]
pub fn read_barrier() {
    // For a software device in another thread, and for the compiler.
    fence(Ordering::Acquire);
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a barrier; touches no register and no memory. The fence above covers the inner shareable domain
    // alone, and a device may sit in the outer one (Linux `dma_rmb`).
    unsafe {
        std::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
}

/// Orders earlier writes to DMA memory before a later doorbell.
#[inline]
pub fn write_barrier() {
    // For a software device in another thread, and for the compiler.
    fence(Ordering::Release);
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as in `read_barrier` (Linux `dma_wmb`, which `writel` uses for the same purpose).
    unsafe {
        std::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
}

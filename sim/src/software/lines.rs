//! Which cache lines of the memory shared with the device a piece of work brought into this core's reach.
//!
//! Lines are thrown out of all caches; then the work is done; then each line is read, in a random order, and timed. One
//! that is there quickly was brought in by the work, or by the processor's own prefetchers beside what the work asked for:
//! that is traffic like the other. So that reading one line does not bring in the next to be asked about, one line of every
//! [`STRIDE`] bytes is asked about at a time. (Yarom and Falkner, "Flush+Reload", USENIX Security
//! 2014, use the same for less honest purposes.)

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes of a line.
pub const LINE: usize = 64;

/// Bytes between two lines that are asked about together.
pub const STRIDE: usize = 2048;
/// Lines in that.
pub const PLACES: usize = STRIDE / LINE;

/// Lines of memory that stays valid for as long as this is used.
pub struct Lines<'a> {
    lines: Vec<NonNull<u8>>,
    _regions: PhantomData<&'a u8>,
    /// Cycles under which a line was in a cache.
    threshold: u64,
}

impl<'a> Lines<'a> {
    /// Of these regions, line number `place` (below [`PLACES`]) of every [`STRIDE`] bytes. `None` on a processor whose caches cannot be asked this way.
    ///
    /// # Safety
    ///
    /// Each region is valid for reads of its bytes for `'a`. Nothing but this thread's driver and the device touch it.
    pub unsafe fn of(regions: &[(NonNull<u8>, usize)], place: usize) -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let starts = regions.iter().flat_map(|(start, bytes)| (place * LINE..*bytes).step_by(STRIDE).map(move |at| (*start, at)));
        // SAFETY: `at` is inside of its region.
        let mut lines: Vec<NonNull<u8>> = starts.map(|(start, at)| unsafe { start.add(at) }).collect();
        fastrand::Rng::with_seed(place as u64).shuffle(&mut lines);
        let mut lines = Self { lines, _regions: PhantomData, threshold: 0 };
        lines.calibrate();
        Some(lines)
    }

    /// Between a line that is there and one that is not.
    fn calibrate(&mut self) {
        let some = &self.lines[..self.lines.len().min(256)];
        if some.is_empty() {
            return;
        }
        let median = |mut times: Vec<u64>| {
            times.sort_unstable();
            times[times.len() / 2]
        };
        some.iter().for_each(|line| flush(*line));
        let far = median(some.iter().map(|line| reload(*line)).collect());
        let near = median(some.iter().map(|line| reload(*line)).collect());
        // While others use the memory too, a line that is far can be very far; one that is near never takes thrice as long.
        self.threshold = near.midpoint(far).min(3 * near);
    }

    /// Throws every line out of every cache.
    pub fn flush(&self) {
        self.lines.iter().for_each(|line| flush(*line));
        fence();
    }

    /// Lines that are in a cache now. Asking brings them all in.
    pub fn present(&self) -> usize {
        self.lines.iter().filter(|line| reload(**line) < self.threshold).count()
    }
}

/// Asks for a line to write to: then nobody else has it when it is written. Does nothing where there is no such
/// instruction.
#[inline]
pub fn prefetch_to_write(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that cannot fault; where the processor lacks it, it does nothing.
    unsafe {
        std::arch::asm!("prefetchw byte ptr [{0}]", in(reg) std::ptr::from_ref(byte), options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

#[cfg(target_arch = "x86_64")]
fn flush(line: NonNull<u8>) {
    // SAFETY: every x86_64 has it; it changes no value, and the line is valid memory for as long as `Lines` lives.
    unsafe { std::arch::x86_64::_mm_clflush(line.as_ptr()) }
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: a barrier; SSE2 is part of x86_64.
    unsafe { std::arch::x86_64::_mm_mfence() }
}

/// Cycles that reading the line takes.
#[cfg(target_arch = "x86_64")]
fn reload(line: NonNull<u8>) -> u64 {
    use std::arch::x86_64::{_mm_lfence, _mm_mfence, _rdtsc};
    // SAFETY: barriers, a counter, and a read of a byte of valid memory into a register that nobody looks at: by
    // instruction, since the device's thread may write the line meanwhile.
    unsafe {
        _mm_mfence();
        _mm_lfence();
        let begun = _rdtsc();
        _mm_lfence();
        std::arch::asm!("mov {0}, byte ptr [{1}]", out(reg_byte) _, in(reg) line.as_ptr(),
            options(nostack, preserves_flags, readonly));
        _mm_lfence();
        _rdtsc() - begun
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn flush(_line: NonNull<u8>) {}

#[cfg(not(target_arch = "x86_64"))]
fn fence() {}

#[cfg(not(target_arch = "x86_64"))]
fn reload(_line: NonNull<u8>) -> u64 {
    0
}

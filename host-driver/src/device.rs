//! The seams between the driver and whatever stands for the hardware: registers, memory, interrupts, and time.
//!
//! VFIO, sysfs and the simulator implement them; the driver knows nothing else of the machine. They take
//! `&self` and need not be `Send`: a lock-step simulator moves its own clock inside these calls (a register
//! read takes as long as the answer takes, a wait lets time pass), so it charges host time there and in the
//! [`Sink`](crate::packet::Sink) without a hook of its own.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use ferronic_contract::registers::Register;

use crate::clock::Clock;
use crate::dma::DmaRegion;
use crate::error::Error;

/// BAR 0: 32-bit registers.
pub trait Bar {
    /// Reads the register at this byte offset, a multiple of 4. A device that is gone reads all ones.
    fn read32(&self, offset: u32) -> u32;

    /// Writes the register at this byte offset, a multiple of 4.
    ///
    /// Writes reach the device in program order. The driver orders its writes to DMA memory before a
    /// doorbell by itself; see [`write_barrier`](crate::dma::write_barrier).
    fn write32(&self, offset: u32, value: u32);
}

/// Memory that the device can reach.
pub trait Dma {
    /// A zeroed region of at least `bytes` bytes whose bus address and host address are multiples of
    /// `alignment`, a power of two. The region stays reachable for as long as its owner lives.
    fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion>;
}

/// Interrupt vectors.
pub trait Interrupts {
    /// Waits until the vector fires, at most for `timeout`; zero only looks. True if it fired since the last
    /// call that answered true: several firings may be told as one, none is forgotten.
    fn wait(&self, vector: u32, timeout: Duration) -> io::Result<bool>;
}

/// A device as the driver sees it.
#[derive(Clone)]
pub struct Device {
    /// Registers.
    pub bar: Rc<dyn Bar>,
    /// Memory.
    pub dma: Rc<dyn Dma>,
    /// Interrupts.
    pub interrupts: Rc<dyn Interrupts>,
    /// Time.
    pub clock: Rc<dyn Clock>,
}

impl Device {
    /// Memory for `what`.
    pub(crate) fn allocate(&self, what: &'static str, bytes: usize, alignment: usize) -> Result<DmaRegion, Error> {
        self.dma.allocate(bytes, alignment).map_err(|source| Error::Memory { what, source })
    }
}

/// A group of registers of the BAR: the global ones, a queue's, or a vector's.
#[derive(Clone)]
pub(crate) struct Group {
    bar: Rc<dyn Bar>,
    base: u32,
}

impl Group {
    /// The group that starts at `base`.
    pub(crate) fn new(device: &Device, base: u32) -> Self {
        Self { bar: Rc::clone(&device.bar), base }
    }

    /// Reads a register of the group.
    pub(crate) fn read(&self, register: Register) -> u32 {
        self.bar.read32(self.base + register.offset)
    }

    /// Writes a register of the group.
    pub(crate) fn write(&self, register: Register, value: u32) {
        self.bar.write32(self.base + register.offset, value);
    }

    /// Writes a word of a table that starts at a register.
    pub(crate) fn write_word(&self, first: Register, word: u32, value: u32) {
        self.bar.write32(self.base + first.offset + 4 * word, value);
    }
}

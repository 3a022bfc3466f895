//! What RX and TX queues share: their registers, their interrupt vector, starting and stopping.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{self, queue, vector};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::{OutOfRange, Thresholds};

use crate::device::{Device, Group, Interrupts};
use crate::dma::write_barrier;
use crate::error::Error;

/// What a register of a removed device reads.
pub(crate) const GONE: u32 = u32::MAX;
/// Reads of a status register before the driver gives up waiting. A read crosses the bus and back, about a
/// microsecond, so this is longer than the core's completion time-out of 50 ms.
pub(crate) const PATIENCE: u32 = 200_000;
/// Alignment of the rings that the core asks for.
pub(crate) const RING_ALIGNMENT: usize = 4096;
/// Largest value of the 24-bit timers.
pub(crate) const MAX_CYCLES: u64 = (1 << 24) - 1;

/// Interrupt moderation, under ethtool's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moderation {
    /// `rx-usecs`, `tx-usecs`: microseconds from the first event to the interrupt; 0 is at once.
    pub usecs: u32,
    /// `rx-frames`, `tx-frames`: events before an interrupt, 1..=255.
    pub frames: u32,
}

impl Default for Moderation {
    fn default() -> Self {
        Self { usecs: 20, frames: 16 }
    }
}

impl Moderation {
    /// Refuses an interrupt after more events than the ring has descriptors: the ring would run dry, and only the timer
    /// would tell.
    pub(crate) fn check(&self, ring: RingSize) -> Result<(), OutOfRange> {
        in_range("interrupt frames", self.frames, 1, 255.min(ring.entries()))
    }

    /// What FRAMES and CYCLES of a vector say for it.
    pub(crate) fn registers(&self, clock_khz: u32) -> Result<(u32, u32), OutOfRange> {
        Ok((self.frames, cycles("interrupt usecs", self.usecs, clock_khz)?))
    }
}

/// How a queue is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Descriptors in the ring.
    pub ring: RingSize,
    /// Thresholds of prefetch and write-back.
    pub thresholds: Thresholds,
    /// Microseconds after which gathered completions are written though fewer than WTHRESH.
    pub write_back_usecs: u32,
    /// Interrupt moderation.
    pub moderation: Moderation,
}

/// Cycles of the core's clock in `usecs` microseconds, as a 24-bit timer takes them.
pub(crate) fn cycles(name: &'static str, usecs: u32, clock_khz: u32) -> Result<u32, OutOfRange> {
    let cycles = u64::from(usecs) * u64::from(clock_khz) / 1000;
    if cycles > MAX_CYCLES {
        let max = (MAX_CYCLES * 1000 / u64::from(clock_khz)) as u32;
        return Err(OutOfRange { name, value: usecs, min: 0, max });
    }
    Ok(cycles as u32)
}

/// Refuses a value outside its range.
pub(crate) fn in_range(name: &'static str, value: u32, min: u32, max: u32) -> Result<(), OutOfRange> {
    if value < min || value > max {
        return Err(OutOfRange { name, value, min, max });
    }
    Ok(())
}

/// Which queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueName {
    /// An RX queue.
    Rx(u8),
    /// A TX queue.
    Tx(u8),
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rx(number) => write!(f, "RX queue {number}"),
            Self::Tx(number) => write!(f, "TX queue {number}"),
        }
    }
}

impl QueueName {
    /// Start of its registers.
    pub(crate) fn base(self) -> u32 {
        let (first, number) = match self {
            Self::Rx(number) => (registers::RX_QUEUE, number),
            Self::Tx(number) => (registers::TX_QUEUE, number),
        };
        first + u32::from(number) * registers::QUEUE_STRIDE
    }

    /// Its name in counters: `rx0`.
    pub(crate) fn group(self) -> String {
        match self {
            Self::Rx(number) => format!("rx{number}"),
            Self::Tx(number) => format!("tx{number}"),
        }
    }

    fn vector(self) -> u32 {
        match self {
            Self::Rx(number) => registers::rx_vector(number.into()),
            Self::Tx(number) => registers::tx_vector(number.into()),
        }
    }

    /// Start of its vector's registers.
    pub(crate) fn vector_base(self) -> u32 {
        registers::VECTOR + self.vector() * registers::VECTOR_STRIDE
    }
}

/// A queue's registers and its vector.
pub(crate) struct Queue {
    name: QueueName,
    registers: Group,
    vector: Group,
    vector_number: u32,
    interrupts: Rc<dyn Interrupts>,
    /// Enabled, and not yet asked to stop.
    running: Cell<bool>,
}

impl Queue {
    pub(crate) fn new(device: &Device, name: QueueName) -> Self {
        Self {
            name,
            registers: Group::new(device, name.base()),
            vector: Group::new(device, name.vector_base()),
            vector_number: name.vector(),
            interrupts: Rc::clone(&device.interrupts),
            running: Cell::new(false),
        }
    }

    /// Writes the set-up of a queue that is disabled and idle.
    pub(crate) fn set_up(&self, config: &QueueConfig, ring: u64, done: u64, clock_khz: u32) -> Result<(), Error> {
        let write_back = cycles("write-back usecs", config.write_back_usecs, clock_khz)?;
        let moderation = config.moderation.registers(clock_khz)?;
        self.registers.write(queue::RING_LOW, ring as u32);
        self.registers.write(queue::RING_HIGH, (ring >> 32) as u32);
        self.registers.write(queue::SIZE, u32::from(config.ring.log2()));
        self.registers.write(queue::DONE_LOW, done as u32);
        self.registers.write(queue::DONE_HIGH, (done >> 32) as u32);
        self.registers.write(queue::THRESHOLDS, config.thresholds.register());
        self.registers.write(queue::LOW_WATER, u32::from(config.thresholds.low_water));
        self.registers.write(queue::WTIMER, write_back);
        self.set_moderation(moderation);
        Ok(())
    }

    /// Writes the vector's FRAMES and CYCLES.
    pub(crate) fn set_moderation(&self, (frames, cycles): (u32, u32)) {
        self.vector.write(vector::FRAMES, frames);
        self.vector.write(vector::CYCLES, cycles);
    }

    /// Says where the producer index goes.
    pub(crate) fn set_index(&self, bus: u64) {
        self.registers.write(queue::INDEX_LOW, bus as u32);
        self.registers.write(queue::INDEX_HIGH, (bus >> 32) as u32);
    }

    /// Runs the queue, from index 0, with a CONTROL value that has ENABLE set.
    pub(crate) fn enable(&self, control: u32) {
        self.running.set(true);
        self.registers.write(queue::CONTROL, control);
    }

    /// Asks the queue to stop. What is in flight still ends: see [`wait_idle`](Self::wait_idle).
    pub(crate) fn disable(&self) {
        self.running.set(false);
        self.vector.write(vector::DISARM, 1);
        self.registers.write(queue::CONTROL, 0);
    }

    /// Stops a queue that nobody has asked to stop yet, because its memory is about to go.
    ///
    /// # Errors
    ///
    /// It does not come to rest: the device may still write to the memory.
    pub(crate) fn stop_running(&self) -> Result<(), Error> {
        if !self.running.get() {
            return Ok(());
        }
        self.disable();
        self.wait_idle()
    }

    /// Waits until a disabled queue has nothing in flight: from then on the device leaves its memory alone.
    pub(crate) fn wait_idle(&self) -> Result<(), Error> {
        let mut status = 0;
        for _ in 0..PATIENCE {
            status = self.registers.read(queue::STATUS);
            if status == GONE {
                return Err(Error::DeviceGone);
            }
            if queue::IDLE.of(status) == 1 {
                return Ok(());
            }
        }
        Err(Error::NotIdle { queue: self.name, status })
    }

    /// Reads whether the device is there and the queue runs. Not for the data path.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let status = self.registers.read(queue::STATUS);
        if status == GONE {
            return Err(Error::DeviceGone);
        }
        if queue::STOPPED.of(status) == 1 {
            let code = queue::CAUSE.of(status);
            return Err(Error::Stopped { queue: self.name, cause: Cause::from_bits(code), code });
        }
        Ok(())
    }

    /// Rings the doorbell: everything written to the ring so far is the device's.
    #[inline]
    pub(crate) fn doorbell(&self, tail: u16) {
        write_barrier();
        self.registers.write(queue::TAIL, u32::from(tail));
    }

    /// Arms the vector: it fires at once when the device is beyond the index seen.
    pub(crate) fn arm(&self, seen: u16) {
        self.vector.write(vector::ARM, u32::from(seen));
    }

    /// Waits for the vector.
    pub(crate) fn wait(&self, timeout: Duration) -> io::Result<bool> {
        self.interrupts.wait(self.vector_number, timeout)
    }
}

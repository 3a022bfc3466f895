//! The software device: the reference model at the speed of memory, in a thread of its own.
//!
//! ```text
//! driver's core                       device's core
//!   Bar ── posted writes, reads ──→  │ engine: Model, generator
//!   Interrupts ←── vectors fired ──  │    │
//!   rings and buffers  ←───────────── memory ── payload past the caches, completions as atomic words
//! ```
//!
//! The driver cannot tell it from hardware: it sees registers, memory and interrupts, and nothing else. Frames are judged
//! once ([`Prepared`](crate::model::Prepared)) and then written as fast as the ring allows, by another core, so that
//! what the driver touches first it fetches from there or from memory, as behind a DMA engine. It is for measuring the
//! driver's cycles; it has no wire and no time.
//!
//! | item | what it does |
//! |---|---|
//! | [`SoftwareDevice`] | starts the thread; controls the generator |
//! | [`seams`] | registers and interrupts from the driver's side |
//! | [`memory`] | memory that both threads reach; the `unsafe` part |
//! | [`engine`] | the loop of the device's thread |
//! | [`lines`] | which cache lines a piece of work touched |
//! | [`pin`] | threads to processors |

mod engine;
pub mod lines;
mod memory;
pub mod pin;
mod seams;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use ferronic::Device;

use engine::Request;
pub use memory::Writes;
use memory::{Regions, SharedMemory};
use seams::Port;

/// Register writes that may be on their way, as posted writes in a root complex.
const REQUESTS: usize = 1024;

/// What the two threads share beside memory.
struct Shared {
    requests: ArrayQueue<Request>,
    /// The answer to the last request that has one: its number in the upper half, the value in the lower.
    answer: CachePadded<AtomicU64>,
    /// A bit for each vector that has fired and was not taken.
    fired: CachePadded<AtomicU64>,
    /// Frames delivered to memory.
    delivered: CachePadded<AtomicU64>,
    /// Frames put on the wire.
    sent: CachePadded<AtomicU64>,
    /// The thread is there; it touches memory only while it is.
    alive: AtomicBool,
}

/// How a software device is set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// RX queues, 1 to 16.
    pub rx_queues: usize,
    /// How payload gets to memory.
    pub writes: Writes,
    /// The processor that the device's thread stays on, by its number; `None` lets it wander.
    pub processor: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rx_queues: 1, writes: Writes::Memory, processor: None }
    }
}

/// A running software device. Dropping it ends its thread; the driver then reads all ones.
pub struct SoftwareDevice {
    shared: Arc<Shared>,
    port: Rc<Port>,
    regions: Regions,
    thread: Option<JoinHandle<()>>,
}

impl SoftwareDevice {
    /// Starts the device's thread.
    ///
    /// # Panics
    ///
    /// The number of RX queues is out of range, or no thread can be had.
    pub fn start(options: Options) -> Self {
        let shared = Arc::new(Shared {
            requests: ArrayQueue::new(REQUESTS),
            answer: CachePadded::default(),
            fired: CachePadded::default(),
            delivered: CachePadded::default(),
            sent: CachePadded::default(),
            alive: AtomicBool::new(true),
        });
        let thread = engine::start(Arc::clone(&shared), options);
        let port = Rc::new(Port::new(Arc::clone(&shared)));
        Self { shared, port, regions: Regions::default(), thread: Some(thread) }
    }

    /// The seams for the driver.
    pub fn device(&self) -> Device {
        let dma = SharedMemory::new(Rc::clone(&self.port), self.regions.clone());
        Device {
            bar: Rc::clone(&self.port) as _,
            dma: Rc::new(dma),
            interrupts: Rc::clone(&self.port) as _,
            clock: self.port.clock(),
        }
    }

    /// From now on these frames, one after the other and over again, come as fast as the rings take them; `limit` frames
    /// in all, if given. No frames: silence. A frame that the device would drop at the wire is left out.
    pub fn generate(&self, frames: Vec<Vec<u8>>, limit: Option<u64>) {
        self.port.ask(|number| Request::Generate { frames, limit: limit.unwrap_or(u64::MAX), number });
    }

    /// Frames delivered to memory so far.
    pub fn delivered(&self) -> u64 {
        self.shared.delivered.load(Ordering::Acquire)
    }

    /// Frames put on the wire so far.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::Acquire)
    }

    /// Waits until so many frames were delivered in all; false when they were not within the time.
    pub fn await_delivered(&self, frames: u64, within: Duration) -> bool {
        let begun = Instant::now();
        let mut turns = 0u32;
        while self.delivered() < frames {
            turns += 1;
            seams::relax(turns);
            if turns.is_multiple_of(1024) && begun.elapsed() > within {
                return false;
            }
        }
        true
    }

    /// The memory that the driver has mapped.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }
}

impl Drop for SoftwareDevice {
    fn drop(&mut self) {
        self.port.post(Request::End);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already said so.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;

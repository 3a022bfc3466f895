//! An RX queue against the software device: cycles a packet under a policy.

use super::cpu::{Cycles, Places};
use super::Failure;
use crate::setup;
use crate::software::{Options, SoftwareDevice, Writes};
use crate::wire::Generator;
use ferronic::statistics::RxStatistics;
use ferronic::{Allocation, Config, Nic, Packet, PoolStatistics, RxPolicy, Sink};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use std::hint::black_box;
use std::time::Duration;

/// How long the device may take for a batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the end of the driver's RX does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// Nothing: it is dropped.
    Nothing,
    /// It looks at whom the packet is for and what it carries.
    Class,
    /// It reads every byte.
    Payload,
}

impl Consumer {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Class => "the class",
            Self::Payload => "the payload",
        }
    }
}

impl Sink for Consumer {
    #[inline]
    fn deliver(&mut self, packet: Packet) {
        match self {
            Self::Nothing => {}
            Self::Class => {
                black_box((packet.class.destination, packet.class.protocol));
            }
            Self::Payload => {
                let sum = packet.bytes().iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
                black_box(sum);
            }
        }
    }

    #[inline]
    fn wants_header(&self, _completion: &RxCompletion) -> bool {
        *self == Self::Payload
    }
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Receive {
    /// Descriptors of the ring.
    pub ring: u32,
    /// How it receives.
    pub policy: RxPolicy,
    /// How completions look.
    pub format: Format,
    /// Where buffers come from.
    pub allocation: Allocation,
    /// Packets a poll.
    pub batch: usize,
    /// Frames: a [`Generator`]'s specification, without the count.
    pub frames: String,
    /// Polls that are measured.
    pub polls: usize,
    /// How payload gets to memory.
    pub writes: Writes,
}

impl Default for Receive {
    fn default() -> Self {
        Self {
            ring: 512,
            policy: RxPolicy { copybreak: 0, ..RxPolicy::default() },
            format: Format::Full,
            allocation: Allocation::PagePool,
            batch: 32,
            frames: "size=60,mix=udp".into(),
            polls: 200,
            writes: Writes::Memory,
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Cycles a packet: the median over the polls.
    pub cycles: f64,
    /// The driver's counters.
    pub rx: RxStatistics,
    /// The pool's, at the end, while the consumer still has what it keeps.
    pub pool: PoolStatistics,
    /// Those of the pool of copies.
    pub copies: Option<PoolStatistics>,
}

/// Gives packets back in an order of its own.
struct Shuffle {
    held: Vec<Packet>,
    random: fastrand::Rng,
}

impl Sink for Shuffle {
    fn deliver(&mut self, packet: Packet) {
        self.held.push(packet);
        if self.held.len() == self.held.capacity() {
            self.random.shuffle(&mut self.held);
            self.held.clear();
        }
    }
}

/// A device that fills its ring as fast as it is emptied, and its driver.
pub struct Bench {
    /// The driver. It closes before the device goes.
    pub nic: Nic,
    /// The device.
    pub device: SoftwareDevice,
    /// The frames that come, over and over again.
    pub frames: Vec<Vec<u8>>,
    ring: usize,
    taken: u64,
}

impl Receive {
    /// Opens device and driver; frames do not come yet.
    ///
    /// # Errors
    ///
    /// The driver does not open.
    pub fn open(&self, places: Places) -> Result<Bench, Failure> {
        let device = SoftwareDevice::start(Options { writes: self.writes, processor: places.device, rx_queues: 1 });
        let ring = RingSize::new(self.ring).ok_or("a ring is a power of two")?;
        let mut config: Config = setup::driver(ring, Thresholds::default(), 1518);
        config.buffer_bytes = 2048;
        config.buffers = 4 * ring.entries();
        config.allocation = self.allocation;
        (config.rx[0].policy, config.rx[0].format) = (self.policy, self.format);
        let nic = Nic::open(device.device(), &config)?;
        let generator: Generator = format!("{},count=64", self.frames).parse()?;
        let frames: Vec<Vec<u8>> = generator.frames(1, config.mac).map(|frame| frame.bytes).collect();
        Ok(Bench { device, nic, frames, ring: self.ring as usize, taken: 0 })
    }

    /// Polls batches of which every packet is there, so that only the driver is measured.
    ///
    /// # Errors
    ///
    /// The driver fails, or the device brings nothing.
    pub fn measure<S: Sink>(&self, cycles: &Cycles, places: Places, sink: &mut S) -> Result<Measured, Failure> {
        let mut bench = self.open(places)?;
        bench.scatter(self.batch)?;
        // The consumer comes to its usual state.
        let warm = 2 * self.ring as usize / self.batch;
        let mut figures = Vec::with_capacity(self.polls);
        for poll in 0..warm + self.polls {
            bench.await_batch(self.batch)?;
            let rx = &mut bench.nic.rx[0];
            let (handled, spent) = cycles.of(|| rx.poll(self.batch, sink));
            let handled = handled?;
            bench.taken += handled as u64;
            if poll >= warm {
                figures.push(spent / handled.max(1) as f64);
            }
        }
        let rx = &bench.nic.rx[0];
        Ok(Measured {
            cycles: super::cpu::Summary::of(&figures).median,
            rx: rx.statistics(),
            pool: rx.pool().statistics(),
            copies: rx.copy_pool().map(|pool| pool.statistics()),
        })
    }
}

impl Bench {
    /// Starts the frames, and lets every buffer and every place of the rings be used, until the buffers come in no order any
    /// more: new ones lie in a row, and a processor that sees a stride fetches what comes next by itself, which it cannot with
    /// a pool that has been used for a while.
    ///
    /// # Errors
    ///
    /// The driver fails, or the device brings nothing.
    pub fn scatter(&mut self, batch: usize) -> Result<(), Failure> {
        self.device.generate(self.frames.clone(), None);
        let mut shuffle = Shuffle { held: Vec::with_capacity(self.ring), random: fastrand::Rng::with_seed(1) };
        for _ in 0..6 * self.ring / batch {
            self.await_batch(batch)?;
            self.poll(batch, &mut shuffle)?;
        }
        Ok(())
    }

    /// Waits until so many packets can be polled.
    ///
    /// # Errors
    ///
    /// They do not come.
    pub fn await_batch(&self, packets: usize) -> Result<(), Failure> {
        match self.device.await_delivered(self.taken + packets as u64, PATIENCE) {
            true => Ok(()),
            false => Err("the device delivers nothing".into()),
        }
    }

    /// Polls once.
    ///
    /// # Errors
    ///
    /// The driver fails.
    pub fn poll<S: Sink>(&mut self, packets: usize, sink: &mut S) -> Result<usize, Failure> {
        let handled = self.nic.rx[0].poll(packets, sink)?;
        self.taken += handled as u64;
        Ok(handled)
    }
}

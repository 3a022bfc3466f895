//! The driver runs on the model, in one thread.

mod classify;
mod device;
mod driver;
mod filter;
mod host;
mod parse;
mod queues;
mod rss;

use std::rc::Rc;

use ferronic::{Bar, Config, Device, Nic, Replenish};
use ferronic_contract::class::Mac;
use ferronic_contract::registers::{self, Register};
use ferronic_contract::ring::RingSize;

use super::Model;
use host::Host;

const OWN: Mac = [0x02, 0, 0, 0, 0, 1];

/// A model with memory of its own.
struct Bench {
    memory: Host,
    model: Rc<Model<Host>>,
}

impl Bench {
    fn new() -> Self {
        Self::with_queues(4)
    }

    fn with_queues(rx_queues: usize) -> Self {
        let memory = Host::default();
        let model = Rc::new(Model::with_queues(memory.clone(), rx_queues));
        Self { memory, model }
    }

    fn open(&self, config: &Config) -> Nic {
        let device = Device {
            bar: Rc::clone(&self.model) as _,
            dma: Rc::new(self.memory.clone()),
            interrupts: Rc::clone(&self.model) as _,
            clock: Rc::new(ferronic::SystemClock::default()),
        };
        Nic::open(device, config).expect("the model opens")
    }

    fn read(&self, group: u32, register: Register) -> u32 {
        self.model.read32(group + register.offset)
    }

    fn write(&self, group: u32, register: Register, value: u32) {
        self.model.write32(group + register.offset, value);
    }

    fn global(&self, register: Register) -> u32 {
        self.read(registers::GLOBAL, register)
    }
}

/// Rings of `entries` descriptors, and twice as many buffers.
fn rings_of(entries: u32) -> Config {
    let ring = RingSize::new(entries).expect("a ring size");
    let mut config = Config { mac: OWN, buffers: 2 * entries, ..Config::sized(ring) };
    config.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 8 };
    config
}

/// A frame whose header is likely to lie on an edge of the link-layer rule.
fn edgy_frame(random: &mut fastrand::Rng, own: &Mac, most: usize) -> Vec<u8> {
    let mut frame = vec![0; random.usize(14..=most)];
    random.fill(&mut frame);
    let mut near_own = *own;
    near_own[random.usize(..6)] ^= 1 << random.u8(..8);
    let destinations = [*own, near_own, [0xFF; 6], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], [1, 0, 0x5E, 0, 0, 1]];
    frame[..6].copy_from_slice(&destinations[random.usize(..destinations.len())]);
    let kinds = [0x0800, 0x8100, 0x88A8, 0x9100, 0x86DD, 0x88E5, 0x0600, 0x05FF, 0x05DD, 0x05DC, 46, 0];
    let mut at = 12;
    // A type, and often tags with a type behind.
    while at + 2 <= frame.len() {
        let kind: u16 = kinds[random.usize(..kinds.len())];
        frame[at..at + 2].copy_from_slice(&kind.to_be_bytes());
        at += 4;
    }
    if frame.len() >= 16 && random.bool() {
        frame[14] = 0xFF;
        frame[15] = if random.bool() { 0xFF } else { 0xFE };
    }
    frame
}

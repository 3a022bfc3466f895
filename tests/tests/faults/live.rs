//! The real driver in a world, polled by hand, so that a test can do something in between.

use crate::MAC;
use ferronic::nic::{Config, Nic};
use ferronic::packet::Packet;
use ferronic::policy::Replenish;
use ferronic::pool::Buffer;
use ferronic::tx::TxQueue;
use ferronic_contract::ring::RingSize;
use ferronic_pcie::{Link, Settings};
use ferronic_sim::cost::HostCost;
use ferronic_sim::device::SimDevice;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::{Frame, Pace};
use ferronic_sim::world::World;
use std::cell::RefCell;
use std::rc::Rc;

/// A world that driver and test share.
pub type Shared = Rc<RefCell<World<NicCore, 8>>>;

/// A host whose work takes no time.
pub const FREE: HostCost =
    HostCost { interrupt_ns: 0, register_write_ns: 0, poll_ns: 0, packet_ns: 0, send_ns: 0 };

/// A link that is not what limits.
pub fn fast() -> Settings {
    Settings { link: Link::parse("gen3x8").expect("a link"), latency_ns: 100, ..Settings::default() }
}

/// Powers up a world.
pub fn world(settings: Settings) -> Shared {
    let world = World::new(settings, Pace::default(), Scoreboard::default()).expect("a world");
    Rc::new(RefCell::new(world))
}

/// The usual set-up with this ring on both sides.
pub fn config(ring: u32) -> Config {
    let size = RingSize::new(ring).expect("a ring size");
    let mut config =
        Config { mac: MAC, max_frame: 9600, buffer_bytes: 9600, buffers: 3 * ring + 64, ..Config::sized(size) };
    config.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 8.min(ring as u16 / 2) };
    config
}

/// A driver and its world.
pub struct Live {
    pub world: Shared,
    pub nic: Nic,
}

impl Live {
    /// Opens the device.
    pub fn open(world: &Shared, config: &Config) -> Self {
        let nic = Nic::open(SimDevice::open(world, FREE), config).expect("the device opens");
        nic.check().expect("the queues run");
        Self { world: Rc::clone(world), nic }
    }

    /// Brings frames on the wire.
    pub fn receive(&self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let mut world = self.world.borrow_mut();
        for (index, bytes) in frames.into_iter().enumerate() {
            world.source.push(Frame::new(bytes, "live".into(), index));
        }
    }

    /// A poll, then 16 cycles: packets go to the scoreboard, and back out when `echo`.
    pub fn turn(&mut self, echo: bool) -> usize {
        let (world, tx) = (&self.world, &mut self.nic.tx);
        let mut sink = |packet: Packet| {
            world.borrow_mut().on_delivered(&packet);
            if echo {
                let length = packet.completion.length;
                world.borrow_mut().scoreboard.on_send(packet.bytes());
                send(world, tx, packet.into_buffer(), length);
            }
        };
        let handled = self.nic.rx[0].poll(64, &mut sink).expect("the completions are sound");
        self.nic.tx.flush();
        self.nic.tx.reclaim().expect("the index is sound");
        self.pass(16);
        handled
    }

    /// Steps.
    pub fn pass(&self, cycles: u64) {
        let mut world = self.world.borrow_mut();
        for _ in 0..cycles {
            world.step();
        }
    }

    /// Turns until every frame is accounted for.
    pub fn settle(&mut self, echo: bool) {
        let (mut settled, mut quiet) = (0, 0);
        while quiet < 5000 {
            self.turn(echo);
            let world = self.world.borrow();
            if world.source.is_done() && world.scoreboard.is_settled() {
                return;
            }
            quiet = if world.scoreboard.settled() == settled { quiet + 1 } else { 0 };
            settled = world.scoreboard.settled();
        }
        let world = self.world.borrow();
        panic!("frames are stuck, {} to send: {:?}", world.scoreboard.unsent(), world.scoreboard.mismatches());
    }

    /// Nothing illegal, nothing wrong.
    pub fn must_be_sound(&self) {
        let mut world = self.world.borrow_mut();
        let illegal = world.illegal();
        assert!(illegal.is_empty(), "{illegal:?}");
        let (words, count) = world.scoreboard.mismatches();
        assert_eq!(count, 0, "{words:?}");
        assert_eq!(world.core_failure(), None);
    }

    /// One counter of the core.
    pub fn counter(&self, group: &str, name: &str) -> u32 {
        let counters = self.nic.counters();
        counters.iter().find(|c| c.group == group && c.name == name).expect("a counter").value
    }

    /// Closes the device; it must come to rest.
    pub fn close(self) {
        self.must_be_sound();
        self.nic.close().expect("the device comes to rest");
        let illegal = self.world.borrow().illegal();
        assert!(illegal.is_empty(), "{illegal:?}");
    }
}

/// Gives the TX ring a frame, and waits while it is full.
fn send(world: &Shared, tx: &mut TxQueue, mut buffer: Buffer, length: u16) {
    for _ in 0..100_000 {
        match tx.send(buffer, 0, length) {
            Ok(()) => return,
            Err(refused) => buffer = refused.buffer,
        }
        for _ in 0..16 {
            world.borrow_mut().step();
        }
    }
    panic!("the TX ring stays full");
}

//! The real driver in a world, polled by hand, so that a test can look away, or change something in between.

use std::cell::RefCell;
use std::rc::Rc;

use ferronic::nic::Nic;
use ferronic::packet::Packet;
use ferronic_sim::cost::HostCost;
use ferronic_sim::device::SimDevice;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::run::Run;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::Frame;
use ferronic_sim::world::World;

/// A host whose work takes no time.
const FREE: HostCost = HostCost { interrupt_ns: 0, register_write_ns: 0, poll_ns: 0, packet_ns: 0, send_ns: 0 };
/// Cycles between two polls.
const TURN: u64 = 32;

/// A driver and its world.
pub struct Live {
    pub world: Rc<RefCell<World<NicCore, 8>>>,
    pub nic: Nic,
    fates: Rc<RefCell<Vec<FrameLine>>>,
    pushed: usize,
}

impl Live {
    /// Opens the device as a run would.
    pub fn open(run: &Run) -> Self {
        let fates = Rc::new(RefCell::new(Vec::new()));
        let mut scoreboard = Scoreboard::default();
        let seen = Rc::clone(&fates);
        scoreboard.observe(Box::new(move |_, line| seen.borrow_mut().push(line.clone())));
        let world = World::new(run.pcie.clone(), run.pace, scoreboard).expect("a world");
        let world = Rc::new(RefCell::new(world));
        let nic = Nic::open(SimDevice::open(&world, FREE), &run.driver).expect("the device opens");
        nic.check().expect("the queues run");
        Self { world, nic, fates, pushed: 0 }
    }

    /// Brings frames on the wire.
    pub fn push(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let mut world = self.world.borrow_mut();
        for bytes in frames {
            world.source.push(Frame::new(bytes, "live".into(), self.pushed));
            self.pushed += 1;
        }
    }

    /// Lets the wire bring everything, and what can happen without the host happen.
    pub fn quiet(&self) {
        let mut world = self.world.borrow_mut();
        while !world.source.is_done() {
            world.step();
        }
        world.pass_ns(50_000);
    }

    /// Polls every queue, and lets a little time pass.
    pub fn turn(&mut self) {
        for queue in &mut self.nic.rx {
            let mut sink = |packet: Packet| self.world.borrow_mut().on_delivered(&packet);
            queue.poll(64, &mut sink).expect("the completions are sound");
        }
        let mut world = self.world.borrow_mut();
        for _ in 0..TURN {
            world.step();
        }
    }

    /// Turns until every frame is accounted for.
    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            self.turn();
            let world = self.world.borrow();
            if world.source.is_done() && world.scoreboard.is_settled() {
                return;
            }
        }
        panic!("frames are stuck: {:?}", self.world.borrow().scoreboard.mismatches());
    }

    /// What became of the frames since this was last asked, in the order of the wire.
    pub fn fates(&self) -> Vec<FrameLine> {
        self.fates.take()
    }

    /// One counter of the core.
    pub fn counter(&self, group: &str, name: &str) -> u32 {
        let counters = self.nic.counters();
        counters.iter().find(|c| c.group == group && c.name == name).expect("a counter").value
    }

    /// Closes the device, which must come to rest; nothing may be illegal or wrong.
    pub fn close(self) {
        self.nic.close().expect("the device comes to rest");
        let mut world = self.world.borrow_mut();
        assert_eq!(world.illegal(), Vec::<String>::new());
        assert_eq!(world.core_failure(), None);
        let (words, count) = world.scoreboard.mismatches();
        assert_eq!(count, 0, "{words:?}");
    }
}

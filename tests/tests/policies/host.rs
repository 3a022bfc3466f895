//! A host: one CPU that takes turns at the queues, sends packets back, and waits for interrupts when there is nothing to
//! do. Its work takes simulated time, and between two rounds a test can change or break something.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use ferronic::nic::Nic;
use ferronic::packet::{Packet, Sink};
use ferronic::policy::RxPolicy;
use ferronic::pool::{Allocation, Buffer, Pool};
use ferronic::rx::Turn;
use ferronic::tx::Why;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::rx_vector;
use ferronic_sim::cost::HostCost;
use ferronic_sim::device::SimDevice;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::run::Run;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::Frame;
use ferronic_sim::world::World;

/// Most packets that wait to be sent; a stack's queue has an end too.
const MOST_WAITING: usize = 128;
/// Rounds without any progress after which a test has failed.
const PATIENCE: u32 = 2_000;

type Shared = Rc<RefCell<World<NicCore, 8>>>;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// It goes back out.
    Echoes,
    /// It is kept.
    Keeps,
    /// Its buffer goes back to the pool.
    Drops,
}

/// Where packets end.
pub struct Desk {
    world: Shared,
    cost: HostCost,
    pub consumer: Consumer,
    waiting: VecDeque<(Buffer, u16)>,
    pub kept: Vec<Packet>,
    /// Packets dropped because too many waited to be sent.
    pub overflowed: u64,
}

impl Sink for Desk {
    fn deliver(&mut self, packet: Packet) {
        let mut world = self.world.borrow_mut();
        world.on_delivered(&packet);
        world.pass_ns(self.cost.packet_ns);
        match self.consumer {
            Consumer::Echoes if self.waiting.len() < MOST_WAITING => {
                let length = packet.completion.length;
                self.waiting.push_back((packet.into_buffer(), length));
            }
            Consumer::Echoes => self.overflowed += 1,
            Consumer::Keeps => self.kept.push(packet),
            Consumer::Drops => {}
        }
    }

    fn wants_header(&self, completion: &RxCompletion) -> bool {
        completion.index.is_multiple_of(2)
    }
}

/// A host and its device.
pub struct Host {
    pub world: Shared,
    pub nic: Nic,
    pub desk: Desk,
    /// Most packets of a queue's turn.
    pub budget: usize,
    /// Whether it waits for sent frames before it waits for received ones.
    pub waits_for_tx: bool,
    cost: HostCost,
    ring: u16,
    /// Pools that copies may still be out of.
    copies: Vec<Pool>,
}

impl Host {
    /// Opens the device as a run would.
    pub fn open(run: &Run) -> Self {
        let world = World::new(run.pcie.clone(), run.pace, Scoreboard::default()).expect("a world");
        let world = Rc::new(RefCell::new(world));
        let nic = Nic::open(SimDevice::open(&world, run.cost), &run.driver).expect("the device opens");
        nic.check().expect("the queues run");
        let desk = Desk {
            world: Rc::clone(&world),
            cost: run.cost,
            consumer: Consumer::Echoes,
            waiting: VecDeque::new(),
            kept: Vec::new(),
            overflowed: 0,
        };
        let copies = nic.rx.iter().filter_map(|queue| queue.copy_pool().cloned()).collect();
        let ring = run.driver.rx[0].queue.ring.entries() as u16;
        Self { world, nic, desk, budget: 64, waits_for_tx: false, cost: run.cost, ring, copies }
    }

    /// Brings frames on the wire.
    pub fn feed(&self, frames: impl Iterator<Item = Frame> + Send + 'static) {
        self.world.borrow_mut().source.feed(frames);
    }

    /// Changes how a queue receives.
    pub fn set_policy(&mut self, queue: usize, policy: RxPolicy) {
        self.nic.rx[queue].set_policy(policy).expect("a policy within its ranges");
        self.copies.extend(self.nic.rx[queue].copy_pool().cloned());
    }

    /// A round: each queue's turn, sending, and waiting when there was nothing to do.
    pub fn round(&mut self) {
        let mut idle = true;
        for queue in &mut self.nic.rx {
            let vector = rx_vector(queue.number().into());
            if queue.is_armed() && !self.world.borrow().has_interrupt(vector) {
                continue;
            }
            let turn = queue.turn(self.budget, Duration::ZERO, &mut self.desk).expect("the completions are sound");
            if turn != Turn::Idle {
                idle = false;
                self.world.borrow_mut().pass_ns(self.cost.poll_ns);
            }
            assert_eq!(queue.posted() + queue.waiting(), self.ring, "{:?}: a slot is lost", queue.policy());
        }
        self.send();
        if idle {
            self.wait();
        }
        self.world.borrow_mut().settle_host_drops(&self.nic.rx);
    }

    /// Gives the TX ring what waits, as far as there is room.
    fn send(&mut self) {
        let (tx, waiting) = (&mut self.nic.tx, &mut self.desk.waiting);
        while let Some((buffer, length)) = waiting.pop_front() {
            self.world.borrow_mut().pass_ns(self.cost.send_ns);
            let bytes = buffer.bytes()[..usize::from(length)].to_vec();
            let dropped = tx.statistics().dropped_ring_full;
            match tx.send(buffer, 0, length) {
                // It cannot be on the wire yet: the core has to read it first.
                Ok(()) if tx.statistics().dropped_ring_full == dropped => {
                    self.world.borrow_mut().scoreboard.on_send(&bytes);
                }
                Ok(()) => {}
                Err(refused) => {
                    assert_eq!(refused.why, Why::RingFull);
                    waiting.push_front((refused.buffer, length));
                    break;
                }
            }
        }
        tx.flush();
        tx.reclaim().expect("the index is sound");
    }

    fn wait(&mut self) {
        let more = !self.desk.waiting.is_empty();
        if more || self.waits_for_tx && self.nic.tx.outstanding() > 0 {
            self.nic.tx.wait(Duration::from_micros(5)).expect("the index is sound");
            return;
        }
        let mut world = self.world.borrow_mut();
        let deadline = world.now_ps() + 1_000_000_000;
        world.await_any(self.nic.rx.iter(), deadline);
    }

    /// Whether every frame that came, and every one that was sent, is accounted for.
    pub fn is_settled(&self) -> bool {
        let world = self.world.borrow();
        world.source.is_done() && world.scoreboard.is_settled() && self.desk.waiting.is_empty()
    }

    /// Rounds until every frame is accounted for; before each, `meanwhile` may change something.
    pub fn settle(&mut self, mut meanwhile: impl FnMut(&mut Self)) {
        let (mut last, mut quiet) = (0, 0);
        while !self.is_settled() {
            meanwhile(self);
            self.round();
            let settled = self.world.borrow().scoreboard.settled();
            quiet = if settled == last { quiet + 1 } else { 0 };
            last = settled;
            let world = self.world.borrow();
            let (mismatches, _) = world.scoreboard.mismatches();
            assert!(quiet < PATIENCE, "frames are stuck, {} to send: {mismatches:?}", world.scoreboard.unsent());
        }
    }

    /// One counter of the core.
    pub fn counter(&self, group: &str, name: &str) -> u64 {
        let counters = self.nic.counters();
        counters.iter().find(|c| c.group == group && c.name == name).expect("a counter").value.into()
    }

    /// Frames that were dropped on the way to the driver, or by it.
    pub fn dropped(&self) -> u64 {
        self.world.borrow().scoreboard.dropped().values().sum()
    }

    /// Closes the device, which must come to rest. Nothing may be illegal or wrong, every frame sent or counted as dropped,
    /// and every buffer back in its pool.
    pub fn close(mut self) {
        self.desk.kept.clear();
        for _ in 0..100 {
            self.world.borrow_mut().pass_ns(1000);
            self.nic.tx.reclaim_all().expect("the index is sound");
        }
        assert_eq!(self.nic.tx.outstanding(), 0);
        for queue in &self.nic.rx {
            let pool = queue.pool();
            let all = pool.available() + u32::from(queue.posted() + queue.waiting());
            assert!(all >= pool.buffers(), "{all} of {} buffers counted back", pool.buffers());
        }
        let pools: Vec<Pool> = self.nic.rx.iter().map(|queue| queue.pool().clone()).chain(self.copies).collect();
        self.nic.close().expect("the device comes to rest");
        for pool in pools {
            let counted = pool.statistics();
            assert_eq!((counted.held, counted.held_bytes, counted.held_memory), (0, 0, 0), "{counted:?}");
            if pool.allocation() != Allocation::HalfPage {
                assert_eq!(pool.available(), pool.buffers());
            }
        }
        let mut world = self.world.borrow_mut();
        assert_eq!(world.illegal(), Vec::<String>::new());
        assert_eq!(world.core_failure(), None);
        let (words, count) = world.scoreboard.mismatches();
        assert_eq!(count, 0, "{words:?}");
    }
}

//! The driver's seams on the simulated world.

use crate::core_model::CoreModel;
use crate::cost::HostCost;
use crate::world::World;
use ferronic::clock::Clock;
use ferronic::device::{Bar, Device, Dma, Interrupts};
use ferronic::dma::DmaRegion;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// A handle to a world, shared by the driver's seams and the scenario.
pub struct SimDevice<M, const B: usize> {
    world: Rc<RefCell<World<M, B>>>,
    cost: HostCost,
}

impl<M: CoreModel<B> + 'static, const B: usize> SimDevice<M, B> {
    /// The seams of a device in this world.
    pub fn open(world: &Rc<RefCell<World<M, B>>>, cost: HostCost) -> Device {
        let seams = || Self { world: Rc::clone(world), cost };
        Device { bar: Rc::new(seams()), dma: Rc::new(seams()), interrupts: Rc::new(seams()), clock: Rc::new(seams()) }
    }
}

impl<M: CoreModel<B>, const B: usize> Bar for SimDevice<M, B> {
    fn read32(&self, offset: u32) -> u32 {
        self.world.borrow_mut().read32(offset)
    }

    fn write32(&self, offset: u32, value: u32) {
        let mut world = self.world.borrow_mut();
        world.write32(offset, value);
        world.pass_ns(self.cost.register_write_ns);
    }
}

impl<M: CoreModel<B>, const B: usize> Dma for SimDevice<M, B> {
    fn allocate(&self, bytes: usize, alignment: usize) -> io::Result<DmaRegion> {
        self.world.borrow().memory().allocate(bytes, alignment)
    }
}

impl<M: CoreModel<B>, const B: usize> Interrupts for SimDevice<M, B> {
    fn wait(&self, vector: u32, timeout: Duration) -> io::Result<bool> {
        let mut world = self.world.borrow_mut();
        let deadline = world.now_ps() + timeout.as_nanos() as u64 * 1000;
        loop {
            if world.take_interrupt(vector) {
                world.pass_ns(self.cost.interrupt_ns);
                return Ok(true);
            }
            if world.now_ps() >= deadline || world.scoreboard.is_settled() && world.source.is_done() {
                return Ok(false);
            }
            world.step();
        }
    }
}

impl<M: CoreModel<B>, const B: usize> Clock for SimDevice<M, B> {
    /// Simulated time: reading it takes none.
    fn now(&self) -> Duration {
        Duration::from_nanos(self.world.borrow().now_ps() / 1000)
    }
}

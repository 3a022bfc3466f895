//! What a register costs.

use std::time::Duration;

use ferronic_contract::registers::SCRATCH;

use super::Nic;

/// The time of one access, seen by the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterCost {
    /// A read: there and back over the bus.
    pub read: Duration,
    /// A write, which is posted: the CPU goes on before it has arrived.
    pub write: Duration,
}

impl Nic {
    /// Measures what one register read and one register write cost, by the driver's clock: the mean of so many of each,
    /// at least one, of a register that has no effect. Not for the data path.
    pub fn register_cost(&self, times: u32) -> RegisterCost {
        let times = times.max(1);
        let mean = |access: &mut dyn FnMut()| {
            let begun = self.device.clock.now();
            (0..times).for_each(|_| access());
            self.device.clock.now().saturating_sub(begun) / times
        };
        let mut value = 0;
        let read = mean(&mut || value = self.global.read(SCRATCH));
        // What was there stays there.
        let write = mean(&mut || self.global.write(SCRATCH, value));
        RegisterCost { read, write }
    }
}

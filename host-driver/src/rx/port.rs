//! An RX queue as a port of a [schedule](crate::schedule).

use super::{RxFault, RxQueue, Sink};
use crate::schedule::{Port, Work};

/// An RX queue and where its packets go.
pub struct RxPort<'a, S: Sink + ?Sized> {
    /// The queue.
    pub queue: &'a mut RxQueue,
    /// Where its packets go.
    pub sink: &'a mut S,
}

impl<S: Sink + ?Sized> Port for RxPort<'_, S> {
    type Error = RxFault;

    fn poll(&mut self, budget: usize) -> Result<Work, RxFault> {
        let begun = self.queue.clock.now();
        let packets = self.queue.poll(budget, self.sink)?;
        Ok(Work { packets, elapsed: self.queue.clock.now().saturating_sub(begun) })
    }
}

//! When a used buffer is replaced in the RX ring.
//!
//! Whichever policy: a packet is delivered only when a fresh buffer for its place is in hand; if not, the packet is
//! dropped and its own buffer is what goes back. So every slot of the ring has its buffer at any time, either posted or
//! waiting to be posted, and the policy says only how long it waits. The device sees a ring with fewer descriptors, never
//! one with a hole, and no refill can fail.
//!
//! Where they come from: Linux's e1000 refilled at the end of a poll, and the netdev list of 2005 found that a weight of
//! 64 then starves the ring; `e1000_clean_rx_irq()` has refilled every 16 (`E1000_RX_BUFFER_WRITE`) since. DPDK's ixgbe
//! refills `rx_free_thresh` at a time (32). Corundum's driver refills 8 at a time, at the end of the poll. LOW WATER is
//! Ferronic's own.

use ferronic_contract::thresholds::OutOfRange;

use crate::queue::{in_range, QueueConfig};

/// When a used buffer is replaced.
///
/// To write several descriptors at a time is cheaper for the CPU, whose stores to a line that the device has read wait for
/// it once and not in the middle of each packet; to give them early is safer for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replenish {
    /// At once, as each packet is taken.
    AsTaken {
        /// Descriptors for each doorbell, 1 to the ring's entries. What is left over when a poll ends is published with
        /// the next doorbell, or before the driver sleeps.
        doorbell_every: u16,
    },
    /// So many at once with one doorbell, 1 to the ring's entries, in the middle of a poll too.
    Every(u16),
    /// All that a poll took, at its end.
    AtEnd,
    /// All that were taken, when the device has fewer left than the queue's LOW WATER
    /// ([`Thresholds::low_water`](ferronic_contract::thresholds::Thresholds::low_water)), which must be set.
    ///
    /// The device raises an event at the same mark, so that a sleeping driver comes and takes what is there. The driver
    /// does its own count of what it took: an event that is missed, or raised for packets whose completions are still
    /// on their way, costs nothing.
    OnLowWater,
}

impl Replenish {
    /// Refuses numbers that do not go with the queue's ring.
    pub(crate) fn check(self, queue: &QueueConfig) -> Result<(), OutOfRange> {
        let entries = queue.ring.entries();
        match self {
            Self::AsTaken { doorbell_every } => in_range("RX descriptors per doorbell", doorbell_every.into(), 1, entries),
            Self::Every(count) => in_range("RX descriptors per refill", count.into(), 1, entries),
            Self::AtEnd => Ok(()),
            Self::OnLowWater => in_range("LOW WATER to refill at", queue.thresholds.low_water.into(), 1, entries),
        }
    }
}

//! How an RX queue receives: every receive-side policy in one value, and copybreak.

use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::OutOfRange;

use super::{Classify, Prefetch, Rearm, Replenish, Weight};
use crate::queue::{in_range, QueueConfig};

/// Most bytes that are copied: the longest frame without a VLAN tag that carries 1500 bytes, and its FCS.
pub const MOST_COPYBREAK: u16 = 1518;
/// `netdev_budget_usecs` of Linux: 2 jiffies at 1000 Hz.
const USUAL_TURN_USECS: u32 = 2000;

/// How an RX queue receives. All of it may be changed between any two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxPolicy {
    /// When a used buffer is replaced.
    pub replenish: Replenish,
    /// Who classifies.
    pub classify: Classify,
    /// Which headers are asked for ahead.
    pub prefetch: Prefetch,
    /// Longest packet in bytes that is copied, 0 (none) to [`MOST_COPYBREAK`].
    ///
    /// A packet in one buffer that is no longer is copied into a small buffer, and its own goes straight back into the
    /// ring: a kept packet then holds little memory, and the pool is left alone. The small buffer can be sent as any other.
    /// When there is none left, the packet is delivered in its own. Linux drivers have a `copybreak` of 256 (e1000, e1000e,
    /// tg3's `RX_COPY_THRESHOLD`) or so.
    pub copybreak: u16,
    /// How many packets a poll of a [turn](crate::rx::RxQueue::turn) may deliver.
    pub weight: Weight,
    /// When a [turn](crate::rx::RxQueue::turn) lets interrupts come back.
    pub rearm: Rearm,
    /// Microseconds after which a [turn](crate::rx::RxQueue::turn) ends between two polls though there is more to do:
    /// `netdev_budget_usecs` of Linux. At least 1.
    pub turn_usecs: u32,
}

impl Default for RxPolicy {
    /// Replaced as taken with a doorbell every 8, classified by status bits, headers that will be touched prefetched,
    /// copied up to 256 bytes, 64 packets a poll, interrupts back when a poll found fewer.
    fn default() -> Self {
        Self {
            replenish: Replenish::AsTaken { doorbell_every: 8 },
            classify: Classify::default(),
            prefetch: Prefetch::default(),
            copybreak: 256,
            weight: Weight::default(),
            rearm: Rearm::default(),
            turn_usecs: USUAL_TURN_USECS,
        }
    }
}

impl RxPolicy {
    /// The usual policy for a ring of this size: the doorbell rings for every quarter of it at least.
    pub fn sized(ring: RingSize) -> Self {
        let doorbell_every = 8.min(ring.entries() as u16 / 4).max(1);
        Self { replenish: Replenish::AsTaken { doorbell_every }, ..Self::default() }
    }

    /// Refuses what is out of range, or does not go with the queue.
    pub(crate) fn check(&self, queue: &QueueConfig) -> Result<(), OutOfRange> {
        self.replenish.check(queue)?;
        self.classify.check()?;
        in_range("copybreak", self.copybreak.into(), 0, MOST_COPYBREAK.into())?;
        self.weight.check()?;
        self.rearm.check(queue)?;
        in_range("usecs of a turn", self.turn_usecs, 1, u32::MAX)
    }
}

//! How a TX queue sends: when buffers are taken back, what a full ring means, and who is told of what when.

use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::OutOfRange;

use crate::queue::in_range;

/// Most events that a vector can wait for.
const MOST_FRAMES: u16 = 255;

/// How a TX queue sends. All of it may be changed between any two calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxPolicy {
    /// How many buffers a call takes back.
    pub reclaim: Reclaim,
    /// What a full ring means.
    pub full: Full,
    /// When a wait is over.
    pub notify: Notify,
    /// When the device is told of frames.
    pub doorbell: Doorbell,
}

/// How many buffers of finished frames a call of [`TxQueue::reclaim`](crate::tx::TxQueue::reclaim) takes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reclaim {
    /// All there are: the cheapest a frame; but a call takes as long as the ring is.
    #[default]
    All,
    /// So many at most, 1 to the ring's entries: no call takes long. Linux drivers have such a limit
    /// (`tx_work_limit`, 256, in ixgbe_main.c).
    Constant(u16),
    /// None before half the ring is in use, then all: most calls, or sends without any, do not even look at the written
    /// back index, whose line the device has taken away. DPDK's drivers do that (`tx_free_thresh`).
    HalfUsed,
}

/// What happens to a frame for which there is no descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// It comes back to the caller. The queue stops when the ring is full, and wakes when `wake` descriptors are free, 1
    /// to the ring's entries: `netif_tx_stop_queue()` and `netif_tx_wake_queue()` of Linux. A queue that wakes for one
    /// free descriptor stops again with the next frame; drivers wait for a few, or a part of the ring
    /// (`TX_WAKE_THRESHOLD` in ixgbe.h; a quarter in tg3's `TG3_TX_WAKEUP_THRESH`).
    Stop {
        /// Descriptors that are free when the queue wakes.
        wake: u16,
    },
    /// It is dropped, and counted: what waits longer than the ring is long is often worth nothing any more.
    Drop,
}

impl Default for Full {
    fn default() -> Self {
        Self::Stop { wake: 1 }
    }
}

/// When [`TxQueue::wait`](crate::tx::TxQueue::wait) is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// With the next frame done.
    EveryPacket,
    /// When `tx-frames` are done, or `tx-usecs` after the first.
    #[default]
    Moderated,
    /// When the frame is done that matters: the one whose descriptor wakes a stopped queue, else three quarters of what
    /// is under way. That is a published index (`used_event`; virtio 1.2, section 2.7.10), and the choice of Linux's
    /// `virtqueue_enable_cb_delayed()`.
    ///
    /// The core has no register for an index; its vector counts events from the index that it is armed with. So the
    /// index is at most 255 ahead, and if a frame was done between the driver's last look and the arming, the vector
    /// fires at once, as it must, and the driver arms again. CYCLES is at its maximum, so a wait ends 2²⁴ cycles (0.13 s
    /// at 125 MHz) after the first frame done at the latest.
    EventIndex,
}

/// When the device is told of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doorbell {
    /// With each frame.
    EveryPacket,
    /// With [`TxQueue::flush`](crate::tx::TxQueue::flush), for all since the last; and when the ring is full. Linux calls
    /// that `xmit_more`.
    #[default]
    Batch,
}

impl TxPolicy {
    /// Refuses numbers that do not go with the ring.
    pub(crate) fn check(&self, ring: RingSize) -> Result<(), OutOfRange> {
        if let Reclaim::Constant(frames) = self.reclaim {
            in_range("frames reclaimed a call", frames.into(), 1, ring.entries())?;
        }
        if let Full::Stop { wake } = self.full {
            in_range("free descriptors to wake", wake.into(), 1, ring.entries())?;
        }
        Ok(())
    }
}

impl Reclaim {
    /// Most frames that a call takes back when `used` descriptors of `entries` are in use; 0 is not to look.
    pub(crate) fn most(self, used: u16, entries: u32) -> u16 {
        match self {
            Self::All => u16::MAX,
            Self::Constant(frames) => frames,
            Self::HalfUsed if 2 * u32::from(used) >= entries => u16::MAX,
            Self::HalfUsed => 0,
        }
    }
}

impl Notify {
    /// Events to wait for, of `under_way` frames of which the first `needed`, if any number is, are those that matter.
    /// `None` is as moderated.
    pub(crate) fn events(self, under_way: u16, needed: Option<u16>) -> Option<u16> {
        match self {
            Self::EveryPacket => Some(1),
            Self::Moderated => None,
            Self::EventIndex => {
                let three_quarters = (u32::from(under_way) * 3 / 4) as u16;
                Some(needed.unwrap_or(three_quarters).clamp(1, MOST_FRAMES))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_used_looks_from_the_half_on() {
        assert_eq!([0, 3, 4, 8].map(|used| Reclaim::HalfUsed.most(used, 8)), [0, 0, u16::MAX, u16::MAX]);
        assert_eq!(Reclaim::HalfUsed.most(32_768, 32_768), u16::MAX, "without overflow");
        assert_eq!([0, 8].map(|used| Reclaim::Constant(3).most(used, 8)), [3, 3]);
    }

    #[test]
    fn an_event_index_is_what_wakes_or_three_quarters() {
        let index = |under_way, needed| Notify::EventIndex.events(under_way, needed);
        assert_eq!(index(8, Some(2)), Some(2));
        assert_eq!(index(8, None), Some(6));
        assert_eq!(index(1, None), Some(1), "at least the next");
        assert_eq!(index(1024, None), Some(255), "as far as the vector counts");
        assert_eq!(index(u16::MAX, None), Some(255), "without overflow");
        assert_eq!(Notify::EveryPacket.events(8, Some(4)), Some(1));
        assert_eq!(Notify::Moderated.events(8, Some(4)), None);
    }
}

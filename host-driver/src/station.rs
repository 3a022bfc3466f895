//! Own address and filter epoch: the one place where both are kept.
//!
//! The core stamps each frame with the epoch of the address filter that it was compared with. Whoever changes the own
//! address or a filter takes the next epoch from here, and the RX queues trust a frame's DST and FILTER only when it
//! shows the newest. With 3 bits that holds as long as fewer than 8 changes are made while a frame is on its way.

use std::sync::atomic::{AtomicU64, Ordering};

use ferronic_contract::class::Mac;
use ferronic_contract::registers::{self, MAC_EPOCH};

use crate::device::Group;

/// Bits of the address below the epoch.
const MAC_BITS: u32 = 48;

/// Both in one word, so that neither is ever seen without the other.
pub(crate) struct Station(AtomicU64);

impl Station {
    pub(crate) fn new(mac: Mac, epoch: u8) -> Self {
        Self(AtomicU64::new(pack(mac, epoch)))
    }

    /// The own address and the epoch in force.
    pub(crate) fn get(&self) -> (Mac, u8) {
        let [a, b, c, d, e, f, epoch, _] = self.0.load(Ordering::Relaxed).to_le_bytes();
        ([a, b, c, d, e, f], epoch)
    }

    /// The epoch in force.
    #[inline]
    pub(crate) fn epoch(&self) -> u8 {
        (self.0.load(Ordering::Relaxed) >> MAC_BITS) as u8
    }

    /// Starts the next epoch, for a change that the caller makes in the core with it.
    pub(crate) fn next_epoch(&self) -> u32 {
        let (mac, epoch) = self.get();
        let next = (u32::from(epoch) + 1) & MAC_EPOCH.max();
        self.0.store(pack(mac, next as u8), Ordering::Relaxed);
        next
    }

    /// Writes an own address under the next epoch. The core takes both with the second write.
    pub(crate) fn announce(&self, mac: Mac, global: &Group) {
        let epoch = self.next_epoch();
        self.0.store(pack(mac, epoch as u8), Ordering::Relaxed);
        let [a, b, c, d, e, f] = mac;
        global.write(registers::MAC_LOW, u32::from_le_bytes([a, b, c, d]));
        let rest = registers::MAC_45.at(u32::from(u16::from_le_bytes([e, f])));
        global.write(registers::MAC_HIGH, rest | MAC_EPOCH.at(epoch));
    }
}

fn pack(mac: Mac, epoch: u8) -> u64 {
    let [a, b, c, d, e, f] = mac;
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0]) | u64::from(epoch) << MAC_BITS
}

//! Which frames are taken, what is taken out of them, and which queue they go to.

use ferronic_contract::class::Mac;
use ferronic_contract::registers::filter::{self, address_hash, HASH_BITS, INDIRECTION};
use ferronic_contract::registers::{self, FEATURE_FILTER, FEATURE_RSS, FEATURE_STRIP};

use super::Nic;
use crate::error::Error;
use crate::filters::Target;
use crate::queue::in_range;

/// Which packets are hashed over what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RssTypes {
    /// IPv4: the addresses.
    pub ipv4: bool,
    /// TCP over IPv4: addresses and ports.
    pub tcp4: bool,
    /// UDP over IPv4: addresses and ports.
    pub udp4: bool,
    /// IPv6: the addresses.
    pub ipv6: bool,
    /// TCP over IPv6: addresses and ports.
    pub tcp6: bool,
    /// UDP over IPv6: addresses and ports.
    pub udp6: bool,
}

impl RssTypes {
    /// None.
    pub const NONE: Self = Self { ipv4: false, tcp4: false, udp4: false, ipv6: false, tcp6: false, udp6: false };
    /// All.
    pub const ALL: Self = Self { ipv4: true, tcp4: true, udp4: true, ipv6: true, tcp6: true, udp6: true };

    fn register(self) -> u32 {
        registers::RSS_IPV4.at(self.ipv4.into())
            | registers::RSS_TCP4.at(self.tcp4.into())
            | registers::RSS_UDP4.at(self.udp4.into())
            | registers::RSS_IPV6.at(self.ipv6.into())
            | registers::RSS_TCP6.at(self.tcp6.into())
            | registers::RSS_UDP6.at(self.udp6.into())
    }
}

/// How packets are spread over the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rss {
    /// What is hashed.
    pub types: RssTypes,
    /// Queue of frames without a hash.
    pub default_queue: u8,
    /// Queue by the low 7 bits of the hash.
    pub table: [u8; INDIRECTION],
}

impl Rss {
    /// Evenly over the queues from 0 up.
    pub fn even(types: RssTypes, queues: u8) -> Self {
        Self { types, default_queue: 0, table: std::array::from_fn(|entry| (entry % usize::from(queues.max(1))) as u8) }
    }
}

/// Which frames are taken besides those for this station and for everyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RxMode {
    /// Every frame.
    pub promiscuous: bool,
    /// Every multicast frame.
    pub all_multicast: bool,
    /// Frames to these addresses, groups or stations. The core knows them by a hash of 9 bits, so it also lets in
    /// others.
    pub addresses: Vec<Mac>,
    /// What happens to frames that only `addresses` let in.
    pub action: Target,
    /// Their tag.
    pub tag: u16,
}

impl Default for RxMode {
    /// Promiscuous, as the core is after a reset.
    fn default() -> Self {
        Self { promiscuous: true, all_multicast: false, addresses: Vec::new(), action: Target::Rss, tag: 0 }
    }
}

/// Which outer VLAN tags are taken out; their TCI is in the completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlanStrip {
    /// Customer tags, TPID 0x8100.
    pub customer: bool,
    /// Service tags, TPID 0x88A8.
    pub service: bool,
}

impl Nic {
    /// How packets are spread.
    pub fn rss(&self) -> &Rss {
        &self.rss
    }

    /// Spreads packets in another way. While it is written, packets follow the old table or the new one.
    ///
    /// # Errors
    ///
    /// The build has no RSS, or a queue is not open.
    pub fn set_rss(&mut self, rss: Rss) -> Result<(), Error> {
        self.features.need(FEATURE_RSS, "spreading by hash")?;
        for queue in rss.table.into_iter().chain([rss.default_queue]) {
            in_range("queue", queue.into(), 0, self.rx.len() as u32 - 1)?;
        }
        for (word, four) in (0..).zip(rss.table.chunks_exact(4)) {
            self.filter.write_word(filter::INDIRECT, word, u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        }
        let value = rss.types.register() | registers::DEFAULT_QUEUE.at(rss.default_queue.into());
        self.global.write(registers::RSS, value);
        self.rss = rss;
        Ok(())
    }

    /// Which frames are taken.
    pub fn rx_mode(&self) -> &RxMode {
        &self.mode
    }

    /// Takes other frames. What was compared with the old addresses does not count as filtered any more.
    ///
    /// # Errors
    ///
    /// The build has no filters, or the queue is not open.
    pub fn set_rx_mode(&mut self, mode: RxMode) -> Result<(), Error> {
        self.features.need(FEATURE_FILTER, "taking some frames and not others")?;
        mode.action.check(self.rx.len() as u8)?;
        let mut table = [0u32; HASH_BITS / 32];
        for bit in mode.addresses.iter().map(|address| usize::from(address_hash(address))) {
            table[bit / 32] |= 1 << (bit % 32);
        }
        for (word, value) in (0..).zip(table) {
            self.filter.write_word(filter::HASH, word, value);
        }
        let action = registers::HASH_ACTION.at(mode.action.action() as u32)
            | registers::HASH_QUEUE.at(mode.action.queue().into())
            | registers::HASH_TAG.at(mode.tag.into());
        self.global.write(registers::HASH_FILTER, action);
        self.mode = mode;
        self.write_rx_mode();
        self.station.announce(self.mac(), &self.global);
        Ok(())
    }

    /// Which VLAN tags are taken out.
    pub fn vlan_strip(&self) -> VlanStrip {
        self.strip
    }

    /// Takes VLAN tags out, or leaves them in.
    ///
    /// # Errors
    ///
    /// The build cannot.
    pub fn set_vlan_strip(&mut self, strip: VlanStrip) -> Result<(), Error> {
        self.features.need(FEATURE_STRIP, "taking VLAN tags out")?;
        self.strip = strip;
        self.write_rx_mode();
        Ok(())
    }

    fn write_rx_mode(&self) {
        let group = |address: &Mac| address[0] & 1 == 1;
        let groups = self.mode.addresses.iter().any(group);
        let stations = !self.mode.addresses.iter().all(group);
        let value = registers::PROMISCUOUS.at(self.mode.promiscuous.into())
            | registers::ALL_MULTICAST.at(self.mode.all_multicast.into())
            | registers::HASH_MULTICAST.at(groups.into())
            | registers::HASH_UNICAST.at(stations.into())
            | registers::STRIP_C.at(self.strip.customer.into())
            | registers::STRIP_S.at(self.strip.service.into());
        self.global.write(registers::RX_MODE, value);
    }
}

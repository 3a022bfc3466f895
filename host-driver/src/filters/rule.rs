//! What a filter says.

use std::net::IpAddr;

use ferronic_contract::class::Mac;
use ferronic_contract::parse::{L3, L4};
use ferronic_contract::registers::filter::{
    Action, Key, KIND_DESTINATION, KIND_DMAC, KIND_PORT, KIND_SOURCE, KIND_TYPE, KIND_VLAN, ROW_VLAN,
};

use super::FilterError;
use crate::error::Error;
use crate::queue::in_range;

/// A transport with ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// The fields that a frame must have; `None` is any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    /// Destination address.
    pub dmac: Option<Mac>,
    /// VID of the outer VLAN tag.
    pub vlan: Option<u16>,
    /// EtherType behind the VLAN tags.
    pub ethertype: Option<u16>,
    /// Source address.
    pub source: Option<IpAddr>,
    /// Destination address.
    pub destination: Option<IpAddr>,
    /// Destination port.
    pub port: Option<(Transport, u16)>,
}

impl Match {
    /// The fields named, as the contract's KIND register has them.
    ///
    /// # Errors
    ///
    /// None is named, or a value cannot be.
    pub(super) fn check(&self) -> Result<u32, Error> {
        in_range("VLAN", self.vlan.unwrap_or(0).into(), 0, ROW_VLAN.max())?;
        if let (Some(source), Some(destination)) = (self.source, self.destination) {
            if source.is_ipv4() != destination.is_ipv4() {
                return Err(FilterError::Families.into());
            }
        }
        let fields = KIND_DMAC.at(self.dmac.is_some().into())
            | KIND_VLAN.at(self.vlan.is_some().into())
            | KIND_TYPE.at(self.ethertype.is_some().into())
            | KIND_SOURCE.at(self.source.is_some().into())
            | KIND_DESTINATION.at(self.destination.is_some().into())
            | KIND_PORT.at(self.port.is_some().into());
        if fields == 0 {
            return Err(FilterError::Empty.into());
        }
        Ok(fields)
    }

    /// The key of its row.
    pub fn key(&self) -> Key {
        let l3 = |address: IpAddr| if address.is_ipv4() { L3::Ipv4 } else { L3::Ipv6 };
        let (l4, port) = match self.port {
            None => (L4::None, 0),
            Some((Transport::Tcp, port)) => (L4::Tcp, port),
            Some((Transport::Udp, port)) => (L4::Udp, port),
            Some((Transport::Sctp, port)) => (L4::Sctp, port),
        };
        Key {
            dmac: self.dmac.unwrap_or_default(),
            ethertype: self.ethertype.unwrap_or(0),
            vlan: self.vlan.unwrap_or(0),
            l4: l4 as u8,
            port,
            l3: self.source.or(self.destination).map_or(L3::None, l3) as u8,
            source: self.source.map(bytes).unwrap_or_default(),
            destination: self.destination.map(bytes).unwrap_or_default(),
        }
    }
}

/// An address as a row has it: IPv4 in the first four bytes.
fn bytes(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V6(address) => address.octets(),
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            bytes
        }
    }
}

/// What happens to a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// It is spread like a frame without a filter.
    #[default]
    Rss,
    /// It goes to this RX queue.
    Queue(u8),
    /// It is dropped.
    Drop,
}

impl Target {
    /// Refuses a queue that is not open.
    pub(crate) fn check(self, queues: u8) -> Result<(), Error> {
        Ok(in_range("queue", self.queue().into(), 0, u32::from(queues) - 1)?)
    }

    pub(crate) fn action(self) -> Action {
        match self {
            Self::Rss => Action::Rss,
            Self::Queue(_) => Action::Queue,
            Self::Drop => Action::Drop,
        }
    }

    /// The queue; 0 when the action has none.
    pub(crate) fn queue(self) -> u8 {
        match self {
            Self::Queue(queue) => queue,
            Self::Rss | Self::Drop => 0,
        }
    }
}

/// Frames that match go to the target and carry the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Which frames.
    pub on: Match,
    /// Where they go.
    pub target: Target,
    /// What the completion says of them.
    pub tag: u16,
}

//! The rule behind the L2 status bits, in software.
//!
//! The driver falls back on it, the reference model answers with it, and the RTL is compared with it on
//! every frame of every test. It is Linux's `eth_type_trans()` (net/ethernet/eth.c): destination kind by
//! own address first, protocol verbatim without looking into VLAN tags.

use crate::status::{Destination, Status, L2};
use crate::status::{CLASSIFIED, DST, EPOCH, L2_KIND, VLAN};

/// `ETH_P_802_3_MIN`: the least value of the type field that is a type and not a length (IEEE 802.3, 3.2.6).
pub const TYPE_MIN: u16 = 0x0600;
/// `ETH_P_802_3`: the protocol of raw 802.3 frames.
pub const PROTOCOL_RAW: u16 = 0x0001;
/// `ETH_P_802_2`: the protocol of 802.2 LLC frames.
pub const PROTOCOL_LLC: u16 = 0x0004;
/// TPID of a customer VLAN tag (IEEE 802.1Q, table 9-1).
pub const TPID_C: u16 = 0x8100;
/// TPID of a service VLAN tag (IEEE 802.1Q, table 9-1).
pub const TPID_S: u16 = 0x88A8;

/// A station address, first byte on the wire first.
pub type Mac = [u8; 6];

/// What the link layer says of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Whom it is for.
    pub destination: Destination,
    /// `skb->protocol`, in host order.
    pub protocol: u16,
    /// Framing.
    pub l2: L2,
    /// VLAN tags wholly present, 0 to 2.
    pub vlan_tags: u8,
}

impl Class {
    /// The status bits of a classified frame that fits one buffer.
    pub const fn status(&self, epoch: u8) -> Status {
        Status(0)
            .with(CLASSIFIED, 1)
            .with(DST, self.destination as u32)
            .with(L2_KIND, self.l2 as u32)
            .with(VLAN, self.vlan_tags as u32)
            .with(EPOCH, epoch as u32)
            .with(crate::status::SOP, 1)
            .with(crate::status::EOP, 1)
    }

    /// Offset of the network header: after the Ethernet header and the VLAN tags counted.
    pub const fn l3_offset(&self) -> u8 {
        14 + 4 * self.vlan_tags
    }
}

/// Classifies a frame; `None` when it is shorter than an Ethernet header.
pub fn classify(frame: &[u8], own: &Mac) -> Option<Class> {
    let header = frame.first_chunk::<14>()?;
    let destination = destination(&[header[0], header[1], header[2], header[3], header[4], header[5]], own);
    let kind = u16::from_be_bytes([header[12], header[13]]);
    let (protocol, l2) = if kind >= TYPE_MIN {
        (kind, L2::EthernetII)
    } else if frame.get(14..16) == Some(&[0xFF, 0xFF]) {
        (PROTOCOL_RAW, L2::Raw)
    } else {
        (PROTOCOL_LLC, L2::Llc)
    };
    Some(Class { destination, protocol, l2, vlan_tags: vlan_tags(frame) })
}

/// Own address first, as the kernel does it: a station whose address has the group bit set is still the host.
fn destination(address: &Mac, own: &Mac) -> Destination {
    if address == own {
        Destination::Host
    } else if *address == [0xFF; 6] {
        Destination::Broadcast
    } else if address[0] & 1 == 1 {
        Destination::Multicast
    } else {
        Destination::OtherHost
    }
}

/// A tag counts when its four bytes are followed by room for a type: the second is looked for only behind a first.
fn vlan_tags(frame: &[u8]) -> u8 {
    let tag_at = |offset: usize| match frame.get(offset..offset + 6) {
        Some(bytes) => [TPID_C, TPID_S].contains(&u16::from_be_bytes([bytes[0], bytes[1]])),
        None => false,
    };
    match (tag_at(12), tag_at(16)) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Mac = [2, 0, 0, 0, 0, 1];

    fn frame(destination: Mac, rest: &[u8]) -> ([u8; 64], usize) {
        let mut bytes = [0; 64];
        bytes[..6].copy_from_slice(&destination);
        bytes[12..12 + rest.len()].copy_from_slice(rest);
        (bytes, 12 + rest.len())
    }

    fn class(destination: Mac, rest: &[u8]) -> Class {
        let (bytes, length) = frame(destination, rest);
        classify(&bytes[..length], &OWN).unwrap()
    }

    #[test]
    fn destinations_are_told_in_the_kernels_order() {
        assert_eq!(class(OWN, &[8, 0]).destination, Destination::Host);
        assert_eq!(class([0xFF; 6], &[8, 0]).destination, Destination::Broadcast);
        assert_eq!(class([1, 0, 0x5E, 0, 0, 1], &[8, 0]).destination, Destination::Multicast);
        assert_eq!(class([2, 0, 0, 0, 0, 2], &[8, 0]).destination, Destination::OtherHost);
        let (bytes, length) = frame([0xFF; 6], &[8, 0]);
        assert_eq!(classify(&bytes[..length], &[0xFF; 6]).unwrap().destination, Destination::Host);
    }

    #[test]
    fn the_type_field_is_a_length_below_0x0600() {
        assert_eq!(class(OWN, &[0x06, 0x00]).protocol, 0x0600);
        assert_eq!(class(OWN, &[0x05, 0xFF, 0xAA, 0xAA]).protocol, PROTOCOL_LLC);
        assert_eq!(class(OWN, &[0x05, 0xDD, 0xFF, 0xFF]).protocol, PROTOCOL_RAW);
        assert_eq!(class(OWN, &[0x00, 0x00]).protocol, PROTOCOL_LLC, "ends at byte 14");
        assert_eq!(class(OWN, &[0x00, 0x01, 0xFF]).protocol, PROTOCOL_LLC, "ends at byte 15");
    }

    #[test]
    fn tags_count_only_when_whole() {
        assert_eq!(class(OWN, &[0x81, 0, 0, 1, 8, 0]).vlan_tags, 1);
        assert_eq!(class(OWN, &[0x88, 0xA8, 0, 1, 0x81, 0, 0, 2, 8, 0]).vlan_tags, 2);
        assert_eq!(class(OWN, &[0x81, 0, 0, 1, 0x81, 0, 0, 2]).vlan_tags, 1, "second tag cut");
        assert_eq!(class(OWN, &[0x81, 0, 0, 1]).vlan_tags, 0, "first tag cut");
        assert_eq!(class(OWN, &[8, 0, 0, 1, 0x81, 0, 0, 2, 8, 0]).vlan_tags, 0);
        assert_eq!(class(OWN, &[0x81, 0, 0, 1, 8, 0]).protocol, TPID_C);
    }

    #[test]
    fn shorter_than_a_header_is_not_classified() {
        for length in 0..14 {
            assert_eq!(classify(&[0; 14][..length], &OWN), None);
        }
    }
}

//! What the link layer says of a frame, by the rules of `eth_type_trans()` (Linux, net/ethernet/eth.c).

use etherparse::{EtherType, Ethernet2Slice, LinuxNonstandardEtherType, SingleVlanSlice};
use ferronic_contract::class::Mac;
use ferronic_contract::status::{Destination, L2};

/// Least value of the type field that names a protocol; anything below is a length (IEEE 802.3, 3.2.6).
const LEAST_TYPE: u16 = 1536;
/// Most tags that a completion can count.
const MOST_TAGS: usize = 2;

/// What the link layer says of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// Whom it is for.
    pub destination: Destination,
    /// What `skb->protocol` would be, in host order.
    pub protocol: u16,
    /// How the frame says what it carries.
    pub l2: L2,
    /// VLAN tags that are, or were, wholly there, 0 to 2.
    pub vlan_tags: u8,
    /// Offset of the network header in bytes: 14, and 4 more for each tag counted that is there.
    pub l3_offset: u8,
}

/// Classifies a frame that starts at its destination address; `None` when it has no whole Ethernet header.
pub fn classify(frame: &[u8], own: &Mac) -> Option<Classification> {
    classify_up_to(frame, own, MOST_TAGS)
}

/// Classifies a frame of which `stripped` says that its outer tag is gone: that one is counted, and one fewer looked for.
pub(super) fn classify_delivered(frame: &[u8], own: &Mac, stripped: bool) -> Option<Classification> {
    let class = classify_up_to(frame, own, MOST_TAGS - usize::from(stripped))?;
    Some(Classification { vlan_tags: class.vlan_tags + u8::from(stripped), ..class })
}

fn classify_up_to(frame: &[u8], own: &Mac, most_tags: usize) -> Option<Classification> {
    let ethernet = Ethernet2Slice::from_slice_without_fcs(frame).ok()?;
    let l2 = framing(&ethernet);
    let protocol = match l2 {
        L2::EthernetII => ethernet.ether_type().0,
        L2::Llc => LinuxNonstandardEtherType::N802_2.into(),
        L2::Raw => LinuxNonstandardEtherType::N802_3.into(),
    };
    let (mut vlan_tags, mut l3_offset) = (0, ethernet.header_slice().len() as u8);
    for tag in tags(&ethernet).take(most_tags) {
        vlan_tags += 1;
        l3_offset += tag.header_slice().len() as u8;
    }
    Some(Classification { destination: destination(ethernet.destination(), own), protocol, l2, vlan_tags, l3_offset })
}

/// The own address comes first, whatever it looks like: a station may be given a group address.
fn destination(address: Mac, own: &Mac) -> Destination {
    let is_group = address[0] % 2 == 1;
    match address {
        address if address == *own => Destination::Host,
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] => Destination::Broadcast,
        _ if is_group => Destination::Multicast,
        _ => Destination::OtherHost,
    }
}

/// Novell's frames without LLC start with the checksum 0xFFFF of their IPX header. Where there are not two
/// bytes to look at, the kernel takes the frame for LLC.
fn framing(ethernet: &Ethernet2Slice) -> L2 {
    if ethernet.ether_type().0 >= LEAST_TYPE {
        L2::EthernetII
    } else if ethernet.payload_slice().starts_with(&[0xFF, 0xFF]) {
        L2::Raw
    } else {
        L2::Llc
    }
}

/// The VLAN tags at the start of the frame that the contract counts.
fn tags<'a>(ethernet: &Ethernet2Slice<'a>) -> impl Iterator<Item = SingleVlanSlice<'a>> {
    let tag = |kind: EtherType, rest: &'a [u8]| match kind {
        EtherType::VLAN_TAGGED_FRAME | EtherType::PROVIDER_BRIDGING => SingleVlanSlice::from_slice(rest).ok(),
        _ => None,
    };
    let outer = tag(ethernet.ether_type(), ethernet.payload_slice());
    std::iter::successors(outer, move |outer| tag(outer.ether_type(), outer.payload_slice()))
}

//! What the link layer says of a frame, by the rules of `eth_type_trans()` (Linux, net/ethernet/eth.c).

use etherparse::{EtherType, Ethernet2Slice, LinuxNonstandardEtherType, SingleVlanSlice};
use ferronic_contract::class::Mac;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::ring::RingSize;
use ferronic_contract::status::{self, Destination, Status, L2};

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
    /// VLAN tags that are wholly there, 0 to 2.
    pub vlan_tags: u8,
    /// Offset of the network header in bytes: 14, 18 or 22.
    pub l3_offset: u8,
}

/// Classifies a frame that starts at its destination address; `None` when it has no whole Ethernet header.
pub fn classify(frame: &[u8], own: &Mac) -> Option<Classification> {
    let ethernet = Ethernet2Slice::from_slice_without_fcs(frame).ok()?;
    let l2 = framing(&ethernet);
    let protocol = match l2 {
        L2::EthernetII => ethernet.ether_type().0,
        L2::Llc => LinuxNonstandardEtherType::N802_2.into(),
        L2::Raw => LinuxNonstandardEtherType::N802_3.into(),
    };
    let (mut vlan_tags, mut l3_offset) = (0, ethernet.header_slice().len() as u8);
    for tag in tags(&ethernet) {
        vlan_tags += 1;
        l3_offset += tag.header_slice().len() as u8;
    }
    Some(Classification { destination: destination(ethernet.destination(), own), protocol, l2, vlan_tags, l3_offset })
}

/// The completion that a core with L2 classification, and nothing beyond, must write for a frame that it accepts.
///
/// `epoch` is the address filter's, `index` the free-running index of the completion in a ring of `size`, and
/// `cookie` comes from the descriptor. A frame without a whole header, which the core must drop, has no class
/// here either.
pub fn expected_completion(frame: &[u8], own: &Mac, epoch: u8, index: u16, size: RingSize, cookie: u32) -> RxCompletion {
    let mut completion = RxCompletion {
        length: frame.len() as u16,
        status: Status::default().with(status::EPOCH, u32::from(epoch)).with(status::SOP, 1).with(status::EOP, 1),
        cookie,
        index,
        // The first pass over the ring is written with phase 1, the second with 0, and so on.
        phase: (u32::from(index) / size.entries()).is_multiple_of(2),
        ..RxCompletion::default()
    };
    if let Some(class) = classify(frame, own) {
        completion.protocol = class.protocol;
        completion.l3_offset = class.l3_offset;
        completion.status = completion
            .status
            .with(status::CLASSIFIED, 1)
            .with(status::DST, class.destination as u32)
            .with(status::L2_KIND, class.l2 as u32)
            .with(status::VLAN, u32::from(class.vlan_tags));
    }
    completion
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
    std::iter::successors(outer, move |outer| tag(outer.ether_type(), outer.payload_slice())).take(MOST_TAGS)
}

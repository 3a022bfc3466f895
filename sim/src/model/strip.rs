//! Removal of the outer VLAN tag, before anything else looks at the frame.

use std::borrow::Cow;

use etherparse::{EtherType, Ethernet2Slice, SingleVlanSlice};
use ferronic_contract::registers;

/// A frame as it goes to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered<'a> {
    /// Its bytes.
    pub bytes: Cow<'a, [u8]>,
    /// The tag that was removed.
    pub stripped: Option<Tag>,
}

/// A removed VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Priority, drop eligibility and VID.
    pub tci: u16,
    /// A service tag (TPID 0x88A8).
    pub service: bool,
}

/// Removes the outer tag when RX_MODE (`mode`) says so of its TPID and the tag is whole, a type behind it included.
pub fn strip(frame: &[u8], mode: u32) -> Delivered<'_> {
    let whole = |service| {
        let outer = Ethernet2Slice::from_slice_without_fcs(frame).ok()?;
        let tag = SingleVlanSlice::from_slice(outer.payload_slice()).ok()?;
        let (addresses, rest) = (&frame[..12], &frame[16..]);
        let tci = u16::from_be_bytes([tag.slice()[0], tag.slice()[1]]);
        Some(Delivered { bytes: [addresses, rest].concat().into(), stripped: Some(Tag { tci, service }) })
    };
    let kind = Ethernet2Slice::from_slice_without_fcs(frame).map(|outer| outer.ether_type());
    let stripped = match kind {
        Ok(EtherType::VLAN_TAGGED_FRAME) if registers::STRIP_C.of(mode) == 1 => whole(false),
        Ok(EtherType::PROVIDER_BRIDGING) if registers::STRIP_S.of(mode) == 1 => whole(true),
        _ => None,
    };
    stripped.unwrap_or(Delivered { bytes: frame.into(), stripped: None })
}

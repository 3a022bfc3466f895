//! The link-layer rule with one bit wrong, and frames that find each of them out.
//!
//! A check that lets such a rule pass has not looked at that bit.

use ferronic_contract::class::Mac;

use crate::oracle::Answer;

/// `eth_type_trans()` with its constants open to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Bits of the address that are compared with the own one.
    own_mask: Mac,
    /// Bits of the address that are 1 in the broadcast address.
    broadcast_mask: Mac,
    /// The group bit, in the first byte.
    group: u8,
    /// Least value of the type field that is a type.
    type_min: u16,
    /// The two bytes behind a length that make a frame raw 802.3.
    raw: u16,
    /// Whether the own address is looked for before the group bit.
    own_first: bool,
}

/// The rule as it is.
pub const RULE: Rule =
    Rule { own_mask: [0xFF; 6], broadcast_mask: [0xFF; 6], group: 1, type_min: 0x0600, raw: 0xFFFF, own_first: true };

impl Rule {
    /// What the rule says of a frame with a whole Ethernet header.
    pub fn answer(&self, frame: &[u8], own: &Mac) -> Answer {
        let masked = |mask: &Mac, other: &Mac| (0..6).all(|i| frame[i] & mask[i] == other[i] & mask[i]);
        let group = frame[0] & self.group != 0;
        let pkt_type = match (masked(&self.own_mask, own), group) {
            (true, false) => 0,
            (true, true) if self.own_first => 0,
            (_, true) if masked(&self.broadcast_mask, &[0xFF; 6]) => 1,
            (_, true) => 2,
            (false, false) => 3,
        };
        let kind = u16::from_be_bytes([frame[12], frame[13]]);
        let protocol = match frame.get(14..16) {
            _ if kind >= self.type_min => kind,
            Some(bytes) if *bytes == self.raw.to_be_bytes() => 1,
            _ => 4,
        };
        Answer { pkt_type, protocol }
    }
}

/// The one mutant that no frame finds out where the own address is not a group address.
pub const WRONG_ORDER: &str = "group bit before own address";

/// Every rule that differs in one bit of one constant, and the one with its questions in the wrong order, each
/// with what is wrong.
pub fn mutants() -> Vec<(String, Rule)> {
    let mut all = Vec::new();
    for bit in 0..48 {
        let (byte, mask) = (bit / 8, 0x80 >> (bit % 8));
        let mut rule = RULE;
        rule.own_mask[byte] ^= mask;
        all.push((format!("own address without bit {bit}"), rule));
        // Of frames without the group bit nobody asks whether they are broadcasts.
        if (byte, mask) != (0, RULE.group) {
            let mut rule = RULE;
            rule.broadcast_mask[byte] ^= mask;
            all.push((format!("broadcast address without bit {bit}"), rule));
        }
    }
    for bit in 1..8 {
        all.push((format!("bit {bit} for the group bit"), Rule { group: 1 << bit, ..RULE }));
    }
    for bit in 0..16 {
        let (type_min, raw) = (RULE.type_min ^ 1 << bit, RULE.raw ^ 1 << bit);
        all.push((format!("types from {type_min:#06x} on"), Rule { type_min, ..RULE }));
        all.push((format!("raw 802.3 by {raw:#06x}"), Rule { raw, ..RULE }));
    }
    all.push((WRONG_ORDER.into(), Rule { own_first: false, ..RULE }));
    all
}

/// Frames on the edges of the rule for a station with this address. They find out every mutant, the wrong
/// order only where the address is a group address.
pub fn edge_frames(own: &Mac) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut add = |destination: &Mac, kind: u16, rest: &[u8], length: usize| {
        let mut frame = [destination.as_slice(), &[2, 0, 0, 0, 0, 9], &kind.to_be_bytes(), rest].concat();
        frame.resize(length, 0);
        frames.push(frame);
    };
    for address in [*own, [0xFF; 6]] {
        add(&address, 0x0800, &[], 60);
        for bit in 0..48 {
            let mut near = address;
            near[bit / 8] ^= 0x80 >> (bit % 8);
            add(&near, 0x0800, &[], 60);
        }
    }
    for kind in [0x0600, 0x05FF, 0x0601, 0, 1, 46, 1500, 1501, 0xFFFF, 0x8100, 0x88A8, 0x9100] {
        // What follows makes a VLAN tag whole.
        add(own, kind, &[0, 5, 8, 0], 60);
    }
    add(own, 46, &[0xFF, 0xFF], 60);
    for bit in 0..16 {
        add(own, 46, &(0xFFFF_u16 ^ 1 << bit).to_be_bytes(), 60);
    }
    add(own, 46, &[0xFF, 0xFF], 16);
    add(own, 46, &[0xFF], 15);
    add(own, 46, &[], 14);
    add(own, 0x0800, &[], 14);
    frames
}

//! What became of a frame.

use crate::model::DropCause;
use serde::Serialize;

/// Why a frame did not reach the driver's sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// The core dropped it.
    Core(DropCause),
    /// The driver had no buffer to take the place of the frame's.
    NoHostBuffer,
}

impl Lost {
    /// Name in reports; the core's causes carry the names of its counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core(cause) => cause.name(),
            Self::NoHostBuffer => "no_host_buffer",
        }
    }
}

/// The causes of the packet FIFO, in the order of the bits that the core shows.
const AT_THE_FIFO: [DropCause; 6] = [
    DropCause::Disabled,
    DropCause::Bad,
    DropCause::Undersize,
    DropCause::Oversize,
    DropCause::Fifo,
    DropCause::NoDescriptor,
];

/// The cause in the bits that the core shows when a frame ends; `None` when no bit is set.
///
/// # Errors
///
/// More than one bit, or an unknown one: the core must give one cause a frame.
pub fn cause_from_bits(bits: u8) -> Result<Option<DropCause>, u8> {
    match bits.count_ones() {
        0 => Ok(None),
        1 => AT_THE_FIFO.get(bits.trailing_zeros() as usize).copied().map(Some).ok_or(bits),
        _ => Err(bits),
    }
}

/// One frame of the run, as `--frames` writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameLine {
    /// File name of the capture, or "generated".
    pub capture: String,
    /// Index in the capture, from 0.
    pub index: usize,
    /// "delivered", or "dropped:" and the cause.
    pub outcome: String,
    /// Bytes on the wire, without FCS, padding included.
    pub length: usize,
    /// What the core and the driver said of it; in JSON, nulls for a dropped frame.
    #[serde(flatten, serialize_with = "class_or_nulls")]
    pub class: Option<ClassLine>,
}

/// The classification of a delivered frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassLine {
    /// The core vouches for it.
    pub classified: bool,
    /// host, broadcast, multicast, other_host.
    pub dst: &'static str,
    /// What `skb->protocol` would be.
    pub protocol: u16,
    /// ethernet_ii, llc, raw.
    pub l2: &'static str,
    /// 0 to 2.
    pub vlan_tags: u8,
    /// Address-filter epoch, 0 to 7.
    pub epoch: u8,
    /// status, software.
    pub path: &'static str,
}

/// Every line has every field, so that a table can be made of them.
fn class_or_nulls<S: serde::Serializer>(class: &Option<ClassLine>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Nulls {
        classified: (),
        dst: (),
        protocol: (),
        l2: (),
        vlan_tags: (),
        epoch: (),
        path: (),
    }
    match class {
        Some(class) => class.serialize(serializer),
        None => Nulls { classified: (), dst: (), protocol: (), l2: (), vlan_tags: (), epoch: (), path: () }
            .serialize(serializer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_frames_line_has_the_fields_of_a_delivered_ones() {
        let class =
            ClassLine { classified: true, dst: "host", protocol: 0x0800, l2: "llc", vlan_tags: 0, epoch: 1, path: "status" };
        let line = |class| FrameLine { capture: "a".into(), index: 0, outcome: "b".into(), length: 60, class };
        let value = |line: FrameLine| serde_json::to_value(line).unwrap();
        let (kept, lost) = (value(line(Some(class))), value(line(None)));
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&kept), keys(&lost));
        assert!(lost["classified"].is_null() && kept["classified"] == true);
    }
}

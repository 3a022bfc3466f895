//! What the Linux kernel said of frames, and whether others say the same.
//!
//! An opinion is anything that answers for a [`Group`] of frames: the reference model, the driver's software
//! path, or a core that runs all frames of the group under one own address.

use std::collections::BTreeMap;

use ferronic_contract::class::{self, Mac};
use ferronic_sim::model;
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::wire::Frame;
use serde::Deserialize;

use crate::shared::{capture, data, FOLDER};

/// What `eth_type_trans()` says of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// `skb->pkt_type`: 0 host, 1 broadcast, 2 multicast, 3 other host.
    pub pkt_type: u8,
    /// `skb->protocol`, in host order. A VLAN tag's TPID for frames that start with a tag.
    pub protocol: u16,
}

/// Frames under one own address, with the kernel's answers.
pub struct Group {
    /// The address.
    pub own_mac: Mac,
    /// Frames, not padded, and what the kernel said of each.
    pub frames: Vec<(Frame, Answer)>,
}

/// How an opinion compares with the kernel's.
#[derive(Debug, Default)]
pub struct Tally {
    /// Frames compared.
    pub compared: usize,
    /// One line for each frame answered otherwise.
    pub mismatches: Vec<String>,
}

/// Asks an opinion about every group. It answers for each frame of a group, in order.
pub fn check(groups: &[Group], mut opinion: impl FnMut(&Group) -> Vec<Answer>) -> Tally {
    let mut tally = Tally::default();
    for group in groups {
        let answers = opinion(group);
        assert_eq!(answers.len(), group.frames.len(), "an answer for each frame");
        for ((frame, kernel), answer) in group.frames.iter().zip(answers) {
            tally.compared += 1;
            if answer != *kernel {
                let (source, index) = (&frame.source, frame.index);
                tally.mismatches.push(format!("{source} frame {index}: {answer:?}, the kernel {kernel:?}"));
            }
        }
    }
    tally
}

/// An opinion that looks at one frame at a time.
pub fn one_by_one(mut ask: impl FnMut(&[u8], &Mac) -> Answer) -> impl FnMut(&Group) -> Vec<Answer> {
    move |group| group.frames.iter().map(|(frame, _)| ask(&frame.bytes, &group.own_mac)).collect()
}

/// The driver's software path. The frame has a whole Ethernet header.
pub fn software_path(frame: &[u8], own: &Mac) -> Answer {
    let class = class::classify(frame, own).expect("a whole Ethernet header");
    Answer { pkt_type: class.destination as u8, protocol: class.protocol }
}

/// The reference model. The frame has a whole Ethernet header.
pub fn reference_model(frame: &[u8], own: &Mac) -> Answer {
    let class = model::classify(frame, own).expect("a whole Ethernet header");
    Answer { pkt_type: class.destination as u8, protocol: class.protocol }
}

/// What the core's status bits say of a delivered frame.
///
/// # Panics
///
/// The frame was dropped, or the driver did not go by the status bits.
pub fn status_bits(line: &FrameLine) -> Answer {
    let class = line.class.as_ref().unwrap_or_else(|| panic!("{line:?} was not delivered"));
    assert!(class.classified && class.path == "status", "{line:?}");
    let pkt_type = ["host", "broadcast", "multicast", "other_host"].iter().position(|name| *name == class.dst);
    let pkt_type = pkt_type.unwrap_or_else(|| panic!("{line:?}: {} is no destination", class.dst));
    Answer { pkt_type: pkt_type as u8, protocol: class.protocol }
}

/// A line of `kernel-oracle.csv`.
#[derive(Deserialize)]
struct Line {
    own_mac: String,
    capture: String,
    index: usize,
    length_seen: usize,
    skb_protocol: String,
    skb_pkt_type: u8,
    vlan_tpid: String,
}

/// The recorded answers of a kernel, with the captures they are about: a group for each own address.
///
/// # Errors
///
/// Why there is none: the folder is absent, which leaves a test nothing to compare with.
///
/// # Panics
///
/// The folder is there and its files contradict each other, or cannot be read.
pub fn recorded() -> Result<Vec<Group>, String> {
    let folder = data();
    let table = folder.join("kernel-oracle.csv");
    if !table.exists() {
        return Err(format!("{} is not there; set {FOLDER} to the folder with data/kernel-oracle.csv", table.display()));
    }
    let mut captures = BTreeMap::new();
    let mut groups = BTreeMap::<Mac, Vec<(Frame, Answer)>>::new();
    let lines = csv::Reader::from_path(&table).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
    for line in lines.into_deserialize::<Line>() {
        let line = line.unwrap_or_else(|error| panic!("{}: {error}", table.display()));
        let frames = captures.entry(line.capture.clone()).or_insert_with(|| {
            // A truncated capture is in the table with the whole frames before the break.
            capture(&folder.join("captures").join(&line.capture))
        });
        let frame = frames.get(line.index).unwrap_or_else(|| panic!("{} has no frame {}", line.capture, line.index));
        // The kernel took the outer tag off.
        let (first_type, tag) =
            if line.vlan_tpid.is_empty() { (&line.skb_protocol, 0) } else { (&line.vlan_tpid, 4) };
        assert_eq!(line.length_seen + tag, frame.bytes.len(), "{} frame {}", line.capture, line.index);
        let answer = Answer { pkt_type: line.skb_pkt_type, protocol: hexadecimal(first_type) };
        groups.entry(address(&line.own_mac)).or_default().push((frame.clone(), answer));
    }
    Ok(groups.into_iter().map(|(own_mac, frames)| Group { own_mac, frames }).collect())
}

fn hexadecimal(text: &str) -> u16 {
    let digits = text.strip_prefix("0x").unwrap_or_else(|| panic!("{text} does not start with 0x"));
    u16::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn address(text: &str) -> Mac {
    let bytes: Result<Vec<u8>, _> = text.split(':').map(|byte| u8::from_str_radix(byte, 16)).collect();
    bytes.ok().and_then(|bytes| bytes.try_into().ok()).unwrap_or_else(|| panic!("{text} is no MAC address"))
}

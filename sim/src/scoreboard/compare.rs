//! What is wrong with a packet, in words.

use crate::expectation::QueueSetup;
use crate::model::{Delivery, Fate};
use crate::wire::Frame;
use ferronic::packet::Packet;
use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::registers::queue::Format;

/// What is wrong with a packet: bytes, buffers, fields of its first completion.
pub(super) fn compare(packet: &Packet, must: &Delivery, setup: &QueueSetup, index: u16) -> Vec<String> {
    let mut wrong = Vec::new();
    if packet.queue() != must.queue {
        wrong.push(format!("in queue {}, must be in {}", packet.queue(), must.queue));
    }
    let bytes: Vec<u8> = packet.segments().flat_map(|segment| segment.bytes().iter().copied()).collect();
    if bytes != must.bytes {
        wrong.push(first_difference(&must.bytes, &bytes));
    }
    let mut rooms = packet.segments().map(|segment| segment.buffer.bytes().len() as u16);
    // A buffer more than the core used shows that it should have used more.
    let Ok(placed) = must.place(setup.control, || rooms.next().or(Some(u16::MAX))) else {
        wrong.push("does not fit its buffer".into());
        return wrong;
    };
    let lengths: Vec<usize> = packet.segments().map(|segment| usize::from(segment.length)).collect();
    let pieces: Vec<usize> = placed.pieces.iter().map(|piece| piece.len()).collect();
    if lengths != pieces {
        wrong.push(format!("buffers hold {lengths:?} bytes, must hold {pieces:?}"));
    }
    let Some(ring) = setup.ring() else { return wrong };
    let cookie = packet.completion.cookie;
    let Some(mut completion) = must.completions(&placed, ring, index, &vec![cookie; pieces.len()]).first().copied() else {
        return wrong;
    };
    // Stamps are compared with one another.
    completion.timestamp = packet.completion.timestamp;
    if setup.format() != Format::Full {
        let with_tag = setup.format() == Format::CompactTag;
        completion = RxCompletion::decode_compact(&completion.encode_compact(with_tag), setup.format());
        // The driver knows these from the completion's place.
        (completion.index, completion.phase) = (index, packet.completion.phase);
    }
    let (is, must) = (packet.completion.encode(), completion.encode());
    for field in completion::FIELDS.iter().filter(|field| field.get(&is) != field.get(&must)) {
        wrong.push(format!("{} is {:#x}, must be {:#x}", field.name, field.get(&is), field.get(&must)));
    }
    wrong
}

pub(super) fn fate_name(fate: &Fate) -> String {
    match fate {
        Fate::Pause => "a PAUSE frame".into(),
        Fate::Filtered => "for nobody here".into(),
        Fate::Queue(delivery) => format!("for queue {}", delivery.queue),
    }
}

pub(super) fn name(frame: &Frame) -> String {
    format!("{} frame {} ({} bytes)", frame.source, frame.index, frame.bytes.len())
}

pub(super) fn first_difference(must: &[u8], is: &[u8]) -> String {
    match must.iter().zip(is).position(|(a, b)| a != b) {
        Some(at) => format!("byte {at} is {:#04x}, must be {:#04x}", is[at], must[at]),
        None => format!("{} bytes, must be {}", is.len(), must.len()),
    }
}

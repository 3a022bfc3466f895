//! Queues without the driver: formats, scatter, split, and that one does not disturb another.

use std::time::Duration;

use etherparse::PacketBuilder;
use ferronic::dma::DmaRegion;
use ferronic::{Dma, Interrupts};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::{RxDescriptor, BYTES};
use ferronic_contract::registers::queue::{self, Format, Split};
use ferronic_contract::registers::{self, vector, QUEUE_STRIDE, RX_QUEUE, VECTOR, VECTOR_STRIDE};
use ferronic_contract::ring::RingSize;
use ferronic_contract::status;

use ferronic_pcie::Memory;

use super::host::Host;
use super::{Bench, OWN};
use crate::model::DropCause;

/// An RX queue with a ring of 8 and a buffer for each length given.
pub struct Rings {
    memory: Host,
    _ring: DmaRegion,
    done: DmaRegion,
    index: DmaRegion,
    buffers: Vec<DmaRegion>,
    format: Format,
    seen: u16,
}

impl Rings {
    /// `control` is the queue's register CONTROL, apart from ENABLE.
    pub fn new(bench: &Bench, number: u32, control: u32, lengths: &[u16]) -> Self {
        let allocate = |bytes| bench.memory.allocate(bytes, 4096).unwrap();
        let (ring, done, index) = (allocate(8 * BYTES), allocate(8 * 32), allocate(4));
        let buffers: Vec<DmaRegion> = lengths.iter().map(|length| allocate((*length).max(1).into())).collect();
        for (slot, (buffer, length)) in (0..).zip(buffers.iter().zip(lengths)) {
            let descriptor = RxDescriptor { address: buffer.bus(), length: *length, cookie: 0x100 + slot };
            ring.write(slot as usize * BYTES, descriptor.encode());
        }
        let group = RX_QUEUE + number * QUEUE_STRIDE;
        for (low, high, region) in [
            (queue::RING_LOW, queue::RING_HIGH, &ring),
            (queue::DONE_LOW, queue::DONE_HIGH, &done),
            (queue::INDEX_LOW, queue::INDEX_HIGH, &index),
        ] {
            bench.write(group, low, region.bus() as u32);
            bench.write(group, high, (region.bus() >> 32) as u32);
        }
        bench.write(group, queue::CONTROL, control | queue::ENABLE.at(1));
        bench.write(group, queue::TAIL, lengths.len() as u32);
        bench.write(registers::GLOBAL, registers::CONTROL, registers::RX_ENABLE.at(1));
        let format = match queue::FORMAT.of(control) {
            1 => Format::CompactHash,
            2 => Format::CompactTag,
            _ => Format::Full,
        };
        Self { memory: bench.memory.clone(), _ring: ring, done, index, buffers, format, seen: 0 }
    }

    /// The completions that came since the last time, and what lies in their buffers.
    pub fn take(&mut self) -> Vec<(RxCompletion, Vec<u8>)> {
        let size = RingSize::new(8).unwrap();
        let mut taken = Vec::new();
        loop {
            let slot = size.slot(self.seen) * self.format.bytes();
            let completion = match self.format {
                Format::Full => RxCompletion::decode(&self.done.read(slot)),
                compact => RxCompletion::decode_compact(&self.done.read(slot), compact),
            };
            if completion.phase != size.phase(self.seen) {
                return taken;
            }
            let buffer = &self.buffers[completion.cookie as usize - 0x100];
            let mut bytes = vec![0; completion.length.into()];
            self.memory.read(buffer.bus(), &mut bytes).unwrap();
            taken.push((completion, bytes));
            self.seen += 1;
        }
    }
}

fn flags(completion: &RxCompletion) -> (u32, u32, u32, u32) {
    let status = |field| completion.status.get(field);
    (status(status::SOP), status(status::EOP), status(status::SPLIT), status(status::ERROR))
}

/// Headers of 42 bytes.
fn udp(payload: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    let data: Vec<u8> = (0..payload).map(|byte| byte as u8).collect();
    let ip = PacketBuilder::ethernet2([6; 6], OWN).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    ip.udp(7, 9).write(&mut frame, &data).unwrap();
    frame
}

#[test]
fn a_long_frame_goes_over_several_buffers_when_its_queue_scatters() {
    let bench = Bench::new();
    let mut rings = Rings::new(&bench, 0, queue::SCATTER.at(1), &[100, 64, 1, 4000, 200, 0]);
    let frame = udp(300);
    bench.model.receive(&frame, false).unwrap();
    let pieces = rings.take();
    assert_eq!(pieces.iter().map(|(c, _)| c.length).collect::<Vec<_>>(), [100, 64, 1, 177]);
    assert_eq!(pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>(), frame);
    let marks: Vec<_> = pieces.iter().map(|(c, _)| flags(c)).collect();
    assert_eq!(marks, [(1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0)]);
    let same = |c: &RxCompletion| (c.protocol, c.header_length, c.raw_checksum, c.l3_offset, c.status.get(status::L4CSUM));
    assert!(pieces.iter().all(|(c, _)| same(c) == (0x0800, 42, same(&pieces[0].0).2, 14, 1)));
    assert_eq!(pieces.iter().map(|(c, _)| c.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(bench.read(RX_QUEUE, queue::FRAMES), 1);
    // One buffer of 200 is left for 342 bytes, and one of none.
    bench.model.receive(&frame, false).unwrap();
    let pieces = rings.take();
    assert_eq!((pieces[0].0.length, flags(&pieces[0].0)), (200, (1, 1, 0, 1)), "cut short");
    assert_eq!(bench.read(RX_QUEUE, queue::CUT), 1);
    assert_eq!(bench.read(RX_QUEUE, queue::DONE), 5);
}

#[test]
fn a_queue_that_does_not_scatter_drops_what_is_too_long_and_keeps_the_buffer() {
    let bench = Bench::new();
    let mut rings = Rings::new(&bench, 0, 0, &[100, 64]);
    assert_eq!(bench.model.receive(&udp(59), false), Err(DropCause::Buffer));
    bench.model.receive(&udp(58), false).unwrap();
    assert_eq!(rings.take().len(), 1);
    assert_eq!(bench.read(RX_QUEUE, queue::DROP_BUFFER), 1);
    assert_eq!(bench.read(RX_QUEUE, queue::HEAD), 1);
}

#[test]
fn headers_are_split_where_the_queue_says() {
    let arp = [[0xFF; 6].as_slice(), &[6; 6], &[8, 6], &[0; 46]].concat();
    for (split, bytes, of_udp, of_arp) in [
        (Split::Off, 0, 142, 60),
        (Split::L2, 0, 14, 14),
        (Split::L3, 0, 34, 60),
        (Split::L4, 0, 42, 60),
        (Split::Fixed, 50, 50, 50),
        (Split::Fixed, 142, 142, 60),
        (Split::Fixed, 0, 142, 60),
    ] {
        let bench = Bench::new();
        let control = queue::SPLIT.at(split as u32) | queue::SPLIT_BYTES.at(bytes);
        let mut rings = Rings::new(&bench, 0, control, &[256; 4]);
        for (frame, at) in [(udp(100), of_udp), (arp.clone(), of_arp)] {
            bench.model.receive(&frame, false).unwrap();
            let pieces = rings.take();
            let apart = u32::from(at < frame.len());
            assert_eq!(pieces[0].0.length as usize, at, "{split:?}");
            assert_eq!(pieces.len(), 1 + apart as usize);
            assert_eq!(flags(&pieces[0].0), (1, 1 - apart, apart, 0));
            assert_eq!(flags(&pieces.last().unwrap().0), (1 - apart, 1, apart, 0));
            assert_eq!(pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>(), frame);
        }
    }
    // The payload must fit one buffer, unless the queue scatters, and so must the header.
    let split = queue::SPLIT.at(Split::L4 as u32);
    for (lengths, scatter, expected) in [
        ([64, 64, 64], 0, Err(DropCause::Buffer)),
        ([64, 64, 64], 1, Ok(vec![42, 64, 36])),
        ([40, 256, 256], 0, Err(DropCause::Buffer)),
        ([40, 256, 256], 1, Ok(vec![40, 2, 100])),
    ] {
        let bench = Bench::new();
        let _rings = Rings::new(&bench, 0, split | queue::SCATTER.at(scatter), &lengths);
        let lengths = bench.model.receive(&udp(100), false).map(|r| r.completions.iter().map(|c| c.length).collect());
        assert_eq!(lengths, expected);
    }
}

#[test]
fn compact_completions_and_the_producer_index_reach_memory() {
    for (format, control) in [(Format::Full, 0), (Format::CompactHash, 1), (Format::CompactTag, 2)] {
        let bench = Bench::new();
        bench.write(registers::GLOBAL, registers::RSS, registers::RSS_UDP4.at(1));
        bench.write(registers::GLOBAL, registers::RX_MODE, registers::STRIP_C.at(1) | 1);
        let mut rings = Rings::new(&bench, 0, queue::FORMAT.at(control) | queue::INDEX.at(1), &[256; 8]);
        let mut tagged = udp(20);
        tagged.splice(12..12, [0x81, 0, 0x20, 5]);
        for index in 1..=4 {
            let received = bench.model.receive(&tagged, false).unwrap();
            let [full] = received.completions[..] else { panic!("one buffer") };
            assert_ne!((full.rss_hash, full.vlan_tci), (0, 0));
            let expected = match format {
                Format::Full => full,
                compact => RxCompletion::decode_compact(&full.encode_compact(compact == Format::CompactTag), compact),
            };
            assert_eq!(rings.take(), [(expected, udp(20))]);
            assert_eq!(rings.index.load_acquire(0), index);
        }
    }
}

#[test]
fn a_queue_that_is_off_or_empty_disturbs_no_other() {
    let bench = Bench::with_queues(3);
    let mut rings: Vec<Rings> = (0..2).map(|queue| Rings::new(&bench, queue, 0, if queue == 0 { &[] } else { &[256; 8] })).collect();
    let group = |queue| RX_QUEUE + queue * QUEUE_STRIDE;
    let to = |queue| bench.write(registers::GLOBAL, registers::RSS, registers::DEFAULT_QUEUE.at(queue));
    bench.write(VECTOR + registers::rx_vector(1) * VECTOR_STRIDE, vector::ARM, 0);
    for _ in 0..3 {
        for (queue, expected) in
            [(0, Err(DropCause::QueueNoDescriptor)), (1, Ok(1)), (2, Err(DropCause::QueueDisabled)), (3, Err(DropCause::Disabled))]
        {
            to(queue);
            assert_eq!(bench.model.receive(&udp(20), false).map(|r| r.queue), expected);
        }
    }
    assert_eq!((rings[0].take().len(), rings[1].take().len()), (0, 3));
    assert_eq!(bench.read(group(0), queue::DROP_NO_DESCRIPTOR), 3);
    assert_eq!(bench.read(group(1), queue::FRAMES), 3);
    assert_eq!(bench.read(group(2), queue::DROP_DISABLED), 3);
    assert_eq!(bench.global(registers::DROP_DISABLED), 3);
    assert_eq!(bench.global(registers::FRAMES_IN), 12);
    let fired = [0, 2, 4].map(|vector| bench.model.wait(vector, Duration::ZERO).unwrap());
    assert_eq!(fired, [false, true, false]);
}

#[test]
fn pause_frames_are_taken_out_when_they_are_heeded() {
    let bench = Bench::new();
    let mut rings = Rings::new(&bench, 0, 0, &[256; 8]);
    bench.write(registers::GLOBAL, registers::MAC_LOW, u32::from_le_bytes([2, 0, 0, 0]));
    bench.write(registers::GLOBAL, registers::MAC_HIGH, registers::MAC_45.at(0x0100));
    let frame = |destination: [u8; 6], control: &[u8]| [destination.as_slice(), &[6; 6], control, &[0; 42]].concat();
    let (pause, group) = ([0x88, 8, 0, 1, 0xFF, 0xFF], [1, 0x80, 0xC2, 0, 0, 1]);
    bench.model.receive(&frame(group, &pause), false).unwrap();
    bench.write(registers::GLOBAL, registers::FLOW, registers::PAUSE_HONOUR.at(1));
    assert_eq!(bench.model.receive(&frame(group, &pause), false), Err(DropCause::Pause));
    assert_eq!(bench.model.receive(&frame(OWN, &pause), false), Err(DropCause::Pause));
    for other in [frame([2, 0, 0, 0, 0, 9], &pause), frame(group, &[0x88, 8, 0, 2, 1, 1]), frame(group, &[0x88, 9, 0, 1, 1, 1])] {
        bench.model.receive(&other, false).unwrap();
    }
    assert_eq!(rings.take().len(), 4);
    assert_eq!(bench.global(registers::PAUSE_IN), 2);
    assert_eq!(bench.global(registers::FRAMES_IN), 6);
}

use std::collections::VecDeque;
use std::time::Duration;

use ferronic::rx::Turn;
use ferronic::tx::TxQueue;
use ferronic::{Config, Packet, Path, Sink};
use ferronic_contract::class;
use ferronic_contract::registers;
use ferronic_contract::status::Destination::{Host, OtherHost};

use super::{edgy_frame, rings_of, Bench, OWN};
use crate::model::DropCause;

/// Checks each packet against what went in, and sends it back.
struct Echo<'a> {
    expected: &'a mut VecDeque<Vec<u8>>,
    tx: &'a mut TxQueue,
}

impl Sink for Echo<'_> {
    fn deliver(&mut self, packet: Packet) {
        let frame = self.expected.pop_front().expect("no more packets than frames");
        assert_eq!(packet.bytes(), frame);
        assert_eq!(packet.path, Path::Status);
        assert_eq!(Some(packet.class), class::classify(&frame, &OWN));
        let length = packet.completion.length;
        self.tx.send(packet.into_buffer(), 0, length).expect("the model sends at once");
    }
}

/// More frames than the indices count, in bursts of every size up to the ring's.
fn echo(entries: u32) {
    const FRAMES: usize = 70_000;
    let bench = Bench::new();
    let mut nic = bench.open(&rings_of(entries));
    let mut random = fastrand::Rng::with_seed(u64::from(entries));
    let (mut received, mut expected, mut back) = (0, VecDeque::new(), VecDeque::new());
    while received < FRAMES {
        for _ in 0..random.u32(1..=entries) {
            let frame = edgy_frame(&mut random, &OWN, 200);
            // A doorbell every 8 holds back up to 7 descriptors of a ring.
            if bench.model.receive(&frame, false).is_ok() {
                received += 1;
                back.push_back(frame.clone());
                expected.push_back(frame);
            }
        }
        let mut sink = Echo { expected: &mut expected, tx: &mut nic.tx };
        while nic.rx[0].poll(64, &mut sink).expect("the model keeps the contract") > 0 {}
        nic.tx.flush();
        nic.tx.reclaim().expect("the model keeps the contract");
        while let Some(frame) = bench.model.sent() {
            assert_eq!(Some(frame), back.pop_front());
        }
        assert!(expected.is_empty() && back.is_empty());
    }
    let closed = nic.close().unwrap();
    assert_eq!((closed.rx.packets, closed.tx.packets), (received as u64, received as u64));
    assert_eq!(closed.tx_unfinished, 0);
    assert_eq!(bench.global(registers::FRAMES_OUT), received as u32);
}

#[test]
fn echoes_over_the_wrap_of_the_indices_with_rings_of_8() {
    echo(8);
}

#[test]
fn echoes_over_the_wrap_of_the_indices_with_rings_of_256() {
    echo(256);
}

#[test]
fn echoes_over_the_wrap_of_the_indices_with_rings_of_4096() {
    echo(4096);
}

#[test]
fn frames_compared_with_an_old_address_are_classified_by_software() {
    let bench = Bench::new();
    let mut nic = bench.open(&rings_of(8));
    let other = [0x02, 0, 0, 0, 0, 2];
    let mut frame = [0; 60];
    frame[..6].copy_from_slice(&other);
    frame[12] = 8;
    bench.model.receive(&frame, false).unwrap();
    nic.set_mac(other);
    bench.model.receive(&frame, false).unwrap();
    let mut seen = Vec::new();
    let mut sink = |packet: Packet| {
        seen.push((packet.path, packet.completion.status.destination(), packet.class.destination));
    };
    nic.rx[0].poll(8, &mut sink).unwrap();
    assert_eq!(seen, [(Path::Software, OtherHost, Host), (Path::Status, Host, Host)]);
}

#[test]
fn every_drop_has_its_cause_and_its_counter() {
    let bench = Bench::new();
    let mut config = Config { max_frame: 400, buffer_bytes: 300, ..rings_of(8) };
    config.buffers = 16;
    let mut nic = bench.open(&config);
    let receive = |length: usize, bad_fcs| bench.model.receive(&vec![0; length], bad_fcs).map(|r| r.completions[0].index);
    assert_eq!(receive(13, false), Err(DropCause::Undersize));
    assert_eq!(receive(401, false), Err(DropCause::Oversize));
    assert_eq!(receive(400, true), Err(DropCause::Bad));
    assert_eq!(receive(301, false), Err(DropCause::Buffer));
    for index in 0..8 {
        assert_eq!(receive(300, false), Ok(index), "the buffer that was too short waited for the next");
    }
    assert_eq!(receive(60, false), Err(DropCause::QueueNoDescriptor));
    let mut packets = 0;
    nic.rx[0].poll(64, &mut |_: Packet| packets += 1).unwrap();
    assert_eq!(packets, 8);
    assert_eq!(receive(60, false), Ok(8));
    nic.close().unwrap();
    assert_eq!(receive(60, false), Err(DropCause::Disabled));

    let counted = |cause: DropCause| {
        let (group, counter) = cause.counter(0);
        bench.read(group, counter)
    };
    // Without a packet FIFO it is never full; filters, PAUSE and stopped queues have tests of their own.
    let seen = [
        DropCause::Disabled,
        DropCause::Bad,
        DropCause::Undersize,
        DropCause::Oversize,
        DropCause::QueueNoDescriptor,
        DropCause::Buffer,
    ];
    for cause in DropCause::ALL {
        assert_eq!(counted(cause), u32::from(seen.contains(&cause)), "{cause}");
    }
    assert_eq!(bench.global(registers::FRAMES_IN), 9 + seen.len() as u32);
}

#[test]
fn a_frame_between_the_last_look_and_the_arming_wakes_the_driver() {
    let bench = Bench::new();
    let mut nic = bench.open(&rings_of(8));
    let mut turn = |packets: &mut u32| nic.rx[0].turn(4, Duration::ZERO, &mut |_: Packet| *packets += 1).unwrap();
    let mut packets = 0;
    assert_eq!(turn(&mut packets), Turn::Polled(0));
    assert_eq!(turn(&mut packets), Turn::Idle);
    bench.model.receive(&[0; 60], false).unwrap();
    bench.model.receive(&[0; 60], false).unwrap();
    assert_eq!(turn(&mut packets), Turn::Polled(2));
    assert_eq!(turn(&mut packets), Turn::Idle, "one interrupt for both");
    assert_eq!(packets, 2);
}

#[test]
fn opening_again_starts_anew() {
    let bench = Bench::new();
    for _ in 0..3 {
        let mut nic = bench.open(&rings_of(8));
        assert_eq!(bench.model.receive(&[0; 60], false).map(|r| (r.completions[0].index, r.completions[0].phase)), Ok((0, true)));
        assert_eq!(nic.rx[0].poll(8, &mut |_: Packet| ()).unwrap(), 1);
        assert_eq!(bench.global(registers::FRAMES_IN), 1);
        drop(nic);
    }
}

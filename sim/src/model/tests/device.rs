use std::time::Duration;

use ferronic::dma::DmaRegion;
use ferronic::{Bar, Dma, Error, Interrupts, Packet, Replenish};
use ferronic_contract::cause::Cause;
use ferronic_contract::descriptor::{RxDescriptor, TxDescriptor, BYTES, FLAG_EOP};
use ferronic_contract::registers::{self, filter, queue, vector, Access, FILTER, RX_QUEUE, TX_QUEUE, VECTOR, VECTOR_STRIDE};
use ferronic_contract::BAR_BYTES;

use super::{rings_of, Bench, OWN};
use crate::model::DropCause;

const TX_VECTOR: u32 = VECTOR + VECTOR_STRIDE;

/// A queue with a ring of 8, set up without the driver.
struct Raw {
    ring: DmaRegion,
    done: DmaRegion,
}

impl Raw {
    fn new(bench: &Bench, group: u32) -> Self {
        let ring = bench.memory.allocate(8 * BYTES, 4096).unwrap();
        let done = bench.memory.allocate(4096, 4096).unwrap();
        // The low bits of a ring's address are ignored.
        bench.write(group, queue::RING_LOW, ring.bus() as u32 | 0xFFF);
        bench.write(group, queue::RING_HIGH, (ring.bus() >> 32) as u32);
        bench.write(group, queue::DONE_LOW, done.bus() as u32);
        bench.write(group, queue::DONE_HIGH, (done.bus() >> 32) as u32);
        bench.write(group, queue::CONTROL, 1);
        bench.write(registers::GLOBAL, registers::CONTROL, registers::RX_ENABLE.at(1) | registers::TX_ENABLE.at(1));
        Self { ring, done }
    }
}

fn status(stopped: u32, idle: u32, cause: Cause) -> u32 {
    queue::STOPPED.at(stopped) | queue::IDLE.at(idle) | queue::CAUSE.at(cause as u32)
}

#[test]
fn registers_can_be_read_and_written_as_the_contract_says() {
    for rx_queues in [1, 4, 16] {
        walk(rx_queues);
    }
}

fn walk(rx_queues: u32) {
    let bench = Bench::with_queues(rx_queues as usize);
    let mut groups: Vec<(u32, &[registers::Register])> =
        vec![(registers::GLOBAL, &registers::GLOBALS), (TX_QUEUE, &queue::REGISTERS), (TX_VECTOR, &vector::REGISTERS)];
    for queue in 0..rx_queues {
        groups.push((RX_QUEUE + queue * registers::QUEUE_STRIDE, &queue::REGISTERS));
        groups.push((VECTOR + registers::rx_vector(queue) * VECTOR_STRIDE, &vector::REGISTERS));
    }
    let walked = |register: &&registers::Register| register.name != "CONTROL";
    for (group, table) in &groups {
        for register in table.iter().filter(walked) {
            let before = bench.read(*group, *register);
            // A bit of a field, where there are fields.
            let bit = register.fields.first().map_or(1, |field| 1 << field.low);
            bench.write(*group, *register, before ^ bit);
            let after = bench.read(*group, *register);
            match register.access {
                Access::Rw => assert_eq!(after, before ^ bit, "{}", register.name),
                Access::Ro => assert_eq!(after, before, "{}", register.name),
                Access::Wo => assert_eq!((before, after), (0, 0), "{}", register.name),
            }
        }
    }
    // The tables of the filters: how many words each has, and what is read of all ones.
    let fields = filter::KIND.fields.iter().fold(0, |mask, field| mask | field.mask());
    let tables = [
        (filter::ENTRY, filter::ENTRY_WORDS, 0),
        (filter::COMMIT, 1, 0),
        (filter::KIND, filter::KINDS, fields),
        (filter::HASH, filter::HASH_BITS / 32, u32::MAX),
        (filter::INDIRECT, filter::INDIRECTION / 4, 0),
    ];
    let words = tables.map(|(first, words, shows)| (0..words as u32).map(move |i| (FILTER + first.offset + 4 * i, shows)));
    let words: Vec<(u32, u32)> = words.into_iter().flatten().collect();
    for (offset, _) in &words {
        bench.model.write32(*offset, u32::MAX);
    }
    for (offset, shows) in &words {
        assert_eq!(bench.model.read32(*offset), *shows, "{offset:#x}");
    }
    let known = |offset| {
        groups.iter().any(|(group, table)| table.iter().any(|r| group + r.offset == offset))
            || words.iter().any(|(word, _)| *word == offset)
    };
    for offset in (0..BAR_BYTES).step_by(4).filter(|&offset| !known(offset)) {
        bench.model.write32(offset, u32::MAX);
        assert_eq!(bench.model.read32(offset), 0, "{offset:#x}");
    }
    bench.write(registers::GLOBAL, registers::CONTROL, registers::RESET.at(1));
    assert_eq!(bench.global(registers::CONTROL), 0, "RESET clears itself");
    assert_eq!(bench.global(registers::MAX_FRAME), 1518);
    assert_eq!(bench.global(registers::RX_MODE), 1);
    assert_eq!(registers::RX_QUEUES.of(bench.global(registers::PARAMS)), rx_queues);
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(0, 1, Cause::None));
    assert_eq!(bench.read(FILTER, filter::KIND), 0);
}

#[test]
fn the_own_address_changes_with_its_second_half_and_its_epoch() {
    let bench = Bench::new();
    let queue = Raw::new(&bench, RX_QUEUE);
    let buffer = bench.memory.allocate(64, 64).unwrap();
    for index in 0..8 {
        let descriptor = RxDescriptor { address: buffer.bus(), length: 64, cookie: index };
        queue.ring.write(index as usize * BYTES, descriptor.encode());
    }
    bench.write(RX_QUEUE, queue::TAIL, 8);
    let mut frame = [0; 14];
    frame[..6].copy_from_slice(&OWN);
    let seen = || bench.model.receive(&frame, false).map(|r| (r.completions[0].status.destination() as u8, r.completions[0].status.epoch())).unwrap();
    assert_eq!(seen(), (3, 0));
    bench.write(registers::GLOBAL, registers::MAC_LOW, u32::from_le_bytes([2, 0, 0, 0]));
    assert_eq!(seen(), (3, 0));
    bench.write(registers::GLOBAL, registers::MAC_HIGH, registers::MAC_45.at(0x0100) | registers::MAC_EPOCH.at(7));
    assert_eq!(seen(), (0, 7));
}

#[test]
fn a_bad_doorbell_stops_its_queue_alone() {
    let bench = Bench::new();
    let mut nic = bench.open(&rings_of(8));
    bench.model.receive(&[0; 60], false).unwrap();
    // 8 are posted, 7 are left: a tail of 10 is 9 ahead.
    bench.write(RX_QUEUE, queue::TAIL, 9);
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(0, 0, Cause::None));
    bench.write(RX_QUEUE, queue::TAIL, 10);
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(1, 1, Cause::BadDoorbell));
    assert_eq!(bench.model.receive(&[0; 60], false), Err(DropCause::Disabled));
    match nic.check() {
        Err(Error::Stopped { cause: Some(Cause::BadDoorbell), .. }) => {}
        other => panic!("{other:?}"),
    }
    let buffer = nic.pool().get().unwrap();
    nic.tx.send(buffer, 0, 60).unwrap();
    nic.tx.flush();
    assert_eq!(nic.tx.reclaim(), Ok(1), "the other queue runs on");
    bench.write(RX_QUEUE, queue::CONTROL, 0);
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(0, 1, Cause::None));
}

#[test]
fn a_tail_that_goes_back_is_a_bad_doorbell() {
    let bench = Bench::new();
    let _queue = Raw::new(&bench, RX_QUEUE);
    bench.write(RX_QUEUE, queue::TAIL, 0xFFFF);
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(1, 1, Cause::BadDoorbell));
}

#[test]
fn tx_descriptors_that_break_the_contract_stop_the_queue_after_the_frames_before() {
    let bench = Bench::new();
    let data = bench.memory.allocate(4096, 64).unwrap();
    let good = TxDescriptor { address: data.bus(), length: 14, flags: FLAG_EOP };
    let cases = [
        (TxDescriptor { length: 13, ..good }, Cause::BadDescriptor),
        (TxDescriptor { length: 1519, ..good }, Cause::BadDescriptor),
        (TxDescriptor { flags: 0, ..good }, Cause::BadDescriptor),
        (TxDescriptor { address: data.bus() + 4083, ..good }, Cause::UnsupportedRequest),
    ];
    for (number, (bad, cause)) in (1..).zip(cases) {
        let queue = Raw::new(&bench, TX_QUEUE);
        for (slot, descriptor) in [good, TxDescriptor { length: 1518, ..good }, bad, good].into_iter().enumerate() {
            queue.ring.write(slot * BYTES, descriptor.encode());
        }
        bench.write(TX_VECTOR, vector::ARM, 0);
        bench.write(TX_QUEUE, queue::TAIL, 4);
        let lengths: Vec<usize> = std::iter::from_fn(|| bench.model.sent()).map(|frame| frame.len()).collect();
        assert_eq!(lengths, [14, 1518]);
        assert_eq!(queue.done.load_acquire(0), 2);
        assert_eq!(bench.read(TX_QUEUE, queue::STATUS), status(1, 1, cause), "{bad:?}");
        assert_eq!(bench.read(TX_QUEUE, queue::DROP_BUFFER), number);
        assert_eq!(bench.read(TX_QUEUE, queue::DONE), 2);
        assert!(bench.model.wait(1, Duration::ZERO).unwrap());
        bench.write(TX_QUEUE, queue::CONTROL, 0);
    }
}

#[test]
fn a_ring_that_is_not_mapped_stops_the_queue_and_is_told_at_the_next_arming() {
    let bench = Bench::new();
    drop(Raw::new(&bench, RX_QUEUE));
    bench.write(RX_QUEUE, queue::TAIL, 1);
    assert_eq!(bench.model.receive(&[0; 60], false), Err(DropCause::QueueDisabled));
    assert_eq!(bench.read(RX_QUEUE, queue::STATUS), status(1, 1, Cause::UnsupportedRequest));
    assert!(!bench.model.wait(0, Duration::ZERO).unwrap(), "nobody listened");
    bench.write(VECTOR, vector::ARM, 0);
    assert!(bench.model.wait(0, Duration::ZERO).unwrap(), "it was kept");
    bench.write(VECTOR, vector::ARM, 0);
    assert!(!bench.model.wait(0, Duration::ZERO).unwrap(), "once");
    assert_eq!(bench.read(VECTOR, vector::SENT), 1);
}

#[test]
fn frames_are_held_while_sending_is_off() {
    let bench = Bench::new();
    let mut nic = bench.open(&rings_of(8));
    bench.write(registers::GLOBAL, registers::CONTROL, registers::RX_ENABLE.at(1));
    nic.tx.send(nic.pool().get().unwrap(), 0, 60).unwrap();
    nic.tx.flush();
    assert_eq!(bench.model.sent(), None);
    bench.write(registers::GLOBAL, registers::CONTROL, registers::TX_ENABLE.at(1));
    assert_eq!(bench.model.sent().map(|frame| frame.len()), Some(60));
}

#[test]
fn low_water_is_told_once_until_batch_more_are_there_again() {
    let bench = Bench::new();
    let mut config = rings_of(16);
    config.rx[0].queue.thresholds.low_water = 3;
    config.rx[0].queue.thresholds.batch = 4;
    config.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 1 };
    let mut nic = bench.open(&config);
    let events = || bench.read(RX_QUEUE, queue::LOW_WATER_EVENTS);
    let receive = |frames: u32| (0..frames).for_each(|_| drop(bench.model.receive(&[0; 60], false).unwrap()));
    for round in 0..3 {
        for left in (0..16).rev() {
            receive(1);
            assert_eq!(events(), round + u32::from(left < 3), "{left} left");
        }
        assert_eq!(nic.rx[0].poll(16, &mut |_: Packet| ()).unwrap(), 16);
    }
    receive(14);
    assert_eq!(events(), 4);
    assert_eq!(nic.rx[0].poll(4, &mut |_: Packet| ()).unwrap(), 4);
    receive(4);
    assert_eq!(events(), 4, "6 were there: fewer than 3 + 4");
    assert_eq!(nic.rx[0].poll(5, &mut |_: Packet| ()).unwrap(), 5);
    receive(5);
    assert_eq!(events(), 5, "7 were there");
}

//! Sending through an honest device.

use std::time::Duration;

use ferronic::tx::{TxQueue, Why};
use ferronic::{Buffer, Nic, Packet, Sink};

use crate::mock::{frame, number, small, Mock};

fn filled(nic: &Nic, number: u32) -> Buffer {
    let mut buffer = nic.pool().get().expect("a free buffer");
    buffer.bytes_mut()[..60].copy_from_slice(&frame(number));
    buffer
}

#[test]
fn sends_in_order_over_many_laps_and_the_wrap_of_the_index() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let free = nic.pool().available();
    let (mut sent, mut seen) = (0, 0);
    while seen < 140_000 {
        for _ in 0..sent % 8 + 1 {
            let buffer = filled(&nic, sent);
            if nic.tx.send(buffer, 0, 60).is_err() {
                break;
            }
            sent += 1;
        }
        nic.tx.flush();
        for bytes in mock.transmit((sent % 5 + 3) as usize) {
            assert_eq!(number(&bytes), seen);
            seen += 1;
        }
    }
    mock.transmit(usize::MAX);
    nic.tx.reclaim().unwrap();
    let statistics = nic.tx.statistics();
    assert_eq!((statistics.packets, statistics.reclaimed), (u64::from(sent), u64::from(sent)));
    assert_eq!(nic.pool().available(), free, "every buffer came back");
    assert_eq!(nic.tx.outstanding(), 0);
}

#[test]
fn a_full_ring_is_a_value_and_the_buffer_comes_back() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    for i in 0..8 {
        nic.tx.send(filled(&nic, i), 0, 60).unwrap();
    }
    let free = nic.pool().available();
    let refused = nic.tx.send(filled(&nic, 8), 0, 60).unwrap_err();
    assert_eq!(refused.why, Why::RingFull);
    assert_eq!(number(refused.buffer.bytes()), 8);
    assert_eq!(nic.pool().available(), free - 1);
    assert_eq!(nic.tx.statistics().ring_full, 1);
    // A full ring was told to the device without a flush, or it would stay full for ever.
    assert_eq!(mock.transmit(1).len(), 1);
    nic.tx.send(refused.buffer, 0, 60).unwrap();
    nic.tx.flush();
    assert!(mock.transmit(usize::MAX).iter().map(|f| number(f)).eq(1..9));
    assert_eq!(nic.tx.reclaim().unwrap(), 8, "in bulk");
}

#[test]
fn one_doorbell_a_batch_and_nothing_before_it() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    for i in 0..5 {
        nic.tx.send(filled(&nic, i), 0, 60).unwrap();
    }
    assert!(mock.transmit(usize::MAX).is_empty(), "not published yet");
    nic.tx.flush();
    nic.tx.flush();
    assert_eq!(nic.tx.statistics().doorbells, 1);
    assert_eq!(mock.transmit(usize::MAX).len(), 5);
}

#[test]
fn frames_that_do_not_fit_are_refused_with_the_values() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let cases = [
        (0, 13, Why::Length { length: 13, max: 1518 }),
        (0, 1519, Why::Length { length: 1519, max: 1518 }),
        (2000, 60, Why::Range { offset: 2000, length: 60, capacity: 2048 }),
        (u16::MAX, 60, Why::Range { offset: u16::MAX, length: 60, capacity: 2048 }),
    ];
    for (offset, length, why) in cases {
        assert_eq!(nic.tx.send(filled(&nic, 0), offset, length).unwrap_err().why, why);
    }
    let mut buffer = nic.pool().get().unwrap();
    buffer.bytes_mut()[1988..].copy_from_slice(&frame(3));
    nic.tx.send(buffer, 1988, 60).unwrap();
    nic.tx.flush();
    assert_eq!(mock.transmit(1), [frame(3)]);
}

#[test]
fn received_buffers_are_forwarded_without_a_copy() {
    struct Forward<'a>(&'a mut TxQueue);
    impl Sink for Forward<'_> {
        fn deliver(&mut self, packet: Packet) {
            let length = packet.completion.length;
            // A full ring drops the packet, as a switch does.
            let _ = self.0.send(packet.into_buffer(), 0, length);
        }
    }
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let free = nic.pool().available();
    for i in 0..100 {
        assert!(mock.receive(&frame(i)));
        assert_eq!(nic.rx[0].poll(64, &mut Forward(&mut nic.tx)).unwrap(), 1);
        nic.tx.flush();
        assert_eq!(mock.transmit(1), [frame(i)]);
    }
    nic.tx.reclaim().unwrap();
    assert_eq!(nic.pool().available(), free);
}

#[test]
fn waiting_for_room_sees_what_was_done_before_the_arming() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    for i in 0..8 {
        nic.tx.send(filled(&nic, i), 0, 60).unwrap();
    }
    assert_eq!(nic.tx.wait(Duration::ZERO).unwrap(), 0, "nothing done yet");
    assert_eq!(mock.transmit(3).len(), 3);
    assert_eq!(nic.tx.wait(Duration::ZERO).unwrap(), 3);
    assert_eq!((mock.waits.get(), mock.timeouts.get()), (1, 1), "no wait for what is there already");

    mock.sent_before_arming.set(5);
    assert_eq!(nic.tx.wait(Duration::ZERO).unwrap(), 5);
    assert_eq!(mock.timeouts.get(), 1, "fired at once for what was done between the look and the arming");
}

//! A device that breaks the contract: nothing is delivered twice, nothing panics, nothing is out of bounds.

use ferronic::rx::RxFault;
use ferronic::tx::{TxFault, Why};
use ferronic::{Config, Discovery, Replenish};
use ferronic_contract::completion::{RxCompletion, WORDS};
use ferronic_contract::registers::queue::Format;
use ferronic_contract::status::{EOP, SOP};
use proptest::prelude::*;

use crate::mock::{frame, small, small_doorbell, small_policy, small_with, Mock, Numbers};

#[test]
fn memory_of_zeros_is_no_completion_in_any_pass() {
    for packets in 0..40 {
        let mock = Mock::new();
        let mut nic = mock.open(&small());
        let mut sink = Numbers::default();
        for i in 0..packets {
            assert!(mock.receive(&frame(i)));
            nic.rx[0].poll(64, &mut sink).unwrap();
        }
        // The device, or whoever, wipes the whole completion ring.
        for index in 0..8 {
            mock.write_completion(index, &[0; WORDS]);
        }
        let polled = nic.rx[0].poll(64, &mut sink);
        assert_eq!(sink.0.len() as u32, packets, "nothing invented");
        if packets / 8 % 2 == 0 {
            assert_eq!(polled, Ok(0));
        } else {
            // In odd passes zero is the phase that is due, and the index gives it away.
            assert_eq!(polled, Err(RxFault::Index { found: 0, expected: packets as u16 }));
        }
    }
}

#[test]
fn stale_completions_of_the_last_pass_are_not_seen() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    for i in 0..50 {
        assert!(mock.receive(&frame(i)));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(0));
    }
    assert!(sink.0.into_iter().eq(0..50));
}

/// Receives three good packets, then one whose completion is changed, and says what came of it.
fn after_three(edit: impl FnMut(&mut RxCompletion)) -> RxFault {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    for i in 0..3 {
        assert!(mock.receive(&frame(i)));
    }
    assert!(mock.receive_with(&frame(3), edit));
    assert!(mock.receive(&frame(4)));
    let free = nic.pool().available();
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(3), "the good ones before it are delivered");
    assert_eq!(sink.0, [0, 1, 2]);
    let fault = nic.rx[0].fault().expect("the queue is given up");
    assert_eq!(nic.rx[0].poll(64, &mut sink), Err(fault));
    assert_eq!(sink.0.len(), 3, "nothing behind it is delivered");
    assert_eq!(nic.rx[0].statistics().bad_completions, 1);
    assert_eq!(nic.pool().available(), free, "lent buffers stay lent");
    assert_eq!(nic.rx[0].posted(), 8);
    nic.close().unwrap();
    // Closing and opening starts anew.
    let mut nic = mock.open(&small());
    assert!(mock.receive(&frame(9)));
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
    fault
}

#[test]
fn completions_that_do_not_fit_give_the_queue_up() {
    assert_eq!(after_three(|c| c.index = 2), RxFault::Index { found: 2, expected: 3 });
    assert_eq!(after_three(|c| c.index = 4), RxFault::Index { found: 4, expected: 3 });
    assert_eq!(after_three(|c| c.cookie = u32::MAX), RxFault::Cookie { index: 3, cookie: u32::MAX });
    assert_eq!(after_three(|c| c.cookie = 31), RxFault::Cookie { index: 3, cookie: 31 });
    assert_eq!(after_three(|c| c.length = 2049), RxFault::Length { index: 3, length: 2049, min: 14, max: 2048 });
    assert_eq!(after_three(|c| c.length = u16::MAX), RxFault::Length { index: 3, length: u16::MAX, min: 14, max: 2048 });
    assert_eq!(after_three(|c| c.length = 13), RxFault::Length { index: 3, length: 13, min: 14, max: 2048 });
    assert_eq!(after_three(|c| c.length = 0), RxFault::Length { index: 3, length: 0, min: 14, max: 2048 });
}

#[test]
fn a_producer_index_that_cannot_be_gives_the_queue_up() {
    // Three descriptors used and taken, eight published beyond them.
    for word in [2, 12, 0xFFFF, 0x1_0004, u32::MAX] {
        let mock = Mock::new();
        let mut config = small_doorbell(1);
        config.rx[0].discovery = Discovery::Index;
        let mut nic = mock.open(&config);
        let mut sink = Numbers::default();
        for i in 0..3 {
            assert!(mock.receive(&frame(i)));
        }
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(3));
        mock.write_index(0, word);
        let fault = RxFault::ProducerIndex { word, from: 3, to: 11 };
        assert_eq!(nic.rx[0].poll(64, &mut sink), Err(fault));
        mock.write_index(0, 3);
        assert_eq!(nic.rx[0].poll(64, &mut sink), Err(fault), "for good");
        assert_eq!((nic.rx[0].statistics().bad_completions, sink.0.len()), (1, 3));
        nic.close().unwrap();
    }
}

/// Catches: a compact completion of the last pass, or none, believed because the index says so.
#[test]
fn an_index_ahead_of_its_completions_gives_the_queue_up_behind_the_good_ones() {
    for format in [Format::Full, Format::CompactHash, Format::CompactTag] {
        for laps in 0..3 {
            let mock = Mock::new();
            let mut nic = mock.open(&small_with(|rx| (rx.discovery, rx.format) = (Discovery::Index, format)));
            let mut sink = Numbers::default();
            for i in 0..8 * laps {
                assert!(mock.receive(&frame(i)));
                assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
            }
            for i in 0..2 {
                assert!(mock.receive(&frame(i)));
            }
            let index = 8 * laps as u16 + 2;
            mock.write_index(0, u32::from(index) + 2);
            assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(2));
            assert_eq!(nic.rx[0].poll(64, &mut sink), Err(RxFault::Phase { index }));
        }
    }
}

#[test]
fn compact_completions_that_do_not_fit_give_the_queue_up() {
    let after = |edit: fn(&mut RxCompletion)| {
        let mock = Mock::new();
        let mut nic = mock.open(&small_with(|rx| rx.format = Format::CompactTag));
        let mut sink = Numbers::default();
        assert!(mock.receive(&frame(0)));
        assert!(mock.receive_with(&frame(1), edit));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
        nic.rx[0].poll(64, &mut sink).unwrap_err()
    };
    assert_eq!(after(|c| c.cookie = 32), RxFault::Cookie { index: 1, cookie: 32 });
    assert_eq!(after(|c| c.length = 2049), RxFault::Length { index: 1, length: 2049, min: 14, max: 2048 });
    assert_eq!(after(|c| c.length = 1519), RxFault::Frame { index: 1, length: 1519, min: 14, max: 1518 });
    assert_eq!(after(|c| c.status = c.status.with(SOP, 0)), RxFault::Order { index: 1, sop: false });
}

#[test]
fn a_buffer_completed_twice_is_delivered_once() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    let mut first = 0;
    assert!(mock.receive_with(&frame(0), |c| first = c.cookie));
    assert!(mock.receive_with(&frame(1), |c| c.cookie = first));
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
    assert_eq!(sink.0, [0]);
    assert_eq!(nic.rx[0].fault(), Some(RxFault::Cookie { index: 1, cookie: first }));
}

/// Catches: a completion believed for a descriptor that the device was never told of.
#[test]
fn a_completion_without_a_descriptor_gives_the_queue_up() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.replenish = Replenish::AtEnd));
    for i in 0..8 {
        assert!(mock.receive(&frame(i)));
    }
    let mut taken = 0;
    let mut sink = |_: ferronic::Packet| {
        taken += 1;
        // All eight are taken and none is posted again before the poll ends.
        let status = ferronic_contract::status::Status(0).with(SOP, 1).with(EOP, 1);
        let forged = RxCompletion { length: 60, index: 8, phase: false, status, ..RxCompletion::default() };
        mock.write_completion(8, &forged.encode());
    };
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(8));
    assert_eq!((taken, nic.rx[0].fault()), (8, Some(RxFault::NotLent { index: 8 })));
    assert_eq!(nic.rx[0].statistics().bad_completions, 1);
}

#[test]
fn the_same_completion_written_twice_is_delivered_once() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    let mut words = [0; WORDS];
    assert!(mock.receive_with(&frame(0), |c| words = c.encode()));
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
    mock.write_completion(0, &words);
    assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(0), "behind the consumer nobody looks");
    mock.write_completion(1, &words);
    assert_eq!(nic.rx[0].poll(64, &mut sink), Err(RxFault::Index { found: 0, expected: 1 }));
    assert_eq!(sink.0, [0]);
}

#[test]
fn an_index_write_back_that_cannot_be_gives_the_tx_queue_up() {
    for word in [4, 5, 0xFFFF, 0x1_0001, u32::MAX] {
        let mock = Mock::new();
        let mut nic = mock.open(&small());
        for _ in 0..3 {
            nic.tx.send(nic.pool().get().unwrap(), 0, 60).unwrap();
        }
        nic.tx.flush();
        // Queued, but the device was not told.
        nic.tx.send(nic.pool().get().unwrap(), 0, 60).unwrap();
        let free = nic.pool().available();
        mock.write_back(word);
        let fault = TxFault { word, from: 0, to: 3 };
        assert_eq!(nic.tx.reclaim(), Err(fault));
        mock.write_back(1);
        assert_eq!(nic.tx.reclaim(), Err(fault), "for good");
        assert_eq!(nic.pool().available(), free, "nothing the device may still read comes back");
        while nic.tx.send(nic.pool().get().unwrap(), 0, 60).is_ok() {}
        assert_eq!(nic.tx.send(nic.pool().get().unwrap(), 0, 60).unwrap_err().why, Why::Fault(fault));
        assert_eq!(nic.tx.statistics().bad_indices, 1);
        nic.close().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 300 }, failure_persistence: None, ..ProptestConfig::default() })]

    /// Words at random in the completion ring and the write-back never panic and never touch memory wildly;
    /// the ring stays whole and every buffer comes back in the end.
    #[test]
    fn random_completions_do_no_harm(
        good in 0..20u32,
        writes in prop::collection::vec((0..8u16, 0..40u16, 0..40u32, 0..3000u16, any::<u32>(), any::<bool>()), 1..40),
        write_back in any::<u32>(),
        format in prop::sample::select(vec![Format::Full, Format::CompactHash, Format::CompactTag]),
        (scatter, by_index) in any::<(bool, bool)>(),
    ) {
        let mock = Mock::new();
        let discovery = if by_index { Discovery::Index } else { Discovery::Phase };
        let config = small_with(|rx| (rx.format, rx.scatter, rx.discovery) = (format, scatter, discovery));
        let mut nic = mock.open(&Config { buffer_bytes: if scatter { 256 } else { 2048 }, ..config });
        // A forgery that happens to be plausible is believed, and puts the tail beyond what the device has used.
        mock.believed.set(true);
        let mut sink = |packet: ferronic::Packet| assert!(packet.bytes().len() <= 2048);
        for i in 0..good {
            prop_assert!(mock.receive(&frame(i)));
            let _ = nic.rx[0].poll(64, &mut sink);
        }
        for (slot, index, cookie, length, status, phase) in writes {
            let status = ferronic_contract::status::Status(status);
            let forged = RxCompletion { length, cookie, index, phase, status, ..RxCompletion::default() };
            match format {
                Format::Full => mock.write_completion(slot, &forged.encode()),
                _ => mock.write_completion(slot, &forged.encode_compact(index & 1 == 1)),
            }
            if by_index {
                mock.write_index(0, index.into());
            }
            let _ = nic.rx[0].poll(64, &mut sink);
            prop_assert_eq!(nic.rx[0].posted(), 8);
            // Of a frame that has begun, up to five buffers are kept.
            let open = 24 - nic.pool().available();
            prop_assert!(open == 0 || scatter && open <= 5, "{open}");
        }
        mock.write_back(write_back);
        let _ = nic.tx.reclaim();
        let pool = nic.pool().clone();
        nic.close().unwrap();
        prop_assert_eq!(pool.available(), 32);
    }
}

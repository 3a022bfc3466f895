//! Interrupts: none lost between the last look and the re-arm, none too many, none too early or too late.

use crate::frame;
use crate::live::{config, fast, world, Live};
use crate::raw::{Raw, Setup, LONG};
use ferronic::packet::Packet;
use ferronic::rx::Turn;
use ferronic_contract::registers::{self, queue, vector, MSIX_PBA, MSIX_TABLE, RX_QUEUE, TX_QUEUE, VECTOR};
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{ConfigAccess, Plan, Settings};
use std::time::Duration;

/// Vectors.
const RX: u32 = registers::rx_vector(0);
const TX: u32 = registers::tx_vector(0);
/// Longest moderation time, cycles.
const NEVER: u32 = (1 << 24) - 1;
/// Room for a frame each.
const STRIDE: u64 = 2048;

fn open(moderation: (u32, u32), low_water: u16) -> Raw {
    // Eight descriptors are LOW_WATER + BATCH, which make the next low-water event possible.
    let thresholds = Thresholds { low_water, batch: 4, ..Thresholds::default() };
    let mut raw = Raw::new(Settings::default(), Setup { moderation, thresholds, ..Setup::default() });
    raw.world.take_interrupt(RX);
    raw
}

fn arm(raw: &mut Raw, vector: u32, seen: u16) {
    raw.write(VECTOR + vector * registers::VECTOR_STRIDE, vector::ARM, seen.into());
}

fn fires(raw: &mut Raw, vector: u32, cycles: u64) -> bool {
    raw.until(cycles, |raw| raw.world.take_interrupt(vector))
}

/// Posts buffers: all share one, since nobody reads them.
fn post(raw: &mut Raw, buffer: u64, count: u16) {
    (0..count).for_each(|_| raw.post(buffer, STRIDE as u16));
    raw.doorbell(RX_QUEUE);
}

/// A frame's completion may come at any cycle around the arming: before the look, between look and arming, while the
/// arming is on its way, and after. With moderation, and without.
///
/// Catches: an event that is an edge and is lost when the vector is not armed yet; an arming that clears an event of
/// the same cycle; a comparison with the index at arming in place of the one that software has seen; the driver
/// arming with the index of its last look plus one; an interrupt for what software has seen already.
#[test]
fn an_event_at_any_cycle_around_the_arming_is_told() {
    for (moderation, stride) in [((1, 0), 1), ((255, 150), 3)] {
        let mut raw = open(moderation, 0);
        let [_, high] = raw.buffers(STRIDE as usize);
        post(&mut raw, high.bus(), 32);
        let (mut early, mut late) = (0, 0);
        for lag in (0..450).step_by(stride) {
            raw.receive(&frame(60, lag));
            raw.pass(lag as u64);
            let seen = raw.take().is_some();
            let index = raw.rx.seen;
            arm(&mut raw, RX, index);
            let fired = fires(&mut raw, RX, 900);
            assert_eq!(fired, !seen, "armed {lag} cycles after the frame began");
            if seen {
                late += 1;
            } else {
                early += 1;
                assert!(raw.take().is_some(), "an interrupt ahead of its completion");
            }
            raw.write(VECTOR, vector::DISARM, 1);
            post(&mut raw, high.bus(), 1);
            raw.pass(300);
            assert!(!raw.world.take_interrupt(RX), "one event, one interrupt");
        }
        assert!(early > 20 && late > 20, "{early} armed before the event, {late} behind it: sweep further");
        raw.must_be_tame();
    }
}

/// The same for TX, where the event is a frame done. An arming that comes behind the event fires at once, whatever
/// the moderation.
///
/// Catches: `fresh` missing in the moderation, so that one late event waits for 254 more.
#[test]
fn arming_behind_an_event_fires_at_once_whatever_the_moderation() {
    let mut raw = open((255, NEVER), 0);
    let [low, high] = raw.buffers(STRIDE as usize);
    post(&mut raw, high.bus(), 8);
    for round in 0..5 {
        raw.receive(&frame(60, round));
        raw.must_take();
        let index = raw.rx.seen.wrapping_sub(1);
        arm(&mut raw, RX, index);
        assert!(fires(&mut raw, RX, 1000), "RX, round {round}");
        raw.send(low.bus(), &frame(60, round));
        raw.doorbell(TX_QUEUE);
        assert!(raw.until(LONG, |raw| raw.tx_done() == round as u32 + 1));
        arm(&mut raw, TX, round as u16);
        assert!(fires(&mut raw, TX, 1000), "TX, round {round}");
        // Armed with all seen, nothing is to tell.
        let index = raw.rx.seen;
        arm(&mut raw, RX, index);
        arm(&mut raw, TX, round as u16 + 1);
        assert!(!fires(&mut raw, RX, 2000) && !raw.world.take_interrupt(TX));
    }
    raw.must_be_tame();
}

/// Catches: a driver that sleeps when its budget is used up exactly with the last packet, without looking again or
/// arming.
#[test]
fn a_budget_that_ends_with_the_last_packet_strands_nothing() {
    let world = world(fast());
    let mut config = config(64);
    config.rx[0].queue.moderation = ferronic::queue::Moderation { usecs: 0, frames: 1 };
    let mut live = Live::open(&world, &config);
    let mut count = 0;
    let mut sink = |_: Packet| count += 1;
    let turn = |live: &mut Live, sink: &mut dyn FnMut(Packet)| {
        live.nic.rx[0].turn(8, Duration::from_micros(200), &mut |packet: Packet| sink(packet)).expect("a turn")
    };
    assert_eq!(turn(&mut live, &mut sink), Turn::Polled(0), "nothing there: the vector is armed");
    for round in 0..20 {
        live.receive((0..8).map(|n| frame(60, n)));
        // All 8 are in memory before the driver looks.
        live.pass(2500);
        assert_eq!(turn(&mut live, &mut sink), Turn::Polled(8), "round {round}");
        if round % 2 == 1 {
            // One more, before the driver looks again.
            live.receive([frame(60, 9)]);
            live.pass(500);
            assert_eq!(turn(&mut live, &mut sink), Turn::Polled(1));
        } else {
            assert_eq!(turn(&mut live, &mut sink), Turn::Polled(0));
        }
    }
    assert_eq!(count, 8 * 20 + 10);
    live.nic.close().expect("it comes to rest");
}

/// Catches: a masked vector that sends; a pending bit that is not set, not shown, not sent on unmasking, or sent
/// twice; function mask taken for enable.
#[test]
fn a_masked_event_is_pending_and_told_on_unmasking() {
    let mut raw = open((1, 0), 0);
    let [low, high] = raw.buffers(STRIDE as usize);
    let device = raw.world.enumerate(&Plan::default()).expect("it enumerates");
    let msix = device.msix.expect("MSI-X").offset;
    post(&mut raw, high.bus(), 32);
    for round in 0..4_u16 {
        let by_function = round % 2 == 1;
        let mask = |raw: &mut Raw, on: bool| {
            if by_function {
                raw.world.config_write(msix, 0x8000_0000 | u32::from(on) << 30).expect("it answers");
            } else {
                raw.world.write32(MSIX_TABLE + 16 * RX + 12, on.into());
            }
        };
        mask(&mut raw, true);
        raw.read(0, registers::ID);
        arm(&mut raw, RX, round);
        raw.receive(&frame(60, 1));
        raw.must_take();
        assert!(!fires(&mut raw, RX, 3000), "masked");
        assert_eq!(raw.world.read32(MSIX_PBA) & 3, 1 << RX, "pending");
        // The other vector goes by its own mask, or by the function's.
        raw.send(low.bus(), &frame(60, 2));
        raw.doorbell(TX_QUEUE);
        arm(&mut raw, TX, round);
        assert_eq!(fires(&mut raw, TX, 3000), !by_function);
        mask(&mut raw, false);
        assert!(fires(&mut raw, RX, 1000), "unmasked");
        assert!(!fires(&mut raw, RX, 1000), "once");
        assert_eq!(raw.world.take_interrupt(TX), by_function);
        assert_eq!(raw.world.read32(MSIX_PBA), 0);
    }
    raw.must_be_tame();
}

/// Catches: a low-water event two descriptors too early or too late, one that moderation holds back, that is lost when
/// the vector is not armed, or that never comes again.
#[test]
fn low_water_is_told_at_once() {
    let mut raw = open((255, NEVER), 4);
    let [_, high] = raw.buffers(STRIDE as usize);
    for armed_before in [true, false] {
        let events = raw.read(RX_QUEUE, queue::LOW_WATER_EVENTS);
        post(&mut raw, high.bus(), 8);
        raw.pass(1000);
        let seen = raw.rx.seen;
        if armed_before {
            arm(&mut raw, RX, seen);
        }
        // The core may take the descriptor for the next frame ahead, but no further.
        for n in 0..3 {
            raw.receive(&frame(60, n));
            raw.must_take();
        }
        assert!(!fires(&mut raw, RX, 1000), "5 are left");
        assert_eq!(raw.read(RX_QUEUE, queue::LOW_WATER_EVENTS), events);
        for n in 3..5 {
            raw.receive(&frame(60, n));
            raw.must_take();
        }
        if !armed_before {
            raw.pass(1000);
            assert!(!raw.world.take_interrupt(RX), "not armed");
            let seen = raw.rx.seen;
            arm(&mut raw, RX, seen);
        }
        assert!(fires(&mut raw, RX, 1000), "3 are left");
        assert_eq!(raw.read(RX_QUEUE, queue::LOW_WATER_EVENTS), events + 1);
        for n in 5..8 {
            raw.receive(&frame(60, n));
            raw.must_take();
        }
    }
    raw.must_be_tame();
}

/// Catches: FRAMES one off; a timer that starts at arming and not at the first event, that restarts with each event,
/// or that counts in another unit than cycles.
#[test]
fn moderation_counts_frames_and_cycles() {
    for frames in [2, 5, 16] {
        let mut raw = open((frames, NEVER), 0);
        let [_, high] = raw.buffers(STRIDE as usize);
        post(&mut raw, high.bus(), 32);
        arm(&mut raw, RX, 0);
        // An arming behind the event would fire at once: it must have arrived before the frames.
        raw.read(0, registers::ID);
        for n in 1..frames {
            raw.receive(&frame(60, n as usize));
            raw.must_take();
        }
        assert!(!fires(&mut raw, RX, 5000), "{} of {frames} frames", frames - 1);
        raw.receive(&frame(60, 0));
        assert!(fires(&mut raw, RX, 1000), "{frames} frames");
    }
    // From the first completion to the interrupt, though more frames come in between.
    let wait = |cycles: u32| {
        let mut raw = open((255, cycles), 0);
        let [_, high] = raw.buffers(STRIDE as usize);
        post(&mut raw, high.bus(), 32);
        arm(&mut raw, RX, 0);
        raw.pass(3000);
        for n in 0..4 {
            raw.receive(&frame(60, n));
        }
        raw.must_take();
        let first = raw.world.cycles();
        assert!(fires(&mut raw, RX, LONG), "after {cycles} cycles");
        raw.world.cycles() - first
    };
    let (short, long) = (wait(1000), wait(3500));
    // The completion takes longer than the message to cross the link.
    assert!((940..1060).contains(&short), "{short} cycles for 1000");
    // A vector is found when the scan over all eight comes by.
    assert!((long - short).abs_diff(2500) <= 8, "{} cycles for 2500", long - short);
}

/// Catches: a vector that fires unarmed, or again without being armed again, or that is armed after reset.
#[test]
fn a_vector_that_is_not_armed_is_silent() {
    let mut raw = open((1, 0), 0);
    let [low, high] = raw.buffers(STRIDE as usize);
    post(&mut raw, high.bus(), 20);
    for n in 0..5 {
        raw.receive(&frame(60, n));
        raw.send(low.bus(), &frame(60, n));
        raw.doorbell(TX_QUEUE);
        raw.must_take();
        raw.must_send();
    }
    raw.pass(3000);
    assert!(!raw.world.take_interrupt(RX) && !raw.world.take_interrupt(TX));
    arm(&mut raw, RX, 5);
    for n in 5..10 {
        raw.receive(&frame(60, n));
        raw.must_take();
        assert_eq!(fires(&mut raw, RX, 1000), n == 5, "armed once");
    }
    // Disarmed again before anything came.
    arm(&mut raw, RX, 10);
    raw.write(VECTOR, vector::DISARM, 1);
    raw.receive(&frame(60, 0));
    raw.must_take();
    assert!(!fires(&mut raw, RX, 2000), "disarmed");
    assert_eq!(raw.read(VECTOR, vector::SENT), 1);
    raw.must_be_tame();
}

//! Rings that wrap, overflow, run dry, straddle pages, or are told nonsense.

use crate::frame;
use crate::live::{config, fast, world, Live};
use crate::raw::{Raw, Setup};
use ferronic::packet::Packet;
use ferronic::policy::Replenish;
use ferronic::tx::Why;
use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{queue, RX_QUEUE, TX_QUEUE};
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::Settings;
use ferronic_sim::wire::{LineRate, Pace, WireSink, WireSource};

/// Room for a frame each.
const STRIDE: u64 = 2048;

/// Catches: an index or a tail cut to fewer than 16 bits, in RTL or driver; phase by the slot count and not by the
/// index; full taken for empty; completions seen twice after the wrap.
#[test]
fn indices_wrap_at_2_to_the_16_in_a_ring_of_8() {
    const FRAMES: usize = 70_000;
    let world = world(fast());
    {
        let mut world = world.borrow_mut();
        // The core's 64 bits at 125 MHz are 8 Gb/s.
        let five = LineRate::from_mbps(5_000).expect("a rate");
        // Below what a ring of 8 can take, so that nearly every frame goes round both rings.
        let pace = Pace { rate: ferronic_sim::wire::Rate::MegabitsPerSecond(2000), burst: 1 };
        world.source = WireSource::new(five, pace);
        world.sink = WireSink::new(five);
        world.source.feed((0..FRAMES).map(|n| ferronic_sim::wire::Frame::new(frame(60, n), "wrap".into(), n)));
    }
    let mut config = config(8);
    config.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 2 };
    config.rx[0].queue.thresholds = Thresholds { prefetch: 8, host: 1, batch: 4, ..Thresholds::default() };
    config.tx.thresholds = config.rx[0].queue.thresholds;
    let mut live = Live::open(&world, &config);
    live.settle(true);
    {
        let world = world.borrow();
        let (delivered, sent) = (world.scoreboard.delivered, world.scoreboard.sent);
        assert!(delivered > 1 << 16, "{delivered} of {FRAMES} frames delivered: the index did not wrap");
        assert_eq!(delivered, sent);
    }
    live.close();
}

/// Catches: an on-chip count that wraps with more than a ring outstanding; frames beyond the ring lost without a
/// count, or completions for them.
#[test]
fn a_burst_longer_than_the_ring_is_dropped_with_a_count_and_the_rest_is_whole() {
    let world = world(Settings::default());
    let mut live = Live::open(&world, &config(8));
    // The host looks away until the line is quiet: 8 frames fill the ring, the packet FIFO takes 32 KiB.
    live.receive((0..200).map(|n| frame(1000, n)));
    while !world.borrow().source.is_done() {
        live.pass(1000);
    }
    live.settle(false);
    {
        let world = world.borrow();
        let dropped: u64 = world.scoreboard.dropped().values().sum();
        assert_eq!(world.scoreboard.delivered + dropped, 200);
        assert!((30..=45).contains(&world.scoreboard.delivered), "{} delivered", world.scoreboard.delivered);
    }
    let counted = live.counter("core", "DROP_NO_DESCRIPTOR") + live.counter("core", "DROP_FIFO");
    assert_eq!(u64::from(counted), 200 - world.borrow().scoreboard.delivered);
    assert!(live.counter("core", "DROP_NO_DESCRIPTOR") > 0);
    live.close();
}

/// Catches: a driver that panics, leaks a buffer, or leaves a hole in the ring when its pool is dry.
#[test]
fn a_pool_that_runs_empty_drops_and_keeps_the_ring_full() {
    let world = world(fast());
    let mut config = config(16);
    config.buffers = 16 + 5;
    // A copy would be a buffer of another pool.
    config.rx[0].policy.copybreak = 0;
    let mut live = Live::open(&world, &config);
    live.receive((0..100).map(|n| frame(200, n)));
    let mut kept = Vec::new();
    while kept.len() as u64 + live.nic.rx[0].statistics().dropped_no_buffer < 100 {
        let mut sink = |packet: Packet| {
            assert_eq!(packet.bytes(), frame(200, packet.completion.index.into()));
            kept.push(packet);
        };
        live.nic.rx[0].poll(64, &mut sink).expect("sound");
        assert_eq!(live.nic.rx[0].posted(), 16, "the ring stays full");
        live.pass(100);
    }
    assert_eq!((kept.len(), live.nic.rx[0].statistics().dropped_no_buffer), (5, 95));
    assert_eq!(live.nic.pool().available(), 0);
    kept.clear();
    world.borrow_mut().scoreboard = Default::default();
    // With buffers back, packets flow again.
    live.receive((0..50).map(|n| frame(200, 1000 + n)));
    let mut count = 0;
    for _ in 0..2000 {
        let mut sink = |packet: Packet| {
            assert_eq!(packet.bytes(), frame(200, 1000 + count));
            count += 1;
        };
        live.nic.rx[0].poll(64, &mut sink).expect("sound");
        live.pass(100);
    }
    assert_eq!(count, 50);
    assert_eq!(live.nic.pool().available(), 5);
    live.nic.close().expect("it comes to rest");
}

/// Catches: a full ring told as free (descriptors overwritten), frames refused that fit, buffers lost on refusal.
#[test]
fn a_full_tx_ring_refuses_and_takes_again_later() {
    let world = world(Settings::default());
    let mut live = Live::open(&world, &config(8));
    let before = live.nic.pool().available();
    let (mut number, mut refused) = (0, 0);
    // Many rings full, with no doorbell but the driver's own.
    while number < 100 {
        let mut buffer = live.nic.pool().get().expect("a buffer");
        let bytes = frame(300, number);
        buffer.bytes_mut()[..300].copy_from_slice(&bytes);
        match live.nic.tx.send(buffer, 0, 300) {
            Ok(()) => {
                world.borrow_mut().scoreboard.on_send(&bytes);
                number += 1;
            }
            Err(error) => {
                assert_eq!(error.why, Why::RingFull);
                assert_eq!(live.nic.tx.outstanding(), 8);
                refused += 1;
                drop(error.buffer);
                live.pass(200);
            }
        }
    }
    assert!(refused > 0, "the ring was never full");
    live.settle(false);
    for _ in 0..100 {
        live.turn(false);
    }
    assert_eq!((live.nic.tx.outstanding(), live.nic.pool().available()), (0, before));
    assert_eq!(world.borrow().scoreboard.sent, 100);
    live.close();
}

/// Catches: a tail that is trusted (stale descriptors fetched); a queue that hangs on it; the other queue stopped too.
#[test]
fn a_tail_too_far_ahead_stops_the_queue_with_bad_doorbell() {
    let mut raw: Raw = Raw::new(Settings::default(), Setup { ring: 8, ..Setup::default() });
    let [low, high] = raw.buffers(16 * STRIDE as usize);
    for (base, other) in [(RX_QUEUE, TX_QUEUE), (TX_QUEUE, RX_QUEUE)] {
        for ahead in [9, 16, 0x8000, 0xFFFF] {
            let reads = raw.read(base, queue::READS);
            raw.write(base, queue::TAIL, ahead);
            assert_eq!(raw.wait_stopped(base), Cause::BadDoorbell, "tail {ahead}");
            assert_eq!(raw.stopped(other), None);
            assert_eq!(raw.read(base, queue::READS), reads, "nothing is read");
            raw.disable(base);
            raw.enable(base);
            // Exactly a ring ahead is legal.
            if base == RX_QUEUE {
                for n in 0..8 {
                    raw.post(high.bus() + n * STRIDE, STRIDE as u16);
                }
                raw.doorbell(RX_QUEUE);
                // Once this is answered the queue runs.
                raw.read(RX_QUEUE, queue::STATUS);
                for n in 0..8 {
                    raw.receive(&frame(60, n));
                }
                for n in 0..8 {
                    raw.must_take();
                    assert_eq!(raw.peek(high.bus() + n * STRIDE, 60), frame(60, n as usize));
                }
            } else {
                for n in 0..8 {
                    raw.send(low.bus() + n * STRIDE, &frame(60, n as usize));
                }
                raw.doorbell(TX_QUEUE);
                raw.must_send();
            }
            raw.disable(base);
            raw.enable(base);
        }
    }
    raw.must_be_tame();
}

/// Catches: a doorbell that is remembered over enabling, and descriptors fetched by it.
#[test]
fn a_doorbell_while_the_queue_is_disabled_does_nothing() {
    let mut raw: Raw = Raw::new(Settings::default(), Setup::default());
    let [low, high] = raw.buffers(8 * STRIDE as usize);
    for base in [RX_QUEUE, TX_QUEUE] {
        raw.disable(base);
        let reads = raw.read(base, queue::READS);
        raw.write(base, queue::TAIL, 5);
        raw.pass(2000);
        raw.enable(base);
        raw.pass(2000);
        assert_eq!((raw.read(base, queue::READS), raw.read(base, queue::HEAD)), (reads, 0));
        assert_eq!(raw.stopped(base), None);
    }
    raw.post(high.bus(), STRIDE as u16);
    raw.doorbell(RX_QUEUE);
    raw.receive(&frame(60, 1));
    raw.must_take();
    raw.send(low.bus(), &frame(60, 2));
    raw.doorbell(TX_QUEUE);
    raw.must_send();
    raw.must_be_tame();
}

/// Catches: a descriptor read that crosses 4 KiB or the ring's end, or reads at or past the tail. The entry at the
/// tail is poison: an address that is not mapped.
#[test]
fn descriptors_are_read_up_to_the_tail_and_never_across_a_page_or_the_rings_end() {
    for (ring, step) in [(8, 3), (256, 7), (256, 31), (512, 29), (512, 64)] {
        let thresholds = Thresholds { prefetch: 64, host: 1, batch: 32, ..Thresholds::default() };
        let mut raw: Raw = Raw::new(fast(), Setup { ring, thresholds, ..Setup::default() });
        let [low, high] = raw.buffers(64 * STRIDE as usize);
        let mut number = 0;
        while number < 2 * ring as usize + 40 {
            let step = (step as usize).min(ring as usize - 1);
            for n in number..number + step {
                raw.post(high.bus() + (n % 64) as u64 * STRIDE, STRIDE as u16);
                raw.send(low.bus() + (n % 64) as u64 * STRIDE, &frame(60, n));
            }
            // What a driver is about to write must not be read yet.
            let tails = (raw.rx.tail, raw.tx.tail);
            raw.post(0xDEAD_0000, STRIDE as u16);
            raw.queue(0xDEAD_0000, 60);
            (raw.rx.tail, raw.tx.tail) = tails;
            raw.doorbell(RX_QUEUE);
            raw.doorbell(TX_QUEUE);
            for n in number..number + step {
                raw.receive(&frame(60, n));
            }
            for n in number..number + step {
                raw.must_take();
                let place = high.bus() + (n % 64) as u64 * STRIDE;
                assert_eq!(raw.peek(place, 60), frame(60, n), "ring {ring}, frame {n}");
            }
            raw.must_send();
            number += step;
        }
        assert!(raw.until(crate::raw::LONG, |raw| raw.tx_done() as usize == number));
        raw.must_be_tame();
    }
}

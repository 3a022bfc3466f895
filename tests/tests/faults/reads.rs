//! Answers to the core's reads that lie, fail, or do not come: of RX descriptors, TX descriptors and TX data.

use crate::frame;
use crate::raw::{Raw, Setup, LONG};
use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{self, queue, RX_QUEUE, TX_QUEUE};
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{ReadFault, Settings};

/// What stops a queue, and the cause that it must show.
const STOPPING: [(ReadFault, Cause); 5] = [
    (ReadFault::UnsupportedRequest, Cause::UnsupportedRequest),
    (ReadFault::CompleterAbort, Cause::CompleterAbort),
    (ReadFault::Poisoned, Cause::Poisoned),
    (ReadFault::WrongByteCount, Cause::BadCompletion),
    (ReadFault::Never, Cause::TimeOut),
];
/// Completions that answer nothing: they are counted and stop nothing.
const STRAY: [ReadFault; 2] = [ReadFault::Unexpected, ReadFault::Duplicate];
/// Time-out of 12 to 13 thousand cycles: far above what the link's queue asks for.
const SHORT: u32 = 12;
/// Room for a frame each.
const STRIDE: u64 = 2048;

fn open() -> Raw {
    // All 64 descriptors of a full ring fit the chip, so that no later read of the RX queue catches a fault.
    let thresholds = Thresholds { prefetch: 64, host: 1, batch: 32, ..Thresholds::default() };
    Raw::new(Settings::default(), Setup { thresholds, timeout: SHORT, ..Setup::default() })
}

/// Disables and enables the queue; after a time-out the tag stays retired, so the core is reset.
fn bring_back(raw: &mut Raw, base: u32, cause: Cause) {
    if cause == Cause::TimeOut {
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        raw.reset();
    } else {
        raw.disable(base);
        raw.enable(base);
        raw.new_scoreboard();
    }
    assert_eq!(raw.stopped(base), None);
}

/// Posts `count` buffers from an address on and waits until the chip has them all.
fn fill(raw: &mut Raw, buffers: u64, count: u64) {
    for n in 0..count {
        raw.post(buffers + n * STRIDE, STRIDE as u16);
    }
    raw.doorbell(RX_QUEUE);
    let tail = u32::from(raw.rx.tail);
    assert!((0..500).any(|_| raw.read(RX_QUEUE, queue::HEAD) == tail), "descriptors are not fetched");
    raw.pass(500);
}

/// Brings `count` frames on the wire at line rate; all must arrive as they were sent.
fn must_receive(raw: &mut Raw, buffers: u64, count: usize) {
    let first = raw.rx.seen as usize;
    for n in 0..count {
        raw.receive(&frame(60 + n, n));
    }
    for n in 0..count {
        let completion = raw.must_take();
        assert_eq!(usize::from(completion.length), 60 + n);
        let bytes = raw.peek(buffers + (first + n) as u64 * STRIDE, 60 + n);
        assert_eq!(bytes, frame(60 + n, n), "frame {n}");
    }
}

fn send(raw: &mut Raw, buffers: u64, count: usize, length: usize) {
    for n in 0..count {
        raw.send(buffers + n as u64 * STRIDE, &frame(length, n));
    }
    raw.doorbell(TX_QUEUE);
}

/// Lets the core ask for descriptors, and makes the fault hit the read behind that one.
fn inject_behind_descriptors(raw: &mut Raw, fault: ReadFault) {
    let answers = |raw: &mut Raw| raw.world.pcie.counters().down.cpld.tlps;
    let before = answers(raw);
    raw.doorbell(TX_QUEUE);
    assert!(raw.until(LONG, |raw| answers(raw) > before), "no descriptors are read");
    raw.world.pcie.inject_read_fault(fault);
}

/// Catches: RX and TX errors wired to one stop; a cause table with two entries swapped; a failed read whose
/// descriptors are used all the same; a tag that is freed twice or never (the second and third round find it in
/// use); a queue that does not come to rest after an error.
#[test]
fn a_failed_rx_descriptor_read_stops_rx_alone() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    for (fault, cause) in STOPPING {
        for _round in 0..3 {
            // Data enough to be on its way out while RX stops, and all of it read: the next read is RX's.
            send(&mut raw, low.bus(), 8, 1500);
            assert!((0..1000).any(|_| raw.read(TX_QUEUE, queue::HEAD) == 8));
            raw.pass(4000);
            raw.world.pcie.inject_read_fault(fault);
            raw.post(high.bus(), STRIDE as u16);
            raw.doorbell(RX_QUEUE);
            assert_eq!(raw.wait_stopped(RX_QUEUE), cause, "{fault:?}");
            assert_eq!(raw.stopped(TX_QUEUE), None, "{fault:?}");
            send(&mut raw, low.bus() + 8 * STRIDE, 8, 1000);
            raw.must_send();
            // What comes meanwhile is dropped for the reason that is true of it.
            let dropped = raw.read(0, registers::DROP_DISABLED);
            raw.receive(&frame(60, 0));
            raw.pass(500);
            assert_eq!(raw.read(0, registers::DROP_DISABLED), dropped + 1);
            assert_eq!(raw.take(), None);
            // TX starts anew too, so that its indices stay plain.
            raw.disable(TX_QUEUE);
            raw.enable(TX_QUEUE);
            bring_back(&mut raw, RX_QUEUE, cause);
            fill(&mut raw, high.bus(), 20);
            must_receive(&mut raw, high.bus(), 20);
            raw.disable(RX_QUEUE);
            raw.enable(RX_QUEUE);
        }
    }
    assert_eq!(raw.read(0, registers::MALFORMED), 0);
    raw.must_be_tame();
}

/// Catches the same in the TX prefetch, and a TX error that stalls the read side or drops frames of RX at line rate.
#[test]
fn a_failed_tx_descriptor_read_stops_tx_alone() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    for (fault, cause) in STOPPING {
        for _round in 0..3 {
            fill(&mut raw, high.bus(), 64);
            let done = raw.tx_done();
            raw.world.pcie.inject_read_fault(fault);
            raw.queue(low.bus(), 60);
            raw.doorbell(TX_QUEUE);
            must_receive(&mut raw, high.bus(), 60);
            assert_eq!(raw.wait_stopped(TX_QUEUE), cause, "{fault:?}");
            assert_eq!(raw.stopped(RX_QUEUE), None, "{fault:?}");
            assert_eq!(raw.tx_done(), done, "no frame is done");
            raw.disable(RX_QUEUE);
            raw.enable(RX_QUEUE);
            bring_back(&mut raw, TX_QUEUE, cause);
            send(&mut raw, low.bus(), 8, 700);
            raw.must_send();
        }
    }
    raw.must_be_tame();
}

/// Catches: a frame with a hole in it sent all the same; a payload tag or buffer rows lost with each failure (there
/// are 16 tags, and 20 rounds); a queue that hangs behind the failed frame; RX disturbed.
#[test]
fn a_failed_tx_data_read_stops_tx_alone() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    for (fault, cause) in STOPPING {
        let rounds = if fault == ReadFault::Never { 3 } else { 20 };
        for round in 0..rounds {
            fill(&mut raw, high.bus(), 64);
            let before = raw.read(TX_QUEUE, queue::DROP_BUFFER);
            // The first is the one that fails, so the scoreboard does not expect it. Those behind it may leave or
            // not, but only whole.
            raw.poke(low.bus(), &frame(1500, 99));
            raw.queue(low.bus(), 1500);
            for n in 1..4 {
                raw.send(low.bus() + n * STRIDE, &frame(900, n as usize));
            }
            inject_behind_descriptors(&mut raw, fault);
            must_receive(&mut raw, high.bus(), 40);
            assert_eq!(raw.wait_stopped(TX_QUEUE), cause, "{fault:?}, round {round}");
            assert_eq!(raw.stopped(RX_QUEUE), None, "{fault:?}");
            assert!(raw.read(TX_QUEUE, queue::DROP_BUFFER) > before, "the failed frame is counted");
            raw.pass(5000);
            raw.must_be_tame();
            raw.disable(RX_QUEUE);
            raw.enable(RX_QUEUE);
            bring_back(&mut raw, TX_QUEUE, cause);
            send(&mut raw, low.bus(), 8, 1500);
            raw.must_send();
            raw.disable(TX_QUEUE);
            raw.enable(TX_QUEUE);
        }
    }
    raw.must_be_tame();
}

/// Catches: a time-out that frees the tag, so that the late data of the old read passes for the new one's. TX goes on
/// with the tags that are left when its queue is disabled and enabled without a reset.
#[test]
fn a_tag_that_timed_out_is_not_used_again() {
    let mut raw = open();
    let [low, _high] = raw.buffers(64 * STRIDE as usize);
    for _round in 0..5 {
        raw.poke(low.bus(), &frame(100, 99));
        raw.queue(low.bus(), 100);
        inject_behind_descriptors(&mut raw, ReadFault::Never);
        assert_eq!(raw.wait_stopped(TX_QUEUE), Cause::TimeOut);
        raw.disable(TX_QUEUE);
        raw.enable(TX_QUEUE);
        send(&mut raw, low.bus(), 20, 1500);
        raw.must_send();
        raw.disable(TX_QUEUE);
        raw.enable(TX_QUEUE);
    }
    raw.must_be_tame();
}

/// Catches: a descriptor tag that is used again though the answer to its old read may still come.
#[test]
fn a_queue_whose_descriptor_tag_timed_out_stays_stopped_until_reset() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    for (base, other) in [(RX_QUEUE, TX_QUEUE), (TX_QUEUE, RX_QUEUE)] {
        raw.world.pcie.inject_read_fault(ReadFault::Never);
        raw.write(base, queue::TAIL, 1);
        assert_eq!(raw.wait_stopped(base), Cause::TimeOut);
        raw.disable(base);
        raw.enable(base);
        let reads = raw.read(base, queue::READS);
        raw.write(base, queue::TAIL, 1);
        raw.pass(3000);
        assert_eq!(raw.read(base, queue::READS), reads, "the tag is used again");
        assert_eq!(raw.stopped(base), Some(Cause::TimeOut));
        assert_eq!(raw.stopped(other), None);
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        raw.reset();
        fill(&mut raw, high.bus(), 20);
        must_receive(&mut raw, high.bus(), 20);
        send(&mut raw, low.bus(), 8, 700);
        raw.must_send();
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        raw.reset();
    }
    raw.must_be_tame();
}

/// Catches: an unexpected completion that is taken for an answer, ends a read that is outstanding, is not counted,
/// or stops a queue.
#[test]
fn a_stray_completion_is_counted_and_does_nothing() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    let mut counted = 0;
    for fault in STRAY {
        for _round in 0..5 {
            raw.world.pcie.inject_read_fault(fault);
            fill(&mut raw, high.bus(), 32);
            must_receive(&mut raw, high.bus(), 32);
            raw.world.pcie.inject_read_fault(fault);
            send(&mut raw, low.bus(), 1, 60);
            raw.must_send();
            raw.send(low.bus(), &frame(300, 7));
            inject_behind_descriptors(&mut raw, fault);
            raw.must_send();
            counted += 3;
            assert_eq!(raw.read(0, registers::UNEXPECTED), counted, "{fault:?}");
            assert_eq!((raw.stopped(RX_QUEUE), raw.stopped(TX_QUEUE)), (None, None), "{fault:?}");
            for base in [RX_QUEUE, TX_QUEUE] {
                raw.disable(base);
                raw.enable(base);
            }
        }
    }
    raw.must_be_tame();
}

/// Catches: an Unsupported Request that leaves the queue hanging; a write to nowhere that stops the ring.
#[test]
fn an_address_that_is_not_mapped_stops_the_queue_that_reads_it() {
    let mut raw = open();
    let [low, high] = raw.buffers(64 * STRIDE as usize);
    for nowhere in [0xDEAD_0000_u64, 0xDEAD_BEEF_0000_0000] {
        // A descriptor ring that is not there. The registers are set up anew by the reset.
        for base in [RX_QUEUE, TX_QUEUE] {
            raw.disable(base);
            raw.write(base, queue::RING_LOW, nowhere as u32);
            raw.write(base, queue::RING_HIGH, (nowhere >> 32) as u32);
            raw.enable(base);
            raw.write(base, queue::TAIL, 3);
            assert_eq!(raw.wait_stopped(base), Cause::UnsupportedRequest);
            let fault = raw.world.pcie.memory_faults().last().cloned().expect("a wild read");
            assert_eq!((fault.address, fault.bytes, fault.write), (nowhere, 48, false));
        }
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        raw.reset();

        // TX data that is not there, behind a frame that is.
        raw.send(low.bus(), &frame(60, 1));
        raw.queue(nowhere + 1, 60);
        raw.doorbell(TX_QUEUE);
        assert_eq!(raw.wait_stopped(TX_QUEUE), Cause::UnsupportedRequest);
        raw.must_send();
        bring_back(&mut raw, TX_QUEUE, Cause::UnsupportedRequest);
        send(&mut raw, low.bus(), 4, 60);
        raw.must_send();

        // A received frame for nowhere is lost, which the core cannot know; the next arrives.
        raw.post(nowhere, 2048);
        raw.post(high.bus(), 2048);
        raw.doorbell(RX_QUEUE);
        raw.receive(&frame(60, 1));
        raw.receive(&frame(60, 2));
        raw.must_take();
        raw.must_take();
        assert_eq!(raw.peek(high.bus(), 60), frame(60, 2));
        let fault = raw.world.pcie.memory_faults().last().cloned().expect("a wild write");
        assert_eq!((fault.address, fault.write), (nowhere, true));
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        raw.reset();
    }
    raw.must_be_sound();
    assert_eq!(raw.world.pcie.memory_faults().len(), 8);
}

//! Interrupt moderation: no event is lost, and no interrupt comes without one.
//!
//! Caught when tried: producer and seen index compared only just after arming (a later event is lost), `urgent`
//! forgotten while disarmed, and CYCLES counted from arming.

use ferronic_bench::models::irq::Irq;
use ferronic_verilated::PowerUp;

struct Bench(Irq);

impl Bench {
    fn new(frames: u8, cycles: u32) -> Self {
        let mut irq = Irq::new(PowerUp::Random(u64::from(cycles)));
        irq.set_frames(frames);
        irq.set_cycles(cycles);
        irq.set_reset(true);
        let mut bench = Self(irq);
        bench.clock();
        bench.clock();
        bench.0.set_reset(false);
        bench
    }

    /// One cycle; whether it fired in it.
    fn clock(&mut self) -> bool {
        self.0.eval();
        let fire = self.0.fire();
        self.0.set_clock(true);
        self.0.eval();
        self.0.set_clock(false);
        self.0.eval();
        self.0.set_arm(false);
        self.0.set_disarm(false);
        self.0.set_urgent(false);
        fire
    }

    fn arm(&mut self, seen: u16) {
        self.0.set_arm(true);
        self.0.set_arm_index(seen);
    }

    /// Cycles until it fires, at most `limit`.
    fn wait(&mut self, limit: u32) -> Option<u32> {
        (0..limit).find(|_| self.clock())
    }
}

/// An event and an arming at every distance, from 8 cycles before to 8 after, over the wrap of the index.
#[test]
fn an_event_around_the_arming_is_never_lost() {
    for seen in [0u16, 7, 0xFFFF] {
        for distance in -8i32..=8 {
            let mut bench = Bench::new(1, 1000);
            bench.0.set_producer(seen);
            let mut fired = 0;
            for now in -10..40 {
                if now == 0 {
                    bench.arm(seen);
                }
                if now == distance {
                    bench.0.set_producer(seen.wrapping_add(1));
                }
                fired += u32::from(bench.clock());
            }
            assert_eq!(fired, 1, "event {distance} cycles after arming at {seen}");
        }
    }
}

/// The software looked before the event and arms after it, though many frames are allowed to gather.
#[test]
fn a_producer_that_has_moved_on_fires_at_once() {
    let mut bench = Bench::new(200, 0xFF_FFFF);
    bench.0.set_producer(3);
    bench.arm(2);
    assert_eq!(bench.wait(10), Some(3));
    assert_eq!(bench.wait(1000), None, "fired and disarmed");
}

#[test]
fn frames_gather_until_there_are_enough() {
    for frames in 1..=255u16 {
        let mut bench = Bench::new(frames as u8, 0xFF_FFFF);
        bench.0.set_producer(0xFFF0);
        bench.arm(0xFFF0);
        assert_eq!(bench.wait(5), None);
        for n in 1..frames {
            bench.0.set_producer(0xFFF0u16.wrapping_add(n));
            assert!(!bench.clock() && !bench.clock(), "fired after {n} of {frames}");
        }
        bench.0.set_producer(0xFFF0u16.wrapping_add(frames));
        assert_eq!(bench.wait(5), Some(2));
    }
}

/// The time counts from the first event, not from the arming.
#[test]
fn a_few_frames_wait_no_longer_than_the_time() {
    for cycles in [0, 1, 2, 3, 100, 999] {
        let mut bench = Bench::new(100, cycles);
        bench.arm(0);
        assert_eq!(bench.wait(1500), None);
        bench.0.set_producer(1);
        assert_eq!(bench.wait(2000), Some(cycles + 2));
    }
}

#[test]
fn urgent_fires_an_armed_vector_and_waits_for_arming_otherwise() {
    for distance in -8i32..=8 {
        let mut bench = Bench::new(255, 0xFF_FFFF);
        let mut fired = 0;
        for now in -10..40 {
            if now == 0 {
                bench.arm(0);
            }
            bench.0.set_urgent(now == distance);
            fired += u32::from(bench.clock());
        }
        assert_eq!(fired, 1, "urgent {distance} cycles after arming");
        bench.arm(0);
        assert_eq!(bench.wait(50), None, "kept only once");
    }
}

#[test]
fn a_disarmed_vector_is_silent() {
    let mut bench = Bench::new(1, 0);
    bench.arm(0);
    bench.clock();
    bench.0.set_disarm(true);
    bench.clock();
    bench.0.set_producer(5);
    assert_eq!(bench.wait(100), None);
    bench.arm(4);
    assert_eq!(bench.wait(10), Some(3));
}

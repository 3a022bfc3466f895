//! A queue that nobody serves, among others at line rate.

use ferronic_tests::say;

use crate::{count, counter, generated, must, receive};

const FRAMES: u64 = 8_000;
const RING: u64 = 256;
/// Cycles of a microsecond.
const MHZ: u64 = 125;

/// One run; the others must lose nothing.
fn starve(hold: u32) {
    let mut run = receive("gen1x1", RING as u32, 4);
    run.unserved = vec![3];
    run.driver.hold_usecs = Some(hold);
    let (report, fates) = must(&run, generated(&format!("size=60,count={FRAMES},rate=line"), 1));
    let others = count(&fates, |class| class.queue != 3) as u64;
    let dry = counter(&report, "rx3.DROP_NO_DESCRIPTOR");
    let waited = counter(&report, "rx3.STARVED");
    say(&format!(
        "HOLD {hold} µs: {others} frames of the other queues delivered; queue 3: {RING} in memory, {dry} dropped, and the \
         others waited for it {:.2} µs in all",
        waited as f64 / MHZ as f64
    ));
    // What is dropped is queue 3's.
    assert_eq!(report.frames_dropped.get("unserved"), Some(&RING), "{report}");
    assert_eq!(report.dropped(), RING + dry, "{report}");
    assert_eq!(others + RING + dry, FRAMES, "{report}");
    assert!(dry > 1000, "{report}");
    // The bound: once, for HOLD.
    let hold = u64::from(hold) * MHZ;
    assert!((hold..hold + 16).contains(&waited), "{waited} cycles, HOLD is {hold}");
}

/// Catches: frames behind one whose queue is dry that wait again and again; a queue that stays dry for others too; a HOLD
/// that starts late or runs on.
#[test]
fn a_queue_that_nobody_serves_costs_the_others_nothing() {
    // The last is the driver's when nothing else is asked for.
    for hold in [5, 15, 33] {
        starve(hold);
    }
}

//! Polling again after a time, without an interrupt.

use ferronic::policy::{Rearm, RxPolicy};
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::run::Direction;
use ferronic_tests::scenario::play;

use crate::{generated, open};

/// A ring of 8, a frame every 10 µs, and a core that drops a frame without a descriptor after 20 µs: only a host that polls
/// when it said it would loses none.
#[test]
fn a_run_waits_no_longer_than_until_the_next_poll() {
    const FRAMES: u64 = 400;
    let mut run = open(8, 1, 1);
    run.direction = Direction::Receive;
    run.driver.hold_usecs = Some(20);
    let rx = &mut run.driver.rx[0];
    let rearm = Rearm::Delayed { link_mbps: 1000, frames: 4, empty_polls: 100 };
    rx.policy = RxPolicy { rearm, ..rx.policy };
    let (report, _) = play::<NicCore, 8>(&run, generated(&format!("size=60,count={FRAMES},rate=100000pps"), 1));
    assert_eq!((report.mismatches, report.frames_delivered), (0, FRAMES), "{report}");
    assert!(report.interrupts <= 1, "{} interrupts: it is to poll", report.interrupts);
}

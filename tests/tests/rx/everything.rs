//! 60-byte frames at 1 Gb/s with everything on: 4 queues, RSS, filters, checksums.

use ferronic::filters::{Filter, Match, Target, Transport};
use ferronic::nic::{Nic, VlanStrip};
use ferronic::policy::Replenish;
use ferronic_contract::registers::queue::Format;
use ferronic_pcie::Splits;
use ferronic_sim::run::{Direction, Run};
use ferronic_sim::report::Report;
use ferronic_tests::say;

use crate::{count, generated, must, receive};

const FRAMES: u64 = 20_000;

fn everything(direction: Direction) -> Run {
    let mut run = receive("gen1x1", 256, 4);
    run.direction = direction;
    run.prepare = Some(Box::new(|nic: &mut Nic| {
        nic.set_vlan_strip(VlanStrip { customer: true, service: true })?;
        // Of the flows that the generator makes, ports 1024 to 1279 to port 9, some are caught.
        for last in 0..64 {
            let source = Some([10, 0, 1, 4 * last].into());
            let on = Match { source, port: Some((Transport::Udp, 9)), ..Match::default() };
            nic.filters.add(Filter { on, target: Target::Queue(last % 4), tag: last.into() })?;
        }
        let on = Match { port: Some((Transport::Tcp, 9)), ..Match::default() };
        nic.filters.add(Filter { on, target: Target::Rss, tag: 0x700 })?;
        Ok(())
    }));
    run
}

fn figures(what: &str, report: &Report) {
    let frames = report.frames_in as f64;
    say(&format!(
        "{what}: {} in, {} delivered, {} sent; {:.3} Mpps; {:.2} TLPs and {:.1} bytes a frame up, {:.2} and {:.1} down; \
         link busy {:.1} % up, {:.1} % down",
        report.frames_in,
        report.frames_delivered,
        report.frames_sent,
        frames / report.sim_seconds * 1e-6,
        report.pcie.up_tlps as f64 / frames,
        report.pcie.up_bytes as f64 / frames,
        report.pcie.down_tlps as f64 / frames,
        report.pcie.down_bytes as f64 / frames,
        report.pcie.up_busy * 100.0,
        report.pcie.down_busy * 100.0,
    ));
}

/// Catches: a block that cannot take a frame every 84 cycles.
#[test]
fn receiving_with_everything_on_loses_nothing() {
    let traffic = generated(&format!("size=60,count={FRAMES},rate=line,mix=udp:3+tcp+vlan"), 1);
    let (report, fates) = must(&everything(Direction::Receive), traffic);
    figures("receiving, everything on", &report);
    assert_eq!(report.frames_delivered, FRAMES, "{report}");
    for queue in 0..4 {
        assert!(count(&fates, |class| class.queue == queue) > 2000, "queue {queue}");
    }
    assert!(count(&fates, |class| class.filter == Some(true)) > 5000);
    assert!(count(&fates, |class| class.stripped) > 2000);
    assert_eq!(count(&fates, |class| class.l4_csum == Some("good")), FRAMES as usize);
}

/// Catches: completions that take more of the link than a quarter of a TLP each.
#[test]
fn receiving_and_sending_at_once_loses_nothing_with_compact_completions() {
    let mut run = everything(Direction::Echo);
    run.pcie.splits = Splits::Largest;
    for rx in &mut run.driver.rx {
        rx.format = Format::CompactHash;
        rx.policy.replenish = Replenish::AsTaken { doorbell_every: 32 };
        rx.queue.thresholds.write_back = 4;
        rx.queue.thresholds.batch = 32;
    }
    run.driver.tx.thresholds.write_back = 8;
    run.driver.tx.thresholds.batch = 32;
    let (report, _) = must(&run, generated(&format!("size=60,count={FRAMES},rate=line,mix=udp:3+tcp+vlan"), 1));
    figures("receiving and sending, everything on, compact completions", &report);
    assert_eq!((report.frames_delivered, report.frames_sent), (FRAMES, FRAMES), "{report}");
}

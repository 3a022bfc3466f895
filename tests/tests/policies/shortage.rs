//! Pools that run empty, consumers that keep what they get, and a host that looks away, under each replenish policy.

use ferronic::policy::{Replenish, RxPolicy};
use ferronic_sim::run::Run;
use ferronic_tests::say;

use crate::host::{Consumer, Host};
use crate::{generated, open, REPLENISH};

const RING: u32 = 16;
/// Buffers beyond the ring.
const SPARE: u32 = 5;

fn small(replenish: Replenish) -> Run {
    let mut run = open(RING, 1, 1);
    run.driver.buffers = RING + SPARE;
    // A copy would be a buffer of another pool.
    let rx = &mut run.driver.rx[0];
    rx.policy = RxPolicy { replenish, copybreak: 0, ..rx.policy };
    run
}

/// Below what a ring of 16 bears without a drop by the core.
fn some(host: &Host, count: u32, seed: u64) {
    host.feed(generated(&format!("size=60-300,count={count},rate=200mbps,mix=udp+tcp"), seed));
}

/// The consumer stalls: it keeps every buffer, so that the pool runs empty; then it gives them back.
#[test]
fn a_pool_that_runs_empty_drops_with_a_count_and_recovers() {
    for replenish in REPLENISH {
        let mut host = Host::open(&small(replenish));
        for stall in 1..=3 {
            host.desk.consumer = Consumer::Keeps;
            some(&host, 100, stall);
            host.settle(|_| ());
            let counted = host.nic.rx[0].statistics();
            let must = stall * u64::from(100 - SPARE);
            assert_eq!((host.desk.kept.len() as u32, counted.dropped_no_buffer), (SPARE, must), "{replenish:?}");
            assert_eq!(host.nic.pool().available(), 0, "{replenish:?}");
            assert!(host.nic.pool().statistics().empty >= must, "{replenish:?}");
            assert_eq!(host.dropped(), must, "{replenish:?}: the core dropped nothing");
            host.desk.kept.clear();
            host.desk.consumer = Consumer::Drops;
            some(&host, 100, stall + 10);
            host.settle(|_| ());
            assert_eq!(host.dropped(), must, "{replenish:?}: all is as before");
            assert_eq!(host.nic.pool().available(), SPARE, "{replenish:?}");
        }
        host.close();
    }
}

/// The consumer keeps and gives back all the time, so that the pool is empty now and then, in the middle of a poll too.
#[test]
fn a_pool_at_its_limit_loses_no_buffer() {
    for replenish in REPLENISH {
        let mut host = Host::open(&small(replenish));
        host.desk.consumer = Consumer::Keeps;
        some(&host, 1500, 1);
        let mut rng = fastrand::Rng::with_seed(1);
        host.settle(|host| {
            let kept = &mut host.desk.kept;
            kept.drain(..rng.usize(..=kept.len()));
        });
        let (delivered, dropped) = (host.world.borrow().scoreboard.delivered, host.nic.rx[0].statistics().dropped_no_buffer);
        say(&format!("{replenish:?}: {delivered} delivered, {dropped} dropped for want of a buffer"));
        assert!(delivered > 300 && dropped > 20, "{replenish:?}: {delivered} delivered, {dropped} dropped");
        assert_eq!((delivered + dropped, host.dropped()), (1500, dropped), "{replenish:?}");
        host.close();
    }
}

/// The host does not look until the line is quiet: the ring is used up, the core's packet FIFO too.
#[test]
fn a_host_that_looks_away_finds_all_that_the_core_did_not_drop() {
    for replenish in REPLENISH {
        let mut host = Host::open(&small(replenish));
        host.desk.consumer = Consumer::Drops;
        for away in 1..=2 {
            host.feed(generated("size=1000,count=120,rate=line,mix=udp", away));
            {
                let mut world = host.world.borrow_mut();
                while !world.source.is_done() {
                    world.step();
                }
            }
            host.settle(|_| ());
            let counted = host.counter("core", "DROP_NO_DESCRIPTOR") + host.counter("core", "DROP_FIFO");
            assert!(counted > 40 * away, "{replenish:?}: {counted} dropped");
            assert_eq!(host.dropped(), counted, "{replenish:?}");
            some(&host, 200, away);
            host.settle(|_| ());
            assert_eq!(host.dropped(), counted, "{replenish:?}: all is as before");
        }
        assert_eq!(host.world.borrow().scoreboard.delivered + host.dropped(), 2 * (120 + 200), "{replenish:?}");
        host.close();
    }
}

//! Every knob changed at random while frames come and go at line rate.

use fastrand::Rng;
use ferronic::filters::{Filter, Match, Target, Transport};
use ferronic::nic::VlanStrip;
use ferronic::pool::Allocation;
use ferronic::rx::RxQueue;
use ferronic::statistics::RxStatistics;
use ferronic::Discovery;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::ring::RingSize;
use ferronic_pcie::{Credits, Settings};
use ferronic_tests::say;

use crate::host::Host;
use crate::{draw, generated, open};

const FRAMES: u64 = 5_000;

/// Changes one thing.
fn turn_a_knob(host: &mut Host, rng: &mut Rng, tx_ring: u16) {
    let queue = rng.usize(..host.nic.rx.len());
    match rng.u8(..10) {
        0..=4 => host.set_policy(queue, draw::rx(rng)),
        5 | 6 => host.nic.tx.set_policy(draw::tx(rng, tx_ring)).expect("a policy within its ranges"),
        7 => host.nic.rx[queue].set_moderation(draw::moderation(rng)).expect("moderation within its ranges"),
        8 => {
            // Another tag for some of the flows; where they go stays, so that each is in order.
            let on = Match { port: Some((Transport::Udp, 9)), ..Match::default() };
            host.nic.filters.add(Filter { on, target: Target::Rss, tag: rng.u16(..) }).expect("a place for it");
        }
        _ => {
            host.budget = rng.usize(16..=128);
            host.waits_for_tx = rng.bool();
        }
    }
}

/// Everything that was set before the device was opened, at random too.
fn host(queues: usize, seed: u64, rng: &mut Rng, pcie: impl FnOnce(Settings) -> Settings) -> (Host, u16) {
    let tx_ring = if rng.bool() { 256 } else { 32 };
    let mut run = open(256, queues, seed);
    run.pcie = pcie(run.pcie);
    run.driver.allocation = [Allocation::PagePool, Allocation::HalfPage, Allocation::Plain][rng.usize(..3)];
    // Two rings full, what waits to be sent, and as much again.
    run.driver.buffers = 1024;
    run.driver.tx.ring = RingSize::new(tx_ring.into()).expect("a ring size");
    for rx in &mut run.driver.rx {
        rx.queue.thresholds.low_water = 192;
        rx.format = if rng.bool() { Format::Full } else { Format::CompactHash };
        rx.discovery = if rng.bool() { Discovery::Phase } else { Discovery::Index };
        rx.queue.thresholds.write_back = rng.u8(1..=4);
        rx.policy = draw::rx(rng);
    }
    let mut host = Host::open(&run);
    host.nic.set_vlan_strip(VlanStrip { customer: rng.bool(), service: false }).expect("the core strips");
    (host, tx_ring)
}

/// Everything that came was delivered or is proven to be dropped by the core, and everything delivered was sent or counted.
/// How much was lost on the way to the driver.
fn account(host: Host, changes: u32, what: &str) -> u64 {
    let (delivered, sent) = {
        let world = host.world.borrow();
        (world.scoreboard.delivered, world.scoreboard.sent)
    };
    let (tx, lost) = (host.nic.tx.statistics(), host.dropped());
    let counted: Vec<RxStatistics> = host.nic.rx.iter().map(RxQueue::statistics).collect();
    let rx: RxStatistics = counted.iter().sum();
    say(&format!(
        "{what}: {changes} changes; {delivered} delivered, {lost} lost, {sent} sent, {} + {} dropped before; {} copied, {} by \
         software, {} checked, {} interrupts, {} squeezes, {} doorbells; TX: {} stops, {} interrupts, {} time-outs",
        tx.dropped_ring_full,
        host.desk.overflowed,
        rx.copied,
        rx.software_path,
        rx.status_checked,
        rx.interrupts,
        rx.time_squeeze,
        rx.doorbells,
        tx.stops,
        tx.interrupts,
        tx.timeouts,
    ));
    assert_eq!(delivered + lost, FRAMES);
    assert_eq!(sent + tx.dropped_ring_full + host.desk.overflowed, delivered, "{tx:?}");
    assert_eq!((rx.dropped_no_buffer, rx.status_disagreed, rx.bad_completions), (0, 0, 0), "{rx:?}");
    assert!(rx.copied > 50 && rx.software_path > 50 && rx.status_checked > 10 && rx.interrupts > 3, "{rx:?}");
    assert!(changes > 100, "{changes} changes");
    host.close();
    lost
}

fn changes_at_random(queues: usize, seed: u64, pcie: impl FnOnce(Settings) -> Settings) -> u64 {
    let mut rng = Rng::with_seed(seed);
    let (mut host, tx_ring) = host(queues, seed, &mut rng, pcie);
    // The shortest frames, the most a second; or of any size, on both sides of each copybreak.
    let size = if seed.is_multiple_of(2) { "60" } else { "60-700" };
    host.feed(generated(&format!("size={size},count={FRAMES},rate=line,mix=udp:3+tcp+vlan"), seed));
    let mut changes = 0;
    host.settle(|host| {
        if rng.u8(..3) == 0 {
            turn_a_knob(host, &mut rng, tx_ring);
            changes += 1;
        }
    });
    account(host, changes, &format!("{queues} queues, seed {seed}"))
}

#[test]
fn nothing_is_lost_with_four_queues_at_line_rate() {
    for seed in 1..=3 {
        assert_eq!(changes_at_random(4, seed, |pcie| pcie), 0, "seed {seed}");
    }
}

#[test]
fn nothing_is_lost_with_one_queue_at_line_rate() {
    for seed in 4..=6 {
        assert_eq!(changes_at_random(1, seed, |pcie| pcie), 0, "seed {seed}");
    }
}

/// Here the device stalls again and again, and may drop; what it drops the scoreboard knows to be dropped for cause.
#[test]
fn nothing_is_mistaken_over_a_link_that_stalls() {
    for seed in 7..=8 {
        let stalls = |pcie: Settings| Settings {
            tx_stall_permille: 60,
            rx_gap_permille: 300,
            host_jitter_ns: 2000,
            credits: Credits { posted_headers: 4, posted_data: 32, nonposted_headers: 3 },
            ..pcie
        };
        let lost = changes_at_random(4, seed, stalls);
        assert!(lost < FRAMES / 2, "{lost} frames lost");
    }
}

//! A device that stands still in the middle of traffic both ways, because its bus mastering is off, under each replenish
//! policy.

use ferronic::policy::tx::Notify;
use ferronic::policy::RxPolicy;
use ferronic_pcie::ConfigAccess;
use ferronic_tests::say;

use crate::host::Host;
use crate::{generated, open, REPLENISH};

/// Offset in configuration space.
const COMMAND: u16 = 0x04;
const BUS_MASTER: u32 = 1 << 2;
const FRAMES: u64 = 2000;
/// Time between two stalls, in ns; each is at another moment of the DMA.
const BETWEEN: u64 = 400_337;

/// Lets the device do DMA, or not.
fn set_bus_master(host: &Host, on: bool) {
    let mut world = host.world.borrow_mut();
    let command = world.config_read(COMMAND).expect("it answers");
    world.config_write(COMMAND, if on { command | BUS_MASTER } else { command & !BUS_MASTER }).expect("it answers");
}

/// Time now, in ns.
fn now(host: &Host) -> u64 {
    host.world.borrow().now_ps() / 1000
}

/// How many frames were lost when the device stands still three times, for so long each.
fn stalls(ring: u32, microseconds: u64) -> Vec<u64> {
    let each = REPLENISH.into_iter().zip([Notify::EveryPacket, Notify::Moderated, Notify::EventIndex].into_iter().cycle());
    each.map(|(replenish, notify)| {
        let mut run = open(ring, 1, 1);
        run.driver.buffers = 4 * ring + 256;
        let rx = &mut run.driver.rx[0];
        rx.policy = RxPolicy { replenish, ..rx.policy };
        let mut host = Host::open(&run);
        let policy = ferronic::TxPolicy { notify, ..host.nic.tx.policy() };
        host.nic.tx.set_policy(policy).expect("a policy within its ranges");
        host.waits_for_tx = true;
        host.feed(generated(&format!("size=60-400,count={FRAMES},rate=line,mix=udp+tcp"), 1));
        let (mut next, mut stalled) = (now(&host) + BETWEEN, 0);
        let (mut back, mut before) = (None, 0);
        host.settle(|host| {
            let now = now(host);
            match back {
                None if stalled < 3 && now > next => {
                    set_bus_master(host, false);
                    before = host.nic.rx[0].statistics().packets;
                    back = Some(now + microseconds * 1000);
                    stalled += 1;
                }
                Some(end) if now > end => {
                    // What had arrived before was delivered, then nothing came.
                    let come = host.nic.rx[0].statistics().packets - before;
                    assert!(come <= u64::from(ring), "{come} packets out of nothing");
                    set_bus_master(host, true);
                    (back, next) = (None, now + BETWEEN);
                }
                _ => {}
            }
        });
        assert_eq!(stalled, 3);
        let (tx, lost) = (host.nic.tx.statistics(), host.dropped());
        let (delivered, sent) = {
            let world = host.world.borrow();
            (world.scoreboard.delivered, world.scoreboard.sent)
        };
        say(&format!("{replenish:?}, {microseconds} µs: {delivered} delivered, {lost} lost, {sent} sent, {} time-outs", tx.timeouts));
        assert_eq!((delivered + lost, sent + host.desk.overflowed), (FRAMES, delivered), "{replenish:?}");
        assert!(tx.timeouts > 3, "{replenish:?}: {tx:?}");
        let counted = host.counter("core", "DROP_NO_DESCRIPTOR") + host.counter("core", "DROP_FIFO");
        assert_eq!(counted + host.nic.rx[0].statistics().dropped_no_buffer, lost, "{replenish:?}");
        host.close();
        lost
    })
    .collect()
}

/// The packet FIFO holds 32 KiB, 260 µs of the line.
#[test]
fn a_device_that_stands_still_for_a_short_time_loses_nothing() {
    assert_eq!(stalls(128, 60), [0; REPLENISH.len()]);
}

#[test]
fn a_device_that_stands_still_for_long_drops_with_a_count_and_goes_on() {
    for lost in stalls(128, 600) {
        assert!((200..FRAMES / 2).contains(&lost), "{lost} lost");
    }
}

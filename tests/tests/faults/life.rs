//! A driver that dies and one that comes after it, and a change of address under traffic.

use crate::frame;
use crate::live::{config, fast, world, Live, FREE};
use crate::raw::{Raw, Setup, LONG};
use ferronic::nic::Nic;
use ferronic::packet::{Packet, Path};
use ferronic_contract::class::{self, Mac};
use ferronic_contract::registers::{queue, RX_QUEUE, TX_QUEUE};
use ferronic_pcie::Settings;
use ferronic_sim::device::SimDevice;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::{Rate, Pace, LineRate, WireSource};

/// Room for a frame each.
const STRIDE: u64 = 2048;

/// The number in a frame.
fn number(bytes: &[u8]) -> usize {
    u32::from_be_bytes([bytes[14], bytes[15], bytes[16], bytes[17]]) as usize
}

/// The real driver is killed in the middle of traffic (its memory stays, as a kernel would keep it until the device
/// is quiet), and a new one opens the device as it finds it.
///
/// Catches: an open that does not disable and wait for the queues; a reset that forgets an index, the phase, a tag, a
/// frame in a FIFO, an armed vector; a completion of the old driver's taken by the new one.
#[test]
fn a_new_driver_opens_a_device_that_the_old_one_left_running() {
    for moment in [3, 17, 40, 77, 150] {
        let world = world(Settings::default());
        let mut live = Live::open(&world, &config(32));
        live.receive((0..400).map(|n| frame(500, n)));
        for _ in 0..moment {
            live.turn(true);
        }
        std::mem::forget(live.nic);
        // Frames go on coming while the new driver opens the device; what it gets must be its own.
        let mut nic = Nic::open(SimDevice::open(&world, FREE), &config(32)).expect("it opens");
        nic.check().expect("it runs");
        let (mut last, mut count) = (None, 0);
        for _ in 0..4000 {
            let mut sink = |packet: Packet| {
                let n = number(packet.bytes());
                assert_eq!(packet.bytes(), frame(500, n), "moment {moment}");
                assert!(last < Some(n), "frame {n} behind {last:?}");
                assert_eq!(packet.path, Path::Status);
                (last, count) = (Some(n), count + 1);
            };
            nic.rx[0].poll(64, &mut sink).expect("the completions are sound");
            (0..100).for_each(|_| world.borrow_mut().step());
        }
        assert!(world.borrow().source.is_done());
        assert_eq!(last, Some(399), "moment {moment}: the last frame arrives");
        assert!(count > 100, "{count} frames");
        world.borrow_mut().scoreboard = Scoreboard::default();
        let mut buffer = nic.pool().get().expect("a buffer");
        buffer.bytes_mut()[..60].copy_from_slice(&frame(60, 1));
        world.borrow_mut().scoreboard.on_send(&frame(60, 1));
        nic.tx.send(buffer, 0, 60).expect("it is taken");
        nic.tx.flush();
        (0..5000).for_each(|_| world.borrow_mut().step());
        assert_eq!(world.borrow().scoreboard.sent, 1);
        assert_eq!(nic.close().expect("it comes to rest").tx_unfinished, 0);
        let illegal = world.borrow().illegal();
        assert!(illegal.is_empty(), "{illegal:?}");
        assert_eq!(world.borrow().scoreboard.mismatches().1, 0, "{:?}", world.borrow().scoreboard.mismatches());
    }
}

/// Disabling says when memory can be taken away: at rest, no write is on its way out of the core any more, and the
/// register read that told so has pushed those before it into memory.
///
/// Catches: IDLE shown while a read, a payload or a completion is still under way.
#[test]
fn a_disabled_queue_that_is_idle_leaves_memory_alone() {
    for moment in [30, 75, 120, 200, 311, 402, 650, 1000, 1501, 2333] {
        let mut raw: Raw = Raw::new(Settings { host_jitter_ns: 1500, ..Settings::default() }, Setup::default());
        let regions = raw.buffers(64 * STRIDE as usize);
        for n in 0..40 {
            raw.post(regions[1].bus() + n * STRIDE, STRIDE as u16);
            raw.receive(&frame(300, n as usize));
            raw.poke(regions[0].bus() + n * STRIDE, &frame(900, n as usize));
            raw.world.scoreboard.on_send(&frame(900, n as usize));
            raw.queue(regions[0].bus() + n * STRIDE, 900);
        }
        raw.doorbell(RX_QUEUE);
        raw.doorbell(TX_QUEUE);
        raw.pass(moment);
        raw.write(RX_QUEUE, queue::CONTROL, 0);
        raw.write(TX_QUEUE, queue::CONTROL, 0);
        raw.disable(RX_QUEUE);
        raw.disable(TX_QUEUE);
        // Rings and buffers go back to the system.
        let mut world = raw.abandon();
        drop(regions);
        for _ in 0..LONG {
            world.step();
        }
        assert!(world.pcie.memory_faults().is_empty(), "moment {moment}: {:?}", world.pcie.memory_faults());
        assert!(world.pcie.violations().is_empty());
        // Frames that had been read whole may have left, each as it was; the rest never leaves.
        assert_eq!(world.scoreboard.mismatches().1, 0, "{:?}", world.scoreboard.mismatches());
    }
}

/// The own address changes while frames for both addresses come at line rate.
///
/// Catches: an epoch that is not bumped, or stamped from another cycle than the comparison; half a MAC in force
/// between the two register writes; a driver that trusts status bits of an old epoch.
#[test]
fn the_address_changes_under_traffic_and_no_frame_is_misjudged() {
    const OTHER: Mac = [2, 0, 0, 0, 0xAA, 0x55];
    let world = world(fast());
    world.borrow_mut().source =
        WireSource::new(LineRate::GIGABIT, Pace { rate: Rate::Line, burst: 1 });
    let mut live = Live::open(&world, &config(256));
    let addressed = |n: usize| {
        let mut bytes = frame(60, n);
        if n % 2 == 1 {
            bytes[..6].copy_from_slice(&OTHER);
        }
        bytes
    };
    live.receive((0..3000).map(addressed));
    let (mut status, mut software, mut next) = (0, 0, 0);
    let own = live.nic.mac();
    for turn in 0..30_000 {
        if turn % 300 == 150 {
            // Frames that the core has judged by the old address wait in the ring.
            let mac = if live.nic.mac() == own { OTHER } else { own };
            live.nic.set_mac(mac);
        }
        let mac = live.nic.mac();
        let mut sink = |packet: Packet| {
            assert_eq!(packet.bytes(), addressed(next));
            assert_eq!(Some(packet.class), class::classify(packet.bytes(), &mac), "frame {next}, {:?}", packet.path);
            match packet.path {
                Path::Status => status += 1,
                Path::Software => software += 1,
            }
            next += 1;
        };
        live.nic.rx[0].poll(64, &mut sink).expect("sound");
        live.pass(16);
        if next == 3000 {
            break;
        }
    }
    assert_eq!(next, 3000, "every frame arrives");
    assert!(status > 2000 && software > 10, "{status} by status bits, {software} by software");
    live.nic.close().expect("it comes to rest");
    assert!(world.borrow().illegal().is_empty());
}

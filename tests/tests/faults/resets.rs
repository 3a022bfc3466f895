//! Bus mastering off, function-level reset, hot reset and removal, each in the middle of DMA.

use crate::frame;
use crate::live::{config, world, Live, FREE};
use crate::raw::{Raw, Setup, LONG};
use ferronic::error::Error;
use ferronic::nic::Nic;
use ferronic::packet::Packet;
use ferronic::rx::Turn;
use ferronic_contract::registers::{self, vector, RX_QUEUE, TX_QUEUE};
use ferronic_pcie::{ConfigAccess, Plan, Settings};
use ferronic_sim::device::SimDevice;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::{LineRate, WireSink};
use std::time::Duration;

/// Offsets in configuration space.
const COMMAND: u16 = 0x04;
const BUS_MASTER: u32 = 1 << 2;
/// Device Control is 8 bytes into the PCI Express capability.
const DEVICE_CONTROL: u16 = 8;
const FUNCTION_LEVEL_RESET: u32 = 1 << 15;
/// Room for a frame each.
const STRIDE: u64 = 2048;
const RX_FRAMES: usize = 30;
const TX_FRAMES: usize = 20;
/// Moments from the first doorbell on, in cycles: in reads of descriptors, of data, in writes, in between.
const MOMENTS: [u64; 10] = [40, 90, 171, 300, 433, 701, 1009, 1777, 3001, 6007];

/// Starts frames both ways and lets so many cycles pass. Where the buffers are: RX, TX.
fn storm(raw: &mut Raw, moment: u64) -> [ferronic::dma::DmaRegion; 2] {
    let regions = raw.buffers(64 * STRIDE as usize);
    for n in 0..RX_FRAMES as u64 {
        raw.post(regions[1].bus() + n * STRIDE, STRIDE as u16);
    }
    raw.doorbell(RX_QUEUE);
    for n in 0..RX_FRAMES {
        raw.receive(&frame(400, n));
    }
    for n in 0..TX_FRAMES {
        raw.send(regions[0].bus() + n as u64 * STRIDE, &frame(600, n));
    }
    raw.doorbell(TX_QUEUE);
    for vector in [registers::rx_vector(0), registers::tx_vector(0)] {
        raw.write(registers::VECTOR + vector * registers::VECTOR_STRIDE, vector::ARM, 0);
    }
    raw.pass(moment);
    regions
}

/// Every frame of the storm must come through.
fn must_come_through(raw: &mut Raw, rx_buffers: u64) {
    for n in 0..RX_FRAMES {
        raw.must_take();
        assert_eq!(raw.peek(rx_buffers + n as u64 * STRIDE, 400), frame(400, n), "frame {n}");
    }
    raw.must_send();
}

/// Catches: a request sent while bus mastering is off (the root complex records it); a request that was waiting and
/// is lost or sent twice when it is on again.
#[test]
fn bus_mastering_off_and_on_pauses_dma_and_loses_nothing() {
    for moment in MOMENTS {
        let mut raw: Raw = Raw::new(Settings::default(), Setup::default());
        let regions = storm(&mut raw, moment);
        let command = raw.world.config_read(COMMAND).expect("it answers");
        raw.world.config_write(COMMAND, command & !BUS_MASTER).expect("it answers");
        // Reads that are under way may still be answered; after that nothing may move.
        raw.pass(1000);
        let sent = raw.world.pcie.counters().up.mrd.tlps + raw.world.pcie.counters().up.mwr.tlps;
        raw.pass(3000);
        let counters = raw.world.pcie.counters();
        assert_eq!(counters.up.mrd.tlps + counters.up.mwr.tlps, sent, "moment {moment}");
        raw.world.config_write(COMMAND, command).expect("it answers");
        must_come_through(&mut raw, regions[1].bus());
        raw.must_be_tame();
    }
}

/// Once the function is reset, old memory must be left alone, and a new driver must find a core as after power-up.
fn start_anew(raw: Raw, regions: [ferronic::dma::DmaRegion; 2], moment: u64) {
    let mut world = raw.abandon();
    drop(regions);
    // The rest of the storm runs against a function that is reset.
    for _ in 0..LONG {
        world.step();
    }
    assert!(world.pcie.memory_faults().is_empty(), "moment {moment}: {:?}", world.pcie.memory_faults());
    world.scoreboard = Scoreboard::default();
    // The reset cuts a frame on its way out; a MAC sends it with a wrong FCS.
    world.sink = WireSink::new(LineRate::GIGABIT);
    world.enumerate(&Plan::default()).expect("it enumerates");
    let mut raw = Raw::on(world, Setup::default());
    let regions = storm(&mut raw, 0);
    must_come_through(&mut raw, regions[1].bus());
    raw.must_be_tame();
}

/// Catches: a queue, a tag or a payload FIFO that survives an FLR and writes or reads with its old address; a reset
/// that cuts a TLP in two; an FLR that the core is not back from.
#[test]
fn a_function_level_reset_in_the_middle_of_dma_leaves_memory_alone() {
    for moment in MOMENTS {
        let mut raw: Raw = Raw::new(Settings::default(), Setup::default());
        let device = raw.world.enumerate(&Plan::default()).expect("it enumerates");
        let regions = storm(&mut raw, moment);
        let control = raw.world.config_read(device.express + DEVICE_CONTROL).expect("it answers");
        let reset = control | FUNCTION_LEVEL_RESET;
        raw.world.config_write(device.express + DEVICE_CONTROL, reset).expect("it answers");
        // What was sent before the reset is still under way; software waits 100 ms here.
        raw.pass(2000);
        start_anew(raw, regions, moment);
    }
}

/// Catches: state that only power-up clears (a FIFO, a tag, half a TLP); DMA after reset.
#[test]
fn a_hot_reset_in_the_middle_of_dma_leaves_memory_alone() {
    for moment in MOMENTS {
        let mut raw: Raw = Raw::new(Settings::default(), Setup::default());
        let regions = storm(&mut raw, moment);
        raw.world.hot_reset();
        start_anew(raw, regions, moment);
    }
}

/// Catches: a driver that waits for ever for a bit of a register that reads all ones, that takes all ones for a
/// cause or an index, or that frees memory which a device out of reach may still write.
#[test]
fn removal_is_told_and_hangs_nothing() {
    for moment in [10, 100, 400] {
        let world = world(Settings::default());
        let mut live = Live::open(&world, &config(64));
        live.receive((0..200).map(|n| frame(300, n)));
        for _ in 0..moment {
            live.turn(true);
        }
        world.borrow_mut().pcie.remove_device();
        assert!(matches!(live.nic.check(), Err(Error::DeviceGone)));
        // The turn that finds no packet tells; those before deliver what had arrived.
        let mut turns = 0;
        let gone = loop {
            match live.nic.rx[0].turn(64, Duration::from_millis(1), &mut |packet: Packet| drop(packet)) {
                Ok(Turn::Idle | Turn::Polled(_)) => turns += 1,
                Err(error) => break error,
            }
            assert!(turns < 10, "the driver does not notice");
        };
        assert!(matches!(gone, Error::DeviceGone), "{gone}");
        // With no frame under way there is nothing to wait for.
        let sending = live.nic.tx.outstanding() > 0;
        let gone = live.nic.tx.wait(Duration::from_millis(1));
        assert!(matches!(gone, Err(Error::DeviceGone) | Ok(1..)) || (!sending && matches!(gone, Ok(0))), "{gone:?}");
        assert!(matches!(live.nic.close(), Err(Error::DeviceGone)));
        let again = Nic::open(SimDevice::open(&world, FREE), &config(64));
        assert!(matches!(again, Err(Error::DeviceGone)));

        // It is plugged in again.
        {
            let mut world = world.borrow_mut();
            assert!(world.pcie.violations().is_empty() && world.pcie.memory_faults().is_empty());
            world.hot_reset();
            while !world.source.is_done() {
                world.step();
            }
            // The last frame is told of some cycles after the wire brought it.
            world.pass_ns(1000);
            world.scoreboard = Scoreboard::default();
            world.enumerate(&Plan::default()).expect("it enumerates");
        }
        let mut live = Live::open(&world, &config(64));
        live.receive((0..50).map(|n| frame(300, n)));
        live.settle(true);
        let world = world.borrow();
        assert_eq!((world.scoreboard.delivered, world.scoreboard.sent), (50, 50));
        assert_eq!(world.scoreboard.mismatches().1, 0);
    }
}

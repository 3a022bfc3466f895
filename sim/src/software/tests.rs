use std::time::Duration;

use ferronic::{Config, Nic, Packet, Path, RxConfig, Turn};
use ferronic_contract::class::classify;

use super::{Options, SoftwareDevice, Writes};
use crate::setup;
use crate::wire::Generator;

const PATIENCE: Duration = Duration::from_secs(20);

fn frames(specification: &str, mac: [u8; 6]) -> Vec<Vec<u8>> {
    let generator: Generator = specification.parse().unwrap();
    generator.frames(1, mac).map(|frame| frame.bytes).collect()
}

fn small() -> Config {
    setup::driver(ferronic_contract::ring::RingSize::new(64).unwrap(), Default::default(), 1518)
}

/// More frames than the indices count, by more templates than one: each must be the next one, whole, and classified as the
/// driver's own rule has it. Catches: payload that is not there when the completion is; a template out of turn; a phase
/// that is wrong behind the wrap.
#[test]
fn every_frame_arrives_whole_and_in_order() {
    for writes in [Writes::Memory, Writes::Cache] {
        let device = SoftwareDevice::start(Options { writes, ..Options::default() });
        let config = small();
        let mut nic = Nic::open(device.device(), &config).unwrap();
        let templates = frames("size=74-1514,count=37,mix=udp+tcp+udp6", config.mac);
        device.generate(templates.clone(), Some(70_000));
        let mut seen = 0;
        while seen < 70_000 {
            let before = seen;
            nic.rx[0]
                .poll(64, &mut |packet: Packet| {
                    let template = &templates[seen % templates.len()];
                    assert_eq!(packet.bytes(), template, "frame {seen}");
                    assert_eq!((packet.path, Some(packet.class)), (Path::Status, classify(template, &config.mac)));
                    seen += 1;
                })
                .unwrap();
            assert!(seen > before || device.await_delivered(seen as u64 + 1, PATIENCE), "stuck behind {seen}");
        }
        assert_eq!(device.delivered(), 70_000, "the limit holds");
        assert_eq!(nic.close().unwrap().rx.packets, 70_000);
    }
}

/// Catches: a judgement that is kept although the own address is another.
#[test]
fn frames_are_judged_anew_when_the_own_address_changes() {
    let device = SoftwareDevice::start(Options::default());
    let config = small();
    let mut nic = Nic::open(device.device(), &config).unwrap();
    let other = [0x02, 0, 0, 0, 0, 9];
    let templates = frames("size=60,count=1", other);
    let mut paths = Vec::new();
    for mac in [config.mac, other] {
        nic.set_mac(mac);
        device.generate(templates.clone(), Some(8));
        let until = paths.len() + 8;
        while paths.len() < until {
            nic.rx[0].poll(8, &mut |packet: Packet| paths.push((packet.path, packet.class.destination))).unwrap();
        }
    }
    use ferronic_contract::status::Destination::{Host, OtherHost};
    assert!(paths[..8].iter().all(|seen| *seen == (Path::Status, OtherHost)), "{paths:?}");
    assert!(paths[8..].iter().all(|seen| *seen == (Path::Status, Host)), "{paths:?}");
}

/// Catches: an interrupt that is lost between arming and the next frame.
#[test]
fn interrupts_wake_the_driver_for_every_frame() {
    let device = SoftwareDevice::start(Options { rx_queues: 2, ..Options::default() });
    let mut config = small();
    config.rx.push(RxConfig { queue: config.rx[0].queue, ..RxConfig::default() });
    let mut nic = Nic::open(device.device(), &config).unwrap();
    let templates = frames("size=60,count=16,mix=udp", config.mac);
    for round in 1..=2000u64 {
        device.generate(templates.clone(), Some(round % 5));
        let mut left = round % 5;
        while left > 0 {
            for queue in &mut nic.rx {
                if let Turn::Polled(packets) = queue.turn(64, Duration::from_micros(20), &mut |_: Packet| ()).unwrap() {
                    left -= packets as u64;
                }
            }
        }
    }
    assert!(nic.rx.iter().map(|rx| rx.statistics().interrupts).sum::<u64>() > 100);
    assert!(nic.rx.iter().all(|rx| rx.statistics().packets > 100), "both queues are used");
}

#[test]
fn frames_that_are_sent_are_counted_and_their_buffers_come_back() {
    let device = SoftwareDevice::start(Options::default());
    let mut nic = Nic::open(device.device(), &small()).unwrap();
    let buffers = nic.pool().available();
    let mut sent = 0;
    while sent < 10_000 {
        if let Some(buffer) = nic.pool().get() {
            sent += u64::from(nic.tx.send(buffer, 0, 60).is_ok());
        }
        nic.tx.flush();
        nic.tx.reclaim().unwrap();
    }
    while nic.tx.outstanding() > 0 {
        nic.tx.reclaim().unwrap();
    }
    assert_eq!((device.sent(), nic.pool().available()), (10_000, buffers));
}

#[test]
fn a_device_that_has_ended_reads_all_ones_and_leaves_memory_alone() {
    let device = SoftwareDevice::start(Options::default());
    let nic = Nic::open(device.device(), &small()).unwrap();
    assert!(nic.check().is_ok());
    drop(device);
    assert!(matches!(nic.check(), Err(ferronic::Error::DeviceGone)));
}

/// Catches: a region that the device still knows after the driver has freed it.
#[test]
fn what_is_unmapped_is_unmapped() {
    let device = SoftwareDevice::start(Options::default());
    let seams = device.device();
    let region = seams.dma.allocate(8192, 4096).unwrap();
    assert_eq!(device.regions().list().len(), 1);
    drop(region);
    assert!(device.regions().list().is_empty());
}

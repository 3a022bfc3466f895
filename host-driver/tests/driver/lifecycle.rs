//! Opening, closing, and what a device may do instead.

use ferronic::{Config, Error, Nic};
use ferronic_contract::registers::{self, queue, vector};
use ferronic_contract::thresholds::Thresholds;
use ferronic_contract::MAX_FRAME;

use crate::mock::{frame, small, Keep, Mock, Numbers, CLOCK_KHZ, OWN};

fn refusal(mock: &std::rc::Rc<Mock>, config: &Config) -> String {
    match Nic::open(mock.device(), config) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn writes_the_set_up_that_was_asked_for() {
    let mock = Mock::new();
    let mut config = small();
    config.max_frame = 1522;
    config.rx.thresholds = Thresholds { prefetch: 33, host: 5, batch: 7, write_back: 2, low_water: 6 };
    config.rx.write_back_usecs = 4;
    config.rx.moderation.usecs = 50;
    config.rx.moderation.frames = 32;
    let nic = mock.open(&config);
    let (rx, tx) = (registers::RX_QUEUE, registers::TX_QUEUE);
    assert_eq!(mock.get(rx, queue::THRESHOLDS), 33 | 5 << 8 | 7 << 16 | 2 << 24);
    assert_eq!(mock.get(rx, queue::LOW_WATER), 6);
    assert_eq!(mock.get(rx, queue::SIZE), 3);
    assert_eq!(mock.get(rx, queue::WTIMER), 4 * CLOCK_KHZ / 1000);
    assert_eq!(mock.get(registers::VECTOR, vector::FRAMES), 32);
    assert_eq!(mock.get(registers::VECTOR, vector::CYCLES), 50 * CLOCK_KHZ / 1000);
    assert_eq!(mock.get(tx, queue::THRESHOLDS), Thresholds::default().register());
    for base in [rx, tx] {
        assert_eq!(mock.get(base, queue::CONTROL), 1);
        assert_eq!(mock.get(base, queue::RING_LOW) % 4096, 0);
        assert_eq!(mock.get(base, queue::RING_HIGH), 0x12);
    }
    assert_eq!(mock.get(registers::GLOBAL, registers::MAX_FRAME), 1522);
    assert_eq!(mock.get(registers::GLOBAL, registers::CONTROL), 0b110);
    assert_eq!(mock.mac(), OWN);
    assert_eq!(mock.rx_ready(), 8, "the ring is full from the start");
    assert_eq!(nic.clock_khz(), CLOCK_KHZ);
    assert_eq!(nic.pool().available(), config.buffers - 8);
}

#[test]
fn refuses_bad_settings_with_name_value_and_range() {
    let mock = Mock::new();
    let good = small();
    let cases = [
        (Config { max_frame: 59, ..good }, "MAX_FRAME is 59; it must be from 60 to 9600"),
        (Config { max_frame: MAX_FRAME + 1, ..good }, "MAX_FRAME is 9601; it must be from 60 to 9600"),
        (Config { doorbell_every: 0, ..good }, "RX descriptors per doorbell is 0; it must be from 1 to 8"),
        (Config { doorbell_every: 9, ..good }, "RX descriptors per doorbell is 9; it must be from 1 to 8"),
        (Config { buffers: 8, ..good }, "buffers is 8; it must be from 9 to 16777216"),
        (Config { buffer_bytes: 63, ..good }, "bytes of a buffer is 63; it must be from 64 to 16384"),
    ];
    for (config, message) in cases {
        assert_eq!(refusal(&mock, &config), message);
    }
    let mut config = good;
    config.tx.thresholds.batch = 33;
    assert_eq!(refusal(&mock, &config), "BATCH is 33; it must be from 1 to 32");
    assert_eq!(mock.reads.get(), 0, "refused without touching the device");

    let mut config = good;
    config.rx.moderation.frames = 256;
    assert_eq!(refusal(&mock, &config), "interrupt frames is 256; it must be from 1 to 255");
    let mut config = good;
    config.rx.moderation.usecs = 134_218;
    assert_eq!(refusal(&mock, &config), "interrupt usecs is 134218; it must be from 0 to 134217");
    assert_eq!(mock.memory.mapped(), 0, "a refused open keeps no memory");
}

#[test]
fn refuses_what_is_not_a_core_it_understands() {
    let mock = Mock::new();
    mock.set(registers::GLOBAL, registers::ID, 0x1234_5678);
    assert!(refusal(&mock, &small()).contains("0x12345678"));

    let mock = Mock::new();
    mock.set(registers::GLOBAL, registers::VERSION, registers::VERSION_VALUE + 0x0001_0007);
    assert!(refusal(&mock, &small()).contains("contract version 1.8"));

    let mock = Mock::new();
    mock.set(registers::GLOBAL, registers::VERSION, registers::VERSION_VALUE + 7);
    drop(mock.open(&small()));

    let mock = Mock::new();
    mock.set(registers::GLOBAL, registers::CLOCK_KHZ, 0);
    assert!(matches!(Nic::open(mock.device(), &small()), Err(Error::NoClock)));

    let mock = Mock::new();
    mock.gone.set(true);
    assert!(matches!(Nic::open(mock.device(), &small()), Err(Error::DeviceGone)));

    let mock = Mock::new();
    mock.stuck_in_reset.set(true);
    assert!(matches!(Nic::open(mock.device(), &small()), Err(Error::ResetStuck(1))));
}

#[test]
fn memory_that_runs_out_at_any_point_is_an_error_and_leaves_nothing_behind() {
    for grants in 0..5 {
        let mock = Mock::new();
        mock.memory.grants.set(Some(grants));
        assert!(refusal(&mock, &small()).starts_with("no DMA memory for "), "{grants}");
        assert_eq!(mock.memory.mapped(), 0);
        assert_eq!(mock.get(registers::RX_QUEUE, queue::CONTROL), 0);
    }
    let mock = Mock::new();
    mock.memory.grants.set(Some(5));
    drop(mock.open(&small()));
}

#[test]
fn closing_stops_the_device_frees_the_memory_and_reports() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    mock.receive(&frame(0));
    let mut keep = Keep::default();
    nic.rx.poll(64, &mut keep).unwrap();
    for _ in 0..3 {
        nic.tx.send(nic.pool().get().unwrap(), 0, 60).unwrap();
    }
    nic.tx.flush();
    mock.transmit(1);
    let closed = nic.close().unwrap();
    assert_eq!((closed.rx.packets, closed.tx.packets, closed.tx.reclaimed, closed.tx_unfinished), (1, 3, 1, 2));
    assert_eq!(mock.get(registers::RX_QUEUE, queue::CONTROL), 0);
    assert_eq!(mock.get(registers::TX_QUEUE, queue::CONTROL), 0);
    assert_eq!(mock.get(registers::GLOBAL, registers::CONTROL), 0);
    assert!(!mock.receive(&frame(1)));
    assert_eq!(mock.memory.mapped(), 1, "the region of the packet that was kept");
    assert_eq!(keep.0[0].bytes(), frame(0));
    drop(keep);
    assert_eq!(mock.memory.mapped(), 0);
}

#[test]
fn a_device_that_does_not_come_to_rest_keeps_its_memory() {
    let mock = Mock::new();
    let nic = mock.open(&small());
    let mapped = mock.memory.mapped();
    mock.restless.set(true);
    assert!(matches!(nic.close(), Err(Error::NotIdle { queue: "RX queue 0", status: 0 })));
    assert_eq!(mock.memory.mapped(), mapped);

    let mock = Mock::new();
    let nic = mock.open(&small());
    mock.restless.set(true);
    drop(nic);
    assert_eq!(mock.memory.mapped(), mapped, "dropping is closing");
}

#[test]
fn opening_again_needs_no_goodbye() {
    let mock = Mock::new();
    let mut first = mock.open(&small());
    mock.receive(&frame(0));
    first.rx.poll(64, &mut Numbers::default()).unwrap();
    let epoch = mock.epoch();
    std::mem::forget(first);

    let mut second = mock.open(&small());
    assert_ne!(mock.epoch(), epoch, "frames compared under the old driver are told apart");
    let mut sink = Numbers::default();
    for i in 0..20 {
        assert!(mock.receive(&frame(i)));
        second.rx.poll(64, &mut sink).unwrap();
    }
    assert!(sink.0.into_iter().eq(0..20));
}

#[test]
fn the_cores_counters_are_read_by_name() {
    let mock = Mock::new();
    let nic = mock.open(&small());
    mock.set(registers::RX_QUEUE, queue::STARVED, 17);
    mock.set(registers::TX_QUEUE, queue::STARVED, 18);
    mock.set(registers::GLOBAL, registers::DROP_NO_DESCRIPTOR, 19);
    let counters = nic.counters();
    let value = |group: &str, name: &str| counters.iter().find(|c| c.group == group && c.name == name).unwrap().value;
    assert_eq!(value("rx0", "STARVED"), 17);
    assert_eq!(value("tx0", "STARVED"), 18);
    assert_eq!(value("core", "DROP_NO_DESCRIPTOR"), 19);
    let in_contract = |list: &[registers::Register]| list.iter().filter(|r| r.about.starts_with("counter")).count();
    let expected = in_contract(&registers::GLOBALS) + 2 * in_contract(&queue::REGISTERS) + 2 * in_contract(&vector::REGISTERS);
    assert_eq!(counters.len(), expected, "all that the contract calls a counter");
}

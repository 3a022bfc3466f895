//! Opening, closing, and what a device may do instead.

use ferronic::{Config, Discovery, Error, Nic, QueueName, Replenish, RxConfig};
use ferronic_contract::field::Field;
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::registers::{self, queue, vector};
use ferronic_contract::thresholds::Thresholds;
use ferronic_contract::MAX_FRAME;

use crate::mock::{self, frame, small, small_queues, small_with, Keep, Mock, Numbers, CLOCK_KHZ, OWN};

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
    config.rx[0].queue.thresholds = Thresholds { prefetch: 33, host: 5, batch: 7, write_back: 2, low_water: 6 };
    config.rx[0].queue.write_back_usecs = 4;
    config.rx[0].queue.moderation.usecs = 50;
    config.rx[0].queue.moderation.frames = 7;
    let nic = mock.open(&config);
    let (rx, tx) = (registers::RX_QUEUE, registers::TX_QUEUE);
    assert_eq!(mock.get(rx, queue::THRESHOLDS), 33 | 5 << 8 | 7 << 16 | 2 << 24);
    assert_eq!(mock.get(rx, queue::LOW_WATER), 6);
    assert_eq!(mock.get(rx, queue::SIZE), 3);
    assert_eq!(mock.get(rx, queue::WTIMER), 4 * CLOCK_KHZ / 1000);
    assert_eq!(mock.get(registers::VECTOR, vector::FRAMES), 7);
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
    type Spoil = fn(&mut Config);
    let cases: [(Spoil, &str); 17] = [
        (|c| c.max_frame = 59, "MAX_FRAME is 59; it must be from 60 to 9600"),
        (|c| c.max_frame = MAX_FRAME + 1, "MAX_FRAME is 9601; it must be from 60 to 9600"),
        (|c| c.rx.clear(), "RX queues is 0; it must be from 1 to 16"),
        (|c| c.rx = vec![c.rx[0]; 17], "RX queues is 17; it must be from 1 to 16"),
        (|c| c.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 0 }, "RX descriptors per doorbell is 0; it must be from 1 to 8"),
        (|c| c.rx[0].policy.replenish = Replenish::AsTaken { doorbell_every: 9 }, "RX descriptors per doorbell is 9; it must be from 1 to 8"),
        (|c| c.buffers = 8, "buffers is 8; it must be from 9 to 16777216"),
        (|c| c.buffer_bytes = 63, "bytes of a buffer is 63; it must be from 64 to 16384"),
        (|c| c.tx.thresholds.batch = 33, "BATCH is 33; it must be from 1 to 32"),
        (|c| c.rx[0].queue.thresholds.write_back = 9, "WTHRESH is 9; it must be from 1 to 8"),
        (|c| c.rx[0].queue.moderation.frames = 0, "interrupt frames is 0; it must be from 1 to 8"),
        (|c| c.rx[0].queue.moderation.frames = 9, "interrupt frames is 9; it must be from 1 to 8"),
        (|c| c.tx.moderation.frames = 9, "interrupt frames is 9; it must be from 1 to 8"),
        (|c| (c.rx[0].split, c.rx[0].split_bytes) = (Split::Fixed, 0), "bytes of a split header is 0; it must be from 1 to 1023"),
        (|c| (c.rx[0].split, c.rx[0].split_bytes) = (Split::Fixed, 1024), "bytes of a split header is 1024; it must be from 1 to 1023"),
        (
            |c| (c.rx[0].split, c.rx[0].split_bytes, c.buffer_bytes) = (Split::Fixed, 65, 64),
            "bytes of a split header is 65; it must be from 1 to 64",
        ),
        (
            |c| (c.rx[0].split, c.buffer_bytes) = (Split::L3, 127),
            "bytes of a buffer for a split header is 127; it must be from 128 to 16384",
        ),
    ];
    for (spoil, message) in cases {
        let mut config = small();
        spoil(&mut config);
        assert_eq!(refusal(&mock, &config), message);
    }
    assert_eq!(mock.reads.get(), 0, "refused without touching the device");

    let mut config = Config::default();
    config.rx[0].queue.moderation.frames = 256;
    assert_eq!(refusal(&mock, &config), "interrupt frames is 256; it must be from 1 to 255");
    let mut config = small();
    config.rx[0].queue.moderation.usecs = 134_218;
    assert_eq!(refusal(&mock, &config), "interrupt usecs is 134218; it must be from 0 to 134217");
    let config = Config { hold_usecs: Some(134_218), ..small() };
    assert_eq!(refusal(&mock, &config), "hold usecs is 134218; it must be from 0 to 134217");
    let config = small_queues(5);
    assert_eq!(refusal(&mock, &config), "RX queues is 5; it must be from 1 to 4");
    assert_eq!(mock.memory.mapped(), 0, "a refused open keeps no memory");
}

#[test]
fn what_a_build_lacks_is_refused_by_name() {
    type Ask = fn(&mut RxConfig);
    let cases: [(Field, Ask, &str); 6] = [
        (registers::FEATURE_COMPACT, |c| c.format = Format::CompactHash, "a compact completion needs COMPACT"),
        (registers::FEATURE_COMPACT, |c| c.format = Format::CompactTag, "a compact completion needs COMPACT"),
        (registers::FEATURE_COMPACT, |c| c.discovery = Discovery::Index, "a producer index in memory needs COMPACT"),
        (registers::FEATURE_SPLIT, |c| c.scatter = true, "a frame over several buffers needs SPLIT"),
        (registers::FEATURE_SPLIT, |c| c.split = Split::L2, "header split needs SPLIT"),
        (registers::FEATURE_L3, |c| c.split = Split::L4, "header split by L3 or L4 needs L3"),
    ];
    for (feature, ask, message) in cases {
        let config = small_with(ask);
        let mock = Mock::new().without(feature);
        assert_eq!(refusal(&mock, &config), format!("{message}, which this build of the core does not have"));
        assert_eq!(mock.get(registers::RX_QUEUE, queue::CONTROL), 0);
        drop(Mock::new().open(&config));
    }
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
    nic.rx[0].poll(64, &mut keep).unwrap();
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
    assert!(matches!(nic.close(), Err(Error::NotIdle { queue: QueueName::Rx(0), status: 0 })));
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
    first.rx[0].poll(64, &mut Numbers::default()).unwrap();
    let epoch = mock.epoch();
    std::mem::forget(first);

    let mut second = mock.open(&small());
    assert_ne!(mock.epoch(), epoch, "frames compared under the old driver are told apart");
    let mut sink = Numbers::default();
    for i in 0..20 {
        assert!(mock.receive(&frame(i)));
        second.rx[0].poll(64, &mut sink).unwrap();
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
    let names: Vec<&str> = counters.iter().filter(|c| c.group == "rx0").map(|c| c.name).collect();
    let every = [
        "READS", "DESCRIPTORS", "STARVED", "WAITED", "FRAMES", "DROP_BUFFER", "LOW_WATER_EVENTS", "DROP_NO_DESCRIPTOR",
        "DROP_DISABLED", "CUT",
    ];
    assert_eq!(names, every);
    let core: Vec<&str> = counters.iter().filter(|c| c.group == "core").map(|c| c.name).collect();
    assert_eq!(core.len(), 13, "{core:?}");
    assert!(["FRAMES_IN", "DROP_FILTER", "PAUSE_IN", "PAUSE_OUT", "UNEXPECTED"].iter().all(|name| core.contains(name)));
    assert!(!core.contains(&"TIME"), "no counter");
}

#[test]
fn every_counter_has_a_name_like_ethtools() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(3));
    mock.set(mock::rx_base(2), queue::DROP_NO_DESCRIPTOR, 21);
    mock.set(registers::GLOBAL, registers::DROP_FILTER, 22);
    mock.set(registers::VECTOR + 4 * registers::VECTOR_STRIDE, vector::SENT, 23);
    assert!(mock.receive_by(1, &frame(0), 0, |_| {}));
    nic.rx[1].poll(1, &mut Numbers::default()).unwrap();
    let statistics = nic.statistics();
    let value = |name: &str| statistics.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name}")).1;
    assert_eq!((value("rx0_packets"), value("rx1_packets"), value("rx1_bytes")), (0, 1, 60));
    assert_eq!(value("rx2_drop_no_descriptor"), 21);
    assert_eq!(value("drop_filter"), 22);
    assert_eq!(value("rx2_vector_sent"), 23);
    assert_eq!(value("tx0_ring_full"), 0);
    mock.set(registers::GLOBAL, registers::DROP_FIFO, 100);
    mock.set(registers::GLOBAL, registers::DROP_NO_DESCRIPTOR, 200);
    mock.set(registers::GLOBAL, registers::DROP_BAD, 3);
    mock.set(mock::rx_base(0), queue::DROP_BUFFER, 4);
    mock.set(registers::GLOBAL, registers::DROP_OVERSIZE, 5);
    let sums = nic.statistics();
    let sum = |name: &str| sums.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name}")).1;
    assert_eq!((sum("rx_packets"), sum("rx_bytes"), sum("tx_packets"), sum("rx_dropped")), (1, 60, 0, 0));
    assert_eq!((sum("rx_missed_errors"), sum("rx_crc_errors"), sum("rx_length_errors")), (321, 3, 9));
    let mut names: Vec<&String> = statistics.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), statistics.len(), "no name twice");
    assert!(!names.iter().any(|name| name.starts_with("rx3")), "not open");
}

/// Catches: a register that is changed by the measurement, or a cost of so many accesses and not of one.
#[test]
fn a_register_access_has_its_price() {
    let mock = Mock::new();
    let nic = mock.open(&small());
    mock.set(registers::GLOBAL, registers::SCRATCH, 0xABCD);
    mock.tick.set(std::time::Duration::from_micros(30));
    let reads = mock.reads.get();
    let cost = nic.register_cost(10);
    assert_eq!((cost.read.as_nanos(), cost.write.as_nanos()), (3000, 3000), "30 µs from one look to the next");
    assert_eq!(mock.reads.get() - reads, 10);
    assert_eq!(mock.get(registers::GLOBAL, registers::SCRATCH), 0xABCD);
}

/// Catches: rings and buffers that are freed while the device may still write to them, because the queue was taken out of
/// its device.
#[test]
fn a_queue_that_is_taken_out_is_stopped_before_its_memory_goes() {
    for restless in [false, true] {
        let mock = Mock::new();
        let mut nic = mock.open(&small_queues(2));
        let mapped = mock.memory.mapped();
        mock.restless.set(restless);
        drop(nic.rx.pop());
        assert_eq!(mock.get(mock::rx_base(1), queue::CONTROL), 0);
        let kept = mock.memory.mapped();
        if restless {
            assert_eq!(kept, mapped, "a device that does not rest keeps all that it knows of");
        } else {
            assert!(kept < mapped);
            assert!(mock.receive(&frame(7)), "the other goes on");
            let mut sink = Numbers::default();
            nic.rx[0].poll(64, &mut sink).unwrap();
            assert_eq!(sink.0, [7]);
            nic.close().unwrap();
            assert_eq!(mock.memory.mapped(), 0);
        }
    }
    let (first, second) = (Mock::new(), Mock::new());
    let (mut nic, mut other) = (first.open(&small()), second.open(&small()));
    std::mem::swap(&mut nic.tx, &mut other.tx);
    drop(nic);
    assert_eq!(second.get(registers::TX_QUEUE, queue::CONTROL), 0, "a queue is stopped where it runs");
    drop(other);
    assert_eq!(first.get(registers::TX_QUEUE, queue::CONTROL), 0);
}

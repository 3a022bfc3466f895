//! A model endpoint is found, sized, placed and enabled; CPU accesses reach it.

mod common;

use common::{Bench, EXPRESS, MSIX, RAM};
use ferronic_pcie::config::{self, Bar, ConfigAccess, Msix};
use ferronic_pcie::tlp::Body;
use ferronic_pcie::{enumerate, EnumerationError, Kind, Outcome, Plan, Settings, Status};

#[test]
fn a_device_is_enumerated() {
    let (bench, device) = Bench::enumerated(Settings::default());
    assert_eq!((device.vendor, device.device), (0x1234, 0xABCD));
    assert_eq!((device.class, device.revision), (0x020000, 3));
    let wide = Bar {
        index: 0,
        address: 0xE000_0000,
        size: 1 << 16,
        wide: true,
        prefetchable: false,
    };
    let small = Bar {
        index: 2,
        address: 0xE001_0000,
        size: 1 << 12,
        wide: false,
        prefetchable: false,
    };
    assert_eq!(device.bars, [wide, small]);
    let msix = Msix {
        offset: MSIX,
        vectors: 33,
        table: (0, 0x8000),
        pending: (2, 0x9000),
    };
    assert_eq!((device.express, device.msix), (EXPRESS, Some(msix)));
    assert_eq!((device.max_payload, device.max_read_request), (256, 512));
    assert_eq!(bench.endpoint.config[4], 0xE000_0004);
    assert_eq!(
        bench.endpoint.config[1] & 7,
        6,
        "memory space and bus master enable"
    );
    assert!(bench.rc.limits().bus_master && bench.rc.limits().extended_tags);
    assert_eq!(bench.rc.limits().max_payload, 256);
    assert_eq!(bench.broken(), []);
}

#[test]
fn a_64_bit_bar_goes_above_4_gib_and_a_32_bit_bar_may_not() {
    let mut bench = Bench::new(Settings::default());
    let plan = Plan {
        window: 0x40_0000_0000..0x40_1000_0000,
        ..Plan::default()
    };
    let error = enumerate(&mut bench, &plan).unwrap_err();
    assert_eq!(
        error,
        EnumerationError::NoRoom {
            index: 2,
            size: 4096,
            left: 0x40_0001_0000
        }
    );
    assert_eq!(
        (bench.endpoint.config[4], bench.endpoint.config[5]),
        (4, 0x40)
    );
}

#[test]
fn a_device_that_is_not_ready_is_asked_again() {
    let mut bench = Bench::new(Settings::default());
    bench.endpoint.not_ready = 20;
    assert!(enumerate(&mut bench, &Plan::default()).is_ok());
    bench.endpoint.not_ready = u32::MAX;
    let error = enumerate(&mut bench, &Plan::default()).unwrap_err();
    assert_eq!(
        error,
        EnumerationError::Access {
            offset: 0,
            outcome: Outcome::ConfigRetry
        }
    );
}

#[test]
fn broken_devices_give_errors() {
    let mut absent = Bench::new(Settings::default());
    absent.endpoint.config[0] = u32::MAX;
    assert_eq!(
        enumerate(&mut absent, &Plan::default()),
        Err(EnumerationError::NoDevice)
    );
    let mut circular = Bench::new(Settings::default());
    circular.endpoint.config[0x90 / 4] |= 0x4000;
    let error = enumerate(&mut circular, &Plan::default());
    assert!(
        matches!(error, Err(EnumerationError::CapabilityList(_))),
        "{error:?}"
    );
    let mut conventional = Bench::new(Settings::default());
    conventional.endpoint.config[13] = 0;
    assert_eq!(
        enumerate(&mut conventional, &Plan::default()),
        Err(EnumerationError::NotExpress)
    );
    let plan = Plan {
        max_read_request: 300,
        ..Plan::default()
    };
    let error = enumerate(&mut Bench::new(Settings::default()), &plan).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("max_read_request is 300; legal: 128, 256"),
        "{error}"
    );
}

#[test]
fn the_cpu_reads_what_it_wrote() {
    let (mut bench, device) = Bench::enumerated(Settings::default());
    let base = device.bars[0].address;
    bench.rc.cpu_write32(base + 0x100, 0x1122_3344);
    bench.rc.cpu_write(base + 0x105, &[0xAA, 0xBB]);
    let long: Vec<u8> = (0..=255).collect();
    bench.rc.cpu_write(base + 0x1FE, &long);
    for (offset, bytes, value) in [
        (0x100, 4, 0x1122_3344),
        (0x101, 1, 0x33),
        (0x102, 2, 0x1122),
        (0x100, 8, 0x00BB_AA00_1122_3344),
        (0x1FE, 8, 0x0706_0504_0302_0100),
        (0x2FB, 3, 0xFF_FEFD),
    ] {
        let handle = bench.rc.cpu_read(base + offset, bytes);
        let answer = bench.wait(handle);
        assert_eq!(
            (answer.value, answer.outcome),
            (value, Outcome::Success),
            "offset {offset:#x}"
        );
        assert_eq!(bench.rc.poll(handle), None, "an answer is fetched once");
    }
    assert_eq!(bench.broken(), []);
}

#[test]
fn many_requests_in_flight_all_get_their_answer() {
    let settings = Settings {
        completion_timeout_ns: 1_000_000,
        ..Settings::default()
    };
    let (mut bench, device) = Bench::enumerated(settings);
    let base = device.bars[0].address;
    for i in 0..600 {
        bench.rc.cpu_write32(base + i * 4, i as u32);
    }
    let handles: Vec<_> = (0..600)
        .map(|i| bench.rc.cpu_read32(base + i * 4))
        .collect();
    bench.run();
    for (i, handle) in handles.into_iter().enumerate() {
        assert_eq!(
            bench.rc.poll(handle).map(|answer| answer.value),
            Some(i as u64)
        );
    }
    assert_eq!(bench.broken(), []);
}

#[test]
fn byte_enables_of_a_configuration_write_count() {
    let (mut bench, _) = Bench::enumerated(Settings::default());
    let control = EXPRESS + config::DEVICE_CONTROL;
    let handle = bench.rc.config_write(control, 0x1000, 0b0010);
    bench.wait(handle);
    let limits = *bench.rc.limits();
    assert_eq!((limits.max_payload, limits.max_read_request), (256, 256));
    let handle = bench.rc.config_write(control, 0, 0b0001);
    bench.wait(handle);
    let limits = *bench.rc.limits();
    assert_eq!((limits.max_payload, limits.max_read_request), (128, 256));
    assert_eq!(bench.config_read(control).unwrap() >> 12, 1);
}

#[test]
fn removal_and_silence_read_as_all_ones() {
    let (mut bench, device) = Bench::enumerated(Settings::default());
    let base = device.bars[0].address;
    let pending = bench.rc.cpu_read32(base);
    bench.rc.remove_device();
    let after = bench.rc.cpu_read(base, 8);
    for (handle, ones) in [(pending, 0xFFFF_FFFF), (after, u64::MAX)] {
        let answer = bench.rc.poll(handle).expect("answered at once");
        assert_eq!((answer.value, answer.outcome), (ones, Outcome::Removed));
    }
    assert!(bench.rc.outputs().rx.is_none() && bench.rc.outputs().tx_ready);

    bench.rc.hot_reset();
    assert!(!bench.rc.limits().bus_master);
    let unanswered = bench.rc.cpu_read32(RAM); // taken by nobody
    let start = bench.rc.now_ps();
    for clock in 0..20_000 {
        bench
            .rc
            .clock(start + clock * 8000, None, true, &mut bench.ram);
    }
    let answer = bench.rc.poll(unanswered).expect("given up");
    assert_eq!(
        (answer.value, answer.outcome),
        (0xFFFF_FFFF, Outcome::Timeout)
    );
    assert_eq!(bench.rc.failed_requests().len(), 3);
    assert!(bench.config_read(0).is_ok(), "present again");
}

#[test]
fn a_device_that_takes_nothing_does_not_hang_the_cpu() {
    let mut bench = Bench::new(Settings::default());
    for i in 0..100 {
        bench.rc.cpu_write32(0xE000_0000, i);
    }
    let handle = bench.rc.cpu_read32(0xE000_0000); // behind writes that find no credits
    for clock in 0..20_000 {
        bench.rc.clock(clock * 8000, None, false, &mut bench.ram);
    }
    let answer = bench.rc.poll(handle).expect("given up");
    assert_eq!(answer.outcome, Outcome::Timeout);
    bench.run();
    assert_eq!(
        bench.rc.counters().down.mrd.tlps,
        0,
        "what was given up is not sent later"
    );
    assert_eq!(bench.broken(), []);
}

/// The completion timeout runs from the time when the request leaves.
#[test]
fn a_read_behind_many_writes_has_its_full_time() {
    let settings = Settings {
        completion_timeout_ns: 4_000,
        ..Settings::default()
    };
    let (mut bench, device) = Bench::enumerated(settings);
    let base = device.bars[0].address;
    let start = bench.rc.now_ps();
    for i in 0..30 {
        bench.rc.cpu_write32(base, i); // 24 bytes, 96 ns: the read leaves after 2.9 us
    }
    let handle = bench.rc.cpu_read32(base);
    let request = loop {
        match bench.rc.take_tlp() {
            Some(tlp) if tlp.header.kind() == Kind::MRd => break tlp,
            Some(tlp) => assert_eq!(bench.endpoint.answer(&tlp), None),
            None => {
                let next = bench.rc.now_ps() + 8_000;
                bench.rc.clock(next, None, false, &mut bench.ram);
            }
        }
    };
    bench
        .rc
        .clock(start + 5_000_000, None, true, &mut bench.ram);
    let answer = bench
        .endpoint
        .answer(&request)
        .expect("a read has an answer");
    bench.rc.push_tlp(answer);
    let answer = bench.wait(handle);
    assert_eq!((answer.value, answer.outcome), (29, Outcome::Success));
}

#[test]
fn bad_answers_read_as_all_ones() {
    let (mut bench, device) = Bench::enumerated(Settings::default());
    for (status, poisoned, outcome) in [
        (
            Status::UnsupportedRequest,
            false,
            Outcome::UnsupportedRequest,
        ),
        (Status::CompleterAbort, false, Outcome::CompleterAbort),
        (Status::Success, true, Outcome::Poisoned),
    ] {
        let handle = bench.rc.cpu_read(device.bars[0].address, 2);
        bench.rc.settle(&mut bench.ram);
        let request = bench.rc.take_tlp().expect("the read arrives");
        let mut answer = bench
            .endpoint
            .answer(&request)
            .expect("a read has an answer");
        if let Body::Completion(completion) = &mut answer.header.body {
            completion.status = status;
            if status != Status::Success {
                completion.data = false;
                answer.header.length = 0;
                answer.payload.clear();
            }
        }
        answer.header.poisoned = poisoned;
        bench.rc.push_tlp(answer);
        let answer = bench.wait(handle);
        assert_eq!((answer.value, answer.outcome), (0xFFFF, outcome));
        let failed = bench.rc.failed_requests().last().expect("recorded");
        assert_eq!(
            (failed.outcome, failed.request.kind()),
            (outcome, Kind::MRd)
        );
    }
    assert_eq!(bench.broken(), []);
}

#[test]
fn the_payload_is_what_both_sides_take() {
    for (wanted, programmed) in [(128, 128), (512, 512), (4096, 512)] {
        let plan = Plan {
            max_payload: wanted,
            max_read_request: 4096,
            ..Plan::default()
        };
        let mut bench = Bench::new(Settings::default());
        let device = enumerate(&mut bench, &plan).expect("enumerates");
        assert_eq!(
            (device.max_payload, device.max_read_request),
            (programmed, 4096)
        );
        let control = bench.endpoint.config[usize::from(EXPRESS + config::DEVICE_CONTROL) / 4];
        assert_eq!(config::decode_size(control >> 5), programmed);
    }
}

//! Completions of the device's reads: legal cuts, order by the seed, faults.

mod common;

use common::{Bench, Ram, DEVICE, HOST, RAM, RAM_SIZE};
use ferronic_pcie::tlp::{Body, Completion};
use ferronic_pcie::{Header, Memory, ReadFault, Settings, Splits, Status, Tlp};
use proptest::prelude::*;

fn completion(tlp: &Tlp) -> Completion {
    let Body::Completion(completion) = tlp.header.body else {
        panic!("{tlp:?}")
    };
    completion
}

/// Puts the completions of one read together; every rule of section 2.3.1.1 is checked.
fn assemble(address: u64, bytes: usize, boundary: u64, max_payload: usize, all: &[Tlp]) -> Vec<u8> {
    let (mut at, end) = (address, address + bytes as u64);
    let mut data = Vec::new();
    for tlp in all {
        let c = completion(tlp);
        assert_eq!(
            (c.status, c.completer, c.requester),
            (Status::Success, HOST, DEVICE)
        );
        assert_eq!(u64::from(c.byte_count), end - at);
        assert_eq!(u64::from(c.lower_address), at & 0x7F);
        assert!(!tlp.payload.is_empty() && tlp.payload.len() <= max_payload);
        let low = (at & 3) as usize;
        let high = tlp.payload.len().min(low + (end - at) as usize);
        data.extend_from_slice(&tlp.payload[low..high]);
        at += (high - low) as u64;
        assert!(at == end || at % boundary == 0, "ends at {at:#x}");
    }
    assert_eq!(at, end);
    data
}

proptest! {
    #[test]
    fn a_read_is_answered_in_full_by_legal_completions(
        offset in 0..RAM_SIZE - 4096,
        bytes in 1..=512usize,
        wide_boundary: bool,
        random: bool,
        seed: u64,
    ) {
        let boundary = if wide_boundary { 128 } else { 64 };
        let splits = if random { Splits::Random } else { Splits::Largest };
        let settings =
            Settings { read_completion_boundary: boundary, splits, seed, ..Settings::default() };
        let mut bench = Bench::enumerated(settings).0;
        let address = RAM + offset;
        let bytes = bytes.min((4096 - address % 4096) as usize);
        prop_assume!(address % 4 + bytes as u64 <= 512);
        let all = bench.read(3, address, bytes);
        let data = assemble(address, bytes, boundary.into(), 256, &all);
        prop_assert_eq!(&data[..], &*bench.ram.at(address, bytes).unwrap());
        prop_assert_eq!(bench.broken(), []);
        if !random {
            // As few as 256 bytes each allow: the first may lose up to a boundary to alignment.
            prop_assert!(all.len() <= 3);
        }
    }

    #[test]
    fn byte_enables_of_writes_are_honoured(first_be in 0..16u8, last_be in 1..16u8, length in 1..4u16) {
        let mut bench = Bench::enumerated(Settings::default()).0;
        let before = bench.ram.bytes.clone();
        let mut tlp = Tlp::memory_write(DEVICE, RAM, &vec![0xA5; usize::from(length) * 4]);
        let Body::Memory(r) = &mut tlp.header.body else { unreachable!() };
        r.first_be = if length > 1 { first_be.max(1) } else { first_be };
        r.last_be = if length > 1 { last_be } else { 0 };
        let (first_be, last_be) = (r.first_be, r.last_be);
        bench.rc.push_tlp(tlp);
        bench.run();
        for (byte, old) in before.iter().enumerate().take(usize::from(length) * 4) {
            let be = match byte / 4 {
                0 => first_be,
                dw if dw + 1 == usize::from(length) => last_be,
                _ => 0xF,
            };
            let expected = if be >> (byte % 4) & 1 != 0 { 0xA5 } else { *old };
            prop_assert_eq!(bench.ram.bytes[byte], expected, "byte {}", byte);
        }
        prop_assert_eq!(&bench.ram.bytes[12..], &before[12..]);
    }
}

/// Tag and size of each completion of 16 reads of 512 bytes that were sent at once.
fn order(settings: Settings) -> Vec<(u8, usize)> {
    let mut bench = Bench::enumerated(settings).0;
    for tag in 0..16 {
        let address = RAM + u64::from(tag) * 4096 + 16;
        bench
            .rc
            .push_tlp(Tlp::bare(Header::memory_read(DEVICE, tag, address, 480)));
    }
    let all = bench.run();
    for tag in 0..16 {
        let own: Vec<Tlp> = all
            .iter()
            .filter(|tlp| completion(tlp).tag == tag)
            .cloned()
            .collect();
        let address = RAM + u64::from(tag) * 4096 + 16;
        let data = assemble(address, 480, 64, 256, &own);
        assert_eq!(data, *bench.ram.at(address, 480).unwrap());
    }
    all.iter()
        .map(|tlp| (completion(tlp).tag, tlp.payload.len()))
        .collect()
}

#[test]
fn the_seed_decides_cuts_and_order() {
    let random = |seed| Settings {
        splits: Splits::Random,
        reorder: true,
        host_jitter_ns: 500,
        seed,
        ..Settings::default()
    };
    let first = order(random(1));
    assert_eq!(first, order(random(1)));
    assert_ne!(first, order(random(2)));
    assert!(
        !first.is_sorted_by_key(|(tag, _)| *tag),
        "completions pass each other"
    );
    let quiet = order(Settings::default());
    assert!(
        quiet.is_sorted_by_key(|(tag, _)| *tag),
        "in order without reordering"
    );
    assert_eq!(quiet.len(), 16 * 2);
}

#[test]
fn a_read_does_not_pass_a_write() {
    let settings = Settings {
        reorder: true,
        host_jitter_ns: 2000,
        ..Settings::default()
    };
    let mut bench = Bench::enumerated(settings).0;
    for i in 0..100u8 {
        bench.rc.push_tlp(Tlp::memory_write(DEVICE, RAM, &[i; 64]));
        let all = bench.read(i, RAM, 64);
        assert_eq!(all[0].payload, [i; 64]);
    }
}

#[test]
fn zero_length_reads() {
    let mut bench = Bench::enumerated(Settings::default()).0;
    let all = bench.read(5, 0x40, 0); // not RAM: nothing is read
    let [only] = &all[..] else { panic!("{all:?}") };
    let c = completion(only);
    assert_eq!(
        (c.status, c.byte_count, c.lower_address),
        (Status::Success, 1, 0x40)
    );
    assert_eq!((only.header.length, bench.rc.memory_faults().len()), (1, 0));
    bench.rc.push_tlp(Tlp::memory_write(DEVICE, 0x40, &[]));
    bench.run();
    assert_eq!(bench.rc.memory_faults(), []);
    assert_eq!(bench.broken(), []);
}

#[test]
fn a_wild_access_is_a_fault_and_an_unsupported_request() {
    let mut bench = Bench::enumerated(Settings::default()).0;
    let all = bench.read(1, 0x1004, 100);
    let c = completion(&all[0]);
    assert_eq!(
        (all.len(), c.status, c.data, c.byte_count),
        (1, Status::UnsupportedRequest, false, 100)
    );
    bench
        .rc
        .push_tlp(Tlp::memory_write(DEVICE, 0x2000, &[1; 64]));
    let mut poisoned = Tlp::memory_write(DEVICE, RAM, &[1; 64]);
    poisoned.header.poisoned = true;
    bench.rc.push_tlp(poisoned);
    bench.run();
    let faults: Vec<_> = bench
        .rc
        .memory_faults()
        .iter()
        .map(|f| (f.address, f.bytes, f.write))
        .collect();
    assert_eq!(
        faults,
        [(0x1004, 100, false), (0x2000, 64, true), (RAM, 64, true)]
    );
    assert_eq!(bench.ram.bytes, Ram::default().bytes);
    // The tag is free again.
    assert_eq!(bench.read(1, RAM, 4).len(), 1);
    assert_eq!(bench.broken(), []);
}

#[test]
fn injected_faults() {
    let (address, bytes) = (RAM + 32, 400);
    let good = Bench::enumerated(Settings::default())
        .0
        .read(7, address, bytes);
    for fault in ReadFault::ALL {
        let mut bench = Bench::enumerated(Settings::default()).0;
        bench.rc.inject_read_fault(fault);
        let all = bench.read(7, address, bytes);
        let statuses: Vec<_> = all.iter().map(|tlp| completion(tlp).status).collect();
        match fault {
            ReadFault::UnsupportedRequest => assert_eq!(statuses, [Status::UnsupportedRequest]),
            ReadFault::CompleterAbort => assert_eq!(statuses, [Status::CompleterAbort]),
            ReadFault::Poisoned => assert!(all.iter().all(|tlp| tlp.header.poisoned)),
            ReadFault::WrongByteCount => {
                assert_eq!(completion(&all[0]).byte_count, 404);
                assert_eq!(all[1..], good[1..]);
            }
            ReadFault::Never => assert_eq!(all, []),
            ReadFault::Unexpected => {
                assert_ne!(completion(&all[0]).tag, 7);
                assert_eq!(all[1..], good);
            }
            ReadFault::Duplicate => {
                assert_eq!(all[..good.len()], good);
                assert_eq!(all[good.len()..], good[good.len() - 1..]);
            }
        }
        // The next read is answered properly, also with the same tag.
        assert_eq!(bench.read(7, address, bytes), good, "after {fault:?}");
        assert_eq!(bench.broken(), [], "after {fault:?}");
    }
}

#[test]
fn random_faults_come_as_often_as_asked_and_by_the_seed() {
    let aborted = |seed| -> Vec<u8> {
        let mut bench = Bench::enumerated(Settings {
            seed,
            ..Settings::default()
        })
        .0;
        bench
            .rc
            .random_read_faults(300, &[ReadFault::CompleterAbort]);
        let reads = (0..250).map(|tag| bench.read(tag, RAM, 4));
        let all: Vec<Tlp> = reads.flatten().collect();
        let failed = all
            .iter()
            .map(completion)
            .filter(|c| c.status == Status::CompleterAbort);
        failed.map(|c| c.tag).collect()
    };
    let first = aborted(1);
    assert!((50..100).contains(&first.len()), "{}", first.len());
    assert_eq!(first, aborted(1));
    assert_ne!(first, aborted(2));
}

/// Counts nothing, knows nothing: for a device that only interrupts.
struct Nothing;

impl Memory for Nothing {
    fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), ferronic_pcie::Fault> {
        unreachable!("no read was sent")
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), ferronic_pcie::Fault> {
        unreachable!("interrupts are not memory")
    }
}

#[test]
fn interrupts_come_after_the_writes_before_them() {
    let mut bench = Bench::enumerated(Settings::default()).0;
    bench.rc.push_tlp(Tlp::memory_write(
        DEVICE,
        0xFEE0_1000,
        &0x41u32.to_le_bytes(),
    ));
    bench.rc.settle(&mut Nothing);
    let interrupt = bench.rc.take_interrupt().expect("arrived");
    assert_eq!((interrupt.address, interrupt.data), (0xFEE0_1000, 0x41));
    assert_eq!(bench.rc.take_interrupt(), None);
    assert_eq!(bench.broken(), []);
}

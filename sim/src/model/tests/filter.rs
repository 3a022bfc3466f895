use std::collections::HashMap;

use etherparse::PacketBuilder;
use ferronic::Bar;
use ferronic_contract::class::Mac;
use ferronic_contract::registers::filter::{self, address_hash, Action, Key};
use ferronic_contract::registers::{self, queue, FILTER, QUEUE_STRIDE, RX_QUEUE};
use ferronic_contract::status;

use super::queues::Rings;
use super::{Bench, OWN};
use crate::model::{DropCause, Fate, Settings};

const GROUP: Mac = [1, 0, 0x5E, 0, 0, 9];
const STRANGER: Mac = [4, 0, 0, 0, 0, 1];

fn udp(destination: Mac, vlan: Option<u16>, port: u16) -> Vec<u8> {
    let ethernet = PacketBuilder::ethernet2([6; 6], destination);
    let mut frame = Vec::new();
    let addresses = ([10, 0, 0, 1], [10, 0, 0, 2]);
    match vlan {
        None => ethernet.ipv4(addresses.0, addresses.1, 64).udp(7, port).write(&mut frame, &[0; 20]).unwrap(),
        Some(vid) => ethernet
            .single_vlan(vid.try_into().unwrap())
            .ipv4(addresses.0, addresses.1, 64)
            .udp(7, port)
            .write(&mut frame, &[0; 20])
            .unwrap(),
    }
    frame
}

/// Stages and commits a row.
fn commit(settings: &mut Settings, row: usize, words: [u32; filter::ENTRY_WORDS]) {
    for (at, word) in (0..).step_by(4).zip(words) {
        assert_eq!(settings.filters.write(filter::ENTRY.offset + at, word), None);
    }
    let epoch = settings.filters.write(filter::COMMIT.offset, filter::COMMIT_ROW.at(row as u32) | filter::COMMIT_EPOCH.at(5));
    settings.epoch = epoch.expect("a commit makes an epoch valid");
}

/// A table with this one key, in the place that `place` (0 to 3) says.
fn with_row(kind: u8, fields: u32, key: &Key, action: Action, place: usize) -> Settings {
    let mut settings = Settings { own: OWN, mode: 0, ..Settings::default() };
    settings.filters.write(filter::KIND.offset + 4 * u32::from(kind), fields);
    let bucket = usize::from(key.buckets(kind)[place / 2]);
    commit(&mut settings, 2 * bucket + place % 2, key.row(kind, true, action, 3, 0xBEEF));
    settings
}

/// Queue, FILTER and tag; `None` for a frame that is not taken.
fn seen(settings: &Settings, frame: &[u8]) -> Option<(u8, u32, u16)> {
    match settings.judge(frame) {
        Fate::Queue(delivery) => {
            let completion = delivery.completion(ferronic_contract::ring::RingSize::new(8).unwrap(), 0, 0);
            let filter = completion.status.get(status::FILTER);
            assert_eq!(filter, completion.status.get(status::TAG));
            Some((delivery.queue, filter, completion.filter_tag))
        }
        Fate::Filtered => None,
        Fate::Pause => panic!("no PAUSE frame"),
    }
}

#[test]
fn a_row_is_found_in_each_of_its_four_places_under_its_kind_alone() {
    let fields = filter::KIND_DMAC.mask() | filter::KIND_PORT.mask();
    let key = Key { dmac: STRANGER, port: 53, l4: 2, ..Key::default() };
    for kind in 0..4 {
        for place in 0..4 {
            let mut settings = with_row(kind, fields, &key, Action::Queue, place);
            assert_eq!(seen(&settings, &udp(STRANGER, None, 53)), Some((3, 1, 0xBEEF)), "kind {kind}, place {place}");
            assert_eq!(seen(&settings, &udp(STRANGER, None, 54)), None);
            assert_eq!(seen(&settings, &udp(OWN, None, 53)), Some((0, 0, 0)));
            settings.filters.write(filter::KIND.offset + 4 * u32::from(kind), 0);
            assert_eq!(seen(&settings, &udp(STRANGER, None, 53)), None, "a kind that is not in use");
            settings.filters.write(filter::KIND.offset + 4 * u32::from(kind ^ 1), fields);
            assert_eq!(seen(&settings, &udp(STRANGER, None, 53)), None, "another kind's row");
        }
    }
}

#[test]
fn each_field_is_compared() {
    let frame = udp(STRANGER, Some(5), 53);
    let mut source = [0; 16];
    source[..4].copy_from_slice(&[10, 0, 0, 1]);
    let mut destination = [0; 16];
    destination[..4].copy_from_slice(&[10, 0, 0, 2]);
    let cases = [
        (filter::KIND_DMAC, Key { dmac: STRANGER, ..Key::default() }),
        (filter::KIND_VLAN, Key { vlan: 5, ..Key::default() }),
        (filter::KIND_TYPE, Key { ethertype: 0x0800, ..Key::default() }),
        (filter::KIND_SOURCE, Key { l3: 1, source, ..Key::default() }),
        (filter::KIND_DESTINATION, Key { l3: 1, destination, ..Key::default() }),
        (filter::KIND_PORT, Key { l4: 2, port: 53, ..Key::default() }),
    ];
    for (field, key) in cases {
        let settings = with_row(0, field.mask(), &key, Action::Queue, 0);
        assert_eq!(seen(&settings, &frame), Some((3, 1, 0xBEEF)), "{}", field.name);
        let wrong = Key { dmac: [9; 6], vlan: 6, ethertype: 0x86DD, port: 54, ..key };
        assert_ne!(wrong, key);
        let tables = [
            with_row(0, field.mask(), &Key { l4: key.l4 ^ 3, ..key }, Action::Queue, 0),
            with_row(0, field.mask(), &wrong, Action::Queue, 0),
        ];
        assert_eq!(seen(&tables[1], &frame), None, "{}", field.name);
        assert_eq!(seen(&tables[0], &frame), None, "{}: a row with a value in a field that its kind does not name", field.name);
    }
    // What a frame does not have never matches, not even 0.
    for field in [filter::KIND_VLAN, filter::KIND_SOURCE, filter::KIND_DESTINATION, filter::KIND_PORT] {
        let settings = with_row(0, field.mask(), &Key::default(), Action::Queue, 0);
        let arp = [STRANGER.as_slice(), &[6; 6], &[8, 6], &[0; 46]].concat();
        assert_eq!(seen(&settings, &arp), None, "{}", field.name);
    }
    // The outer tag is the one on the wire.
    let mut settings = with_row(0, filter::KIND_VLAN.mask(), &Key { vlan: 5, ..Key::default() }, Action::Queue, 0);
    settings.mode = registers::STRIP_C.mask();
    assert_eq!(seen(&settings, &frame), Some((3, 1, 0xBEEF)));
}

#[test]
fn the_lowest_kind_that_matches_decides_and_its_action_is_done() {
    let key = Key { dmac: OWN, ..Key::default() };
    for (action, expected) in [(Action::Queue, Some((3, 1, 0xBEEF))), (Action::Rss, Some((2, 1, 0xBEEF))), (Action::Drop, None)] {
        let mut settings = with_row(2, filter::KIND_DMAC.mask(), &key, action, 0);
        settings.rss = registers::DEFAULT_QUEUE.at(2);
        assert_eq!(seen(&settings, &udp(OWN, None, 1)), expected);
        assert_eq!(settings.epoch, 5);
        settings.filters.write(filter::KIND.offset, filter::KIND_PORT.mask());
        let port = Key { l4: 2, port: 1, ..Key::default() };
        commit(&mut settings, 2 * usize::from(port.buckets(0)[1]), port.row(0, true, Action::Queue, 1, 7));
        assert_eq!(seen(&settings, &udp(OWN, None, 1)), Some((1, 1, 7)));
        assert_eq!(seen(&settings, &udp(OWN, None, 2)), expected);
    }
}

#[test]
fn modes_and_the_address_hash_let_frames_in() {
    let mut settings = Settings { own: OWN, hash_filter: registers::HASH_ACTION.at(1) | registers::HASH_QUEUE.at(2) | registers::HASH_TAG.at(9), ..Settings::default() };
    for address in [GROUP, STRANGER] {
        let bit = u32::from(address_hash(&address));
        settings.filters.write(filter::HASH.offset + bit / 32 * 4, 1 << (bit % 32));
    }
    let (plain, hashed) = (Some((0, 0, 0)), Some((2, 1, 9)));
    let other_group = [1, 0, 0x5E, 0, 0, 10];
    assert_ne!(address_hash(&other_group), address_hash(&GROUP));
    for (mode, expected) in [
        (0, [plain, plain, None, None, None]),
        (registers::PROMISCUOUS.mask(), [plain; 5]),
        (registers::ALL_MULTICAST.mask(), [plain, plain, plain, plain, None]),
        (registers::HASH_MULTICAST.mask(), [plain, plain, hashed, None, None]),
        (registers::HASH_UNICAST.mask(), [plain, plain, None, None, hashed]),
        (registers::HASH_MULTICAST.mask() | registers::ALL_MULTICAST.mask(), [plain, plain, plain, plain, None]),
    ] {
        settings.mode = mode;
        let addresses = [OWN, [0xFF; 6], GROUP, other_group, STRANGER];
        assert_eq!(addresses.map(|address| seen(&settings, &udp(address, None, 1))), expected, "mode {mode:#x}");
    }
    settings.mode = registers::HASH_UNICAST.mask();
    settings.hash_filter = registers::HASH_ACTION.at(2);
    assert_eq!(seen(&settings, &udp(STRANGER, None, 1)), None);
}

#[test]
fn the_registers_reach_the_tables_and_drops_are_counted() {
    let bench = Bench::new();
    let mut rings: HashMap<u32, Rings> = [0, 3].into_iter().map(|queue| (queue, Rings::new(&bench, queue, 0, &[2048; 8]))).collect();
    bench.write(registers::GLOBAL, registers::RX_MODE, 0);
    let key = Key { dmac: STRANGER, ..Key::default() };
    bench.write(FILTER, filter::KIND, filter::KIND_DMAC.mask());
    for (at, word) in (0..).step_by(4).zip(key.row(0, true, Action::Queue, 3, 1)) {
        bench.model.write32(FILTER + filter::ENTRY.offset + at, word);
    }
    assert_eq!(bench.model.receive(&udp(STRANGER, None, 1), false), Err(DropCause::Filter), "staged is not committed");
    let row = 2 * u32::from(key.buckets(0)[0]);
    bench.write(FILTER, filter::COMMIT, filter::COMMIT_ROW.at(row) | filter::COMMIT_EPOCH.at(6));
    let received = bench.model.receive(&udp(STRANGER, None, 1), false).unwrap();
    assert_eq!((received.queue, received.completions[0].status.epoch()), (3, 6));
    assert_eq!(rings.get_mut(&3).unwrap().take().len(), 1);
    assert_eq!(rings.get_mut(&0).unwrap().take().len(), 0);
    assert_eq!(bench.global(registers::DROP_FILTER), 1);
    assert_eq!(bench.read(RX_QUEUE + 3 * QUEUE_STRIDE, queue::FRAMES), 1);
    assert_eq!(bench.global(registers::FRAMES_IN), 2);
}

#[test]
fn rss_spreads_over_the_indirection_table() {
    let mut settings = Settings { rss: 0x3F | registers::DEFAULT_QUEUE.at(9), ..Settings::default() };
    for word in 0..32 {
        settings.filters.write(filter::INDIRECT.offset + 4 * word, u32::from_le_bytes([0, 1, 2, 3]));
    }
    let queues: Vec<u8> = (0..64).filter_map(|port| Some(seen(&settings, &udp(OWN, None, port))?.0)).collect();
    let expected: Vec<u8> = (0..64)
        .map(|port: u16| {
            let input = [[10, 0, 0, 1, 10, 0, 0, 2, 0, 7].as_slice(), &port.to_be_bytes()].concat();
            (crate::model::toeplitz(&input) % 4) as u8
        })
        .collect();
    assert_eq!(queues, expected);
    let arp = [[0xFF; 6].as_slice(), &[6; 6], &[8, 6], &[0; 46]].concat();
    assert_eq!(seen(&settings, &arp), Some((9, 0, 0)));
}

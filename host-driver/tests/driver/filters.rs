//! Exact filters: the rows as the core would see them, at every moment.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ferronic::{Error, Filter, FilterError, Filters, Match, Target, Transport};
use ferronic_contract::registers::filter::{
    Action, Key, ENTRY_WORDS, FILTERS, KINDS, ROWS, ROW_ACTION, ROW_KIND, ROW_QUEUE, ROW_TAG, ROW_VALID,
};
use ferronic_contract::registers::{self, filter};
use ferronic_contract::status::{FILTER, TAG};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::mock::{frame, small, small_queues, FilterWrite, Keep, Mock};

/// The core's table, which takes the driver's writes one after the other.
struct Core {
    kinds: [u32; KINDS],
    rows: Vec<[u32; ENTRY_WORDS]>,
}

impl Core {
    /// With rows that a driver before left behind.
    fn new() -> Self {
        let old = Key { port: 9, l4: 1, ..Key::default() };
        Self { kinds: [0; KINDS], rows: vec![old.row(0, true, Action::Drop, 0, 0xDEAD); ROWS] }
    }

    /// The row that a frame with these fields finds, as the contract says it.
    fn look_up(&self, on: &Match) -> Option<[u32; ENTRY_WORDS]> {
        let kind = self.kinds.iter().position(|&fields| fields == fields_of(on))? as u8;
        let key = on.key();
        let bare = key.row(kind, false, Action::Rss, 0, 0);
        let rows = key.buckets(kind).into_iter().flat_map(|bucket| [2 * usize::from(bucket), 2 * usize::from(bucket) + 1]);
        rows.map(|row| self.rows[row]).find(|words| {
            let mut plain = *words;
            [ROW_VALID, ROW_ACTION, ROW_QUEUE, ROW_TAG].iter().for_each(|field| field.put(&mut plain, 0));
            ROW_VALID.get(words) == 1 && plain == bare
        })
    }

    /// Takes the writes since the last call, and asks after each whether every one of `must` is found.
    fn follow(&mut self, mock: &Mock, must: &HashMap<Match, Filter>) {
        for write in mock.filter_writes.take() {
            match write {
                FilterWrite::Kind(kind, fields) => self.kinds[kind] = fields,
                FilterWrite::Row(row, words) => self.rows[row] = words,
            }
            for (on, filter) in must {
                let row = self.look_up(on).unwrap_or_else(|| panic!("{filter:?} is absent after {write:?}"));
                assert_eq!(ROW_TAG.get(&row), u32::from(filter.tag));
            }
        }
    }

    fn valid(&self) -> usize {
        let in_use = |row: &&[u32; ENTRY_WORDS]| ROW_VALID.get(row) == 1 && self.kinds[ROW_KIND.get(row) as usize] != 0;
        self.rows.iter().filter(in_use).count()
    }
}

fn fields_of(on: &Match) -> u32 {
    u32::from(on.dmac.is_some())
        | u32::from(on.vlan.is_some()) << 1
        | u32::from(on.ethertype.is_some()) << 2
        | u32::from(on.source.is_some()) << 3
        | u32::from(on.destination.is_some()) << 4
        | u32::from(on.port.is_some()) << 5
}

/// Matches of four kinds.
fn some_match() -> impl Strategy<Value = Match> {
    let address = || prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
        any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits))),
    ];
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp), Just(Transport::Sctp)];
    prop_oneof![
        any::<[u8; 6]>().prop_map(|dmac| Match { dmac: Some(dmac), ..Match::default() }),
        (0..4096u16, any::<u16>())
            .prop_map(|(vlan, kind)| Match { vlan: Some(vlan), ethertype: Some(kind), ..Match::default() }),
        address().prop_map(|source| Match { source: Some(source), ..Match::default() }),
        (address(), transport, any::<u16>()).prop_map(|(destination, transport, port)| Match {
            destination: Some(destination),
            port: Some((transport, port)),
            ..Match::default()
        }),
    ]
}

fn add(filters: &mut Filters, on: Match, tag: u16) -> Filter {
    let filter = Filter { on, target: Target::Queue(tag as u8 % 2), tag };
    assert_eq!(filters.add(filter).unwrap(), None);
    filter
}

/// Catches: the original of a moved row written over before its copy is there; a path walked from its front.
#[test]
fn a_full_table_of_four_kinds_is_whole_at_every_moment() {
    let config = ProptestConfig { cases: 20, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() };
    let matches = prop::collection::hash_set(some_match(), FILTERS + 60);
    let outcome = TestRunner::new(config).run(&matches, |matches: HashSet<Match>| {
        let mock = Mock::new();
        let mut nic = mock.open(&small_queues(2));
        let (mut core, mut present) = (Core::new(), HashMap::new());
        let matches: Vec<Match> = matches.into_iter().collect();
        let (first, spare) = matches.split_at(FILTERS);
        for (tag, &on) in (0..).zip(first) {
            let filter = add(&mut nic.filters, on, tag);
            core.follow(&mock, &present);
            present.insert(on, filter);
            core.follow(&mock, &present);
            prop_assert!(core.look_up(&on).is_some());
        }
        prop_assert_eq!((core.valid(), nic.filters.count()), (FILTERS, FILTERS), "no copy is left behind");
        let full = nic.filters.add(Filter { on: spare[0], target: Target::Drop, tag: 0 });
        prop_assert!(matches!(full, Err(Error::Filter(FilterError::Full))));
        prop_assert!(mock.filter_writes.borrow().is_empty());

        // One goes, another comes; then what went comes back.
        for (&old, &new) in first.iter().zip(spare).chain(spare.iter().zip(first)) {
            let gone = present.remove(&old);
            prop_assert_eq!(nic.filters.remove(&old), gone);
            core.follow(&mock, &present);
            prop_assert_eq!(core.look_up(&old), None);
            let filter = add(&mut nic.filters, new, 7);
            core.follow(&mock, &present);
            present.insert(new, filter);
            prop_assert!(core.look_up(&new).is_some());
        }
        let listed: HashMap<Match, Filter> = nic.filters.list().map(|filter| (filter.on, *filter)).collect();
        prop_assert_eq!(&listed, &present);

        for on in present.clone().into_keys() {
            nic.filters.remove(&on).unwrap();
            present.remove(&on);
            core.follow(&mock, &present);
        }
        prop_assert_eq!((core.valid(), core.kinds, nic.filters.kinds()), (0, [0; KINDS], [0; KINDS]));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn rows_have_to_move_before_the_table_is_full() {
    // Without it the test above would not see a move.
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let mut most = 0;
    for i in 0..FILTERS as u32 {
        mock.filter_writes.take();
        add(&mut nic.filters, Match { source: Some(Ipv4Addr::from_bits(i.wrapping_mul(0x9E37_79B9)).into()), ..Match::default() }, 0);
        let rows = mock.filter_writes.borrow().iter().filter(|write| matches!(write, FilterWrite::Row(..))).count();
        if i > 0 {
            most = most.max(rows);
        }
    }
    assert!(most >= 2, "{most}");
}

#[test]
fn a_row_says_what_the_filter_says() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let on = Match {
        dmac: Some([2, 3, 4, 5, 6, 7]),
        vlan: Some(0xABC),
        ethertype: Some(0x86DD),
        source: Some("2001:db8::1".parse().unwrap()),
        destination: Some("2001:db8::2".parse().unwrap()),
        port: Some((Transport::Sctp, 0x1234)),
    };
    nic.filters.add(Filter { on, target: Target::Queue(1), tag: 0x5678 }).unwrap();
    let writes = mock.filter_writes.take();
    assert_eq!(writes[ROWS], FilterWrite::Kind(0, 0b11_1111));
    let FilterWrite::Row(row, words) = writes[ROWS + 1] else { panic!("{writes:?}") };
    assert!(on.key().buckets(0).contains(&((row / 2) as u8)));
    let expected = [
        0x0504_0302, 0x86DD_0706, 0x4ABC_1234, 0x5678_2114, 0xB80D_0120, 0, 0, 0x0100_0000, 0xB80D_0120, 0, 0, 0x0200_0000,
    ];
    assert_eq!(words, expected);

    let on = Match { source: Some("10.0.0.1".parse().unwrap()), ..Match::default() };
    nic.filters.add(Filter { on, target: Target::Drop, tag: 0 }).unwrap();
    let writes = mock.filter_writes.take();
    assert_eq!(writes[0], FilterWrite::Kind(1, 0b1000));
    let FilterWrite::Row(_, words) = writes[1] else { panic!("{writes:?}") };
    assert_eq!(words, [0, 0, 0, 0x0000_1025, 0x0100_000A, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_table_left_behind_is_emptied_before_the_first_kind_is_used() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    assert!(mock.filter_writes.borrow().is_empty(), "who wants no filter writes none");
    nic.filters.add(Filter { on: Match { vlan: Some(1), ..Match::default() }, target: Target::Rss, tag: 1 }).unwrap();
    let writes = mock.filter_writes.take();
    let emptied = |row: usize| matches!(writes[row], FilterWrite::Row(found, words) if found == row && ROW_VALID.get(&words) == 0);
    assert!((0..ROWS).all(emptied));
    assert_eq!(writes.len(), ROWS + 2);
    assert_eq!(writes[ROWS], FilterWrite::Kind(0, 0b10));
}

#[test]
fn an_equal_match_takes_the_new_target_and_tag_in_one_step() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let on = Match { ethertype: Some(0x0806), ..Match::default() };
    let (old, new) = (Filter { on, target: Target::Drop, tag: 1 }, Filter { on, target: Target::Queue(1), tag: 2 });
    assert_eq!(nic.filters.add(old).unwrap(), None);
    mock.filter_writes.take();
    assert_eq!(nic.filters.add(new).unwrap(), Some(old));
    let writes = mock.filter_writes.take();
    assert!(matches!(writes[..], [FilterWrite::Row(_, words)] if ROW_TAG.get(&words) == 2 && ROW_ACTION.get(&words) == 1));
    assert_eq!(nic.filters.list().copied().collect::<Vec<_>>(), [new]);
    assert_eq!(nic.filters.remove(&on), Some(new));
    assert_eq!(nic.filters.remove(&on), None);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let v4 = Some("10.0.0.1".parse().unwrap());
    let cases = [
        (Match::default(), Target::Rss, "a filter must name a field"),
        (Match { vlan: Some(4096), ..Match::default() }, Target::Rss, "VLAN is 4096; it must be from 0 to 4095"),
        (
            Match { source: v4, destination: Some("::1".parse().unwrap()), ..Match::default() },
            Target::Rss,
            "a filter's source and destination must both be IPv4 or both be IPv6",
        ),
        (Match { source: v4, ..Match::default() }, Target::Queue(2), "queue is 2; it must be from 0 to 1"),
    ];
    for (on, target, text) in cases {
        assert_eq!(nic.filters.add(Filter { on, target, tag: 0 }).unwrap_err().to_string(), text);
    }
    let kinds = [
        Match { vlan: Some(1), ..Match::default() },
        Match { ethertype: Some(1), ..Match::default() },
        Match { dmac: Some([0; 6]), ..Match::default() },
        Match { source: v4, ..Match::default() },
        Match { destination: v4, ..Match::default() },
    ];
    let filter = |on| Filter { on, target: Target::Rss, tag: 0 };
    assert!(mock.filter_writes.borrow().is_empty());
    for on in &kinds[..4] {
        nic.filters.add(filter(*on)).unwrap();
    }
    let fifth = nic.filters.add(filter(kinds[4])).unwrap_err().to_string();
    assert_eq!(fifth, "4 kinds of filter are in use, and this filter would be one more");
    nic.filters.remove(&kinds[1]).unwrap();
    nic.filters.add(filter(kinds[4])).unwrap();
    assert_eq!(nic.filters.kinds(), [0b10, 0b1_0000, 0b1, 0b1000], "in the place of the kind that went");

    let mut nic = Mock::new().without(registers::FEATURE_FILTER).open(&small());
    let missing = nic.filters.add(filter(kinds[0])).unwrap_err().to_string();
    assert_eq!(missing, "an exact filter needs FILTER, which this build of the core does not have");
}

/// Catches: a COMMIT without an epoch of its own; an RX queue with an epoch of its own.
#[test]
fn every_commit_is_a_new_epoch_that_the_queues_know() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let mut keep = Keep::default();
    for round in 0..20u16 {
        let tagged = |number| {
            let frame = frame(number);
            assert!(mock.receive_by(1, &frame, 0, |c| {
                c.status = c.status.with(FILTER, 1).with(TAG, 1);
                c.filter_tag = round;
            }));
        };
        tagged(0);
        let before = nic.epoch();
        let on = Match { vlan: Some(round / 2), ..Match::default() };
        if round % 2 == 0 {
            nic.filters.add(Filter { on, target: Target::Queue(1), tag: round }).unwrap();
        } else {
            nic.filters.remove(&on).unwrap();
        }
        assert_eq!((nic.epoch(), mock.epoch()), ((before + 1) % 8, (before + 1) % 8));
        let word = mock.get(registers::FILTER, filter::COMMIT);
        assert_eq!(filter::COMMIT_EPOCH.of(word) as u8, nic.epoch());
        tagged(1);
        assert_eq!(nic.rx[1].poll(64, &mut keep), Ok(2));
        assert_eq!(keep.0.iter().map(|p| p.filter_tag()).collect::<Vec<_>>(), [None, Some(round)]);
        keep.0.clear();
    }
}

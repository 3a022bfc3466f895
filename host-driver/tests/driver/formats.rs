//! Completion formats and how completions are found: what arrives is the same, what is known of it is not.

use ferronic::{Discovery, RssHash};
use ferronic_contract::class::{classify, TPID_C, TPID_S};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::parse::{Checksum, RssType, L3, L4};
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::registers::{self, queue};
use ferronic_contract::ring::RingSize;
use ferronic_contract::status;

use crate::mock::{frame, small_with, Keep, Mock, Numbers, OWN};

const FORMATS: [Format; 3] = [Format::Full, Format::CompactHash, Format::CompactTag];

/// Catches: slots 32 bytes apart whatever the format; the phase looked for in the full completion's place.
#[test]
fn every_format_and_discovery_delivers_over_the_wrap_of_the_index() {
    for format in FORMATS {
        for discovery in [Discovery::Phase, Discovery::Index] {
            for entries in [8, 64] {
                let mut config = small_with(|rx| (rx.format, rx.discovery) = (format, discovery));
                config.rx[0].queue.ring = RingSize::new(entries).unwrap();
                config.buffers = entries + 5;
                let mock = Mock::new();
                let mut nic = mock.open(&config);
                let (mut sink, mut sent, mut burst) = (Numbers::default(), 0, 1);
                while sent < 70_000 {
                    let before = sent;
                    while sent - before < burst && mock.receive(&frame(sent)) {
                        sent += 1;
                    }
                    burst = burst % 13 + 1;
                    assert_eq!(nic.rx[0].poll(64, &mut sink).unwrap() as u32, sent - before, "{format:?} {discovery:?}");
                }
                assert!(sink.0.iter().copied().eq(0..sent));
                assert_eq!(nic.rx[0].statistics().status_path, u64::from(sent));
            }
        }
    }
}

#[test]
fn the_queue_is_told_format_index_and_split() {
    let config = small_with(|rx| {
        (rx.format, rx.discovery, rx.scatter) = (Format::CompactTag, Discovery::Index, true);
        (rx.split, rx.split_bytes) = (Split::Fixed, 77);
    });
    let mock = Mock::new();
    let nic = mock.open(&config);
    let control = mock.get(registers::RX_QUEUE, queue::CONTROL);
    let fields = [queue::ENABLE, queue::SCATTER, queue::FORMAT, queue::INDEX, queue::SPLIT, queue::SPLIT_BYTES];
    assert_eq!(fields.map(|field| field.of(control)), [1, 1, 2, 1, 4, 77]);
    assert_eq!(mock.get(registers::RX_QUEUE, queue::INDEX_LOW) % 4, 0);
    assert_eq!(mock.get(registers::RX_QUEUE, queue::INDEX_HIGH), 0x12);
    drop(nic);
    let _nic = mock.open(&small_with(|rx| rx.split_bytes = 77));
    assert_eq!(mock.get(registers::RX_QUEUE, queue::CONTROL), 1, "SPLIT_BYTES without SPLIT stays 0");
}

/// Catches: looking at a completion's phase though the index does not cover it.
#[test]
fn with_an_index_nothing_behind_it_is_looked_at() {
    for format in FORMATS {
        let mock = Mock::new();
        let mut nic = mock.open(&small_with(|rx| (rx.format, rx.discovery) = (format, Discovery::Index)));
        let mut sink = Numbers::default();
        mock.index_withheld.set(true);
        for i in 0..5 {
            // Whole completions, with the phase that is due.
            assert!(mock.receive(&frame(i)));
        }
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(0));
        mock.write_index(0, 2);
        assert_eq!(nic.rx[0].poll(1, &mut sink), Ok(1));
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(1));
        mock.write_index(0, 5);
        assert_eq!(nic.rx[0].poll(64, &mut sink), Ok(3), "the word is read again when what it said is taken");
        assert_eq!(sink.0, [0, 1, 2, 3, 4]);
    }
}

/// A completion in which every field says something.
fn telling(c: &mut RxCompletion) {
    c.header_length = 58;
    c.l3_offset = 14;
    c.vlan_tci = 0x6007;
    c.rss_hash = 0xDEAD_BEEF;
    c.rss_type = RssType::Tcp6 as u8;
    c.filter_tag = 0x1234;
    c.raw_checksum = 0x5678;
    c.timestamp = 99;
    let values = [
        (status::L3, 2),
        (status::L3OPT, 1),
        (status::FRAG, 1),
        (status::L4, 1),
        (status::ACK, 1),
        (status::IPCSUM, 2),
        (status::L4CSUM, 1),
        (status::FILTER, 1),
        (status::TAG, 1),
        (status::STRIPPED, 1),
        (status::STRIPPED_S, 1),
        (status::VLAN, 1),
    ];
    c.status = values.into_iter().fold(c.status, |status, (field, value)| status.with(field, value));
}

/// The packet of a completion, on a mock with a queue of this format.
fn packet(mock: &std::rc::Rc<Mock>, format: Format, edit: impl FnMut(&mut RxCompletion)) -> ferronic::Packet {
    let mut nic = mock.open(&small_with(|rx| rx.format = format));
    let mut keep = Keep::default();
    assert!(mock.receive_with(&frame(1), edit));
    nic.rx[0].poll(1, &mut keep).unwrap();
    keep.0.pop().unwrap()
}

#[test]
fn a_packet_tells_all_that_a_full_completion_says() {
    let packet = packet(&Mock::new(), Format::Full, telling);
    assert_eq!((packet.l3(), packet.l3_options(), packet.fragment()), (Some(L3::Ipv6), Some(true), Some(true)));
    assert_eq!((packet.l4(), packet.ack()), (Some(L4::Tcp), Some(true)));
    assert_eq!((packet.header_length(), packet.l3_offset()), (Some(58), Some(14)));
    assert_eq!((packet.ip_checksum(), packet.l4_checksum()), (Some(Checksum::Bad), Some(Checksum::Good)));
    assert_eq!((packet.raw_checksum(), packet.timestamp()), (Some(0x5678), Some(99)));
    assert_eq!(packet.rss(), Some(RssHash { hash: 0xDEAD_BEEF, over: Some(RssType::Tcp6) }));
    assert_eq!((packet.filtered(), packet.filter_tag()), (Some(true), Some(0x1234)));
    assert_eq!((packet.stripped_tpid(), packet.stripped_tci()), (Some(TPID_S), Some(0x6007)));
    assert_eq!((packet.queue(), packet.length(), packet.split_header()), (0, 60, None));
}

#[test]
fn a_compact_completion_says_less_and_the_packet_says_so() {
    let hash = packet(&Mock::new(), Format::CompactHash, telling);
    assert_eq!(hash.rss(), Some(RssHash { hash: 0xDEAD_BEEF, over: None }));
    assert_eq!((hash.filtered(), hash.filter_tag()), (Some(true), None));
    assert_eq!((hash.stripped_tpid(), hash.stripped_tci()), (Some(TPID_S), None));
    let tag = packet(&Mock::new(), Format::CompactTag, telling);
    assert_eq!((tag.rss(), tag.filter_tag(), tag.stripped_tci()), (None, Some(0x1234), Some(0x6007)));
    for packet in [hash, tag] {
        assert_eq!((packet.l3(), packet.l4(), packet.l4_checksum()), (Some(L3::Ipv6), Some(L4::Tcp), Some(Checksum::Good)));
        assert_eq!((packet.header_length(), packet.l3_offset()), (None, None));
        assert_eq!((packet.raw_checksum(), packet.timestamp()), (None, None));
    }
    let none = packet(&Mock::new(), Format::CompactHash, |c| c.rss_hash = 0);
    assert_eq!(none.rss(), None, "0 is no hash");
}

#[test]
fn what_a_build_lacks_is_none_whatever_the_completion_says() {
    let mock = Mock::new().without(registers::FEATURE_L3);
    let p = packet(&mock, Format::Full, telling);
    assert_eq!((p.l3(), p.l3_options(), p.fragment(), p.l4(), p.ack()), (None, None, None, None, None));
    assert_eq!((p.header_length(), p.l3_offset()), (None, Some(14)));
    let p = packet(&Mock::new().without(registers::FEATURE_CHECKSUM), Format::Full, telling);
    assert_eq!((p.ip_checksum(), p.l4_checksum(), p.raw_checksum()), (None, None, None));
    assert_eq!(packet(&Mock::new().without(registers::FEATURE_RSS), Format::Full, telling).rss(), None);
    let p = packet(&Mock::new().without(registers::FEATURE_FILTER), Format::Full, telling);
    assert_eq!((p.filtered(), p.filter_tag()), (None, None));
    let p = packet(&Mock::new().without(registers::FEATURE_STRIP), Format::Full, telling);
    assert_eq!((p.stripped_tpid(), p.stripped_tci()), (None, None));
    assert_eq!(packet(&Mock::new().without(registers::FEATURE_TIME), Format::Full, telling).timestamp(), None);
}

#[test]
fn what_the_core_does_not_vouch_for_is_none() {
    let p = packet(&Mock::new(), Format::Full, |c| {
        telling(c);
        c.status = c.status.with(status::CLASSIFIED, 0);
    });
    assert_eq!((p.l3(), p.l4(), p.l4_checksum(), p.filter_tag(), p.header_length()), (None, None, None, None, None));
    // What was done to the frame, or measured, stands.
    assert_eq!((p.stripped_tci(), p.raw_checksum(), p.timestamp()), (Some(0x6007), Some(0x5678), Some(99)));
    assert_eq!(p.class.vlan_tags, 1, "the tag taken out, though the frame has none");
    let impossible = packet(&Mock::new(), Format::Full, |c| {
        c.rss_type = 7;
        c.status = [(status::L3, 5), (status::L4, 7), (status::IPCSUM, 3), (status::L4CSUM, 3)]
            .into_iter()
            .fold(c.status, |status, (field, value)| status.with(field, value));
    });
    assert_eq!((impossible.l3(), impossible.l4(), impossible.rss()), (None, None, None));
    assert_eq!((impossible.ip_checksum(), impossible.l4_checksum()), (None, None));
}

/// Catches: a filter tag believed under an old epoch.
#[test]
fn under_an_old_epoch_filters_are_not_believed_and_the_rest_is() {
    let p = packet(&Mock::new(), Format::Full, |c| {
        telling(c);
        c.status = c.status.with(status::EPOCH, c.status.get(status::EPOCH) + 1).with(status::STRIPPED_S, 0);
    });
    assert_eq!((p.filtered(), p.filter_tag()), (None, None));
    assert_eq!((p.l3(), p.l4_checksum(), p.header_length()), (Some(L3::Ipv6), Some(Checksum::Good), Some(58)));
    assert_eq!(p.stripped_tpid(), Some(TPID_C));
    let own = classify(&frame(1), &OWN).unwrap();
    assert_eq!((p.class.destination, p.class.protocol), (own.destination, own.protocol));
}

use ferronic_contract::class;
use ferronic_contract::ring::RingSize;

use super::{edgy_frame, OWN};
use crate::model::{classify, verdict, DropCause, Fate, Settings, Verdict, ALL_FEATURES};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers;

#[test]
fn model_and_software_path_agree_on_edgy_frames() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..500_000 {
        // A group address as the own one is the case in which the order of the questions shows.
        let own = if random.bool() { OWN } else { [0xFF; 6] };
        let frame = edgy_frame(&mut random, &own, 30);
        let model = classify(&frame, &own).expect("14 bytes are enough");
        let software = class::classify(&frame, &own).expect("14 bytes are enough");
        let ours = (model.destination, model.protocol, model.l2, model.vlan_tags, model.l3_offset);
        let theirs = (software.destination, software.protocol, software.l2, software.vlan_tags, software.l3_offset());
        assert_eq!(ours, theirs, "{frame:02x?}");
        seen.insert((model.destination as u8, model.l2 as u8, model.vlan_tags));
    }
    // Each destination with each framing, and with one and two tags for frames that have a type.
    assert_eq!(seen.len(), 4 * (3 + 2), "{seen:?}");
}

#[test]
fn frames_without_a_whole_header_are_not_classified() {
    for length in 0..14 {
        assert_eq!(classify(&[0; 14][..length], &OWN), None);
    }
    assert!(classify(&[0; 14], &OWN).is_some());
}

#[test]
fn a_completion_carries_the_class_and_where_it_lies_in_the_ring() {
    let size = RingSize::new(8).unwrap();
    let mut frame = [0; 60];
    frame[..6].copy_from_slice(&OWN);
    frame[12..18].copy_from_slice(&[0x81, 0, 0, 5, 8, 0]);
    let completion = |features, index| match (Settings { features, own: OWN, epoch: 5, ..Settings::default() }).judge(&frame) {
        Fate::Queue(delivery) => delivery.completion(size, index, 77),
        fate => panic!("{fate:?}"),
    };
    // A core with L2 classification alone says nothing else: all 0 but the class and its place.
    let class = class::classify(&frame, &OWN).unwrap();
    let expected = RxCompletion {
        length: 60,
        protocol: 0x8100,
        status: class.status(5),
        cookie: 77,
        index: 0x1008,
        l3_offset: 18,
        phase: size.phase(0x1008),
        ..RxCompletion::default()
    };
    assert_eq!(completion(registers::FEATURE_L2.mask(), 0x1008), expected);
    // With everything: the type is IPv4, but there is none. The words behind byte 14 add up to 5 + 0x0800.
    let all = RxCompletion { header_length: 18, raw_checksum: 0x0805, ..expected };
    assert_eq!(completion(ALL_FEATURES, 0x1008), all);
    for index in 0..=u16::MAX {
        assert_eq!(completion(registers::FEATURE_L2.mask(), index).phase, size.phase(index), "{index}");
    }
}

#[test]
fn verdicts_change_exactly_at_the_limits() {
    let cases = [
        (13, false, Verdict::Drop(DropCause::Undersize)),
        (14, false, Verdict::Accept),
        (1518, false, Verdict::Accept),
        (1519, false, Verdict::Drop(DropCause::Oversize)),
        (14, true, Verdict::Drop(DropCause::Bad)),
        (1518, true, Verdict::Drop(DropCause::Bad)),
        (13, true, Verdict::Drop(DropCause::Bad)),
        (1519, true, Verdict::Drop(DropCause::Bad)),
    ];
    for (length, bad_fcs, expected) in cases {
        assert_eq!(verdict(length, bad_fcs, 1518), expected, "{length} {bad_fcs}");
    }
}

//! Who classifies a packet.

use ferronic::{Classify, Path};
use ferronic_contract::class::classify;
use ferronic_contract::status::{Destination, CLASSIFIED, DST};

use crate::mock::{frame, small_policy, Keep, Mock, OWN};

/// Catches: status bits believed though software was asked for.
#[test]
fn software_classifies_every_packet_if_asked_for() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.classify = Classify::Software));
    let mut keep = Keep::default();
    assert!(mock.receive(&frame(0)));
    assert!(mock.receive_with(&frame(1), |c| c.status = c.status.with(DST, 2)));
    nic.rx[0].poll(64, &mut keep).unwrap();
    for packet in &keep.0 {
        assert_eq!((packet.path, Some(packet.class)), (Path::Software, classify(packet.bytes(), &OWN)));
    }
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.software_path, statistics.status_path, statistics.status_checked), (2, 0, 0));
}

/// Catches: a sample of the wrong packets, a disagreement that is not counted or not acted on, packets counted that
/// software had to classify anyway.
#[test]
fn a_sample_is_checked_and_the_header_believed() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|policy| policy.classify = Classify::Sampled { every: 4 }));
    let mut keep = Keep::default();
    for i in 0..40 {
        // Every eighth lies, every second of these is checked; some others are not classified by the core at all.
        assert!(mock.receive_with(&frame(i), |c| c.status = c.status.with(DST, if i % 8 == 3 { 1 } else { 0 })));
        if i % 5 == 0 {
            assert!(mock.receive_with(&frame(i), |c| c.status = c.status.with(CLASSIFIED, 0)));
        }
        nic.rx[0].poll(64, &mut keep).unwrap();
        let checked = i % 4 == 3;
        let lies = i % 8 == 3;
        let packet = &keep.0[0];
        let path = if checked && lies { Path::Software } else { Path::Status };
        assert_eq!((packet.path, packet.class.destination), (path, Destination::Host), "{i}");
        keep.0.clear();
    }
    let statistics = nic.rx[0].statistics();
    assert_eq!((statistics.status_checked, statistics.status_disagreed), (10, 5));
    assert_eq!((statistics.status_path, statistics.software_path), (35, 8 + 5));
}

#[test]
fn a_sample_of_none_is_refused() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(|_| ()));
    let policy = ferronic::RxPolicy { classify: Classify::Sampled { every: 0 }, ..nic.rx[0].policy() };
    let refusal = nic.rx[0].set_policy(policy).unwrap_err().to_string();
    assert_eq!(refusal, "packets per checked packet is 0; it must be from 1 to 4294967295");
}

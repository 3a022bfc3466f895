//! Which headers are prefetched ahead.

use ferronic::{Classify, Packet, Prefetch, RxPolicy, Sink};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::status::CLASSIFIED;

use crate::mock::{frame, number, small_policy, Mock};

/// Wants the headers of every second packet, by the index of its completion.
#[derive(Default)]
struct Second {
    ahead: Vec<bool>,
    numbers: Vec<u32>,
}

impl Sink for Second {
    fn deliver(&mut self, packet: Packet) {
        self.ahead.push(packet.prefetched_ahead);
        self.numbers.push(number(packet.bytes()));
    }

    fn wants_header(&self, completion: &RxCompletion) -> bool {
        completion.index % 2 == 1
    }
}

fn ahead(change: impl FnOnce(&mut RxPolicy)) -> Vec<bool> {
    let mock = Mock::new();
    let mut nic = mock.open(&small_policy(change));
    let mut sink = Second::default();
    for i in 0..6 {
        // The core did not classify the fifth.
        assert!(mock.receive_with(&frame(i), |c| c.status = c.status.with(CLASSIFIED, (i != 4).into())));
    }
    nic.rx[0].poll(64, &mut sink).unwrap();
    assert!(sink.numbers.into_iter().eq(0..6));
    assert_eq!(nic.rx[0].statistics().prefetched_ahead, sink.ahead.iter().map(|ahead| u64::from(*ahead)).sum::<u64>());
    sink.ahead
}

/// Catches: a policy that does what another does, a sink that is not asked.
#[test]
fn each_policy_prefetches_the_headers_that_it_says() {
    let (none, all) = ([false; 6], [false, true, true, true, true, true]);
    assert_eq!(ahead(|policy| policy.prefetch = Prefetch::Off), none);
    assert_eq!(ahead(|policy| policy.prefetch = Prefetch::Current), none);
    assert_eq!(ahead(|policy| policy.prefetch = Prefetch::Next), all);
    assert_eq!(ahead(|policy| policy.prefetch = Prefetch::TwoPass), all);
    let wanted = [false, true, false, true, true, true];
    assert_eq!(ahead(|policy| policy.prefetch = Prefetch::Wanted), wanted, "odd ones and what software classifies");
}

/// Catches: a header that the driver itself touches and that comes cold.
#[test]
fn what_the_driver_touches_itself_is_wanted_too() {
    let all = [false, true, true, true, true, true];
    let software = |policy: &mut RxPolicy| (policy.prefetch, policy.classify) = (Prefetch::Wanted, Classify::Software);
    assert_eq!(ahead(software), all);
    assert_eq!(ahead(|policy| (policy.prefetch, policy.copybreak) = (Prefetch::Wanted, 60)), all);
    let wanted = [false, true, false, true, true, true];
    assert_eq!(ahead(|policy| (policy.prefetch, policy.copybreak) = (Prefetch::Wanted, 59)), wanted);
}

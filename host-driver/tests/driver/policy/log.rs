//! The log of polls, on the mock's clock.

use std::time::Duration;

use ferronic::rx::PollLog;

use crate::mock::{frame, small, Mock, Numbers};

/// Catches: a clock that is looked at without a log; times of the wrong poll or packet.
#[test]
fn a_log_has_each_poll_and_its_packets_and_costs_nothing_when_it_is_off() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut sink = Numbers::default();
    let tick = Duration::from_nanos(7);
    mock.tick.set(tick);
    let before = mock.time.get();
    assert!(mock.receive(&frame(0)));
    nic.rx[0].poll(64, &mut sink).unwrap();
    assert_eq!(mock.time.get(), before, "no look at the clock");

    assert!(nic.rx[0].set_log(Some(PollLog::new(2, 3))).is_none());
    for packets in 0..5 {
        for i in 0..packets {
            assert!(mock.receive(&frame(i)));
        }
        nic.rx[0].log_tx(Duration::from_nanos(100 + u64::from(packets)));
        nic.rx[0].poll(64, &mut sink).unwrap();
    }
    let log = nic.rx[0].set_log(None).unwrap();
    assert_eq!(log.logged(), 4);
    let polls: Vec<_> = log.polls().collect();
    let [third, fourth] = polls[..] else { panic!("two polls are kept") };
    assert_eq!((third.handled, third.tx, third.rx, third.packets), (3, 103, 7 * 4, &[7; 3][..]));
    assert_eq!((fourth.handled, fourth.tx, fourth.rx, fourth.packets), (4, 104, 7 * 5, &[7; 3][..]));
    assert_eq!(fourth.begun - third.begun, 5 * tick);
    assert!(nic.rx[0].log().is_none());
}

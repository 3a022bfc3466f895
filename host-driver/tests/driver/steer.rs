//! RSS, RX mode, VLAN strip, flow control: what reaches the registers, and what is refused.

use ferronic::{Error, FlowControl, Nic, Rss, RssTypes, RxMode, Target, VlanStrip};
use ferronic_contract::field::Field;
use ferronic_contract::registers::filter::{self, address_hash};
use ferronic_contract::registers::{self, Register};
use ferronic_contract::status::{FILTER, TAG};

use crate::mock::{frame, small, small_queues, Keep, Mock, OWN};

fn global(mock: &Mock, register: Register) -> u32 {
    mock.get(registers::GLOBAL, register)
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn the_indirection_table_is_written_four_to_a_word_and_remembered() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(4));
    let types = RssTypes { tcp4: true, udp6: true, ..RssTypes::NONE };
    let mut rss = Rss { default_queue: 3, ..Rss::even(types, 4) };
    rss.table[5] = 2;
    rss.table[127] = 1;
    nic.set_rss(rss).unwrap();
    assert_eq!(mock.word(registers::FILTER, filter::INDIRECT, 0), 0x0302_0100);
    assert_eq!(mock.word(registers::FILTER, filter::INDIRECT, 1), 0x0302_0200);
    assert_eq!(mock.word(registers::FILTER, filter::INDIRECT, 31), 0x0102_0100);
    assert_eq!(global(&mock, registers::RSS), 0b10_0010 | 3 << 8);
    assert_eq!(*nic.rss(), rss);
    let single = [RssTypes { ipv4: true, ..RssTypes::NONE }, RssTypes { ipv6: true, ..RssTypes::NONE }, RssTypes::ALL];
    let bits = single.map(|types| {
        nic.set_rss(Rss::even(types, 1)).unwrap();
        global(&mock, registers::RSS)
    });
    assert_eq!(bits, [1, 8, 63]);
}

#[test]
fn a_queue_that_is_not_open_gets_nothing() {
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let before = *nic.rss();
    let rss = Rss::even(RssTypes::ALL, 3);
    assert_eq!(message(nic.set_rss(rss)), "queue is 2; it must be from 0 to 1");
    let rss = Rss { default_queue: 2, ..Rss::even(RssTypes::ALL, 2) };
    assert_eq!(message(nic.set_rss(rss)), "queue is 2; it must be from 0 to 1");
    assert_eq!((*nic.rss(), mock.word(registers::FILTER, filter::INDIRECT, 0)), (before, 0x0100_0100));
    let mode = RxMode { action: Target::Queue(2), ..RxMode::default() };
    assert_eq!(message(nic.set_rx_mode(mode)), "queue is 2; it must be from 0 to 1");
}

#[test]
fn the_mode_follows_the_addresses() {
    let (group, station) = ([1, 0, 0x5E, 0, 0, 9], [2, 0, 0, 0, 0, 9]);
    let mock = Mock::new();
    let mut nic = mock.open(&small_queues(2));
    let cases = [(vec![], 0b0000), (vec![group], 0b0100), (vec![station], 0b1000), (vec![station, group], 0b1100)];
    for (addresses, bits) in cases {
        let mode = RxMode { promiscuous: false, addresses: addresses.clone(), ..RxMode::default() };
        nic.set_rx_mode(mode.clone()).unwrap();
        assert_eq!((global(&mock, registers::RX_MODE), nic.rx_mode()), (bits, &mode));
        let set: Vec<u16> = (0..512)
            .filter(|bit| mock.word(registers::FILTER, filter::HASH, bit / 32) >> (bit % 32) & 1 == 1)
            .map(|bit| bit as u16)
            .collect();
        let mut must: Vec<u16> = addresses.iter().map(address_hash).collect();
        must.sort_unstable();
        assert_eq!(set, must, "what was there before is gone");
    }
    let mode = RxMode { promiscuous: true, all_multicast: true, action: Target::Queue(1), tag: 0xABCD, ..RxMode::default() };
    nic.set_rx_mode(mode).unwrap();
    assert_eq!(global(&mock, registers::RX_MODE), 0b0011);
    assert_eq!(global(&mock, registers::HASH_FILTER), 1 << 4 | 1 << 8 | 0xABCD << 16);
    nic.set_vlan_strip(VlanStrip { customer: true, service: false }).unwrap();
    assert_eq!(global(&mock, registers::RX_MODE), 0x103, "the other half of the register stays");
    nic.set_vlan_strip(VlanStrip { customer: false, service: true }).unwrap();
    assert_eq!(global(&mock, registers::RX_MODE), 0x203);
    nic.set_rx_mode(RxMode::default()).unwrap();
    assert_eq!((global(&mock, registers::RX_MODE), nic.vlan_strip().service), (0x201, true));
}

/// Catches: a change of the address hash that leaves the epoch as it was.
#[test]
fn a_frame_let_in_by_the_old_addresses_is_not_believed_to_be_filtered() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let mut keep = Keep::default();
    for _ in 0..20 {
        let tagged = |c: &mut ferronic_contract::completion::RxCompletion| {
            c.status = c.status.with(FILTER, 1).with(TAG, 1);
            c.filter_tag = 5;
        };
        assert!(mock.receive_with(&frame(0), tagged));
        nic.set_rx_mode(RxMode::default()).unwrap();
        assert!(mock.receive_with(&frame(1), tagged));
        nic.rx[0].poll(64, &mut keep).unwrap();
        assert_eq!(keep.0.iter().map(|p| p.filter_tag()).collect::<Vec<_>>(), [None, Some(5)]);
        assert_eq!((nic.mac(), mock.mac(), nic.epoch()), (OWN, OWN, mock.epoch()));
        keep.0.clear();
    }
}

#[test]
fn flow_control_in_bytes_and_bit_times() {
    let mock = Mock::new();
    let mut nic = mock.open(&small());
    let flow = FlowControl { send: true, honour: true, mbps: 1000, quanta: 0x1234, high: 12_800, low: 6_400 };
    nic.set_flow_control(&flow).unwrap();
    assert_eq!(global(&mock, registers::FLOW), 0b11 | 64 << 4 | 0x1234 << 16, "512 bit times are 64 cycles");
    assert_eq!(global(&mock, registers::FLOW_MARKS), 200 | 100 << 16);
    nic.set_flow_control(&FlowControl { send: false, mbps: 2500, ..flow }).unwrap();
    assert_eq!(global(&mock, registers::FLOW), 0b10 | 25 << 4 | 0x1234 << 16);
    let refusals = [
        (FlowControl { mbps: 0, ..flow }, "Mb/s is 0; it must be from 1 to 1000000"),
        (FlowControl { mbps: 10, ..flow }, "cycles of a pause quantum is 6400; it must be from 1 to 4095"),
        (FlowControl { high: 16_385, ..flow }, "high-water mark is 16385; it must be from 64 to 16384"),
        (FlowControl { high: 63, ..flow }, "high-water mark is 63; it must be from 64 to 16384"),
        (FlowControl { low: 12_737, ..flow }, "low-water mark is 12737; it must be from 0 to 12736"),
    ];
    for (flow, text) in refusals {
        assert_eq!(message(nic.set_flow_control(&flow)), text);
    }
    nic.set_hold(16).unwrap();
    assert_eq!(global(&mock, registers::HOLD), 2000);
    assert_eq!(message(nic.set_hold(134_218)), "hold usecs is 134218; it must be from 0 to 134217");
}

#[test]
fn what_a_build_lacks_is_refused_by_name_and_written_nowhere() {
    const FLOW: FlowControl = FlowControl { send: true, honour: true, mbps: 1000, quanta: 1, high: 128, low: 64 };
    type Ask = fn(&mut Nic) -> Result<(), Error>;
    let cases: [(Field, Ask, &str); 4] = [
        (registers::FEATURE_RSS, |nic| nic.set_rss(Rss::even(RssTypes::ALL, 1)), "RSS"),
        (registers::FEATURE_FILTER, |nic| nic.set_rx_mode(RxMode::default()), "FILTER"),
        (registers::FEATURE_STRIP, |nic| nic.set_vlan_strip(VlanStrip::default()), "STRIP"),
        (registers::FEATURE_FLOW, |nic| nic.set_flow_control(&FLOW), "FLOW"),
    ];
    for (feature, ask, name) in cases {
        let mock = Mock::new().without(feature);
        let mut nic = mock.open(&small());
        assert!(!nic.features().has(feature));
        match ask(&mut nic) {
            Err(Error::Missing { feature, .. }) => assert_eq!(feature, name),
            other => panic!("{other:?}"),
        }
        let registers = [registers::RSS, registers::RX_MODE, registers::HASH_FILTER, registers::FLOW, registers::FLOW_MARKS];
        assert!(registers.iter().all(|register| global(&mock, *register) == 0));
    }
}

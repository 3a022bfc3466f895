//! A bond of several ports.

use std::collections::HashMap;

use ferronic::{Bond, Nic, Offload, Offloads};
use ferronic_contract::registers::FEATURE_RSS;
use proptest::prelude::*;

use crate::mock::{small, Mock};

/// A UDP packet of a flow, told by its source port, with its place in the flow behind the headers.
fn packet(flow: u16, place: u32) -> Vec<u8> {
    let mut bytes = vec![0; 60];
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[14..18].copy_from_slice(&[0x45, 0, 0, 46]);
    bytes[23] = 17;
    bytes[34..36].copy_from_slice(&(2 * flow).to_be_bytes());
    bytes[36..38].copy_from_slice(&53u16.to_be_bytes());
    bytes[42..46].copy_from_slice(&place.to_be_bytes());
    bytes
}

fn place(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[42..46].try_into().unwrap())
}

fn flow(bytes: &[u8]) -> u16 {
    u16::from_be_bytes(bytes[34..36].try_into().unwrap()) / 2
}

/// Ports, and the devices behind them.
struct Rig {
    mocks: Vec<std::rc::Rc<Mock>>,
    bond: Bond<Nic>,
    places: HashMap<u16, u32>,
    /// Last place seen of each flow, and the port it came by.
    seen: HashMap<u16, (u32, usize)>,
}

impl Rig {
    fn new(ports: usize) -> Self {
        let mocks: Vec<_> = (0..ports).map(|_| Mock::new()).collect();
        let bond = Bond::new(mocks.iter().map(|mock| mock.open(&small())).collect());
        Self { mocks, bond, places: HashMap::new(), seen: HashMap::new() }
    }

    /// Sends the next packet of a flow; false when it could not be sent now.
    fn send(&mut self, flow: u16) -> bool {
        let place = self.places.entry(flow).or_default();
        let bytes = packet(flow, *place);
        let Some(nic) = self.bond.port(&bytes) else { return false };
        let Some(mut buffer) = nic.pool().get() else { return false };
        buffer.bytes_mut()[..60].copy_from_slice(&bytes);
        let sent = nic.tx.send(buffer, 0, 60).is_ok();
        nic.tx.flush();
        *place += u32::from(sent);
        sent
    }

    /// Lets the device of a port send, if it is up, and checks the order of each flow.
    fn transmit(&mut self, port: usize, most: usize) {
        let Some(nic) = self.bond.get_mut(port) else { return };
        for bytes in self.mocks[port].transmit(most) {
            let now = place(&bytes);
            let before = self.seen.insert(flow(&bytes), (now, port));
            assert!(before.is_none_or(|(before, _)| before < now), "flow {} overtook itself", flow(&bytes));
        }
        nic.tx.reclaim().unwrap();
    }

    fn down(&mut self, port: usize) {
        if let Some(nic) = self.bond.down(port) {
            nic.close().unwrap();
        }
    }

    fn up(&mut self, port: usize) {
        if self.bond.get(port).is_none() {
            assert!(self.bond.up(port, self.mocks[port].open(&small())).is_ok());
        }
    }

    /// The port that a flow's next packet goes by.
    fn port_of(&mut self, flow: u16) -> usize {
        assert!(self.send(flow));
        (0..self.mocks.len()).for_each(|port| self.transmit(port, usize::MAX));
        self.seen[&flow].1
    }
}

/// Catches: all flows on one port; flows of ports that are up that move; flows that do not come home.
#[test]
fn flows_stay_while_their_port_is_up_and_come_home() {
    let mut rig = Rig::new(3);
    let at_first: Vec<_> = (0..200).map(|flow| rig.port_of(flow)).collect();
    for port in 0..3 {
        assert!(at_first.iter().filter(|&&other| other == port).count() > 40, "{at_first:?}");
    }
    rig.down(1);
    let without: Vec<_> = (0..200).map(|flow| rig.port_of(flow)).collect();
    for (before, now) in at_first.iter().zip(&without) {
        assert!(before == now || *before == 1 && *now != 1);
    }
    assert!([0, 2].iter().all(|port| at_first.iter().zip(&without).any(|(a, b)| *a == 1 && b == port)), "spread");
    rig.up(1);
    let again: Vec<_> = (0..200).map(|flow| rig.port_of(flow)).collect();
    assert_eq!(again, at_first);
    (0..3).for_each(|port| rig.down(port));
    assert!(!rig.send(0));
    assert_eq!(rig.bond.statistics().no_port, 1);
    rig.up(2);
    assert_eq!([0, 1, 2].map(|flow| rig.port_of(flow)), [2; 3]);
}

/// Catches: a flow that goes home while its stand-in still has packets of it.
#[test]
fn a_flow_comes_home_only_when_its_stand_in_has_sent_all_of_it() {
    let mut rig = Rig::new(2);
    let flow = (0..).find(|&flow| rig.port_of(flow) == 0).unwrap();
    rig.down(0);
    assert!((0..3).all(|_| rig.send(flow)));
    rig.up(0);
    assert!(rig.send(flow));
    rig.transmit(1, 3);
    assert!(rig.send(flow), "one of it is still there");
    rig.transmit(0, usize::MAX);
    assert_eq!(rig.seen[&flow], (rig.places[&flow] - 3, 1));
    rig.transmit(1, usize::MAX);
    assert_eq!(rig.port_of(flow), 0);
}

#[test]
fn a_bond_offers_what_its_ports_share() {
    let mocks = [Mock::new(), Mock::new().without(FEATURE_RSS)];
    let mut bond = Bond::new(mocks.iter().map(|mock| mock.open(&small())).collect());
    assert_eq!(bond.offloads(), [Offload::RxChecksum, Offload::RxVlan].into_iter().collect::<Offloads>());
    let other = bond.down(1).unwrap();
    assert!(bond.offloads().has(Offload::RxHash));
    assert!(bond.up(0, other).is_err(), "the place is taken");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever goes down and comes back while packets are under way: no flow overtakes itself.
    #[test]
    fn order_within_a_flow_is_kept(steps in prop::collection::vec((0..12u8, 0..40u16, 0..3usize), 1..400)) {
        let mut rig = Rig::new(3);
        for (what, flow, port) in steps {
            match what {
                0 => rig.down(port),
                1 => rig.up(port),
                2..=4 => rig.transmit(port, usize::from(flow % 4)),
                _ => drop(rig.send(flow)),
            }
        }
        (0..3).for_each(|port| rig.transmit(port, usize::MAX));
    }
}

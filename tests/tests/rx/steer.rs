//! Which frames are taken, and which queue they go to.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use ferronic::filters::{Filter, Match, Target, Transport};
use ferronic::nic::{Rss, RssTypes, RxMode};
use ferronic_contract::registers::filter::{address_hash, INDIRECTION};
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::wire::pause_frame;

use crate::live::Live;
use crate::{generated, receive, MAC};

/// Source, destination, hash of the addresses, hash of the addresses and TCP ports.
type Vector = ((&'static str, u16), (&'static str, u16), u32, u32);

/// Microsoft, "Verifying the RSS hash calculation": all of its vectors.
const VECTORS: [Vector; 8] = [
    (("66.9.149.187", 2794), ("161.142.100.80", 1766), 0x323e_8fc2, 0x51cc_c178),
    (("199.92.111.2", 14230), ("65.69.140.83", 4739), 0xd718_262a, 0xc626_b0ea),
    (("24.19.198.95", 12898), ("12.22.207.184", 38024), 0xd2d0_a5de, 0x5c2b_394a),
    (("38.27.205.30", 48228), ("209.142.163.6", 2217), 0x8298_9176, 0xafc7_327f),
    (("153.39.163.191", 44251), ("202.188.127.2", 1303), 0x5d18_09c5, 0x10e8_28a2),
    (("3ffe:2501:200:1fff::7", 2794), ("3ffe:2501:200:3::1", 1766), 0x2cc1_8cd5, 0x4020_7d3d),
    (("3ffe:501:8::260:97ff:fe40:efab", 14230), ("ff02::1", 4739), 0x0f0c_461c, 0xdde5_1bbf),
    (("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251), ("fe80::200:f8ff:fe21:67cf", 38024), 0x4b61_e985, 0x02d1_feef),
];

/// TCP, or UDP, with a VLAN tag or not.
struct Packet {
    to: [u8; 6],
    vlan: Option<u16>,
    tcp: bool,
    source: (IpAddr, u16),
    destination: (IpAddr, u16),
}

impl Default for Packet {
    fn default() -> Self {
        Self { to: MAC, vlan: None, tcp: false, source: ([10, 0, 1, 1].into(), 1024), destination: ([10, 0, 0, 1].into(), 9) }
    }
}

impl Packet {
    fn bytes(&self) -> Vec<u8> {
        let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 2], self.to);
        let (source, destination) = (self.source.0, self.destination.0);
        let ip = match self.vlan {
            Some(vlan) => {
                let tagged = ethernet.single_vlan(vlan.try_into().expect("a VLAN"));
                match (source, destination) {
                    (IpAddr::V4(source), IpAddr::V4(destination)) => tagged.ipv4(source.octets(), destination.octets(), 64),
                    (IpAddr::V6(source), IpAddr::V6(destination)) => tagged.ipv6(source.octets(), destination.octets(), 64),
                    _ => panic!("addresses of one kind"),
                }
            }
            None => match (source, destination) {
                (IpAddr::V4(source), IpAddr::V4(destination)) => ethernet.ipv4(source.octets(), destination.octets(), 64),
                (IpAddr::V6(source), IpAddr::V6(destination)) => ethernet.ipv6(source.octets(), destination.octets(), 64),
                _ => panic!("addresses of one kind"),
            },
        };
        let (mut frame, payload) = (Vec::new(), [1; 20]);
        if self.tcp {
            ip.tcp(self.source.1, self.destination.1, 0, 0).write(&mut frame, &payload).expect("it fits");
        } else {
            ip.udp(self.source.1, self.destination.1).write(&mut frame, &payload).expect("it fits");
        }
        frame
    }
}

/// A broadcast ARP request.
fn arp() -> Vec<u8> {
    generated("count=1,mix=arp", 1).next().expect("a frame").bytes
}

/// Queue and tag of each frame; `None` where a filter dropped it.
fn places(fates: &[FrameLine]) -> Vec<Option<(u8, Option<u16>)>> {
    let place = |line: &FrameLine| match &line.class {
        Some(class) => Some((class.queue, class.tag)),
        None => {
            assert_eq!(line.outcome, "dropped:filter", "frame {}", line.index);
            None
        }
    };
    fates.iter().map(place).collect()
}

/// Catches: hash bytes in another order, the wrong bits of the hash, a table that is read at another place, ports hashed
/// where only addresses may be, a table that cannot be changed.
#[test]
fn packets_of_the_published_vectors_go_where_the_table_says() {
    let mut live = Live::open(&receive("gen2x1", 64, 4));
    let types = RssTypes { udp4: false, udp6: false, ..RssTypes::ALL };
    // Some neighbours in a table differ, and every entry from its place in the others.
    let tables: [fn(usize) -> u8; 3] =
        [|entry| (entry % 4) as u8, |entry| (entry / 32) as u8, |entry| (entry ^ entry >> 2 ^ entry >> 5) as u8 & 3];
    let mut seen = [0; 4];
    for (default_queue, queue_of) in (1..).zip(tables) {
        let table: [u8; INDIRECTION] = std::array::from_fn(queue_of);
        live.nic.set_rss(Rss { types, default_queue, table }).expect("queues that are there");
        live.nic.check().expect("the queues run");
        let mut must = vec![(default_queue, None)];
        let mut frames = vec![arp()];
        for ((source, from), (destination, to), addresses, ports) in VECTORS {
            for (tcp, hash) in [(true, ports), (false, addresses)] {
                let [source, destination] = [source, destination].map(|address| address.parse().expect("an address"));
                frames.push(Packet { tcp, source: (source, from), destination: (destination, to), ..Packet::default() }.bytes());
                must.push((queue_of(hash as usize % INDIRECTION), Some(hash)));
            }
        }
        live.push(frames);
        live.settle();
        let class = |line: FrameLine| line.class.map(|class| (class.queue, class.rss));
        let is: Vec<_> = live.fates().into_iter().map(class).collect();
        assert_eq!(is, must.iter().copied().map(Some).collect::<Vec<_>>());
        must.iter().for_each(|(queue, _)| seen[usize::from(*queue)] += 1);
    }
    assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
    live.close();
}

/// Catches: a field compared that the kind does not name, or not compared that it does; kinds in another order; an action
/// or a tag of another row; a filter that outlives its removal.
#[test]
fn exact_filters_of_four_kinds_do_what_they_say_and_nothing_more() {
    let mut live = Live::open(&receive("gen2x1", 64, 4));
    live.nic.set_rss(Rss { default_queue: 3, ..Rss::even(RssTypes::NONE, 4) }).expect("queue 3 is there");
    let group = [1, 0, 0x5E, 0, 0, 9];
    let v6 = |last: u16| IpAddr::from([0xFD00, 0, 0, 0, 0, 0, 0, last]);
    let filters = [
        (Match { port: Some((Transport::Udp, 53)), ..Match::default() }, Target::Queue(1), 1),
        (Match { source: Some(v6(1)), destination: Some(v6(2)), ..Match::default() }, Target::Drop, 2),
        (Match { vlan: Some(7), ethertype: Some(0x0800), ..Match::default() }, Target::Queue(2), 0xBEEF),
        (Match { dmac: Some(group), ..Match::default() }, Target::Rss, 0xFFFF),
    ];
    for (on, target, tag) in filters {
        live.nic.filters.add(Filter { on, target, tag }).expect("there is room");
    }
    live.nic.check().expect("the queues run");
    let base = Packet::default;
    let ipv4 = |last: u8, port| (IpAddr::from([10, 0, 0, last]), port);
    let pair = |from, to, port| Packet { source: (v6(from), 7), destination: (v6(to), port), ..base() };
    let cases = [
        (base(), Some((3, None))),
        (Packet { destination: ipv4(1, 53), ..base() }, Some((1, Some(1)))),
        (Packet { destination: ipv4(9, 53), source: ipv4(8, 53), ..base() }, Some((1, Some(1)))),
        (Packet { destination: ipv4(1, 52), ..base() }, Some((3, None))),
        (Packet { destination: ipv4(1, 53 + 256), ..base() }, Some((3, None))),
        (Packet { source: ipv4(1, 53), ..base() }, Some((3, None))),
        (Packet { destination: ipv4(1, 53), tcp: true, ..base() }, Some((3, None))),
        (pair(1, 2, 9), None),
        (Packet { tcp: true, vlan: Some(9), ..pair(1, 2, 80) }, None),
        (pair(2, 1, 9), Some((3, None))),
        (pair(1, 3, 9), Some((3, None))),
        (pair(0x8001, 2, 9), Some((3, None))),
        // Kind 0 comes first.
        (pair(1, 2, 53), Some((1, Some(1)))),
        (Packet { vlan: Some(7), ..base() }, Some((2, Some(0xBEEF)))),
        (Packet { vlan: Some(7), destination: ipv4(1, 53), ..base() }, Some((1, Some(1)))),
        (Packet { vlan: Some(8), ..base() }, Some((3, None))),
        (Packet { vlan: Some(7), ..pair(3, 4, 9) }, Some((3, None))),
        (Packet { to: group, ..base() }, Some((3, Some(0xFFFF)))),
        (Packet { to: group, vlan: Some(7), ..base() }, Some((2, Some(0xBEEF)))),
        (Packet { to: group, ..pair(1, 2, 9) }, None),
        (Packet { to: [1, 0, 0x5E, 0, 0, 8], ..base() }, Some((3, None))),
    ];
    live.push(cases.iter().map(|(packet, _)| packet.bytes()));
    live.settle();
    assert_eq!(places(&live.fates()), cases.each_ref().map(|(_, place)| *place));
    // Without the filters, all goes to one queue.
    for (on, ..) in filters {
        live.nic.filters.remove(&on).expect("it was there");
    }
    live.nic.check().expect("the queues run");
    live.push(cases.iter().map(|(packet, _)| packet.bytes()));
    live.settle();
    assert_eq!(places(&live.fates()), cases.each_ref().map(|_| Some((3, None))));
    live.close();
}

/// Catches: a hash bit at another place of the table, groups taken by the stations' bit, a frame for this station that
/// carries the hash filter's tag, a mode that leaves something out.
#[test]
fn addresses_are_taken_as_the_mode_says() {
    let mut live = Live::open(&receive("gen2x1", 64, 4));
    let (group, station) = ([1, 0, 0x5E, 1, 2, 3], [2, 0, 0, 0, 9, 9]);
    let (other_group, other_station) = ([1, 0, 0x5E, 1, 2, 4], [2, 0, 0, 0, 9, 8]);
    let hashes = [group, station, other_group, other_station].map(|address| address_hash(&address));
    assert!(hashes[2..].iter().all(|hash| !hashes[..2].contains(hash)), "{hashes:?}");
    let let_in = [2, 0, 0, 0, 7, 7];
    let on = Match { dmac: Some(let_in), ..Match::default() };
    live.nic.filters.add(Filter { on, target: Target::Queue(1), tag: 5 }).expect("there is room");
    live.nic.set_rss(Rss { default_queue: 3, ..Rss::even(RssTypes::NONE, 4) }).expect("queue 3 is there");
    let frames: Vec<_> = [MAC, [0xFF; 6], group, station, other_group, other_station, let_in]
        .map(|to| Packet { to, ..Packet::default() }.bytes())
        .into_iter()
        .chain([pause_frame(MAC, 9)])
        .collect();
    let (plain, tagged, exact) = (Some((3, None)), Some((2, Some(77))), Some((1, Some(5))));
    let mode = |addresses: &[[u8; 6]]| RxMode {
        promiscuous: false,
        addresses: addresses.to_vec(),
        action: Target::Queue(2),
        tag: 77,
        ..RxMode::default()
    };
    let cases = [
        (mode(&[]), [plain, plain, None, None, None, None, exact, None]),
        (mode(&[group]), [plain, plain, tagged, None, None, None, exact, None]),
        (mode(&[station]), [plain, plain, None, tagged, None, None, exact, None]),
        (mode(&[group, station]), [plain, plain, tagged, tagged, None, None, exact, None]),
        (
            RxMode { action: Target::Drop, ..mode(&[group, station]) },
            [plain, plain, None, None, None, None, exact, None],
        ),
        (
            RxMode { all_multicast: true, ..mode(&[station]) },
            [plain, plain, plain, tagged, plain, None, exact, plain],
        ),
        (RxMode { promiscuous: true, ..mode(&[]) }, [plain, plain, plain, plain, plain, plain, exact, plain]),
    ];
    for (mode, must) in cases {
        live.nic.set_rx_mode(mode.clone()).expect("the queue is there");
        live.nic.check().expect("the queues run");
        live.push(frames.clone());
        live.settle();
        assert_eq!(places(&live.fates()), must, "{mode:?}");
    }
    live.close();
}

/// Catches: a row that is seen half written, an epoch that changes before or after the row, frames under way judged by
/// rows that came later.
#[test]
fn filters_changed_under_traffic_hold_from_their_epoch_on() {
    const CHANGES: u16 = 300;
    let mut live = Live::open(&receive("gen2x1", 256, 4));
    let on = Match { port: Some((Transport::Udp, 9)), ..Match::default() };
    // The tag tells the epoch in its low 3 bits; target and tag go together.
    let target = |tag: u16| match tag % 5 {
        4 => Target::Rss,
        queue => Target::Queue(queue as u8),
    };
    let change = |live: &mut Live, number: u16| {
        let tag = number << 3 | u16::from((live.nic.epoch() + 1) % 8);
        live.nic.filters.add(Filter { on, target: target(tag), tag }).expect("there is room");
        assert_eq!(u16::from(live.nic.epoch()), tag % 8);
    };
    change(&mut live, 0);
    live.nic.check().expect("the queues run");
    let frames: Vec<_> = generated("size=60,count=6000", 1).map(|frame| frame.bytes).collect();
    live.push(frames);
    let mut random = fastrand::Rng::with_seed(1);
    for number in 1..=CHANGES {
        // Slowly enough that a frame cannot outlast 7 changes.
        for _ in 0..random.usize(10..60) {
            live.turn();
        }
        change(&mut live, number);
    }
    live.settle();
    {
        let world = live.world.borrow();
        let (words, count) = world.scoreboard.mismatches();
        assert_eq!(count, 0, "{words:?}");
    }
    let (mut tags, mut stale) = (Vec::new(), 0);
    for line in live.fates() {
        let class = line.class.expect("delivered");
        // Once the filters have changed, the driver does not trust what the core said by the old ones.
        let Some(tag) = class.tag else {
            assert_eq!(class.filter, None, "frame {}: every frame matches", line.index);
            stale += 1;
            continue;
        };
        assert_eq!(u16::from(class.epoch), tag % 8, "frame {}", line.index);
        if let Target::Queue(queue) = target(tag) {
            assert_eq!(class.queue, queue, "frame {}", line.index);
        }
        tags.push(tag >> 3);
    }
    assert!(tags.is_sorted(), "an old row came back");
    assert!((20..2000).contains(&stale), "{stale} frames met a change on their way");
    tags.dedup();
    assert!(tags.len() > usize::from(CHANGES) / 2, "frames were steered by {} of the rows only", tags.len());
    live.close();
}

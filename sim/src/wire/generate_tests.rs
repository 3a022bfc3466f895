use super::*;
use crate::wire::sequence;
use etherparse::{checksum, SlicedPacket, TransportSlice};

const OWN_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 0x01];

fn frames(text: &str) -> Vec<Frame> {
    text.parse::<Generator>()
        .unwrap()
        .frames(1, OWN_MAC)
        .collect()
}

fn fault(text: &str) -> String {
    text.parse::<Generator>().unwrap_err().to_string()
}

/// Sum over a pseudo header and the segment, which is 0 when the checksum is right.
fn checksum_is_right(packet: &SlicedPacket<'_>) -> bool {
    use etherparse::{ip_number, NetSlice};
    let (pseudo, protocol, payload) = match packet.net.as_ref().unwrap() {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            assert_eq!(
                header.header_checksum(),
                header.to_header().calc_header_checksum()
            );
            let sum = checksum::Sum16BitWords::new()
                .add_4bytes(header.source())
                .add_4bytes(header.destination());
            (sum, header.protocol(), ip.payload().payload)
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            let sum = checksum::Sum16BitWords::new()
                .add_16bytes(header.source())
                .add_16bytes(header.destination());
            (sum, header.next_header(), ip.payload().payload)
        }
        NetSlice::Arp(_) => return true,
    };
    // ICMP alone has no pseudo header.
    let sum = if protocol == ip_number::ICMP {
        checksum::Sum16BitWords::new()
    } else {
        pseudo
            .add_2bytes([0, protocol.0])
            .add_2bytes((payload.len() as u16).to_be_bytes())
    };
    sum.add_slice(payload).ones_complement() == 0
}

#[test]
fn every_protocol_is_valid_at_every_size_and_carries_its_number() {
    for (name, protocol) in Protocol::NAMES {
        assert_eq!(protocol.name(), name);
        let (low, high) = (protocol.headers(), protocol.longest());
        let text = format!("size={low}-{high},count=50,mix={name}");
        let extremes = [
            format!("size={low},count=2,mix={name}"),
            format!("size={high},count=2,mix={name}"),
        ];
        for frame in [frames(&text), frames(&extremes[0]), frames(&extremes[1])].concat() {
            let bytes = &frame.bytes;
            assert!(
                (low..=high).contains(&bytes.len()),
                "{name}: {} bytes",
                bytes.len()
            );
            let number = (bytes.len() >= low + 4).then_some(frame.index as u32);
            assert_eq!(sequence(bytes), number, "{name}");
            if !matches!(protocol, Protocol::Llc | Protocol::Raw) {
                let packet = SlicedPacket::from_ethernet(bytes).unwrap();
                assert!(
                    checksum_is_right(&packet),
                    "{name}: checksum of {} bytes",
                    bytes.len()
                );
            }
        }
    }
}

#[test]
fn headers_are_what_the_names_say() {
    let packet = |name: &str| frames(&format!("count=1,mix={name}")).remove(0).bytes;
    let slice = |bytes: &[u8]| {
        let packet = SlicedPacket::from_ethernet(bytes).unwrap();
        let transport = match packet.transport {
            Some(TransportSlice::Udp(_)) => "udp",
            Some(TransportSlice::Tcp(_)) => "tcp",
            Some(TransportSlice::Icmpv4(_)) => "icmp",
            Some(TransportSlice::Icmpv6(_)) => "icmp6",
            _ => "none",
        };
        (packet.link_exts.len(), transport)
    };
    for (name, expected) in [
        ("udp", (0, "udp")),
        ("tcp", (0, "tcp")),
        ("icmp", (0, "icmp")),
        ("arp", (0, "none")),
        ("udp6", (0, "udp")),
        ("tcp6", (0, "tcp")),
        ("icmp6", (0, "icmp6")),
        ("vlan", (1, "udp")),
        ("qinq", (2, "udp")),
    ] {
        assert_eq!(slice(&packet(name)), expected, "{name}");
    }
    assert_eq!(packet("qinq")[12..18], [0x88, 0xA8, 0, 100, 0x81, 0]);
    assert_eq!(packet("arp")[..6], [0xFF; 6]);
    assert_eq!(packet("llc")[..6], OWN_MAC);
    assert_eq!(packet("llc")[12..17], [0, 46, 0, 0, 0xE3]);
    assert_eq!(packet("raw")[12..14], [0x88, 0xB5]);
    assert_eq!((packet("udp").len(), packet("tcp6").len()), (60, 74));
}

#[test]
fn seed_and_text_determine_the_frames() {
    let generator: Generator = "count=100,mix=udp+tcp:2,size=80-200".parse().unwrap();
    let run = |seed| generator.frames(seed, OWN_MAC).collect::<Vec<_>>();
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn the_mix_follows_its_weights() {
    let tcp = frames("count=4000,mix=udp+tcp:3")
        .iter()
        .filter(|f| f.bytes[23] == 6)
        .count();
    assert!((2900..3100).contains(&tcp), "{tcp} of 4000");
}

#[test]
fn keys_set_what_they_name() {
    let generator: Generator = "rate=250mbps,burst=8,count=7".parse().unwrap();
    assert_eq!(
        generator.pace(),
        Pace {
            rate: Rate::MegabitsPerSecond(250),
            burst: 8
        }
    );
    assert_eq!(generator.count(), 7);
    let generator: Generator = "rate=1000pps".parse().unwrap();
    assert_eq!(
        generator.pace(),
        Pace {
            rate: Rate::FramesPerSecond(1000),
            burst: 1
        }
    );
    assert_eq!("".parse::<Generator>().unwrap(), Generator::default());
}

#[test]
fn faults_name_key_value_and_what_is_legal() {
    assert_eq!(
        fault("speed=1"),
        "generator: speed=1: the keys are size, count, rate, burst, mix"
    );
    assert_eq!(
        fault("size=13"),
        "generator: size=13: legal are N and MIN-MAX within 14 to 9600"
    );
    assert_eq!(
        fault("size=90-80"),
        "generator: size=90-80: legal are N and MIN-MAX within 14 to 9600"
    );
    assert_eq!(
        fault("size=60,mix=udp+udp6"),
        "generator: size=60: legal are 62 to 9600 with udp6 in the mix"
    );
    assert_eq!(
        fault("mix=llc,size=60-1515"),
        "generator: size=60-1515: legal are 17 to 1514 with llc in the mix"
    );
    assert_eq!(
        fault("count=0"),
        "generator: count=0: legal are whole numbers from 1"
    );
    assert_eq!(
        fault("rate=fast"),
        "generator: rate=fast: legal are line, <N>pps and <N>mbps"
    );
    assert_eq!(
        fault("rate=0pps"),
        "generator: rate=0pps: legal are line, <N>pps and <N>mbps"
    );
    assert_eq!(
        fault("burst=4"),
        "generator: burst=4: legal is 1 with rate=line, where all frames go back to back"
    );
    assert_eq!(
        fault("count=1,count=2"),
        "generator: count=2: the key may come only once"
    );
    assert!(fault("mix=udp+ipx").starts_with("generator: mix=ipx: legal are udp, tcp, icmp, "));
    assert!(fault("mix=udp:0").starts_with("generator: mix=udp:0: legal weights are"));
    assert!(fault("mix=udp:4294967295+tcp").starts_with("generator: mix=tcp: legal weights are"));
}

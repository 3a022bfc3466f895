//! Hash, type and queue against the published vectors and a bit-by-bit Toeplitz hash.
//!
//! Caught when tried: the row of the table read without heeding the write of that cycle.

use ferronic_bench::models::rss::Rss;
use ferronic_contract::parse::RSS_KEY;
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::net::IpAddr;

/// As `hw/src/rx/rss.rs` says.
const LATENCY: usize = 4;

const TCP: u8 = 1;
const UDP: u8 = 2;

/// "Verifying the RSS hash calculation", Microsoft, network driver documentation: source, destination, hash of the
/// addresses, hash with the ports of TCP.
const VECTORS: [(&str, u16, &str, u16, u32, u32); 8] = [
    ("66.9.149.187", 2794, "161.142.100.80", 1766, 0x323E_8FC2, 0x51CC_C178),
    ("199.92.111.2", 14230, "65.69.140.83", 4739, 0xD718_262A, 0xC626_B0EA),
    ("24.19.198.95", 12898, "12.22.207.184", 38024, 0xD2D0_A5DE, 0x5C2B_394A),
    ("38.27.205.30", 48228, "209.142.163.6", 2217, 0x8298_9176, 0xAFC7_327F),
    ("153.39.163.191", 44251, "202.188.127.2", 1303, 0x5D18_09C5, 0x10E8_28A2),
    ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766, 0x2CC1_8CD5, 0x4020_7D3D),
    ("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739, 0x0F0C_461C, 0xDDE5_1BBF),
    ("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024, 0x4B61_E985, 0x02D1_FEEF),
];

#[derive(Clone, Debug, Default)]
struct Case {
    l3: u8,
    l4: u8,
    frag: bool,
    source: [u8; 16],
    destination: [u8; 16],
    ports: [u16; 2],
    /// What is written into the table in the same cycle.
    write: Option<(u8, u32)>,
}

/// Hash, type, queue.
type Answer = (u32, u8, u8);

fn toeplitz(input: &[u8]) -> u32 {
    let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (7 - i % 8) & 1 == 1;
    let window = |from: usize| (0..32).fold(0, |window, i| window << 1 | u32::from(bit(&RSS_KEY, from + i)));
    (0..8 * input.len()).filter(|i| bit(input, *i)).fold(0, |hash, i| hash ^ window(i))
}

/// The rules of `ferronic_contract::parse`.
fn hash(case: &Case, types: u8) -> (u32, u8) {
    let (size, first) = match case.l3 {
        1 => (4, 0),
        2 => (16, 3),
        _ => return (0, 0),
    };
    let enabled = |kind: u8| types >> (first + kind) & 1 == 1;
    let addresses = [&case.source[..size], &case.destination[..size]].concat();
    let kind = if case.l4 == TCP || case.l4 == UDP { case.l4 } else { 0 };
    if kind != 0 && !case.frag && enabled(kind) {
        let [source, destination] = case.ports.map(u16::to_be_bytes);
        (toeplitz(&[addresses, source.to_vec(), destination.to_vec()].concat()), first + kind + 1)
    } else if enabled(0) {
        (toeplitz(&addresses), first + 1)
    } else {
        (0, 0)
    }
}

fn words(bytes: &[u8; 16]) -> [u32; 4] {
    std::array::from_fn(|i| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}

/// A case a cycle, `None` for a cycle without a frame; the table is 0, 1, 2, … at the start.
fn run(seed: u64, types: u8, default_queue: u8, cases: &[Option<Case>]) -> Vec<Option<Answer>> {
    let mut block = Rss::new(PowerUp::Random(seed));
    let mut answers = Vec::new();
    let fill = (0..32u8).map(|row| {
        let entries = std::array::from_fn(|i| 0xF0 | (4 * row + i as u8) % 16);
        Some(Case { write: Some((row, u32::from_le_bytes(entries))), ..Case::default() })
    });
    let fill: Vec<_> = fill.collect();
    for (cycle, case) in fill.iter().chain(cases).chain(&[None, None, None, None]).enumerate() {
        block.set_reset(cycle < fill.len());
        block.set_valid(case.is_some());
        let shown = case.clone().unwrap_or(Case { l3: 1, l4: 1, ..Case::default() });
        block.set_l3(shown.l3);
        block.set_l4(shown.l4);
        block.set_frag(shown.frag);
        block.set_source(words(&shown.source));
        block.set_destination(words(&shown.destination));
        block.set_source_port(shown.ports[0]);
        block.set_destination_port(shown.ports[1]);
        block.set_types(types);
        block.set_default_queue(default_queue);
        block.set_t_write(shown.write.is_some());
        let (row, entries) = shown.write.unwrap_or((0, u32::MAX));
        block.set_t_address(row);
        block.set_t_data(entries);
        block.eval();
        if cycle >= fill.len() + LATENCY {
            answers.push(block.out_valid().then(|| (block.hash(), block.hash_type(), block.out_queue())));
        } else if cycle >= fill.len() {
            assert!(!block.out_valid(), "an answer before its time");
        }
        block.set_clock(true);
        block.eval();
        block.set_clock(false);
        block.eval();
    }
    answers
}

fn expected(types: u8, default_queue: u8, cases: &[Option<Case>]) -> Vec<Option<Answer>> {
    let mut table: [u8; 128] = std::array::from_fn(|i| i as u8 % 16);
    let mut pending = VecDeque::new();
    let mut answers = Vec::new();
    // A frame's row is read two cycles behind it, a write in that cycle included.
    for case in cases.iter().chain(&[None, None]) {
        if let Some((row, entries)) = case.as_ref().and_then(|case| case.write) {
            for (i, entry) in entries.to_le_bytes().into_iter().enumerate() {
                table[4 * usize::from(row) + i] = entry & 15;
            }
        }
        pending.push_back(case.as_ref().map(|case| hash(case, types)));
        if pending.len() > 2 {
            answers.push(pending.pop_front().unwrap().map(|(hash, kind)| {
                let queue = if kind == 0 { default_queue } else { table[hash as usize % 128] };
                (hash, kind, queue)
            }));
        }
    }
    answers
}

fn bytes(address: &str) -> (u8, [u8; 16]) {
    match address.parse().unwrap() {
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            (1, bytes)
        }
        IpAddr::V6(address) => (2, address.octets()),
    }
}

#[test]
fn published_vectors() {
    let cases = VECTORS.map(|(source, source_port, destination, destination_port, ..)| {
        let ((l3, source), (_, destination)) = (bytes(source), bytes(destination));
        Some(Case { l3, l4: TCP, source, destination, ports: [source_port, destination_port], ..Case::default() })
    });
    let answers = |types| run(5, types, 3, &cases).into_iter().map(|answer| answer.unwrap());
    for ((answer, ports), (.., only, with)) in answers(0b001_001).zip(answers(0b111_111)).zip(VECTORS) {
        assert_eq!((answer.0, ports.0), (only, with));
        assert_eq!((answer.2, ports.2), ((only % 16) as u8, (with % 16) as u8));
    }
}

fn case() -> impl Strategy<Value = Case> {
    // Few addresses, so that rows are met while they are written.
    let address = || prop_oneof![3 => any::<[u8; 16]>(), 1 => Just([0; 16])];
    let port = || prop_oneof![1 => Just(0u16), 3 => any::<u16>()];
    let write = prop::option::weighted(0.5, (prop_oneof![1 => Just(0u8), 1 => 0u8..32], any::<u32>()));
    (0u8..5, 0u8..6, prop::bool::weighted(0.2), [address(), address()], [port(), port()], write).prop_map(
        |(l3, l4, frag, [mut source, mut destination], ports, write)| {
            if l3 == 1 {
                // The header parser leaves nothing behind an IPv4 address.
                source[4..].fill(0);
                destination[4..].fill(0);
            }
            Case { l3, l4, frag, source, destination, ports, write }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_frames(
        seed: u64, types in 0u8..64, default_queue in 0u8..16,
        cases in prop::collection::vec(prop::option::weighted(0.9, case()), 1..80),
    ) {
        prop_assert_eq!(run(seed, types, default_queue, &cases), expected(types, default_queue, &cases));
    }
}

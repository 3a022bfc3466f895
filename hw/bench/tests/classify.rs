//! The classifier against `ferronic_contract::class::classify`, a frame a cycle.
//!
//! Caught when tried: `has_outer` from 17 bytes; the inner tag looked for without an outer one; broadcast before own
//! address; LLC told from raw without looking at the length; the epoch of the cycle after.

use ferronic_bench::models::classify::Classify;
use ferronic_contract::class::{classify, Mac};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;

const OWN: Mac = [0x02, 0x11, 0x22, 0x33, 0x44, 0x55];
const GROUP_OWN: Mac = [0x03, 0x11, 0x22, 0x33, 0x44, 0x55];

/// A frame's first 32 bytes, whatever its length, and that length.
#[derive(Clone, Debug)]
struct Case {
    window: [u8; 32],
    length: u16,
    own: Mac,
    epoch: u8,
}

fn case() -> impl Strategy<Value = Case> {
    let mac = prop_oneof![Just(OWN), Just(GROUP_OWN), Just([0xFF; 6]), any::<Mac>()];
    let near = (mac.clone(), 0usize..6, 0u8..8).prop_map(|(mut mac, byte, bit)| {
        mac[byte] ^= 1 << bit;
        mac
    });
    let kind = || {
        prop_oneof![
            4 => prop::sample::select(vec![0x8100u16, 0x88A8, 0x0800, 0x05FF, 0x0600, 0x05DC, 0x9100, 0xFFFF, 0, 0x8101]),
            1 => any::<u16>(),
        ]
    };
    let length = prop_oneof![4 => 14u16..33, 1 => 33u16..9601, 1 => Just(9600u16)];
    (prop_oneof![mac.clone(), near], mac, any::<[u8; 32]>(), [kind(), kind(), kind()], length, 0u8..8).prop_map(
        |(destination, own, mut window, kinds, length, epoch)| {
            window[..6].copy_from_slice(&destination);
            for (at, kind) in [12, 14, 16].into_iter().zip(kinds) {
                window[at..at + 2].copy_from_slice(&kind.to_be_bytes());
            }
            Case { window, length, own, epoch }
        },
    )
}

/// What comes out, in the order of the ports.
type Answer = (u16, bool, u8, u16, u8, u8, u8, u8);

fn expected(case: &Case) -> Answer {
    // What is behind the window never counts.
    let frame: Vec<u8> = case.window.iter().copied().chain(std::iter::repeat(0xFF)).take(case.length.into()).collect();
    let class = classify(&frame, &case.own).unwrap();
    let (dst, l2) = (class.destination as u8, class.l2 as u8);
    (case.length, true, dst, class.protocol, l2, class.vlan_tags, case.epoch, class.l3_offset())
}

fn run(seed: u64, cases: &[Option<Case>]) {
    let mut block = Classify::new(PowerUp::Random(seed));
    let mut pipeline = VecDeque::new();
    for (cycle, case) in [None, None].iter().chain(cases).chain(&[None, None]).enumerate() {
        block.set_reset(cycle < 2);
        block.set_valid(case.is_some());
        // Without a frame, the inputs are what a classifier must not remember.
        let shown = case.clone().unwrap_or(Case { window: [0x81; 32], length: 60, own: [0x81; 6], epoch: 5 });
        block.set_window(std::array::from_fn(|i| {
            u32::from_le_bytes(shown.window[4 * i..4 * i + 4].try_into().unwrap())
        }));
        block.set_length(shown.length);
        block.set_own_mac(shown.own.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        block.set_epoch(shown.epoch);
        block.eval();
        if cycle >= 4 {
            let due: Option<Answer> = pipeline.pop_front().unwrap();
            assert_eq!(block.out_valid(), due.is_some());
            if let Some(due) = due {
                let answer: Answer = (
                    block.out_length(), block.classified(), block.dst(), block.protocol(), block.l2(), block.vlan(),
                    block.out_epoch(), block.l3_offset(),
                );
                assert_eq!(answer, due, "cycle {cycle}");
            }
        }
        if cycle >= 2 {
            pipeline.push_back(case.as_ref().map(expected));
        }
        block.set_clock(true);
        block.eval();
        block.set_clock(false);
        block.eval();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]
    #[test]
    fn answers_as_the_contract_does(seed: u64, cases in prop::collection::vec(prop::option::weighted(0.9, case()), 1..60)) {
        run(seed, &cases);
    }
}

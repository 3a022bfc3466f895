//! Verdicts against arithmetic modulo 0xFFFF.
//!
//! Caught when tried: the header's sum added instead of subtracted.

use ferronic_bench::models::verdict::Verdict;
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;

/// As `hw/src/rx/verdict.rs` says.
const LATENCY: usize = 2;

#[derive(Clone, Debug)]
struct Case {
    raw: u16,
    body: u16,
    header: u16,
    pseudo: u16,
    wanted: bool,
    checked: bool,
    good: bool,
}

/// 0 not checked, 1 good, 2 bad.
fn verdict(checked: bool, good: bool) -> u8 {
    u8::from(checked) * if good { 1 } else { 2 }
}

fn expected(case: &Case) -> (u8, u8, u16) {
    let sum = (u32::from(case.body) + 0xFFFF - u32::from(case.header) + u32::from(case.pseudo)) % 0xFFFF;
    (verdict(case.checked, case.good), verdict(case.wanted, sum == 0), case.raw)
}

/// Half of the cases have a right checksum, in all the ways in which a sum can be zero.
fn case() -> impl Strategy<Value = Case> {
    let word = || prop_oneof![1 => Just(0u16), 1 => Just(0xFFFF), 4 => any::<u16>()];
    (word(), [word(), word(), word()], any::<bool>(), any::<[bool; 3]>()).prop_map(
        |(raw, [body, header, pseudo], right, [wanted, checked, good])| {
            let fitting = ((u32::from(header) + 0xFFFF - u32::from(pseudo)) % 0xFFFF) as u16;
            let fitting = if fitting == 0 && body & 1 == 1 { 0xFFFF } else { fitting };
            Case { raw, body: if right { fitting } else { body }, header, pseudo, wanted, checked, good }
        },
    )
}

fn run(seed: u64, cases: &[Option<Case>]) {
    let mut block = Verdict::new(PowerUp::Random(seed));
    let mut due = VecDeque::from([None; LATENCY]);
    for (cycle, case) in [None, None].iter().chain(cases).chain(&[None, None]).enumerate() {
        block.set_reset(cycle < 2);
        block.set_valid(case.is_some());
        let idle = Case { raw: 1, body: 1, header: 1, pseudo: 1, wanted: true, checked: true, good: true };
        let shown = case.as_ref().unwrap_or(&idle);
        block.set_raw(shown.raw);
        block.set_body(shown.body);
        block.set_header_sum(shown.header);
        block.set_pseudo_sum(shown.pseudo);
        block.set_l4_wanted(shown.wanted);
        block.set_ip_checked(shown.checked);
        block.set_ip_good(shown.good);
        block.eval();
        if cycle >= 2 {
            let answer = block.out_valid().then(|| (block.ipcsum(), block.l4csum(), block.raw_out()));
            assert_eq!(answer, due.pop_front().unwrap(), "cycle {cycle}");
            due.push_back(case.as_ref().map(expected));
        }
        block.set_clock(true);
        block.eval();
        block.set_clock(false);
        block.eval();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn verdicts_are_those_of_arithmetic(seed: u64, cases in prop::collection::vec(prop::option::weighted(0.9, case()), 1..100)) {
        run(seed, &cases);
    }
}

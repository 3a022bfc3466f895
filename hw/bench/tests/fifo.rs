//! The FIFO against a queue, with random pauses on both sides.
//!
//! Caught when tried: `valid` computed from the tail of this cycle instead of the last (a word read in the
//! cycle in which it is written), and `full` taken one word early.

use ferronic_bench::models::{fifo_128::Fifo128, fifo_64::Fifo64};
use ferronic_verilated::PowerUp;
use proptest::prelude::*;
use std::collections::VecDeque;

macro_rules! bench {
    ($name:ident, $model:ty, $word:expr) => {
        fn $name(seed: u64, pauses: &[(bool, bool)]) {
            let mut fifo = <$model>::new(PowerUp::Random(seed));
            let clock = |fifo: &mut $model| {
                fifo.set_clock(true);
                fifo.eval();
                fifo.set_clock(false);
                fifo.eval();
            };
            fifo.set_reset(true);
            fifo.eval();
            clock(&mut fifo);
            clock(&mut fifo);
            fifo.set_reset(false);
            let (mut inside, mut next) = (VecDeque::new(), 0u64);
            let (mut filled, mut waited) = (false, 0);
            for &(push, pop) in pauses {
                fifo.set_s_valid(push);
                fifo.set_s_data($word(next));
                fifo.set_m_ready(pop);
                fifo.eval();
                assert_eq!(usize::from(fifo.level()), inside.len());
                assert_eq!(fifo.s_ready(), inside.len() < 16);
                filled |= inside.len() == 16;
                waited = if fifo.m_valid() || inside.is_empty() { 0 } else { waited + 1 };
                assert!(waited <= 2, "a word did not fall through in two cycles");
                let taken = fifo.m_valid().then(|| fifo.m_data());
                if let Some(word) = taken {
                    assert_eq!(Some(&word), inside.front());
                    if pop {
                        inside.pop_front();
                    }
                }
                if push && fifo.s_ready() {
                    inside.push_back($word(next));
                    next += 1;
                }
                clock(&mut fifo);
            }
            assert!(filled || pauses.iter().filter(|(push, _)| *push).count() < 100, "the FIFO never filled");
        }
    };
}

bench!(run_64, Fifo64, |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
bench!(run_128, Fifo128, |n: u64| [n as u32, !n as u32, (n * 3) as u32, (n ^ 5) as u32]);

proptest! {
    #[test]
    fn words_come_out_as_they_went_in(seed: u64, mut pauses in prop::collection::vec(any::<(bool, bool)>(), 1..300)) {
        pauses.splice(0..0, [(true, false); 20]);
        run_64(seed, &pauses);
        run_128(seed, &pauses);
    }
}

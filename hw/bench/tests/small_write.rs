//! RX completions, TX indices and interrupt messages as write TLPs, with random pauses.

mod tlp;

use ferronic_bench::models::small_write_128::SmallWrite128;
use ferronic_bench::models::small_write_256::SmallWrite256;
use ferronic_bench::models::small_write_512::SmallWrite512;
use ferronic_bench::models::small_write_64::SmallWrite64;
use ferronic_verilated::PowerUp;
use tlp::{Random, Word};

#[derive(Debug, Clone, PartialEq)]
struct Write {
    addr: u64,
    data: Vec<u32>,
}

macro_rules! bench {
    ($name:ident, $model:ty, $word:ty) => {
        /// `wanting` is the chance in percent that a source wants to write; gives the sources of the writes in order.
        fn $name(seed: u64, wanting: u64, pause: u64, cycles: usize) -> Vec<usize> {
            let mut random = Random(seed);
            let mut block = <$model>::new(PowerUp::Random(seed));
            start!(block);
            let mut offered: [Option<Write>; 3] = [None, None, None];
            let (mut order, mut beats, mut gap, mut due) = (vec![], Vec::<u32>::new(), 0, false);
            for _ in 0..cycles {
                for (i, offer) in offered.iter_mut().enumerate() {
                    if offer.is_none() && random.percent(wanting) {
                        let count = if i == 0 { 1 + random.below(16) } else { 1 };
                        *offer = Some(Write { addr: random.address(), data: (0..count).map(|_| random.next() as u32).collect() });
                    }
                }
                block.set_done_valid(offered[0].is_some());
                block.set_index_valid(offered[1].is_some());
                block.set_m_valid(offered[2].is_some());
                if let Some(write) = &offered[0] {
                    block.set_done_addr(write.addr);
                    block.set_done_dwords(write.data.len() as u8);
                    block.set_done_data(std::array::from_fn(|i| write.data.get(i).copied().unwrap_or(0xDEAD_BEEF)));
                }
                if let Some(write) = &offered[1] {
                    block.set_index_addr(write.addr);
                    block.set_index_data(write.data[0]);
                }
                if let Some(write) = &offered[2] {
                    block.set_m_addr(write.addr);
                    block.set_m_data(write.data[0]);
                }
                let ready = !random.percent(pause);
                block.set_small_ready(ready);
                block.eval();
                let taken = [block.done_ready(), block.index_ready(), block.m_ready()];
                let ends = block.small_valid() && ready && block.small_last();
                assert_eq!(taken.iter().any(|taken| *taken), ends, "ready without the last beat, or the reverse");
                let served = block.small_valid() || offered.iter().all(Option::is_none);
                gap = if served { 0 } else { gap + 1 };
                assert!(gap < 2, "idle though a source wants to write");
                assert!(block.small_valid() || !due, "idle though another source wants to write");
                if block.small_valid() && ready {
                    beats.extend(block.small_data().lanes());
                }
                if ends {
                    let from = taken.iter().position(|taken| *taken).unwrap();
                    let write = offered[from].take().expect("ready without valid");
                    beats.truncate(write.data.len());
                    assert_eq!(Write { addr: block.small_addr(), data: std::mem::take(&mut beats) }, write);
                    assert_eq!(usize::from(block.small_dwords()), write.data.len());
                    let last_be = if write.data.len() > 1 { 15 } else { 0 };
                    assert_eq!((block.small_first_be(), block.small_last_be()), (15, last_be));
                    order.push(from);
                }
                due = ends && offered.iter().any(Option::is_some);
                tick!(block);
            }
            order
        }
    };
}

bench!(run_64, SmallWrite64, u64);
bench!(run_128, SmallWrite128, [u32; 4]);
bench!(run_256, SmallWrite256, [u32; 8]);
bench!(run_512, SmallWrite512, [u32; 16]);

/// Caught when tried: the second beat of a completion the same as the first, last BE set for one dword, `m_ready` with
/// the grant; an idle cycle between two sources; a beat too many.
#[test]
fn each_write_is_one_whole_tlp() {
    for seed in 0..40 {
        for pause in [0, 50, 90] {
            for run in [run_64, run_128, run_256, run_512] {
                assert!(run(seed, 15, pause, 2000).len() > 30);
            }
        }
    }
}

/// Caught when tried: `done` always first.
#[test]
fn sources_take_turns() {
    for run in [run_64, run_128, run_256, run_512] {
        let order = run(7, 100, 30, 3000);
        assert!(order.len() > 200);
        for three in order.windows(3) {
            let mut sorted = three.to_vec();
            sorted.sort();
            assert_eq!(sorted, [0, 1, 2]);
        }
    }
}

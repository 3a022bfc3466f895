//! Ring arithmetic against a queue that simply holds numbers.

use std::collections::VecDeque;

use ferronic::ring::{Consumer, Producer};
use ferronic_contract::ring::RingSize;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Post(u16),
    Publish,
    Retire(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![(1..400u16).prop_map(Step::Post), Just(Step::Publish), (1..400u16).prop_map(Step::Retire)];
    prop::collection::vec(step, 1..if cfg!(miri) { 12 } else { 600 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 200 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_producer_is_a_bounded_queue(log2 in 3..=15u32, laps in 0..3u32, steps in steps()) {
        let size = RingSize::new(1 << log2).unwrap();
        let entries = size.entries();
        let mut ring = Producer::new(size);
        // Posted numbers that have not come back, as 64-bit numbers that never wrap.
        let mut model: VecDeque<u64> = VecDeque::new();
        let (mut next, mut published) = (0u64, 0u64);
        // Start near the wrap at 2^16 in most cases.
        for _ in 0..laps * if cfg!(miri) { 30 } else { 65_000 } {
            ring.post().unwrap();
            ring.publish().unwrap();
            ring.retire().unwrap();
            (next, published) = (next + 1, published + 1);
        }
        for step in steps {
            match step {
                Step::Post(count) => for _ in 0..count {
                    let slot = ring.post();
                    if model.len() == entries as usize {
                        prop_assert_eq!(slot, None);
                    } else {
                        prop_assert_eq!(slot, Some((next % u64::from(entries)) as usize));
                        model.push_back(next);
                        next += 1;
                    }
                },
                Step::Publish => {
                    prop_assert_eq!(ring.publish(), (published != next).then_some(next as u16));
                    published = next;
                }
                Step::Retire(count) => for _ in 0..count {
                    let front = model.front().copied().filter(|&number| number < published);
                    prop_assert_eq!(ring.retire(), front.map(|number| (number % u64::from(entries)) as usize));
                    if front.is_some() {
                        model.pop_front();
                    }
                },
            }
            let done = model.front().copied().unwrap_or(next);
            prop_assert_eq!(ring.outstanding() as usize, model.len());
            prop_assert_eq!(u32::from(ring.free()), entries - model.len() as u32);
            prop_assert_eq!(u64::from(ring.unpublished()), next - published);
            prop_assert_eq!(ring.done(), done as u16);
            prop_assert!(ring.plausible(done as u16) && ring.plausible(published as u16));
            prop_assert!(!ring.plausible((published + 1) as u16));
            prop_assert!(!ring.plausible(done.wrapping_sub(1) as u16));
        }
    }
}

#[test]
fn the_consumer_expects_each_index_once_with_alternating_phase() {
    for log2 in 3..=15 {
        let size = RingSize::new(1 << log2).unwrap();
        let mut consumer = Consumer::new(size);
        for count in 0..if cfg!(miri) { 300 } else { 150_000u64 } {
            let expected = consumer.expect(0);
            assert_eq!(expected.index, count as u16);
            assert_eq!(expected.slot, (count % u64::from(size.entries())) as usize);
            assert_eq!(expected.phase, (count / u64::from(size.entries())) % 2 == 0, "{count} of {log2}");
            let ahead = consumer.expect(3);
            assert_eq!(ahead.index, (count + 3) as u16);
            consumer.take();
            assert_eq!(consumer.next(), (count + 1) as u16);
        }
    }
}

//! The state before reset: reproducible by its seed, on any thread.

use std::collections::HashSet;
use std::thread;

use ferronic_verilated::PowerUp;
use ferronic_verilated_test_models::power_up::PowerUp as Model;
use ferronic_verilated_test_models::power_up_zero::PowerUpZero;

type State = (u8, [u32; 4], Vec<u32>);

fn state(power_up: PowerUp) -> State {
    let mut m = Model::new(power_up);
    let words = (0..16)
        .map(|address| {
            m.set_address(address);
            m.eval();
            m.word()
        })
        .collect();
    (m.narrow(), m.wide(), words)
}

#[test]
fn the_seed_decides() {
    assert_eq!(state(PowerUp::Random(7)), state(PowerUp::Random(7)));
    let states: HashSet<State> = (0..50).map(|seed| state(PowerUp::Random(seed))).collect();
    assert_eq!(states.len(), 50, "every seed gives another state");
}

#[test]
fn every_bit_takes_both_values() {
    let (mut ones, mut zeros) = ([0u32; 4], [0u32; 4]);
    for seed in 0..64 {
        let (_, wide, _) = state(PowerUp::Random(seed));
        for i in 0..4 {
            ones[i] |= wide[i];
            zeros[i] |= !wide[i];
        }
    }
    assert_eq!((ones, zeros), ([u32::MAX; 4], [u32::MAX; 4]));
}

#[test]
fn zeros_and_ones() {
    assert_eq!(state(PowerUp::Zeros), (0, [0; 4], vec![0; 16]));
    assert_eq!(
        state(PowerUp::Ones),
        (0xff, [u32::MAX; 4], vec![u32::MAX; 16])
    );
}

#[test]
fn a_model_without_random_power_up_is_zero() {
    let mut m = PowerUpZero::new(PowerUp::Random(3));
    m.eval();
    assert_eq!((m.narrow(), m.wide(), m.word()), (0, [0; 4], 0));
}

#[test]
fn models_constructed_at_once_do_not_disturb_each_other() {
    let expected: Vec<State> = (0..8).map(|seed| state(PowerUp::Random(seed))).collect();
    thread::scope(|scope| {
        for seed in 0..8 {
            let expected = &expected;
            scope.spawn(move || {
                for _ in 0..200 {
                    assert_eq!(
                        state(PowerUp::Random(seed)),
                        expected[seed as usize],
                        "seed {seed}"
                    );
                }
            });
        }
    });
}

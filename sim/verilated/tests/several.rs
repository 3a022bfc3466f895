//! Several models in one program: of one package, of two packages under one name, and on several threads.

use std::thread;

use ferronic_verilated::{PowerUp, Simulation};
use ferronic_verilated_example::{fifo::Fifo, wide_fifo::WideFifo};
use ferronic_verilated_test_models::fifo::Fifo as Inverter;

/// A digest of all outputs under pseudo-random traffic, including the state before reset.
fn digest(seed: u64, cycles: u32) -> u64 {
    let mut fifo = Fifo::new(PowerUp::Random(seed));
    let (mut random, mut digest) = (0x9e37_79b9_7f4a_7c15_u64, 0_u64);
    for cycle in 0..cycles {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        fifo.set_rst(cycle == 2);
        fifo.set_push(cycle > 2 && random & 1 != 0 && !fifo.full());
        fifo.set_pop(cycle > 2 && random & 2 != 0 && !fifo.empty());
        fifo.set_push_data((random >> 8) as u8);
        fifo.set_clk(false);
        fifo.eval();
        let outputs = u64::from(fifo.pop_data()) << 16
            | u64::from(fifo.level()) << 2
            | u64::from(fifo.full());
        digest = (digest ^ outputs).wrapping_mul(0x0000_0100_0000_01b3);
        fifo.set_clk(true);
        fifo.eval();
    }
    assert_eq!(fifo.failure(), None);
    digest
}

#[test]
fn threads_get_the_same_results() {
    let expected: Vec<u64> = (0..4).map(|seed| digest(seed, 20_000)).collect();
    assert_ne!(
        expected[0], expected[1],
        "the memory's power-up state shows"
    );
    let threads: Vec<_> = (0..4)
        .map(|seed| thread::spawn(move || digest(seed, 20_000)))
        .collect();
    let got: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(got, expected);
}

#[test]
fn models_of_one_name_in_two_packages_are_apart() {
    let mut inverter = Inverter::new(PowerUp::Zeros);
    let mut fifo = Fifo::new(PowerUp::Zeros);
    let mut wide = WideFifo::new(PowerUp::Zeros);
    inverter.set_a(0x55);
    inverter.eval();
    fifo.eval();
    wide.eval();
    assert_eq!(inverter.y(), 0x2a);
    assert!(fifo.empty() && wide.empty());
}

#[test]
fn models_are_send_and_share_their_common_part() {
    fn is_send<T: Send>(_: &T) {}
    fn time(simulation: &mut Simulation) {
        simulation.set_time(5);
    }
    let (mut fifo, mut inverter) = (Fifo::new(PowerUp::Ones), Inverter::new(PowerUp::Ones));
    is_send(&fifo);
    time(&mut fifo);
    time(&mut inverter);
    assert!(!fifo.failed() && !inverter.finished());
}

//! Typed ports of every width class.

use ferronic_verilated::PowerUp;
use ferronic_verilated_test_models::ports::Ports;

fn clock(model: &mut Ports) {
    for level in [false, true] {
        model.set_clk(level);
        model.eval();
    }
}

#[test]
fn every_width_goes_in_and_comes_out() {
    let mut m = Ports::new(PowerUp::Random(1));
    let wide: [u32; 16] = std::array::from_fn(|i| 0x0101_0101 * (i as u32 + 1));
    m.set_i1(true);
    m.set_i5(0x15);
    m.set_i8(0xa5);
    m.set_i12(0xabc);
    m.set_i16(0x1234);
    m.set_i24(0xab_cdef);
    m.set_i32(0x1234_5678);
    m.set_i48(0xabcd_ef01_2345);
    m.set_i64(0x0123_4567_89ab_cdef);
    m.set_i65([1, 2, 1]);
    m.set_i128([1, 2, 3, 4]);
    m.set_i512(wide);
    clock(&mut m);
    assert!(m.o1());
    assert_eq!(
        (m.o5(), m.o8(), m.o12(), m.o16()),
        (0x15, 0xa5, 0xabc, 0x1234)
    );
    assert_eq!(
        (m.o24(), m.o32(), m.o48()),
        (0xab_cdef, 0x1234_5678, 0xabcd_ef01_2345)
    );
    assert_eq!(
        (m.o64(), m.o65(), m.o128()),
        (0x0123_4567_89ab_cdef, [1, 2, 1], [1, 2, 3, 4])
    );
    assert_eq!(m.o512(), wide);

    m.set_i1(false);
    m.set_i512([0; 16]);
    assert!(m.o1(), "outputs hold until the edge");
    assert_eq!(m.i512(), [0; 16], "inputs read back");
    clock(&mut m);
    assert!(!m.o1());
    assert_eq!(m.o512(), [0; 16]);
}

#[test]
fn bits_beyond_the_width_are_ignored() {
    let mut m = Ports::new(PowerUp::Zeros);
    m.set_i5(0xff);
    m.set_i12(0xffff);
    m.set_i24(u32::MAX);
    m.set_i48(u64::MAX);
    m.set_i65([u32::MAX; 3]);
    clock(&mut m);
    assert_eq!(
        (m.o5(), m.o12(), m.o24(), m.o48()),
        (0x1f, 0xfff, 0xff_ffff, 0xffff_ffff_ffff)
    );
    assert_eq!(m.o65(), [u32::MAX, u32::MAX, 1]);
}

#[test]
fn names_that_rust_or_the_model_has_taken_still_work() {
    let mut m = Ports::new(PowerUp::Zeros);
    m.set_match(5);
    m.eval();
    assert_eq!(
        (m.r#match(), m.self_(), m.dump_(), m.set_i5_()),
        (5, 6, 7, 8)
    );
}

#[test]
fn inputs_begin_at_zero_whatever_the_seed() {
    for seed in 0..20 {
        let m = Ports::new(PowerUp::Random(seed));
        assert!(!m.clk() && !m.i1());
        assert_eq!((m.i8(), m.i64(), m.i512()), (0, 0, [0; 16]));
    }
}

//! The read arbiter: every read goes out once, in its source's order, with the right header.
//!
//! Caught when tried: `last_be` not cleared for a read of one dword, the source served last served first again
//! (a source waits for ever), and the tag table told before the transmitter took the read.

mod host;

use ferronic_bench::models::arbiter::Arbiter;
use ferronic_verilated::PowerUp;
use host::Random;
use std::collections::VecDeque;

/// Dwords, first and last byte enables of a read, byte by byte.
fn header(address: u64, bytes: u16) -> (u16, u8, u8) {
    let (first, last) = (address >> 2, (address + u64::from(bytes) - 1) >> 2);
    let enables = |dword: u64| {
        (0..4).filter(|n| (address..address + u64::from(bytes)).contains(&(4 * dword + n))).map(|n| 1 << n).sum::<u8>()
    };
    ((last - first + 1) as u16, enables(first), if first == last { 0 } else { enables(last) })
}

#[test]
fn every_read_goes_out_once_with_its_header() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut arbiter = Arbiter::new(PowerUp::Random(seed));
        arbiter.set_reset(true);
        let clock = |arbiter: &mut Arbiter| {
            arbiter.set_clock(true);
            arbiter.eval();
            arbiter.set_clock(false);
            arbiter.eval();
        };
        // The first edge that a model sees is none.
        (0..2).for_each(|_| clock(&mut arbiter));
        arbiter.set_reset(false);
        let mut sources: [VecDeque<(u64, u16, u8)>; 3] = Default::default();
        let mut taken_over = VecDeque::new();
        let mut told: Option<(u8, u64, u16)> = None;
        let (mut served, mut passed) = ([0u32; 3], [0u32; 3]);
        let mut serial = 0u64;
        // A transmitter that stalls, then one that never does.
        for now in 0..8000u64 {
            for (n, source) in sources.iter_mut().enumerate() {
                if source.is_empty() && !random.one_in(4) {
                    let address = (random.next() & !0xFFF) | random.below(4096);
                    let most = if random.one_in(2) { 9 } else { 4096 };
                    let bytes = 1 + random.below(most.min(4096 - (address & 4095))) as u16;
                    serial += 1;
                    source.push_back((address, bytes, (n as u8) << 6 | (serial & 63) as u8));
                }
            }
            let of = |n: usize| sources[n].front().copied().unwrap_or_default();
            let (a, b, c) = (of(0), of(1), of(2));
            arbiter.set_a_valid(!sources[0].is_empty());
            arbiter.set_a_addr(a.0);
            arbiter.set_a_bytes(a.1);
            arbiter.set_a_tag(a.2);
            arbiter.set_b_valid(!sources[1].is_empty());
            arbiter.set_b_addr(b.0);
            arbiter.set_b_bytes(b.1);
            arbiter.set_b_tag(b.2);
            arbiter.set_c_valid(!sources[2].is_empty());
            arbiter.set_c_addr(c.0);
            arbiter.set_c_bytes(c.1);
            arbiter.set_c_tag(c.2);
            arbiter.set_rd_ready(now > 4000 || random.one_in(3));
            arbiter.eval();
            assert_eq!(arbiter.i_valid(), told.is_some());
            if let Some((tag, address, bytes)) = told.take() {
                assert_eq!((arbiter.i_tag(), arbiter.i_bytes()), (tag, bytes));
                assert_eq!(u64::from(arbiter.i_addr()), address & 4095);
            }
            for (n, ready) in [arbiter.a_ready(), arbiter.b_ready(), arbiter.c_ready()].into_iter().enumerate() {
                if ready && !sources[n].is_empty() {
                    for other in 0..3 {
                        passed[other] = if other == n || sources[other].is_empty() { 0 } else { passed[other] + 1 };
                        assert!(passed[other] <= 2, "source {other} was passed over three times");
                    }
                    let taken = sources[n].pop_front().unwrap();
                    served[n] += 1;
                    taken_over.push_back(taken);
                }
            }
            if arbiter.rd_valid() && arbiter.rd_ready() {
                let (address, bytes, tag) = taken_over.pop_front().expect("a read that nobody asked for");
                assert_eq!((arbiter.rd_addr(), arbiter.rd_tag()), (address, tag));
                let found = (arbiter.rd_dwords(), arbiter.rd_first_be(), arbiter.rd_last_be());
                assert_eq!(found, header(address, bytes), "{bytes} bytes at {address:x}");
                told = Some((tag, address, bytes));
            }
            clock(&mut arbiter);
        }
        assert!(served.iter().all(|n| *n > 500), "{served:?}");
    }
}

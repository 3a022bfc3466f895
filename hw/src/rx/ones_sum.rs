//! The one's-complement sum of a frame's 16-bit words (RFC 1071).
//!
//! ```text
//! dwords → sums of four → sum of the beat → folded to 18 bits → sum of the frame → folded twice → out
//! ```
//!
//! Words of 32 bits may be added as well as words of 16, and in either byte order: 2^16 is 1 modulo 0xFFFF. The bytes
//! are swapped last. As nothing is ever subtracted, the sum is 0 only when every byte is 0. A beat a cycle; the sum
//! comes [`LATENCY`] cycles after the last beat. It holds for frames of up to 16 KiB.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from a frame's last beat to its sum.
pub const LATENCY: usize = 6;

/// A beat of W bits, as P = 128·N bits with zeros on top.
#[derive(LogicBlock)]
pub struct OnesSum<const W: usize, const P: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    /// Bytes that do not count are 0.
    pub data: Signal<In, Bits<W>>,
    pub last: Signal<In, Bit>,
    pub out_valid: Signal<Out, Bit>,
    /// Of big-endian words, as a number.
    pub sum: Signal<Out, Bits<16>>,
    a_valid: DFF<Bit>,
    a_last: DFF<Bit>,
    part: [DFF<Bits<34>>; N],
    b_valid: DFF<Bit>,
    b_last: DFF<Bit>,
    beat: DFF<Bits<36>>,
    c_valid: DFF<Bit>,
    c_last: DFF<Bit>,
    folded: DFF<Bits<18>>,
    d_last: DFF<Bit>,
    fresh: DFF<Bit>,
    total: DFF<Bits<30>>,
    e_last: DFF<Bit>,
    once: DFF<Bits<17>>,
    f_last: DFF<Bit>,
    twice: DFF<Bits<16>>,
    wide: Signal<Local, Bits<P>>,
    w0: Signal<Local, Bits<32>>,
    w1: Signal<Local, Bits<32>>,
    w2: Signal<Local, Bits<32>>,
    w3: Signal<Local, Bits<32>>,
    four: Signal<Local, Bits<34>>,
    all: Signal<Local, Bits<36>>,
    low: Signal<Local, Bits<16>>,
    middle: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<4>>,
    so_far: Signal<Local, Bits<30>>,
    total_low: Signal<Local, Bits<16>>,
    total_high: Signal<Local, Bits<14>>,
    once_low: Signal<Local, Bits<16>>,
    once_high: Signal<Local, Bits<1>>,
}

impl<const W: usize, const P: usize, const N: usize> Default for OnesSum<W, P, N> {
    fn default() -> Self {
        assert!(P == 128 * N && W <= P && P < W + 128);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            data: Default::default(),
            last: Default::default(),
            out_valid: Default::default(),
            sum: Default::default(),
            a_valid: Default::default(),
            a_last: Default::default(),
            part: std::array::from_fn(|_| Default::default()),
            b_valid: Default::default(),
            b_last: Default::default(),
            beat: Default::default(),
            c_valid: Default::default(),
            c_last: Default::default(),
            folded: Default::default(),
            d_last: Default::default(),
            fresh: Default::default(),
            total: Default::default(),
            e_last: Default::default(),
            once: Default::default(),
            f_last: Default::default(),
            twice: Default::default(),
            wide: Default::default(),
            w0: Default::default(),
            w1: Default::default(),
            w2: Default::default(),
            w3: Default::default(),
            four: Default::default(),
            all: Default::default(),
            low: Default::default(),
            middle: Default::default(),
            high: Default::default(),
            so_far: Default::default(),
            total_low: Default::default(),
            total_high: Default::default(),
            once_low: Default::default(),
            once_high: Default::default(),
        }
    }
}

impl<const W: usize, const P: usize, const N: usize> Logic for OnesSum<W, P, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_valid, a_last, b_valid, b_last, beat, c_valid, c_last, folded);
        dff_setup!(self, clock, d_last, fresh, total, e_last, once, f_last, twice);

        self.a_valid.d.next = self.valid.val();
        self.a_last.d.next = self.last.val();
        self.wide.next = bit_cast::<P, W>(self.data.val());
        self.w0.next = 0.into();
        self.w1.next = 0.into();
        self.w2.next = 0.into();
        self.w3.next = 0.into();
        self.four.next = 0.into();
        self.all.next = 0.into();
        for i in 0_usize..N {
            self.part[i].clock.next = self.clock.val();
            self.w0.next = self.wide.val().get_bits::<32>(128 * i);
            self.w1.next = self.wide.val().get_bits::<32>(128 * i + 32);
            self.w2.next = self.wide.val().get_bits::<32>(128 * i + 64);
            self.w3.next = self.wide.val().get_bits::<32>(128 * i + 96);
            self.part[i].d.next = (bit_cast::<34, 32>(self.w0.val()) + bit_cast::<34, 32>(self.w1.val()))
                + (bit_cast::<34, 32>(self.w2.val()) + bit_cast::<34, 32>(self.w3.val()));
            self.four.next = self.part[i].q.val();
            self.all.next = self.all.val() + bit_cast::<36, 34>(self.four.val());
        }

        self.b_valid.d.next = self.a_valid.q.val();
        self.b_last.d.next = self.a_last.q.val();
        self.beat.d.next = self.all.val();

        self.c_valid.d.next = self.b_valid.q.val();
        self.c_last.d.next = self.b_last.q.val();
        self.low.next = self.beat.q.val().get_bits::<16>(0);
        self.middle.next = self.beat.q.val().get_bits::<16>(16);
        self.high.next = self.beat.q.val().get_bits::<4>(32);
        self.folded.d.next = bit_cast::<18, 16>(self.low.val())
            + bit_cast::<18, 16>(self.middle.val())
            + bit_cast::<18, 4>(self.high.val());

        self.so_far.next = self.total.q.val();
        if self.fresh.q.val() {
            self.so_far.next = 0.into();
        }
        self.d_last.d.next = self.c_valid.q.val() & self.c_last.q.val();
        if self.c_valid.q.val() {
            self.total.d.next = self.so_far.val() + bit_cast::<30, 18>(self.folded.q.val());
            self.fresh.d.next = self.c_last.q.val();
        }

        self.e_last.d.next = self.d_last.q.val();
        self.total_low.next = self.total.q.val().get_bits::<16>(0);
        self.total_high.next = self.total.q.val().get_bits::<14>(16);
        self.once.d.next = bit_cast::<17, 16>(self.total_low.val()) + bit_cast::<17, 14>(self.total_high.val());

        self.f_last.d.next = self.e_last.q.val();
        self.once_low.next = self.once.q.val().get_bits::<16>(0);
        self.once_high.next = self.once.q.val().get_bits::<1>(16);
        self.twice.d.next = self.once_low.val() + bit_cast::<16, 1>(self.once_high.val());

        self.out_valid.next = self.f_last.q.val();
        self.sum.next = (self.twice.q.val() << 8) | (self.twice.q.val() >> 8);

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.c_valid.d.next = false;
            self.d_last.d.next = false;
            self.e_last.d.next = false;
            self.f_last.d.next = false;
            self.fresh.d.next = true;
        }
    }
}

//! The one's-complement sum of everything between byte 14 and the transport header, and of the IPv4 header in it.
//!
//! ```text
//! place → mask → dwords summed, masked → fours → halves → all → folded, out
//! ```
//!
//! The headers are whole dwords of the grid. What lies between two places is the sum in front of the second less
//! that in front of the first: one tree of adders does both sums. Words are added as they lie, the first byte
//! lowest, and swapped at the end: the sum is the same (RFC 1071, section 2). Answered six cycles after `place`.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct HeaderSum {
    pub clock: Signal<In, Clock>,
    /// Dwords in front of the transport header, and in front of the network header.
    pub place: Signal<In, Bits<5>>,
    pub ahead: Signal<In, Bits<2>>,
    /// Dwords 0 to 27, one cycle later than `place`.
    pub grid: Signal<In, Bits<896>>,
    pub sum: Signal<Out, Bits<16>>,
    /// The sum from the network header on is that of a right IPv4 header.
    pub good: Signal<Out, Bit>,
    mask: DFF<Bits<28>>,
    a_one: DFF<Bit>,
    a_two: DFF<Bit>,
    b_one: DFF<Bit>,
    b_two: DFF<Bit>,
    dwords: [DFF<Bits<17>>; 28],
    fours: [DFF<Bits<19>>; 7],
    c_tags: DFF<Bits<18>>,
    low: DFF<Bits<21>>,
    high: DFF<Bits<21>>,
    d_tags: DFF<Bits<18>>,
    all: DFF<Bits<22>>,
    ip: DFF<Bits<22>>,
    folded: DFF<Bits<16>>,
    right: DFF<Bit>,
    front: Signal<Local, Bits<16>>,
    back: Signal<Local, Bits<16>>,
    outer: Signal<Local, Bits<18>>,
    inner: Signal<Local, Bits<18>>,
    once: Signal<Local, Bits<17>>,
    ip_once: Signal<Local, Bits<17>>,
}

impl Logic for HeaderSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, mask, a_one, a_two, b_one, b_two, c_tags, low, high, d_tags, all, ip, folded, right);
        self.mask.d.next = 0.into();
        for i in 0_usize..28 {
            self.mask.d.next = self.mask.d.val().replace_bit(i, self.place.val().index() > i);
        }
        self.a_one.d.next = self.ahead.val() != 0;
        self.a_two.d.next = self.ahead.val() == 2;

        self.front.next = 0.into();
        self.back.next = 0.into();
        for i in 0_usize..28 {
            self.dwords[i].clock.next = self.clock.val();
            self.dwords[i].d.next = 0.into();
            self.front.next = self.grid.val().get_bits::<16>(32 * i);
            self.back.next = self.grid.val().get_bits::<16>(32 * i + 16);
            if self.mask.q.val().get_bit(i) {
                self.dwords[i].d.next = bit_cast::<17, 16>(self.front.val()) + bit_cast::<17, 16>(self.back.val());
            }
        }
        for i in 0_usize..7 {
            self.fours[i].clock.next = self.clock.val();
        }
        self.fours[0].d.next = bit_cast::<19, 17>(self.dwords[0].q.val())
            + bit_cast::<19, 17>(self.dwords[1].q.val())
            + bit_cast::<19, 17>(self.dwords[2].q.val())
            + bit_cast::<19, 17>(self.dwords[3].q.val());
        self.fours[1].d.next = bit_cast::<19, 17>(self.dwords[4].q.val())
            + bit_cast::<19, 17>(self.dwords[5].q.val())
            + bit_cast::<19, 17>(self.dwords[6].q.val())
            + bit_cast::<19, 17>(self.dwords[7].q.val());
        self.fours[2].d.next = bit_cast::<19, 17>(self.dwords[8].q.val())
            + bit_cast::<19, 17>(self.dwords[9].q.val())
            + bit_cast::<19, 17>(self.dwords[10].q.val())
            + bit_cast::<19, 17>(self.dwords[11].q.val());
        self.fours[3].d.next = bit_cast::<19, 17>(self.dwords[12].q.val())
            + bit_cast::<19, 17>(self.dwords[13].q.val())
            + bit_cast::<19, 17>(self.dwords[14].q.val())
            + bit_cast::<19, 17>(self.dwords[15].q.val());
        self.fours[4].d.next = bit_cast::<19, 17>(self.dwords[16].q.val())
            + bit_cast::<19, 17>(self.dwords[17].q.val())
            + bit_cast::<19, 17>(self.dwords[18].q.val())
            + bit_cast::<19, 17>(self.dwords[19].q.val());
        self.fours[5].d.next = bit_cast::<19, 17>(self.dwords[20].q.val())
            + bit_cast::<19, 17>(self.dwords[21].q.val())
            + bit_cast::<19, 17>(self.dwords[22].q.val())
            + bit_cast::<19, 17>(self.dwords[23].q.val());
        self.fours[6].d.next = bit_cast::<19, 17>(self.dwords[24].q.val())
            + bit_cast::<19, 17>(self.dwords[25].q.val())
            + bit_cast::<19, 17>(self.dwords[26].q.val())
            + bit_cast::<19, 17>(self.dwords[27].q.val());
        self.b_one.d.next = self.a_one.q.val();
        self.b_two.d.next = self.a_two.q.val();

        // What stands in front of the network header.
        self.outer.next = 0.into();
        self.inner.next = 0.into();
        if self.b_one.q.val() {
            self.outer.next = bit_cast::<18, 17>(self.dwords[0].q.val());
        }
        if self.b_two.q.val() {
            self.inner.next = bit_cast::<18, 17>(self.dwords[1].q.val());
        }
        self.c_tags.d.next = self.outer.val() + self.inner.val();
        self.d_tags.d.next = self.c_tags.q.val();

        self.low.d.next = (bit_cast::<21, 19>(self.fours[0].q.val()) + bit_cast::<21, 19>(self.fours[1].q.val()))
            + (bit_cast::<21, 19>(self.fours[2].q.val()) + bit_cast::<21, 19>(self.fours[3].q.val()));
        self.high.d.next = (bit_cast::<21, 19>(self.fours[4].q.val()) + bit_cast::<21, 19>(self.fours[5].q.val()))
            + bit_cast::<21, 19>(self.fours[6].q.val());
        self.all.d.next = bit_cast::<22, 21>(self.low.q.val()) + bit_cast::<22, 21>(self.high.q.val());
        self.ip.d.next = (bit_cast::<22, 21>(self.low.q.val()) + bit_cast::<22, 21>(self.high.q.val()))
            - bit_cast::<22, 18>(self.d_tags.q.val());

        self.once.next = bit_cast::<17, 16>(self.all.q.val().get_bits::<16>(0))
            + bit_cast::<17, 6>(self.all.q.val().get_bits::<6>(16));
        self.folded.d.next =
            self.once.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.once.val().get_bits::<1>(16));
        // A carry never leaves all ones behind: the upper part is small.
        self.ip_once.next = bit_cast::<17, 16>(self.ip.q.val().get_bits::<16>(0))
            + bit_cast::<17, 6>(self.ip.q.val().get_bits::<6>(16));
        self.right.d.next = self.ip_once.val() == 0xFFFF;

        self.sum.next = (bit_cast::<16, 8>(self.folded.q.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.folded.q.val().get_bits::<8>(8));
        self.good.next = self.right.q.val();
    }
}

//! Byte order of header dwords: the wire's first byte sits in bits 7:0 of a lane, the specification draws
//! it in bits 31:24. Wires only.

use rust_hdl_core::prelude::*;

/// Reverses the four bytes of each of L dwords; W = 32 L.
#[derive(LogicBlock)]
pub struct Swap<const W: usize, const L: usize> {
    pub a: Signal<In, Bits<W>>,
    pub b: Signal<Out, Bits<W>>,
    all: Signal<Local, Bits<W>>,
    octet: Signal<Local, Bits<8>>,
    top: Constant<Bits<16>>,
}

impl<const W: usize, const L: usize> Default for Swap<W, L> {
    fn default() -> Self {
        assert_eq!(W, 32 * L);
        Self {
            a: Default::default(),
            b: Default::default(),
            all: Default::default(),
            octet: Default::default(),
            top: Constant::new((W as u64 - 8).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize> Logic for Swap<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        // Bytes enter at the top, in the order in which they are to lie from the bottom.
        self.all.next = 0.into();
        self.octet.next = 0.into();
        for i in 0_usize..L {
            for j in 0_usize..4 {
                self.octet.next = self.a.val().get_bits::<8>(i * 32 + 24 - j * 8);
                self.all.next = (self.all.val() >> 8) | (bit_cast::<W, 8>(self.octet.val()) << self.top.val());
            }
        }
        self.b.next = self.all.val();
    }
}

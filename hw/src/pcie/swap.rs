//! Byte order of header dwords: the wire's first byte sits in bits 7:0 of a lane, the specification draws
//! it in bits 31:24. Wires only.

use rust_hdl_core::prelude::*;

/// Reverses the four bytes of each of L dwords; W = 32 L.
#[derive(LogicBlock, Default)]
pub struct Swap<const W: usize, const L: usize> {
    pub a: Signal<In, Bits<W>>,
    pub b: Signal<Out, Bits<W>>,
    all: Signal<Local, Bits<W>>,
    octet: Signal<Local, Bits<8>>,
    lane: Signal<Local, Bits<W>>,
    place: [Signal<Local, Bits<5>>; 4],
}

impl<const W: usize, const L: usize> Logic for Swap<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        self.all.next = 0.into();
        self.octet.next = 0.into();
        self.lane.next = 0.into();
        self.place[0].next = 24.into();
        self.place[1].next = 16.into();
        self.place[2].next = 8.into();
        self.place[3].next = 0.into();
        for i in 0_usize..L {
            for j in 0_usize..4 {
                self.octet.next = self.a.val().get_bits::<8>(i * 32 + j * 8);
                self.lane.next = bit_cast::<W, 8>(self.octet.val()) << (i.to_bits::<16>() << 5);
                self.all.next = self.all.val() | (self.lane.val() << self.place[j].val());
            }
        }
        self.b.next = self.all.val();
    }
}

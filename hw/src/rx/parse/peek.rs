//! What a dword would mean if an extension header began with it.
//!
//! It is worked out for every place where one can begin, before anybody knows whether one does: 12 bits a place
//! are carried along instead of 32, and a step of the walk need not take them apart.

use super::kind::Kind;
use rust_hdl_core::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Peek {
    /// First byte in bits 7:0.
    pub dword: Signal<In, Bits<32>>,
    /// Kind of what comes next 3:0, length field 8:4 (31: 31 or more, which no window holds), segments left 9,
    /// fragment offset not 0 10, more fragments 11.
    pub code: Signal<Out, Bits<12>>,
    next: Kind,
    size: Signal<Local, Bits<8>>,
    units: Signal<Local, Bits<5>>,
    fourth: Signal<Local, Bits<8>>,
    offset_high: Signal<Local, Bits<8>>,
    offset_low: Signal<Local, Bits<5>>,
    later: Signal<Local, Bit>,
    more: Signal<Local, Bit>,
}

impl Logic for Peek {
    #[hdl_gen]
    fn update(&mut self) {
        self.next.number.next = self.dword.val().get_bits::<8>(0);
        self.next.v6.next = true;
        self.size.next = self.dword.val().get_bits::<8>(8);
        self.units.next = self.size.val().get_bits::<5>(0);
        if self.size.val() > 31 {
            self.units.next = 31.into();
        }
        self.fourth.next = self.dword.val().get_bits::<8>(24);
        // The offset is the upper 13 of 16 bits, network order.
        self.offset_high.next = self.dword.val().get_bits::<8>(16);
        self.offset_low.next = self.dword.val().get_bits::<5>(27);
        self.later.next = self.offset_high.val().any() | self.offset_low.val().any();
        self.more.next = self.dword.val().get_bit(24);
        self.code.next = bit_cast::<12, 4>(self.next.kind.val())
            | (bit_cast::<12, 5>(self.units.val()) << 4)
            | (bit_cast::<12, 1>(self.fourth.val().any().into()) << 9)
            | (bit_cast::<12, 1>(self.later.val().into()) << 10)
            | (bit_cast::<12, 1>(self.more.val().into()) << 11);
    }
}

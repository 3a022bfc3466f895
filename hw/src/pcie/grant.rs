//! Whose turn it is to send, and the header of its TLP.
//!
//! ```text
//! valids ─→ round robin ─→ turn (register) ─→ fields of that source ─→ header
//! ```
//!
//! The turn passes on in the cycle in which the last beat of a TLP is taken, to the next source that wants to send.
//! When there is none it stays: what its source offers in the next cycle is taken at once, so that TLPs follow each
//! other without a gap, of one source or of several. The address decides between a header of three dwords (below
//! 4 GiB) and of four.

use crate::common::join::Join;
use crate::pcie::swap::Swap;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Grant {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bdf: Signal<In, Bits<16>>,
    pub master_enable: Signal<In, Bit>,
    pub np_ready: Signal<In, Bit>,
    pub cpl_valid: Signal<In, Bit>,
    pub cpl_status: Signal<In, Bits<3>>,
    pub cpl_byte_count: Signal<In, Bits<12>>,
    pub cpl_lower: Signal<In, Bits<7>>,
    pub cpl_requester: Signal<In, Bits<16>>,
    pub cpl_tag: Signal<In, Bits<8>>,
    pub cpl_tc: Signal<In, Bits<3>>,
    pub cpl_attr: Signal<In, Bits<2>>,
    pub cpl_dwords: Signal<In, Bits<2>>,
    pub pay_valid: Signal<In, Bit>,
    pub pay_addr: Signal<In, Bits<64>>,
    pub pay_wide: Signal<In, Bit>,
    pub pay_dwords: Signal<In, Bits<11>>,
    pub pay_first_be: Signal<In, Bits<4>>,
    pub pay_last_be: Signal<In, Bits<4>>,
    pub small_valid: Signal<In, Bit>,
    pub small_addr: Signal<In, Bits<64>>,
    pub small_wide: Signal<In, Bit>,
    pub small_dwords: Signal<In, Bits<11>>,
    pub small_first_be: Signal<In, Bits<4>>,
    pub small_last_be: Signal<In, Bits<4>>,
    pub rd_valid: Signal<In, Bit>,
    pub rd_addr: Signal<In, Bits<64>>,
    pub rd_wide: Signal<In, Bit>,
    pub rd_dwords: Signal<In, Bits<11>>,
    pub rd_first_be: Signal<In, Bits<4>>,
    pub rd_last_be: Signal<In, Bits<4>>,
    pub rd_tag: Signal<In, Bits<8>>,
    pub pay_last: Signal<In, Bit>,
    pub small_last: Signal<In, Bit>,
    /// A beat can be taken.
    pub room: Signal<In, Bit>,
    /// A beat of this source is taken if it offers one.
    pub cpl_ready: Signal<Out, Bit>,
    pub pay_ready: Signal<Out, Bit>,
    pub small_ready: Signal<Out, Bit>,
    pub rd_ready: Signal<Out, Bit>,
    /// A beat of source `turn` is taken; it is the last of its TLP.
    pub taken: Signal<Out, Bit>,
    pub turn: Signal<Out, Bits<2>>,
    /// A bit a source.
    pub turns: Signal<Out, Bits<4>>,
    pub last: Signal<Out, Bit>,
    /// Header of the TLP in the order of the wire, whether that has four dwords, and the dwords of the TLP in all.
    pub header: Signal<Out, Bits<128>>,
    pub wide: Signal<Out, Bit>,
    pub has_payload: Signal<Out, Bit>,
    pub dwords: Signal<Out, Bits<12>>,

    // Round robin over cpl 0, pay 1, small 2, rd 3: the first that wants, from the one behind this turn's.
    valids: Signal<Local, Bits<4>>,
    wants: Signal<Local, Bits<4>>,
    candidate: [Signal<Local, Bits<2>>; 3],
    pick: [Signal<Local, Bits<2>>; 4],
    found: [Signal<Local, Bit>; 4],
    now: DFF<Bits<2>>,
    // A bit a source: the same, so that no `ready` has to be decoded.
    hot: DFF<Bits<4>>,
    one: Signal<Local, Bits<4>>,
    open: Signal<Local, Bit>,
    /// In the middle of a TLP.
    midway: DFF<Bit>,
    offered: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,

    // Header of this turn's source; dwords as the specification draws them.
    operation: Signal<Local, Bits<8>>,
    tc: Signal<Local, Bits<3>>,
    attr: Signal<Local, Bits<2>>,
    length: Signal<Local, Bits<11>>,
    dword1: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<32>>,
    wide_sources: Signal<Local, Bits<4>>,
    is_wide: Signal<Local, Bit>,
    payload: Signal<Local, Bit>,
    cpl_total: Signal<Local, Bits<12>>,
    pay_total: Signal<Local, Bits<12>>,
    small_total: Signal<Local, Bits<12>>,
    rd_total: Signal<Local, Bits<12>>,
    total: Signal<Local, Bits<12>>,
    text: Join<32, 4, 128>,
    swap: Swap<128, 4>,
}

impl Logic for Grant {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now, hot, midway);

        self.one.next = 1.into();

        // Who offers a TLP, and who may send it.
        self.valids.next = 0.into();
        self.wants.next = 0.into();
        if self.cpl_valid.val() {
            self.valids.next = 1.into();
            self.wants.next = 1.into();
        }
        if self.pay_valid.val() {
            self.valids.next = self.valids.val() | 2;
            if self.master_enable.val() {
                self.wants.next = self.wants.val() | 2;
            }
        }
        if self.small_valid.val() {
            self.valids.next = self.valids.val() | 4;
            if self.master_enable.val() {
                self.wants.next = self.wants.val() | 4;
            }
        }
        if self.rd_valid.val() & self.master_enable.val() & self.np_ready.val() {
            self.wants.next = self.wants.val() | 8;
        }
        self.pick[0].next = self.now.q.val();
        self.found[0].next = false;
        for i in 0_usize..3 {
            self.candidate[i].next = self.now.q.val() + i.to_bits::<2>() + 1;
            self.pick[i + 1].next = self.pick[i].val();
            self.found[i + 1].next = self.found[i].val();
            if !self.found[i].val() & self.wants.val().get_bit(self.candidate[i].val().index()) {
                self.pick[i + 1].next = self.candidate[i].val();
                self.found[i + 1].next = true;
            }
        }

        // Take a beat; a TLP that has begun goes on whatever becomes of the permission.
        self.is_last.next = true;
        if self.now.q.val() == 1 {
            self.is_last.next = self.pay_last.val();
        } else if self.now.q.val() == 2 {
            self.is_last.next = self.small_last.val();
        }
        self.offered.next = self.wants.val().get_bit(self.now.q.val().index());
        if self.midway.q.val() {
            self.offered.next = self.valids.val().get_bit(self.now.q.val().index());
        }
        self.open.next = self.room.val() & (self.master_enable.val() | self.midway.q.val());
        self.cpl_ready.next = self.hot.q.val().get_bit(0) & self.room.val();
        self.pay_ready.next = self.hot.q.val().get_bit(1) & self.open.val();
        self.small_ready.next = self.hot.q.val().get_bit(2) & self.open.val();
        self.rd_ready.next =
            self.hot.q.val().get_bit(3) & self.room.val() & self.master_enable.val() & self.np_ready.val();
        self.take.next = self.offered.val() & self.room.val();
        if self.take.val() {
            self.midway.d.next = !self.is_last.val();
        }
        if (self.take.val() & self.is_last.val()) | (!self.offered.val() & !self.midway.q.val()) {
            self.now.d.next = self.pick[3].val();
            self.hot.d.next = self.one.val() << self.pick[3].val();
        }

        self.wide_sources.next = 0.into();
        if self.pay_wide.val() {
            self.wide_sources.next = self.wide_sources.val() | 2;
        }
        if self.small_wide.val() {
            self.wide_sources.next = self.wide_sources.val() | 4;
        }
        if self.rd_wide.val() {
            self.wide_sources.next = self.wide_sources.val() | 8;
        }
        self.is_wide.next = self.wide_sources.val().get_bit(self.now.q.val().index());

        // Header.
        self.operation.next = 64.into();
        self.tc.next = 0.into();
        self.attr.next = 0.into();
        self.payload.next = true;
        self.length.next = self.rd_dwords.val();
        self.dword1.next = 0.into();
        self.high.next = 0.into();
        self.low.next = 0.into();
        match self.now.q.val().index() {
            0 => {
                self.payload.next = self.cpl_dwords.val() != 0;
                self.operation.next = 10.into();
                if self.cpl_dwords.val() != 0 {
                    self.operation.next = 74.into();
                }
                self.tc.next = self.cpl_tc.val();
                self.attr.next = self.cpl_attr.val();
                self.length.next = bit_cast::<11, 2>(self.cpl_dwords.val());
                self.dword1.next =
                    (bit_cast::<16, 3>(self.cpl_status.val()) << 13) | bit_cast::<16, 12>(self.cpl_byte_count.val());
                self.low.next = (bit_cast::<32, 16>(self.cpl_requester.val()) << 16)
                    | (bit_cast::<32, 8>(self.cpl_tag.val()) << 8)
                    | bit_cast::<32, 7>(self.cpl_lower.val());
            }
            1 => {
                self.length.next = self.pay_dwords.val();
                self.dword1.next =
                    bit_cast::<16, 4>(self.pay_first_be.val()) | (bit_cast::<16, 4>(self.pay_last_be.val()) << 4);
                self.high.next = self.pay_addr.val().get_bits::<32>(32);
                self.low.next = bit_cast::<32, 30>(self.pay_addr.val().get_bits::<30>(2)) << 2;
            }
            2 => {
                self.length.next = self.small_dwords.val();
                self.dword1.next =
                    bit_cast::<16, 4>(self.small_first_be.val()) | (bit_cast::<16, 4>(self.small_last_be.val()) << 4);
                self.high.next = self.small_addr.val().get_bits::<32>(32);
                self.low.next = bit_cast::<32, 30>(self.small_addr.val().get_bits::<30>(2)) << 2;
            }
            _ => {
                self.payload.next = false;
                self.operation.next = 0.into();
                self.dword1.next = (bit_cast::<16, 8>(self.rd_tag.val()) << 8)
                    | bit_cast::<16, 4>(self.rd_first_be.val())
                    | (bit_cast::<16, 4>(self.rd_last_be.val()) << 4);
                self.high.next = self.rd_addr.val().get_bits::<32>(32);
                self.low.next = bit_cast::<32, 30>(self.rd_addr.val().get_bits::<30>(2)) << 2;
            }
        }
        if self.is_wide.val() {
            self.operation.next = self.operation.val() | 32;
        }
        self.text.part[0].next = (bit_cast::<32, 8>(self.operation.val()) << 24)
            | (bit_cast::<32, 3>(self.tc.val()) << 20)
            | (bit_cast::<32, 2>(self.attr.val()) << 12)
            | bit_cast::<32, 10>(self.length.val().get_bits::<10>(0));
        self.text.part[1].next = (bit_cast::<32, 16>(self.bdf.val()) << 16) | bit_cast::<32, 16>(self.dword1.val());
        self.text.part[2].next = self.low.val();
        self.text.part[3].next = 0.into();
        if self.is_wide.val() {
            self.text.part[2].next = self.high.val();
            self.text.part[3].next = self.low.val();
        }
        // Header and payload; the sums of all sources are there before it is known whose holds.
        self.cpl_total.next = bit_cast::<12, 2>(self.cpl_dwords.val()) + 3;
        self.pay_total.next = bit_cast::<12, 11>(self.pay_dwords.val()) + 3;
        if self.wide_sources.val().get_bit(1) {
            self.pay_total.next = bit_cast::<12, 11>(self.pay_dwords.val()) + 4;
        }
        self.small_total.next = bit_cast::<12, 11>(self.small_dwords.val()) + 3;
        if self.small_wide.val() {
            self.small_total.next = bit_cast::<12, 11>(self.small_dwords.val()) + 4;
        }
        self.rd_total.next = 3.into();
        if self.wide_sources.val().get_bit(3) {
            self.rd_total.next = 4.into();
        }
        self.total.next = self.rd_total.val();
        match self.now.q.val().index() {
            0 => {
                self.total.next = self.cpl_total.val();
            }
            1 => {
                self.total.next = self.pay_total.val();
            }
            2 => {
                self.total.next = self.small_total.val();
            }
            _ => {}
        }
        self.swap.a.next = self.text.whole.val();

        self.taken.next = self.take.val();
        self.turn.next = self.now.q.val();
        self.turns.next = self.hot.q.val();
        self.last.next = self.is_last.val();
        self.header.next = self.swap.b.val();
        self.wide.next = self.is_wide.val();
        self.has_payload.next = self.payload.val();
        self.dwords.next = self.total.val();

        if self.reset.val() {
            self.now.d.next = 0.into();
            self.hot.d.next = self.one.val();
            self.midway.d.next = false;
        }
    }
}

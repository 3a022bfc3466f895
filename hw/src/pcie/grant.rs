//! Chooses the next TLP to send and builds its header, while the one before is under way.
//!
//! ```text
//! valids ─→ round robin ─→ choice (register) ─→ fields of the chosen source ─→ header
//! ```
//!
//! The choice stands until it is taken with `take`. The address decides between a header of three dwords (below
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
    pub pay_dwords: Signal<In, Bits<11>>,
    pub pay_first_be: Signal<In, Bits<4>>,
    pub pay_last_be: Signal<In, Bits<4>>,
    pub small_valid: Signal<In, Bit>,
    pub small_addr: Signal<In, Bits<64>>,
    pub small_dwords: Signal<In, Bits<11>>,
    pub small_first_be: Signal<In, Bits<4>>,
    pub small_last_be: Signal<In, Bits<4>>,
    pub rd_valid: Signal<In, Bit>,
    pub rd_addr: Signal<In, Bits<64>>,
    pub rd_dwords: Signal<In, Bits<11>>,
    pub rd_first_be: Signal<In, Bits<4>>,
    pub rd_last_be: Signal<In, Bits<4>>,
    pub rd_tag: Signal<In, Bits<8>>,
    /// The TLP that `source` shows is under way already.
    pub active: Signal<In, Bit>,
    pub source: Signal<In, Bits<2>>,
    pub take: Signal<In, Bit>,
    /// A source is chosen, and which.
    pub found: Signal<Out, Bit>,
    pub choice: Signal<Out, Bits<2>>,
    /// Its header in the order of the wire, whether that has four dwords, and the dwords of the TLP in all.
    pub header: Signal<Out, Bits<128>>,
    pub wide: Signal<Out, Bit>,
    pub has_payload: Signal<Out, Bit>,
    pub dwords: Signal<Out, Bits<12>>,

    // Round robin over cpl 0, pay 1, small 2, rd 3: the first that wants, from the one behind the last choice.
    wants: Signal<Local, Bits<4>>,
    own: Signal<Local, Bits<4>>,
    candidate: [Signal<Local, Bits<2>>; 4],
    pick: [Signal<Local, Bits<2>>; 5],
    taken: [Signal<Local, Bit>; 5],

    chosen: DFF<Bit>,
    turn: DFF<Bits<2>>,
    is_wide: DFF<Bit>,

    // Header of the chosen source; dwords as the specification draws them.
    operation: Signal<Local, Bits<8>>,
    tc: Signal<Local, Bits<3>>,
    attr: Signal<Local, Bits<2>>,
    length: Signal<Local, Bits<11>>,
    dword1: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<32>>,
    wide_sources: Signal<Local, Bits<4>>,
    payload: Signal<Local, Bit>,
    total: Signal<Local, Bits<12>>,
    text: Join<32, 4, 128>,
    swap: Swap<128, 4>,
}

impl Logic for Grant {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, chosen, turn, is_wide);

        // Choice.
        self.own.next = 1.into();
        match self.source.val().index() {
            1 => self.own.next = 2.into(),
            2 => self.own.next = 4.into(),
            3 => self.own.next = 8.into(),
            _ => {}
        }
        self.wants.next = 0.into();
        if self.cpl_valid.val() {
            self.wants.next = 1.into();
        }
        if self.pay_valid.val() & self.master_enable.val() {
            self.wants.next = self.wants.val() | 2;
        }
        if self.small_valid.val() & self.master_enable.val() {
            self.wants.next = self.wants.val() | 4;
        }
        if self.rd_valid.val() & self.master_enable.val() & self.np_ready.val() {
            self.wants.next = self.wants.val() | 8;
        }
        if self.active.val() {
            self.wants.next = self.wants.val() & !self.own.val();
        }
        self.pick[0].next = 0.into();
        self.taken[0].next = false;
        for i in 0_usize..4 {
            self.candidate[i].next = self.turn.q.val() + i.to_bits::<2>() + 1;
            self.pick[i + 1].next = self.pick[i].val();
            self.taken[i + 1].next = self.taken[i].val();
            if !self.taken[i].val() & self.wants.val().get_bit(self.candidate[i].val().index()) {
                self.pick[i + 1].next = self.candidate[i].val();
                self.taken[i + 1].next = true;
            }
        }

        self.wide_sources.next = 0.into();
        if self.pay_addr.val().get_bits::<32>(32) != 0 {
            self.wide_sources.next = self.wide_sources.val() | 2;
        }
        if self.small_addr.val().get_bits::<32>(32) != 0 {
            self.wide_sources.next = self.wide_sources.val() | 4;
        }
        if self.rd_addr.val().get_bits::<32>(32) != 0 {
            self.wide_sources.next = self.wide_sources.val() | 8;
        }
        if self.take.val() {
            self.chosen.d.next = false;
        }
        if !self.chosen.q.val() & self.taken[4].val() {
            self.chosen.d.next = true;
            self.turn.d.next = self.pick[4].val();
            self.is_wide.d.next = self.wide_sources.val().get_bit(self.pick[4].val().index());
        }

        // Header.
        self.operation.next = 64.into();
        self.tc.next = 0.into();
        self.attr.next = 0.into();
        self.payload.next = true;
        self.length.next = self.rd_dwords.val();
        self.dword1.next = 0.into();
        self.high.next = 0.into();
        self.low.next = 0.into();
        match self.turn.q.val().index() {
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
        if self.is_wide.q.val() {
            self.operation.next = self.operation.val() | 32;
        }
        self.text.part[0].next = (bit_cast::<32, 8>(self.operation.val()) << 24)
            | (bit_cast::<32, 3>(self.tc.val()) << 20)
            | (bit_cast::<32, 2>(self.attr.val()) << 12)
            | bit_cast::<32, 10>(self.length.val().get_bits::<10>(0));
        self.text.part[1].next = (bit_cast::<32, 16>(self.bdf.val()) << 16) | bit_cast::<32, 16>(self.dword1.val());
        self.text.part[2].next = self.low.val();
        self.text.part[3].next = 0.into();
        self.total.next = 3.into();
        if self.is_wide.q.val() {
            self.text.part[2].next = self.high.val();
            self.text.part[3].next = self.low.val();
            self.total.next = 4.into();
        }
        if self.payload.val() {
            self.total.next = self.total.val() + bit_cast::<12, 11>(self.length.val());
        }
        self.swap.a.next = self.text.whole.val();

        self.found.next = self.chosen.q.val();
        self.choice.next = self.turn.q.val();
        self.header.next = self.swap.b.val();
        self.wide.next = self.is_wide.q.val();
        self.has_payload.next = self.payload.val();
        self.dwords.next = self.total.val();

        if self.reset.val() {
            self.chosen.d.next = false;
            self.turn.d.next = 0.into();
        }
    }
}

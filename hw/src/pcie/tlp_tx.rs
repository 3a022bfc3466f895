//! Builds TLPs from four sources and puts them on one stream.
//!
//! ```text
//! cpl ──┐
//! pay ──┤ round robin ─→ header ─→ ┐
//! small ┤                          ├─ payload shifted behind the header ─→ beat register ─→ tx
//! rd ───┘        payload ────────→ ┘
//! ```
//!
//! A grant is for a whole TLP, a beat a cycle, with one idle cycle between two TLPs, and one more when the source is the
//! same and the payload ends with the beat; a read follows a read after three. A source that wants to send
//! waits for at most four TLPs of others. `pay`, `small` and `rd` need `master_enable`, `rd` needs `np_ready` too.
//! The last `ready` of a source says that its TLP is ahead of everything granted later.

use crate::pcie::geometry::Geometry;
use crate::pcie::grant::Grant;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W data bits in L dwords a beat; A bits hold a header and a beat: the greater of W and 128.
#[derive(LogicBlock, Default)]
pub struct TlpTx<const W: usize, const L: usize, const A: usize> {
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
    pub cpl_data: Signal<In, Bits<64>>,
    pub cpl_ready: Signal<Out, Bit>,
    pub pay_valid: Signal<In, Bit>,
    pub pay_addr: Signal<In, Bits<64>>,
    pub pay_dwords: Signal<In, Bits<11>>,
    pub pay_first_be: Signal<In, Bits<4>>,
    pub pay_last_be: Signal<In, Bits<4>>,
    pub pay_data: Signal<In, Bits<W>>,
    pub pay_last: Signal<In, Bit>,
    pub pay_ready: Signal<Out, Bit>,
    pub small_valid: Signal<In, Bit>,
    pub small_addr: Signal<In, Bits<64>>,
    pub small_dwords: Signal<In, Bits<11>>,
    pub small_first_be: Signal<In, Bits<4>>,
    pub small_last_be: Signal<In, Bits<4>>,
    pub small_data: Signal<In, Bits<W>>,
    pub small_last: Signal<In, Bit>,
    pub small_ready: Signal<Out, Bit>,
    pub rd_valid: Signal<In, Bit>,
    pub rd_addr: Signal<In, Bits<64>>,
    pub rd_dwords: Signal<In, Bits<11>>,
    pub rd_first_be: Signal<In, Bits<4>>,
    pub rd_last_be: Signal<In, Bits<4>>,
    pub rd_tag: Signal<In, Bits<8>>,
    pub rd_ready: Signal<Out, Bit>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx_data: Signal<Out, Bits<W>>,
    pub tx_keep: Signal<Out, Bits<L>>,
    pub tx_last: Signal<Out, Bit>,
    pub tx_ready: Signal<In, Bit>,

    grant: Grant,
    start: Signal<Local, Bit>,
    /// A read has been granted and its first beat is not taken; the beat at the output is one of a read.
    read_waits: DFF<Bit>,
    out_read: DFF<Bit>,

    // The TLP under way. `ahead`: what goes out before the next payload beat, in the low bits.
    busy: DFF<Bit>,
    turn: DFF<Bits<2>>,
    ahead: DFF<Bits<A>>,
    wide: DFF<Bit>,
    header_beats: DFF<Bits<2>>,
    bare: DFF<Bit>,
    more: DFF<Bit>,
    left: DFF<Bits<12>>,
    // The beat at hand is the last: known a cycle ahead, because the sources' `ready` depends on it.
    closing: DFF<Bit>,
    two_beats: Signal<Local, Bits<12>>,
    advance: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    source_valid: Signal<Local, Bit>,
    source_last: Signal<Local, Bit>,
    source_data: Signal<Local, Bits<W>>,
    up: Signal<Local, Bits<16>>,
    down: Signal<Local, Bits<16>>,
    taken: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    lanes: Signal<Local, Bits<L>>,
    out_valid: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_keep: DFF<Bits<L>>,
    out_last: DFF<Bit>,
    geometry: Geometry<W, L>,
}

impl<const W: usize, const L: usize, const A: usize> Logic for TlpTx<W, L, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, busy, ahead, wide, header_beats, bare, more, left, closing);
        dff_setup!(self, clock, out_valid, out_data, out_keep, out_last, out_read, read_waits);

        // Grant.
        self.grant.bdf.next = self.bdf.val();
        self.grant.master_enable.next = self.master_enable.val();
        // `np_ready` counts a read when its first beat is taken: no other is chosen before that.
        self.grant.np_ready.next = self.np_ready.val() & !self.read_waits.q.val();
        self.grant.cpl_valid.next = self.cpl_valid.val();
        self.grant.cpl_status.next = self.cpl_status.val();
        self.grant.cpl_byte_count.next = self.cpl_byte_count.val();
        self.grant.cpl_lower.next = self.cpl_lower.val();
        self.grant.cpl_requester.next = self.cpl_requester.val();
        self.grant.cpl_tag.next = self.cpl_tag.val();
        self.grant.cpl_tc.next = self.cpl_tc.val();
        self.grant.cpl_attr.next = self.cpl_attr.val();
        self.grant.cpl_dwords.next = self.cpl_dwords.val();
        self.grant.pay_valid.next = self.pay_valid.val();
        self.grant.pay_addr.next = self.pay_addr.val();
        self.grant.pay_dwords.next = self.pay_dwords.val();
        self.grant.pay_first_be.next = self.pay_first_be.val();
        self.grant.pay_last_be.next = self.pay_last_be.val();
        self.grant.small_valid.next = self.small_valid.val();
        self.grant.small_addr.next = self.small_addr.val();
        self.grant.small_dwords.next = self.small_dwords.val();
        self.grant.small_first_be.next = self.small_first_be.val();
        self.grant.small_last_be.next = self.small_last_be.val();
        self.grant.rd_valid.next = self.rd_valid.val();
        self.grant.rd_addr.next = self.rd_addr.val();
        self.grant.rd_dwords.next = self.rd_dwords.val();
        self.grant.rd_first_be.next = self.rd_first_be.val();
        self.grant.rd_last_be.next = self.rd_last_be.val();
        self.grant.rd_tag.next = self.rd_tag.val();
        self.grant.clock.next = self.clock.val();
        self.grant.reset.next = self.reset.val();
        self.start.next = self.grant.found.val() & !self.busy.q.val();
        self.grant.take.next = self.start.val();
        self.grant.active.next = self.busy.q.val() & (self.more.q.val() | self.bare.q.val());
        self.grant.source.next = self.turn.q.val();

        // Payload of the source whose turn it is.
        self.source_valid.next = true;
        self.source_last.next = true;
        self.source_data.next = bit_cast::<W, 64>(self.cpl_data.val());
        if self.turn.q.val() == 1 {
            self.source_valid.next = self.pay_valid.val();
            self.source_last.next = self.pay_last.val();
            self.source_data.next = self.pay_data.val();
        } else if self.turn.q.val() == 2 {
            self.source_valid.next = self.small_valid.val();
            self.source_last.next = self.small_last.val();
            self.source_data.next = self.small_data.val();
        }

        // A beat.
        self.up.next = self.geometry.bit3.val();
        self.down.next = self.geometry.rest3.val();
        if self.wide.q.val() {
            self.up.next = self.geometry.bit4.val();
            self.down.next = self.geometry.rest4.val();
        }
        self.advance.next = self.busy.q.val() & (!self.out_valid.q.val() | self.tx_ready.val());
        self.take.next = (self.header_beats.q.val() == 0) & self.more.q.val();
        self.go.next = self.advance.val() & (self.source_valid.val() | !self.take.val());
        self.is_last.next = self.closing.q.val();
        self.two_beats.next = self.geometry.lanes.val() << 1;
        self.lanes.next = 0.into();
        for i in 0_usize..L {
            if self.left.q.val() > i.to_bits::<12>() {
                self.lanes.next = self.lanes.val().replace_bit(i, true);
            }
        }
        if self.tx_ready.val() {
            self.out_valid.d.next = false;
        }
        if self.tx_ready.val() & self.out_valid.q.val() & self.out_read.q.val() {
            self.read_waits.d.next = false;
        }
        self.taken.next = self.advance.val() & self.take.val();
        if self.bare.q.val() {
            self.taken.next = self.go.val() & self.is_last.val();
        }
        if self.go.val() {
            self.out_valid.d.next = true;
            self.out_keep.d.next = self.lanes.val();
            self.out_last.d.next = self.is_last.val();
            self.out_read.d.next = self.turn.q.val() == 3;
            self.out_data.d.next = bit_cast::<W, A>(self.ahead.q.val());
            self.left.d.next = self.left.q.val() - self.geometry.lanes.val();
            self.closing.d.next = self.left.q.val() <= self.two_beats.val();
            if self.header_beats.q.val() != 0 {
                self.header_beats.d.next = self.header_beats.q.val() - 1;
                self.ahead.d.next = self.ahead.q.val() >> self.geometry.beat.val();
            }
            if self.take.val() {
                self.out_data.d.next =
                    bit_cast::<W, A>(self.ahead.q.val()) | (self.source_data.val() << self.up.val());
                self.ahead.d.next = bit_cast::<A, W>(self.source_data.val() >> self.down.val());
                self.more.d.next = !self.source_last.val();
            }
            if self.is_last.val() {
                self.busy.d.next = false;
            }
        }
        if self.start.val() {
            self.busy.d.next = true;
            if self.grant.choice.val() == 3 {
                self.read_waits.d.next = true;
            }
            self.turn.d.next = self.grant.choice.val();
            self.ahead.d.next = bit_cast::<A, 128>(self.grant.header.val());
            self.wide.d.next = self.grant.wide.val();
            self.header_beats.d.next = self.geometry.beat3.val();
            if self.grant.wide.val() {
                self.header_beats.d.next = self.geometry.beat4.val();
            }
            self.bare.d.next = !self.grant.has_payload.val();
            self.more.d.next = self.grant.has_payload.val();
            self.left.d.next = self.grant.dwords.val();
            self.closing.d.next = self.grant.dwords.val() <= self.geometry.lanes.val();
        }

        // A source without payload is done with the last beat of its header, one with payload beat by beat.
        self.cpl_ready.next = self.taken.val() & (self.turn.q.val() == 0);
        self.pay_ready.next = self.taken.val() & (self.turn.q.val() == 1);
        self.small_ready.next = self.taken.val() & (self.turn.q.val() == 2);
        self.rd_ready.next = self.taken.val() & (self.turn.q.val() == 3);
        self.tx_valid.next = self.out_valid.q.val();
        self.tx_data.next = self.out_data.q.val();
        self.tx_keep.next = self.out_keep.q.val();
        self.tx_last.next = self.out_last.q.val();

        if self.reset.val() {
            self.busy.d.next = false;
            self.out_valid.d.next = false;
            self.read_waits.d.next = false;
            self.turn.d.next = 0.into();
        }
    }
}

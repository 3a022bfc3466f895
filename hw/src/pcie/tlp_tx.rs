//! Builds TLPs from four sources and puts them on one stream.
//!
//! ```text
//! cpl ──┐                ┌─ header ──┐
//! pay ──┤ round robin ─→ │           ├─ payload shifted behind the header ─→ beat register ─→ tx
//! small ┤                └─ payload ─┘
//! rd ───┘      (beat register, and one to spare)
//! ```
//!
//! A turn is for a whole TLP, a beat a cycle, and TLPs follow each other without a gap; only a read follows a read
//! after three cycles. Two cycles from a source to `tx`. A source that wants to send waits for at most four TLPs of
//! others. `pay`, `small` and `rd` need `master_enable`, `rd` needs `np_ready` too. The last `ready` of a source says
//! that its TLP is ahead of everything granted later. `tx_ready` comes late in its cycle and does not reach the sources:
//! a beat that the stream has no use for yet waits in the spare register, and no other is taken meanwhile.

use crate::pcie::geometry::Geometry;
use crate::pcie::grant::Grant;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W data bits in L dwords a beat.
#[derive(LogicBlock, Default)]
pub struct TlpTx<const W: usize, const L: usize> {
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
    pub pay_wide: Signal<In, Bit>,
    pub pay_dwords: Signal<In, Bits<11>>,
    pub pay_first_be: Signal<In, Bits<4>>,
    pub pay_last_be: Signal<In, Bits<4>>,
    pub pay_data: Signal<In, Bits<W>>,
    pub pay_last: Signal<In, Bit>,
    pub pay_ready: Signal<Out, Bit>,
    pub small_valid: Signal<In, Bit>,
    pub small_addr: Signal<In, Bits<64>>,
    /// Its address is not below 4 GiB.
    pub small_wide: Signal<In, Bit>,
    pub small_dwords: Signal<In, Bits<11>>,
    pub small_first_be: Signal<In, Bits<4>>,
    pub small_last_be: Signal<In, Bits<4>>,
    pub small_data: Signal<In, Bits<W>>,
    pub small_last: Signal<In, Bit>,
    pub small_ready: Signal<Out, Bit>,
    pub rd_valid: Signal<In, Bit>,
    pub rd_addr: Signal<In, Bits<64>>,
    pub rd_wide: Signal<In, Bit>,
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
    fetch: Signal<Local, Bit>,
    fetched: Signal<Local, Bits<W>>,
    // The beat that a source has given, with the header of its TLP.
    in_valid: DFF<Bit>,
    in_header: DFF<Bits<128>>,
    in_wide: DFF<Bit>,
    in_payload: DFF<Bit>,
    in_dwords: DFF<Bits<12>>,
    in_read: DFF<Bit>,
    in_data: DFF<Bits<W>>,
    in_last: DFF<Bit>,
    // The one that came after it, when it could not move on.
    spare: DFF<Bit>,
    spare_header: DFF<Bits<128>>,
    spare_wide: DFF<Bit>,
    spare_payload: DFF<Bit>,
    spare_dwords: DFF<Bits<12>>,
    spare_read: DFF<Bit>,
    spare_data: DFF<Bits<W>>,
    spare_last: DFF<Bit>,
    moves: Signal<Local, Bit>,
    // The spare register is empty: the same once more, because the sources wait for it.
    room: DFF<Bit>,
    /// A read has been taken over, and its first beat has not left.
    read_waits: DFF<Bit>,
    // The TLP that goes out. `ahead`: what goes out before the next payload beat, in the low bits.
    begun: DFF<Bit>,
    ahead: DFF<Bits<W>>,
    header_beats: DFF<Bits<2>>,
    more: DFF<Bit>,
    left: DFF<Bits<12>>,
    opening: Signal<Local, Bit>,
    front: Signal<Local, Bits<W>>,
    beats_before: Signal<Local, Bits<2>>,
    payload_left: Signal<Local, Bit>,
    dwords_left: Signal<Local, Bits<12>>,
    take: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    used: Signal<Local, Bit>,
    up: Signal<Local, Bits<16>>,
    down: Signal<Local, Bits<16>>,
    is_last: Signal<Local, Bit>,
    lanes: Signal<Local, Bits<L>>,
    out_valid: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_keep: DFF<Bits<L>>,
    out_last: DFF<Bit>,
    /// The beat is the first of a read.
    out_read: DFF<Bit>,
    geometry: Geometry<W, L>,
}

impl<const W: usize, const L: usize> Logic for TlpTx<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_valid, in_header, in_wide, in_payload, in_dwords, in_read, in_data, in_last);
        dff_setup!(self, clock, spare, spare_header, spare_wide, spare_payload, spare_dwords, spare_read, spare_data);
        dff_setup!(self, clock, spare_last, room);
        dff_setup!(self, clock, begun, ahead, header_beats, more, left, read_waits);
        dff_setup!(self, clock, out_valid, out_data, out_keep, out_last, out_read);

        // What goes out next: the header, or what is kept of the beat before, and payload behind it.
        self.opening.next = !self.begun.q.val();
        self.front.next = self.ahead.q.val();
        self.beats_before.next = self.header_beats.q.val();
        self.payload_left.next = self.more.q.val();
        self.dwords_left.next = self.left.q.val();
        if self.opening.val() {
            self.front.next = bit_cast::<W, 128>(self.in_header.q.val());
            self.beats_before.next = self.geometry.beat3.val();
            if self.in_wide.q.val() {
                self.beats_before.next = self.geometry.beat4.val();
            }
            self.payload_left.next = self.in_payload.q.val();
            self.dwords_left.next = self.in_dwords.q.val();
        }
        self.up.next = self.geometry.bit3.val();
        self.down.next = self.geometry.rest3.val();
        if self.in_wide.q.val() {
            self.up.next = self.geometry.bit4.val();
            self.down.next = self.geometry.rest4.val();
        }
        self.take.next = (self.beats_before.val() == 0) & self.payload_left.val();
        self.go.next = (!self.out_valid.q.val() | self.tx_ready.val())
            & (self.in_valid.q.val() | (self.begun.q.val() & !self.take.val()));
        self.used.next = self.go.val() & (self.take.val() | (self.opening.val() & !self.in_payload.q.val()));
        self.is_last.next = self.dwords_left.val() <= self.geometry.lanes.val();
        self.lanes.next = 0.into();
        for i in 0_usize..L {
            if self.dwords_left.val() > i.to_bits::<12>() {
                self.lanes.next = self.lanes.val().replace_bit(i, true);
            }
        }
        if self.tx_ready.val() {
            self.out_valid.d.next = false;
        }
        if self.go.val() {
            self.out_valid.d.next = true;
            self.out_data.d.next = self.front.val();
            self.out_keep.d.next = self.lanes.val();
            self.out_last.d.next = self.is_last.val();
            self.out_read.d.next = self.opening.val() & self.in_read.q.val();
            self.begun.d.next = !self.is_last.val();
            self.left.d.next = self.dwords_left.val() - self.geometry.lanes.val();
            self.header_beats.d.next = 0.into();
            if self.beats_before.val() != 0 {
                self.header_beats.d.next = self.beats_before.val() - 1;
            }
            self.more.d.next = self.payload_left.val();
            self.ahead.d.next = 0.into();
            if self.take.val() {
                self.out_data.d.next = self.front.val() | (self.in_data.q.val() << self.up.val());
                self.ahead.d.next = self.in_data.q.val() >> self.down.val();
                self.more.d.next = !self.in_last.q.val();
            } else if self.opening.val() {
                self.ahead.d.next = bit_cast::<W, 128>(self.in_header.q.val() >> self.geometry.beat.val());
            }
        }

        // Whose beat is next.
        self.grant.bdf.next = self.bdf.val();
        self.grant.master_enable.next = self.master_enable.val();
        // `np_ready` counts a read when its first beat is taken: no other is taken over before that.
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
        self.grant.pay_wide.next = self.pay_wide.val();
        self.grant.pay_dwords.next = self.pay_dwords.val();
        self.grant.pay_first_be.next = self.pay_first_be.val();
        self.grant.pay_last_be.next = self.pay_last_be.val();
        self.grant.small_valid.next = self.small_valid.val();
        self.grant.small_addr.next = self.small_addr.val();
        self.grant.small_wide.next = self.small_wide.val();
        self.grant.small_dwords.next = self.small_dwords.val();
        self.grant.small_first_be.next = self.small_first_be.val();
        self.grant.small_last_be.next = self.small_last_be.val();
        self.grant.rd_valid.next = self.rd_valid.val();
        self.grant.rd_addr.next = self.rd_addr.val();
        self.grant.rd_wide.next = self.rd_wide.val();
        self.grant.rd_dwords.next = self.rd_dwords.val();
        self.grant.rd_first_be.next = self.rd_first_be.val();
        self.grant.rd_last_be.next = self.rd_last_be.val();
        self.grant.rd_tag.next = self.rd_tag.val();
        self.grant.clock.next = self.clock.val();
        self.grant.reset.next = self.reset.val();
        self.grant.pay_last.next = self.pay_last.val();
        self.grant.small_last.next = self.small_last.val();
        self.grant.room.next = self.room.q.val();

        // Take it over.
        self.fetch.next = self.grant.taken.val();
        self.fetched.next = bit_cast::<W, 64>(self.cpl_data.val());
        if self.grant.turns.val().get_bit(1) {
            self.fetched.next = self.pay_data.val();
        } else if self.grant.turns.val().get_bit(2) {
            self.fetched.next = self.small_data.val();
        }
        self.moves.next = !self.in_valid.q.val() | self.used.val();
        if !self.spare.q.val() {
            self.spare_header.d.next = self.grant.header.val();
            self.spare_wide.d.next = self.grant.wide.val();
            self.spare_payload.d.next = self.grant.has_payload.val();
            self.spare_dwords.d.next = self.grant.dwords.val();
            self.spare_read.d.next = self.grant.turn.val() == 3;
            self.spare_data.d.next = self.fetched.val();
            self.spare_last.d.next = self.grant.last.val();
        }
        self.spare.d.next = (self.spare.q.val() | self.fetch.val()) & !self.moves.val();
        self.room.d.next = self.moves.val() | !(self.spare.q.val() | self.fetch.val());
        if self.moves.val() {
            self.in_valid.d.next = self.spare.q.val() | self.fetch.val();
            self.in_header.d.next = self.grant.header.val();
            self.in_wide.d.next = self.grant.wide.val();
            self.in_payload.d.next = self.grant.has_payload.val();
            self.in_dwords.d.next = self.grant.dwords.val();
            self.in_read.d.next = self.grant.turn.val() == 3;
            self.in_data.d.next = self.fetched.val();
            self.in_last.d.next = self.grant.last.val();
            if self.spare.q.val() {
                self.in_header.d.next = self.spare_header.q.val();
                self.in_wide.d.next = self.spare_wide.q.val();
                self.in_payload.d.next = self.spare_payload.q.val();
                self.in_dwords.d.next = self.spare_dwords.q.val();
                self.in_read.d.next = self.spare_read.q.val();
                self.in_data.d.next = self.spare_data.q.val();
                self.in_last.d.next = self.spare_last.q.val();
            }
        }
        if self.tx_ready.val() & self.out_valid.q.val() & self.out_read.q.val() {
            self.read_waits.d.next = false;
        }
        if self.fetch.val() & (self.grant.turn.val() == 3) {
            self.read_waits.d.next = true;
        }
        self.cpl_ready.next = self.grant.cpl_ready.val();
        self.pay_ready.next = self.grant.pay_ready.val();
        self.small_ready.next = self.grant.small_ready.val();
        self.rd_ready.next = self.grant.rd_ready.val();
        self.tx_valid.next = self.out_valid.q.val();
        self.tx_data.next = self.out_data.q.val();
        self.tx_keep.next = self.out_keep.q.val();
        self.tx_last.next = self.out_last.q.val();

        if self.reset.val() {
            self.in_valid.d.next = false;
            self.spare.d.next = false;
            self.room.d.next = true;
            self.begun.d.next = false;
            self.out_valid.d.next = false;
            self.read_waits.d.next = false;
        }
    }
}

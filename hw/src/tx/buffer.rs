//! The packet buffer: 4096 dwords in L banks, filled by completions in any order, emptied in order.
//!
//! ```text
//! a_* ─→ place of each tag ┐
//! t_* (a beat) ─→ 1: place + offset ─→ 2: rotate to the banks ─→ banks ─→ read_data
//! t_done ─→ done, cause ─→ retire in ring order ─→ g_* (a frame is complete)
//! ```
//!
//! Dword n of the buffer is row n / L of bank n mod L, so a beat of L dwords is written in one cycle wherever it
//! begins. Tags retire in ring order, whatever order their data came in. A frame is complete when its last read
//! retires; it is bad when any of its reads ended with a cause, and then `error` and `cause` tell the queue.
//!
//! A beat a cycle; a tag retires a cycle. Data is in the banks before the frame shows as complete.

use crate::read::table::Table;
use crate::tx::bank::Bank;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits and L dwords a row, 2^A rows.
#[derive(LogicBlock)]
pub struct Buffer<const W: usize, const L: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a_valid: Signal<In, Bit>,
    pub a_tag: Signal<In, Bits<4>>,
    pub a_place: Signal<In, Bits<12>>,
    pub a_last: Signal<In, Bit>,
    pub next_tag: Signal<In, Bits<4>>,
    pub t_valid: Signal<In, Bit>,
    pub t_data: Signal<In, Bits<W>>,
    pub t_tag: Signal<In, Bits<8>>,
    pub t_dword: Signal<In, Bits<10>>,
    pub t_lanes: Signal<In, Bits<5>>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    pub t_done_cause: Signal<In, Bits<4>>,
    pub in_use: Signal<Out, Bits<16>>,
    pub g_valid: Signal<Out, Bit>,
    pub g_bad: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    pub cause: Signal<Out, Bits<4>>,
    pub read_row: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    places: Table<12, 4>,
    causes: Table<4, 4>,
    bank: [Bank<W, A>; L],
    busy: DFF<Bits<16>>,
    done: DFF<Bits<16>>,
    last: DFF<Bits<16>>,
    oldest: DFF<Bits<4>>,
    bad: DFF<Bit>,
    given: Signal<Local, Bits<16>>,
    ended: Signal<Local, Bits<16>>,
    freed: Signal<Local, Bits<16>>,
    retire: Signal<Local, Bit>,
    ours: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    v1: DFF<Bit>,
    data1: DFF<Bits<W>>,
    place1: DFF<Bits<12>>,
    lanes1: DFF<Bits<5>>,
    turn: Signal<Local, Bits<10>>,
    back: Signal<Local, Bits<10>>,
    lane: Signal<Local, Bits<5>>,
    filled: Signal<Local, Bits<32>>,
    spread: Signal<Local, Bits<32>>,
    write2: DFF<Bits<32>>,
    data2: DFF<Bits<W>>,
    row2: DFF<Bits<12>>,
    next2: DFF<Bits<12>>,
    word: Signal<Local, Bits<W>>,
    g2: DFF<Bit>,
    bad2: DFF<Bit>,
    fault2: DFF<Bit>,
    cause2: DFF<Bits<4>>,
    one16: Constant<Bits<16>>,
    one32: Constant<Bits<32>>,
    l_log2: Constant<Bits<4>>,
    l_mask: Constant<Bits<5>>,
    width: Constant<Bits<10>>,
}

impl<const W: usize, const L: usize, const A: usize> Default for Buffer<W, L, A> {
    fn default() -> Self {
        assert!(W == 32 * L && 1 << A == 4096 / L);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            a_valid: Default::default(),
            a_tag: Default::default(),
            a_place: Default::default(),
            a_last: Default::default(),
            next_tag: Default::default(),
            t_valid: Default::default(),
            t_data: Default::default(),
            t_tag: Default::default(),
            t_dword: Default::default(),
            t_lanes: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            t_done_cause: Default::default(),
            in_use: Default::default(),
            g_valid: Default::default(),
            g_bad: Default::default(),
            error: Default::default(),
            cause: Default::default(),
            read_row: Default::default(),
            read_data: Default::default(),
            places: Default::default(),
            causes: Default::default(),
            busy: Default::default(),
            done: Default::default(),
            last: Default::default(),
            oldest: Default::default(),
            bad: Default::default(),
            given: Default::default(),
            ended: Default::default(),
            freed: Default::default(),
            retire: Default::default(),
            ours: Default::default(),
            ends: Default::default(),
            v1: Default::default(),
            data1: Default::default(),
            place1: Default::default(),
            lanes1: Default::default(),
            turn: Default::default(),
            back: Default::default(),
            lane: Default::default(),
            filled: Default::default(),
            spread: Default::default(),
            write2: Default::default(),
            data2: Default::default(),
            row2: Default::default(),
            next2: Default::default(),
            word: Default::default(),
            g2: Default::default(),
            bad2: Default::default(),
            fault2: Default::default(),
            cause2: Default::default(),
            bank: std::array::from_fn(Bank::of),
            one16: Constant::new(1.into()),
            one32: Constant::new(1.into()),
            l_log2: Constant::new(u64::from(L.ilog2()).into()),
            l_mask: Constant::new((L - 1).to_bits()),
            width: Constant::new(W.to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const A: usize> Logic for Buffer<W, L, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, done, last, oldest, bad, v1, data1, place1, lanes1);
        dff_setup!(self, clock, write2, data2, row2, next2, g2, bad2, fault2, cause2);
        self.places.clock.next = self.clock.val();
        self.causes.clock.next = self.clock.val();

        // What is given out, ends and retires.
        self.given.next = 0.into();
        if self.a_valid.val() {
            self.given.next = self.one16.val() << self.a_tag.val();
        }
        self.places.write_enable.next = self.a_valid.val();
        self.places.write_address.next = self.a_tag.val();
        self.places.write_data.next = self.a_place.val();
        self.ends.next = self.t_done.val() & (self.t_done_tag.val().get_bits::<4>(4) == 0);
        self.ended.next = 0.into();
        if self.ends.val() {
            self.ended.next = self.one16.val() << self.t_done_tag.val().get_bits::<4>(0);
        }
        self.causes.write_enable.next = self.ends.val();
        self.causes.write_address.next = self.t_done_tag.val().get_bits::<4>(0);
        self.causes.write_data.next = self.t_done_cause.val();
        self.causes.read_address.next = self.oldest.q.val();
        self.retire.next = self.busy.q.val().get_bit(self.oldest.q.val().index())
            & self.done.q.val().get_bit(self.oldest.q.val().index());
        self.freed.next = 0.into();
        self.g2.d.next = false;
        self.bad2.d.next = false;
        self.fault2.d.next = false;
        self.cause2.d.next = self.causes.read_data.val();
        if self.retire.val() {
            self.freed.next = self.one16.val() << self.oldest.q.val();
            self.oldest.d.next = self.oldest.q.val() + 1;
            self.fault2.d.next = self.causes.read_data.val() != 0;
            self.bad.d.next = self.bad.q.val() | (self.causes.read_data.val() != 0);
            if self.last.q.val().get_bit(self.oldest.q.val().index()) {
                self.g2.d.next = true;
                self.bad2.d.next = self.bad.q.val() | (self.causes.read_data.val() != 0);
                self.bad.d.next = false;
            }
        } else if !self.busy.q.val().get_bit(self.oldest.q.val().index()) & (self.oldest.q.val() != self.next_tag.val()) {
            // A dead tag that was skipped.
            self.oldest.d.next = self.oldest.q.val() + 1;
        }
        self.busy.d.next = (self.busy.q.val() | self.given.val()) & !self.freed.val();
        self.done.d.next = (self.done.q.val() & !self.given.val()) | self.ended.val();
        self.last.d.next = self.last.q.val() & !self.given.val();
        if self.a_last.val() {
            self.last.d.next = self.last.q.val() | self.given.val();
        }
        self.in_use.next = self.busy.q.val();
        self.g_valid.next = self.g2.q.val();
        self.g_bad.next = self.bad2.q.val();
        self.error.next = self.fault2.q.val();
        self.cause.next = self.cause2.q.val();

        // Stage 1: where the beat goes.
        self.ours.next = self.t_valid.val() & (self.t_tag.val().get_bits::<4>(4) == 0);
        self.places.read_address.next = self.t_tag.val().get_bits::<4>(0);
        self.v1.d.next = self.ours.val();
        self.data1.d.next = self.t_data.val();
        self.place1.d.next = self.places.read_data.val() + bit_cast::<12, 10>(self.t_dword.val());
        self.lanes1.d.next = self.t_lanes.val();

        // Stage 2: dword j of the beat into bank (place + j) mod L; those that wrap go one row further.
        self.lane.next = self.place1.q.val().get_bits::<5>(0) & self.l_mask.val();
        self.turn.next = bit_cast::<10, 5>(self.lane.val()) << 5;
        self.back.next = self.width.val() - self.turn.val();
        self.data2.d.next = (self.data1.q.val() << self.turn.val()) | (self.data1.q.val() >> self.back.val());
        self.filled.next = (self.one32.val() << self.lanes1.q.val()) - self.one32.val();
        self.spread.next = self.filled.val() << self.lane.val();
        self.write2.d.next = 0.into();
        if self.v1.q.val() {
            self.write2.d.next = self.spread.val();
        }
        self.row2.d.next = self.place1.q.val() >> self.l_log2.val();
        self.next2.d.next = (self.place1.q.val() >> self.l_log2.val()) + 1;

        self.word.next = 0.into();
        for i in 0_usize..L {
            self.bank[i].clock.next = self.clock.val();
            self.bank[i].write.next = self.write2.q.val();
            self.bank[i].row.next = self.row2.q.val();
            self.bank[i].next_row.next = self.next2.q.val();
            self.bank[i].data.next = self.data2.q.val();
            self.bank[i].read_row.next = self.read_row.val();
            self.word.next = self.word.val() | self.bank[i].read_data.val();
        }
        self.read_data.next = self.word.val();

        if self.reset.val() {
            self.busy.d.next = 0.into();
            self.oldest.d.next = 0.into();
            self.bad.d.next = false;
            self.v1.d.next = false;
            self.write2.d.next = 0.into();
            self.g2.d.next = false;
            self.fault2.d.next = false;
        }
    }
}

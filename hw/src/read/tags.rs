//! The table of reads in flight, and the judge of their completions.
//!
//! ```text
//! i_* (a read goes out) ─→ issued ┐
//! c_* (a completion) ─→ state of its tag ─→ 1: checks ─→ 2: beats, end ─→ 3: o_*
//!                             progress ←─────┘             expiry ──┘
//! ```
//!
//! A completion is taken when its tag is outstanding and its requester is this function; anything else is
//! `unexpected` and its beats are dropped. Its byte count and lower address must be those that the bytes
//! delivered so far leave, and it must end on a 64-byte boundary or with the read; else the read is over with
//! BadCompletion. From a poisoned one on nothing is delivered; the read stays outstanding until the rest has
//! come, so that the rest is not taken for the answer to the tag's next read.
//!
//! `o_done` comes once for each read, with its last beat or later. A read that is not answered in `timeout` units of
//! 1024 cycles (and at most one unit more) ends with TimeOut, and its tag is `dead` until reset.
//!
//! A beat a cycle, three cycles from `c_*` to `o_*`, no back-pressure.

use crate::read::expiry::Expiry;
use crate::read::table::Table;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// 32 tags; W bits and L dwords a beat.
#[derive(LogicBlock, Default)]
pub struct Tags<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bdf: Signal<In, Bits<16>>,
    pub timeout: Signal<In, Bits<16>>,
    pub i_valid: Signal<In, Bit>,
    pub i_tag: Signal<In, Bits<8>>,
    pub i_addr: Signal<In, Bits<12>>,
    pub i_bytes: Signal<In, Bits<13>>,
    pub c_valid: Signal<In, Bit>,
    pub c_first: Signal<In, Bit>,
    pub c_last: Signal<In, Bit>,
    pub c_data: Signal<In, Bits<W>>,
    pub c_tag: Signal<In, Bits<8>>,
    pub c_status: Signal<In, Bits<3>>,
    pub c_poisoned: Signal<In, Bit>,
    pub c_byte_count: Signal<In, Bits<13>>,
    pub c_lower: Signal<In, Bits<7>>,
    pub c_dwords: Signal<In, Bits<11>>,
    pub c_requester: Signal<In, Bits<16>>,
    pub o_valid: Signal<Out, Bit>,
    pub o_data: Signal<Out, Bits<W>>,
    pub o_tag: Signal<Out, Bits<8>>,
    pub o_dword: Signal<Out, Bits<10>>,
    pub o_lanes: Signal<Out, Bits<5>>,
    pub o_done: Signal<Out, Bit>,
    pub o_done_tag: Signal<Out, Bits<8>>,
    pub o_done_cause: Signal<Out, Bits<4>>,
    pub unexpected: Signal<Out, Bit>,
    pub dead: Signal<Out, Bits<32>>,
    // What was asked (lower 7, span 13, dwords 11), and what is left after the completions that came
    // (address bits 6:2, span 13, dwords 11, dwords delivered 10, poisoned). A span is the bytes left and those
    // before them in their first dword, so that what a completion takes from it is whole dwords.
    issued: Table<31, 5>,
    progress: Table<40, 5>,
    expiry: Expiry,
    outstanding: DFF<Bits<32>>,
    fresh: DFF<Bits<32>>,
    retired: DFF<Bits<32>>,
    // The read that goes out.
    i1_valid: DFF<Bit>,
    i1_tag: DFF<Bits<5>>,
    i1_lower: DFF<Bits<7>>,
    i1_span: DFF<Bits<13>>,
    i1_sum: DFF<Bits<13>>,
    // Stage 1.
    tag0: Signal<Local, Bits<5>>,
    v1: DFF<Bit>,
    first1: DFF<Bit>,
    last1: DFF<Bit>,
    data1: DFF<Bits<W>>,
    tag1: DFF<Bits<5>>,
    ours1: DFF<Bit>,
    status1: DFF<Bits<3>>,
    poisoned1: DFF<Bit>,
    span1: DFF<Bits<13>>,
    lower1: DFF<Bits<7>>,
    dwords1: DFF<Bits<11>>,
    known: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    // What was left of its read before it: dwords, span, address, dwords delivered, poisoned.
    left1: DFF<Bits<11>>,
    rest1: DFF<Bits<13>>,
    place1: DFF<Bits<7>>,
    offset1: DFF<Bits<10>>,
    spoilt1: DFF<Bit>,
    advance: Signal<Local, Bit>,
    same: Signal<Local, Bit>,
    poison: Signal<Local, Bit>,
    left_next: Signal<Local, Bits<11>>,
    span_next: Signal<Local, Bits<13>>,
    line_next: Signal<Local, Bits<5>>,
    offset_next: Signal<Local, Bits<10>>,
    // Stage 2.
    v2: DFF<Bit>,
    first2: DFF<Bit>,
    last2: DFF<Bit>,
    data2: DFF<Bits<W>>,
    tag2: DFF<Bits<5>>,
    accept2: DFF<Bit>,
    miscount2: DFF<Bit>,
    misplaced2: DFF<Bit>,
    long2: DFF<Bit>,
    ragged2: DFF<Bit>,
    ends2: DFF<Bit>,
    refused2: DFF<Bit>,
    aborted2: DFF<Bit>,
    poison2: DFF<Bit>,
    wrong: Signal<Local, Bit>,
    over: Signal<Local, Bit>,
    verdict: Signal<Local, Bits<4>>,
    freed: Signal<Local, Bit>,
    offset2: DFF<Bits<10>>,
    dwords2: DFF<Bits<11>>,
    // More is to come than one beat holds: known a cycle ahead, because it decides over `outstanding`.
    more2: DFF<Bit>,
    // The completion whose beats pass through stage 2.
    open: DFF<Bit>,
    good_kept: DFF<Bit>,
    over_kept: DFF<Bit>,
    cause_kept: DFF<Bits<4>>,
    offset_kept: DFF<Bits<10>>,
    rest_kept: DFF<Bits<11>>,
    more_kept: DFF<Bit>,
    good: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    cause: Signal<Local, Bits<4>>,
    at: Signal<Local, Bits<10>>,
    rest: Signal<Local, Bits<11>>,
    more: Signal<Local, Bit>,
    truncated: Signal<Local, Bit>,
    // Stage 3.
    v3: DFF<Bit>,
    data3: DFF<Bits<W>>,
    tag3: DFF<Bits<5>>,
    at3: DFF<Bits<10>>,
    lanes3: DFF<Bits<5>>,
    done3: DFF<Bit>,
    done_tag3: DFF<Bits<5>>,
    cause3: DFF<Bits<4>>,
    unexpected3: DFF<Bit>,
    issue_bit: Signal<Local, Bits<32>>,
    progress_bit: Signal<Local, Bits<32>>,
    freed_bit: Signal<Local, Bits<32>>,
    expire_bit: Signal<Local, Bits<32>>,
    one: Signal<Local, Bits<32>>,
    lanes: Signal<Local, Bits<11>>,
    two_beats: Signal<Local, Bits<11>>,
}

impl<const W: usize, const L: usize> Logic for Tags<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, outstanding, fresh, retired, i1_valid, i1_tag, i1_lower, i1_span, i1_sum);
        dff_setup!(self, clock, v1, first1, last1, data1, tag1, ours1, status1, poisoned1, span1, lower1, dwords1);
        dff_setup!(self, clock, left1, rest1, place1, offset1, spoilt1);
        dff_setup!(self, clock, v2, first2, last2, data2, tag2, offset2, dwords2, more2);
        dff_setup!(self, clock, accept2, miscount2, misplaced2, long2, ragged2, ends2, refused2, aborted2, poison2);
        dff_setup!(self, clock, open, good_kept, over_kept, cause_kept, offset_kept, rest_kept, more_kept);
        dff_setup!(self, clock, v3, data3, tag3, at3, lanes3, done3, done_tag3, cause3, unexpected3);
        self.issued.clock.next = self.clock.val();
        self.progress.clock.next = self.clock.val();
        // A const generic has no value in Verilog, but a loop has its length.
        self.lanes.next = 0.into();
        for _i in 0_usize..L {
            self.lanes.next = self.lanes.val() + 1;
        }
        self.two_beats.next = self.lanes.val() << 1;
        self.one.next = 1.into();

        // A read goes out: note what was asked, and when.
        self.i1_valid.d.next = self.i_valid.val();
        self.i1_tag.d.next = self.i_tag.val().get_bits::<5>(0);
        self.i1_lower.d.next = self.i_addr.val().get_bits::<7>(0);
        self.i1_span.d.next = self.i_bytes.val() + bit_cast::<13, 2>(self.i_addr.val().get_bits::<2>(0));
        self.i1_sum.d.next = self.i_bytes.val() + bit_cast::<13, 2>(self.i_addr.val().get_bits::<2>(0)) + 3;
        self.issue_bit.next = 0.into();
        if self.i1_valid.q.val() {
            self.issue_bit.next = self.one.val() << self.i1_tag.q.val();
        }
        self.issued.write_enable.next = self.i1_valid.q.val();
        self.issued.write_address.next = self.i1_tag.q.val();
        self.issued.write_data.next = bit_cast::<31, 11>(self.i1_sum.q.val().get_bits::<11>(2))
            | (bit_cast::<31, 13>(self.i1_span.q.val()) << 11)
            | (bit_cast::<31, 7>(self.i1_lower.q.val()) << 24);

        self.v1.d.next = self.c_valid.val();
        self.first1.d.next = self.c_first.val();
        self.last1.d.next = self.c_last.val();
        self.data1.d.next = self.c_data.val();
        self.tag0.next = self.c_tag.val().get_bits::<5>(0);
        self.tag1.d.next = self.tag0.val();
        self.ours1.d.next = (self.c_requester.val() == self.bdf.val()) & (self.c_tag.val().get_bits::<3>(5) == 0);
        self.status1.d.next = self.c_status.val();
        self.poisoned1.d.next = self.c_poisoned.val();
        self.span1.d.next = self.c_byte_count.val() + bit_cast::<13, 2>(self.c_lower.val().get_bits::<2>(0));
        self.lower1.d.next = self.c_lower.val();
        self.dwords1.d.next = self.c_dwords.val();

        // Stage 1: whether this completion fits its read, and what it leaves.
        self.poison.next = self.spoilt1.q.val() | self.poisoned1.q.val();
        self.left_next.next = self.left1.q.val() - self.dwords1.q.val();
        self.span_next.next = self.rest1.q.val() - (bit_cast::<13, 11>(self.dwords1.q.val()) << 2);
        self.line_next.next = self.place1.q.val().get_bits::<5>(2) + self.dwords1.q.val().get_bits::<5>(0);
        self.offset_next.next = self.offset1.q.val() + self.dwords1.q.val().get_bits::<10>(0);
        self.miscount2.d.next = self.rest1.q.val() != self.span1.q.val();
        self.misplaced2.d.next = (self.place1.q.val() != self.lower1.q.val()) | (self.dwords1.q.val() == 0);
        self.long2.d.next = self.dwords1.q.val() > self.left1.q.val();
        self.ragged2.d.next = self.line_next.val().get_bits::<4>(0) != 0;
        self.ends2.d.next = self.left1.q.val() == self.dwords1.q.val();
        self.refused2.d.next = self.status1.q.val() != 0;
        self.aborted2.d.next = self.status1.q.val() == 4;
        self.poison2.d.next = self.poison.val();

        // On the way into stage 1: what is left of the read. A completion of the same read that is in stage 1
        // now has the word. Whether its tag is outstanding does not matter: if not, nobody asks for what is left.
        self.advance.next = self.v1.q.val() & self.first1.q.val() & self.ours1.q.val();
        self.same.next = self.advance.val() & (self.tag0.val() == self.tag1.q.val());
        self.issued.read_address.next = self.tag0.val();
        self.progress.read_address.next = self.tag0.val();
        if self.same.val() {
            self.spoilt1.d.next = self.poison.val();
            self.offset1.d.next = self.offset_next.val();
            self.left1.d.next = self.left_next.val();
            self.rest1.d.next = self.span_next.val();
            self.place1.d.next = bit_cast::<7, 5>(self.line_next.val()) << 2;
        } else if self.fresh.q.val().get_bit(self.tag0.val().index()) {
            self.spoilt1.d.next = false;
            self.offset1.d.next = 0.into();
            self.left1.d.next = self.issued.read_data.val().get_bits::<11>(0);
            self.rest1.d.next = self.issued.read_data.val().get_bits::<13>(11);
            self.place1.d.next = self.issued.read_data.val().get_bits::<7>(24);
        } else {
            self.spoilt1.d.next = self.progress.read_data.val().get_bit(0);
            self.offset1.d.next = self.progress.read_data.val().get_bits::<10>(1);
            self.left1.d.next = self.progress.read_data.val().get_bits::<11>(11);
            self.rest1.d.next = self.progress.read_data.val().get_bits::<13>(22);
            self.place1.d.next = bit_cast::<7, 5>(self.progress.read_data.val().get_bits::<5>(35)) << 2;
        }

        // Stage 2: the verdict, and the beats. A completion shorter than its header says ends its read.
        self.wrong.next = self.miscount2.q.val()
            | self.misplaced2.q.val()
            | self.long2.q.val()
            | (self.ragged2.q.val() & !self.ends2.q.val());
        self.over.next = self.accept2.q.val() & (self.refused2.q.val() | self.wrong.val() | self.ends2.q.val());
        self.verdict.next = 0.into();
        if self.refused2.q.val() {
            self.verdict.next = 1.into();
            if self.aborted2.q.val() {
                self.verdict.next = 2.into();
            }
        } else if self.wrong.val() {
            self.verdict.next = 5.into();
        } else if self.poison2.q.val() {
            self.verdict.next = 4.into();
        }
        self.good.next = self.good_kept.q.val();
        self.ended.next = self.over_kept.q.val();
        self.cause.next = self.cause_kept.q.val();
        self.at.next = self.offset_kept.q.val();
        self.rest.next = self.rest_kept.q.val();
        self.more.next = self.more_kept.q.val();
        if self.first2.q.val() {
            self.good.next = self.accept2.q.val() & (self.verdict.val() == 0);
            self.ended.next = self.over.val();
            self.cause.next = self.verdict.val();
            self.at.next = self.offset2.q.val();
            self.rest.next = self.dwords2.q.val();
            self.more.next = self.more2.q.val();
        }
        self.truncated.next = self.v2.q.val() & self.last2.q.val() & self.good.val() & self.more.val();
        if self.v2.q.val() {
            self.open.d.next = !self.last2.q.val();
            self.good_kept.d.next = self.good.val();
            self.over_kept.d.next = self.ended.val();
            self.cause_kept.d.next = self.cause.val();
            self.offset_kept.d.next = self.at.val() + self.lanes.val().get_bits::<10>(0);
            self.more_kept.d.next = self.rest.val() > self.two_beats.val();
            self.rest_kept.d.next = 0.into();
            if self.more.val() {
                self.rest_kept.d.next = self.rest.val() - self.lanes.val();
            }
        }

        self.freed.next = self.over.val() | self.truncated.val();

        // Still stage 1: a read that stage 2 ends in this very cycle is not outstanding any more.
        self.known.next = self.outstanding.q.val().get_bit(self.tag1.q.val().index())
            & self.ours1.q.val()
            & !(self.freed.val() & (self.tag1.q.val() == self.tag2.q.val()));
        self.accept.next = self.v1.q.val() & self.first1.q.val() & self.known.val();
        self.accept2.d.next = self.accept.val();
        self.progress.write_enable.next = self.advance.val();
        self.progress.write_address.next = self.tag1.q.val();
        self.progress.write_data.next = bit_cast::<40, 1>(self.poison.val().into())
            | (bit_cast::<40, 10>(self.offset_next.val()) << 1)
            | (bit_cast::<40, 11>(self.left_next.val()) << 11)
            | (bit_cast::<40, 13>(self.span_next.val()) << 22)
            | (bit_cast::<40, 5>(self.line_next.val()) << 35);
        self.v2.d.next = self.v1.q.val();
        self.first2.d.next = self.first1.q.val();
        self.last2.d.next = self.last1.q.val();
        self.data2.d.next = self.data1.q.val();
        if self.first1.q.val() {
            self.tag2.d.next = self.tag1.q.val();
        }
        self.offset2.d.next = self.offset1.q.val();
        self.dwords2.d.next = self.dwords1.q.val();
        self.more2.d.next = self.dwords1.q.val() > self.lanes.val();
        self.unexpected3.d.next = self.v1.q.val() & self.first1.q.val() & !self.known.val();

        self.expiry.clock.next = self.clock.val();
        self.expiry.reset.next = self.reset.val();
        self.expiry.timeout.next = self.timeout.val();
        self.expiry.i_valid.next = self.i1_valid.q.val();
        self.expiry.i_tag.next = self.i1_tag.q.val();
        self.expiry.outstanding.next = self.outstanding.q.val();
        self.expiry.quiet.next = !self.c_valid.val() & !self.v1.q.val() & !self.v2.q.val() & !self.open.q.val();

        self.progress_bit.next = 0.into();
        if self.advance.val() {
            self.progress_bit.next = self.one.val() << self.tag1.q.val();
        }
        self.freed_bit.next = 0.into();
        if self.freed.val() {
            self.freed_bit.next = self.one.val() << self.tag2.q.val();
        }
        self.expire_bit.next = 0.into();
        if self.expiry.expire.val() {
            self.expire_bit.next = self.one.val() << self.expiry.tag.val();
        }
        self.outstanding.d.next =
            (self.outstanding.q.val() & !(self.freed_bit.val() | self.expire_bit.val())) | self.issue_bit.val();
        self.fresh.d.next = (self.fresh.q.val() & !self.progress_bit.val()) | self.issue_bit.val();
        self.retired.d.next = self.retired.q.val() | self.expire_bit.val();
        self.dead.next = self.retired.q.val();

        // Stage 3: out.
        self.v3.d.next = self.v2.q.val() & self.good.val() & (self.rest.val() != 0);
        self.data3.d.next = self.data2.q.val();
        self.tag3.d.next = self.tag2.q.val();
        self.at3.d.next = self.at.val();
        self.lanes3.d.next = self.rest.val().get_bits::<5>(0);
        if self.more.val() {
            self.lanes3.d.next = self.lanes.val().get_bits::<5>(0);
        }
        self.done3.d.next = (self.v2.q.val() & self.last2.q.val() & self.ended.val()) | self.truncated.val();
        self.done_tag3.d.next = self.tag2.q.val();
        self.cause3.d.next = self.cause.val();
        if self.truncated.val() {
            self.cause3.d.next = 5.into();
        }
        if self.expiry.expire.val() {
            self.done3.d.next = true;
            self.done_tag3.d.next = self.expiry.tag.val();
            self.cause3.d.next = 3.into();
        }
        self.o_valid.next = self.v3.q.val();
        self.o_data.next = self.data3.q.val();
        self.o_tag.next = bit_cast::<8, 5>(self.tag3.q.val());
        self.o_dword.next = self.at3.q.val();
        self.o_lanes.next = self.lanes3.q.val();
        self.o_done.next = self.done3.q.val();
        self.o_done_tag.next = bit_cast::<8, 5>(self.done_tag3.q.val());
        self.o_done_cause.next = self.cause3.q.val();
        self.unexpected.next = self.unexpected3.q.val();

        if self.reset.val() {
            self.outstanding.d.next = 0.into();
            self.retired.d.next = 0.into();
            self.i1_valid.d.next = false;
            self.v1.d.next = false;
            self.v2.d.next = false;
            self.open.d.next = false;
            self.v3.d.next = false;
            self.done3.d.next = false;
            self.unexpected3.d.next = false;
        }
    }
}

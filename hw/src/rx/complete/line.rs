//! Puts the completions of one write together and offers it, while the next is put together behind it.
//!
//! ```text
//! l_* → job → read a completion a cycle → register → with index, full or compact → line → offer (done_*)
//! ```
//!
//! A write is up to two full completions, four compact ones, or the producer index. A line begins to be read when it
//! surely finds the line register empty: when one line at most is ahead of it, which has gone to the offer by then.

use crate::common::join::Join;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Line {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub l_ready: Signal<Out, Bit>,
    pub l_valid: Signal<In, Bit>,
    /// The index itself is to be written.
    pub l_plain: Signal<In, Bit>,
    pub l_compact: Signal<In, Bit>,
    pub l_with_tag: Signal<In, Bit>,
    pub l_queue: Signal<In, Bits<4>>,
    pub l_first: Signal<In, Bits<4>>,
    pub l_count: Signal<In, Bits<3>>,
    pub l_index: Signal<In, Bits<16>>,
    pub l_size_log2: Signal<In, Bits<4>>,
    pub l_base: Signal<In, Bits<52>>,
    pub l_offset: Signal<In, Bits<20>>,
    /// Software may see the index once the write is taken.
    pub l_moves: Signal<In, Bit>,
    pub read_address: Signal<Out, Bits<8>>,
    pub read_data: Signal<In, Bits<256>>,
    pub free: Signal<Out, Bit>,
    pub free_queue: Signal<Out, Bits<4>>,
    pub free_count: Signal<Out, Bits<3>>,
    pub done_valid: Signal<Out, Bit>,
    pub done_addr: Signal<Out, Bits<64>>,
    pub done_dwords: Signal<Out, Bits<5>>,
    pub done_data: Signal<Out, Bits<512>>,
    pub done_ready: Signal<In, Bit>,
    pub taken: Signal<Out, Bit>,
    pub taken_queue: Signal<Out, Bits<4>>,
    pub taken_moves: Signal<Out, Bit>,
    pub after: Signal<Out, Bits<16>>,
    // The job: what is still to be read of it.
    valid: DFF<Bit>,
    plain: DFF<Bit>,
    compact: DFF<Bit>,
    with_tag: DFF<Bit>,
    queue: DFF<Bits<4>>,
    place: DFF<Bits<4>>,
    count: DFF<Bits<3>>,
    done: DFF<Bits<3>>,
    index: DFF<Bits<16>>,
    size_log2: DFF<Bits<4>>,
    base: DFF<Bits<52>>,
    offset: DFF<Bits<20>>,
    moves: DFF<Bit>,
    freed: DFF<Bit>,
    freed_queue: DFF<Bits<4>>,
    freed_count: DFF<Bits<3>>,
    // The completion being read, and all that the line needs of the job.
    r_valid: DFF<Bit>,
    r_last: DFF<Bit>,
    r_plain: DFF<Bit>,
    r_compact: DFF<Bit>,
    r_with_tag: DFF<Bit>,
    r_lane: DFF<Bits<2>>,
    r_index: DFF<Bits<16>>,
    r_phase: DFF<Bit>,
    r_address: DFF<Bits<64>>,
    r_dwords: DFF<Bits<5>>,
    r_queue: DFF<Bits<4>>,
    r_after: DFF<Bits<16>>,
    r_moves: DFF<Bit>,
    // The same, with the completion, which comes late out of the RAM.
    s_valid: DFF<Bit>,
    s_last: DFF<Bit>,
    s_plain: DFF<Bit>,
    s_compact: DFF<Bit>,
    s_with_tag: DFF<Bit>,
    s_lane: DFF<Bits<2>>,
    s_index: DFF<Bits<16>>,
    s_phase: DFF<Bit>,
    s_address: DFF<Bits<64>>,
    s_dwords: DFF<Bits<5>>,
    s_queue: DFF<Bits<4>>,
    s_after: DFF<Bits<16>>,
    s_moves: DFF<Bit>,
    s_data: DFF<Bits<256>>,
    // The line.
    full: DFF<Bit>,
    line0: DFF<Bits<128>>,
    line1: DFF<Bits<128>>,
    line2: DFF<Bits<128>>,
    line3: DFF<Bits<128>>,
    address: DFF<Bits<64>>,
    dwords: DFF<Bits<5>>,
    line_queue: DFF<Bits<4>>,
    line_after: DFF<Bits<16>>,
    line_moves: DFF<Bit>,
    // The offer.
    o_valid: DFF<Bit>,
    o_data: DFF<Bits<512>>,
    o_address: DFF<Bits<64>>,
    o_dwords: DFF<Bits<5>>,
    o_queue: DFF<Bits<4>>,
    o_after: DFF<Bits<16>>,
    o_moves: DFF<Bit>,
    // `done_ready` comes late in its cycle: what need not follow at once follows in the next.
    was_taken: DFF<Bit>,
    t_queue: DFF<Bits<4>>,
    t_after: DFF<Bits<16>>,
    t_moves: DFF<Bit>,
    reading: Signal<Local, Bit>,
    joining: Signal<Local, Bit>,
    crowd: Signal<Local, Bit>,
    read: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    pass: Signal<Local, Bits<16>>,
    dwords_of: Signal<Local, Bits<5>>,
    status: Signal<Local, Bits<32>>,
    extra: Signal<Local, Bits<32>>,
    no_tag: Signal<Local, Bits<32>>,
    even: Signal<Local, Bits<128>>,
    odd: Signal<Local, Bits<128>>,
    low: Join<32, 4, 128>,
    high: Join<32, 4, 128>,
    short: Join<32, 4, 128>,
    lines: Join<128, 4, 512>,
}

impl Logic for Line {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, plain, compact, with_tag, queue, place, count, done, index, size_log2);
        dff_setup!(self, clock, base, offset, moves, freed, freed_queue, freed_count);
        dff_setup!(self, clock, r_valid, r_last, r_plain, r_compact, r_with_tag, r_lane, r_index, r_phase);
        dff_setup!(self, clock, r_address, r_dwords, r_queue, r_after, r_moves);
        dff_setup!(self, clock, s_valid, s_last, s_plain, s_compact, s_with_tag, s_lane, s_index, s_phase);
        dff_setup!(self, clock, s_address, s_dwords, s_queue, s_after, s_moves, s_data);
        dff_setup!(self, clock, full, line0, line1, line2, line3, address, dwords, line_queue, line_after, line_moves);
        dff_setup!(self, clock, o_valid, o_data, o_address, o_dwords, o_queue, o_after, o_moves);
        dff_setup!(self, clock, was_taken, t_queue, t_after, t_moves);

        // Reading.
        self.reading.next = self.r_valid.q.val() & self.r_last.q.val();
        self.joining.next = self.s_valid.q.val() & self.s_last.q.val();
        self.crowd.next = (self.o_valid.q.val() & (self.full.q.val() | self.joining.val() | self.reading.val()))
            | (self.full.q.val() & (self.joining.val() | self.reading.val()))
            | (self.joining.val() & self.reading.val());
        self.read.next = self.valid.q.val() & (!self.crowd.val() | (self.done.q.val() != 0));
        self.ends.next = self.read.val() & (self.count.q.val() == 1);
        self.l_ready.next = !self.valid.q.val();
        self.pass.next = self.index.q.val() >> self.size_log2.q.val();
        self.read_address.next =
            (bit_cast::<8, 4>(self.queue.q.val()) << 4) | bit_cast::<8, 4>(self.place.q.val());
        self.dwords_of.next = bit_cast::<5, 3>(self.count.q.val()) << 3;
        if self.compact.q.val() {
            self.dwords_of.next = bit_cast::<5, 3>(self.count.q.val()) << 2;
        }
        if self.plain.q.val() {
            self.dwords_of.next = 1.into();
        }
        self.r_valid.d.next = self.read.val();
        self.r_last.d.next = self.ends.val();
        self.r_plain.d.next = self.plain.q.val();
        self.r_compact.d.next = self.compact.q.val();
        self.r_with_tag.d.next = self.with_tag.q.val();
        self.r_lane.d.next = self.done.q.val().get_bits::<2>(0);
        self.r_index.d.next = self.index.q.val();
        self.r_phase.d.next = !self.pass.val().get_bit(0);
        self.r_queue.d.next = self.queue.q.val();
        self.r_moves.d.next = self.moves.q.val();
        self.freed.d.next = self.ends.val() & !self.plain.q.val();
        self.freed_queue.d.next = self.queue.q.val();
        self.freed_count.d.next = self.done.q.val() + 1;
        if self.read.val() {
            if self.done.q.val() == 0 {
                self.r_dwords.d.next = self.dwords_of.val();
                self.r_after.d.next = self.index.q.val();
                if !self.plain.q.val() {
                    self.r_after.d.next = self.index.q.val() + bit_cast::<16, 3>(self.count.q.val());
                }
                self.r_address.d.next = (bit_cast::<64, 52>(self.base.q.val()) << 12)
                    + bit_cast::<64, 20>(self.offset.q.val());
            }
            self.index.d.next = self.index.q.val() + 1;
            self.place.d.next = self.place.q.val() + 1;
            self.done.d.next = self.done.q.val() + 1;
            self.count.d.next = self.count.q.val() - 1;
            if self.ends.val() {
                self.valid.d.next = false;
            }
        }
        if self.l_valid.val() {
            self.valid.d.next = true;
            self.plain.d.next = self.l_plain.val();
            self.compact.d.next = self.l_compact.val();
            self.with_tag.d.next = self.l_with_tag.val();
            self.queue.d.next = self.l_queue.val();
            self.place.d.next = self.l_first.val();
            self.count.d.next = self.l_count.val();
            self.done.d.next = 0.into();
            self.index.d.next = self.l_index.val();
            self.size_log2.d.next = self.l_size_log2.val();
            self.base.d.next = self.l_base.val();
            self.offset.d.next = self.l_offset.val();
            self.moves.d.next = self.l_moves.val();
        }
        self.free.next = self.freed.q.val();
        self.free_queue.next = self.freed_queue.q.val();
        self.free_count.next = self.freed_count.q.val();

        self.s_data.d.next = self.read_data.val();
        self.s_valid.d.next = self.r_valid.q.val();
        self.s_last.d.next = self.r_last.q.val();
        self.s_plain.d.next = self.r_plain.q.val();
        self.s_compact.d.next = self.r_compact.q.val();
        self.s_with_tag.d.next = self.r_with_tag.q.val();
        self.s_lane.d.next = self.r_lane.q.val();
        self.s_index.d.next = self.r_index.q.val();
        self.s_phase.d.next = self.r_phase.q.val();
        self.s_address.d.next = self.r_address.q.val();
        self.s_dwords.d.next = self.r_dwords.q.val();
        self.s_queue.d.next = self.r_queue.q.val();
        self.s_after.d.next = self.r_after.q.val();
        self.s_moves.d.next = self.r_moves.q.val();

        // The completion with index and phase; or the four words of the compact one, which has no tag beside a hash.
        self.low.part[0].next = self.s_data.q.val().get_bits::<32>(0);
        self.low.part[1].next = self.s_data.q.val().get_bits::<32>(32);
        self.low.part[2].next = self.s_data.q.val().get_bits::<32>(64);
        self.low.part[3].next = self.s_data.q.val().get_bits::<32>(96);
        self.high.part[0].next = self.s_data.q.val().get_bits::<32>(128);
        self.high.part[1].next = self.s_data.q.val().get_bits::<32>(160);
        self.high.part[2].next = self.s_data.q.val().get_bits::<32>(192);
        self.high.part[3].next = self.s_data.q.val().get_bits::<32>(224)
            | bit_cast::<32, 16>(self.s_index.q.val())
            | (bit_cast::<32, 1>(self.s_phase.q.val().into()) << 31);
        self.no_tag.next = self.s_data.q.val().get_bits::<32>(64);
        self.extra.next = self.s_data.q.val().get_bits::<32>(96);
        self.status.next = self.no_tag.val().replace_bit(22, false);
        if self.s_with_tag.q.val() {
            self.status.next = self.no_tag.val();
            self.extra.next = bit_cast::<32, 16>(self.s_data.q.val().get_bits::<16>(160))
                | (bit_cast::<32, 16>(self.s_data.q.val().get_bits::<16>(48)) << 16);
        }
        self.short.part[0].next = bit_cast::<32, 16>(self.s_data.q.val().get_bits::<16>(0))
            | (bit_cast::<32, 16>(self.s_data.q.val().get_bits::<16>(32)) << 16);
        self.short.part[1].next = self.s_data.q.val().get_bits::<32>(128);
        self.short.part[2].next = self.extra.val();
        self.short.part[3].next = self.status.val() | (bit_cast::<32, 1>(self.s_phase.q.val().into()) << 31);
        self.even.next = self.low.whole.val();
        self.odd.next = self.high.whole.val();
        if self.s_compact.q.val() {
            self.even.next = self.short.whole.val();
            self.odd.next = self.short.whole.val();
        }
        if self.s_plain.q.val() {
            self.even.next = bit_cast::<128, 16>(self.s_index.q.val());
        }

        // Line and offer.
        self.lines.part[0].next = self.line0.q.val();
        self.lines.part[1].next = self.line1.q.val();
        self.lines.part[2].next = self.line2.q.val();
        self.lines.part[3].next = self.line3.q.val();
        if self.o_valid.q.val() & self.done_ready.val() {
            self.o_valid.d.next = false;
        }
        if self.full.q.val() & !self.o_valid.q.val() {
            self.full.d.next = false;
            self.o_valid.d.next = true;
            self.o_data.d.next = self.lines.whole.val();
            self.o_address.d.next = self.address.q.val();
            self.o_dwords.d.next = self.dwords.q.val();
            self.o_queue.d.next = self.line_queue.q.val();
            self.o_after.d.next = self.line_after.q.val();
            self.o_moves.d.next = self.line_moves.q.val();
        }
        if self.s_valid.q.val() {
            match self.s_lane.q.val().index() {
                0 => {
                    self.line0.d.next = self.even.val();
                    self.line1.d.next = self.odd.val();
                }
                1 => {
                    if self.s_compact.q.val() {
                        self.line1.d.next = self.odd.val();
                    } else {
                        self.line2.d.next = self.even.val();
                        self.line3.d.next = self.odd.val();
                    }
                }
                2 => {
                    self.line2.d.next = self.even.val();
                }
                _ => {
                    self.line3.d.next = self.odd.val();
                }
            }
            self.address.d.next = self.s_address.q.val();
            self.dwords.d.next = self.s_dwords.q.val();
            self.line_queue.d.next = self.s_queue.q.val();
            self.line_after.d.next = self.s_after.q.val();
            self.line_moves.d.next = self.s_moves.q.val();
            if self.s_last.q.val() {
                self.full.d.next = true;
            }
        }
        self.done_valid.next = self.o_valid.q.val();
        self.done_addr.next = self.o_address.q.val();
        self.done_dwords.next = self.o_dwords.q.val();
        self.done_data.next = self.o_data.q.val();
        self.was_taken.d.next = self.o_valid.q.val() & self.done_ready.val();
        self.t_queue.d.next = self.o_queue.q.val();
        self.t_after.d.next = self.o_after.q.val();
        self.t_moves.d.next = self.o_moves.q.val();
        self.taken.next = self.was_taken.q.val();
        self.taken_queue.next = self.t_queue.q.val();
        self.taken_moves.next = self.t_moves.q.val();
        self.after.next = self.t_after.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.r_valid.d.next = false;
            self.s_valid.d.next = false;
            self.full.d.next = false;
            self.o_valid.d.next = false;
            self.freed.d.next = false;
            self.was_taken.d.next = false;
        }
    }
}

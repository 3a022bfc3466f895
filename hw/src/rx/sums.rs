//! The two sums over a frame that checksums are checked with.
//!
//! ```text
//! beat ─┬→ 1: up to the end, from byte 14 → 2 → 3 ─┬────────────→ raw
//!       └→ 1: words at fixed places → 2: packet end → 3: cut → 4 → body
//! ```
//!
//! `raw` is over bytes 14 to the end of the frame, `body` over bytes 14 to the end of the network packet: by the total
//! length of IPv4 or the payload length of IPv6, behind up to two tags that are still there. Both are folded
//! one's-complement sums of big-endian words, an odd last byte padded with 0; 0 only when every byte is 0. What `body` is
//! for a frame that holds no whole IP packet means nothing.
//!
//! The length lies before byte 28 and no packet ends before byte 34. So beats within the first 32 bytes are
//! not cut, and the end is known in time for the others: two cycles after the length, when the beat itself, or the next, is in stage 2.
//!
//! `sum_valid` comes for every frame, [`LATENCY`] cycles after the beat with `s_last`. A beat a cycle.

use crate::common::join::Join;
use crate::rx::ones_sum::{self, OnesSum};
use crate::rx::pick::Pick;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from a frame's last beat to its sums.
pub const LATENCY: usize = 4 + ones_sum::LATENCY;
/// Bytes that no sum is over.
const HEADER: usize = 14;
/// First byte that may be behind a packet, in a beat of at most this many.
const UNCUT: usize = 32;

/// W = 8·K bits; P = 128·N, at least W.
#[derive(LogicBlock)]
pub struct Sums<const W: usize, const K: usize, const P: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_keep: Signal<In, Bits<K>>,
    pub s_last: Signal<In, Bit>,
    pub sum_valid: Signal<Out, Bit>,
    pub raw: Signal<Out, Bits<16>>,
    pub body: Signal<Out, Bits<16>>,
    beat: DFF<Bits<14>>,
    // Types and lengths, by where they are.
    word_12: Pick<W>,
    word_16: Pick<W>,
    word_18: Pick<W>,
    word_20: Pick<W>,
    word_22: Pick<W>,
    word_24: Pick<W>,
    word_26: Pick<W>,
    packet_end: DFF<Bits<20>>,
    a_valid: DFF<Bit>,
    a_last: DFF<Bit>,
    a_beat: DFF<Bits<14>>,
    a_data: DFF<Bits<W>>,
    b_valid: DFF<Bit>,
    b_last: DFF<Bit>,
    b_beat: DFF<Bits<14>>,
    b_data: DFF<Bits<W>>,
    c_valid: DFF<Bit>,
    c_last: DFF<Bit>,
    c_data: DFF<Bits<W>>,
    c_keep: DFF<Bits<K>>,
    d_valid: DFF<Bit>,
    d_last: DFF<Bit>,
    d_data: DFF<Bits<W>>,
    raw_sum: OnesSum<W, P, N>,
    body_sum: OnesSum<W, P, N>,
    raw_held: DFF<Bits<16>>,
    counted: Join<8, K, W>,
    cut: Join<8, K, W>,
    counts: Signal<Local, Bits<K>>,
    v6: Signal<Local, Bit>,
    total: Signal<Local, Bits<16>>,
    payload: Signal<Local, Bits<16>>,
    length: Signal<Local, Bits<20>>,
    base: Signal<Local, Bits<20>>,
    base_6: Signal<Local, Bits<20>>,
    end_beat: Signal<Local, Bits<14>>,
    end_byte: Signal<Local, Bits<6>>,
    head_0: Constant<Bits<K>>,
    head_1: Constant<Bits<K>>,
    ones: Constant<Bits<K>>,
    log_bytes: Constant<Bits<4>>,
    byte_bits: Constant<Bits<6>>,
    late: Constant<Bits<14>>,
    early: Constant<Bits<14>>,
    one: Constant<Bits<14>>,
    plain: Constant<Bits<20>>,
    tag: Constant<Bits<20>>,
    two_tags: Constant<Bits<20>>,
    plain_6: Constant<Bits<20>>,
    tag_6: Constant<Bits<20>>,
    two_tags_6: Constant<Bits<20>>,
}

/// The bytes from `from` on of a beat.
fn from<const K: usize>(from: usize) -> Bits<K> {
    (from..K).fold(Bits::default(), |mask: Bits<K>, byte| mask.replace_bit(byte, true))
}

impl<const W: usize, const K: usize, const P: usize, const N: usize> Default for Sums<W, K, P, N> {
    fn default() -> Self {
        assert!(W == 8 * K && K.is_power_of_two() && (8..=64).contains(&K));
        // No beat number with these bits clear is 1: beats of 64 bytes are always cut.
        let (late, early) = if K <= UNCUT { (0x3FFF & !(UNCUT / K - 1), 0usize) } else { (0, 1) };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_valid: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_last: Default::default(),
            sum_valid: Default::default(),
            raw: Default::default(),
            body: Default::default(),
            beat: Default::default(),
            word_12: Pick::at(12),
            word_16: Pick::at(16),
            word_18: Pick::at(18),
            word_20: Pick::at(20),
            word_22: Pick::at(22),
            word_24: Pick::at(24),
            word_26: Pick::at(26),
            packet_end: Default::default(),
            a_valid: Default::default(),
            a_last: Default::default(),
            a_beat: Default::default(),
            a_data: Default::default(),
            b_valid: Default::default(),
            b_last: Default::default(),
            b_beat: Default::default(),
            b_data: Default::default(),
            c_valid: Default::default(),
            c_last: Default::default(),
            c_data: Default::default(),
            c_keep: Default::default(),
            d_valid: Default::default(),
            d_last: Default::default(),
            d_data: Default::default(),
            raw_sum: Default::default(),
            body_sum: Default::default(),
            raw_held: Default::default(),
            counted: Default::default(),
            cut: Default::default(),
            counts: Default::default(),
            v6: Default::default(),
            total: Default::default(),
            payload: Default::default(),
            length: Default::default(),
            base: Default::default(),
            base_6: Default::default(),
            end_beat: Default::default(),
            end_byte: Default::default(),
            head_0: Constant::new(from(HEADER)),
            head_1: Constant::new(from(HEADER.saturating_sub(K))),
            ones: Constant::new(from(0)),
            log_bytes: Constant::new((K.ilog2() as usize).to_bits()),
            byte_bits: Constant::new((K - 1).to_bits()),
            late: Constant::new(late.to_bits()),
            early: Constant::new(early.to_bits()),
            one: Constant::new(1.into()),
            plain: Constant::new(14.into()),
            tag: Constant::new(18.into()),
            two_tags: Constant::new(22.into()),
            // IPv6 counts what is behind its 40 bytes.
            plain_6: Constant::new(54.into()),
            tag_6: Constant::new(58.into()),
            two_tags_6: Constant::new(62.into()),
        }
    }
}

impl<const W: usize, const K: usize, const P: usize, const N: usize> Logic for Sums<W, K, P, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat, packet_end, a_valid, a_last, a_beat, a_data, b_valid, b_last, b_beat, b_data);
        dff_setup!(self, clock, c_valid, c_last, c_data, c_keep, d_valid, d_last, d_data, raw_held);
        self.raw_sum.clock.next = self.clock.val();
        self.raw_sum.reset.next = self.reset.val();
        self.body_sum.clock.next = self.clock.val();
        self.body_sum.reset.next = self.reset.val();
        self.word_12.clock.next = self.clock.val();
        self.word_12.valid.next = self.s_valid.val();
        self.word_12.data.next = self.s_data.val();
        self.word_12.beat.next = self.beat.q.val();
        self.word_16.clock.next = self.clock.val();
        self.word_16.valid.next = self.s_valid.val();
        self.word_16.data.next = self.s_data.val();
        self.word_16.beat.next = self.beat.q.val();
        self.word_18.clock.next = self.clock.val();
        self.word_18.valid.next = self.s_valid.val();
        self.word_18.data.next = self.s_data.val();
        self.word_18.beat.next = self.beat.q.val();
        self.word_20.clock.next = self.clock.val();
        self.word_20.valid.next = self.s_valid.val();
        self.word_20.data.next = self.s_data.val();
        self.word_20.beat.next = self.beat.q.val();
        self.word_22.clock.next = self.clock.val();
        self.word_22.valid.next = self.s_valid.val();
        self.word_22.data.next = self.s_data.val();
        self.word_22.beat.next = self.beat.q.val();
        self.word_24.clock.next = self.clock.val();
        self.word_24.valid.next = self.s_valid.val();
        self.word_24.data.next = self.s_data.val();
        self.word_24.beat.next = self.beat.q.val();
        self.word_26.clock.next = self.clock.val();
        self.word_26.valid.next = self.s_valid.val();
        self.word_26.data.next = self.s_data.val();
        self.word_26.beat.next = self.beat.q.val();

        if self.s_valid.val() {
            self.beat.d.next = self.beat.q.val() + self.one.val();
            if self.s_last.val() {
                self.beat.d.next = 0.into();
            }
        }

        // 1: zeros outside of the frame and in its header.
        self.counts.next = self.s_keep.val();
        if self.beat.q.val() == 0 {
            self.counts.next = self.s_keep.val() & self.head_0.val();
        }
        if self.beat.q.val() == self.one.val() {
            self.counts.next = self.s_keep.val() & self.head_1.val();
        }
        for i in 0_usize..K {
            self.counted.part[i].next = 0.into();
            if self.counts.val().get_bit(i) {
                self.counted.part[i].next = self.s_data.val().get_bits::<8>(8 * i);
            }
        }
        self.a_valid.d.next = self.s_valid.val();
        self.a_last.d.next = self.s_last.val();
        self.a_beat.d.next = self.beat.q.val();
        self.a_data.d.next = self.counted.whole.val();

        // 2: where the packet ends.
        self.v6.next = self.word_12.v6.val();
        self.total.next = self.word_16.word.val();
        self.payload.next = self.word_18.word.val();
        self.base.next = self.plain.val();
        self.base_6.next = self.plain_6.val();
        if self.word_12.tag.val() {
            self.v6.next = self.word_16.v6.val();
            self.total.next = self.word_20.word.val();
            self.payload.next = self.word_22.word.val();
            self.base.next = self.tag.val();
            self.base_6.next = self.tag_6.val();
            if self.word_16.tag.val() {
                self.v6.next = self.word_20.v6.val();
                self.total.next = self.word_24.word.val();
                self.payload.next = self.word_26.word.val();
                self.base.next = self.two_tags.val();
                self.base_6.next = self.two_tags_6.val();
            }
        }
        self.length.next = bit_cast::<20, 16>(self.total.val());
        if self.v6.val() {
            self.length.next = bit_cast::<20, 16>(self.payload.val());
            self.base.next = self.base_6.val();
        }
        self.packet_end.d.next = self.length.val() + self.base.val();
        self.b_valid.d.next = self.a_valid.q.val();
        self.b_last.d.next = self.a_last.q.val();
        self.b_beat.d.next = self.a_beat.q.val();
        self.b_data.d.next = self.a_data.q.val();

        // 3: which bytes lie before it.
        self.end_beat.next = self.packet_end.q.val().get_bits::<14>(self.log_bytes.val().index());
        self.end_byte.next = self.packet_end.q.val().get_bits::<6>(0) & self.byte_bits.val();
        self.c_keep.d.next = 0.into();
        if self.b_beat.q.val() == self.end_beat.val() {
            self.c_keep.d.next = !(self.ones.val() << self.end_byte.val());
        }
        if (self.b_beat.q.val() < self.end_beat.val())
            | ((self.b_beat.q.val() & self.late.val()) == self.early.val())
        {
            self.c_keep.d.next = self.ones.val();
        }
        self.c_valid.d.next = self.b_valid.q.val();
        self.c_last.d.next = self.b_last.q.val();
        self.c_data.d.next = self.b_data.q.val();
        self.raw_sum.valid.next = self.c_valid.q.val();
        self.raw_sum.data.next = self.c_data.q.val();
        self.raw_sum.last.next = self.c_last.q.val();

        // 4: zeros behind it.
        for i in 0_usize..K {
            self.cut.part[i].next = 0.into();
            if self.c_keep.q.val().get_bit(i) {
                self.cut.part[i].next = self.c_data.q.val().get_bits::<8>(8 * i);
            }
        }
        self.d_valid.d.next = self.c_valid.q.val();
        self.d_last.d.next = self.c_last.q.val();
        self.d_data.d.next = self.cut.whole.val();
        self.body_sum.valid.next = self.d_valid.q.val();
        self.body_sum.data.next = self.d_data.q.val();
        self.body_sum.last.next = self.d_last.q.val();

        // The raw sum is a cycle earlier.
        self.raw_held.d.next = self.raw_sum.sum.val();
        self.sum_valid.next = self.body_sum.out_valid.val();
        self.raw.next = self.raw_held.q.val();
        self.body.next = self.body_sum.sum.val();

        if self.reset.val() {
            self.beat.d.next = 0.into();
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.c_valid.d.next = false;
            self.d_valid.d.next = false;
        }
    }
}

//! Sends complete frames from the packet buffer to the wire.
//!
//! ```text
//! f_* and g_* (a frame, complete) ─→ rows, one a cycle ─→ buffer ─→ 1: word ─→ 2: align ─→ FIFO of 16 ─→ wire_*
//! ```
//!
//! The first byte of a frame lies at `offset` in its first row; beats are cut from pairs of neighbouring rows.
//! Rows are read one a cycle while the FIFO has room for those on their way, so within a frame the wire never
//! waits. A row is free as soon as it is read (`row`). A bad frame's rows are skipped; so is every frame while
//! queue and wire are both disabled, so that the queue can become idle.
//!
//! `sent` comes when the wire has taken the last beat, `dropped` for a frame that is skipped. A frame of n beats
//! takes n + 3 cycles.

use crate::common::fifo::Fifo;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits and K bytes a row, 2^A rows; D = 2 W; X = W + 7 (a beat, last, bytes less one).
#[derive(LogicBlock)]
pub struct Sender<const W: usize, const K: usize, const A: usize, const D: usize, const X: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub tx_enable: Signal<In, Bit>,
    pub f_valid: Signal<In, Bit>,
    pub f_length: Signal<In, Bits<14>>,
    pub f_offset: Signal<In, Bits<6>>,
    pub f_ready: Signal<Out, Bit>,
    pub g_valid: Signal<In, Bit>,
    pub g_bad: Signal<In, Bit>,
    pub row: Signal<Out, Bits<12>>,
    pub read_row: Signal<Out, Bits<A>>,
    pub read_data: Signal<In, Bits<W>>,
    pub wire_valid: Signal<Out, Bit>,
    pub wire_data: Signal<Out, Bits<W>>,
    pub wire_keep: Signal<Out, Bits<K>>,
    pub wire_last: Signal<Out, Bit>,
    pub wire_ready: Signal<In, Bit>,
    pub sent: Signal<Out, Bit>,
    pub dropped: Signal<Out, Bit>,
    frames: Fifo<20, 5, 6>,
    results: Fifo<2, 6, 7>,
    beats: Fifo<X, 4, 5>,
    // 0 take a frame, 1 measure it, 2 read its rows.
    state: DFF<Bits<2>>,
    length: DFF<Bits<14>>,
    offset: DFF<Bits<6>>,
    skip: DFF<Bit>,
    // Beats still to read for, and whether the frame reaches into one row more than it has beats.
    left: DFF<Bits<12>>,
    spills: DFF<Bit>,
    tail: DFF<Bits<6>>,
    opening: DFF<Bit>,
    next_row: DFF<Bits<12>>,
    past: Signal<Local, Bits<14>>,
    extent: Signal<Local, Bits<15>>,
    rows: Signal<Local, Bits<12>>,
    count: Signal<Local, Bits<12>>,
    room: DFF<Bit>,
    issue: Signal<Local, Bit>,
    closing: Signal<Local, Bit>,
    v0: DFF<Bit>,
    first0: DFF<Bit>,
    last0: DFF<Bit>,
    offset0: DFF<Bits<6>>,
    tail0: DFF<Bits<6>>,
    v1: DFF<Bit>,
    first1: DFF<Bit>,
    last1: DFF<Bit>,
    offset1: DFF<Bits<6>>,
    tail1: DFF<Bits<6>>,
    word1: DFF<Bits<W>>,
    earlier: DFF<Bits<W>>,
    pair: Signal<Local, Bits<D>>,
    turn: Signal<Local, Bits<9>>,
    cut: Signal<Local, Bits<D>>,
    v2: DFF<Bit>,
    last2: DFF<Bit>,
    tail2: DFF<Bits<6>>,
    data2: DFF<Bits<W>>,
    missing: Signal<Local, Bits<6>>,
    sent3: DFF<Bit>,
    dropped3: DFF<Bit>,
    k_last: Constant<Bits<6>>,
    k_mask: Constant<Bits<15>>,
    k_log2: Constant<Bits<4>>,
    width: Constant<Bits<10>>,
    tail_at: Constant<Bits<10>>,
    ones: Constant<Bits<K>>,
}

impl<const W: usize, const K: usize, const A: usize, const D: usize, const X: usize> Default
    for Sender<W, K, A, D, X>
{
    fn default() -> Self {
        assert!(W == 8 * K && D == 2 * W && X == W + 7);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            tx_enable: Default::default(),
            f_valid: Default::default(),
            f_length: Default::default(),
            f_offset: Default::default(),
            f_ready: Default::default(),
            g_valid: Default::default(),
            g_bad: Default::default(),
            row: Default::default(),
            read_row: Default::default(),
            read_data: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_ready: Default::default(),
            sent: Default::default(),
            dropped: Default::default(),
            frames: Default::default(),
            results: Default::default(),
            beats: Default::default(),
            state: Default::default(),
            length: Default::default(),
            offset: Default::default(),
            skip: Default::default(),
            left: Default::default(),
            spills: Default::default(),
            tail: Default::default(),
            opening: Default::default(),
            next_row: Default::default(),
            past: Default::default(),
            extent: Default::default(),
            rows: Default::default(),
            count: Default::default(),
            room: Default::default(),
            issue: Default::default(),
            closing: Default::default(),
            v0: Default::default(),
            first0: Default::default(),
            last0: Default::default(),
            offset0: Default::default(),
            tail0: Default::default(),
            v1: Default::default(),
            first1: Default::default(),
            last1: Default::default(),
            offset1: Default::default(),
            tail1: Default::default(),
            word1: Default::default(),
            earlier: Default::default(),
            pair: Default::default(),
            turn: Default::default(),
            cut: Default::default(),
            v2: Default::default(),
            last2: Default::default(),
            tail2: Default::default(),
            data2: Default::default(),
            missing: Default::default(),
            sent3: Default::default(),
            dropped3: Default::default(),
            k_last: Constant::new((K - 1).to_bits()),
            k_mask: Constant::new((K - 1).to_bits()),
            k_log2: Constant::new(u64::from(K.ilog2()).into()),
            width: Constant::new(W.to_bits()),
            tail_at: Constant::new((W + 1).to_bits()),
            ones: Constant::new(!Bits::<K>::default()),
        }
    }
}

impl<const W: usize, const K: usize, const A: usize, const D: usize, const X: usize> Logic
    for Sender<W, K, A, D, X>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, length, offset, skip, left, spills, tail, opening, next_row, room);
        dff_setup!(self, clock, v0, first0, last0, offset0, tail0, v1, first1, last1, offset1, tail1, word1, earlier);
        dff_setup!(self, clock, v2, last2, tail2, data2, sent3, dropped3);
        self.frames.clock.next = self.clock.val();
        self.frames.reset.next = self.reset.val();
        self.results.clock.next = self.clock.val();
        self.results.reset.next = self.reset.val();
        self.beats.clock.next = self.clock.val();
        self.beats.reset.next = self.reset.val();

        self.frames.s_valid.next = self.f_valid.val();
        self.frames.s_data.next =
            bit_cast::<20, 14>(self.f_length.val()) | (bit_cast::<20, 6>(self.f_offset.val()) << 14);
        self.f_ready.next = self.frames.s_ready.val();
        // Twice the frames that can be announced: never full.
        self.results.s_valid.next = self.g_valid.val();
        self.results.s_data.next = bit_cast::<2, 1>(self.g_bad.val().into());
        self.frames.m_ready.next = false;
        self.results.m_ready.next = false;

        self.past.next = self.length.q.val() - 1;
        self.extent.next = bit_cast::<15, 14>(self.length.q.val()) + bit_cast::<15, 6>(self.offset.q.val())
            + self.k_mask.val();
        self.rows.next = bit_cast::<12, 15>(self.extent.val() >> self.k_log2.val());
        self.count.next = bit_cast::<12, 14>(self.past.val() >> self.k_log2.val()) + 1;

        self.dropped3.d.next = false;
        // Five rows may be on their way when this is seen.
        self.room.d.next = self.beats.level.val() <= 8;
        self.issue.next = (self.state.q.val() == 2) & self.room.q.val();
        self.closing.next = self.left.q.val() == 0;
        match self.state.q.val().index() {
            0 => {
                self.length.d.next = self.frames.m_data.val().get_bits::<14>(0);
                self.offset.d.next = self.frames.m_data.val().get_bits::<6>(14);
                self.skip.d.next = self.results.m_data.val().get_bit(0) | !self.tx_enable.val();
                if self.frames.m_valid.val()
                    & self.results.m_valid.val()
                    & (self.tx_enable.val() | !self.enable.val() | self.results.m_data.val().get_bit(0))
                {
                    self.frames.m_ready.next = true;
                    self.results.m_ready.next = true;
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.left.d.next = self.count.val();
                self.spills.d.next = self.rows.val() != self.count.val();
                self.tail.d.next = self.past.val().get_bits::<6>(0) & self.k_last.val();
                self.opening.d.next = true;
                self.state.d.next = 2.into();
                if self.skip.q.val() {
                    self.next_row.d.next = self.next_row.q.val() + self.rows.val();
                    self.dropped3.d.next = true;
                    self.state.d.next = 0.into();
                }
            }
            _ => {
                if self.issue.val() {
                    self.opening.d.next = false;
                    self.left.d.next = self.left.q.val() - 1;
                    if !self.closing.val() | self.spills.q.val() {
                        self.next_row.d.next = self.next_row.q.val() + 1;
                    }
                    if self.closing.val() {
                        self.state.d.next = 0.into();
                    }
                }
            }
        }
        self.row.next = self.next_row.q.val();
        self.read_row.next = self.next_row.q.val().get_bits::<A>(0);

        self.v0.d.next = self.issue.val();
        self.first0.d.next = self.opening.q.val();
        self.last0.d.next = self.closing.val();
        self.offset0.d.next = self.offset.q.val();
        self.tail0.d.next = self.tail.q.val();

        // 1: the word.
        self.v1.d.next = self.v0.q.val();
        self.first1.d.next = self.first0.q.val();
        self.last1.d.next = self.last0.q.val();
        self.offset1.d.next = self.offset0.q.val();
        self.tail1.d.next = self.tail0.q.val();
        if self.v0.q.val() {
            self.word1.d.next = self.read_data.val();
        }

        // 2: a beat from this word and the one before.
        if self.v1.q.val() {
            self.earlier.d.next = self.word1.q.val();
        }
        self.turn.next = bit_cast::<9, 6>(self.offset1.q.val()) << 3;
        self.pair.next = (bit_cast::<D, W>(self.word1.q.val()) << self.width.val())
            | bit_cast::<D, W>(self.earlier.q.val());
        self.cut.next = self.pair.val() >> self.turn.val();
        self.v2.d.next = self.v1.q.val() & !self.first1.q.val();
        self.data2.d.next = self.cut.val().get_bits::<W>(0);
        self.last2.d.next = self.last1.q.val();
        self.tail2.d.next = self.k_last.val();
        if self.last1.q.val() {
            self.tail2.d.next = self.tail1.q.val();
        }
        self.beats.s_valid.next = self.v2.q.val();
        self.beats.s_data.next = bit_cast::<X, W>(self.data2.q.val())
            | (bit_cast::<X, 1>(self.last2.q.val().into()) << self.width.val())
            | (bit_cast::<X, 6>(self.tail2.q.val()) << self.tail_at.val());

        self.wire_valid.next = self.beats.m_valid.val();
        self.wire_data.next = self.beats.m_data.val().get_bits::<W>(0);
        self.wire_last.next = self.beats.m_data.val().get_bit(self.width.val().index());
        self.missing.next = self.k_last.val() - self.beats.m_data.val().get_bits::<6>(self.tail_at.val().index());
        self.wire_keep.next = self.ones.val() >> self.missing.val();
        self.beats.m_ready.next = self.wire_ready.val();
        self.sent3.d.next = self.beats.m_valid.val()
            & self.wire_ready.val()
            & self.beats.m_data.val().get_bit(self.width.val().index());
        self.sent.next = self.sent3.q.val();
        self.dropped.next = self.dropped3.q.val();

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.next_row.d.next = 0.into();
            self.v0.d.next = false;
            self.v1.d.next = false;
            self.v2.d.next = false;
            self.sent3.d.next = false;
            self.dropped3.d.next = false;
        }
    }
}

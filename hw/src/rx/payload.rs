//! Moves chunks of frames from the packet FIFO into memory writes, shifted to the buffer's byte alignment.
//!
//! ```text
//! chunk → prepare ─┬→ header FIFO ──────────────────────────────┬→ memory write
//!                  └→ read words → rotate → join two → data FIFO ┘
//! ```
//!
//! Bus byte 0 of the first beat is at the address with its two low bits cleared. So beat b holds the K bytes of
//! the frame from `from` + bK, where `from` is the chunk's position less those two bits; it is cut out of two
//! words that follow one another (`rotate`). The bytes before and behind the
//! chunk are whatever lies there; the byte enables hide them.
//!
//! A chunk every two cycles at most. A beat a cycle, over the end of a chunk too, with one more cycle a chunk when two
//! words must be joined. Words are read only while the data FIFO surely takes them: `level` lags by four words, and five fit above the limit.

use super::rotate::Rotate;
use crate::common::fifo::Fifo;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W = 8·K bits, K = 2^Q; 2^A words in the packet FIFO.
#[derive(LogicBlock)]
pub struct Payload<const W: usize, const K: usize, const Q: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub k_valid: Signal<In, Bit>,
    pub k_address: Signal<In, Bits<64>>,
    pub k_position: Signal<In, Bits<16>>,
    pub k_bytes: Signal<In, Bits<14>>,
    pub k_queue: Signal<In, Bits<4>>,
    /// The buffer's data ends with this chunk; the frame does.
    pub k_close: Signal<In, Bit>,
    pub k_last: Signal<In, Bit>,
    /// No payload: the frame is dropped.
    pub k_empty: Signal<In, Bit>,
    pub k_end: Signal<In, Bits<16>>,
    pub k_ready: Signal<Out, Bit>,
    pub read_address: Signal<Out, Bits<A>>,
    pub read_data: Signal<In, Bits<W>>,
    /// Position up to which the packet FIFO may be overwritten.
    pub free: Signal<Out, Bits<16>>,
    pub pay_valid: Signal<Out, Bit>,
    pub pay_addr: Signal<Out, Bits<64>>,
    /// The address is not below 4 GiB.
    pub pay_wide: Signal<Out, Bit>,
    pub pay_dwords: Signal<Out, Bits<11>>,
    pub pay_first_be: Signal<Out, Bits<4>>,
    pub pay_last_be: Signal<Out, Bits<4>>,
    pub pay_data: Signal<Out, Bits<W>>,
    pub pay_last: Signal<Out, Bit>,
    pub pay_ready: Signal<In, Bit>,
    /// Pulses: the last beat of a buffer is taken; of a frame. Their queue.
    pub gone: Signal<Out, Bit>,
    pub frame: Signal<Out, Bit>,
    pub frame_queue: Signal<Out, Bits<4>>,
    pub busy: Signal<Out, Bit>,
    headers: Fifo<90, 4, 5>,
    data: Fifo<W, 4, 5>,
    // In step with the data: the chunk's last beat.
    marks: Fifo<1, 4, 5>,
    // Chunk being prepared.
    p_valid: DFF<Bit>,
    p_address: DFF<Bits<64>>,
    p_from: DFF<Bits<16>>,
    p_span: DFF<Bits<14>>,
    p_queue: DFF<Bits<4>>,
    p_close: DFF<Bit>,
    p_last: DFF<Bit>,
    p_empty: DFF<Bit>,
    p_end: DFF<Bits<16>>,
    // Words being read.
    room: DFF<Bit>,
    go: DFF<Bit>,
    word: DFF<Bits<A>>,
    left: DFF<Bits<11>>,
    skip: DFF<Bit>,
    turn: DFF<Bits<Q>>,
    done: DFF<Bit>,
    behind: DFF<Bits<16>>,
    freed: DFF<Bits<16>>,
    // The word being read.
    r_valid: DFF<Bit>,
    r_beat: DFF<Bit>,
    r_last: DFF<Bit>,
    r_turn: DFF<Bits<Q>>,
    rotate: Rotate<W, Q>,
    lane: Signal<Local, Bits<2>>,
    tail_lane: Signal<Local, Bits<2>>,
    dwords: Signal<Local, Bits<11>>,
    beats: Signal<Local, Bits<11>>,
    words: Signal<Local, Bits<11>>,
    padded: Signal<Local, Bits<14>>,
    rounded: Signal<Local, Bits<14>>,
    last_byte: Signal<Local, Bits<14>>,
    first_be: Signal<Local, Bits<4>>,
    last_be: Signal<Local, Bits<4>>,
    turned: Signal<Local, Bit>,
    wide: Signal<Local, Bit>,
    read: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    head: Signal<Local, Bits<90>>,
    take: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    log_bytes: Constant<Bits<4>>,
    round_dword: Constant<Bits<14>>,
    round_beat: Constant<Bits<14>>,
    one_byte: Constant<Bits<14>>,
    one: Constant<Bits<11>>,
    one_word: Constant<Bits<A>>,
    lanes: Constant<Bits<4>>,
    three: Constant<Bits<2>>,
    limit: Constant<Bits<5>>,
    header_limit: Constant<Bits<5>>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize> Default for Payload<W, K, Q, A> {
    fn default() -> Self {
        assert!(W == 8 * K && K == 1 << Q && A + Q == 15);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            k_valid: Default::default(),
            k_address: Default::default(),
            k_position: Default::default(),
            k_bytes: Default::default(),
            k_queue: Default::default(),
            k_close: Default::default(),
            k_last: Default::default(),
            k_empty: Default::default(),
            k_end: Default::default(),
            k_ready: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            free: Default::default(),
            pay_valid: Default::default(),
            pay_addr: Default::default(),
            pay_wide: Default::default(),
            pay_dwords: Default::default(),
            pay_first_be: Default::default(),
            pay_last_be: Default::default(),
            pay_data: Default::default(),
            pay_last: Default::default(),
            pay_ready: Default::default(),
            gone: Default::default(),
            frame: Default::default(),
            frame_queue: Default::default(),
            busy: Default::default(),
            headers: Default::default(),
            data: Default::default(),
            marks: Default::default(),
            p_valid: Default::default(),
            p_address: Default::default(),
            p_from: Default::default(),
            p_span: Default::default(),
            p_queue: Default::default(),
            p_close: Default::default(),
            p_last: Default::default(),
            p_empty: Default::default(),
            p_end: Default::default(),
            room: Default::default(),
            go: Default::default(),
            word: Default::default(),
            left: Default::default(),
            skip: Default::default(),
            turn: Default::default(),
            done: Default::default(),
            behind: Default::default(),
            freed: Default::default(),
            r_valid: Default::default(),
            r_beat: Default::default(),
            r_last: Default::default(),
            r_turn: Default::default(),
            rotate: Default::default(),
            lane: Default::default(),
            tail_lane: Default::default(),
            dwords: Default::default(),
            beats: Default::default(),
            words: Default::default(),
            padded: Default::default(),
            rounded: Default::default(),
            last_byte: Default::default(),
            first_be: Default::default(),
            last_be: Default::default(),
            turned: Default::default(),
            wide: Default::default(),
            read: Default::default(),
            ends: Default::default(),
            load: Default::default(),
            head: Default::default(),
            take: Default::default(),
            is_last: Default::default(),
            log_bytes: Constant::new(Q.to_bits()),
            round_dword: Constant::new(3.into()),
            round_beat: Constant::new((K - 1).to_bits()),
            one_byte: Constant::new(1.into()),
            one: Constant::new(1.into()),
            one_word: Constant::new(1.into()),
            lanes: Constant::new(15.into()),
            three: Constant::new(3.into()),
            limit: Constant::new(11.into()),
            header_limit: Constant::new(14.into()),
        }
    }
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize> Logic for Payload<W, K, Q, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, p_valid, p_address, p_from, p_span, p_queue, p_close, p_last, p_empty, p_end);
        dff_setup!(self, clock, room, go, word, left, skip, turn, done, behind, freed);
        dff_setup!(self, clock, r_valid, r_beat, r_last, r_turn);
        self.headers.clock.next = self.clock.val();
        self.headers.reset.next = self.reset.val();
        self.data.clock.next = self.clock.val();
        self.data.reset.next = self.reset.val();
        self.marks.clock.next = self.clock.val();
        self.marks.reset.next = self.reset.val();

        // Reading. A chunk follows the one before without a gap.
        self.read.next = (self.left.q.val() != 0) & self.go.q.val();
        self.ends.next = self.read.val() & (self.left.q.val() == self.one.val());
        self.load.next = self.p_valid.q.val()
            & ((self.left.q.val() == 0) | self.ends.val())
            & (self.p_empty.q.val() | self.room.q.val());

        // Prepare: what the chunk is on the bus, and which words it takes.
        self.lane.next = self.p_address.q.val().get_bits::<2>(0);
        self.padded.next = self.p_span.q.val() + self.round_dword.val();
        self.dwords.next = self.padded.val().get_bits::<11>(2);
        self.rounded.next = self.p_span.q.val() + self.round_beat.val();
        self.beats.next = bit_cast::<11, 14>(self.rounded.val() >> self.log_bytes.val());
        self.last_byte.next = self.p_span.q.val() - self.one_byte.val();
        self.tail_lane.next = self.last_byte.val().get_bits::<2>(0);
        self.turned.next = self.p_from.q.val().get_bits::<Q>(0) != 0;
        self.words.next = self.beats.val();
        if self.turned.val() {
            self.words.next = self.beats.val() + self.one.val();
        }
        self.first_be.next = self.lanes.val() << self.lane.val();
        self.last_be.next = self.lanes.val() >> bit_cast::<2, 2>(self.three.val() - self.tail_lane.val());
        self.headers.s_valid.next = self.load.val() & !self.p_empty.q.val();
        if self.dwords.val() == self.one.val() {
            self.first_be.next = (self.lanes.val() << self.lane.val())
                & (self.lanes.val() >> bit_cast::<2, 2>(self.three.val() - self.tail_lane.val()));
            self.last_be.next = 0.into();
        }
        self.wide.next = self.p_address.q.val().get_bits::<32>(32) != 0;
        self.headers.s_data.next = bit_cast::<90, 64>(self.p_address.q.val())
            | (bit_cast::<90, 11>(self.dwords.val()) << 64)
            | (bit_cast::<90, 4>(self.first_be.val()) << 75)
            | (bit_cast::<90, 4>(self.last_be.val()) << 79)
            | (bit_cast::<90, 1>(self.p_last.q.val().into()) << 83)
            | (bit_cast::<90, 1>(self.p_close.q.val().into()) << 84)
            | (bit_cast::<90, 4>(self.p_queue.q.val()) << 85)
            | (bit_cast::<90, 1>(self.wide.val().into()) << 89);
        self.k_ready.next = !self.p_valid.q.val();
        if self.load.val() {
            self.p_valid.d.next = false;
        }
        if self.k_valid.val() & !self.p_valid.q.val() {
            self.p_valid.d.next = true;
            self.p_address.d.next = self.k_address.val();
            self.p_from.d.next =
                self.k_position.val() - bit_cast::<16, 2>(self.k_address.val().get_bits::<2>(0));
            self.p_span.d.next = self.k_bytes.val() + bit_cast::<14, 2>(self.k_address.val().get_bits::<2>(0));
            self.p_queue.d.next = self.k_queue.val();
            self.p_close.d.next = self.k_close.val();
            self.p_last.d.next = self.k_last.val();
            self.p_empty.d.next = self.k_empty.val();
            self.p_end.d.next = self.k_end.val();
        }

        self.room.d.next = self.headers.level.val() < self.header_limit.val();
        self.go.d.next = self.data.level.val() < self.limit.val();
        self.read_address.next = self.word.q.val();
        if self.read.val() {
            self.word.d.next = self.word.q.val() + self.one_word.val();
            self.left.d.next = self.left.q.val() - self.one.val();
            self.skip.d.next = false;
        }
        if self.ends.val() & self.done.q.val() {
            self.freed.d.next = self.behind.q.val();
        }
        if self.load.val() {
            self.word.d.next = self.p_from.q.val().get_bits::<A>(self.log_bytes.val().index());
            self.left.d.next = self.words.val();
            self.skip.d.next = self.turned.val();
            self.turn.d.next = self.p_from.q.val().get_bits::<Q>(0);
            self.done.d.next = self.p_last.q.val();
            self.behind.d.next = self.p_end.q.val();
            if self.p_empty.q.val() {
                self.left.d.next = 0.into();
                self.freed.d.next = self.p_end.q.val();
            }
        }
        self.free.next = self.freed.q.val();

        // Words on their way.
        self.rotate.clock.next = self.clock.val();
        self.rotate.reset.next = self.reset.val();
        self.r_valid.d.next = self.read.val();
        self.r_beat.d.next = self.read.val() & !self.skip.q.val();
        self.r_last.d.next = self.ends.val();
        self.r_turn.d.next = self.turn.q.val();
        self.rotate.r_valid.next = self.r_valid.q.val();
        self.rotate.r_beat.next = self.r_beat.q.val();
        self.rotate.r_last.next = self.r_last.q.val();
        self.rotate.r_turn.next = self.r_turn.q.val();
        self.rotate.read_data.next = self.read_data.val();
        self.data.s_valid.next = self.rotate.valid.val();
        self.data.s_data.next = self.rotate.data.val();
        self.marks.s_valid.next = self.rotate.valid.val();
        self.marks.s_data.next = self.rotate.last.val().into();

        // The memory write.
        self.head.next = self.headers.m_data.val();
        self.pay_valid.next = self.headers.m_valid.val() & self.data.m_valid.val();
        self.pay_addr.next = self.head.val().get_bits::<64>(0);
        self.pay_wide.next = self.head.val().get_bit(89);
        self.pay_dwords.next = self.head.val().get_bits::<11>(64);
        self.pay_first_be.next = self.head.val().get_bits::<4>(75);
        self.pay_last_be.next = self.head.val().get_bits::<4>(79);
        self.pay_data.next = self.data.m_data.val();
        self.is_last.next = self.marks.m_data.val().any();
        self.pay_last.next = self.is_last.val();
        self.take.next = self.headers.m_valid.val() & self.data.m_valid.val() & self.pay_ready.val();
        // Each FIFO knows by itself whether it has a word.
        self.data.m_ready.next = self.headers.m_valid.val() & self.pay_ready.val();
        self.marks.m_ready.next = self.headers.m_valid.val() & self.pay_ready.val();
        self.headers.m_ready.next = self.data.m_valid.val() & self.is_last.val() & self.pay_ready.val();
        self.frame.next = self.take.val() & self.is_last.val() & self.head.val().get_bit(83);
        self.gone.next = self.take.val() & self.is_last.val() & self.head.val().get_bit(84);
        self.frame_queue.next = self.head.val().get_bits::<4>(85);
        self.busy.next = self.p_valid.q.val() | (self.left.q.val() != 0) | (self.headers.level.val() != 0);

        if self.reset.val() {
            self.p_valid.d.next = false;
            self.left.d.next = 0.into();
            self.freed.d.next = 0.into();
            self.r_beat.d.next = false;
        }
    }
}

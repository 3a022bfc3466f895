//! Fits a frame into its buffer, or into several, and says of each what it holds: a job for `cut`, a completion.
//!
//! ```text
//! load ─→ ready (one buffer is enough: the next cycle)
//!    └→ split? → fits? → fill → rest ─→ ready
//!          ↑                      └→ look for the next descriptor, weigh it ─→ take (job, completion) ─┐
//!          └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A frame is split when its boundary is neither 0 nor its end; then the first buffers take the header only. A buffer
//! is given out when it is known whether another follows. When none does (HOLD is over, the queue went down, the
//! descriptor has no byte), the frame ends there, with ERROR. A frame that needs a longer buffer than there
//! is and may not be scattered is dropped, and its first descriptor goes `back`.

use super::behind::Behind;
use crate::common::join::Join;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// K bytes in a word of the packet FIFO.
#[derive(LogicBlock, Default)]
pub struct Fit<const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub w_ready: Signal<Out, Bit>,
    pub w_valid: Signal<In, Bit>,
    pub w_cause: Signal<In, Bits<3>>,
    pub w_frame: Signal<In, Bits<256>>,
    pub w_queue: Signal<In, Bits<4>>,
    pub w_filter: Signal<In, Bit>,
    pub w_tag: Signal<In, Bits<16>>,
    pub w_descriptor: Signal<In, Bits<128>>,
    // Of the queue named in the cycle before.
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub q_active: Signal<In, Bit>,
    pub q_scatter: Signal<In, Bit>,
    pub q_split: Signal<In, Bits<3>>,
    pub q_split_bytes: Signal<In, Bits<10>>,
    pub late: Signal<In, Bit>,
    pub again: Signal<Out, Bit>,
    pub again_queue: Signal<Out, Bits<4>>,
    pub again_hungry: Signal<Out, Bit>,
    pub again_take: Signal<Out, Bit>,
    pub again_dry: Signal<Out, Bit>,
    pub back: Signal<Out, Bit>,
    pub back_data: Signal<Out, Bits<128>>,
    pub finish: Signal<Out, Bit>,
    pub c_room: Signal<In, Bits<16>>,
    pub c_valid: Signal<Out, Bit>,
    pub c_queue: Signal<Out, Bits<4>>,
    pub c_data: Signal<Out, Bits<256>>,
    /// A frame holds a descriptor: its completion is to come, or it goes back.
    pub holds: Signal<Out, Bit>,
    pub j_ready: Signal<In, Bit>,
    pub j_valid: Signal<Out, Bit>,
    /// The job given in the cycle before is none.
    pub j_recall: Signal<Out, Bit>,
    pub j_empty: Signal<Out, Bit>,
    pub j_last: Signal<Out, Bit>,
    pub j_queue: Signal<Out, Bits<4>>,
    pub j_address: Signal<Out, Bits<64>>,
    pub j_position: Signal<Out, Bits<16>>,
    pub j_bytes: Signal<Out, Bits<14>>,
    pub j_end: Signal<Out, Bits<16>>,
    /// 1 PAUSE, 2 filter, 3 queue off, 4 no descriptor, 5 buffer, 6 cut short; 0 nothing happens.
    pub outcome: Signal<Out, Bits<3>>,
    pub outcome_queue: Signal<Out, Bits<4>>,
    /// With the outcome: a frame is decided on.
    pub decided: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    valid: DFF<Bit>,
    // There is no frame: the same once more, for the hundreds of registers that then load.
    open: DFF<Bit>,
    // 0 ready, 1 split, 2 fits, 3 fill, 4 rest, 5 look, 7 weigh, 6 take.
    state: DFF<Bits<3>>,
    slow: DFF<Bit>,
    cause: DFF<Bits<3>>,
    frame: DFF<Bits<256>>,
    queue: DFF<Bits<4>>,
    filter: DFF<Bit>,
    tag: DFF<Bits<16>>,
    scatter: DFF<Bit>,
    // The buffer at hand and the one behind it.
    buffer: DFF<Bits<128>>,
    following: DFF<Bits<128>>,
    bound: DFF<Bits<14>>,
    split: DFF<Bit>,
    first: DFF<Bit>,
    torn: DFF<Bit>,
    // Bytes left of the frame and of its header, bytes for this buffer, bytes for those behind it.
    left: DFF<Bits<14>>,
    header: DFF<Bits<14>>,
    fill: DFF<Bits<14>>,
    rest: DFF<Bits<14>>,
    over: DFF<Bit>,
    tight: DFF<Bit>,
    nothing: DFF<Bit>,
    position: DFF<Bits<16>>,
    stop: DFF<Bits<16>>,
    occurs: DFF<Bits<3>>,
    occurs_in: DFF<Bits<4>>,
    heard: DFF<Bit>,
    // The completion that was given out, and that it was given out too early: the buffer is too short.
    given: DFF<Bit>,
    given_queue: DFF<Bits<4>>,
    given_data: DFF<Bits<256>>,
    recalled: DFF<Bit>,
    tries: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    length: Signal<Local, Bits<14>>,
    l3: Signal<Local, Bits<3>>,
    l4: Signal<Local, Bits<3>>,
    place: Signal<Local, Bits<14>>,
    size: Signal<Local, Bits<16>>,
    held_size: Signal<Local, Bits<16>>,
    too_long: Signal<Local, Bit>,
    want: Signal<Local, Bits<14>>,
    go: Signal<Local, Bit>,
    // Room for a completion of this frame's queue, as of the cycle before.
    c_free: DFF<Bit>,
    owner: Signal<Local, Bits<4>>,
    room: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    delivers: Signal<Local, Bit>,
    marks: Signal<Local, Bits<6>>,
    word: Join<32, 8, 256>,
    behind: Behind<K>,
}

impl<const K: usize> Logic for Fit<K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, open, state, slow, cause, frame, queue, filter, tag, scatter, buffer, following);
        dff_setup!(self, clock, bound, split, first, torn, left, header, fill, rest, over, tight, nothing);
        dff_setup!(self, clock, position, stop, occurs, occurs_in, heard, given, given_queue, given_data, recalled, c_free);

        // Giving out: a buffer, or a frame that is dropped.
        self.last.next = self.state.q.val() == 0;
        self.delivers.next = self.cause.q.val() == 0;
        self.owner.next = self.queue.q.val();
        if self.open.q.val() {
            self.owner.next = self.w_queue.val();
        }
        self.c_free.d.next = self.c_room.val().get_bit(self.owner.val().index());
        self.room.next = self.c_free.q.val() | !self.delivers.val();
        // A frame that was just loaded and needs no split: one buffer is enough, or it takes the long way.
        self.held_size.next = self.buffer.q.val().get_bits::<16>(64);
        self.too_long.next = self.delivers.val()
            & !self.slow.q.val()
            & (bit_cast::<16, 14>(self.left.q.val()) > self.held_size.val());
        // Job and completion leave before the lengths are compared; `recalled` takes them back in the next cycle.
        self.tries.next = self.valid.q.val() & self.j_ready.val() & self.room.val() & self.last.val();
        self.recalled.d.next = self.tries.val() & self.too_long.val();
        self.go.next = self.tries.val() & !self.too_long.val();
        if self.valid.q.val() & self.too_long.val() {
            self.slow.d.next = true;
            self.state.d.next = 1.into();
        }
        self.again_take.next = false;
        self.again_hungry.next = false;
        self.again_dry.next = false;

        self.passes.next = false;
        self.size.next = self.following.q.val().get_bits::<16>(64);
        self.want.next = self.left.q.val();
        if self.header.q.val() != 0 {
            self.want.next = self.header.q.val();
        }
        match self.state.q.val().index() {
            1 => {
                self.header.d.next = 0.into();
                self.split.d.next = false;
                if self.bound.q.val() < self.left.q.val() {
                    self.header.d.next = self.bound.q.val();
                    self.split.d.next = self.bound.q.val() != 0;
                }
                self.state.d.next = 2.into();
            }
            2 => {
                self.over.d.next = bit_cast::<16, 14>(self.want.val()) > self.held_size.val();
                self.fill.d.next = self.want.val();
                self.state.d.next = 3.into();
            }
            3 => {
                self.state.d.next = 4.into();
                if self.over.q.val() {
                    self.fill.d.next = self.held_size.val().get_bits::<14>(0);
                    if !self.scatter.q.val() | (self.held_size.val() == 0) {
                        self.cause.d.next = 5.into();
                        self.state.d.next = 0.into();
                    }
                }
            }
            4 => {
                self.rest.d.next = self.left.q.val() - self.fill.q.val();
                self.state.d.next = 0.into();
                if self.over.q.val() | (self.header.q.val() != 0) {
                    self.state.d.next = 5.into();
                }
                if self.header.q.val() != 0 {
                    self.header.d.next = self.header.q.val() - self.fill.q.val();
                }
            }
            5 => {
                self.following.d.next = self.d_data.val();
                if self.q_active.val() & self.d_valid.val() {
                    self.state.d.next = 7.into();
                } else if !self.q_active.val() | self.late.val() {
                    self.torn.d.next = true;
                    self.again_dry.next = self.q_active.val();
                    self.state.d.next = 0.into();
                } else {
                    self.again_hungry.next = true;
                }
            }
            6 => {
                if self.nothing.q.val() {
                    self.torn.d.next = true;
                    self.state.d.next = 0.into();
                } else if self.tight.q.val() & !self.scatter.q.val() {
                    self.cause.d.next = 5.into();
                    self.state.d.next = 0.into();
                } else if self.j_ready.val() & self.room.val() {
                    self.go.next = true;
                    self.again_take.next = true;
                    self.buffer.d.next = self.following.q.val();
                    self.left.d.next = self.rest.q.val();
                    self.position.d.next = self.position.q.val() + bit_cast::<16, 14>(self.fill.q.val());
                    self.first.d.next = false;
                    self.state.d.next = 2.into();
                    self.passes.next = true;
                }
            }
            7 => {
                self.tight.d.next = bit_cast::<16, 14>(self.rest.q.val()) > self.size.val();
                self.nothing.d.next = self.size.val() == 0;
                self.state.d.next = 6.into();
            }
            _ => {}
        }
        self.finish.next = self.go.val() & self.last.val();
        // As `go`, of which room and length count only for a frame that is delivered.
        self.back.next =
            (self.valid.q.val() & self.j_ready.val()) & (self.last.val() & (self.cause.q.val() == 5));
        self.back_data.next = self.buffer.q.val();
        if self.go.val() & self.last.val() {
            self.valid.d.next = false;
            self.slow.d.next = false;
            self.position.d.next = self.stop.q.val();
        }
        self.occurs.d.next = 0.into();
        self.occurs_in.d.next = self.queue.q.val();
        if self.go.val() & self.last.val() {
            self.occurs.d.next = self.cause.q.val();
            if self.torn.q.val() {
                self.occurs.d.next = 6.into();
            }
        }
        self.heard.d.next = self.go.val() & self.last.val();
        self.decided.next = self.heard.q.val();
        self.outcome.next = self.occurs.q.val();
        self.outcome_queue.next = self.occurs_in.q.val();

        // A frame comes.
        self.length.next = self.w_frame.val().get_bits::<14>(0);
        self.l3.next = self.w_frame.val().get_bits::<3>(72);
        self.l4.next = self.w_frame.val().get_bits::<3>(77);
        self.place.next = 0.into();
        match self.q_split.val().index() {
            1 => {
                self.place.next = bit_cast::<14, 8>(self.w_frame.val().get_bits::<8>(240));
            }
            2 => {
                if (self.l3.val() == 1) | (self.l3.val() == 2) {
                    self.place.next = bit_cast::<14, 8>(self.w_frame.val().get_bits::<8>(136));
                }
            }
            3 => {
                if (self.l4.val() != 0) & (self.l4.val() < 5) {
                    self.place.next = self.w_frame.val().get_bits::<14>(16);
                }
            }
            4 => {
                self.place.next = bit_cast::<14, 10>(self.q_split_bytes.val());
            }
            _ => {}
        }
        self.behind.position.next = self.position.q.val();
        self.behind.length.next = self.length.val();
        // Taken over again and again until a frame comes, because it is known late that one does.
        if self.open.q.val() {
            self.cause.d.next = self.w_cause.val();
            self.frame.d.next = self.w_frame.val();
            self.queue.d.next = self.w_queue.val();
            self.filter.d.next = self.w_filter.val();
            self.tag.d.next = self.w_tag.val();
            self.scatter.d.next = self.q_scatter.val();
            self.buffer.d.next = self.w_descriptor.val();
            self.bound.d.next = self.place.val();
            self.split.d.next = false;
            self.first.d.next = true;
            self.torn.d.next = false;
            self.left.d.next = self.length.val();
            self.fill.d.next = self.length.val();
            self.stop.d.next = self.behind.following.val();
            self.state.d.next = 0.into();
            self.slow.d.next = false;
        }
        if self.w_valid.val() {
            self.valid.d.next = true;
            if (self.w_cause.val() == 0) & (self.q_split.val() != 0) {
                self.slow.d.next = true;
                self.state.d.next = 1.into();
            }
        }
        self.w_ready.next = self.open.q.val();
        self.again.next = self.slow.q.val();
        self.again_queue.next = self.queue.q.val();
        self.holds.next = self.valid.q.val() & (self.delivers.val() | (self.cause.q.val() == 5));
        self.busy.next = self.valid.q.val();

        // The completion, of which only the index is still open.
        self.marks.next = bit_cast::<6, 1>(self.first.q.val().into())
            | (bit_cast::<6, 1>(self.last.val().into()) << 1)
            | (bit_cast::<6, 1>(self.split.q.val().into()) << 2)
            | (bit_cast::<6, 1>(self.torn.q.val().into()) << 3)
            | (bit_cast::<6, 1>(self.filter.q.val().into()) << 4)
            | (bit_cast::<6, 1>(self.filter.q.val().into()) << 5);
        self.word.part[0].next = (bit_cast::<32, 16>(self.frame.q.val().get_bits::<16>(16)) << 16)
            | bit_cast::<32, 14>(self.fill.q.val());
        self.word.part[1].next = self.frame.q.val().get_bits::<32>(32);
        // SOP, EOP, SPLIT and ERROR in bits 29:26, FILTER and TAG in 22:21.
        self.word.part[2].next = self.frame.q.val().get_bits::<32>(64)
            | (bit_cast::<32, 4>(self.marks.val().get_bits::<4>(0)) << 26)
            | (bit_cast::<32, 2>(self.marks.val().get_bits::<2>(4)) << 21);
        self.word.part[3].next = self.frame.q.val().get_bits::<32>(96);
        self.word.part[4].next = self.buffer.q.val().get_bits::<32>(96);
        self.word.part[5].next = self.frame.q.val().get_bits::<32>(160);
        if self.filter.q.val() {
            self.word.part[5].next = self.frame.q.val().get_bits::<32>(160) | bit_cast::<32, 16>(self.tag.q.val());
        }
        self.word.part[6].next = self.frame.q.val().get_bits::<32>(192);
        self.word.part[7].next = self.frame.q.val().get_bits::<32>(224);
        self.given.d.next = (self.tries.val() | self.passes.val()) & self.delivers.val();
        self.given_queue.d.next = self.queue.q.val();
        self.given_data.d.next = self.word.whole.val();
        self.c_valid.next = self.given.q.val() & !self.recalled.q.val();
        self.c_queue.next = self.given_queue.q.val();
        self.c_data.next = self.given_data.q.val();

        self.j_valid.next = self.tries.val() | self.passes.val();
        self.j_recall.next = self.recalled.q.val();
        self.j_empty.next = !self.delivers.val();
        self.j_last.next = self.last.val();
        self.j_queue.next = self.queue.q.val();
        self.j_address.next = self.buffer.q.val().get_bits::<64>(0);
        self.j_position.next = self.position.q.val();
        self.j_bytes.next = self.fill.q.val();
        self.j_end.next = self.stop.q.val();

        self.open.d.next = !self.w_valid.val() & (!self.valid.q.val() | self.finish.val());
        if self.reset.val() {
            self.open.d.next = true;
            self.heard.d.next = false;
            self.given.d.next = false;
            self.recalled.d.next = false;
            self.valid.d.next = false;
            self.slow.d.next = false;
            self.state.d.next = 0.into();
            self.position.d.next = 0.into();
            self.occurs.d.next = 0.into();
        }
    }
}

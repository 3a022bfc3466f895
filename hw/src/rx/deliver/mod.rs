//! Delivers frames, one at a time in the order of arrival: which descriptors they get, what goes where.
//!
//! ```text
//! list, decisions ─→ pick ─→ fit ─┬→ cut → chunks of one TLP (k_*, to payload)
//!       descriptors ──┘   ↖──┘    └→ completions (c_*, to complete)
//! ```
//!
//! **Descriptors.** `d_queue` names a queue in every cycle. In the next cycle d_valid, d_data and q_* must say what
//! that queue's FIFO showed and its registers held in the cycle of the naming: the integrator selects by `d_queue` and
//! registers the result. `d_take` pops the FIFO of the queue that was named in the cycle before. After a pop what d_* says
//! in the next cycle is not looked at; the FIFO must show its next descriptor from the cycle behind the pop on.
//!
//! **Pace.** A frame of one chunk every two cycles, each further chunk two more; a frame that is split or does not fit
//! its buffer takes some eight cycles more, and six for each further buffer.
//!
//! The e_* pulses, each with its queue, say what became of a frame that was not delivered whole.

mod behind;
mod cut;
mod fit;
mod pick;
mod top;

pub use top::Delivery;

use cut::Cut;
use fit::Fit;
use pick::Pick;
use rust_hdl_core::prelude::*;

/// Positions are byte addresses in the packet FIFO with one bit more; frames begin at multiples of K bytes.
#[derive(LogicBlock, Default)]
pub struct Deliver<const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Code of the maximum payload size: 128 << mps bytes.
    pub mps: Signal<In, Bits<3>>,
    /// Cycles that a frame waits for a descriptor; 0 is for ever.
    pub hold: Signal<In, Bits<24>>,
    /// Queues that are enabled and not stopped.
    pub active: Signal<In, Bits<16>>,
    /// The oldest frame, laid out as its completion; in the place of the cookie RSS queue, PAUSE and l4_offset.
    pub m_valid: Signal<In, Bit>,
    pub m_data: Signal<In, Bits<256>>,
    /// The filter's decision on it. Both are taken by `m_ready`, which is 1 only when both are there.
    pub f_valid: Signal<In, Bit>,
    pub f_drop: Signal<In, Bit>,
    pub f_rss: Signal<In, Bit>,
    pub f_queue: Signal<In, Bits<4>>,
    pub f_filter: Signal<In, Bit>,
    pub f_tag: Signal<In, Bits<16>>,
    pub m_ready: Signal<Out, Bit>,
    pub d_queue: Signal<Out, Bits<4>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub q_scatter: Signal<In, Bit>,
    pub q_split: Signal<In, Bits<3>>,
    pub q_split_bytes: Signal<In, Bits<10>>,
    pub d_take: Signal<Out, Bit>,
    /// Room for a completion, a bit a queue.
    pub c_room: Signal<In, Bits<16>>,
    pub c_valid: Signal<Out, Bit>,
    pub c_queue: Signal<Out, Bits<4>>,
    pub c_data: Signal<Out, Bits<256>>,
    /// A descriptor of this queue is in use whose completion is still to come.
    pub holds: Signal<Out, Bit>,
    pub holds_queue: Signal<Out, Bits<4>>,
    pub k_valid: Signal<Out, Bit>,
    pub k_queue: Signal<Out, Bits<4>>,
    pub k_address: Signal<Out, Bits<64>>,
    pub k_position: Signal<Out, Bits<16>>,
    pub k_bytes: Signal<Out, Bits<14>>,
    /// The buffer's data ends with this chunk; the frame does.
    pub k_close: Signal<Out, Bit>,
    pub k_last: Signal<Out, Bit>,
    /// No payload: the frame is dropped.
    pub k_empty: Signal<Out, Bit>,
    /// Position behind the frame.
    pub k_end: Signal<Out, Bits<16>>,
    pub k_ready: Signal<In, Bit>,
    /// Level: a frame waits for a descriptor of `wait_queue`; pulse: it begins to, once a frame.
    pub starved: Signal<Out, Bit>,
    pub waited: Signal<Out, Bit>,
    pub wait_queue: Signal<Out, Bits<4>>,
    /// Pulse: the oldest frame is decided on; with it, the e_* pulse of its cause if it is not delivered whole.
    pub decided: Signal<Out, Bit>,
    pub e_pause: Signal<Out, Bit>,
    pub e_filter: Signal<Out, Bit>,
    pub e_disabled: Signal<Out, Bit>,
    pub e_no_descriptor: Signal<Out, Bit>,
    pub e_buffer: Signal<Out, Bit>,
    /// Delivered, but cut short.
    pub e_cut: Signal<Out, Bit>,
    pub e_queue: Signal<Out, Bits<4>>,
    pub busy: Signal<Out, Bit>,
    pick: Pick,
    fit: Fit<K>,
    cut: Cut,
}

impl<const K: usize> Logic for Deliver<K> {
    #[hdl_gen]
    fn update(&mut self) {
        self.pick.clock.next = self.clock.val();
        self.pick.reset.next = self.reset.val();
        self.fit.clock.next = self.clock.val();
        self.fit.reset.next = self.reset.val();
        self.cut.clock.next = self.clock.val();
        self.cut.reset.next = self.reset.val();

        self.pick.active.next = self.active.val();
        self.pick.hold.next = self.hold.val();
        self.pick.m_valid.next = self.m_valid.val();
        self.pick.m_data.next = self.m_data.val();
        self.pick.f_valid.next = self.f_valid.val();
        self.pick.f_drop.next = self.f_drop.val();
        self.pick.f_rss.next = self.f_rss.val();
        self.pick.f_queue.next = self.f_queue.val();
        self.pick.f_filter.next = self.f_filter.val();
        self.pick.f_tag.next = self.f_tag.val();
        self.pick.d_valid.next = self.d_valid.val();
        self.pick.d_data.next = self.d_data.val();
        self.m_ready.next = self.pick.m_ready.val();
        self.d_queue.next = self.pick.d_queue.val();
        self.d_take.next = self.pick.d_take.val();
        self.pick.w_ready.next = self.fit.w_ready.val();
        self.pick.again.next = self.fit.again.val();
        self.pick.again_queue.next = self.fit.again_queue.val();
        self.pick.again_hungry.next = self.fit.again_hungry.val();
        self.pick.again_take.next = self.fit.again_take.val();
        self.pick.again_dry.next = self.fit.again_dry.val();
        self.pick.back.next = self.fit.back.val();
        self.pick.back_data.next = self.fit.back_data.val();
        self.pick.finish.next = self.fit.finish.val();
        self.starved.next = self.pick.starved.val();
        self.waited.next = self.pick.waited.val();
        self.wait_queue.next = self.pick.wait_queue.val();

        self.fit.w_valid.next = self.pick.w_valid.val();
        self.fit.w_cause.next = self.pick.w_cause.val();
        self.fit.w_frame.next = self.pick.w_frame.val();
        self.fit.w_queue.next = self.pick.w_queue.val();
        self.fit.w_filter.next = self.pick.w_filter.val();
        self.fit.w_tag.next = self.pick.w_tag.val();
        self.fit.w_descriptor.next = self.pick.w_descriptor.val();
        self.fit.q_active.next = self.pick.q_active.val();
        self.fit.late.next = self.pick.late.val();
        self.fit.d_valid.next = self.d_valid.val();
        self.fit.d_data.next = self.d_data.val();
        self.fit.q_scatter.next = self.q_scatter.val();
        self.fit.q_split.next = self.q_split.val();
        self.fit.q_split_bytes.next = self.q_split_bytes.val();
        self.fit.c_room.next = self.c_room.val();
        self.c_valid.next = self.fit.c_valid.val();
        self.c_queue.next = self.fit.c_queue.val();
        self.c_data.next = self.fit.c_data.val();
        self.holds.next = self.fit.holds.val();
        self.holds_queue.next = self.fit.again_queue.val();
        self.fit.j_ready.next = self.cut.j_ready.val();

        self.cut.mps.next = self.mps.val();
        self.cut.j_valid.next = self.fit.j_valid.val();
        self.cut.j_recall.next = self.fit.j_recall.val();
        self.cut.j_empty.next = self.fit.j_empty.val();
        self.cut.j_last.next = self.fit.j_last.val();
        self.cut.j_queue.next = self.fit.j_queue.val();
        self.cut.j_address.next = self.fit.j_address.val();
        self.cut.j_position.next = self.fit.j_position.val();
        self.cut.j_bytes.next = self.fit.j_bytes.val();
        self.cut.j_end.next = self.fit.j_end.val();
        self.k_valid.next = self.cut.k_valid.val();
        self.k_queue.next = self.cut.k_queue.val();
        self.k_address.next = self.cut.k_address.val();
        self.k_position.next = self.cut.k_position.val();
        self.k_bytes.next = self.cut.k_bytes.val();
        self.k_close.next = self.cut.k_close.val();
        self.k_last.next = self.cut.k_last.val();
        self.k_empty.next = self.cut.k_empty.val();
        self.k_end.next = self.cut.k_end.val();
        self.cut.k_ready.next = self.k_ready.val();

        self.decided.next = self.fit.decided.val();
        self.e_pause.next = self.fit.outcome.val() == 1;
        self.e_filter.next = self.fit.outcome.val() == 2;
        self.e_disabled.next = self.fit.outcome.val() == 3;
        self.e_no_descriptor.next = self.fit.outcome.val() == 4;
        self.e_buffer.next = self.fit.outcome.val() == 5;
        self.e_cut.next = self.fit.outcome.val() == 6;
        self.e_queue.next = self.fit.outcome_queue.val();
        self.busy.next = self.pick.busy.val() | self.fit.busy.val() | self.cut.busy.val();
    }
}

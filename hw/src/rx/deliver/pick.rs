//! Brings the oldest frame, the filter's decision on it and a descriptor of its queue together.
//!
//! ```text
//! list ──────┐
//! decisions ─┴→ second ─→ front ─→ d_queue … d_* ─→ verdict ─→ w_* (to fit)
//! ```
//!
//! The first cause that holds: PAUSE, filter, queue off, no descriptor. A frame waits for a descriptor until HOLD cycles
//! (and three) are over; then its queue is *dry*, and its next frames do not wait at all until it has a descriptor again.
//!
//! A descriptor that was taken and not used comes back (`back`) and is the first that its queue has; it is
//! forgotten when the queue goes down. While `again` is set, the frame in `fit` looks for its next descriptor
//! and d_queue is its queue, from the next cycle on. Two cycles a frame: in one its queue is named, in the next the descriptor is taken.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Pick {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub m_valid: Signal<In, Bit>,
    pub m_data: Signal<In, Bits<256>>,
    pub f_valid: Signal<In, Bit>,
    pub f_drop: Signal<In, Bit>,
    pub f_rss: Signal<In, Bit>,
    pub f_queue: Signal<In, Bits<4>>,
    pub f_filter: Signal<In, Bit>,
    pub f_tag: Signal<In, Bits<16>>,
    pub m_ready: Signal<Out, Bit>,
    /// Queues that are enabled and not stopped.
    pub active: Signal<In, Bits<16>>,
    pub hold: Signal<In, Bits<24>>,
    pub d_queue: Signal<Out, Bits<4>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub d_take: Signal<Out, Bit>,
    // The frame for `fit`: 0 deliver, else the cause 1 PAUSE, 2 filter, 3 queue off, 4 no descriptor.
    pub w_ready: Signal<In, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_cause: Signal<Out, Bits<3>>,
    pub w_frame: Signal<Out, Bits<256>>,
    pub w_queue: Signal<Out, Bits<4>>,
    pub w_filter: Signal<Out, Bit>,
    pub w_tag: Signal<Out, Bits<16>>,
    pub w_descriptor: Signal<Out, Bits<128>>,
    // What the frame in `fit` wants of its queue.
    pub again: Signal<In, Bit>,
    pub again_queue: Signal<In, Bits<4>>,
    pub again_hungry: Signal<In, Bit>,
    pub again_take: Signal<In, Bit>,
    pub again_dry: Signal<In, Bit>,
    pub back: Signal<In, Bit>,
    pub back_data: Signal<In, Bits<128>>,
    /// The frame in `fit` is done with.
    pub finish: Signal<In, Bit>,
    /// Of the queue named in the cycle before: it is active; HOLD cycles are over.
    pub q_active: Signal<Out, Bit>,
    pub late: Signal<Out, Bit>,
    pub starved: Signal<Out, Bit>,
    pub waited: Signal<Out, Bit>,
    pub wait_queue: Signal<Out, Bits<4>>,
    pub busy: Signal<Out, Bit>,
    // Descriptors that came back, a queue each.
    spare: Ram<128, 4>,
    spares: DFF<Bits<16>>,
    dry: DFF<Bits<16>>,
    // The frame behind the oldest: so that no verdict has to reach the RAM of the list.
    next: DFF<Bit>,
    next_frame: DFF<Bits<256>>,
    next_queue: DFF<Bits<4>>,
    next_filter: DFF<Bit>,
    next_tag: DFF<Bits<16>>,
    next_refused: DFF<Bit>,
    // The oldest frame.
    valid: DFF<Bit>,
    frame: DFF<Bits<256>>,
    queue: DFF<Bits<4>>,
    filter: DFF<Bit>,
    tag: DFF<Bits<16>>,
    pause: DFF<Bit>,
    refused: DFF<Bit>,
    // What d_* belongs to: the frame above; the queue.
    named: DFF<Bit>,
    name: DFF<Bits<4>>,
    // The queue that is named in this cycle: that of `fit` if `again` was set in the cycle before, else the frame's.
    wanted: DFF<Bits<4>>,
    was_again: DFF<Bit>,
    is_active: DFF<Bit>,
    is_dry: DFF<Bit>,
    has_spare: DFF<Bit>,
    // The time it has waited.
    limited: DFF<Bit>,
    patience: DFF<Bits<24>>,
    over: DFF<Bit>,
    waiting: DFF<Bit>,
    starved_now: DFF<Bit>,
    waited_now: DFF<Bit>,
    wait_name: DFF<Bits<4>>,
    rss_queue: Signal<Local, Bits<4>>,
    mark: Signal<Local, Bits<16>>,
    unit: Signal<Local, Bits<16>>,
    set_spare: Signal<Local, Bits<16>>,
    clear_spare: Signal<Local, Bits<16>>,
    set_dry: Signal<Local, Bits<16>>,
    clear_dry: Signal<Local, Bits<16>>,
    have: Signal<Local, Bit>,
    look: Signal<Local, Bit>,
    decided: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    deliver: Signal<Local, Bit>,
    hungry: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
}

impl Logic for Pick {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, next, next_frame, next_queue, next_filter, next_tag, next_refused);
        dff_setup!(self, clock, spares, dry, valid, frame, queue, filter, tag, pause, refused);
        dff_setup!(self, clock, named, name, wanted, was_again, is_active, is_dry, has_spare);
        dff_setup!(self, clock, limited, patience, over, waiting, starved_now, waited_now, wait_name);
        self.spare.clock.next = self.clock.val();

        // The verdict, when what d_* says belongs to the frame.
        self.have.next = self.d_valid.val() | self.has_spare.q.val();
        self.look.next = self.valid.q.val() & self.named.q.val() & self.w_ready.val();
        self.decided.next = self.pause.q.val()
            | self.refused.q.val()
            | !self.is_active.q.val()
            | self.have.val()
            | self.is_dry.q.val()
            | self.over.q.val();
        self.accept.next = self.look.val() & self.decided.val();
        self.w_valid.next = self.accept.val();
        self.deliver.next = false;
        self.w_cause.next = 0.into();
        if self.pause.q.val() {
            self.w_cause.next = 1.into();
        } else if self.refused.q.val() {
            self.w_cause.next = 2.into();
        } else if !self.is_active.q.val() {
            self.w_cause.next = 3.into();
        } else if !self.have.val() {
            self.w_cause.next = 4.into();
        } else {
            self.deliver.next = self.accept.val();
        }
        self.w_frame.next = self.frame.q.val();
        self.w_queue.next = self.queue.q.val();
        self.w_filter.next = self.filter.q.val();
        self.w_tag.next = self.tag.q.val();
        self.w_descriptor.next = self.d_data.val();
        if self.has_spare.q.val() {
            self.w_descriptor.next = self.spare.read_data.val();
        }
        self.d_take.next = (self.deliver.val() & !self.has_spare.q.val()) | self.again_take.val();

        // The queue named in this cycle.
        self.d_queue.next = self.wanted.q.val();
        self.name.d.next = self.wanted.q.val();
        self.was_again.d.next = self.again.val();
        self.named.d.next = self.valid.q.val() & !self.was_again.q.val() & !self.accept.val();
        self.is_active.d.next = self.active.val().get_bit(self.wanted.q.val().index());
        self.is_dry.d.next = self.dry.q.val().get_bit(self.wanted.q.val().index());
        self.has_spare.d.next = self.spares.q.val().get_bit(self.wanted.q.val().index());
        self.q_active.next = self.is_active.q.val();

        // The frame behind the oldest.
        self.rss_queue.next = self.m_data.val().get_bits::<4>(128);
        self.load.next = self.m_valid.val() & self.f_valid.val() & !self.next.q.val();
        self.m_ready.next = self.load.val();
        if self.load.val() {
            self.next.d.next = true;
            self.next_frame.d.next = self.m_data.val();
            self.next_queue.d.next = self.f_queue.val();
            if self.f_rss.val() {
                self.next_queue.d.next = self.rss_queue.val();
            }
            self.next_filter.d.next = self.f_filter.val();
            self.next_tag.d.next = self.f_tag.val();
            self.next_refused.d.next = self.f_drop.val();
        }

        // The oldest frame.
        if self.accept.val() {
            self.valid.d.next = false;
        }
        if self.next.q.val() & (!self.valid.q.val() | self.accept.val()) {
            self.next.d.next = false;
            self.valid.d.next = true;
            self.frame.d.next = self.next_frame.q.val();
            self.queue.d.next = self.next_queue.q.val();
            self.filter.d.next = self.next_filter.q.val();
            self.tag.d.next = self.next_tag.q.val();
            self.pause.d.next = self.next_frame.q.val().get_bit(132);
            self.refused.d.next = self.next_refused.q.val();
        }

        self.wanted.d.next = self.queue.d.val();
        if self.again.val() {
            self.wanted.d.next = self.again_queue.val();
        }

        // Spare descriptors and dry queues.
        self.unit.next = 1.into();
        self.mark.next = self.unit.val() << self.name.q.val();
        self.set_spare.next = 0.into();
        self.clear_spare.next = 0.into();
        self.set_dry.next = 0.into();
        self.clear_dry.next = 0.into();
        if self.back.val() {
            self.set_spare.next = self.mark.val();
        }
        if self.deliver.val() {
            self.clear_spare.next = self.mark.val();
            self.clear_dry.next = self.mark.val();
        }
        if (self.accept.val() & (self.w_cause.val() == 4)) | self.again_dry.val() {
            self.set_dry.next = self.mark.val();
        }
        self.spares.d.next = ((self.spares.q.val() & !self.clear_spare.val()) | self.set_spare.val()) & self.active.val();
        self.dry.d.next = ((self.dry.q.val() & !self.clear_dry.val()) | self.set_dry.val()) & self.active.val();
        if !self.limited.q.val() {
            self.dry.d.next = 0.into();
        }
        self.spare.write_enable.next = self.back.val();
        self.spare.write_address.next = self.name.q.val();
        self.spare.write_data.next = self.back_data.val();
        self.spare.read_enable.next = true;
        self.spare.read_address.next = self.wanted.q.val();

        // Waiting. A frame counts as having waited once.
        self.hungry.next = (self.look.val() & !self.decided.val()) | self.again_hungry.val();
        self.limited.d.next = self.hold.val() != 0;
        self.patience.d.next = 0.into();
        self.over.d.next = false;
        if self.hungry.val() {
            self.patience.d.next = self.patience.q.val() + 1;
            self.over.d.next = self.limited.q.val() & (self.patience.q.val() >= self.hold.val());
            self.waiting.d.next = true;
        }
        if self.finish.val() {
            self.waiting.d.next = false;
        }
        self.late.next = self.over.q.val();
        self.starved_now.d.next = self.hungry.val();
        self.waited_now.d.next = self.hungry.val() & !self.waiting.q.val();
        self.wait_name.d.next = self.name.q.val();
        self.starved.next = self.starved_now.q.val();
        self.waited.next = self.waited_now.q.val();
        self.wait_queue.next = self.wait_name.q.val();
        self.busy.next = self.valid.q.val() | self.next.q.val();

        if self.reset.val() {
            self.spares.d.next = 0.into();
            self.dry.d.next = 0.into();
            self.next.d.next = false;
            self.valid.d.next = false;
            self.named.d.next = false;
            self.over.d.next = false;
            self.waiting.d.next = false;
            self.starved_now.d.next = false;
            self.waited_now.d.next = false;
        }
    }
}

//! Counts TX descriptors done and writes their index to host memory.
//!
//! A frame is done when the wire has taken it or when it was dropped. The index is written when WTHRESH frames
//! wait for it, WTIMER cycles after the first of them, or at once when the queue is disabled or stopped and has
//! nothing in flight; never a second time before the first write is taken. `producer` is the index as written
//! and taken. A disabled queue that has drained goes back to index 0.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// The index of one TX queue.
#[derive(LogicBlock, Default)]
pub struct WriteBack {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub stopped: Signal<In, Bit>,
    pub wthresh: Signal<In, Bits<8>>,
    pub wtimer: Signal<In, Bits<24>>,
    pub done_addr: Signal<In, Bits<64>>,
    pub fetch_idle: Signal<In, Bit>,
    pub started: Signal<In, Bit>,
    pub sent: Signal<In, Bit>,
    pub dropped: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub index_valid: Signal<Out, Bit>,
    pub index_addr: Signal<Out, Bits<64>>,
    pub index_data: Signal<Out, Bits<32>>,
    pub index_ready: Signal<In, Bit>,
    pub producer: Signal<Out, Bits<16>>,
    pub drop: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,
    in_flight: DFF<Bits<8>>,
    done: DFF<Bits<16>>,
    // The index in the last write that was begun, and in the last that was taken.
    begun: DFF<Bits<16>>,
    taken: DFF<Bits<16>>,
    writing: DFF<Bit>,
    timer: DFF<Bits<24>>,
    // As of the cycle before: WTHRESH are done; the time is over.
    enough: DFF<Bit>,
    late: DFF<Bit>,
    due: DFF<Bit>,
    also: DFF<Bit>,
    finished: Signal<Local, Bits<2>>,
    waiting: Signal<Local, Bits<16>>,
    pending: Signal<Local, Bit>,
    drained: Signal<Local, Bit>,
}

impl Logic for WriteBack {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_flight, done, begun, taken, writing, timer, enough, late, due, also);
        self.finished.next = bit_cast::<2, 1>(self.sent.val().into()) + bit_cast::<2, 1>(self.dropped.val().into());
        self.done.d.next = self.done.q.val() + bit_cast::<16, 2>(self.finished.val());
        self.in_flight.d.next = self.in_flight.q.val() + bit_cast::<8, 1>(self.started.val().into())
            - bit_cast::<8, 2>(self.finished.val());
        self.drained.next = self.fetch_idle.val() & (self.in_flight.q.val() == 0);

        self.waiting.next = self.done.q.val() - self.begun.q.val();
        self.pending.next = self.waiting.val() != 0;
        self.timer.d.next = 0.into();
        if self.pending.val() {
            self.timer.d.next = self.timer.q.val() + 1;
        }
        // Looked at one cycle later: it does not hurt to write an index that has moved on meanwhile.
        self.enough.d.next = self.waiting.val() >= bit_cast::<16, 8>(self.wthresh.val());
        self.late.d.next = self.timer.q.val() >= self.wtimer.val();
        self.due.d.next = self.pending.val()
            & ((self.enough.q.val() | self.late.q.val())
                | (self.drained.val() & (!self.enable.val() | self.stopped.val())));
        if self.due.q.val() & !self.writing.q.val() {
            self.begun.d.next = self.done.q.val();
            self.writing.d.next = true;
            self.timer.d.next = 0.into();
            self.enough.d.next = false;
            self.late.d.next = false;
            self.due.d.next = false;
        }
        if self.writing.q.val() & self.index_ready.val() {
            self.writing.d.next = false;
            self.taken.d.next = self.begun.q.val();
        }
        self.index_valid.next = self.writing.q.val();
        self.index_addr.next = self.done_addr.val();
        self.index_data.next = bit_cast::<32, 16>(self.begun.q.val());
        self.producer.next = self.taken.q.val();

        // A frame dropped and a descriptor refused in the same cycle are two pulses.
        self.also.d.next = self.dropped.val() & self.refused.val();
        self.drop.next = self.dropped.val() | self.refused.val() | self.also.q.val();

        self.idle.next = self.drained.val() & !self.pending.val() & !self.writing.q.val();
        if self.drained.val() & !self.pending.val() & !self.writing.q.val() & !self.enable.val() {
            self.done.d.next = 0.into();
            self.begun.d.next = 0.into();
            self.taken.d.next = 0.into();
        }

        if self.reset.val() {
            self.in_flight.d.next = 0.into();
            self.done.d.next = 0.into();
            self.begun.d.next = 0.into();
            self.taken.d.next = 0.into();
            self.writing.d.next = false;
            self.due.d.next = false;
            self.also.d.next = false;
        }
    }
}

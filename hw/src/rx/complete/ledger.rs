//! What one queue has in the RAM of completions, and when it is written.
//!
//! ```text
//! push → waits for its data → goes → released → batch → claim (a line) → free
//! ```
//!
//! A batch begins when WTHRESH completions are released, WTIMER cycles after the first, when the 16 places are taken,
//! or when the queue goes down. It is what is released by then; its last line takes what has joined meanwhile. With
//! `index_enable` the producer index is written after it.
//!
//! `producer` moves when a write is taken: that of the completions, or with `index_enable` that of the index, so that
//! software finds what an interrupt promises. Both indices return to 0 when the queue is disabled and idle.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Ledger {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub stopped: Signal<In, Bit>,
    pub wthresh: Signal<In, Bits<8>>,
    pub wtimer: Signal<In, Bits<24>>,
    pub index_enable: Signal<In, Bit>,
    /// Completions of 16 bytes.
    pub compact: Signal<In, Bit>,
    /// A completion of this queue is to come.
    pub holds: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub goes: Signal<In, Bit>,
    /// So many completions, or the index, are about to be written.
    pub claim: Signal<In, Bit>,
    pub claim_count: Signal<In, Bits<3>>,
    pub claim_index: Signal<In, Bit>,
    /// So many places are free again.
    pub free: Signal<In, Bit>,
    pub free_count: Signal<In, Bits<3>>,
    /// A write is taken; with `moves`, software can see all below `after`.
    pub taken: Signal<In, Bit>,
    pub moves: Signal<In, Bit>,
    pub after: Signal<In, Bits<16>>,
    pub room: Signal<Out, Bit>,
    pub wants: Signal<Out, Bit>,
    pub wants_index: Signal<Out, Bit>,
    /// Place of the next completion that comes, and of the next to be written.
    pub tail: Signal<Out, Bits<4>>,
    pub first: Signal<Out, Bits<4>>,
    /// Completions that can be written in one line, as of the cycle before; the index of the first.
    pub ready: Signal<Out, Bits<3>>,
    pub index: Signal<Out, Bits<16>>,
    pub producer: Signal<Out, Bits<16>>,
    pub idle: Signal<Out, Bit>,
    // Places, with one bit more: up to where they are taken, released, claimed, free again.
    pushed: DFF<Bits<5>>,
    released: DFF<Bits<5>>,
    claimed: DFF<Bits<5>>,
    freed: DFF<Bits<5>>,
    has_room: DFF<Bit>,
    timer: DFF<Bits<24>>,
    // As of the cycle before: the time is over, WTHRESH are there, a batch was written, nothing is in flight.
    late: DFF<Bit>,
    enough: DFF<Bit>,
    was_batch: DFF<Bit>,
    calm: DFF<Bit>,
    batch: DFF<Bit>,
    // Left of the batch.
    left: DFF<Bits<5>>,
    owes_index: DFF<Bit>,
    next: DFF<Bits<16>>,
    seen: DFF<Bits<16>>,
    // Writes under way.
    flying: DFF<Bits<3>>,
    together: DFF<Bits<3>>,
    space: Signal<Local, Bits<3>>,
    level: Signal<Local, Bits<5>>,
    waiting: Signal<Local, Bits<5>>,
    quiet: Signal<Local, Bit>,
    count: Signal<Local, Bits<5>>,
}

impl Logic for Ledger {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pushed, released, claimed, freed, has_room, timer, batch, left);
        dff_setup!(self, clock, owes_index, next, seen, flying, together);
        dff_setup!(self, clock, late, enough, was_batch, calm);

        self.level.next = self.pushed.q.val() - self.freed.q.val();
        self.waiting.next = self.released.q.val() - self.claimed.q.val();
        self.count.next = bit_cast::<5, 3>(self.claim_count.val());
        if self.push.val() {
            self.pushed.d.next = self.pushed.q.val() + 1;
        }
        if self.goes.val() {
            self.released.d.next = self.released.q.val() + 1;
        }
        if self.free.val() {
            self.freed.d.next = self.freed.q.val() + bit_cast::<5, 3>(self.free_count.val());
        }
        // Two more may be on their way when this is seen.
        self.has_room.d.next = self.level.val() < 14;

        // The batch.
        self.timer.d.next = 0.into();
        self.late.d.next = self.timer.q.val() >= self.wtimer.val();
        self.enough.d.next = bit_cast::<8, 5>(self.waiting.val()) >= self.wthresh.val();
        self.was_batch.d.next = self.batch.q.val();
        if (self.waiting.val() != 0) & !self.batch.q.val() {
            self.timer.d.next = self.timer.q.val() + 1;
            if (self.enough.q.val() & !self.was_batch.q.val())
                | (self.late.q.val() & !self.was_batch.q.val())
                | !self.has_room.q.val()
                | !self.enable.val()
                | self.stopped.val()
            {
                self.batch.d.next = true;
                self.left.d.next = self.waiting.val();
            }
        }
        if self.claim_index.val() {
            self.owes_index.d.next = false;
        }
        if self.claim.val() {
            self.claimed.d.next = self.claimed.q.val() + self.count.val();
            self.next.d.next = self.next.q.val() + bit_cast::<16, 5>(self.count.val());
            self.left.d.next = self.left.q.val() - self.count.val();
            if self.count.val() >= self.left.q.val() {
                self.batch.d.next = false;
                self.owes_index.d.next = self.index_enable.val();
            }
        }

        // What is under way, and what is through.
        if (self.claim.val() | self.claim_index.val()) & !self.taken.val() {
            self.flying.d.next = self.flying.q.val() + 1;
        }
        if !(self.claim.val() | self.claim_index.val()) & self.taken.val() {
            self.flying.d.next = self.flying.q.val() - 1;
        }
        if self.taken.val() & self.moves.val() {
            self.seen.d.next = self.after.val();
        }
        self.quiet.next = (self.level.val() == 0)
            & (self.flying.q.val() == 0)
            & !self.owes_index.q.val()
            & !self.holds.val()
            & !self.push.val();
        self.calm.d.next = self.quiet.val();
        if self.calm.q.val() & !self.enable.val() {
            self.next.d.next = 0.into();
            self.seen.d.next = 0.into();
        }

        // Those that share the line of the next.
        self.space.next = 2.into();
        if self.next.q.val().get_bit(0) {
            self.space.next = 1.into();
        }
        if self.compact.val() {
            self.space.next = 4.into();
            self.space.next = self.space.val() - bit_cast::<3, 2>(self.next.q.val().get_bits::<2>(0));
        }
        self.together.d.next = self.space.val();
        if bit_cast::<5, 3>(self.space.val()) > self.waiting.val() {
            self.together.d.next = self.waiting.val().get_bits::<3>(0);
        }

        self.room.next = self.has_room.q.val();
        self.wants.next = self.batch.q.val() | self.owes_index.q.val();
        self.wants_index.next = self.owes_index.q.val();
        self.tail.next = self.pushed.q.val().get_bits::<4>(0);
        self.first.next = self.claimed.q.val().get_bits::<4>(0);
        self.ready.next = self.together.q.val();
        self.index.next = self.next.q.val();
        self.producer.next = self.seen.q.val();
        self.idle.next = self.calm.q.val();

        if self.reset.val() {
            self.pushed.d.next = 0.into();
            self.released.d.next = 0.into();
            self.claimed.d.next = 0.into();
            self.freed.d.next = 0.into();
            self.has_room.d.next = false;
            self.timer.d.next = 0.into();
            self.batch.d.next = false;
            self.owes_index.d.next = false;
            self.next.d.next = 0.into();
            self.seen.d.next = 0.into();
            self.flying.d.next = 0.into();
        }
    }
}

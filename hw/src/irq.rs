//! Interrupt moderation of one vector.
//!
//! Armed with the index that software has seen, the vector fires at once if the producer has moved on already.
//! Else it fires when the producer is FRAMES past that index, or CYCLES after it first moved. `urgent` (a low-water
//! event, a stopped queue) fires an armed vector at once, and is kept for the next arming otherwise.
//!
//! Producer and seen index are compared as levels, every cycle: in whatever order and however close an event and
//! an arming come, the event is seen. Firing disarms. Three cycles from arming to `fire`.
//! The comparisons are registered, so the first cycle after an arming, with those of before, does not count.

use crate::emit::verilog;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// One interrupt vector.
#[derive(LogicBlock, Default)]
pub struct Irq {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub frames: Signal<In, Bits<8>>,
    pub cycles: Signal<In, Bits<24>>,
    pub arm: Signal<In, Bit>,
    pub arm_index: Signal<In, Bits<16>>,
    pub disarm: Signal<In, Bit>,
    pub producer: Signal<In, Bits<16>>,
    pub urgent: Signal<In, Bit>,
    pub fire: Signal<Out, Bit>,
    armed: DFF<Bit>,
    // Armed in the last cycle, and in the one before: then one event is enough.
    settling: DFF<Bit>,
    fresh: DFF<Bit>,
    seen: DFF<Bits<16>>,
    timer: DFF<Bits<24>>,
    kept: DFF<Bit>,
    out: DFF<Bit>,
    events: Signal<Local, Bits<16>>,
    moved: DFF<Bit>,
    enough: DFF<Bit>,
    // CYCLES are over; they are 0.
    late: DFF<Bit>,
    at_once: DFF<Bit>,
    after: Signal<Local, Bits<24>>,
    active: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
}

impl Logic for Irq {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, armed, settling, fresh, seen, timer, kept, out, moved, enough, late, at_once);
        self.events.next = self.producer.val() - self.seen.q.val();
        self.moved.d.next = self.events.val() != 0;
        self.enough.d.next = self.events.val() >= bit_cast::<16, 8>(self.frames.val());
        self.active.next = self.armed.q.val() & !self.settling.q.val();
        self.settling.d.next = self.arm.val();
        self.fresh.d.next = self.settling.q.val();
        self.timer.d.next = 0.into();
        self.after.next = self.timer.q.val() + 1;
        self.late.d.next = self.active.val() & self.moved.q.val() & (self.after.val() >= self.cycles.val());
        self.at_once.d.next = self.cycles.val() == 0;
        if self.active.val() & self.moved.q.val() {
            self.timer.d.next = self.after.val();
        }
        self.due.next = self.active.val()
            & (self.kept.q.val()
                | (self.moved.q.val() & ((self.fresh.q.val() | self.enough.q.val()) | (self.late.q.val() | self.at_once.q.val()))));
        self.out.d.next = self.due.val();
        self.fire.next = self.out.q.val();
        if self.due.val() {
            self.armed.d.next = false;
            self.kept.d.next = false;
        }
        if self.disarm.val() {
            self.armed.d.next = false;
        }
        if self.arm.val() {
            self.armed.d.next = true;
            self.seen.d.next = self.arm_index.val();
            self.timer.d.next = 0.into();
        }
        if self.urgent.val() {
            self.kept.d.next = true;
        }
        if self.reset.val() {
            self.armed.d.next = false;
            self.kept.d.next = false;
            self.out.d.next = false;
        }
    }
}

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![("irq", verilog(Irq::default(), "irq"))]
}

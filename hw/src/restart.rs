//! Resets the core without its PCIe side, and not before nothing is in flight.
//!
//! ```text
//! ask → hold (the queues are disabled) → at rest for 4096 cycles → core_reset for one cycle
//! ```
//!
//! A read that is answered after a reset would answer the wrong question, so the core waits until its queues are
//! idle. When bus mastering is off they cannot drain, but then what they want to send has not begun, and the
//! wait is long enough for a TLP under way to end.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// The sequence.
#[derive(LogicBlock)]
pub struct Restart {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ask: Signal<In, Bit>,
    pub at_rest: Signal<In, Bit>,
    pub master_enable: Signal<In, Bit>,
    pub hold: Signal<Out, Bit>,
    pub core_reset: Signal<Out, Bit>,
    asks: DFF<Bit>,
    asked: DFF<Bit>,
    rest: DFF<Bit>,
    pause: DFF<Bits<12>>,
    pulse: DFF<Bit>,
    last: Constant<Bits<12>>,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ask: Default::default(),
            at_rest: Default::default(),
            master_enable: Default::default(),
            hold: Default::default(),
            core_reset: Default::default(),
            asks: Default::default(),
            asked: Default::default(),
            rest: Default::default(),
            pause: Default::default(),
            pulse: Default::default(),
            last: Constant::new(0xFFF.into()),
        }
    }
}

impl Logic for Restart {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, asks, asked, rest, pause, pulse);
        self.hold.next = self.asked.q.val();
        self.core_reset.next = self.pulse.q.val();
        self.pulse.d.next = false;
        self.pause.d.next = 0.into();
        self.rest.d.next = self.at_rest.val();
        if self.asked.q.val() & (self.rest.q.val() | !self.master_enable.val()) {
            self.pause.d.next = self.pause.q.val() + 1;
        }
        if self.pause.q.val() == self.last.val() {
            self.pulse.d.next = true;
            self.asked.d.next = false;
            self.pause.d.next = 0.into();
        }
        self.asks.d.next = self.ask.val();
        if self.asks.q.val() {
            self.asked.d.next = true;
            self.pause.d.next = 0.into();
        }
        if self.reset.val() {
            self.pulse.d.next = true;
            self.asks.d.next = false;
            self.asked.d.next = false;
            self.pause.d.next = 0.into();
        }
    }
}

//! Counts pause quanta.
//!
//! `running` is 1 for `quanta` times `cycles` cycles, from the one after `load`; a new `load` replaces what is left. A
//! quantum has at least one cycle.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Timer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub quanta: Signal<In, Bits<16>>,
    pub cycles: Signal<In, Bits<12>>,
    pub running: Signal<Out, Bit>,
    runs: DFF<Bit>,
    left: DFF<Bits<16>>,
    // Cycles left of this quantum.
    tick: DFF<Bits<12>>,
    one_left: Constant<Bits<16>>,
    one_tick: Constant<Bits<12>>,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            load: Default::default(),
            quanta: Default::default(),
            cycles: Default::default(),
            running: Default::default(),
            runs: Default::default(),
            left: Default::default(),
            tick: Default::default(),
            one_left: Constant::new(1.into()),
            one_tick: Constant::new(1.into()),
        }
    }
}

impl Logic for Timer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, runs, left, tick);
        self.running.next = self.runs.q.val();
        if self.load.val() {
            self.runs.d.next = self.quanta.val() != 0;
            self.left.d.next = self.quanta.val();
            self.tick.d.next = self.cycles.val();
        } else if self.tick.q.val() > self.one_tick.val() {
            self.tick.d.next = self.tick.q.val() - self.one_tick.val();
        } else {
            self.tick.d.next = self.cycles.val();
            self.left.d.next = self.left.q.val() - self.one_left.val();
            if self.left.q.val() == self.one_left.val() {
                self.runs.d.next = false;
            }
        }
        if self.reset.val() {
            self.runs.d.next = false;
        }
    }
}

//! Finds the read that has waited too long.
//!
//! The time of each read is noted when it goes out. A scan looks at one tag after the other, four cycles each: age,
//! comparison, still outstanding, act. It acts (`expire`, for one cycle) in the cycle behind `quiet`: no completion is
//! being judged, or comes, that may be the answer. A read ends `timeout` units of 1024 cycles after it went out, and at most one
//! unit, one round of 128 cycles and the wait for `quiet` later.

use crate::read::table::Table;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Time-outs of 32 tags.
#[derive(LogicBlock, Default)]
pub struct Expiry {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub timeout: Signal<In, Bits<16>>,
    pub i_valid: Signal<In, Bit>,
    pub i_tag: Signal<In, Bits<5>>,
    pub outstanding: Signal<In, Bits<32>>,
    pub quiet: Signal<In, Bit>,
    pub expire: Signal<Out, Bit>,
    pub tag: Signal<Out, Bits<5>>,
    stamp: Table<17, 5>,
    now: DFF<Bits<27>>,
    scan: DFF<Bits<5>>,
    step: DFF<Bits<2>>,
    age: DFF<Bits<17>>,
    late: DFF<Bit>,
    // What to do, a cycle later: no completion can be judged by then.
    over: DFF<Bit>,
    over_tag: DFF<Bits<5>>,
    act: Signal<Local, Bit>,
}

impl Logic for Expiry {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now, scan, step, age, late, over, over_tag);
        self.stamp.clock.next = self.clock.val();
        self.stamp.write_enable.next = self.i_valid.val();
        self.stamp.write_address.next = self.i_tag.val();
        self.stamp.write_data.next = self.now.q.val().get_bits::<17>(10);
        self.stamp.read_address.next = self.scan.q.val();

        self.now.d.next = self.now.q.val() + 1;
        self.act.next = false;
        self.over_tag.d.next = self.scan.q.val();
        self.expire.next = self.over.q.val();
        self.tag.next = self.over_tag.q.val();
        self.step.d.next = self.step.q.val() + 1;
        match self.step.q.val().index() {
            0 => {
                self.age.d.next = self.now.q.val().get_bits::<17>(10) - self.stamp.read_data.val();
            }
            1 => {
                self.late.d.next = self.age.q.val() > bit_cast::<17, 16>(self.timeout.val());
            }
            2 => {
                self.late.d.next = self.late.q.val() & self.outstanding.val().get_bit(self.scan.q.val().index());
            }
            _ => {
                if !self.late.q.val() {
                    self.scan.d.next = self.scan.q.val() + 1;
                } else if self.quiet.val() {
                    // Asked again: a completion that was being judged may have been its answer.
                    self.act.next = self.outstanding.val().get_bit(self.scan.q.val().index());
                    self.scan.d.next = self.scan.q.val() + 1;
                } else {
                    self.step.d.next = 3.into();
                }
            }
        }
        // The tag goes out anew: what was found out about it is void.
        if self.i_valid.val() & (self.i_tag.val() == self.scan.q.val()) {
            self.act.next = false;
            self.scan.d.next = self.scan.q.val();
            self.step.d.next = 0.into();
        }
        self.over.d.next = self.act.val();
        if self.reset.val() {
            self.step.d.next = 0.into();
            self.late.d.next = false;
            self.over.d.next = false;
        }
    }
}

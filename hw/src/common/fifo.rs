//! A first-word-fall-through FIFO in block RAM.
//!
//! `s_*` in, `m_*` out. A word written into an empty FIFO comes out two cycles later; then a word a cycle.
//! `level` counts the words inside, those not yet visible at the output included.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// 2^A words of W bits; AP1 = A + 1.
#[derive(LogicBlock)]
pub struct Fifo<const W: usize, const A: usize, const AP1: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_ready: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_ready: Signal<In, Bit>,
    pub level: Signal<Out, Bits<AP1>>,
    ram: Ram<W, A>,
    // Words inside; written; read out of the RAM.
    count: DFF<Bits<AP1>>,
    tail: DFF<Bits<AP1>>,
    next: DFF<Bits<AP1>>,
    valid: DFF<Bit>,
    full: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    msb: Constant<Bits<8>>,
    one: Constant<Bits<AP1>>,
}

impl<const W: usize, const A: usize, const AP1: usize> Default for Fifo<W, A, AP1> {
    fn default() -> Self {
        assert_eq!(A + 1, AP1);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_valid: Default::default(),
            s_data: Default::default(),
            s_ready: Default::default(),
            m_valid: Default::default(),
            m_data: Default::default(),
            m_ready: Default::default(),
            level: Default::default(),
            ram: Default::default(),
            count: Default::default(),
            tail: Default::default(),
            next: Default::default(),
            valid: Default::default(),
            full: Default::default(),
            push: Default::default(),
            take: Default::default(),
            fetch: Default::default(),
            msb: Constant::new(A.to_bits()),
            one: Constant::new(1.into()),
        }
    }
}

impl<const W: usize, const A: usize, const AP1: usize> Logic for Fifo<W, A, AP1> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, tail, next, valid);
        self.ram.clock.next = self.clock.val();

        self.level.next = self.count.q.val();
        self.full.next = self.count.q.val().get_bit(self.msb.val().index());
        self.s_ready.next = !self.full.val();
        self.push.next = self.s_valid.val() & !self.full.val();
        self.ram.write_address.next = self.tail.q.val().get_bits::<A>(0);
        self.ram.write_data.next = self.s_data.val();
        self.ram.write_enable.next = self.push.val();
        if self.push.val() {
            self.tail.d.next = self.tail.q.val() + self.one.val();
        }

        // The next word is read when the one that shows is taken, or none shows; from the tail of the cycle before, so the
        // RAM never reads a word in the cycle in which it is written. `m_ready` comes late: it reaches no address.
        self.take.next = self.valid.q.val() & self.m_ready.val();
        self.fetch.next =
            (self.next.q.val() != self.tail.q.val()) & (self.m_ready.val() | !self.valid.q.val());
        self.ram.read_enable.next = self.m_ready.val() | !self.valid.q.val();
        self.ram.read_address.next = self.next.q.val().get_bits::<A>(0);
        if self.take.val() {
            self.valid.d.next = false;
        }
        if self.fetch.val() {
            self.next.d.next = self.next.q.val() + self.one.val();
            self.valid.d.next = true;
        }
        if self.push.val() & !self.take.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
        }
        if self.take.val() & !self.push.val() {
            self.count.d.next = self.count.q.val() - self.one.val();
        }
        self.m_valid.next = self.valid.q.val();
        self.m_data.next = self.ram.read_data.val();

        if self.reset.val() {
            self.count.d.next = 0.into();
            self.next.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.valid.d.next = false;
        }
    }
}

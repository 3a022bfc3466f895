//! A group of registers: R that software writes, O that show a value, C counters.
//!
//! ```text
//! bus → each register's comparison → hit → OR of what was hit → register → rdata
//! ```
//!
//! `rdata` is there four cycles after the read strobe, and 0 when no register of the bank was meant.

use super::port::{CounterReg, RoReg, RwReg};
use ferronic_contract::registers::Register;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A register that software writes: which, the bits it has, its value after reset.
pub type Writable = (Register, u32, u32);

/// The bank.
#[derive(LogicBlock)]
pub struct Bank<const R: usize, const O: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub value: [Signal<Out, Bits<32>>; R],
    pub written: [Signal<Out, Bit>; R],
    pub show: [Signal<In, Bits<32>>; O],
    pub amount: [Signal<In, Bits<6>>; C],
    rw: [RwReg; R],
    ro: [RoReg; O],
    counter: [CounterReg; C],
    any: Signal<Local, Bits<32>>,
    answer: DFF<Bits<32>>,
}

impl<const R: usize, const O: usize, const C: usize> Bank<R, O, C> {
    /// The registers, at their offsets from `base`.
    pub fn new(base: u32, writable: [Writable; R], shown: [Register; O], counters: [Register; C]) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            value: std::array::from_fn(|_| Default::default()),
            written: std::array::from_fn(|_| Default::default()),
            show: std::array::from_fn(|_| Default::default()),
            amount: std::array::from_fn(|_| Default::default()),
            rw: writable.map(|(register, mask, initial)| {
                RwReg::new(base + register.offset, register.access, mask, initial)
            }),
            ro: shown.map(|register| RoReg::new(base + register.offset)),
            counter: counters.map(|register| CounterReg::new(base + register.offset)),
            any: Default::default(),
            answer: Default::default(),
        }
    }
}

impl<const R: usize, const O: usize, const C: usize> Logic for Bank<R, O, C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, answer);
        self.any.next = 0.into();
        for i in 0_usize..R {
            self.rw[i].clock.next = self.clock.val();
            self.rw[i].reset.next = self.reset.val();
            self.rw[i].bus_addr.next = self.bus_addr.val();
            self.rw[i].bus_wdata.next = self.bus_wdata.val();
            self.rw[i].bus_write.next = self.bus_write.val();
            self.rw[i].bus_read.next = self.bus_read.val();
            self.value[i].next = self.rw[i].value.val();
            self.written[i].next = self.rw[i].written.val();
            self.any.next = self.any.val() | self.rw[i].rdata.val();
        }
        for i in 0_usize..O {
            self.ro[i].clock.next = self.clock.val();
            self.ro[i].bus_addr.next = self.bus_addr.val();
            self.ro[i].bus_read.next = self.bus_read.val();
            self.ro[i].value.next = self.show[i].val();
            self.any.next = self.any.val() | self.ro[i].rdata.val();
        }
        for i in 0_usize..C {
            self.counter[i].clock.next = self.clock.val();
            self.counter[i].reset.next = self.reset.val();
            self.counter[i].bus_addr.next = self.bus_addr.val();
            self.counter[i].bus_read.next = self.bus_read.val();
            self.counter[i].amount.next = self.amount[i].val();
            self.any.next = self.any.val() | self.counter[i].rdata.val();
        }
        self.answer.d.next = self.any.val();
        self.rdata.next = self.answer.q.val();
    }
}

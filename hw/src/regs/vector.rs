//! Registers of an interrupt vector, with the moderation they steer.
//!
//! ```text
//! register bus → FRAMES, CYCLES, ARM, DISARM → irq → fire (to the MSI-X table)
//!                producer index, urgent ────────↗
//! ```

use super::bank::Bank;
use crate::irq::Irq;
use ferronic_contract::registers::{vector, VECTOR, VECTOR_STRIDE};
use rust_hdl_core::prelude::*;

/// One vector.
#[derive(LogicBlock)]
pub struct VectorRegs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub producer: Signal<In, Bits<16>>,
    pub urgent: Signal<In, Bit>,
    pub fire: Signal<Out, Bit>,
    bank: Bank<4, 0, 1>,
    irq: Irq,
}

impl VectorRegs {
    /// Registers of vector number `index`.
    pub fn new(index: u32) -> Self {
        let writable = [
            (vector::FRAMES, 0xFF, 1),
            (vector::CYCLES, 0xFF_FFFF, 0),
            (vector::ARM, 0xFFFF, 0),
            (vector::DISARM, 0, 0),
        ];
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            producer: Default::default(),
            urgent: Default::default(),
            fire: Default::default(),
            bank: Bank::new(VECTOR + index * VECTOR_STRIDE, writable, [], [vector::SENT]),
            irq: Default::default(),
        }
    }
}

impl Logic for VectorRegs {
    #[hdl_gen]
    fn update(&mut self) {
        self.bank.clock.next = self.clock.val();
        self.bank.reset.next = self.reset.val();
        self.bank.bus_addr.next = self.bus_addr.val();
        self.bank.bus_wdata.next = self.bus_wdata.val();
        self.bank.bus_write.next = self.bus_write.val();
        self.bank.bus_read.next = self.bus_read.val();
        self.rdata.next = self.bank.rdata.val();
        self.irq.clock.next = self.clock.val();
        self.irq.reset.next = self.reset.val();
        self.irq.frames.next = self.bank.value[0].val().get_bits::<8>(0);
        self.irq.cycles.next = self.bank.value[1].val().get_bits::<24>(0);
        self.irq.arm.next = self.bank.written[2].val();
        self.irq.arm_index.next = self.bank.value[2].val().get_bits::<16>(0);
        self.irq.disarm.next = self.bank.written[3].val();
        self.irq.producer.next = self.producer.val();
        self.irq.urgent.next = self.urgent.val();
        self.fire.next = self.irq.fire.val();
        self.bank.amount[0].next = 0.into();
        if self.irq.fire.val() {
            self.bank.amount[0].next = 1.into();
        }
    }
}

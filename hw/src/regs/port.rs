//! Single registers on the register bus: [`RwReg`], [`RoReg`] and [`CounterReg`].
//!
//! Each compares the two halves of the bus address with its own, and keeps the results: synthesis shares them between the
//! registers, and they have a cycle to reach all. So an access takes effect a cycle after it was on the bus.

use ferronic_contract::registers::Access;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A register that software writes and reads. Bits outside the mask stay 0.
#[derive(LogicBlock)]
pub struct RwReg {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    /// The value, from the third cycle after the write on.
    pub value: Signal<Out, Bits<32>>,
    /// One cycle: `value` was just written.
    pub written: Signal<Out, Bit>,
    state: DFF<Bits<32>>,
    // What was on the bus.
    upper: DFF<Bit>,
    lower: DFF<Bit>,
    writing: DFF<Bit>,
    reading: DFF<Bit>,
    // Written to in the cycle before; in the one before that. The bus holds what is written for so long.
    strobe: DFF<Bit>,
    done: DFF<Bit>,
    hit: DFF<Bit>,
    here: Signal<Local, Bit>,
    address: Constant<Bits<16>>,
    mask: Constant<Bits<32>>,
    after_reset: Constant<Bits<32>>,
    readable: Constant<Bit>,
}

impl RwReg {
    /// At a byte offset in BAR 0, with the bits it has and its value after reset; a write-only one reads 0.
    pub fn new(address: u32, access: Access, mask: u32, initial: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            value: Default::default(),
            written: Default::default(),
            state: Default::default(),
            upper: Default::default(),
            lower: Default::default(),
            writing: Default::default(),
            reading: Default::default(),
            strobe: Default::default(),
            done: Default::default(),
            hit: Default::default(),
            here: Default::default(),
            address: Constant::new(u64::from(address).into()),
            mask: Constant::new(u64::from(mask).into()),
            after_reset: Constant::new(u64::from(initial).into()),
            readable: Constant::new(access != Access::Wo),
        }
    }
}

impl Logic for RwReg {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, upper, lower, writing, reading, strobe, done, hit);
        self.upper.d.next = self.bus_addr.val().get_bits::<9>(7) == self.address.val().get_bits::<9>(7);
        self.lower.d.next = self.bus_addr.val().get_bits::<7>(0) == self.address.val().get_bits::<7>(0);
        self.writing.d.next = self.bus_write.val();
        self.reading.d.next = self.bus_read.val();
        self.here.next = self.upper.q.val() & self.lower.q.val();
        self.strobe.d.next = self.writing.q.val() & self.here.val();
        self.done.d.next = self.strobe.q.val();
        if self.strobe.q.val() {
            self.state.d.next = self.bus_wdata.val() & self.mask.val();
        }
        if self.reading.q.val() {
            self.hit.d.next = self.here.val() & self.readable.val();
        }
        self.value.next = self.state.q.val();
        self.written.next = self.done.q.val();
        self.rdata.next = 0.into();
        if self.hit.q.val() {
            self.rdata.next = self.state.q.val();
        }
        if self.reset.val() {
            self.state.d.next = self.after_reset.val();
            self.writing.d.next = false;
            self.reading.d.next = false;
            self.strobe.d.next = false;
            self.done.d.next = false;
            self.hit.d.next = false;
        }
    }
}

/// A register that shows a value.
#[derive(LogicBlock)]
pub struct RoReg {
    pub clock: Signal<In, Clock>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub value: Signal<In, Bits<32>>,
    upper: DFF<Bit>,
    lower: DFF<Bit>,
    reading: DFF<Bit>,
    hit: DFF<Bit>,
    address: Constant<Bits<16>>,
}

impl RoReg {
    /// At a byte offset in BAR 0.
    pub fn new(address: u32) -> Self {
        Self {
            clock: Default::default(),
            bus_addr: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            value: Default::default(),
            upper: Default::default(),
            lower: Default::default(),
            reading: Default::default(),
            hit: Default::default(),
            address: Constant::new(u64::from(address).into()),
        }
    }
}

impl Logic for RoReg {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, upper, lower, reading, hit);
        self.rdata.next = 0.into();
        if self.hit.q.val() {
            self.rdata.next = self.value.val();
        }
        self.upper.d.next = self.bus_addr.val().get_bits::<9>(7) == self.address.val().get_bits::<9>(7);
        self.lower.d.next = self.bus_addr.val().get_bits::<7>(0) == self.address.val().get_bits::<7>(0);
        self.reading.d.next = self.bus_read.val();
        if self.reading.q.val() {
            self.hit.d.next = self.upper.q.val() & self.lower.q.val();
        }
    }
}

/// A free-running counter of 32 bits; `amount` is added each cycle, one cycle late.
#[derive(LogicBlock)]
pub struct CounterReg {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub amount: Signal<In, Bits<6>>,
    count: DFF<Bits<32>>,
    late: DFF<Bits<6>>,
    upper: DFF<Bit>,
    lower: DFF<Bit>,
    reading: DFF<Bit>,
    hit: DFF<Bit>,
    address: Constant<Bits<16>>,
}

impl CounterReg {
    /// At a byte offset in BAR 0.
    pub fn new(address: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            amount: Default::default(),
            count: Default::default(),
            late: Default::default(),
            upper: Default::default(),
            lower: Default::default(),
            reading: Default::default(),
            hit: Default::default(),
            address: Constant::new(u64::from(address).into()),
        }
    }
}

impl Logic for CounterReg {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, late, upper, lower, reading, hit);
        self.late.d.next = self.amount.val();
        self.count.d.next = self.count.q.val() + bit_cast::<32, 6>(self.late.q.val());
        self.upper.d.next = self.bus_addr.val().get_bits::<9>(7) == self.address.val().get_bits::<9>(7);
        self.lower.d.next = self.bus_addr.val().get_bits::<7>(0) == self.address.val().get_bits::<7>(0);
        self.reading.d.next = self.bus_read.val();
        if self.reading.q.val() {
            self.hit.d.next = self.upper.q.val() & self.lower.q.val();
        }
        self.rdata.next = 0.into();
        if self.hit.q.val() {
            self.rdata.next = self.count.q.val();
        }
        if self.reset.val() {
            self.count.d.next = 0.into();
            self.late.d.next = 0.into();
            self.hit.d.next = false;
        }
    }
}

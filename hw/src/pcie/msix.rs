//! MSI-X: table and pending bits on the register bus, and the messages.
//!
//! ```text
//! fire ─→ pending ─→ scanner, one vector a cycle ─→ table read ─→ m_*
//!           └─→ PBA     └─ mask bits, function mask, enable
//! ```
//!
//! A vector that may fire is found within N cycles and is presented 6 cycles later, bus accesses apart. A vector that is
//! masked keeps its pending bit; so do all while MSI-X is masked or disabled. The pending bit goes when the message is
//! presented, and what fires from then on is a message of its own.
//!
//! The table is one RAM of dwords. A write reads the dword, merges the bytes and writes it in the next cycle, so the
//! bus may strobe every third cycle. Mask bits are registers. Software changes an entry while it is masked
//! (PCI Express Base Specification, 6.1.4.2), so a message is never read while it changes.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N = 2^V vectors; A = V + 2.
#[derive(LogicBlock)]
pub struct Msix<const N: usize, const V: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub function_mask: Signal<In, Bit>,
    pub fire: Signal<In, Bits<N>>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_be: Signal<In, Bits<4>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub bus_rdata: Signal<Out, Bits<32>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_addr: Signal<Out, Bits<64>>,
    pub m_data: Signal<Out, Bits<32>>,
    pub m_ready: Signal<In, Bit>,

    entries: Ram<32, A>,
    masked: DFF<Bits<N>>,
    pending: DFF<Bits<N>>,

    // Bus: what the strobe of the cycle before wants.
    strobe: Signal<Local, Bit>,
    region: Signal<Local, Bits<2>>,
    entry: Signal<Local, Bits<10>>,
    field: Signal<Local, Bits<2>>,
    in_table: Signal<Local, Bit>,
    reading: DFF<Bit>,
    writing: DFF<Bit>,
    pending_part: Signal<Local, Bits<N>>,
    part_shift: Signal<Local, Bits<14>>,
    old: Signal<Local, Bits<32>>,
    mask: Signal<Local, Bits<32>>,
    merged: Signal<Local, Bits<32>>,
    answer: DFF<Bits<32>>,
    entry_bit: Signal<Local, Bits<N>>,

    // Scanner. State 0 looks for a vector, 1 to 3 read its dwords, 4 waits for the last, 5 presents the message.
    state: DFF<Bits<3>>,
    vector: DFF<Bits<V>>,
    got: DFF<Bits<2>>,
    low: DFF<Bits<30>>,
    high: DFF<Bits<32>>,
    data: DFF<Bits<32>>,
    may_fire: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    vector_bit: Signal<Local, Bits<N>>,
    sent: Signal<Local, Bits<N>>,

    count: Constant<Bits<12>>,
    one: Constant<Bits<N>>,
    octet: Constant<Bits<32>>,
    ones: Constant<Bits<N>>,
}

impl<const N: usize, const V: usize, const A: usize> Default for Msix<N, V, A> {
    fn default() -> Self {
        assert_eq!((N, A), (1 << V, V + 2));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            function_mask: Default::default(),
            fire: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_be: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            bus_rdata: Default::default(),
            m_valid: Default::default(),
            m_addr: Default::default(),
            m_data: Default::default(),
            m_ready: Default::default(),
            entries: Default::default(),
            masked: Default::default(),
            pending: Default::default(),
            strobe: Default::default(),
            region: Default::default(),
            entry: Default::default(),
            field: Default::default(),
            in_table: Default::default(),
            reading: Default::default(),
            writing: Default::default(),
            pending_part: Default::default(),
            part_shift: Default::default(),
            old: Default::default(),
            mask: Default::default(),
            merged: Default::default(),
            answer: Default::default(),
            entry_bit: Default::default(),
            state: Default::default(),
            vector: Default::default(),
            got: Default::default(),
            low: Default::default(),
            high: Default::default(),
            data: Default::default(),
            may_fire: Default::default(),
            free: Default::default(),
            vector_bit: Default::default(),
            sent: Default::default(),
            count: Constant::new((N as u64).to_bits()),
            one: Constant::new(1.into()),
            octet: Constant::new(0xFF.into()),
            ones: Constant::new(!Bits::<N>::default()),
        }
    }
}

impl<const N: usize, const V: usize, const A: usize> Logic for Msix<N, V, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, masked, pending, reading, writing, answer, state, vector, got, low, high, data);
        self.entries.clock.next = self.clock.val();

        // Bus. The address stays on the bus in the cycle after the strobe.
        self.strobe.next = self.bus_read.val() | self.bus_write.val();
        self.region.next = self.bus_addr.val().get_bits::<2>(14);
        self.entry.next = self.bus_addr.val().get_bits::<10>(4);
        self.field.next = self.bus_addr.val().get_bits::<2>(2);
        self.in_table.next =
            (self.region.val() == 2) & (bit_cast::<12, 10>(self.entry.val()) < self.count.val());
        self.reading.d.next = self.bus_read.val();
        self.writing.d.next = self.bus_write.val() & self.in_table.val();
        self.entry_bit.next = self.one.val() << self.entry.val();
        self.part_shift.next = bit_cast::<14, 9>(self.bus_addr.val().get_bits::<9>(2)) << 5;
        self.pending_part.next = self.pending.q.val() >> self.part_shift.val();
        self.old.next = self.entries.read_data.val();
        if self.field.val() == 3 {
            self.old.next = 0.into();
            if (self.masked.q.val() & self.entry_bit.val()) != 0 {
                self.old.next = 1.into();
            }
        }
        if self.strobe.val() {
            self.answer.d.next = 0.into();
        }
        if self.reading.q.val() {
            if self.in_table.val() {
                self.answer.d.next = self.old.val();
            } else if (self.region.val() == 3) & (self.bus_addr.val().get_bits::<3>(11) == 0) {
                self.answer.d.next = bit_cast::<32, N>(self.pending_part.val());
            }
        }
        self.bus_rdata.next = self.answer.q.val();
        self.mask.next = 0.into();
        if self.bus_be.val().get_bit(0) {
            self.mask.next = self.mask.val() | self.octet.val();
        }
        if self.bus_be.val().get_bit(1) {
            self.mask.next = self.mask.val() | (self.octet.val() << 8);
        }
        if self.bus_be.val().get_bit(2) {
            self.mask.next = self.mask.val() | (self.octet.val() << 16);
        }
        if self.bus_be.val().get_bit(3) {
            self.mask.next = self.mask.val() | (self.octet.val() << 24);
        }
        self.merged.next = (self.old.val() & !self.mask.val()) | (self.bus_wdata.val() & self.mask.val());
        self.entries.write_enable.next = self.writing.q.val();
        self.entries.write_address.next = self.bus_addr.val().get_bits::<A>(2);
        self.entries.write_data.next = self.merged.val();
        if self.writing.q.val() & (self.field.val() == 3) {
            self.masked.d.next = self.masked.q.val() & !self.entry_bit.val();
            if self.merged.val().get_bit(0) {
                self.masked.d.next = self.masked.q.val() | self.entry_bit.val();
            }
        }

        // The bus has the table first.
        self.free.next = !self.strobe.val() & !self.writing.q.val();
        self.entries.read_enable.next = true;
        self.entries.read_address.next = self.bus_addr.val().get_bits::<A>(2);
        if self.free.val() {
            self.entries.read_address.next = (bit_cast::<A, V>(self.vector.q.val()) << 2)
                | bit_cast::<A, 3>(bit_cast::<3, 3>(self.state.q.val() - 1));
        }
        self.may_fire.next = self.enable.val()
            & !self.function_mask.val()
            & self.pending.q.val().get_bit(self.vector.q.val().index())
            & !self.masked.q.val().get_bit(self.vector.q.val().index());
        self.vector_bit.next = self.one.val() << self.vector.q.val();
        self.sent.next = 0.into();
        self.got.d.next = 0.into();
        match self.state.q.val().index() {
            0 => {
                if self.may_fire.val() {
                    self.state.d.next = 1.into();
                } else {
                    self.vector.d.next = self.vector.q.val() + 1;
                }
            }
            1 => {
                if self.free.val() {
                    self.got.d.next = 1.into();
                    self.state.d.next = 2.into();
                }
            }
            2 => {
                if self.free.val() {
                    self.got.d.next = 2.into();
                    self.state.d.next = 3.into();
                }
            }
            3 => {
                if self.free.val() {
                    self.got.d.next = 3.into();
                    self.state.d.next = 4.into();
                }
            }
            4 => {
                // Masked or disabled meanwhile: it stays pending.
                self.state.d.next = 0.into();
                if self.may_fire.val() {
                    self.sent.next = self.vector_bit.val();
                    self.state.d.next = 5.into();
                }
            }
            _ => {
                if self.m_ready.val() {
                    self.state.d.next = 0.into();
                    self.vector.d.next = self.vector.q.val() + 1;
                }
            }
        }
        match self.got.q.val().index() {
            1 => self.low.d.next = self.entries.read_data.val().get_bits::<30>(2),
            2 => self.high.d.next = self.entries.read_data.val(),
            3 => self.data.d.next = self.entries.read_data.val(),
            _ => {}
        }
        self.pending.d.next = (self.pending.q.val() & !self.sent.val()) | self.fire.val();
        self.m_valid.next = self.state.q.val() == 5;
        self.m_addr.next =
            (bit_cast::<64, 32>(self.high.q.val()) << 32) | (bit_cast::<64, 30>(self.low.q.val()) << 2);
        self.m_data.next = self.data.q.val();

        if self.reset.val() {
            self.masked.d.next = self.ones.val();
            self.pending.d.next = 0.into();
            self.reading.d.next = false;
            self.writing.d.next = false;
            self.answer.d.next = 0.into();
            self.state.d.next = 0.into();
            self.vector.d.next = 0.into();
            self.got.d.next = 0.into();
        }
    }
}

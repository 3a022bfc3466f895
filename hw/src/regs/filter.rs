//! Registers of the filters: the staged row, COMMIT, KIND, the address hash, the indirection table.
//!
//! ```text
//! ENTRY, COMMIT, HASH → queue → staged row ──────┐
//!                         └─ COMMIT, HASH word → change → (between two look-ups) → epoch
//! HASH → copy for reading     KIND → kinds     INDIRECT → t_*
//! ```
//!
//! What changes the tables stands in a queue, in the order in which software wrote it, until the filter has a gap
//! between two look-ups (`change_ready`). So software may write on at once, a row stays as it was staged, and changes
//! take effect in order. A gap comes after 17 cycles at most and then empties the queue, a change a cycle; the bus brings a
//! write every three cycles or more: the 32 places are never all taken.
//!
//! `epoch_write` comes in the cycle after the row was written: the row first, then the epoch. KIND counts at once, for
//! look-ups that have not begun.

use super::bank::Bank;
use crate::common::fifo::Fifo;
use crate::common::join::Join;
use crate::read::table::Table;
use ferronic_contract::registers::filter::{KIND, KINDS};
use ferronic_contract::registers::{Register, FILTER};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct FilterRegs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    /// Fields of kind i in bits 6i+5:6i.
    pub kinds: Signal<Out, Bits<24>>,
    /// A row to write, or else a word of the address hash.
    pub change_valid: Signal<Out, Bit>,
    pub change_is_row: Signal<Out, Bit>,
    pub change_row: Signal<Out, Bits<9>>,
    pub change_row_data: Signal<Out, Bits<384>>,
    pub change_word: Signal<Out, Bits<4>>,
    pub change_word_data: Signal<Out, Bits<32>>,
    pub change_ready: Signal<In, Bit>,
    pub epoch_write: Signal<Out, Bit>,
    pub epoch: Signal<Out, Bits<3>>,
    /// A word of the indirection table.
    pub t_write: Signal<Out, Bit>,
    pub t_address: Signal<Out, Bits<5>>,
    pub t_data: Signal<Out, Bits<32>>,
    bank: Bank<KINDS, 0, 0>,
    all_kinds: Join<6, KINDS, 24>,
    // Bits 31:0 data; 35:32 word of the row or of the hash; 36 a change; 37 of a row.
    queue: Fifo<38, 5, 6>,
    staged: [DFF<Bits<32>>; 12],
    row: Join<32, 12, 384>,
    copy: Table<32, 4>,
    // The last read was in the address hash, and where.
    hit: DFF<Bit>,
    place: DFF<Bits<4>>,
    addr: DFF<Bits<16>>,
    write: DFF<Bit>,
    read: DFF<Bit>,
    answer: DFF<Bits<32>>,
    new_epoch: DFF<Bit>,
    epoch_now: DFF<Bits<3>>,
    t_strobe: DFF<Bit>,
    t_place: DFF<Bits<5>>,
    t_word: DFF<Bits<32>>,
    page: Signal<Local, Bit>,
    index: Signal<Local, Bits<6>>,
    is_entry: Signal<Local, Bit>,
    is_commit: Signal<Local, Bit>,
    is_hash: Signal<Local, Bit>,
    head: Signal<Local, Bits<38>>,
    pop: Signal<Local, Bit>,
    page_number: Constant<Bits<8>>,
    entries: Constant<Bits<6>>,
    tables: Constant<Bits<8>>,
}

impl Default for FilterRegs {
    fn default() -> Self {
        let mask = KIND.fields.iter().map(|field| field.mask()).sum();
        let kinds = std::array::from_fn(|i| (Register { offset: KIND.offset + 4 * i as u32, ..KIND }, mask, 0));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            kinds: Default::default(),
            change_valid: Default::default(),
            change_is_row: Default::default(),
            change_row: Default::default(),
            change_row_data: Default::default(),
            change_word: Default::default(),
            change_word_data: Default::default(),
            change_ready: Default::default(),
            epoch_write: Default::default(),
            epoch: Default::default(),
            t_write: Default::default(),
            t_address: Default::default(),
            t_data: Default::default(),
            bank: Bank::new(FILTER, kinds, [], []),
            all_kinds: Default::default(),
            queue: Default::default(),
            staged: std::array::from_fn(|_| Default::default()),
            row: Default::default(),
            copy: Default::default(),
            hit: Default::default(),
            place: Default::default(),
            addr: Default::default(),
            write: Default::default(),
            read: Default::default(),
            answer: Default::default(),
            new_epoch: Default::default(),
            epoch_now: Default::default(),
            t_strobe: Default::default(),
            t_place: Default::default(),
            t_word: Default::default(),
            page: Default::default(),
            index: Default::default(),
            is_entry: Default::default(),
            is_commit: Default::default(),
            is_hash: Default::default(),
            head: Default::default(),
            pop: Default::default(),
            page_number: Constant::new(u64::from(FILTER >> 8).into()),
            entries: Constant::new(12.into()),
            tables: Constant::new(u64::from((FILTER >> 8) + 1).into()),
        }
    }
}

impl Logic for FilterRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, addr, write, read, hit, place, answer, new_epoch, epoch_now, t_strobe, t_place, t_word);
        for i in 0_usize..12 {
            self.staged[i].clock.next = self.clock.val();
            self.staged[i].d.next = self.staged[i].q.val();
        }
        self.bank.clock.next = self.clock.val();
        self.bank.reset.next = self.reset.val();
        self.bank.bus_addr.next = self.bus_addr.val();
        self.bank.bus_wdata.next = self.bus_wdata.val();
        self.bank.bus_write.next = self.bus_write.val();
        self.bank.bus_read.next = self.bus_read.val();
        self.queue.clock.next = self.clock.val();
        self.queue.reset.next = self.reset.val();
        self.copy.clock.next = self.clock.val();
        for i in 0_usize..4 {
            self.all_kinds.part[i].next = self.bank.value[i].val().get_bits::<6>(0);
        }
        self.kinds.next = self.all_kinds.whole.val();

        // As the bank does: an access takes effect a cycle after it was on the bus, which holds what is written.
        self.addr.d.next = self.bus_addr.val();
        self.write.d.next = self.bus_write.val();
        self.read.d.next = self.bus_read.val();

        // Words 0 to 11 the row, 12 COMMIT, 32 to 47 the address hash.
        self.page.next = self.addr.q.val().get_bits::<8>(8) == self.page_number.val();
        self.index.next = self.addr.q.val().get_bits::<6>(2);
        self.is_entry.next = self.page.val() & (self.index.val() < self.entries.val());
        self.is_commit.next = self.page.val() & (self.index.val() == self.entries.val());
        self.is_hash.next = self.page.val() & (self.addr.q.val().get_bits::<2>(6) == 2);
        self.queue.s_valid.next =
            self.write.q.val() & ((self.is_entry.val() | self.is_commit.val()) | self.is_hash.val());
        self.queue.s_data.next = (bit_cast::<38, 32>(self.bus_wdata.val())
            | (bit_cast::<38, 4>(self.addr.q.val().get_bits::<4>(2)) << 32))
            | ((bit_cast::<38, 1>((self.is_commit.val() | self.is_hash.val()).into()) << 36)
                | (bit_cast::<38, 1>(self.is_commit.val().into()) << 37));

        self.head.next = self.queue.m_data.val();
        self.change_valid.next = self.queue.m_valid.val() & self.head.val().get_bit(36);
        self.change_is_row.next = self.head.val().get_bit(37);
        self.change_row.next = self.head.val().get_bits::<9>(0);
        self.change_word.next = self.head.val().get_bits::<4>(32);
        self.change_word_data.next = self.head.val().get_bits::<32>(0);
        self.pop.next = self.queue.m_valid.val() & (!self.head.val().get_bit(36) | self.change_ready.val());
        self.queue.m_ready.next = self.pop.val();
        if self.queue.m_valid.val() & !self.head.val().get_bit(36) {
            for i in 0_usize..12 {
                if self.head.val().get_bits::<4>(32) == i.to_bits::<4>() {
                    self.staged[i].d.next = self.head.val().get_bits::<32>(0);
                }
            }
        }
        for i in 0_usize..12 {
            self.row.part[i].next = self.staged[i].q.val();
        }
        self.change_row_data.next = self.row.whole.val();
        self.new_epoch.d.next = self.pop.val() & self.head.val().get_bit(37);
        self.epoch_now.d.next = self.head.val().get_bits::<3>(16);
        self.epoch_write.next = self.new_epoch.q.val();
        self.epoch.next = self.epoch_now.q.val();

        self.copy.write_enable.next = self.write.q.val() & self.is_hash.val();
        self.copy.write_address.next = self.addr.q.val().get_bits::<4>(2);
        self.copy.write_data.next = self.bus_wdata.val();
        self.copy.read_address.next = self.place.q.val();
        if self.read.q.val() {
            self.hit.d.next = self.is_hash.val();
            self.place.d.next = self.addr.q.val().get_bits::<4>(2);
        }
        self.answer.d.next = 0.into();
        if self.hit.q.val() {
            self.answer.d.next = self.copy.read_data.val();
        }
        self.rdata.next = self.bank.rdata.val() | self.answer.q.val();

        self.t_strobe.d.next = (self.write.q.val() & !self.addr.q.val().get_bit(7))
            & (self.addr.q.val().get_bits::<8>(8) == self.tables.val());
        self.t_place.d.next = self.addr.q.val().get_bits::<5>(2);
        self.t_word.d.next = self.bus_wdata.val();
        self.t_write.next = self.t_strobe.q.val();
        self.t_address.next = self.t_place.q.val();
        self.t_data.next = self.t_word.q.val();

        if self.reset.val() {
            self.hit.d.next = false;
            self.new_epoch.d.next = false;
            self.t_strobe.d.next = false;
            self.write.d.next = false;
            self.read.d.next = false;
        }
    }
}

//! One bank of the packet buffer: dword `lane` of each row.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;

/// 2^A dwords of rows of W bits.
#[derive(LogicBlock)]
pub struct Bank<const W: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    // A bit for each dword of this row, and from bit L on for each of the next.
    pub write: Signal<In, Bits<32>>,
    pub row: Signal<In, Bits<12>>,
    pub next_row: Signal<In, Bits<12>>,
    pub data: Signal<In, Bits<W>>,
    pub read_row: Signal<In, Bits<A>>,
    // The dword in its place in the row, all else 0.
    pub read_data: Signal<Out, Bits<W>>,
    ram: Ram<32, A>,
    here: Constant<Bits<5>>,
    beyond: Constant<Bits<5>>,
    place: Constant<Bits<10>>,
}

impl<const W: usize, const A: usize> Bank<W, A> {
    /// The bank of dword `lane`.
    pub fn of(lane: usize) -> Self {
        Self {
            clock: Default::default(),
            write: Default::default(),
            row: Default::default(),
            next_row: Default::default(),
            data: Default::default(),
            read_row: Default::default(),
            read_data: Default::default(),
            ram: Default::default(),
            here: Constant::new(lane.to_bits()),
            beyond: Constant::new((W / 32 + lane).to_bits()),
            place: Constant::new((32 * lane).to_bits()),
        }
    }
}

impl<const W: usize, const A: usize> Logic for Bank<W, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.ram.clock.next = self.clock.val();
        self.ram.write_enable.next = self.write.val().get_bit(self.here.val().index())
            | self.write.val().get_bit(self.beyond.val().index());
        self.ram.write_address.next = self.row.val().get_bits::<A>(0);
        if self.write.val().get_bit(self.beyond.val().index()) {
            self.ram.write_address.next = self.next_row.val().get_bits::<A>(0);
        }
        self.ram.write_data.next = self.data.val().get_bits::<32>(self.place.val().index());
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.read_row.val();
        self.read_data.next = bit_cast::<W, 32>(self.ram.read_data.val()) << self.place.val();
    }
}

//! The address hash: whether the 512 bits hold a destination.
//!
//! ```text
//! dmac → CRC → place (9 bits; it travels with the frame) → one of 16 words → one of 32 bits → listed
//! ```
//!
//! The CRC is linear: each bit of the place is the exclusive or of some bits of the address, and which ones is asked
//! of the contract's own `address_hash`. `listed` is there three cycles after `place`. Reset leaves the bits alone.

use crate::read::table::Table;
use ferronic_contract::registers::filter::address_hash;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// The place of an address; wires and gates only.
#[derive(LogicBlock)]
pub struct AddressHash {
    /// Byte 0 in bits 7:0.
    pub dmac: Signal<In, Bits<48>>,
    pub place: Signal<Out, Bits<9>>,
    // The bits of the address that count for each bit of the place.
    heeded: [Constant<Bits<48>>; 9],
    // The place of the address 0.
    start: Constant<Bits<9>>,
}

impl Default for AddressHash {
    fn default() -> Self {
        let hash = |address: u64| {
            let [a, b, c, d, e, f, ..] = address.to_le_bytes();
            u64::from(address_hash(&[a, b, c, d, e, f]))
        };
        let start = hash(0);
        Self {
            dmac: Default::default(),
            place: Default::default(),
            heeded: std::array::from_fn(|i| {
                let heeded = (0..48).map(|bit| ((hash(1 << bit) ^ start) >> i & 1) << bit).sum::<u64>();
                Constant::new(heeded.into())
            }),
            start: Constant::new(start.into()),
        }
    }
}

impl Logic for AddressHash {
    #[hdl_gen]
    fn update(&mut self) {
        self.place.next = self.start.val();
        for i in 0_usize..9 {
            self.place.next = self
                .place
                .val()
                .replace_bit(i, self.start.val().get_bit(i) ^ (self.dmac.val() & self.heeded[i].val()).xor());
        }
    }
}

/// The 512 bits.
#[derive(LogicBlock, Default)]
pub struct Bitmap {
    pub clock: Signal<In, Clock>,
    pub write: Signal<In, Bit>,
    pub write_word: Signal<In, Bits<4>>,
    pub write_data: Signal<In, Bits<32>>,
    pub place: Signal<In, Bits<9>>,
    pub listed: Signal<Out, Bit>,
    bits: Table<32, 4>,
    word: DFF<Bits<32>>,
    low: DFF<Bits<5>>,
    found: DFF<Bit>,
    late: DFF<Bit>,
}

impl Logic for Bitmap {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, word, low, found, late);
        self.bits.clock.next = self.clock.val();
        self.bits.write_enable.next = self.write.val();
        self.bits.write_address.next = self.write_word.val();
        self.bits.write_data.next = self.write_data.val();
        self.bits.read_address.next = self.place.val().get_bits::<4>(5);
        self.word.d.next = self.bits.read_data.val();
        self.low.d.next = self.place.val().get_bits::<5>(0);
        self.found.d.next = self.word.q.val().get_bit(self.low.q.val().index());
        self.late.d.next = self.found.q.val();
        self.listed.next = self.late.q.val();
    }
}

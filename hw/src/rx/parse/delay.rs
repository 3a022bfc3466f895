//! Data that comes out a fixed number of cycles later, by way of a small RAM: a LUT and a register a bit, however long
//! the wait. For few bits there is the chain of registers, `common::delay`.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits, D cycles, D from 2 to 16. What comes out at first is what the RAM held.
#[derive(LogicBlock)]
pub struct Delay<const W: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub now: Signal<In, Bits<W>>,
    pub then: Signal<Out, Bits<W>>,
    ram: Ram<W, 4>,
    // No reset: only the distance between the two counts.
    place: DFF<Bits<4>>,
    from: DFF<Bits<4>>,
    one: Constant<Bits<4>>,
    back: Constant<Bits<4>>,
}

impl<const W: usize, const D: usize> Default for Delay<W, D> {
    fn default() -> Self {
        assert!((2..=16).contains(&D));
        Self {
            clock: Default::default(),
            now: Default::default(),
            then: Default::default(),
            ram: Default::default(),
            place: Default::default(),
            from: Default::default(),
            one: Constant::new(1.into()),
            back: Constant::new((D - 2).to_bits()),
        }
    }
}

impl<const W: usize, const D: usize> Logic for Delay<W, D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, place, from);
        self.place.d.next = self.place.q.val() + self.one.val();
        // The registers of `from` and of the RAM's output are two of the D cycles.
        self.from.d.next = self.place.q.val() - self.back.val();
        self.ram.clock.next = self.clock.val();
        self.ram.write_enable.next = true;
        self.ram.write_address.next = self.place.q.val();
        self.ram.write_data.next = self.now.val();
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.from.q.val();
        self.then.next = self.ram.read_data.val();
    }
}

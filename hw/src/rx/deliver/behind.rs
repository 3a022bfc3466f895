//! The position behind a frame, where the next begins: at a multiple of K bytes. Wires only.

use rust_hdl_core::prelude::*;

/// K bytes in a word of the packet FIFO.
#[derive(LogicBlock)]
pub struct Behind<const K: usize> {
    pub position: Signal<In, Bits<16>>,
    pub length: Signal<In, Bits<14>>,
    pub following: Signal<Out, Bits<16>>,
    round: Constant<Bits<16>>,
}

impl<const K: usize> Default for Behind<K> {
    fn default() -> Self {
        assert!(K.is_power_of_two());
        Self {
            position: Default::default(),
            length: Default::default(),
            following: Default::default(),
            round: Constant::new((K - 1).to_bits()),
        }
    }
}

impl<const K: usize> Logic for Behind<K> {
    #[hdl_gen]
    fn update(&mut self) {
        self.following.next =
            (self.position.val() + bit_cast::<16, 14>(self.length.val()) + self.round.val()) & !self.round.val();
    }
}

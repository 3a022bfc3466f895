//! What four bytes at a fixed place of the input add to a Toeplitz hash with the fixed key.
//!
//! The hash is linear: it is the exclusive or of what every part of the input adds. A bit of the input, the first byte's
//! highest first, adds the 32 bits of the key from its own number on.

use ferronic_contract::parse::RSS_KEY;
use rust_hdl_core::prelude::*;

#[derive(LogicBlock)]
pub struct Toeplitz {
    /// First byte in bits 7:0.
    pub word: Signal<In, Bits<32>>,
    pub hash: Signal<Out, Bits<32>>,
    sum: Signal<Local, Bits<32>>,
    keys: [Constant<Bits<32>>; 32],
}

/// The 32 bits of the key from this one on.
fn key(bit: usize) -> u32 {
    (bit..bit + 32).fold(0, |key, bit| key << 1 | u32::from(RSS_KEY[bit / 8] >> (7 - bit % 8) & 1))
}

impl Toeplitz {
    /// For the input's bytes 4·`place` to 4·`place` + 3.
    pub fn at(place: usize) -> Self {
        // Bit i of the word is bit 7 - i of its byte.
        let keys = std::array::from_fn(|i| Constant::new(u64::from(key(32 * place + (i ^ 7))).into()));
        Self { word: Default::default(), hash: Default::default(), sum: Default::default(), keys }
    }
}

impl Logic for Toeplitz {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = 0.into();
        for i in 0_usize..32 {
            if self.word.val().get_bit(i) {
                self.sum.next = self.sum.val() ^ self.keys[i].val();
            }
        }
        self.hash.next = self.sum.val();
    }
}

//! Byte order of header dwords: the wire's first byte sits in bits 7:0 of a lane, the specification draws
//! it in bits 31:24. Wires only.

use rust_hdl_core::prelude::*;

/// Reverses the four bytes of each of L dwords; W = 32 L.
#[derive(LogicBlock)]
pub struct Swap<const W: usize, const L: usize> {
    pub a: Signal<In, Bits<W>>,
    pub b: Signal<Out, Bits<W>>,
}

impl<const W: usize, const L: usize> Default for Swap<W, L> {
    fn default() -> Self {
        assert_eq!(W, 32 * L);
        Self { a: Default::default(), b: Default::default() }
    }
}

impl<const W: usize, const L: usize> Logic for Swap<W, L> {
    // Only the emitted Verilog is ever run.
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.b.connect();
    }

    fn hdl(&self) -> Verilog {
        let octets = (0..L).rev().flat_map(|i| (0..4).map(move |j| format!("a[{}:{}]", 32 * i + 8 * j + 7, 32 * i + 8 * j)));
        Verilog::Custom(format!("always @(*) b = {{{}}};\n", octets.collect::<Vec<_>>().join(", ")))
    }
}

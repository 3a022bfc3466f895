//! Words side by side: wires only.
//!
//! rust-hdl has no concatenation. Shifting and OR-ing does the same in hardware, but a simulator really shifts:
//! one completion of 256 bits put together from eleven fields took a tenth of the whole simulation.

use rust_hdl_core::prelude::*;

/// N parts of P bits as one word of W bits, at most N·P; part 0 is lowest.
#[derive(LogicBlock)]
pub struct Join<const P: usize, const N: usize, const W: usize> {
    pub part: [Signal<In, Bits<P>>; N],
    pub whole: Signal<Out, Bits<W>>,
}

impl<const P: usize, const N: usize, const W: usize> Default for Join<P, N, W> {
    fn default() -> Self {
        assert!(W <= N * P);
        Self { part: std::array::from_fn(|_| Default::default()), whole: Default::default() }
    }
}

impl<const P: usize, const N: usize, const W: usize> Logic for Join<P, N, W> {
    // Only the emitted Verilog is ever run.
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.whole.connect();
    }

    fn hdl(&self) -> Verilog {
        let parts: Vec<String> = (0..N).rev().map(|i| format!("part${i}")).collect();
        Verilog::Custom(format!("always @(*) whole = {{{}}};\n", parts.join(", ")))
    }
}

//! A small table in distributed RAM: one write port, one read port that answers in the same cycle.
//!
//! A read of the address that is written in this cycle gives the old word. A table of 32 × 32 bits costs
//! 16 DPR16X4 cells on ECP5, where as many flip-flops with their multiplexers would be some 500 LUT4.

use rust_hdl_core::prelude::*;

/// 2^A words of W bits.
#[derive(LogicBlock, Default)]
pub struct Table<const W: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<W>>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
}

impl<const W: usize, const A: usize> Logic for Table<W, A> {
    // Only the emitted Verilog is ever run.
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "reg [{high}:0] mem[{last}:0];\n\
             always @(posedge clock) begin\n\
             \x20  if (write_enable) mem[write_address] <= write_data;\n\
             end\n\
             always @(*) read_data = mem[read_address];\n",
            high = W - 1,
            last = (1usize << A) - 1,
        ))
    }
}

//! A block RAM: one write port, one read port, one clock.
//!
//! The read is synchronous: `read_data` belongs to the address of the cycle before, or stays when that cycle had no
//! `read_enable`. A read of the address
//! that is written in the same cycle gives an undefined word, and `no_rw_check` tells yosys so: without
//! it, yosys adds bypass logic of 90 LUT4 to a 64-bit FIFO on ECP5. Whoever uses the block must not read a
//! word in the cycle in which it is written.

use rust_hdl_core::prelude::*;

/// 2^A words of W bits.
#[derive(LogicBlock, Default)]
pub struct Ram<const W: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<W>>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
}

impl<const W: usize, const A: usize> Logic for Ram<W, A> {
    // Only the emitted Verilog is ever run.
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{high}:0] mem[{last}:0];\n\
             always @(posedge clock) begin\n\
             \x20  if (read_enable) read_data <= mem[read_address];\n\
             \x20  if (write_enable) mem[write_address] <= write_data;\n\
             end\n",
            high = W - 1,
            last = (1usize << A) - 1,
        ))
    }
}

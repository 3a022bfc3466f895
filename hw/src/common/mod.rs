//! Memory and queues that every other block is made of.

pub mod delay;
pub mod fifo;
pub mod join;
pub mod ram;

use crate::emit::verilog;

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("fifo_64", verilog(fifo::Fifo::<64, 4, 5>::default(), "fifo_64")),
        ("fifo_128", verilog(fifo::Fifo::<128, 4, 5>::default(), "fifo_128")),
    ]
}

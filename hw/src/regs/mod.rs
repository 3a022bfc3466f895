//! The registers of BAR 0, as the contract gives them.
//!
//! Slaves of the register bus: `bus_addr` (byte offset), `bus_wdata`, `bus_write` and `bus_read` strobes.

pub mod bank;
pub mod filter;
pub mod global;
pub mod port;
pub mod queue;
pub mod vector;

use crate::emit::verilog;
use ferronic_contract::registers;

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    let build = global::Build {
        rx_queues: 4,
        tx_queues: 1,
        stream_bytes: 8,
        rx_fifo_log2: 15,
        read_tags: 16,
        clock_khz: 125_000,
        features: 1,
    };
    vec![
        ("regs_global", verilog(global::GlobalRegs::new(build), "regs_global")),
        ("regs_filter", verilog(filter::FilterRegs::default(), "regs_filter")),
        ("regs_queue", verilog(queue::QueueRegs::new(registers::RX_QUEUE), "regs_queue")),
        ("regs_vector", verilog(vector::VectorRegs::new(1), "regs_vector")),
    ]
}

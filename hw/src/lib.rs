//! The Ferronic NIC core in Rust-HDL.
//!
//! Read from the outside in: [`core`] is the top; it wires [`pcie`] (TLPs, configuration space, MSI-X), [`read`]
//! (tags, descriptor prefetch), [`rx`], [`tx`], [`irq`] and [`regs`]. [`emit`] turns a block into Verilog.
//! Only the emitted Verilog counts: every test of behaviour runs on it, under Verilator, in the crate
//! `ferronic-bench` and in the co-simulation.

// A block's ports are its documentation: each file explains its own at the top, in the block's words.
#![allow(missing_docs)]

pub mod common;
pub mod core;
pub mod emit;
pub mod flow;
pub mod irq;
pub mod pcie;
pub mod read;
pub mod regs;
pub mod restart;
pub mod rx;
pub mod tx;

/// Every block with a bench of its own: top name and Verilog.
pub fn blocks() -> Vec<(&'static str, String)> {
    [common::blocks(), pcie::blocks(), read::blocks(), rx::blocks(), tx::blocks(), irq::blocks(), regs::blocks(), flow::blocks()].concat()
}

/// Every design that the tools can be run on: the blocks, and the core itself.
pub fn designs() -> Vec<(&'static str, String)> {
    let cores = [("nic_core", 64), ("nic_core_128", 128), ("nic_core_256", 256), ("nic_core_512", 512)];
    [blocks(), cores.map(|(name, bits)| (name, core::core(bits, name))).to_vec()].concat()
}

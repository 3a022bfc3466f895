//! Any Verilog top as a safe Rust struct, by Verilator

//! A Verilog FIFO as Rust structs.

ferronic_verilated::model!(pub mod fifo);
ferronic_verilated::model!(pub mod wide_fifo);

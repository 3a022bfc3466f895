//! The Ferronic NIC core in Rust-HDL

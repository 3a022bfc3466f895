//! The driver against a test device that keeps the contract, or breaks it where a test says so.

mod allocations;
mod interrupts;
mod lifecycle;
mod memory;
mod mock;
mod pool;
mod receive;
mod ring;
mod transmit;
mod untrusted;

//! The driver against a test device that keeps the contract, or breaks it where a test says so.
//!
//! Memory safety of what needs no hardware, by Miri: `cargo xtask test --suite miri`. Every interleaving of the return of
//! buffers, by loom: `cargo xtask test --suite loom`. Both run only when they are named.

mod allocations;
mod bond;
mod filters;
mod formats;
mod half_pages;
mod interrupts;
mod lifecycle;
mod memory;
mod mock;
mod policy;
mod parcels;
mod pool;
mod queues;
mod receive;
mod ring;
mod scatter;
mod schedule;
mod steer;
mod transmit;
mod tx_policy;
mod untrusted;

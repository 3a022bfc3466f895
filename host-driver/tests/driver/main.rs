//! The driver against a test device that keeps the contract, or breaks it where a test says so.
//!
//! Memory safety of what needs no hardware, by Miri: `MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p
//! ferronic --test driver -- ring:: pool:: half_pages:: parcels:: tx_policy:: untrusted::`. Every interleaving of the
//! return of buffers, by loom: `RUSTFLAGS="--cfg loom" cargo test -p ferronic --lib --release returns`.

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

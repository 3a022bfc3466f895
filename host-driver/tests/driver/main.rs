//! The driver against a test device that keeps the contract, or breaks it where a test says so.

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

//! The reference model: what the contract says, at the level of whole frames and whole transactions.
//!
//! It is a second opinion. It shares the contract's bit positions with the core and the driver, and nothing
//! else: the link-layer rule is written anew over the `etherparse` crate, and nothing of the RTL's structure
//! (FIFOs, batches, credits, cycles) is in it. A model that copied either would copy its mistakes.
//!
//! | module | what it does |
//! |---|---|
//! | [`classify`] | what the link layer says of a frame, and the completion that must follow |
//! | [`verdict`] | which frames are dropped at the wire, and the names of all causes |
//! | [`Model`] | the whole device behind the driver's seams |

mod bank;
pub mod classify;
mod device;
mod queue;
mod vector;
pub mod verdict;

pub use classify::{classify, expected_completion, Classification};
pub use device::Model;
pub use verdict::{verdict, DropCause, Verdict};

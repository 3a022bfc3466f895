//! The reference model: what the contract says, at the level of whole frames and whole transactions.
//!
//! It is a second opinion. It shares the contract's bit positions with the core and the driver, and nothing
//! else: the link-layer rule is written anew over the `etherparse` crate, and nothing of the RTL's structure
//! (FIFOs, batches, credits, cycles) is in it. A model that copied either would copy its mistakes.
//!
//! | item | what it does |
//! |---|---|
//! | [`classify()`] | what the link layer says of a frame |
//! | [`expected_completion`] | the completion that must follow |
//! | [`verdict()`] | which frames are dropped at the wire; [`DropCause`] names all causes |
//! | [`Model`] | the whole device behind the driver's seams |

mod bank;
mod classify;
mod device;
mod queue;
#[cfg(test)]
mod tests;
mod vector;
mod verdict;

pub use classify::{classify, expected_completion, Classification};
pub use device::Model;
pub use verdict::{verdict, DropCause, Verdict};

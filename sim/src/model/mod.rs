//! The reference model: what the contract says, at the level of whole frames and whole transactions.
//!
//! It is a second opinion. It shares the contract's bit positions with the core and the driver, and nothing
//! else: the rules of every layer are written anew over the `etherparse` crate, and nothing of the RTL's structure
//! (FIFOs, batches, credits, cycles) is in it. A model that copied either would copy its mistakes.
//!
//! | item | what it does |
//! |---|---|
//! | [`verdict()`] | which frames are dropped at the wire; [`DropCause`] names all causes |
//! | [`strip()`] | takes the outer VLAN tag off |
//! | [`classify()`] | what the link layer says of a frame |
//! | [`read()`] | what the network and transport layers say |
//! | [`Settings::judge`] | what becomes of a frame, by PAUSE, filters and RSS |
//! | [`Delivery`] | how it lies in buffers, and the completions that must follow |
//! | [`Model`] | the whole device behind the driver's seams |

mod bank;
mod checksum;
mod classify;
mod device;
mod expect;
mod filter;
mod map;
mod parse;
mod queue;
mod rss;
mod settings;
mod strip;
#[cfg(test)]
mod tests;
mod vector;
mod verdict;

pub use classify::{classify, Classification};
pub use device::{format, Model, Prepared, Received};
pub use expect::{Delivery, Fate, Misfit, Placed};
pub use filter::Filters;
pub use parse::{read, Reading};
pub use rss::toeplitz;
pub use settings::{Settings, ALL_FEATURES};
pub use strip::{strip, Delivered, Tag};
pub use verdict::{verdict, DropCause, Verdict};

//! The policies: the driver's answers to the questions that people have argued about.
//!
//! Each is a value that can be changed while traffic runs, in a file of its own that says where it comes from.
//!
//! | policy | question |
//! |---|---|
//! | [`replenish`] | when a used buffer is replaced in the RX ring |
//! | [`classify`] | who answers `eth_type_trans()` |
//! | [`prefetch`] | which headers are asked for before they are touched |
//! | [`weight`] | how many packets a poll may deliver |
//! | [`rearm`] | when interrupts come back |
//! | [`rx`] | all of these for a queue, and copybreak |
//! | [`tx`] | when a TX queue takes buffers back, what a full ring means, who is told when |

pub mod classify;
pub mod prefetch;
pub mod rearm;
pub mod replenish;
pub mod rx;
pub mod tx;
pub mod weight;

pub use classify::Classify;
pub use prefetch::Prefetch;
pub use rearm::Rearm;
pub use replenish::Replenish;
pub use rx::RxPolicy;
pub use tx::TxPolicy;
pub use weight::{Poll, Weight};

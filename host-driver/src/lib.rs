//! The Ferronic host driver, in user space.
//!
//! A driver for the core that `ferronic-contract` describes, over three seams ([`device`]): registers, DMA
//! memory and interrupts. It knows no simulator and no kernel interface; a backend brings the seams.
//!
//! | module | what it does |
//! |---|---|
//! | [`device`] | the seams |
//! | [`dma`] | memory shared with the device; the only `unsafe` |
//! | [`ring`] | index arithmetic, free of hardware |
//! | [`pool`] | buffers that stay mapped |
//! | [`rx`] | receiving: poll, refill, classify, deliver |
//! | [`tx`] | sending and reclaiming |
//! | [`queue`] | what RX and TX queues share |
//! | [`nic`] | opening and closing |
//! | [`statistics`] | counters |
//! | [`error`] | what can go wrong |
//!
//! Polling, sending and reclaiming neither allocate nor read a register.

pub mod device;
pub mod dma;
pub mod error;
pub mod nic;
pub mod pool;
pub mod queue;
pub mod ring;
pub mod rx;
pub mod statistics;
pub mod tx;

pub use device::{Bar, Device, Dma, Interrupts};
pub use error::Error;
pub use nic::{Closed, Config, Nic};
pub use pool::{Buffer, Pool};
pub use queue::{Moderation, QueueConfig};
pub use rx::{Packet, Path, Sink, Turn};

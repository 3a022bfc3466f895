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
//! | [`packet`] | a received packet, who classified it, and where it goes |
//! | [`rx`] | receiving: poll, refill, deliver |
//! | [`tx`] | sending and reclaiming |
//! | [`queue`] | what RX and TX queues share |
//! | [`nic`] | opening and closing |
//! | [`statistics`] | counters |
//! | [`error`] | what can go wrong |
//!
//! Polling, sending and reclaiming neither allocate nor read a register.
//!
//! Echo what comes, sleeping when nothing does:
//!
//! ```no_run
//! # fn main() -> Result<(), ferronic::Error> {
//! # let device: ferronic::Device = unimplemented!();
//! use ferronic::{Config, Nic, Packet};
//!
//! let mut nic = Nic::open(device, &Config { mac: [0x02, 0, 0, 0, 0, 7], ..Config::default() })?;
//! loop {
//!     let tx = &mut nic.tx;
//!     let mut echo = |packet: Packet| {
//!         let length = packet.completion.length;
//!         // The buffer goes out as it came in. When the ring is full, dropping it gives it back to the pool.
//!         let _ = tx.send(packet.into_buffer(), 0, length);
//!     };
//!     nic.rx.turn(64, std::time::Duration::from_millis(100), &mut echo)?;
//!     nic.tx.flush();
//!     nic.tx.reclaim()?;
//! }
//! # }
//! ```

pub mod device;
pub mod dma;
pub mod error;
pub mod nic;
pub mod packet;
pub mod pool;
pub mod queue;
pub mod ring;
pub mod rx;
pub mod statistics;
pub mod tx;

pub use device::{Bar, Device, Dma, Interrupts};
pub use error::Error;
pub use nic::{Closed, Config, Nic};
pub use packet::{Packet, Path, Sink};
pub use pool::{Buffer, Pool};
pub use queue::{Moderation, QueueConfig};
pub use rx::Turn;

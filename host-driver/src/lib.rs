//! The Ferronic host driver, in user space.
//!
//! A driver for the core that `ferronic-contract` describes, over four seams ([`device`]): registers, DMA
//! memory, interrupts and time. It knows no simulator and no kernel interface; a backend brings the seams.
//!
//! | module | what it does |
//! |---|---|
//! | [`device`] | the seams |
//! | [`clock`] | where time comes from |
//! | [`dma`] | memory shared with the device; the only `unsafe` |
//! | [`features`] | what a build of the core has; offloads, and which go together |
//! | [`config`] | how a device is set up |
//! | [`ring`] | index arithmetic, free of hardware |
//! | [`policy`] | what can be chosen, while it runs |
//! | [`pool`] | buffers: where their memory comes from, and their way back |
//! | [`packet`] | a received packet, what is known of it, and where it goes |
//! | [`rx`] | receiving: poll, refill, deliver |
//! | [`tx`] | sending and reclaiming |
//! | [`queue`] | what RX and TX queues share |
//! | [`nic`] | opening and closing; RSS, RX mode, VLAN strip, flow control |
//! | [`filters`] | exact filters |
//! | [`schedule`] | several ports on one CPU |
//! | [`bond`] | several ports as one |
//! | [`statistics`] | counters |
//! | [`error`] | what can go wrong |
//!
//! Polling, sending and reclaiming read no register, and with the page pool they do not allocate.
//!
//! What the tests check, Miri's and loom's too, and how to run them: `cargo xtask test --list`.
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
//!     nic.rx[0].turn(64, std::time::Duration::from_millis(100), &mut echo)?;
//!     nic.tx.flush();
//!     nic.tx.reclaim()?;
//! }
//! # }
//! ```

pub mod bond;
pub mod clock;
pub mod config;
pub mod device;
pub mod dma;
pub mod error;
pub mod features;
pub mod filters;
pub mod nic;
pub mod packet;
mod packet_time;
pub mod policy;
pub mod pool;
pub mod queue;
pub mod ring;
pub mod rx;
pub mod schedule;
mod station;
pub mod statistics;
pub mod tx;

pub use bond::Bond;
pub use clock::{Clock, SystemClock};
pub use config::{Config, Discovery, RxConfig};
pub use device::{Bar, Device, Dma, Interrupts};
pub use error::Error;
pub use features::{Features, Offload, Offloads};
pub use filters::{Filter, FilterError, Filters, Match, Target, Transport};
pub use nic::{Closed, FlowControl, Nic, Rss, RssTypes, RxMode, VlanStrip};
pub use packet::{Packet, Path, RssHash, Segment, Sink};
pub use policy::{Classify, Prefetch, Rearm, Replenish, RxPolicy, TxPolicy, Weight};
pub use pool::{Allocation, Buffer, Parcel, Pool, PoolStatistics, Returner};
pub use queue::{Moderation, QueueConfig, QueueName};
pub use rx::Turn;

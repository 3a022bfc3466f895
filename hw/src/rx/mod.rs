//! From the wire to the host's memory.
//!
//! ```text
//! wire → packet FIFO ─────────────────────────→ payload → memory writes (data)
//!          └→ window → classify → list of frames → dma ┘→ done → memory writes (completions)
//!                                 descriptors ─────┘
//! ```
//!
//! Every frame that comes in is either delivered (`frame`) or gives exactly one drop pulse, in the end.

pub mod classify;
pub mod dma;
pub mod done;
pub mod filter;
pub mod packet_fifo;
pub mod payload;
pub mod window;

mod path;

pub use path::RxPath;

use crate::emit::verilog;

/// The RX path at 64 bits.
pub type RxPath64 = RxPath<64, 8, 3, 12, 13, 4>;
/// The RX path at 128 bits.
pub type RxPath128 = RxPath<128, 16, 4, 11, 12, 2>;

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("packet_fifo_64", verilog(packet_fifo::PacketFifo::<64, 8, 3, 12, 13>::default(), "packet_fifo_64")),
        ("packet_fifo_128", verilog(packet_fifo::PacketFifo::<128, 16, 4, 11, 12>::default(), "packet_fifo_128")),
        ("classify", verilog(classify::Classify::default(), "classify")),
        ("filter", verilog(filter::Filter::default(), "filter")),
        ("rx_done", verilog(done::Done::default(), "rx_done")),
        ("rx_path_64", verilog(RxPath64::default(), "rx_path_64")),
        ("rx_path_128", verilog(RxPath128::default(), "rx_path_128")),
    ]
}

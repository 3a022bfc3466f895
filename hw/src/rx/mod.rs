//! From the wire to the host's memory.
//!
//! ```text
//! wire → strip → packet FIFO ───────────────────────────────→ payload → memory writes
//!          │        └ commit → parse → rss, verdict → list ─┐    │  └→ complete → completion writes
//!          │                      └──→ filter ──────────────┴→ deliver
//!          └→ sums ──────────────────→ verdict      descriptors ─┘
//! ```
//!
//! Read [`side`] first: it wires the queues to the path they share. [`intake`] is the path up to the frame that is
//! next, [`header`] all that is said of a frame. Every frame that comes in is delivered, or counted as dropped once.

pub mod complete;
pub mod deliver;
pub mod filter;
pub mod header;
pub mod intake;
pub mod ones_sum;
pub mod packet_fifo;
pub mod parse;
pub mod payload;
pub mod pick;
mod rotate;
pub mod rss;
pub mod side;
pub mod strip;
pub mod sums;
pub mod toeplitz;
pub mod verdict;
pub mod window;

pub use side::RxSide;

use crate::emit::verilog;

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("strip_64", verilog(strip::Strip::<64, 8>::default(), "strip_64")),
        ("strip_128", verilog(strip::Strip::<128, 16>::default(), "strip_128")),
        ("strip_256", verilog(strip::Strip::<256, 32>::default(), "strip_256")),
        ("strip_512", verilog(strip::Strip::<512, 64>::default(), "strip_512")),
        ("packet_fifo_64", verilog(packet_fifo::PacketFifo::<64, 8, 3, 12, 13>::default(), "packet_fifo_64")),
        ("packet_fifo_128", verilog(packet_fifo::PacketFifo::<128, 16, 4, 11, 12>::default(), "packet_fifo_128")),
        ("window_64", verilog(window::Window::<64, 16>::default(), "window_64")),
        ("window_512", verilog(window::Window::<512, 2>::default(), "window_512")),
        ("parse", verilog(parse::Parse::default(), "parse")),
        ("sums_64", verilog(sums::Sums::<64, 8, 128, 1>::default(), "sums_64")),
        ("sums_128", verilog(sums::Sums::<128, 16, 128, 1>::default(), "sums_128")),
        ("sums_256", verilog(sums::Sums::<256, 32, 256, 2>::default(), "sums_256")),
        ("sums_512", verilog(sums::Sums::<512, 64, 512, 4>::default(), "sums_512")),
        ("verdict", verilog(verdict::Verdict::default(), "verdict")),
        ("rss", verilog(rss::Rss::default(), "rss")),
        ("filter", verilog(filter::Filter::default(), "filter")),
        ("delivery_64", verilog(deliver::Delivery::<64, 8, 3, 12>::default(), "delivery_64")),
        ("delivery_128", verilog(deliver::Delivery::<128, 16, 4, 11>::default(), "delivery_128")),
        ("delivery_256", verilog(deliver::Delivery::<256, 32, 5, 10>::default(), "delivery_256")),
        ("delivery_512", verilog(deliver::Delivery::<512, 64, 6, 9>::default(), "delivery_512")),
        ("complete", verilog(complete::Complete::<4>::default(), "complete")),
        ("complete_1", verilog(complete::Complete::<1>::default(), "complete_1")),
    ]
}

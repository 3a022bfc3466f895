//! The wire between the core and the world: captures and generated frames in, sent frames out, at line rate.
//!
//! All times are simulated time in picoseconds. A frame never holds its FCS: that is the MAC's affair.

mod beat;
#[cfg(test)]
mod capture_bytes;
mod captures;
mod frame;
mod fuzz;
pub mod generate;
mod pause;
mod pcapng;
mod protocol;
mod rate;
mod sink;
mod source;
mod writer;

pub use beat::{keep_of, Beat};
pub use captures::{parse_capture, read_capture, Capture, CaptureError, CaptureFault, Truncation};
pub use frame::{Frame, MIN_FRAME};
pub use fuzz::Fuzz;
pub use generate::{Generator, SpecError};
pub use pause::pause_frame;
pub use protocol::{sequence, Protocol};
pub use rate::{occupied, LineRate, Pace, Rate, FCS, GAP, PREAMBLE};
pub use sink::{Received, Rule, Violation, WireSink, MAX_FRAME};
pub use source::{Sent, WireSource};
pub use writer::CaptureWriter;

/// [`Frame::source`] of a frame that no capture holds.
pub const GENERATED: &str = "generated";

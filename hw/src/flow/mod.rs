//! Flow control by PAUSE frames (IEEE 802.3, annex 31B).
//!
//! ```text
//! received frame → pause_in ── hold ──→┐
//! frame to send ──────────────────→ pause_out → wire
//! fill of the packet FIFO ────────────→┘
//! ```

pub mod pause_in;
pub mod pause_out;
pub mod timer;

use crate::emit::verilog;

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("pause_in", verilog(pause_in::PauseIn::default(), "pause_in")),
        ("pause_out_64", verilog(pause_out::PauseOut::<64, 8>::default(), "pause_out_64")),
        ("pause_out_128", verilog(pause_out::PauseOut::<128, 16>::default(), "pause_out_128")),
        ("pause_out_256", verilog(pause_out::PauseOut::<256, 32>::default(), "pause_out_256")),
        ("pause_out_512", verilog(pause_out::PauseOut::<512, 64>::default(), "pause_out_512")),
    ]
}

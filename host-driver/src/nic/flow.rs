//! Flow control by PAUSE frames (IEEE 802.3, annex 31B), and the longest wait for a descriptor.

use ferronic_contract::registers::{self, FEATURE_FLOW};

use super::Nic;
use crate::error::Error;
use crate::queue::{cycles, in_range};

/// Bit times of a quantum of pause.
const QUANTUM: u64 = 512;
/// The unit of the marks.
const MARK_BYTES: u32 = 64;

/// Flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// Sends PAUSE when the RX packet FIFO holds `high` bytes, until it is down to `low`.
    pub send: bool,
    /// Heeds PAUSE; such frames are not delivered.
    pub honour: bool,
    /// Rate of the wire in Mb/s, which says how long a quantum is.
    pub mbps: u32,
    /// Pause asked for, in quanta of 512 bit times.
    pub quanta: u16,
    /// High-water mark, bytes; rounded down to 64.
    pub high: u32,
    /// Low-water mark, bytes; rounded down to 64.
    pub low: u32,
}

impl Nic {
    /// Sets flow control.
    ///
    /// # Errors
    ///
    /// The build has none, or the marks do not fit the packet FIFO or each other, or the rate does not fit the clock.
    pub fn set_flow_control(&mut self, flow: &FlowControl) -> Result<(), Error> {
        self.features.need(FEATURE_FLOW, "flow control")?;
        in_range("Mb/s", flow.mbps, 1, 1_000_000)?;
        let quantum = QUANTUM * u64::from(self.clock_khz) / (1000 * u64::from(flow.mbps));
        in_range("cycles of a pause quantum", quantum.min(u32::MAX.into()) as u32, 1, registers::PAUSE_CYCLES.max())?;
        if flow.send {
            in_range("high-water mark", flow.high, MARK_BYTES, self.features.rx_fifo_bytes())?;
            in_range("low-water mark", flow.low, 0, flow.high - MARK_BYTES)?;
        }
        // The marks first: a PAUSE is never sent by old ones.
        let marks = registers::FLOW_HIGH.at(flow.high / MARK_BYTES) | registers::FLOW_LOW.at(flow.low / MARK_BYTES);
        self.global.write(registers::FLOW_MARKS, marks);
        let value = registers::PAUSE_SEND.at(flow.send.into())
            | registers::PAUSE_HONOUR.at(flow.honour.into())
            | registers::PAUSE_CYCLES.at(quantum as u32)
            | registers::PAUSE_QUANTA.at(flow.quanta.into());
        self.global.write(registers::FLOW, value);
        Ok(())
    }

    /// Sets how many microseconds a frame waits for a descriptor of its queue before it is dropped; 0 is for ever.
    ///
    /// # Errors
    ///
    /// More than the core's timer holds.
    pub fn set_hold(&mut self, usecs: u32) -> Result<(), Error> {
        self.global.write(registers::HOLD, cycles("hold usecs", usecs, self.clock_khz)?);
        Ok(())
    }
}

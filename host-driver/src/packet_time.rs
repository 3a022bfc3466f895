//! What a packet costs, by measured time.

use std::time::Duration;

/// It moves by this part of what is new, as a smoothed round-trip time does (RFC 6298).
const SMOOTHING: u32 = 8;

/// The smoothed time of a packet; unknown before any was timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketTime(Option<Duration>);

impl PacketTime {
    pub(crate) const UNKNOWN: Self = Self(None);

    /// Learns from so many packets that took so long. None teach nothing.
    pub(crate) fn learn(&mut self, packets: usize, elapsed: Duration) {
        let Ok(packets @ 1..) = u32::try_from(packets) else { return };
        let new = elapsed / packets;
        let smoothed = |old: Duration| old.saturating_mul(SMOOTHING - 1).saturating_add(new) / SMOOTHING;
        self.0 = Some(self.0.map_or(new, smoothed));
    }

    /// How many packets a time allows, 1 to `most`; `None` before any was timed.
    pub(crate) fn fit(&self, time: Duration, most: u16) -> Option<u16> {
        let nanos = self.0?.as_nanos().max(1);
        Some((time.as_nanos() / nanos).clamp(1, most.into()) as u16)
    }
}

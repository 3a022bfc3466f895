//! A driver's set-up that fits the size of its rings.

use ferronic::nic::Config;
use ferronic::queue::{Moderation, QueueConfig};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;

/// Both rings of the same size, with buffers for frames of up to `max_frame` bytes: enough to fill both rings, and
/// for what is being handled.
///
/// Of a small ring the driver hears, and refills it, before it is empty: an interrupt and a doorbell for every
/// quarter of the ring, where the usual numbers are more than that.
pub fn driver(ring: RingSize, thresholds: Thresholds, max_frame: u16) -> Config {
    let usual = Config::default();
    let quarter = ring.entries() / 4;
    let moderation = Moderation { frames: usual.rx.moderation.frames.min(quarter), ..usual.rx.moderation };
    let queue = QueueConfig { ring, thresholds, moderation, ..usual.rx };
    Config {
        max_frame,
        rx: queue,
        tx: queue,
        doorbell_every: usual.doorbell_every.min(quarter as u16),
        buffers: 2 * ring.entries() + 64,
        buffer_bytes: max_frame.next_multiple_of(64).max(128),
        ..usual
    }
}

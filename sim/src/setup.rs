//! A driver's set-up that fits the size of its rings.

use ferronic::nic::Config;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;

/// One RX queue and one TX queue of the same size, with buffers for frames of up to `max_frame` bytes: enough to fill both
/// rings, and for what is being handled.
pub fn driver(ring: RingSize, thresholds: Thresholds, max_frame: u16) -> Config {
    let mut config = Config {
        max_frame,
        buffers: 2 * ring.entries() + 64,
        buffer_bytes: max_frame.next_multiple_of(64).max(128),
        ..Config::sized(ring)
    };
    config.rx[0].queue.thresholds = thresholds;
    config.tx.thresholds = thresholds;
    config
}

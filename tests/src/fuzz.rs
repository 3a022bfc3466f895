//! Fuzzed frames with what must become of them.

use ferronic_sim::model::{Fate, Settings};
use ferronic_sim::wire::{Frame, Fuzz};

/// `count` frames as the wire brings them, padded, each with its fate under these settings.
pub fn frames(seed: u64, count: usize, settings: Settings) -> impl Iterator<Item = (Frame, Fate)> {
    Fuzz::new(seed, settings.own).take(count).map(move |mut frame| {
        frame.pad();
        let fate = settings.judge(&frame.bytes);
        (frame, fate)
    })
}

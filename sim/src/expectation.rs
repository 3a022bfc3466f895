//! What the core must answer, read off what the driver writes into its registers.
//!
//! The driver is not asked what it wants: every write to BAR 0 passes by here. Frames tell by their epoch which own
//! address and which filters they were compared with, so the settings of each epoch are kept.

use crate::model::{self, Fate, Settings};
use crate::wire::pause_frame;
use ferronic_contract::registers::queue::{self, Format};
use ferronic_contract::registers::{self, QUEUE_STRIDE, RX_QUEUE, TX_QUEUE};
use ferronic_contract::ring::RingSize;

/// Most queues that a core can have.
const QUEUES: usize = 16;
/// Epochs that can be told apart.
const EPOCHS: usize = 1 << registers::MAC_EPOCH.width;

/// How an RX queue is set up.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueSetup {
    /// Its register CONTROL.
    pub control: u32,
    size_log2: u32,
}

impl QueueSetup {
    /// Format of its completions.
    pub fn format(&self) -> Format {
        model::format(self.control)
    }

    /// Size of its rings; `None` while that is not a legal one.
    pub fn ring(&self) -> Option<RingSize> {
        RingSize::new(1u32.checked_shl(self.size_log2)?)
    }
}

/// What the driver has set up.
pub struct Expectation {
    features: u32,
    now: Settings,
    by_epoch: [Settings; EPOCHS],
    queues: [QueueSetup; QUEUES],
    /// Longest frame on the wire, bytes.
    pub max_frame: u16,
    /// Resets of the core that software asked for.
    pub resets: u32,
}

impl Default for Expectation {
    /// A core after reset, with every feature.
    fn default() -> Self {
        Self::after_reset(model::ALL_FEATURES, 0)
    }
}

impl Expectation {
    fn after_reset(features: u32, resets: u32) -> Self {
        let now = Settings { features, ..Settings::default() };
        Self {
            features,
            by_epoch: std::array::from_fn(|_| now.clone()),
            now,
            queues: [QueueSetup::default(); QUEUES],
            max_frame: 1518,
            resets,
        }
    }

    /// A core whose register FEATURES has this value.
    pub fn of(features: u32) -> Self {
        Self::after_reset(features, 0)
    }

    /// Whether the core has a feature.
    pub fn has(&self, feature: ferronic_contract::field::Field) -> bool {
        feature.of(self.features) == 1
    }

    /// The driver writes a register of BAR 0.
    pub fn write(&mut self, offset: u32, value: u32) {
        if self.now.write(offset, value) {
            self.by_epoch[usize::from(self.now.epoch)] = self.now.clone();
        } else if (RX_QUEUE..TX_QUEUE).contains(&offset) {
            let setup = &mut self.queues[((offset - RX_QUEUE) / QUEUE_STRIDE) as usize];
            match (offset - RX_QUEUE) % QUEUE_STRIDE {
                rest if rest == queue::CONTROL.offset => setup.control = value,
                rest if rest == queue::SIZE.offset => setup.size_log2 = value,
                _ => {}
            }
        } else if offset == registers::MAX_FRAME.offset {
            self.max_frame = value.min(ferronic_contract::MAX_FRAME.into()) as u16;
        } else if offset == registers::CONTROL.offset && registers::RESET.of(value) == 1 {
            *self = Self::after_reset(self.features, self.resets + 1);
        }
    }

    /// How an RX queue is set up.
    pub fn queue(&self, queue: u8) -> &QueueSetup {
        &self.queues[usize::from(queue) % QUEUES]
    }

    /// Whether the core may send this frame of its own accord: a PAUSE that asks for the time set, or ends one.
    pub fn may_send(&self, frame: &[u8]) -> bool {
        let Settings { own, flow, .. } = self.now;
        let asked = registers::PAUSE_QUANTA.of(flow) as u16;
        registers::PAUSE_SEND.of(flow) == 1 && [asked, 0].iter().any(|quanta| frame == pause_frame(own, *quanta))
    }

    /// What may become of a frame that shows this epoch: what that epoch's settings say, first; or, while they are not those
    /// in force any more, what filters say that were written when the frame was under way already. The core takes a
    /// frame's epoch before it looks for filters, so that nothing counts too early.
    pub fn judge<'a>(&'a self, frame: &'a [u8], epoch: u8) -> impl Iterator<Item = Fate> + 'a {
        let shown = &self.by_epoch[usize::from(epoch) % EPOCHS];
        let later = (self.now.epoch.wrapping_sub(epoch) & registers::MAC_EPOCH.max() as u8).into();
        let with_filters = move |step: usize| {
            let filters = self.by_epoch[(usize::from(epoch) + step) % EPOCHS].filters.clone();
            Settings { filters, ..shown.clone() }.judge(frame)
        };
        std::iter::once_with(move || shown.judge(frame)).chain((1..=later).map(with_filters))
    }

    /// The settings by which a frame that shows no epoch, because it was dropped, may have been judged: those in force, and
    /// those before.
    pub fn possible(&self) -> [&Settings; 2] {
        let before = usize::from(self.now.epoch).wrapping_sub(1) % EPOCHS;
        [&self.now, &self.by_epoch[before]]
    }
}

//! How a device is set up, and which set-ups make no sense.

use ferronic_contract::class::Mac;
use ferronic_contract::parse::WINDOW;
use ferronic_contract::registers::queue::{self, Format, Split};
use ferronic_contract::registers::{FEATURE_COMPACT, FEATURE_L3, FEATURE_SPLIT};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_contract::MAX_FRAME;

use crate::error::Error;
use crate::features::Features;
use crate::policy::RxPolicy;
use crate::pool::Allocation;
use crate::queue::{in_range, Moderation, QueueConfig};

/// Shortest value of the core's MAX_FRAME register.
const LEAST_MAX_FRAME: u32 = 60;
/// Most RX queues that a contract allows.
const MOST_QUEUES: u32 = 16;
/// HOLD when several queues are open: about 4096 cycles at 125 MHz.
const USUAL_HOLD_USECS: u32 = 33;
/// Entries of the usual ring.
const USUAL_RING: RingSize = match RingSize::new(256) {
    Some(ring) => ring,
    None => panic!("256 is a ring size"),
};

/// How the driver finds out that completions are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// By the phase bit of each completion.
    #[default]
    Phase,
    /// By one word in host memory, the producer index.
    Index,
}

/// How an RX queue is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxConfig {
    /// What RX and TX queues have in common.
    pub queue: QueueConfig,
    /// Format of the completions.
    pub format: Format,
    /// How completions are found.
    pub discovery: Discovery,
    /// Whether a frame longer than a buffer goes on in the next; if not it is dropped.
    pub scatter: bool,
    /// Where the header ends that gets a buffer of its own.
    pub split: Split,
    /// Bytes of the header for [`Split::Fixed`], 1..=1023.
    pub split_bytes: u16,
    /// How it receives, at first: see [`RxQueue::set_policy`](crate::rx::RxQueue::set_policy).
    pub policy: RxPolicy,
}

impl RxConfig {
    /// The value of the queue's CONTROL register that runs it.
    pub(crate) fn control(&self) -> u32 {
        let fixed = if self.split == Split::Fixed { self.split_bytes } else { 0 };
        queue::ENABLE.at(1)
            | queue::SCATTER.at(u32::from(self.scatter))
            | queue::FORMAT.at(self.format as u32)
            | queue::INDEX.at(u32::from(self.discovery == Discovery::Index))
            | queue::SPLIT.at(self.split as u32)
            | queue::SPLIT_BYTES.at(u32::from(fixed))
    }

    /// Most buffers that a frame can take.
    pub(crate) fn most_segments(&self, max_frame: u16, buffer_bytes: u16) -> usize {
        let payload = if self.scatter { max_frame.div_ceil(buffer_bytes) } else { 1 };
        usize::from(payload) + usize::from(self.split != Split::Off)
    }

    /// Refuses what needs a block that the core does not have.
    fn check_features(&self, features: &Features) -> Result<(), Error> {
        let needs = [
            (self.format != Format::Full, FEATURE_COMPACT, "a compact completion"),
            (self.discovery == Discovery::Index, FEATURE_COMPACT, "a producer index in memory"),
            (self.scatter, FEATURE_SPLIT, "a frame over several buffers"),
            (self.split != Split::Off, FEATURE_SPLIT, "header split"),
            (matches!(self.split, Split::L3 | Split::L4), FEATURE_L3, "header split by L3 or L4"),
        ];
        needs.into_iter().filter(|need| need.0).try_for_each(|(_, feature, what)| features.need(feature, what))
    }
}

/// How a device is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Own address.
    pub mac: Mac,
    /// Longest frame in bytes without FCS, 60..=9600; longer ones are dropped or refused.
    pub max_frame: u16,
    /// The RX queues, from number 0 on: 1 to as many as the core has.
    pub rx: Vec<RxConfig>,
    /// The TX queue.
    pub tx: QueueConfig,
    /// Buffers in the pool of each RX queue: more than its ring has entries. Those beyond are what the sink may
    /// keep and what is sent.
    pub buffers: u32,
    /// Bytes of a buffer, 64..=16384. A longer frame takes several, or is dropped: see [`RxConfig::scatter`].
    pub buffer_bytes: u16,
    /// Where the memory of the buffers comes from.
    pub allocation: Allocation,
    /// Microseconds that a frame waits for a descriptor of its queue before it is dropped, so that a queue that nobody
    /// serves does not stop the others; 0 is for ever. By default 33 (4096 cycles at 125 MHz) when more than one RX
    /// queue is open, else 0.
    pub hold_usecs: Option<u32>,
}

impl Default for Config {
    /// A local address, one RX queue, rings of 256, buffers of 2 KiB.
    fn default() -> Self {
        Self::sized(USUAL_RING)
    }
}

impl Config {
    /// The usual set-up with rings of this size. Of a small ring the driver hears, and refills it, before it is
    /// empty: an interrupt and a doorbell for every quarter of the ring, where the usual numbers are more than that.
    pub fn sized(ring: RingSize) -> Self {
        let queue = QueueConfig::sized(ring);
        Self {
            mac: [0x02, 0, 0, 0, 0, 1],
            max_frame: 1518,
            rx: vec![RxConfig { queue, policy: RxPolicy::sized(ring), ..RxConfig::default() }],
            tx: queue,
            buffers: 4 * ring.entries(),
            buffer_bytes: 2048,
            allocation: Allocation::default(),
            hold_usecs: None,
        }
    }

    /// Microseconds of HOLD.
    pub(crate) fn hold(&self) -> u32 {
        self.hold_usecs.unwrap_or(if self.rx.len() > 1 { USUAL_HOLD_USECS } else { 0 })
    }

    /// Refuses what can be refused without a device.
    pub(crate) fn check(&self) -> Result<(), Error> {
        in_range("MAX_FRAME", u32::from(self.max_frame), LEAST_MAX_FRAME, u32::from(MAX_FRAME))?;
        in_range("RX queues", self.rx.len() as u32, 1, MOST_QUEUES)?;
        in_range("bytes of a buffer", u32::from(self.buffer_bytes), 64, 16384)?;
        for rx in &self.rx {
            let entries = rx.queue.ring.entries();
            in_range("buffers", self.buffers, entries + 1, 1 << 24)?;
            rx.queue.check()?;
            rx.policy.check(&rx.queue)?;
            // A header takes one buffer.
            let most = queue::SPLIT_BYTES.max().min(u32::from(self.buffer_bytes));
            match rx.split {
                Split::Off => {}
                Split::Fixed => in_range("bytes of a split header", u32::from(rx.split_bytes), 1, most)?,
                Split::L2 | Split::L3 | Split::L4 => {
                    in_range("bytes of a buffer for a split header", u32::from(self.buffer_bytes), WINDOW as u32, 16384)?;
                }
            }
        }
        self.tx.check()
    }

    /// Refuses what this build of the core does not have.
    pub(crate) fn check_features(&self, features: &Features) -> Result<(), Error> {
        in_range("RX queues", self.rx.len() as u32, 1, u32::from(features.rx_queues()))?;
        self.rx.iter().try_for_each(|rx| rx.check_features(features))
    }
}

impl Default for QueueConfig {
    /// A ring of 256.
    fn default() -> Self {
        Self::sized(USUAL_RING)
    }
}

impl QueueConfig {
    /// The usual numbers for a ring of this size, with an interrupt for every quarter of the ring at least.
    pub fn sized(ring: RingSize) -> Self {
        let usual = Moderation::default();
        Self {
            ring,
            thresholds: Thresholds::default(),
            write_back_usecs: 5,
            moderation: Moderation { frames: usual.frames.min(ring.entries() / 4), ..usual },
        }
    }

    /// Refuses thresholds out of range, and moderation that does not go with the ring.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.thresholds.check()?;
        Ok(self.moderation.check(self.ring)?)
    }
}

//! Receiving.
//!
//! A poll looks at a batch of completions first, then takes one after the other: check it, put a fresh buffer in the place
//! of the one that came, and with the last buffer of a frame classify and deliver. When the pool has no fresh buffer the
//! frame is dropped and its own buffers go back, so the ring never has a hole. What happens when is up to the queue's
//! [policy](RxPolicy).
//!
//! Nothing the device writes is trusted: a completion that does not fit stops the queue ([`RxFault`]) with
//! its buffers still lent to the device; closing and opening the device starts anew.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ferronic_contract::completion::RxCompletion;
use ferronic_contract::thresholds::OutOfRange;

use crate::clock::Clock;
use crate::config::Config;
use crate::device::{Device, Dma};
use crate::error::Error;
use crate::features::Features;
use crate::packet::Origin;
pub use crate::packet::{Packet, Path, Segment, Sink};
use crate::policy::classify::Sample;
use crate::policy::RxPolicy;
use crate::pool::Pool;
use crate::queue::{Moderation, Queue, QueueConfig, QueueName};
use crate::station::Station;
use crate::statistics::RxStatistics;

mod assemble;
mod completions;
mod copies;
mod descriptors;
mod fault;
mod log;
mod poll;
mod port;
mod turn;

use assemble::{Assembler, Limits};
use completions::Completions;
use copies::Copies;
use descriptors::Descriptors;
pub use fault::RxFault;
pub use log::{LoggedPoll, PollLog};
pub use port::RxPort;
pub use turn::Turn;
use turn::Turns;

/// Completions looked at before the first of them is handled.
const BATCH: usize = 32;

/// What the queues of a device have in common.
pub(crate) struct Shared<'a> {
    pub(crate) device: &'a Device,
    pub(crate) config: &'a Config,
    pub(crate) features: Features,
    pub(crate) station: &'a Arc<Station>,
    pub(crate) clock_khz: u32,
}

/// An RX queue. It has a pool of its own, so what happens to its packets takes nothing from the other queues; with them it
/// shares the device's registers and the epoch of the address filter.
pub struct RxQueue {
    pub(crate) queue: Queue,
    config: QueueConfig,
    clock_khz: u32,
    control: u32,
    policy: RxPolicy,
    descriptors: Descriptors,
    completions: Completions,
    batch: [RxCompletion; BATCH],
    assembler: Assembler,
    pool: Pool,
    copies: Copies,
    sample: Sample,
    origin: Origin,
    station: Arc<Station>,
    turns: Turns,
    log: Option<PollLog>,
    fault: Option<RxFault>,
    statistics: RxStatistics,
    clock: Rc<dyn Clock>,
    dma: Rc<dyn Dma>,
}

impl RxQueue {
    /// Sets the queue up; it does not run yet.
    pub(crate) fn new(shared: &Shared, number: u8) -> Result<Self, Error> {
        let Shared { device, config, features, station, clock_khz } = *shared;
        let rx = &config.rx[usize::from(number)];
        let pool = Pool::new(Rc::clone(&device.dma), config.buffers, config.buffer_bytes, config.allocation)
            .map_err(|source| Error::Memory { what: "packet buffers", source })?;
        let copies = Copies::new(&device.dma, rx.policy.copybreak, rx.queue.ring.entries())?;
        let descriptors = Descriptors::new(device, rx, &pool)?;
        let completions = Completions::new(device, rx)?;
        let name = QueueName::Rx(number);
        let queue = Queue::new(device, name);
        queue.set_up(&rx.queue, descriptors.bus(), completions.bus(), clock_khz)?;
        completions.set_index(&queue);
        let limits = Limits {
            segments: rx.most_segments(config.max_frame, config.buffer_bytes),
            buffer: config.buffer_bytes,
            frame: config.max_frame,
        };
        Ok(Self {
            queue,
            config: rx.queue,
            clock_khz,
            control: rx.control(),
            policy: rx.policy,
            descriptors,
            completions,
            batch: [RxCompletion::default(); BATCH],
            assembler: Assembler::new(limits, pool.numbers()),
            pool,
            copies,
            sample: Sample::default(),
            origin: Origin { queue: number, format: rx.format, features },
            station: Arc::clone(station),
            turns: Turns::new(device, name, &rx.policy),
            log: None,
            fault: None,
            statistics: RxStatistics::default(),
            clock: Rc::clone(&device.clock),
            dma: Rc::clone(&device.dma),
        })
    }

    /// Enables the queue and fills its ring.
    ///
    /// # Errors
    ///
    /// No memory for as many buffers as the ring has entries.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        self.queue.enable(self.control);
        self.descriptors.fill(&self.pool, &self.queue)
    }

    /// Leaves rings and lent buffers to the device for ever.
    pub(crate) fn abandon(&mut self) {
        self.descriptors.abandon();
        self.completions.leak();
    }

    /// Number of the queue.
    pub fn number(&self) -> u8 {
        self.origin.queue
    }

    /// The pool that the queue takes its buffers from.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The pool of small buffers that packets are copied into, when the policy has a copybreak.
    pub fn copy_pool(&self) -> Option<&Pool> {
        self.copies.pool()
    }

    /// What was counted.
    pub fn statistics(&self) -> RxStatistics {
        RxStatistics { doorbells: self.descriptors.doorbells, ..self.statistics }
    }

    /// Why the queue was given up, if it was.
    pub fn fault(&self) -> Option<RxFault> {
        self.fault
    }

    /// Descriptors in the ring that hold a buffer. With those that [wait](Self::waiting), the ring's size, at any time
    /// between polls.
    pub fn posted(&self) -> u16 {
        self.descriptors.producer().outstanding()
    }

    /// Buffers in hand that wait to be posted, as the [policy](RxPolicy::replenish) wants it.
    pub fn waiting(&self) -> u16 {
        self.descriptors.waiting()
    }

    /// How the queue receives.
    pub fn policy(&self) -> RxPolicy {
        self.policy
    }

    /// Changes how the queue receives, from the next poll on. Another copybreak allocates, and the memory for the former is
    /// released with the last copy that is out; nothing else does.
    ///
    /// # Errors
    ///
    /// A number out of range, or no memory for copies; the queue then goes on as before.
    pub fn set_policy(&mut self, policy: RxPolicy) -> Result<(), Error> {
        policy.check(&self.config)?;
        self.copies.set_limit(&self.dma, policy.copybreak, self.config.ring.entries())?;
        if policy.replenish != self.policy.replenish {
            self.descriptors.set_replenish(policy.replenish, &self.queue);
        }
        self.turns.set_policy(&self.policy, &policy);
        self.policy = policy;
        Ok(())
    }

    /// When the vector fires.
    pub fn moderation(&self) -> Moderation {
        self.config.moderation
    }

    /// Changes when the vector fires, also while it is armed: `ethtool -C`.
    ///
    /// # Errors
    ///
    /// More events than the ring has entries, or more time than the core's timer holds; the vector then goes on as before.
    pub fn set_moderation(&mut self, moderation: Moderation) -> Result<(), OutOfRange> {
        moderation.check(self.config.ring)?;
        self.queue.set_moderation(moderation.registers(self.clock_khz)?);
        self.config.moderation = moderation;
        Ok(())
    }

    /// Logs polls from now on, or no more, and gives back the log that there was.
    pub fn set_log(&mut self, log: Option<PollLog>) -> Option<PollLog> {
        std::mem::replace(&mut self.log, log)
    }

    /// The log, if polls are logged.
    pub fn log(&self) -> Option<&PollLog> {
        self.log.as_ref()
    }

    /// Notes in the log, if there is one, time that sending and reclaiming took since the poll before.
    pub fn log_tx(&mut self, spent: Duration) {
        if let Some(log) = &mut self.log {
            log.tx(spent);
        }
    }
}

impl Drop for RxQueue {
    /// A queue that was taken out of its [`Nic`](crate::Nic) still runs. It is stopped before its memory goes, or the memory
    /// stays for ever.
    fn drop(&mut self) {
        if self.queue.stop_running().is_err() {
            self.abandon();
        }
    }
}

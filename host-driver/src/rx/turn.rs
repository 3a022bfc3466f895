//! The interrupt-driven loop: when to sleep, when to poll, how much at a time.

use std::rc::Rc;
use std::time::Duration;

use ferronic_contract::registers::{self, queue};

use super::RxQueue;
use crate::device::{Device, Group};
use crate::error::Error;
use crate::packet::Sink;
use crate::policy::rearm::{Next, Rearming};
use crate::policy::weight::{Controller, Poll};
use crate::policy::RxPolicy;
use crate::queue::QueueName;

/// How often the device is asked for frames that it dropped, by a weight that wants to know: two register reads, about
/// two microseconds, are then 0.2 % of the time.
const ASK_FOR_DROPS: Duration = Duration::from_millis(1);

/// What a [turn](RxQueue::turn) did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// No interrupt came within the time-out, or the next poll is not due yet.
    Idle,
    /// So many packets were handled.
    Polled(usize),
}

/// What the next turn begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// A poll, at once.
    Now,
    /// A poll, at this time.
    At(Duration),
    /// An interrupt, for which the vector is armed.
    Interrupt,
}

/// The state of a queue's turns.
pub(super) struct Turns {
    pub(super) wake: Wake,
    weight: Controller,
    rearming: Rearming,
    limit: Duration,
    drops: Drops,
}

impl Turns {
    pub(super) fn new(device: &Device, name: QueueName, policy: &RxPolicy) -> Self {
        Self {
            wake: Wake::Now,
            weight: Controller::new(policy.weight),
            rearming: Rearming::new(policy.rearm),
            limit: Duration::from_micros(policy.turn_usecs.into()),
            drops: Drops::new(device, name),
        }
    }

    /// Goes by another policy. A weight or rule that stays keeps what it has learnt.
    pub(super) fn set_policy(&mut self, old: &RxPolicy, new: &RxPolicy) {
        if old.weight != new.weight {
            self.weight = Controller::new(new.weight);
        }
        if old.rearm != new.rearm {
            self.rearming = Rearming::new(new.rearm);
            if let Wake::At(_) = self.wake {
                // The delay was the other rule's.
                self.wake = Wake::Now;
            }
        }
        self.limit = Duration::from_micros(new.turn_usecs.into());
    }

    /// Most packets of the next poll.
    pub(super) fn weight(&self) -> usize {
        self.weight.before()
    }
}

/// Frames that the device dropped because the driver was slow: the queue's own and those of its packet FIFO, which it
/// shares with the other queues.
struct Drops {
    queue: Group,
    global: Group,
    /// Of each, the count when it was read last; `None` before the first time.
    seen: Option<[u32; 2]>,
    next: Duration,
}

impl Drops {
    fn new(device: &Device, name: QueueName) -> Self {
        let (queue, global) = (Group::new(device, name.base()), Group::new(device, registers::GLOBAL));
        Self { queue, global, seen: None, next: Duration::ZERO }
    }

    /// How many more there are than last time, if it is time to ask.
    fn new_ones(&mut self, now: Duration) -> u32 {
        if now < self.next {
            return 0;
        }
        self.next = now + ASK_FOR_DROPS;
        let counts = [self.queue.read(queue::DROP_NO_DESCRIPTOR), self.global.read(registers::DROP_NO_DESCRIPTOR)];
        let before = self.seen.replace(counts).unwrap_or(counts);
        counts.iter().zip(before).map(|(count, before)| count.wrapping_sub(before)).fold(0, u32::saturating_add)
    }
}

impl RxQueue {
    /// Whether the vector is armed: then a turn without an interrupt would find nothing.
    pub fn is_armed(&self) -> bool {
        self.turns.wake == Wake::Interrupt
    }

    /// When the next turn polls, by the driver's clock, if the [rule](crate::policy::Rearm) asked for a delay.
    pub fn next_poll(&self) -> Option<Duration> {
        match self.turns.wake {
            Wake::At(time) => Some(time),
            Wake::Now | Wake::Interrupt => None,
        }
    }

    /// Most packets of the next poll of a turn, by the [weight](crate::policy::Weight) as it is now.
    pub fn weight(&self) -> usize {
        self.turns.weight()
    }

    /// One turn of an interrupt-driven loop: waits when the vector is armed, or when the next poll is to come later, then
    /// polls. Call it again and again.
    ///
    /// A turn handles up to `budget` packets, as Linux's `net_rx_action()` (net/core/dev.c) does up to `netdev_budget`: in
    /// polls of no more than the [weight](RxPolicy::weight), until a poll finds that the driver can
    /// [sleep](RxPolicy::rearm). It ends early when it has lasted [`turn_usecs`](RxPolicy::turn_usecs). A turn that ends
    /// by its budget or by time is a `time_squeeze`, as there; the next one goes on without waiting, though the ring may
    /// be empty by now.
    ///
    /// Arming tells the device how far the driver has looked, so it fires at once for what came since.
    ///
    /// # Errors
    ///
    /// The wait failed, the device is gone, the core stopped the queue, or a completion broke the contract.
    pub fn turn<S: Sink + ?Sized>(&mut self, budget: usize, timeout: Duration, sink: &mut S) -> Result<Turn, Error> {
        if !self.awake(timeout)? {
            return Ok(Turn::Idle);
        }
        let clock = Rc::clone(&self.clock);
        let begun = clock.now();
        let (mut handled, mut now) = (0, begun);
        loop {
            let weight = self.turns.weight().min(budget - handled);
            let found = match self.poll(weight, sink) {
                Ok(found) => found,
                Err(fault) if handled == 0 => return Err(fault.into()),
                // The next turn tells it.
                Err(_) => break,
            };
            handled += found;
            let before = std::mem::replace(&mut now, clock.now());
            self.learn(found, now.saturating_sub(before), now);
            if self.fault.is_some() {
                break;
            }
            match self.turns.rearming.after(found, weight) {
                Next::Interrupt => {
                    if handled == 0 {
                        // An interrupt without a packet: low water, or a stopped queue.
                        self.queue.check()?;
                    }
                    self.sleep();
                    break;
                }
                Next::After(delay) => {
                    self.descriptors.settle(&self.queue);
                    self.turns.wake = Wake::At(now + delay);
                    break;
                }
                Next::Poll if handled >= budget || now.saturating_sub(begun) >= self.turns.limit => {
                    self.statistics.time_squeeze += 1;
                    break;
                }
                Next::Poll => {}
            }
        }
        Ok(Turn::Polled(handled))
    }

    /// Waits until it is time to poll, at most for `timeout`; false when it is not.
    fn awake(&mut self, timeout: Duration) -> Result<bool, Error> {
        match self.turns.wake {
            Wake::Now => {}
            Wake::At(time) => {
                let left = time.saturating_sub(self.clock.now());
                if !left.is_zero() {
                    // The vector is not armed: this is a sleep, in the backend's own time.
                    self.queue.wait(left.min(timeout)).map_err(Error::Interrupt)?;
                    if self.clock.now() < time {
                        return Ok(false);
                    }
                }
            }
            Wake::Interrupt => {
                if !self.queue.wait(timeout).map_err(Error::Interrupt)? {
                    self.queue.check()?;
                    return Ok(false);
                }
                self.statistics.interrupts += 1;
            }
        }
        self.turns.wake = Wake::Now;
        Ok(true)
    }

    /// Tells the weight what a poll did.
    fn learn(&mut self, handled: usize, elapsed: Duration, now: Duration) {
        let turns = &mut self.turns;
        let hardware_drops = if turns.weight.wants_drops() { turns.drops.new_ones(now) } else { 0 };
        turns.weight.after(&Poll { handled, elapsed, hardware_drops });
    }

    /// Gives the device what it is owed, and lets it interrupt.
    fn sleep(&mut self) {
        self.descriptors.settle(&self.queue);
        self.queue.arm(self.completions.next());
        self.turns.wake = Wake::Interrupt;
    }
}

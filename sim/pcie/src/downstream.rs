//! From the root complex to the device: requests of the CPU and completions → link → latency → stream.

use crate::completer::Completer;
use crate::counters::Direction;
use crate::credits::{Cost, CreditPool, Credits};
use crate::link::Wire;
use crate::pool::Pool;
use crate::requester::{set_tag, Handle, Requester};
use crate::rules::Limits;
use crate::stream::Beat;
use crate::tlp::Tlp;
use std::collections::VecDeque;

/// A request of the CPU that waits for the link.
#[derive(Debug)]
struct Queued {
    tlp: Tlp,
    queued_at: u64,
    /// Set for a request that gets a completion and so needs a tag.
    handle: Option<Handle>,
}

/// What keeps requests of the CPU in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// Nothing but the link.
    Nothing,
    /// Credits for a posted request, which nothing may pass.
    Posted,
    /// Credits or a tag for a non-posted request, which completions may pass.
    NonPosted,
}

/// A TLP on its way to the device.
#[derive(Debug)]
pub(crate) struct Flying {
    pub tlp: Tlp,
    arrives_at: u64,
    /// The last completion of one of the device's requests.
    pub closes: bool,
}

/// The way down.
#[derive(Debug)]
pub(crate) struct Downstream {
    latency: u64,
    lanes: usize,
    credits: CreditPool,
    queued: VecDeque<Queued>,
    /// Why `queued` is not empty after all that could be sent has been.
    held: Held,
    /// A request was found held and none has left since: the next leaves now, not when it was queued.
    stalled: bool,
    flying: VecDeque<Flying>,
    /// The TLP that the device sees, its bytes, and how many of them it has taken.
    staged: Option<Flying>,
    bytes: Vec<u8>,
    taken: usize,
    /// The beat that the device sees; empty when there is none.
    pub beat: Beat,
    pub valid: bool,
}

impl Downstream {
    pub fn new(latency: u64, lanes: usize, credits: Credits) -> Self {
        Self {
            latency,
            lanes,
            credits: CreditPool::new(credits),
            queued: VecDeque::new(),
            held: Held::Nothing,
            stalled: false,
            flying: VecDeque::new(),
            staged: None,
            bytes: Vec::new(),
            taken: 0,
            beat: Beat::EMPTY,
            valid: false,
        }
    }

    /// Queues a TLP of the CPU.
    pub fn queue(&mut self, now: u64, tlp: Tlp, handle: Option<Handle>) {
        self.held = Held::Nothing;
        self.queued.push_back(Queued {
            tlp,
            queued_at: now,
            handle,
        });
    }

    /// Drops a request that has been given up before it was sent.
    pub fn cancel(&mut self, handle: Handle) {
        self.queued.retain(|queued| queued.handle != Some(handle));
    }

    /// Sends what can be sent by `now`. Nothing passes a posted write; reads of the CPU and completions
    /// may pass a read that waits for credits (section 2.4.1).
    pub fn pump(
        &mut self,
        now: u64,
        wire: &mut Wire,
        requester: &mut Requester,
        completer: &mut Completer,
        limits: &Limits,
        pool: &mut Pool,
    ) {
        self.credits.collect(now);
        while wire.free_at(Direction::Down) <= now {
            let index = self.choose(requester);
            let (tlp, earliest, closes) = if let Some(index) = index {
                let Some(mut queued) = self.queued.remove(index) else {
                    return;
                };
                if let (Some(handle), Some(tag)) = (queued.handle, requester.free_tag()) {
                    set_tag(&mut queued.tlp.header, tag);
                    requester.sent(handle, tag, now);
                }
                self.credits.take(Cost::of(&queued.tlp.header));
                let stalled = std::mem::take(&mut self.stalled);
                let earliest = if stalled { now } else { queued.queued_at };
                (queued.tlp, earliest, false)
            } else if self.held == Held::Posted {
                return;
            } else {
                let Some(answer) = completer.next(now, limits, pool) else {
                    return;
                };
                (answer.tlp, answer.ready_at, answer.closes)
            };
            let arrives_at = wire.send(Direction::Down, earliest, &tlp.header) + self.latency;
            self.flying.push_back(Flying {
                tlp,
                arrives_at,
                closes,
            });
        }
    }

    /// The first queued request that may be sent.
    fn choose(&mut self, requester: &Requester) -> Option<usize> {
        self.held = Held::Nothing;
        for (index, queued) in self.queued.iter().enumerate() {
            let covered = self.credits.covers(Cost::of(&queued.tlp.header));
            let posted = queued.handle.is_none();
            if covered && (posted || requester.free_tag().is_some()) {
                return Some(index);
            }
            self.stalled = true;
            if posted {
                self.held = Held::Posted;
                return None;
            }
            self.held = Held::NonPosted;
        }
        None
    }

    /// Shows the next beat to the device, if it has arrived by `now` and none is shown.
    pub fn present(&mut self, now: u64) {
        if self.valid {
            return;
        }
        if self.staged.is_none() {
            let Some(next) = self.flying.pop_front_if(|next| next.arrives_at <= now) else {
                return;
            };
            self.bytes.clear();
            next.tlp.encode(&mut self.bytes);
            self.taken = 0;
            self.staged = Some(next);
        }
        self.beat = Beat::front(&self.bytes[self.taken..], self.lanes);
        self.valid = true;
    }

    /// The device took the beat; returns the TLP when it was the last one.
    pub fn accept(&mut self, now: u64) -> Option<Flying> {
        self.valid = false;
        self.taken += self.lanes * 4;
        if self.taken < self.bytes.len() {
            return None;
        }
        self.take_whole(now)
    }

    /// Takes the rest of the TLP at once.
    pub fn take_whole(&mut self, now: u64) -> Option<Flying> {
        let done = self.staged.take()?;
        self.valid = false;
        self.credits
            .give_back(now + self.latency, Cost::of(&done.tlp.header));
        Some(done)
    }

    /// When something happens next, in ps, other than the device taking a beat.
    pub fn next_event(&self, wire: &Wire, completer: &Completer) -> u64 {
        let arrival = match (&self.staged, self.flying.front()) {
            (Some(_), _) if self.valid => u64::MAX,
            (Some(_), _) => 0,
            (None, next) => next.map_or(u64::MAX, |next| next.arrives_at),
        };
        let work = match self.held {
            Held::Posted => u64::MAX,
            Held::Nothing if !self.queued.is_empty() => 0,
            _ => completer.next_event(),
        };
        let link = match work {
            u64::MAX => u64::MAX,
            ready => ready.max(wire.free_at(Direction::Down)),
        };
        arrival.min(link).min(self.credits.next_return())
    }

    pub fn clear(&mut self) {
        self.queued.clear();
        self.held = Held::Nothing;
        self.flying.clear();
        self.staged = None;
        self.valid = false;
        self.credits.clear();
    }
}

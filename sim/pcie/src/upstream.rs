//! From the device to the root complex: transmit buffer → credits → link → latency.

use crate::counters::Direction;
use crate::credits::{Cost, CreditPool, Credits};
use crate::iotlb::Translations;
use crate::link::Wire;
use crate::tlp::{Body, Tlp};
use std::collections::VecDeque;

/// The way up. TLPs stay in order.
#[derive(Debug)]
pub(crate) struct Upstream {
    latency: u64,
    capacity: usize,
    pub credits: CreditPool,
    /// TLPs in the transmit buffer, with the time they were complete.
    waiting: VecDeque<(u64, Tlp)>,
    buffered: usize,
    /// When the last byte of the first waiting TLP leaves, once it is being sent.
    sending: Option<u64>,
    /// The first waiting TLP lacks credits.
    blocked: bool,
    /// TLPs under way, with the time they arrive.
    flying: VecDeque<(u64, Tlp)>,
    translations: Translations,
}

impl Upstream {
    pub fn new(latency: u64, capacity: u32, credits: Credits, translations: Translations) -> Self {
        Self {
            latency,
            capacity: capacity as usize,
            credits: CreditPool::new(credits),
            waiting: VecDeque::new(),
            buffered: 0,
            sending: None,
            blocked: false,
            flying: VecDeque::new(),
            translations,
        }
    }

    /// Whether the transmit buffer takes another beat, when it already holds `partial` bytes of the TLP
    /// that is coming in. One TLP always fits, however long.
    pub fn has_room(&self, partial: usize) -> bool {
        self.buffered == 0 || self.buffered + partial < self.capacity
    }

    /// A TLP is complete. The credit of a non-posted one was taken when it began.
    pub fn accept(&mut self, now: u64, tlp: Tlp) {
        self.buffered += tlp.header.total_bytes();
        self.waiting.push_back((now, tlp));
    }

    /// Sends what can be sent by `now`.
    pub fn pump(&mut self, now: u64, wire: &mut Wire) {
        self.credits.collect(now);
        loop {
            if let Some(done) = self.sending {
                if done > now {
                    return;
                }
                self.sending = None;
                if let Some((_, tlp)) = self.waiting.pop_front() {
                    self.buffered -= tlp.header.total_bytes();
                    let mut at = done + self.latency;
                    if let (Body::Memory(_), Some((address, bytes))) = (tlp.header.body, tlp.header.enabled_bytes()) {
                        let misses;
                        (at, misses) = self.translations.translate(at, address, bytes.into());
                        wire.counters.iotlb_misses += misses;
                    }
                    // Nothing overtakes what waits for its translation.
                    at = at.max(self.flying.back().map_or(0, |(before, _)| *before));
                    self.flying.push_back((at, tlp));
                }
            }
            let Some((accepted, tlp)) = self.waiting.front() else {
                return;
            };
            let cost = Cost::of(&tlp.header);
            let posted = cost != Cost::NONPOSTED;
            if posted && !self.credits.covers(cost) {
                self.blocked = true;
                return;
            }
            let earliest = if self.blocked {
                self.credits.last_return.max(*accepted)
            } else {
                *accepted
            };
            self.blocked = false;
            if posted {
                self.credits.take(cost);
            }
            self.sending = Some(wire.send(Direction::Up, earliest, &tlp.header));
        }
    }

    /// The next TLP that has arrived by `now`, and when. Its credits go back.
    pub fn arrived(&mut self, now: u64) -> Option<(u64, Tlp)> {
        if self.flying.front()?.0 > now {
            return None;
        }
        let (at, tlp) = self.flying.pop_front()?;
        self.credits
            .give_back(at + self.latency, Cost::of(&tlp.header));
        Some((at, tlp))
    }

    /// When something happens next, in ps.
    pub fn next_event(&self) -> u64 {
        let arrival = self.flying.front().map_or(u64::MAX, |(at, _)| *at);
        arrival
            .min(self.sending.unwrap_or(u64::MAX))
            .min(self.credits.next_return())
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
        self.flying.clear();
        self.translations.clear();
        self.buffered = 0;
        self.sending = None;
        self.blocked = false;
        self.credits.clear();
    }
}

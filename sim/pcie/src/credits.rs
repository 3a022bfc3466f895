//! Flow control credits (PCI Express Base Specification, section 2.6).
//!
//! Completion credits are infinite in both directions, as the specification asks of an endpoint and of a
//! root complex without peer-to-peer traffic. Non-posted data credits are not counted: only configuration
//! writes use them, one DW each.

use crate::tlp::{Header, Kind};
use std::collections::VecDeque;

/// Credits that a receiver advertises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credits {
    /// Posted requests, at least 1.
    pub posted_headers: u32,
    /// Posted data in units of 16 bytes, at least the largest payload.
    pub posted_data: u32,
    /// Non-posted requests, at least 1.
    pub nonposted_headers: u32,
}

/// What one TLP costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cost {
    posted_headers: u32,
    posted_data: u32,
    nonposted_headers: u32,
}

impl Cost {
    pub const NONPOSTED: Self = Self {
        posted_headers: 0,
        posted_data: 0,
        nonposted_headers: 1,
    };

    /// The cost of a TLP; completions are free.
    pub fn of(header: &Header) -> Self {
        match header.kind() {
            Kind::MWr | Kind::Msg => Self {
                posted_headers: 1,
                posted_data: header.payload_bytes().div_ceil(16) as u32,
                nonposted_headers: 0,
            },
            Kind::MRd | Kind::Cfg => Self::NONPOSTED,
            Kind::CplD | Kind::Cpl => Self::default(),
        }
    }
}

/// Credits as the sender sees them.
#[derive(Debug)]
pub(crate) struct CreditPool {
    limit: Credits,
    used: Cost,
    returning: VecDeque<(u64, Cost)>,
    /// When credits last came back, in ps.
    pub last_return: u64,
}

impl CreditPool {
    pub fn new(limit: Credits) -> Self {
        Self {
            limit,
            used: Cost::default(),
            returning: VecDeque::new(),
            last_return: 0,
        }
    }

    /// Whether a TLP of this cost may be sent. One that costs more than was ever advertised may be sent
    /// when nothing else is on the way; otherwise an illegally long write would stop the link for good.
    pub fn covers(&self, cost: Cost) -> bool {
        let (limit, used) = (self.limit, self.used);
        let fits = |cost, used, limit| cost == 0 || used == 0 || used + cost <= limit;
        fits(
            cost.posted_headers,
            used.posted_headers,
            limit.posted_headers,
        ) && fits(cost.posted_data, used.posted_data, limit.posted_data)
            && fits(
                cost.nonposted_headers,
                used.nonposted_headers,
                limit.nonposted_headers,
            )
    }

    pub fn take(&mut self, cost: Cost) {
        self.used.posted_headers += cost.posted_headers;
        self.used.posted_data += cost.posted_data;
        self.used.nonposted_headers += cost.nonposted_headers;
    }

    /// The receiver is done with a TLP; its credits reach the sender at `at`.
    pub fn give_back(&mut self, at: u64, cost: Cost) {
        if cost != Cost::default() {
            self.returning.push_back((at, cost));
        }
    }

    /// Takes in what has come back by `now`.
    pub fn collect(&mut self, now: u64) {
        while let Some(&(at, cost)) = self.returning.front().filter(|(at, _)| *at <= now) {
            self.returning.pop_front();
            self.last_return = at;
            self.used.posted_headers -= cost.posted_headers;
            self.used.posted_data -= cost.posted_data;
            self.used.nonposted_headers -= cost.nonposted_headers;
        }
    }

    /// When the next credits come back, in ps.
    pub fn next_return(&self) -> u64 {
        self.returning.front().map_or(u64::MAX, |(at, _)| *at)
    }

    pub fn clear(&mut self) {
        self.used = Cost::default();
        self.returning.clear();
    }
}

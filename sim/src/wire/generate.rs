//! Frames made to order: size, count, rate, burst and mix of protocols, as one line of text.
//!
//! | key | value | default |
//! |---|---|---|
//! | `size` | bytes without FCS, `N` or `MIN-MAX` evenly distributed, 14 to 9600 | 60, or the headers where they are longer |
//! | `count` | frames, from 1 | 1000 |
//! | `rate` | `line`, `Npps` (frames a second), `Nmbps` (megabits a second of line time) | `line` |
//! | `burst` | frames back to back, from 1; above 1 only below line rate | 1 |
//! | `mix` | names of [`Protocol::NAMES`] joined by `+`, each with an optional `:WEIGHT` | `udp` |
//!
//! Such as `size=60-1514,count=20000,rate=500mbps,burst=8,mix=tcp:3+udp6`. The seed is not part of it: the
//! same text and seed give the same frames.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::protocol::Protocol;
use super::{Frame, Pace, Rate, GENERATED, MIN_FRAME};

/// Bytes of the shortest frame without FCS: an Ethernet header.
pub const SHORTEST: usize = 14;
/// Bytes of the longest frame without FCS.
pub const LONGEST: usize = 9600;

const FROM_1: &str = "legal are whole numbers from 1";

/// A text that describes no traffic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("generator: {key}={value}: {legal}")]
pub struct SpecError {
    /// The key as given.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What would be legal.
    pub legal: String,
}

/// What traffic to make. Comes from text: see the table of the keys at the top of this file's documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Range of sizes; `None` for the default.
    size: Option<RangeInclusive<usize>>,
    count: usize,
    pace: Pace,
    /// Kinds of frame with their weights, of which the sum is above 0.
    mix: Vec<(Protocol, u32)>,
}

impl Default for Generator {
    fn default() -> Self {
        Self {
            size: None,
            count: 1000,
            pace: Pace::default(),
            mix: vec![(Protocol::Udp, 1)],
        }
    }
}

impl Generator {
    /// How fast the frames follow one another.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// How many frames there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The frames, for a host whose address is `own_mac`. [`super::sequence`] finds in each its number, counted
    /// from 0, when it has at least four bytes of payload.
    pub fn frames(
        &self,
        seed: u64,
        own_mac: [u8; 6],
    ) -> impl Iterator<Item = Frame> + Send + 'static {
        let Self {
            size, count, mix, ..
        } = self.clone();
        let total = mix.iter().map(|(_, weight)| weight).sum();
        let mut random = fastrand::Rng::with_seed(seed);
        let source: std::sync::Arc<str> = GENERATED.into();
        (0..count).map(move |index| {
            let protocol = choose(&mix, random.u32(0..total));
            let size = match &size {
                Some(range) => random.usize(range.clone()),
                None => MIN_FRAME.max(protocol.headers()),
            };
            let flow = random.u8(..);
            let bytes = protocol.build(own_mac, size, index as u32, flow, |payload| {
                random.fill(payload)
            });
            Frame::new(bytes, source.clone(), index)
        })
    }
}

/// The kind of frame on which `ticket`, below the sum of the weights, falls.
fn choose(mix: &[(Protocol, u32)], mut ticket: u32) -> Protocol {
    for (protocol, weight) in mix {
        match ticket.checked_sub(*weight) {
            Some(rest) => ticket = rest,
            None => return *protocol,
        }
    }
    unreachable!("the ticket is below the sum of the weights")
}

impl FromStr for Generator {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut generator = Self::default();
        let pairs: Vec<(&str, &str)> = text
            .split(',')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        let given = |key| {
            pairs
                .iter()
                .find(|(k, _)| *k == key)
                .map_or("", |(_, v)| *v)
        };
        for (position, &(key, value)) in pairs.iter().enumerate() {
            let legal = |legal: &str| error(key, value, legal);
            if pairs[..position].iter().any(|(earlier, _)| *earlier == key) {
                return Err(legal("the key may come only once"));
            }
            match key {
                "size" => {
                    let sizes = format!("legal are N and MIN-MAX within {SHORTEST} to {LONGEST}");
                    generator.size = Some(parse_size(value).ok_or_else(|| legal(&sizes))?);
                }
                "count" => generator.count = above_zero(value).ok_or_else(|| legal(FROM_1))?,
                "rate" => {
                    let rates = "legal are line, <N>pps and <N>mbps";
                    generator.pace.rate = parse_rate(value).ok_or_else(|| legal(rates))?;
                }
                "burst" => generator.pace.burst = above_zero(value).ok_or_else(|| legal(FROM_1))?,
                "mix" => generator.mix = parse_mix(value)?,
                _ => return Err(legal("the keys are size, count, rate, burst, mix")),
            }
        }
        generator.check(given("size"), given("burst"))?;
        Ok(generator)
    }
}

impl Generator {
    /// What no key tells alone: sizes that the mix can have, and bursts that the rate can have.
    fn check(&self, size: &str, burst: &str) -> Result<(), SpecError> {
        if self.pace.burst > 1 && self.pace.rate == Rate::Line {
            return Err(error(
                "burst",
                burst,
                "legal is 1 with rate=line, where all frames go back to back",
            ));
        }
        let Some(range) = &self.size else {
            return Ok(());
        };
        for (protocol, _) in &self.mix {
            let (name, shortest, longest) =
                (protocol.name(), protocol.headers(), protocol.longest());
            if *range.start() < shortest || *range.end() > longest {
                return Err(error(
                    "size",
                    size,
                    &format!("legal are {shortest} to {longest} with {name} in the mix"),
                ));
            }
        }
        Ok(())
    }
}

fn error(key: &str, value: &str, legal: &str) -> SpecError {
    SpecError {
        key: key.into(),
        value: value.into(),
        legal: legal.into(),
    }
}

fn above_zero<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number| *number > T::from(0))
}

fn parse_size(text: &str) -> Option<RangeInclusive<usize>> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (low.parse().ok()?, high.parse().ok()?);
    (SHORTEST <= low && low <= high && high <= LONGEST).then_some(low..=high)
}

fn parse_rate(text: &str) -> Option<Rate> {
    if text == "line" {
        Some(Rate::Line)
    } else if let Some(frames) = text.strip_suffix("pps") {
        above_zero(frames).map(Rate::FramesPerSecond)
    } else {
        above_zero(text.strip_suffix("mbps")?).map(Rate::MegabitsPerSecond)
    }
}

fn parse_mix(text: &str) -> Result<Vec<(Protocol, u32)>, SpecError> {
    let mut mix = Vec::new();
    let mut total = 0u32;
    for part in text.split('+') {
        let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
        let Some((_, protocol)) = Protocol::NAMES.iter().find(|(known, _)| *known == name) else {
            let names = Protocol::NAMES.map(|(known, _)| known).join(", ");
            return Err(error(
                "mix",
                part,
                &format!("legal are {names}, joined by + and each with an optional :WEIGHT"),
            ));
        };
        let weight = above_zero(weight).filter(|weight| total.checked_add(*weight).is_some());
        let weight = weight.ok_or_else(|| {
            error(
                "mix",
                part,
                "legal weights are whole numbers from 1 to 4294967295 in sum",
            )
        })?;
        total += weight;
        mix.push((*protocol, weight));
    }
    Ok(mix)
}

#[cfg(test)]
#[path = "generate_tests.rs"]
mod tests;

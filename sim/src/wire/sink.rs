//! The sending side of the MAC: beats of the core become frames on the wire.
//!
//! The MAC has a buffer of two beats. It starts a frame as soon as its first beat is there and the line is
//! free, and takes each later beat when it has room for it, so `ready` follows the line. Once a frame has
//! started it cannot pause: a beat that is not there when the line needs it is an underrun. The core stores
//! a frame whole before it sends it, so it must never come to that.

use super::beat::{keep_of, Beat};
use super::rate::{LineRate, FCS, GAP, PREAMBLE};
use super::MIN_FRAME;

/// Bytes of the longest frame that the sink takes; anything above is a violation.
pub const MAX_FRAME: usize = 16 * 1024;

/// How many violations are kept; the count goes on.
const KEPT_VIOLATIONS: usize = 64;

/// A frame that the core sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// The frame as it is on the wire without FCS: padded to [`MIN_FRAME`].
    pub bytes: &'a [u8],
    /// Its length as the core gave it, before padding.
    pub unpadded: usize,
    /// When its preamble begins, in picoseconds.
    pub start_ps: u64,
    /// When its FCS ends, in picoseconds. It may lie after the time of its last beat.
    pub end_ps: u64,
    /// The core marked the frame bad, or it broke a rule on the way: the MAC sends it with a wrong FCS.
    pub error: bool,
}

/// A rule of the stream that the core broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at {at_ps} ps, frame {frame}: {rule}")]
pub struct Violation {
    /// When it was seen, in picoseconds.
    pub at_ps: u64,
    /// The number of the frame, counted from 0.
    pub frame: u64,
    /// What was broken.
    pub rule: Rule,
}

/// The rules of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Keep has a hole, is empty, or is not full in a beat that is not the last.
    #[error("keep {keep:#x} of a beat with last={last}")]
    Keep {
        /// The pattern.
        keep: u64,
        /// Whether the beat was the frame's last.
        last: bool,
    },
    /// The line needed a byte that the core had not given.
    #[error("underrun: the line needed byte {byte}")]
    Underrun {
        /// Position of the byte in the frame.
        byte: usize,
    },
    /// The core took back a beat, or changed it, before the MAC was ready for it.
    #[error("a beat was withdrawn or changed while ready was low")]
    Unstable,
    /// The frame is longer than [`MAX_FRAME`].
    #[error("longer than {MAX_FRAME} bytes")]
    TooLong,
}

/// Takes the core's frames at line rate and checks the rules of the stream.
///
/// In each cycle of the core's clock, set the stream's ready from [`WireSink::ready`], and give
/// [`WireSink::clock`] what the core drives in that cycle.
pub struct WireSink<const B: usize> {
    rate: LineRate,
    /// The current frame, or the last one with its padding.
    bytes: Vec<u8>,
    in_frame: bool,
    /// The current frame is bad already.
    error: bool,
    too_long: bool,
    start_ps: u64,
    /// From here on the line can carry the next frame.
    free_ps: u64,
    ready_ps: u64,
    /// When the line needs the next beat; `u64::MAX` between frames and after an underrun was noted.
    needed_ps: u64,
    held: Option<Beat<B>>,
    count: u64,
    violations: Vec<Violation>,
    violation_count: u64,
}

impl<const B: usize> WireSink<B> {
    /// An idle line.
    pub fn new(rate: LineRate) -> Self {
        const { assert!(B >= 1 && B <= 64) };
        Self {
            rate,
            bytes: Vec::with_capacity(MAX_FRAME),
            in_frame: false,
            error: false,
            too_long: false,
            start_ps: 0,
            free_ps: 0,
            ready_ps: 0,
            needed_ps: u64::MAX,
            held: None,
            count: 0,
            violations: Vec::with_capacity(KEPT_VIOLATIONS),
            violation_count: 0,
        }
    }

    /// Whether the MAC takes a beat in the cycle at `now_ps`.
    #[inline]
    pub fn ready(&self, now_ps: u64) -> bool {
        now_ps >= self.ready_ps
    }

    /// One cycle at `now_ps` (never decreasing): `beat` is what the core drives, `None` when its valid is low.
    /// Returns the frame that this beat completes.
    #[inline]
    pub fn clock(&mut self, now_ps: u64, beat: Option<&Beat<B>>) -> Option<Received<'_>> {
        if beat.is_none() && self.held.is_none() && now_ps <= self.needed_ps {
            return None;
        }
        self.take(now_ps, beat)
    }

    /// Frames completed.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// True between frames.
    pub fn is_idle(&self) -> bool {
        !self.in_frame
    }

    /// The first violations, in order; [`WireSink::violation_count`] counts all.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How often the core broke a rule.
    pub fn violation_count(&self) -> u64 {
        self.violation_count
    }

    fn take(&mut self, now_ps: u64, beat: Option<&Beat<B>>) -> Option<Received<'_>> {
        if now_ps > self.needed_ps {
            // Noted once a frame: what follows on the line is lost anyway.
            self.violate(
                now_ps,
                Rule::Underrun {
                    byte: self.bytes.len(),
                },
            );
            self.needed_ps = u64::MAX;
        }
        if self.held.is_some() && self.held.as_ref() != beat {
            self.violate(now_ps, Rule::Unstable);
        }
        if !self.ready(now_ps) {
            self.held = beat.copied();
            return None;
        }
        self.held = None;
        let beat = beat?;
        if !self.in_frame {
            self.begin(now_ps);
        }
        self.append(now_ps, beat);
        if beat.last {
            return Some(self.end(beat.error));
        }
        self.expect_next();
        None
    }

    fn begin(&mut self, now_ps: u64) {
        self.in_frame = true;
        self.error = false;
        self.too_long = false;
        self.bytes.clear();
        self.start_ps = now_ps.max(self.free_ps);
        self.needed_ps = self.byte_ps(0);
    }

    fn append(&mut self, now_ps: u64, beat: &Beat<B>) {
        let length = beat.keep.trailing_ones().min(B as u32) as usize;
        if beat.keep != keep_of(length) || length == 0 || (length < B && !beat.last) {
            self.violate(
                now_ps,
                Rule::Keep {
                    keep: beat.keep,
                    last: beat.last,
                },
            );
        }
        if self.bytes.len() + length <= MAX_FRAME {
            self.bytes.extend_from_slice(&beat.data[..length]);
        } else if !self.too_long {
            self.violate(now_ps, Rule::TooLong);
            self.too_long = true;
            // Nothing of the rest reaches the line, so the line needs nothing more.
            self.needed_ps = u64::MAX;
        }
    }

    /// When the line carries byte `index` of the current frame.
    fn byte_ps(&self, index: usize) -> u64 {
        self.start_ps + self.rate.ps(PREAMBLE + index as u64)
    }

    fn expect_next(&mut self) {
        let needed = self.byte_ps(self.bytes.len());
        if self.needed_ps != u64::MAX {
            self.needed_ps = needed;
        }
        self.ready_ps = self.room_ps(needed);
    }

    /// When the buffer has room for a beat that the line needs at `needed_ps`.
    fn room_ps(&self, needed_ps: u64) -> u64 {
        needed_ps.saturating_sub(self.rate.ps(2 * B as u64))
    }

    fn end(&mut self, error: bool) -> Received<'_> {
        let unpadded = self.bytes.len();
        if unpadded < MIN_FRAME {
            self.bytes.resize(MIN_FRAME, 0);
        }
        let end_ps = self.byte_ps(self.bytes.len()) + self.rate.ps(FCS);
        self.free_ps = end_ps + self.rate.ps(GAP);
        self.ready_ps = self.room_ps(self.free_ps + self.rate.ps(PREAMBLE));
        self.needed_ps = u64::MAX;
        self.in_frame = false;
        self.count += 1;
        Received {
            bytes: &self.bytes,
            unpadded,
            start_ps: self.start_ps,
            end_ps,
            error: error || self.error,
        }
    }

    fn violate(&mut self, at_ps: u64, rule: Rule) {
        self.error |= self.in_frame;
        self.violation_count += 1;
        if self.violations.len() < KEPT_VIOLATIONS {
            self.violations.push(Violation {
                at_ps,
                frame: self.count,
                rule,
            });
        }
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;

//! The receiving side of the MAC: frames from the wire become beats for the core.
//!
//! A frame that starts on the line at time *t* brings its preamble first. A beat is handed over when its last
//! byte has arrived, the frame's last beat when the FCS has arrived too, since only then the MAC knows that
//! the frame has ended and whether it is good. There is no way to hold the wire back: the core takes a beat
//! in the cycle in which it is handed over, or loses it.

use std::collections::VecDeque;

use super::beat::{keep_of, Beat};
use super::rate::{occupied, LineRate, Pace, Pacer, FCS, PREAMBLE};
use super::Frame;

/// A frame that the wire has brought completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The frame, padded as it was on the wire.
    pub frame: Frame,
    /// When its preamble began, in picoseconds.
    pub start_ps: u64,
    /// When its FCS ended, in picoseconds.
    pub end_ps: u64,
}

/// Sends frames to the core at line rate or slower, whatever their timestamps say.
///
/// Call [`WireSource::poll`] once in each cycle of the core's clock. It gives at most one beat a call, so the
/// stream must be at least as fast as the line: `B` bytes a cycle.
pub struct WireSource<const B: usize> {
    rate: LineRate,
    pacer: Pacer,
    queue: VecDeque<Frame>,
    feed: Option<Box<dyn Iterator<Item = Frame> + Send>>,
    current: Option<Frame>,
    /// Bytes of the current frame that were handed over.
    taken: usize,
    start_ps: u64,
    /// Nothing happens before this time.
    next_ps: u64,
    /// From here on the line can carry the next frame.
    free_ps: u64,
    sent: Option<Sent>,
    count: u64,
}

impl<const B: usize> WireSource<B> {
    /// A source without frames.
    pub fn new(rate: LineRate, pace: Pace) -> Self {
        const { assert!(B >= 1 && B <= 64) };
        Self {
            rate,
            pacer: Pacer::new(pace),
            queue: VecDeque::new(),
            feed: None,
            current: None,
            taken: 0,
            start_ps: 0,
            next_ps: u64::MAX,
            free_ps: 0,
            sent: None,
            count: 0,
        }
    }

    /// Sends all that `frames` yields, after the frames that [`WireSource::push`] queued. Each is asked for when
    /// the one before it has been sent, so a generator need not be held in memory. Replaces an earlier feed.
    pub fn feed(&mut self, frames: impl Iterator<Item = Frame> + Send + 'static) {
        self.feed = Some(Box::new(frames));
        self.wake();
    }

    /// Queues one frame.
    pub fn push(&mut self, frame: Frame) {
        self.queue.push_back(frame);
        self.wake();
    }

    /// True when every frame has been handed over.
    pub fn is_done(&self) -> bool {
        self.next_ps == u64::MAX
    }

    /// The next time at which [`WireSource::poll`] can give a beat, in picoseconds; `u64::MAX` when done. A frame
    /// just pushed counts as due at once.
    pub fn next_ps(&self) -> u64 {
        self.next_ps
    }

    /// Frames handed over completely.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The frame whose last beat [`WireSource::poll`] gave, if it was not taken yet. The next frame's last beat
    /// replaces it.
    pub fn take_sent(&mut self) -> Option<Sent> {
        self.sent.take()
    }

    /// The beat for the core's clock cycle at `now_ps` (never decreasing), if one has arrived.
    #[inline]
    pub fn poll(&mut self, now_ps: u64) -> Option<Beat<B>> {
        if now_ps < self.next_ps {
            return None;
        }
        self.arrive(now_ps)
    }

    fn arrive(&mut self, now_ps: u64) -> Option<Beat<B>> {
        if self.current.is_none() {
            self.begin(now_ps);
            if now_ps < self.next_ps {
                return None;
            }
        }
        let frame = self.current.as_ref()?;
        let rest = frame.bytes.get(self.taken..).unwrap_or_default();
        let length = rest.len().min(B);
        let mut data = [0; B];
        data[..length].copy_from_slice(&rest[..length]);
        let last = rest.len() <= B;
        let beat = Beat {
            data,
            keep: keep_of(length),
            last,
            error: last && frame.bad_fcs,
        };
        self.taken += length;
        if last {
            self.end();
        } else {
            self.next_ps = self.arrival(rest.len() - length);
        }
        Some(beat)
    }

    /// When the beat has arrived that begins at byte `taken`, `rest` bytes before the end of the frame.
    fn arrival(&self, rest: usize) -> u64 {
        let bytes = if rest > B {
            self.taken + B
        } else {
            self.taken + rest + FCS as usize
        };
        self.start_ps + self.rate.ps(PREAMBLE + bytes as u64)
    }

    /// Puts the next frame on the line, at `possible_ps` or when the line and the pace allow it.
    fn begin(&mut self, possible_ps: u64) {
        let Some(mut frame) = self.next_frame() else {
            self.next_ps = u64::MAX;
            return;
        };
        frame.pad();
        let length = frame.bytes.len();
        self.start_ps = self
            .pacer
            .start(possible_ps.max(self.free_ps), length as u64);
        self.free_ps = self.start_ps + self.rate.ps(occupied(length as u64));
        self.taken = 0;
        self.next_ps = self.arrival(length);
        self.current = Some(frame);
    }

    fn end(&mut self) {
        if let Some(frame) = self.current.take() {
            let end_ps = self.start_ps + self.rate.ps(PREAMBLE + frame.bytes.len() as u64 + FCS);
            self.sent = Some(Sent {
                frame,
                start_ps: self.start_ps,
                end_ps,
            });
            self.count += 1;
        }
        // A frame that waits follows at once on the line, even when the core's clock is coarse.
        self.begin(self.free_ps);
    }

    fn next_frame(&mut self) -> Option<Frame> {
        if let Some(frame) = self.queue.pop_front() {
            return Some(frame);
        }
        let frame = self.feed.as_mut()?.next();
        if frame.is_none() {
            self.feed = None;
        }
        frame
    }

    fn wake(&mut self) {
        if self.current.is_none() {
            self.next_ps = 0;
        }
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;

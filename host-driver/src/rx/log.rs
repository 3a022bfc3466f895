//! A log of the last polls: how long each took, and each of its packets.
//!
//! All of its memory is there before the first poll; when it is full, the oldest poll makes room. Polls that handled
//! nothing are not in it. A poll without a log does not look at the clock.

use std::time::Duration;

/// What is known of one poll. Times are in nanoseconds of the driver's [clock](crate::clock::Clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedPoll<'a> {
    /// When it began.
    pub begun: Duration,
    /// What sending and reclaiming had taken before it, if the queue was [told](crate::rx::RxQueue::log_tx).
    pub tx: u32,
    /// The whole poll.
    pub rx: u32,
    /// Packets handled.
    pub handled: usize,
    /// Each packet, from the end of the one before to the return of the sink: as many as the log has room for.
    pub packets: &'a [u32],
}

#[derive(Clone, Copy, Default)]
struct Entry {
    begun: Duration,
    tx: u32,
    rx: u32,
    handled: usize,
}

/// A ring of polls.
pub struct PollLog {
    entries: Vec<Entry>,
    /// `most_packets` for each entry.
    packets: Vec<u32>,
    most_packets: usize,
    /// Polls logged so far; the next goes to this place in the ring.
    logged: u64,
    /// The poll under way.
    open: Entry,
    /// When the last packet of it ended.
    last: Duration,
}

/// Nanoseconds from one moment to another, if 32 bits can hold them; else as many as they can.
fn nanos(from: Duration, to: Duration) -> u32 {
    to.saturating_sub(from).as_nanos().try_into().unwrap_or(u32::MAX)
}

impl PollLog {
    /// A log of the last `polls` polls, at least one, with up to `packets` packets of each.
    pub fn new(polls: usize, packets: usize) -> Self {
        let polls = polls.max(1);
        Self {
            entries: vec![Entry::default(); polls],
            packets: vec![0; polls * packets],
            most_packets: packets,
            logged: 0,
            open: Entry::default(),
            last: Duration::ZERO,
        }
    }

    /// The polls that are in the log, the oldest first.
    pub fn polls(&self) -> impl Iterator<Item = LoggedPoll<'_>> {
        let kept = self.logged.min(self.entries.len() as u64);
        (self.logged - kept..self.logged).map(|number| {
            let place = self.place(number);
            let Entry { begun, tx, rx, handled } = self.entries[place];
            let packets = &self.packets[place * self.most_packets..][..handled.min(self.most_packets)];
            LoggedPoll { begun, tx, rx, handled, packets }
        })
    }

    /// Polls that have been logged, those that made room included.
    pub fn logged(&self) -> u64 {
        self.logged
    }

    fn place(&self, number: u64) -> usize {
        (number % self.entries.len() as u64) as usize
    }

    pub(super) fn tx(&mut self, spent: Duration) {
        self.open.tx = self.open.tx.saturating_add(nanos(Duration::ZERO, spent));
    }

    pub(super) fn begin(&mut self, now: Duration) {
        (self.open.begun, self.open.handled, self.last) = (now, 0, now);
    }

    pub(super) fn packet(&mut self, now: Duration) {
        if self.open.handled < self.most_packets {
            let place = self.place(self.logged) * self.most_packets + self.open.handled;
            self.packets[place] = nanos(self.last, now);
        }
        self.open.handled += 1;
        self.last = now;
    }

    pub(super) fn end(&mut self, now: Duration) {
        if self.open.handled > 0 {
            self.open.rx = nanos(self.open.begun, now);
            let place = self.place(self.logged);
            self.entries[place] = std::mem::take(&mut self.open);
            self.logged += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: a ring that loses its newest or mixes the packets of two polls, a bound that is not kept, TX time that
    /// is lost with an empty poll or told twice.
    #[test]
    fn the_last_polls_are_kept_each_with_its_own_packets() {
        let at = Duration::from_nanos;
        let mut log = PollLog::new(3, 2);
        for poll in 0..7 {
            let begun = 1000 * poll;
            log.tx(at(poll));
            log.begin(at(begun));
            log.end(at(begun + 1));
            log.tx(at(poll));
            log.begin(at(begun + 10));
            for packet in 1..=poll {
                log.packet(at(begun + 10 + 5 * packet));
            }
            log.end(at(begun + 100));
        }
        // The first poll was empty; its TX time is with the next.
        assert_eq!(log.logged(), 6);
        let polls: Vec<_> = log.polls().collect();
        assert_eq!(polls.iter().map(|poll| poll.handled).collect::<Vec<_>>(), [4, 5, 6]);
        for (poll, number) in polls.iter().zip(4..) {
            assert_eq!((poll.begun, poll.tx, poll.rx), (at(1000 * number + 10), 2 * number as u32, 90));
            assert_eq!(poll.packets, [5, 5]);
        }
        assert_eq!(PollLog::new(0, 0).polls().count(), 0);
    }
}

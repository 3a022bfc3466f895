//! A poll: from completions to packets.

use ferronic_contract::completion::RxCompletion;
use ferronic_contract::status::{SOP, SPLIT};

use super::assemble::{self, Loss};
use super::{Packet, Path, RxFault, RxQueue, Segment, Sink, BATCH};
use crate::packet::{Case, Frame, Rest, Verdict};
use crate::policy::Classify;
use crate::pool::Buffer;

impl RxQueue {
    /// Handles up to `budget` packets and says how many, dropped ones included. Fewer than `budget` means
    /// that no more were there. Reads no register.
    ///
    /// # Errors
    ///
    /// A completion broke the contract, and nothing was handled; so does every later call.
    pub fn poll<S: Sink + ?Sized>(&mut self, budget: usize, sink: &mut S) -> Result<usize, RxFault> {
        self.statistics.polls += 1;
        if let Some(log) = &mut self.log {
            log.begin(self.clock.now());
        }
        let mut handled = 0;
        while self.fault.is_none() && handled < budget {
            match self.look(budget - handled) {
                Ok(0) => break,
                Ok(seen) => handled += self.handle_batch(seen, sink),
                Err(fault) => self.give_up(fault),
            }
        }
        self.descriptors.end_poll(&self.queue);
        if let Some(log) = &mut self.log {
            log.end(self.clock.now());
        }
        match self.fault {
            Some(fault) if handled == 0 => Err(fault),
            _ => Ok(handled),
        }
    }

    /// Gathers a batch of completions and says how many: at most `most`, since no frame has less than one.
    fn look(&mut self, most: usize) -> Result<usize, RxFault> {
        self.completions.look(&mut self.batch[..most.min(BATCH)], self.descriptors.producer())
    }

    /// Handles the completions of the batch and says how many frames ended.
    fn handle_batch<S: Sink + ?Sized>(&mut self, seen: usize, sink: &mut S) -> usize {
        let course = self.policy.prefetch.course();
        // A bit for each header that was asked for before its packet's turn.
        let mut ahead = 0u32;
        for position in 0..course.first.min(seen) {
            let asked = self.prefetch(position, course.wanted, sink);
            ahead |= u32::from(asked && position > 0) << position;
        }
        let mut ended = 0;
        for position in 0..seen {
            match course.distance.map(|distance| position + distance) {
                Some(next) if next < seen => {
                    let asked = self.prefetch(next, course.wanted, sink);
                    ahead |= u32::from(asked && next > position) << next;
                }
                _ => {}
            }
            match self.handle(position, ahead >> position & 1 == 1, sink) {
                Ok(end) => ended += usize::from(end),
                Err(fault) => {
                    self.give_up(fault);
                    break;
                }
            }
        }
        ended
    }

    /// Asks the cache for the header that a completion of the batch begins with; false if there is none, or if it is not
    /// wanted.
    #[inline]
    fn prefetch<S: Sink + ?Sized>(&self, position: usize, only_wanted: bool, sink: &S) -> bool {
        let completion = &self.batch[position];
        if completion.status.get(SOP) == 0 || only_wanted && !self.touches_header(completion, sink) {
            return false;
        }
        let buffer = self.descriptors.get(completion.cookie);
        buffer.inspect(|buffer| buffer.prefetch(0)).is_some()
    }

    /// Whether anybody will look at the header: the driver to classify or copy, or the consumer.
    #[inline]
    fn touches_header<S: Sink + ?Sized>(&self, completion: &RxCompletion, sink: &S) -> bool {
        let classified = completion.status.classified() && self.policy.classify != Classify::Software;
        !classified || completion.length <= self.copies.limit() || sink.wants_header(completion)
    }

    fn give_up(&mut self, fault: RxFault) {
        self.statistics.bad_completions += 1;
        self.fault = Some(fault);
    }

    /// Takes a completion of the batch with its buffer, for which the ring gets another. True when it ends a frame, which
    /// is delivered or dropped.
    #[inline]
    fn handle<S: Sink + ?Sized>(&mut self, position: usize, ahead: bool, sink: &mut S) -> Result<bool, RxFault> {
        let completion = self.batch[position];
        let RxCompletion { index, cookie, length, .. } = completion;
        let expected = self.completions.next();
        if index != expected {
            return Err(RxFault::Index { found: index, expected });
        }
        if self.descriptors.producer().lent() == 0 {
            return Err(RxFault::NotLent { index });
        }
        let whole = self.assembler.check(&completion)?;
        let buffer = self.descriptors.take(cookie).ok_or(RxFault::Cookie { index, cookie })?;
        self.completions.take();
        if !whole {
            return Ok(self.handle_part(completion, buffer, ahead, sink));
        }
        match self.exchange(buffer, length) {
            Some(buffer) => {
                let first = Segment { buffer, length };
                self.deliver(Frame { completion, first, rest: None, prefetched_ahead: ahead }, length, sink);
            }
            None => self.lose(Loss::NoBuffer),
        }
        Ok(true)
    }

    /// The buffer that a whole packet is delivered in: a copy, or its own for a fresh one. `None` when there is neither.
    #[inline]
    fn exchange(&mut self, mut buffer: Buffer, length: u16) -> Option<Buffer> {
        if length <= self.copies.limit() {
            if let Some(copy) = self.copies.copy(&buffer, length) {
                buffer.copied_from(length);
                self.descriptors.replace(buffer, &self.queue);
                self.statistics.copied += 1;
                return Some(copy);
            }
        }
        match self.pool.get() {
            Some(fresh) => {
                self.descriptors.replace(fresh, &self.queue);
                buffer.received(length);
                Some(buffer)
            }
            None => {
                self.descriptors.replace(buffer, &self.queue);
                None
            }
        }
    }

    /// Takes in one of several buffers of a frame, or of one that was cut; true with the last.
    #[inline(never)]
    fn handle_part<S: Sink + ?Sized>(
        &mut self,
        completion: RxCompletion,
        mut buffer: Buffer,
        ahead: bool,
        sink: &mut S,
    ) -> bool {
        let fresh = if self.assembler.wants(&completion) { self.pool.get() } else { None };
        let kept = match fresh {
            Some(fresh) => {
                self.descriptors.replace(fresh, &self.queue);
                buffer.received(completion.length);
                Ok(Segment { buffer, length: completion.length })
            }
            None => {
                self.descriptors.replace(buffer, &self.queue);
                Err(assemble::loss(&completion))
            }
        };
        match self.assembler.add(completion, kept, ahead) {
            None => return false,
            Some(Ok(frame)) => {
                self.statistics.scattered += 1;
                self.statistics.split += u64::from(frame.completion.status.get(SPLIT));
                let rest = frame.rest.iter().flat_map(Rest::segments).map(|segment| segment.length);
                let length = frame.first.length + rest.sum::<u16>();
                self.deliver(frame, length, sink);
            }
            Some(Err(loss)) => self.lose(loss),
        }
        true
    }

    fn lose(&mut self, loss: Loss) {
        match loss {
            Loss::NoBuffer => self.statistics.dropped_no_buffer += 1,
            Loss::Cut => self.statistics.dropped_cut += 1,
        }
        self.log_packet();
    }

    /// Classifies a frame and gives it to the sink.
    #[inline(always)]
    fn deliver<S: Sink + ?Sized>(&mut self, frame: Frame, length: u16, sink: &mut S) {
        // The checks refused frames that are too short to be classified.
        let Some(verdict) = self.classify(&frame) else { return };
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(length);
        self.statistics.prefetched_ahead += u64::from(frame.prefetched_ahead);
        sink.deliver(Packet::new(frame, self.origin, verdict));
        self.log_packet();
    }

    #[inline]
    fn classify(&mut self, frame: &Frame) -> Option<Verdict> {
        let Frame { completion, first, rest, .. } = frame;
        let case = Case { completion, first, rest: rest.as_ref(), origin: &self.origin, station: &self.station };
        let policy = self.policy.classify;
        let mut verdict = case.classify(policy == Classify::Software)?;
        if verdict.path == Path::Software {
            self.statistics.software_path += 1;
            return Some(verdict);
        }
        if self.sample.picks(policy) {
            self.statistics.status_checked += 1;
            if let Some(class) = case.disagreement(verdict.class) {
                self.statistics.status_disagreed += 1;
                self.statistics.software_path += 1;
                (verdict.class, verdict.path) = (class, Path::Software);
                return Some(verdict);
            }
        }
        self.statistics.status_path += 1;
        Some(verdict)
    }

    #[inline]
    fn log_packet(&mut self) {
        if let Some(log) = &mut self.log {
            log.packet(self.clock.now());
        }
    }
}

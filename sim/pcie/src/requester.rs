//! Requests of the CPU that wait for a completion of the device.

use crate::rules::{Rule, RuleSet};
use crate::tlp::{Bdf, Body, Completion, ConfigRequest, Header, Status, Tlp};
use std::collections::VecDeque;

/// Names a CPU read or a configuration access until its answer has been fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle(u64);

/// How a CPU read or a configuration access ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Outcome {
    /// The device answered.
    #[error("success")]
    Success,
    /// The device answered UR.
    #[error("unsupported request")]
    UnsupportedRequest,
    /// The device answered CRS: it is not ready yet.
    #[error("configuration request retry")]
    ConfigRetry,
    /// The device answered CA.
    #[error("completer abort")]
    CompleterAbort,
    /// The data came with EP set.
    #[error("poisoned data")]
    Poisoned,
    /// No completion within the completion timeout.
    #[error("completion timeout")]
    Timeout,
    /// The device was removed or reset.
    #[error("device removed or reset")]
    Removed,
}

/// The answer to a CPU read or a configuration access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The value read, all ones (of the access's width) unless `outcome` is success; 0 for a write.
    pub value: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// A CPU read or a configuration access that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FailedRequest {
    /// When the CPU learnt of it, in ps.
    pub at_ps: u64,
    /// The request.
    pub request: Header,
    /// How it ended.
    pub outcome: Outcome,
}

#[derive(Debug)]
struct Waiting {
    handle: Handle,
    request: Header,
    /// When it is given up, in ps; counted anew when it is sent.
    deadline: u64,
    sent: bool,
    /// Value written by a configuration write.
    written: u32,
    /// First byte that is not answered, and how many remain.
    address: u64,
    remaining: u16,
    value: [u8; 8],
    received: usize,
}

/// A configuration write to watch: offset, byte enables, value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConfigWritten {
    pub offset: u16,
    pub first_be: u8,
    pub value: u32,
}

/// What a completion of the device led to.
pub(crate) struct Completed {
    pub broken: RuleSet,
    pub written: Option<ConfigWritten>,
}

/// CPU requests in flight, and answers that nobody has fetched.
#[derive(Debug)]
pub(crate) struct Requester {
    host: Bdf,
    timeout: u64,
    next_handle: u64,
    next_tag: u8,
    waiting: Vec<Waiting>,
    answers: VecDeque<(Handle, Answer)>,
    pub failures: Vec<FailedRequest>,
    /// The device has completed a configuration write, and with it learnt its own ID.
    named: bool,
}

impl Requester {
    pub fn new(host: Bdf, timeout: u64) -> Self {
        Self {
            host,
            timeout,
            next_handle: 0,
            next_tag: 0,
            waiting: Vec::new(),
            answers: VecDeque::new(),
            failures: Vec::new(),
            named: false,
        }
    }

    /// Registers a request before it is queued for the link.
    pub fn add(&mut self, now: u64, request: Header, written: u32) -> Handle {
        let handle = Handle(self.next_handle);
        self.next_handle += 1;
        let (address, remaining) = request.enabled_bytes().unwrap_or((0, 4));
        self.waiting.push(Waiting {
            handle,
            request,
            deadline: now + self.timeout,
            sent: false,
            written,
            address,
            remaining,
            value: [0; 8],
            received: 0,
        });
        handle
    }

    /// A tag for the next request to be sent, if fewer than 256 are in flight.
    pub fn free_tag(&self) -> Option<u8> {
        let used = |tag| self.waiting.iter().any(|w| w.sent && w.tag() == tag);
        (0..=255)
            .map(|i: u8| self.next_tag.wrapping_add(i))
            .find(|&tag| !used(tag))
    }

    /// The request goes out at `now` with this tag.
    pub fn sent(&mut self, handle: Handle, tag: u8, now: u64) {
        self.next_tag = tag.wrapping_add(1);
        if let Some(waiting) = self.waiting.iter_mut().find(|w| w.handle == handle) {
            waiting.sent = true;
            waiting.deadline = now + self.timeout;
            set_tag(&mut waiting.request, tag);
        }
    }

    /// Takes a completion of `device`.
    pub fn complete(&mut self, now: u64, tlp: &Tlp, c: &Completion, device: Bdf) -> Completed {
        let mut broken = RuleSet::NONE;
        // Until its first configuration write a device does not know its ID and puts 0 there (section 2.2.6.2).
        let unnamed = !self.named && c.completer == Bdf::default();
        broken.add_if(c.completer != device && !unnamed, Rule::CompleterId);
        let index = self.waiting.iter().position(|w| w.sent && w.tag() == c.tag);
        let Some(index) = index.filter(|_| c.requester == self.host) else {
            broken.add(Rule::UnknownRequest);
            return Completed {
                broken,
                written: None,
            };
        };
        let waiting = &mut self.waiting[index];
        let (memory, reads) = match waiting.request.body {
            Body::Config(r) => {
                self.named |= r.write;
                (false, !r.write)
            }
            _ => (true, true),
        };
        let success = c.status == Status::Success;
        broken.add_if(c.data != (success && reads), Rule::CompletionData);
        let lower = if memory {
            (waiting.address & 0x7F) as u8
        } else {
            0
        };
        broken.add_if(c.lower_address != lower, Rule::LowerAddress);
        broken.add_if(c.byte_count != waiting.remaining, Rule::ByteCount);

        let outcome = match c.status {
            Status::Success if tlp.header.poisoned => Outcome::Poisoned,
            Status::Success if reads && !c.data => Outcome::UnsupportedRequest,
            Status::Success => Outcome::Success,
            Status::UnsupportedRequest => Outcome::UnsupportedRequest,
            Status::ConfigRetry => Outcome::ConfigRetry,
            Status::CompleterAbort => Outcome::CompleterAbort,
        };
        if outcome == Outcome::Success && reads {
            let low = (waiting.address & 3) as usize;
            let held = tlp.payload.len().saturating_sub(low);
            let wanted = usize::from(waiting.remaining);
            let taken = held.min(wanted);
            let end = waiting.address + taken as u64;
            let cut = taken < wanted && !end.is_multiple_of(128);
            broken.add_if(cut || held >= wanted + 4, Rule::CompletionLength);
            waiting.value[waiting.received..][..taken]
                .copy_from_slice(&tlp.payload[low..low + taken]);
            waiting.received += taken;
            waiting.address = end;
            waiting.remaining -= taken as u16;
            if waiting.remaining > 0 && taken > 0 {
                return Completed {
                    broken,
                    written: None,
                };
            }
        }
        let waiting = self.waiting.remove(index);
        let written = match waiting.request.body {
            Body::Config(ConfigRequest {
                write: true,
                offset,
                first_be,
                ..
            }) if success => Some(ConfigWritten {
                offset,
                first_be,
                value: waiting.written,
            }),
            _ => None,
        };
        self.finish(now, &waiting, outcome);
        Completed { broken, written }
    }

    /// Gives up a request whose time is over, and names it.
    pub fn expire(&mut self, now: u64) -> Option<Handle> {
        let index = self.waiting.iter().position(|w| w.deadline <= now)?;
        let waiting = self.waiting.remove(index);
        self.finish(now, &waiting, Outcome::Timeout);
        Some(waiting.handle)
    }

    /// Ends every request: the device is gone.
    pub fn abandon(&mut self, now: u64) {
        self.named = false;
        for waiting in std::mem::take(&mut self.waiting) {
            self.finish(now, &waiting, Outcome::Removed);
        }
    }

    fn finish(&mut self, at_ps: u64, waiting: &Waiting, outcome: Outcome) {
        let writes = matches!(
            waiting.request.body,
            Body::Config(ConfigRequest { write: true, .. })
        );
        let value = match outcome {
            _ if writes => 0,
            Outcome::Success => u64::from_le_bytes(waiting.value),
            _ => u64::MAX >> (64 - 8 * waiting.width().min(8)),
        };
        if outcome != Outcome::Success {
            self.failures.push(FailedRequest {
                at_ps,
                request: waiting.request,
                outcome,
            });
        }
        self.answers
            .push_back((waiting.handle, Answer { value, outcome }));
    }

    /// Fetches an answer, once.
    pub fn poll(&mut self, handle: Handle) -> Option<Answer> {
        let index = self.answers.iter().position(|(h, _)| *h == handle)?;
        self.answers.remove(index).map(|(_, answer)| answer)
    }

    /// When the next request is given up, in ps.
    pub fn next_event(&self) -> u64 {
        self.waiting
            .iter()
            .map(|w| w.deadline)
            .min()
            .unwrap_or(u64::MAX)
    }
}

impl Waiting {
    fn tag(&self) -> u8 {
        match self.request.body {
            Body::Memory(r) => r.tag,
            Body::Config(r) => r.tag,
            _ => 0,
        }
    }

    /// Bytes asked for.
    fn width(&self) -> usize {
        self.request
            .enabled_bytes()
            .map_or(4, |(_, bytes)| bytes.into())
    }
}

/// Puts a tag into a request.
pub(crate) fn set_tag(header: &mut Header, tag: u8) {
    match &mut header.body {
        Body::Memory(r) => r.tag = tag,
        Body::Config(r) => r.tag = tag,
        Body::Completion(_) | Body::Message(_) => {}
    }
}

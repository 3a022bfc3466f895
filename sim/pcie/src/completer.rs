//! Answers to the device's reads: data from host memory, cut at the read completion boundary, in an order
//! that the seed chooses (PCI Express Base Specification, sections 2.3.1.1 and 2.4.1).

use crate::pool::Pool;
use crate::rules::Limits;
use crate::settings::{Settings, Splits};
use crate::tlp::{Bdf, Body, Completion, Header, MemoryRequest, Status, Tlp};
use fastrand::Rng;

/// A fault in the answer to a read of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadFault {
    /// A completion with status UR and no data.
    UnsupportedRequest,
    /// A completion with status CA and no data.
    CompleterAbort,
    /// The data comes with EP set.
    Poisoned,
    /// The first completion says 4 bytes more than remain.
    WrongByteCount,
    /// No completion ever comes.
    Never,
    /// There also comes a completion for a tag that is not outstanding.
    Unexpected,
    /// The last completion comes twice.
    Duplicate,
}

impl ReadFault {
    /// Every fault.
    pub const ALL: [Self; 7] = [
        Self::UnsupportedRequest,
        Self::CompleterAbort,
        Self::Poisoned,
        Self::WrongByteCount,
        Self::Never,
        Self::Unexpected,
        Self::Duplicate,
    ];
}

/// A completion to send, and whether it is the last of its request.
pub(crate) struct Answer {
    pub tlp: Tlp,
    pub closes: bool,
    pub ready_at: u64,
}

/// A read whose answer is not complete.
#[derive(Debug)]
struct Pending {
    /// Header of the request, for tag, requester and attributes.
    request: Header,
    /// First byte not yet answered; the whole request is `bytes` long.
    address: u64,
    remaining: u16,
    status: Status,
    fault: Option<ReadFault>,
    /// Not one of the device's requests: it closes no tag.
    stray: bool,
    ready_at: u64,
    /// The data from the first byte that counts; `bytes - remaining` of them are answered.
    data: Vec<u8>,
}

/// Reads that wait for their completions.
#[derive(Debug)]
pub(crate) struct Completer {
    host: Bdf,
    boundary: u16,
    splits: Splits,
    reorder: bool,
    jitter: u64,
    rng: Rng,
    pending: Vec<Pending>,
}

impl Completer {
    pub fn new(settings: &Settings) -> Self {
        Self {
            host: settings.host,
            boundary: settings.read_completion_boundary,
            splits: settings.splits,
            reorder: settings.reorder,
            jitter: u64::from(settings.host_jitter_ns) * 1000,
            rng: Rng::with_seed(settings.seed),
            pending: Vec::new(),
        }
    }

    /// Takes a read that arrived at `at`. `data` is what memory holds from its first enabled byte, empty
    /// if `status` is not success.
    pub fn add(
        &mut self,
        at: u64,
        request: Header,
        data: Vec<u8>,
        status: Status,
        fault: Option<ReadFault>,
    ) {
        let Some((address, remaining)) = request.enabled_bytes() else {
            return;
        };
        let status = match fault {
            Some(ReadFault::UnsupportedRequest) => Status::UnsupportedRequest,
            Some(ReadFault::CompleterAbort) => Status::CompleterAbort,
            _ => status,
        };
        let ready_at = at
            + if self.jitter > 0 {
                self.rng.u64(0..=self.jitter)
            } else {
                0
            };
        self.pending.push(Pending {
            request,
            address,
            remaining,
            status,
            fault,
            stray: false,
            ready_at,
            data,
        });
    }

    /// Adds a completion of one DW that nobody asked for, to `tag`.
    pub fn add_stray(&mut self, at: u64, requester: Bdf, tag: u8) {
        let request = Header::memory_read(requester, tag, 0, 4);
        self.add(at, request, vec![0; 4], Status::Success, None);
        if let Some(stray) = self.pending.last_mut() {
            stray.stray = true;
        }
    }

    /// When the next completion can be sent, in ps.
    pub fn next_event(&self) -> u64 {
        if self.reorder {
            self.pending
                .iter()
                .map(|p| p.ready_at)
                .min()
                .unwrap_or(u64::MAX)
        } else {
            self.pending.first().map_or(u64::MAX, |p| p.ready_at)
        }
    }

    /// The next completion that is ready by `now`. Its payload comes from `pool`, and the
    /// request's data goes back there when it is done.
    pub fn next(&mut self, now: u64, limits: &Limits, pool: &mut Pool) -> Option<Answer> {
        let index = if self.reorder {
            let ready = |p: &&Pending| p.ready_at <= now;
            let count = self.pending.iter().filter(ready).count();
            let nth = if count > 1 {
                self.rng.usize(0..count)
            } else {
                0
            };
            self.pending
                .iter()
                .enumerate()
                .filter(|(_, p)| p.ready_at <= now)
                .nth(nth)?
                .0
        } else {
            self.pending.first().filter(|p| p.ready_at <= now)?;
            0
        };
        let success = self.pending[index].status == Status::Success;
        let chunk = if success {
            self.chunk(index, limits)
        } else {
            0
        };
        let pending = &mut self.pending[index];
        let tlp = pending.completion(self.host, chunk, pool.take());
        let (ready_at, stray) = (pending.ready_at, pending.stray);
        let last = !success || chunk == pending.remaining;
        if last && pending.fault == Some(ReadFault::Duplicate) {
            pending.fault = None;
            pending.stray = true;
            return Some(Answer {
                tlp,
                closes: true,
                ready_at,
            });
        }
        if last {
            pool.give(self.pending.remove(index).data);
        } else {
            pending.address += u64::from(chunk);
            pending.remaining -= chunk;
        }
        Some(Answer {
            tlp,
            closes: last && !stray,
            ready_at,
        })
    }

    /// How many bytes the next completion of a request answers.
    fn chunk(&mut self, index: usize, limits: &Limits) -> u16 {
        let Pending {
            address, remaining, ..
        } = self.pending[index];
        let boundary = u64::from(self.boundary);
        let start = address & !3;
        let end = address + u64::from(remaining);
        // Completion boundaries where the completion may end within Max_Payload_Size.
        let first = start - start % boundary + boundary;
        let limit = start + u64::from(limits.max_payload.max(self.boundary));
        let fits = if first <= limit {
            (limit - first) / boundary + 1
        } else {
            0
        };
        let useful = end.saturating_sub(first).div_ceil(boundary);
        let to = match self.splits {
            Splits::Largest if end <= limit => end,
            Splits::Largest => first + (fits - 1) * boundary,
            Splits::Random => {
                let choices = fits.min(useful + 1).max(1);
                (first + self.rng.u64(0..choices) * boundary).min(end)
            }
        };
        (to.min(end) - address) as u16
    }

    pub fn clear(&mut self) {
        self.pending.clear();
    }
}

impl Pending {
    /// The completion of the next `chunk` bytes.
    fn completion(&mut self, host: Bdf, chunk: u16, mut payload: Vec<u8>) -> Tlp {
        let (requester, tag) = match self.request.body {
            Body::Memory(MemoryRequest { requester, tag, .. }) => (requester, tag),
            _ => (host, 0),
        };
        let data = self.status == Status::Success;
        let mut byte_count = self.remaining;
        let mut poisoned = false;
        let mut length = 0;
        if data {
            let low = (self.address & 3) as usize;
            let size = (low + usize::from(chunk)).next_multiple_of(4);
            let done = self.data.len() - usize::from(self.remaining);
            payload.resize(size, 0);
            payload[low..low + usize::from(chunk)]
                .copy_from_slice(&self.data[done..done + usize::from(chunk)]);
            length = (size / 4) as u16;
            match self.fault {
                Some(ReadFault::Poisoned) => poisoned = true,
                Some(ReadFault::WrongByteCount) => {
                    byte_count += 4;
                    self.fault = None;
                }
                _ => {}
            }
        }
        let completion = Completion {
            completer: host,
            status: self.status,
            byte_count,
            requester,
            tag,
            lower_address: (self.address & 0x7F) as u8,
            data,
        };
        let mut header = Header::new(length, Body::Completion(completion));
        header.traffic_class = self.request.traffic_class;
        header.attributes = self.request.attributes;
        header.poisoned = poisoned;
        Tlp { header, payload }
    }
}

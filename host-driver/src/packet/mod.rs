//! A received packet, who classified it, and where it goes.

use std::fmt;

use ferronic_contract::class::Class;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::status::SPLIT;

use crate::features::Features;
use crate::pool::Buffer;

mod fields;
mod segments;
mod verdict;

pub use fields::RssHash;
pub use segments::Segment;
pub(crate) use segments::{Rest, Spare};
pub(crate) use verdict::{Case, Verdict};

/// Where packets go.
pub trait Sink {
    /// Takes a packet. Dropping it gives its buffers back to the pool; keeping it, or a buffer of it, keeps the buffer
    /// out until it is dropped.
    fn deliver(&mut self, packet: Packet);

    /// Whether it will look at the header of the packet that this completion begins, so that
    /// [prefetching](crate::policy::Prefetch::Wanted) it is worth its while. The completion has not been checked yet.
    #[inline]
    fn wants_header(&self, completion: &RxCompletion) -> bool {
        let _ = completion;
        true
    }
}

impl<F: FnMut(Packet)> Sink for F {
    fn deliver(&mut self, packet: Packet) {
        self(packet);
    }
}

/// Who classified a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The core, in the status bits: the driver has not touched the header.
    Status,
    /// The driver, by `eth_type_trans()`'s rule on the header.
    Software,
}

/// A frame whose buffers are all there.
pub(crate) struct Frame {
    /// The completion of the first buffer.
    pub(crate) completion: RxCompletion,
    pub(crate) first: Segment,
    pub(crate) rest: Option<Rest>,
    pub(crate) prefetched_ahead: bool,
}

/// Where a packet comes from, and so what its completion says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) queue: u8,
    pub(crate) format: Format,
    pub(crate) features: Features,
}

/// A received packet, which owns its buffers.
///
/// What the completion says of it is in methods: each answers `None` where the core does not say it, because the build
/// lacks the block, the queue's completion format has no place for it, or the core does not vouch for it.
pub struct Packet {
    first: Segment,
    rest: Option<Rest>,
    origin: Origin,
    /// Whether the address filter is still the one that the frame was compared with.
    current: bool,
    /// What the core wrote with the first buffer: LENGTH is that of this buffer. Its DST, L2, VLAN and protocol are to be
    /// trusted only on [`Path::Status`].
    pub completion: RxCompletion,
    /// What the link layer says of the packet.
    pub class: Class,
    /// Who said so.
    pub path: Path,
    /// Whether the header was prefetched while the packet before was being handled.
    pub prefetched_ahead: bool,
}

impl Packet {
    /// A packet that was classified. Inlined, so that it is made where the sink finds it: to move so many small fields costs
    /// more than all else in delivering it.
    #[inline(always)]
    pub(crate) fn new(frame: Frame, origin: Origin, verdict: Verdict) -> Self {
        let Frame { completion, first, rest, prefetched_ahead } = frame;
        let Verdict { class, path, current } = verdict;
        Self { first, rest, origin, current, completion, class, path, prefetched_ahead }
    }

    /// The bytes of the first segment: the whole frame, from the destination address on and without FCS, unless it came
    /// in several.
    pub fn bytes(&self) -> &[u8] {
        self.first.bytes()
    }

    /// Bytes of the frame.
    pub fn length(&self) -> u16 {
        self.segments().map(|segment| segment.length).sum()
    }

    /// Whether the frame came in several segments.
    pub fn is_scattered(&self) -> bool {
        self.rest.is_some()
    }

    /// The frame's segments, in order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        std::iter::once(&self.first).chain(self.rest.iter().flat_map(Rest::segments))
    }

    /// The header, when the core placed it in a buffer of its own. The payload is what is behind it.
    pub fn split_header(&self) -> Option<&[u8]> {
        (self.completion.status.get(SPLIT) == 1 && self.rest.is_some()).then(|| self.first.bytes())
    }

    /// The first buffer, with the frame at offset 0. Buffers behind it go back to the pool.
    pub fn into_buffer(self) -> Buffer {
        self.first.buffer
    }

    /// Gives every segment to `take`, in order.
    pub fn into_segments(self, mut take: impl FnMut(Segment)) {
        take(self.first);
        if let Some(mut rest) = self.rest {
            rest.drain().for_each(take);
        }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("queue", &self.origin.queue)
            .field("completion", &self.completion)
            .field("class", &self.class)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

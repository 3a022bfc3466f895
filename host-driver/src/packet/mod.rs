//! A received packet, who classified it, and where it goes.

use std::fmt;

use ferronic_contract::class::{classify, Class, Mac};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::queue::Format;
use ferronic_contract::registers::FEATURE_STRIP;
use ferronic_contract::status::{SPLIT, STRIPPED};

use crate::features::Features;
use crate::pool::Buffer;
use crate::station::Station;

mod fields;
mod segments;

pub use fields::RssHash;
pub use segments::Segment;
pub(crate) use segments::{Rest, Spare};

/// First bytes of a frame that the link layer's rule looks at: addresses, two VLAN tags and what is behind them.
const HEAD: usize = 24;

/// Where packets go.
pub trait Sink {
    /// Takes a packet. Dropping it gives its buffers back to the pool; keeping it, or a buffer of it, keeps the buffer
    /// out until it is dropped.
    fn deliver(&mut self, packet: Packet);

    /// Whether it will look at the header of the packet that this completion begins, so that
    /// [prefetching](crate::policy::Prefetch::Wanted) it is worth its while.
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
    /// A packet that is classified by the status bits if they can be trusted and `software` is not asked for, else by
    /// software; `None` when it is too short for that.
    #[inline]
    pub(crate) fn new(frame: Frame, origin: Origin, station: &Station, software: bool) -> Option<Self> {
        let Frame { completion, first, rest, prefetched_ahead } = frame;
        let (own, epoch) = station.get();
        let current = completion.status.epoch() == epoch;
        let (class, path) = match class_of(&completion) {
            Some(class) if current && !software => (class, Path::Status),
            _ => (read_class(&first, rest.as_ref(), stripped(&completion, &origin), &own)?, Path::Software),
        };
        Some(Self { first, rest, origin, current, completion, class, path, prefetched_ahead })
    }

    /// Reads the header of a packet that was classified by the status bits; false when it says something else, which is
    /// then believed.
    pub(crate) fn recheck(&mut self, station: &Station) -> bool {
        let stripped = stripped(&self.completion, &self.origin);
        let read = read_class(&self.first, self.rest.as_ref(), stripped, &station.get().0);
        match read {
            Some(class) if class != self.class => {
                (self.class, self.path) = (class, Path::Software);
                false
            }
            _ => true,
        }
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

/// What the status bits say, when the core vouches for them.
fn class_of(completion: &RxCompletion) -> Option<Class> {
    let status = completion.status;
    if !status.classified() || status.vlan_tags() > 2 {
        return None;
    }
    Some(Class {
        destination: status.destination(),
        protocol: completion.protocol,
        l2: status.l2()?,
        vlan_tags: status.vlan_tags(),
    })
}

/// Whether the core took the outer tag out. It says so whether or not it vouches for the classification.
fn stripped(completion: &RxCompletion, origin: &Origin) -> bool {
    origin.features.has(FEATURE_STRIP) && completion.status.get(STRIPPED) == 1
}

/// What the header says. A tag that was taken out counts as a tag seen.
fn read_class(first: &Segment, rest: Option<&Rest>, stripped: bool, own: &Mac) -> Option<Class> {
    let class = if rest.is_some() && first.bytes().len() < HEAD {
        let mut head = [0; HEAD];
        let segments = std::iter::once(first).chain(rest.into_iter().flat_map(Rest::segments));
        let bytes = segments.flat_map(Segment::bytes);
        let length = head.iter_mut().zip(bytes).map(|(place, byte)| *place = *byte).count();
        classify(&head[..length], own)?
    } else {
        classify(first.bytes(), own)?
    };
    Some(Class { vlan_tags: (class.vlan_tags + u8::from(stripped)).min(2), ..class })
}

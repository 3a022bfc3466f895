//! Who and what a packet is for: what the status bits say, what the header says, and which of the two is believed.

use ferronic_contract::class::{classify, Class};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::registers::FEATURE_STRIP;
use ferronic_contract::status::STRIPPED;

use super::{Origin, Path, Rest, Segment};
use crate::station::Station;

/// First bytes of a frame that the link layer's rule looks at: addresses, two VLAN tags and what is behind them.
const HEAD: usize = 24;

/// What the link layer says of a packet.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    pub(crate) class: Class,
    pub(crate) path: Path,
    /// Whether the address filter is still the one that the frame was compared with.
    pub(crate) current: bool,
}

/// A packet that is to be classified.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) completion: &'a RxCompletion,
    pub(crate) first: &'a Segment,
    pub(crate) rest: Option<&'a Rest>,
    pub(crate) origin: &'a Origin,
    pub(crate) station: &'a Station,
}

impl Case<'_> {
    /// The status bits' answer if they can be trusted and `software` is not asked for, else the header's; `None` when that
    /// is too short.
    #[inline]
    pub(crate) fn classify(&self, software: bool) -> Option<Verdict> {
        let current = self.completion.status.epoch() == self.station.epoch();
        match class_of(self.completion) {
            Some(class) if current && !software => Some(Verdict { class, path: Path::Status, current }),
            _ => Some(Verdict { class: self.read()?, path: Path::Software, current }),
        }
    }

    /// What the header says, which is believed, when it is something else than the status bits' answer.
    pub(crate) fn disagreement(&self, said: Class) -> Option<Class> {
        self.read().filter(|class| *class != said)
    }

    /// What the header says. A tag that was taken out counts as a tag seen.
    fn read(&self) -> Option<Class> {
        let (own, _) = self.station.get();
        let class = if self.rest.is_some() && self.first.bytes().len() < HEAD {
            let mut head = [0; HEAD];
            let segments = std::iter::once(self.first).chain(self.rest.into_iter().flat_map(Rest::segments));
            let bytes = segments.flat_map(Segment::bytes);
            let length = head.iter_mut().zip(bytes).map(|(place, byte)| *place = *byte).count();
            classify(&head[..length], &own)?
        } else {
            classify(self.first.bytes(), &own)?
        };
        let stripped = stripped(self.completion, self.origin);
        Some(Class { vlan_tags: (class.vlan_tags + u8::from(stripped)).min(2), ..class })
    }
}

/// What the status bits say, when the core vouches for them.
#[inline]
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
pub(super) fn stripped(completion: &RxCompletion, origin: &Origin) -> bool {
    origin.features.has(FEATURE_STRIP) && completion.status.get(STRIPPED) == 1
}

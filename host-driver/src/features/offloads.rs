//! Offloads, and which go together. Free of hardware.
//!
//! The rules are those by which Linux fixes the features of a device: `netdev_fix_features()` in net/core/dev.c, and in
//! the kernels up to 3.9 `register_netdevice()`, which also tied scatter-gather to checksums. An offload that is refused
//! is left out, and said why; what needs it goes with it.

use std::fmt;

use ferronic_contract::registers::{FEATURE_CHECKSUM, FEATURE_RSS, FEATURE_STRIP};

use super::Features;

/// Work that a device does for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Offload {
    /// Checks the checksums of received packets.
    RxChecksum,
    /// Hashes received packets.
    RxHash,
    /// Takes the outer VLAN tag out of received packets.
    RxVlan,
    /// Puts the checksums into packets to send.
    TxChecksum,
    /// Gathers a packet to send from several places (SG).
    ScatterGather,
    /// Cuts a large packet to send into TCP segments (TSO).
    Segmentation,
}

impl Offload {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::RxChecksum, Self::RxHash, Self::RxVlan, Self::TxChecksum, Self::ScatterGather, Self::Segmentation];

    /// Its name in `ethtool -k`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RxChecksum => "rx-checksumming",
            Self::RxHash => "receive-hashing",
            Self::RxVlan => "rx-vlan-offload",
            Self::TxChecksum => "tx-checksumming",
            Self::ScatterGather => "scatter-gather",
            Self::Segmentation => "tcp-segmentation-offload",
        }
    }
}

/// One offload needs another.
struct Rule {
    offload: Offload,
    needs: Offload,
    because: &'static str,
}

/// In such an order that what a rule takes away is gone before another asks for it.
const RULES: [Rule; 3] = [
    Rule {
        offload: Offload::ScatterGather,
        needs: Offload::TxChecksum,
        because: "software would have to read every piece for the checksum, and pieces can change before they are sent",
    },
    Rule {
        offload: Offload::Segmentation,
        needs: Offload::ScatterGather,
        because: "headers and the payload to cut are in different places",
    },
    Rule {
        offload: Offload::Segmentation,
        needs: Offload::TxChecksum,
        because: "every segment has a checksum of its own",
    },
];

/// A set of offloads.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Offloads(u8);

impl Offloads {
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether one is in it.
    pub const fn has(self, offload: Offload) -> bool {
        self.0 & 1 << offload as u8 != 0
    }

    /// The set with one more.
    #[must_use]
    pub const fn with(self, offload: Offload) -> Self {
        Self(self.0 | 1 << offload as u8)
    }

    /// The set with one fewer.
    #[must_use]
    pub const fn without(self, offload: Offload) -> Self {
        Self(self.0 & !(1 << offload as u8))
    }

    /// Those that are in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in the set.
    pub fn iter(self) -> impl Iterator<Item = Offload> {
        Offload::ALL.into_iter().filter(move |&offload| self.has(offload))
    }

    /// What comes of wishes on a device that offers `offered`, and what was refused why.
    pub fn settle(self, offered: Self) -> (Self, Vec<Refusal>) {
        let mut granted = self.and(offered);
        let missing = self.iter().filter(|&offload| !offered.has(offload));
        let mut refused: Vec<_> = missing.map(|offload| Refusal { offload, why: Why::NotOffered }).collect();
        for Rule { offload, needs, because } in RULES {
            if granted.has(offload) && !granted.has(needs) {
                granted = granted.without(offload);
                refused.push(Refusal { offload, why: Why::Needs { needs, because } });
            }
        }
        (granted, refused)
    }

    /// What a bond of ports offers: what all of them do, since any may have to take any packet. Linux's bonding computes
    /// it in the same way (`bond_compute_features()` in bond_main.c, `netdev_increment_features()` in net/core/dev.c),
    /// but offers more where software can stand in for a port. A bond of no ports offers nothing.
    pub fn shared(ports: impl IntoIterator<Item = Self>) -> Self {
        let shared = ports.into_iter().reduce(Self::and).unwrap_or_default();
        shared.settle(shared).0
    }
}

impl FromIterator<Offload> for Offloads {
    fn from_iter<I: IntoIterator<Item = Offload>>(offloads: I) -> Self {
        offloads.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Offloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// An offload that was asked for and cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is refused: {why}", offload.name())]
pub struct Refusal {
    /// Which.
    pub offload: Offload,
    /// Why.
    pub why: Why,
}

/// Why an offload was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The device cannot do it.
    #[error("the device does not offer it")]
    NotOffered,
    /// It needs another, which is not there.
    #[error("it needs {}, because {because}", needs.name())]
    Needs {
        /// What it needs.
        needs: Offload,
        /// The reason.
        because: &'static str,
    },
}

impl Features {
    /// What this build of the core can take over. Today's core has none on the TX side.
    pub fn offloads(&self) -> Offloads {
        let blocks = [
            (FEATURE_CHECKSUM, Offload::RxChecksum),
            (FEATURE_RSS, Offload::RxHash),
            (FEATURE_STRIP, Offload::RxVlan),
        ];
        blocks.into_iter().filter(|&(block, _)| self.has(block)).map(|(_, offload)| offload).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Offload::{RxHash, ScatterGather, Segmentation, TxChecksum};
    use super::*;
    use proptest::prelude::*;

    fn set(offloads: &[Offload]) -> Offloads {
        offloads.iter().copied().collect()
    }

    fn all() -> Offloads {
        set(&Offload::ALL)
    }

    /// Catches: a rule that is missing, or looks before another has taken away what it needs.
    #[test]
    fn what_needs_something_goes_with_it() {
        let (granted, refused) = all().without(TxChecksum).settle(all());
        assert_eq!(granted, all().without(TxChecksum).without(ScatterGather).without(Segmentation));
        assert_eq!(refused.iter().map(|r| r.offload).collect::<Vec<_>>(), [ScatterGather, Segmentation]);
        let (granted, refused) = set(&[Segmentation, TxChecksum, RxHash]).settle(all());
        assert_eq!((granted, refused.len()), (set(&[TxChecksum, RxHash]), 1));
        assert_eq!(set(&[ScatterGather, TxChecksum]).settle(all()), (set(&[ScatterGather, TxChecksum]), Vec::new()));
    }

    #[test]
    fn refusals_are_explained_in_words() {
        let (_, refused) = set(&[ScatterGather, TxChecksum]).settle(set(&[ScatterGather]));
        let words: Vec<_> = refused.iter().map(Refusal::to_string).collect();
        assert_eq!(words[0], "tx-checksumming is refused: the device does not offer it");
        assert!(words[1].starts_with("scatter-gather is refused: it needs tx-checksumming, because software"), "{words:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every wish is granted or refused, never both; what is granted keeps every rule and settles to itself.
        #[test]
        fn settling_is_whole_and_final(wanted in 0..64u8, offered in 0..64u8) {
            let (wanted, offered) = (Offloads(wanted), Offloads(offered));
            let (granted, refused) = wanted.settle(offered);
            prop_assert_eq!(granted.and(wanted).and(offered), granted);
            for offload in wanted.iter() {
                let times = refused.iter().filter(|refusal| refusal.offload == offload).count();
                prop_assert_eq!(times, usize::from(!granted.has(offload)));
            }
            prop_assert!(!granted.has(ScatterGather) || granted.has(TxChecksum));
            prop_assert!(!granted.has(Segmentation) || granted.has(ScatterGather));
            prop_assert_eq!(granted.settle(offered), (granted, Vec::new()));
        }

        /// A bond offers no more than each port, no less than all, and whatever the order of the ports.
        #[test]
        fn a_bond_offers_what_all_ports_share(mut ports in prop::collection::vec(0..64u8, 1..5)) {
            let of = |ports: &[u8]| Offloads::shared(ports.iter().map(|&port| Offloads(port).settle(all()).0));
            let shared = of(&ports);
            for offload in Offload::ALL {
                let everywhere = ports.iter().all(|&port| Offloads(port).settle(all()).0.has(offload));
                prop_assert_eq!(shared.has(offload), everywhere);
            }
            ports.reverse();
            prop_assert_eq!(of(&ports), shared);
        }
    }

    #[test]
    fn a_bond_of_nothing_offers_nothing() {
        assert_eq!(Offloads::shared([]), Offloads::NONE);
    }
}

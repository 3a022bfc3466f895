//! Which headers are asked for before they are touched.
//!
//! A header that the device has just written is not in the CPU's cache, and the first look at it waits for memory. A
//! prefetch hides that behind other work, if there is enough of it in between, and costs a little where nobody looks.
//!
//! Where they come from: e1000, igb and ixgbe prefetch the current header, the "obvious" place; ixy and DPDK's ixgbe
//! prefetch the next packet's while the one before is handled; mlx5's and DPDK's vector paths go through a batch of
//! completions first. That a consumer may never touch the header is what the status bits are for.

/// Which headers are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// None.
    Off,
    /// Each packet's own, when its turn comes.
    Current,
    /// The next packet's, if its completion is there.
    Next,
    /// All of a batch, before the first packet of it is handled.
    TwoPass,
    /// The next packet's, if its completion is there and the header will be touched: by the
    /// [sink](crate::packet::Sink::wants_header), by classification in software, or by copying.
    #[default]
    Wanted,
}

/// How a policy goes through a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Course {
    /// Headers asked for before the first packet is handled.
    pub(crate) first: usize,
    /// Then, before each packet, the header so many packets on.
    pub(crate) distance: Option<usize>,
    /// Only headers that will be touched.
    pub(crate) wanted: bool,
}

impl Prefetch {
    pub(crate) const fn course(self) -> Course {
        match self {
            Self::Off => Course { first: 0, distance: None, wanted: false },
            Self::Current => Course { first: 0, distance: Some(0), wanted: false },
            Self::Next => Course { first: 1, distance: Some(1), wanted: false },
            Self::TwoPass => Course { first: usize::MAX, distance: None, wanted: false },
            Self::Wanted => Course { first: 1, distance: Some(1), wanted: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: a header left out, asked for twice, or asked for after its packet was handled.
    #[test]
    fn each_header_is_asked_for_once_and_in_time() {
        for (policy, lead) in
            [(Prefetch::Current, 0), (Prefetch::Next, 1), (Prefetch::TwoPass, usize::MAX), (Prefetch::Wanted, 1)]
        {
            let Course { first, distance, .. } = policy.course();
            for seen in 0..20 {
                let mut asked: Vec<(usize, usize)> = (0..seen.min(first)).map(|header| (header, 0)).collect();
                let steps = (0..seen).filter_map(|position| Some((position + distance?, position)));
                asked.extend(steps.filter(|(header, _)| *header < seen));
                asked.sort();
                let expected: Vec<_> = (0..seen).map(|header| (header, header.saturating_sub(lead))).collect();
                assert_eq!(asked, expected, "{policy:?}");
            }
        }
        assert_eq!(Prefetch::Off.course(), Course { first: 0, distance: None, wanted: false });
    }
}

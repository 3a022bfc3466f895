//! Who answers `eth_type_trans()`: for whom a packet is, and what it carries.
//!
//! Every Linux driver calls `eth_type_trans()` (net/ethernet/eth.c) for every packet, and so waits for the first line
//! of its header. Ferronic's status bits give the same answer in the completion, which has been read anyway. Where they
//! cannot be trusted, because the core did not classify the frame or compared it with an address that has changed since,
//! software decides under every policy.

use ferronic_contract::thresholds::OutOfRange;

use crate::queue::in_range;

/// Who answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Classify {
    /// The driver, from the header.
    Software,
    /// The core, in the status bits.
    #[default]
    Status,
    /// The core; of the packets that it classified, the driver reads the header too and compares. When they disagree,
    /// the header is believed and the packet is counted.
    Sampled {
        /// One packet in so many is checked, from 1 on.
        every: u32,
    },
}

impl Classify {
    /// Refuses a sample of none.
    pub(crate) fn check(self) -> Result<(), OutOfRange> {
        match self {
            Self::Sampled { every } => in_range("packets per checked packet", every, 1, u32::MAX),
            Self::Software | Self::Status => Ok(()),
        }
    }
}

/// Picks one packet of so many.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    passed: u32,
}

impl Sample {
    /// Whether this packet, classified by the core, is to be checked.
    #[inline]
    pub(crate) fn picks(&mut self, policy: Classify) -> bool {
        let Classify::Sampled { every } = policy else { return false };
        self.passed += 1;
        let picked = self.passed >= every;
        if picked {
            self.passed = 0;
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: a sample one too early or late, and one that stops after a change of the rate.
    #[test]
    fn one_of_so_many_is_picked() {
        let mut sample = Sample::default();
        let mut picks = |policy, count| (0..count).filter(|_| sample.picks(policy)).count();
        assert_eq!(picks(Classify::Sampled { every: 1 }, 10), 10);
        assert_eq!(picks(Classify::Sampled { every: 4 }, 3), 0);
        assert_eq!(picks(Classify::Sampled { every: 4 }, 1), 1);
        assert_eq!(picks(Classify::Status, 10) + picks(Classify::Software, 10), 0);
        assert_eq!(picks(Classify::Sampled { every: 100 }, 99), 0);
        assert_eq!(picks(Classify::Sampled { every: 2 }, 5), 3, "at once, then every second");
    }
}

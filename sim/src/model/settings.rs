//! What software has set up, and the registers by which it does.

use ferronic_contract::class::Mac;
use ferronic_contract::registers::{self, FILTER, MSIX_TABLE};

use super::filter::Filters;

/// What software has set up that shows in what becomes of a frame.
#[derive(Clone)]
pub struct Settings {
    /// The register FEATURES: what a build leaves out has no effect, and reads 0 in completions.
    pub features: u32,
    /// Own address.
    pub own: Mac,
    /// Epoch of the address filter.
    pub epoch: u8,
    /// The register RX_MODE.
    pub mode: u32,
    /// The register RSS.
    pub rss: u32,
    /// The register HASH_FILTER.
    pub hash_filter: u32,
    /// The register FLOW.
    pub flow: u32,
    /// Filter tables, and the indirection table.
    pub filters: Filters,
    /// The register MAC_LOW, which counts with the next write of MAC_HIGH.
    pub mac_low: u32,
}

/// Every feature.
pub const ALL_FEATURES: u32 = registers::FEATURES.bits();

impl Default for Settings {
    /// After reset, in a build with everything.
    fn default() -> Self {
        Self {
            features: ALL_FEATURES,
            own: [0; 6],
            epoch: 0,
            mode: registers::PROMISCUOUS.mask(),
            rss: 0,
            hash_filter: 0,
            flow: 0,
            filters: Filters::default(),
            mac_low: 0,
        }
    }
}

impl Settings {
    /// Software writes a register of BAR 0. Whether it is one of those behind the settings, so that they may be others now.
    /// A reset is not in it: it is for who knows what else is reset.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let plain = [
            (registers::MAC_LOW, &mut self.mac_low),
            (registers::RX_MODE, &mut self.mode),
            (registers::RSS, &mut self.rss),
            (registers::HASH_FILTER, &mut self.hash_filter),
            (registers::FLOW, &mut self.flow),
        ];
        let named = plain.into_iter().find(|(register, _)| register.offset == offset);
        if let Some((register, place)) = named {
            *place = value & register.bits();
            return true;
        }
        if offset == registers::MAC_HIGH.offset {
            let [a, b, c, d] = self.mac_low.to_le_bytes();
            let [e, f, ..] = registers::MAC_45.of(value).to_le_bytes();
            self.own = [a, b, c, d, e, f];
            self.epoch = registers::MAC_EPOCH.of(value) as u8;
            return true;
        }
        if !(FILTER..MSIX_TABLE).contains(&offset) {
            return false;
        }
        let epoch = self.filters.write(offset - FILTER, value);
        self.epoch = epoch.unwrap_or(self.epoch);
        // Staging a row changes nothing yet.
        offset - FILTER >= registers::filter::COMMIT.offset
    }
}

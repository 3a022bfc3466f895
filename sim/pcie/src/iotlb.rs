//! Translation of the device's addresses: a few pages are known, any other has to be looked up first.
//!
//! A root complex with an IOMMU keeps the translations that it used last. A request to a page that is not among them
//! waits for a walk of the tables, and those behind it wait too, since posted requests keep their order (PCI Express Base
//! Specification, section 2.4.1).

use std::collections::VecDeque;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// How many translations are kept, and what a miss costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iotlb {
    /// Pages whose translation is kept, from 1 on; the one that was not used for longest makes room.
    pub entries: u16,
    /// Time of a walk of the tables, in ns.
    pub miss_ns: u32,
}

/// The translations that are kept.
#[derive(Debug)]
pub(crate) struct Translations {
    settings: Option<Iotlb>,
    /// The page used last is the last.
    pages: VecDeque<u64>,
    /// The request before was translated at this time, in ps.
    free_at: u64,
}

impl Translations {
    pub fn new(settings: Option<Iotlb>) -> Self {
        Self { settings, pages: VecDeque::new(), free_at: 0 }
    }

    /// When a request that arrives at `at` ps is translated, and how many of its pages missed.
    pub fn translate(&mut self, at: u64, address: u64, bytes: u64) -> (u64, u64) {
        let Some(Iotlb { entries, miss_ns }) = self.settings else { return (at, 0) };
        let mut misses = 0;
        for page in address / PAGE..=(address + bytes.max(1) - 1) / PAGE {
            if let Some(place) = self.pages.iter().position(|known| *known == page) {
                self.pages.remove(place);
            } else {
                misses += 1;
                if self.pages.len() == usize::from(entries) {
                    self.pages.pop_front();
                }
            }
            self.pages.push_back(page);
        }
        self.free_at = self.free_at.max(at) + misses * u64::from(miss_ns) * 1000;
        (self.free_at, misses)
    }

    /// What was on its way is lost; the tables are the same.
    pub fn clear(&mut self) {
        self.free_at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: a page forgotten too early or never, one that is not renewed by its use, requests that overtake.
    #[test]
    fn the_page_unused_for_longest_makes_room() {
        let mut translations = Translations::new(Some(Iotlb { entries: 2, miss_ns: 100 }));
        let mut ask = |at, page: u64| translations.translate(at, page * PAGE + 8, 16);
        assert_eq!(ask(0, 1), (100_000, 1));
        assert_eq!(ask(0, 2), (200_000, 1), "behind the one before");
        assert_eq!(ask(50_000, 1), (200_000, 0), "known, and yet not before those before it");
        assert_eq!(ask(300_000, 3), (400_000, 1), "2 makes room, not 1");
        assert_eq!(ask(500_000, 1), (500_000, 0));
        assert_eq!(ask(500_000, 2), (600_000, 1));
        assert_eq!(translations.translate(700_000, 9 * PAGE - 1, 2), (900_000, 2), "two pages");
    }

    #[test]
    fn without_translation_nothing_waits() {
        assert_eq!(Translations::new(None).translate(7, 123, 4), (7, 0));
    }
}

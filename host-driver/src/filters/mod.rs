//! Exact filters: frames with these fields go there, with this tag.
//!
//! The core looks at two buckets of its table for each *kind* of filter in use, a kind being which fields a filter names;
//! up to four kinds can be in use. Of two filters of different kinds that match the same frame, the one whose kind comes
//! first in [`Filters::kinds`] wins.
//!
//! Rows are written one at a time, each whole and under an epoch of its own. To make room, rows move to their other
//! bucket, and the copy is there before the original goes: at no moment is a filter absent.

use std::sync::Arc;

use ferronic_contract::registers::filter::{
    self, Action, COMMIT_EPOCH, COMMIT_ROW, ENTRY_WORDS, FILTERS, KINDS, ROWS, ROW_KIND,
};
use ferronic_contract::registers::FEATURE_FILTER;

use crate::device::Group;
use crate::error::Error;
use crate::features::Features;
use crate::station::Station;

mod rule;
mod table;

pub use rule::{Filter, Match, Target, Transport};
use table::{Row, Table};

/// A filter that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// It would match nothing in particular.
    #[error("a filter must name a field")]
    Empty,
    /// Its addresses are of two families.
    #[error("a filter's source and destination must both be IPv4 or both be IPv6")]
    Families,
    /// As many filters as software may count on.
    #[error("the filter table is full: {FILTERS} filters")]
    Full,
    /// Both of its buckets are full of rows that cannot move.
    #[error("the filter table has no place for this filter: its buckets, and all that could be moved to, are full")]
    NoPlace,
    /// Four kinds are in use.
    #[error("{KINDS} kinds of filter are in use, and this filter would be one more")]
    Kinds,
}

/// The exact filters of a device.
pub struct Filters {
    registers: Group,
    station: Arc<Station>,
    features: Features,
    queues: u8,
    /// Fields of each kind; 0 when not in use.
    kinds: [u32; KINDS],
    table: Table,
    /// Whether the core's table has been emptied: a reset leaves its rows as they were.
    emptied: bool,
}

impl Filters {
    pub(crate) fn new(registers: Group, station: Arc<Station>, features: Features, queues: u8) -> Self {
        Self { registers, station, features, queues, kinds: [0; KINDS], table: Table::default(), emptied: false }
    }

    /// The filters, in no set order.
    pub fn list(&self) -> impl Iterator<Item = &Filter> {
        self.table.rows().map(|row| &row.filter)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.table.rows().count()
    }

    /// The fields of each kind, as the contract's KIND register has them, in the order in which the core looks; 0 is a kind
    /// not in use.
    pub fn kinds(&self) -> [u32; KINDS] {
        self.kinds
    }

    /// Adds a filter. One with the same match takes the new target and tag in one step, and the old one comes back.
    ///
    /// # Errors
    ///
    /// The build has no filters; the filter makes no sense, its queue is not open, or there is no place for it. The others
    /// stay as they are.
    pub fn add(&mut self, filter: Filter) -> Result<Option<Filter>, Error> {
        self.features.need(FEATURE_FILTER, "an exact filter")?;
        filter.target.check(self.queues)?;
        let fields = filter.on.check()?;
        let in_use = self.kinds.iter().position(|&kind| kind == fields);
        let free = self.kinds.iter().position(|&kind| kind == 0);
        let kind = in_use.or(free).ok_or(FilterError::Kinds)?;
        let row = Row::new(filter, kind as u8);
        if let Some(slot) = self.table.find(&row) {
            self.write(slot, &row);
            return Ok(self.table.put(slot, row).map(|old| old.filter));
        }
        if self.count() == FILTERS {
            return Err(FilterError::Full.into());
        }
        let path = self.table.path(row.buckets).ok_or(FilterError::NoPlace)?;
        self.empty();
        if in_use.is_none() {
            self.set_kind(kind, fields);
        }
        // From the free slot back: each row is copied forward before its own slot is written over.
        for step in path.windows(2).rev() {
            if let Some(moved) = self.table.get(step[0]).cloned() {
                self.write(step[1], &moved);
                self.table.put(step[1], moved);
            }
        }
        self.write(path[0], &row);
        self.table.put(path[0], row);
        Ok(None)
    }

    /// Removes the filter with this match, and says what it was; `None` when there is none.
    pub fn remove(&mut self, on: &Match) -> Option<Filter> {
        let fields = on.check().ok()?;
        let kind = self.kinds.iter().position(|&kind| kind == fields)?;
        let wanted = Row::new(Filter { on: *on, target: Target::Rss, tag: 0 }, kind as u8);
        let slot = self.table.find(&wanted)?;
        let row = self.table.take(slot)?;
        self.commit(slot, row.key.row(row.kind, false, Action::Rss, 0, 0));
        if self.table.rows().all(|other| other.kind != row.kind) {
            self.set_kind(kind, 0);
        }
        Some(row.filter)
    }

    fn set_kind(&mut self, kind: usize, fields: u32) {
        self.kinds[kind] = fields;
        self.registers.write_word(filter::KIND, kind as u32, fields);
    }

    fn write(&self, slot: usize, row: &Row) {
        let Filter { target, tag, .. } = row.filter;
        self.commit(slot, row.key.row(row.kind, true, target.action(), target.queue(), tag));
    }

    /// Writes a row of the core's table, which takes it whole with the last write, under the next epoch.
    fn commit(&self, slot: usize, words: [u32; ENTRY_WORDS]) {
        for (number, word) in (0..).zip(words) {
            self.registers.write_word(filter::ENTRY, number, word);
        }
        let epoch = self.station.next_epoch();
        self.registers.write(filter::COMMIT, COMMIT_ROW.at(slot as u32) | COMMIT_EPOCH.at(epoch));
    }

    /// Makes sure, before the first filter, that no row is left over from a driver before. No kind is in use yet, so no frame
    /// is looked up and the epoch stays.
    fn empty(&mut self) {
        if std::mem::replace(&mut self.emptied, true) {
            return;
        }
        let (_, epoch) = self.station.get();
        for slot in 0..ROWS as u32 {
            self.registers.write_word(filter::ENTRY, ROW_KIND.word as u32, 0);
            self.registers.write(filter::COMMIT, COMMIT_ROW.at(slot) | COMMIT_EPOCH.at(epoch.into()));
        }
    }
}

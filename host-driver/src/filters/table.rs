//! The driver's copy of the core's table, and where a row can go.
//!
//! Cuckoo hashing (Pagh and Rodler, 2001): a row lies in one of two buckets of two slots. When all four are taken, the
//! shortest chain of moves, each row to its other bucket, that ends at a free slot makes room.

use std::collections::VecDeque;

use ferronic_contract::registers::filter::{Key, ROWS};

use super::rule::Filter;

/// Slots of a bucket.
const WAYS: usize = 2;

/// A row that is in use.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) filter: Filter,
    pub(super) kind: u8,
    pub(super) key: Key,
    pub(super) buckets: [u8; 2],
}

impl Row {
    pub(super) fn new(filter: Filter, kind: u8) -> Self {
        let key = filter.on.key();
        Self { filter, kind, key, buckets: key.buckets(kind) }
    }
}

/// The rows by slot.
pub(super) struct Table(Vec<Option<Row>>);

impl Default for Table {
    fn default() -> Self {
        Self(vec![None; ROWS])
    }
}

/// The slots of two buckets.
fn slots(buckets: [u8; 2]) -> impl Iterator<Item = usize> {
    buckets.into_iter().flat_map(|bucket| (0..WAYS).map(move |way| WAYS * usize::from(bucket) + way))
}

impl Table {
    /// Every row in use, once.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.iter().flatten()
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Row> {
        self.0[slot].as_ref()
    }

    /// Puts a row into a slot, in the place of what was there.
    pub(super) fn put(&mut self, slot: usize, row: Row) -> Option<Row> {
        self.0[slot].replace(row)
    }

    pub(super) fn take(&mut self, slot: usize) -> Option<Row> {
        self.0[slot].take()
    }

    /// The slot of the row with this row's kind and key.
    pub(super) fn find(&self, row: &Row) -> Option<usize> {
        let same = |other: &Row| other.kind == row.kind && other.key == row.key;
        slots(row.buckets).find(|&slot| self.get(slot).is_some_and(same))
    }

    /// The shortest way to a free slot: the first slot of the answer is one of these buckets', the row in each can move
    /// to the next, and the last is free. `None` when there is no such way.
    pub(super) fn path(&self, buckets: [u8; 2]) -> Option<Vec<usize>> {
        // Breadth first; a slot's parent is the one whose row would move here, its own for the first ones.
        let mut parents = [None; ROWS];
        let mut queue = VecDeque::new();
        for slot in slots(buckets) {
            parents[slot] = Some(slot);
            queue.push_back(slot);
        }
        while let Some(slot) = queue.pop_front() {
            let Some(row) = self.get(slot) else { return Some(trace(&parents, slot)) };
            for next in slots(row.buckets) {
                if parents[next].is_none() {
                    parents[next] = Some(slot);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

/// The way to a slot, from the first on.
fn trace(parents: &[Option<usize>; ROWS], last: usize) -> Vec<usize> {
    let mut path: Vec<usize> = std::iter::successors(Some(last), |&slot| parents[slot].filter(|&parent| parent != slot)).collect();
    path.reverse();
    path
}

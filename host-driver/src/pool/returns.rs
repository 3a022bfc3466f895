//! How things come home from other threads: in bulk, and without ever blocking the thread that owns them.
//!
//! A bounded queue between many givers and one owner. It holds at most as many things as the owner gave out, and has
//! room for them all from the start, so it is never full and never grows. The order does not matter, so it is one list
//! behind a lock: givers append, many things for one locking; the owner swaps the whole list for an empty one. The
//! owner only ever tries the lock, and when a giver has it, looks again next time. (Linux's page pool has a ring with a
//! lock on either side for the same purpose: `ptr_ring` in net/core/page_pool.c.)
//!
//! When the owner goes, it [closes](Returns::close) the queue, and what comes later stays with its giver. That is the only
//! time that it waits for the lock.

#[cfg(loom)]
use loom::sync::{
    atomic::{AtomicU32, Ordering},
    Mutex, MutexGuard,
};
#[cfg(not(loom))]
use std::sync::{
    atomic::{AtomicU32, Ordering},
    Mutex, MutexGuard,
};
use std::sync::TryLockError;

pub(super) struct Returns<T> {
    list: Mutex<List<T>>,
    /// How many wait: tells the owner without the lock that there is nothing.
    waiting: AtomicU32,
}

struct List<T> {
    things: Vec<T>,
    closed: bool,
}

impl<T> Returns<T> {
    /// A queue for `most` things.
    pub(super) fn new(most: u32) -> Self {
        let things = Vec::with_capacity(most as usize);
        Self { list: Mutex::new(List { things, closed: false }), waiting: AtomicU32::new(0) }
    }

    /// Gives one thing back.
    ///
    /// # Errors
    ///
    /// The owner is gone; the thing is the caller's.
    pub(super) fn give(&self, thing: T) -> Result<(), T> {
        let mut list = self.lock();
        if list.closed {
            return Err(thing);
        }
        list.things.push(thing);
        self.tell(&list);
        Ok(())
    }

    /// Gives many things back, for one locking. When the owner is gone they stay where they are.
    pub(super) fn give_all(&self, things: &mut Vec<T>) {
        let mut list = self.lock();
        if !list.closed {
            list.things.append(things);
            self.tell(&list);
        }
    }

    /// For the owner: takes all that came back, unless somebody is giving just now. `into` must be empty, and with room
    /// for as many as the queue holds.
    pub(super) fn collect(&self, into: &mut Vec<T>) {
        if self.waiting() == 0 {
            return;
        }
        // A giver that panicked holding the lock left the list whole: appending does not panic.
        let mut list = match self.list.try_lock() {
            Ok(list) => list,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        std::mem::swap(&mut list.things, into);
        self.tell(&list);
    }

    /// How many things wait for the owner.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// For the owner that goes: hands out what waits, and refuses what comes later.
    pub(super) fn close(&self) -> Vec<T> {
        let mut list = self.lock();
        list.closed = true;
        let things = std::mem::take(&mut list.things);
        self.tell(&list);
        things
    }

    fn tell(&self, list: &List<T>) {
        self.waiting.store(list.things.len() as u32, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, List<T>> {
        self.list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Every interleaving, by loom: `cargo xtask test --suite loom`.
#[cfg(all(test, loom))]
mod tests {
    use super::Returns;
    use loom::sync::Arc;
    use loom::thread;

    fn sorted(mut things: Vec<u32>) -> Vec<u32> {
        things.sort_unstable();
        things
    }

    /// Catches: a list swapped away under a giver; a count stored after the lock is free, so that things wait unseen.
    #[test]
    fn everything_comes_home_once() {
        loom::model(|| {
            let returns = Arc::new(Returns::new(3));
            let one = Arc::clone(&returns);
            let many = Arc::clone(&returns);
            let first = thread::spawn(move || one.give(1).unwrap());
            let second = thread::spawn(move || many.give_all(&mut vec![2, 3]));
            let mut home = Vec::new();
            let mut spare = Vec::with_capacity(3);
            returns.collect(&mut spare);
            home.append(&mut spare);
            first.join().unwrap();
            second.join().unwrap();
            returns.collect(&mut spare);
            home.append(&mut spare);
            assert_eq!(sorted(home), [1, 2, 3]);
            assert_eq!(returns.waiting(), 0);
        });
    }

    /// Catches: a thing given while the owner closes that ends up with neither, or with both.
    #[test]
    fn what_comes_after_closing_stays_with_the_giver() {
        loom::model(|| {
            let returns = Arc::new(Returns::new(3));
            let giver = Arc::clone(&returns);
            let giving = thread::spawn(move || {
                let mut kept = Vec::from_iter(giver.give(1).err());
                let mut many = vec![2, 3];
                giver.give_all(&mut many);
                kept.append(&mut many);
                kept
            });
            let mut all = returns.close();
            all.append(&mut giving.join().unwrap());
            assert_eq!(sorted(all), [1, 2, 3]);
            assert_eq!(returns.waiting(), 0);
        });
    }

    /// Catches: an owner that waits for the lock of a giver (loom would find the order in which both stand still).
    #[test]
    fn the_owner_goes_on_while_somebody_gives() {
        loom::model(|| {
            let returns = Arc::new(Returns::new(2));
            let giver = Arc::clone(&returns);
            let giving = thread::spawn(move || {
                giver.give(1).unwrap();
                giver.give(2).unwrap();
            });
            let mut spare = Vec::with_capacity(2);
            let mut home = Vec::new();
            for _ in 0..2 {
                returns.collect(&mut spare);
                home.append(&mut spare);
            }
            giving.join().unwrap();
            returns.collect(&mut spare);
            home.append(&mut spare);
            assert_eq!(home, [1, 2], "one giver's order is kept");
        });
    }
}

//! What a pool counts.

use std::cell::Cell;

use crate::statistics::counters;

counters! {
    /// What a pool has done, and the memory that it really uses.
    ///
    /// The last four are levels and not counters. `held_memory` against `held_bytes` is what Linux calls an skb's
    /// `truesize` against its length: a queue of small packets can hold many times its bytes in memory.
    PoolStatistics {
        /// Buffers taken.
        taken,
        /// Buffers taken whose memory had to be allocated and mapped first.
        allocated,
        /// Buffers taken whose memory was mapped already: `taken` less `allocated`.
        recycled,
        /// Times that no buffer could be had.
        empty,
        /// Buffers that came home from another thread.
        returned,
        /// Pages let go because the consumer held their other half.
        let_go,
        /// Bytes of packets received in buffers of the pool.
        bytes,
        /// Bytes of memory that the pool has, wherever its buffers are.
        memory,
        /// Buffers with a packet that is not back: the consumer has it, or the TX ring for it.
        held,
        /// Bytes of the packets in them.
        held_bytes,
        /// Bytes of memory that can be used for nothing else because of them.
        held_memory,
    }
}

/// The same, while it is counted. There is nothing to count for `recycled`.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) taken: Cell<u64>,
    pub(super) allocated: Cell<u64>,
    pub(super) empty: Cell<u64>,
    pub(super) returned: Cell<u64>,
    pub(super) let_go: Cell<u64>,
    pub(super) bytes: Cell<u64>,
    pub(super) memory: Cell<u64>,
    pub(super) held: Cell<u64>,
    pub(super) held_bytes: Cell<u64>,
    pub(super) held_memory: Cell<u64>,
}

/// Adds to a count.
#[inline]
pub(super) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}

/// Takes from a count what was added before.
#[inline]
pub(super) fn sub(count: &Cell<u64>, less: u64) {
    count.set(count.get() - less);
}

impl Counts {
    pub(super) fn read(&self) -> PoolStatistics {
        PoolStatistics {
            taken: self.taken.get(),
            allocated: self.allocated.get(),
            recycled: self.taken.get() - self.allocated.get(),
            empty: self.empty.get(),
            returned: self.returned.get(),
            let_go: self.let_go.get(),
            bytes: self.bytes.get(),
            memory: self.memory.get(),
            held: self.held.get(),
            held_bytes: self.held_bytes.get(),
            held_memory: self.held_memory.get(),
        }
    }
}

//! The host cost model: simulated time for what driver and stack do.
//!
//! The driver's code takes no simulated time by itself. Each kind of work is charged here instead, so that
//! drops, batching and interrupt moderation are the same in every run, to the cycle.

/// Simulated time for each kind of host work, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCost {
    /// From the interrupt message's arrival to the first line of the driver: delivery, wake-up, scheduling.
    pub interrupt_ns: u64,
    /// A posted register write, as seen by the CPU (the write itself travels on).
    pub register_write_ns: u64,
    /// A look at the ring: the fixed part of a poll.
    pub poll_ns: u64,
    /// A packet through driver and stack.
    pub packet_ns: u64,
    /// A packet handed to the TX ring.
    pub send_ns: u64,
}

impl Default for HostCost {
    /// A server of our day with a small stack: an interrupt 2 µs, a write 50 ns, a packet 150 ns.
    fn default() -> Self {
        Self { interrupt_ns: 2000, register_write_ns: 50, poll_ns: 50, packet_ns: 150, send_ns: 50 }
    }
}

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

/// What the stack above the driver adds to a packet's cost, by what came before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// What the first packet of a poll costs more, in nanoseconds: the stack's code and data are not in the caches any
    /// more.
    pub cold_ns: u64,
    /// Of so many packets, the last costs twice, since it is answered: 2 for a TCP that acknowledges every second segment
    /// (RFC 1122, 4.2.3.2). 0 is none.
    pub answer_every: u32,
}

/// Charges packets, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    packet_ns: u64,
    stack: Stack,
    packets: u64,
    cold: bool,
}

impl Meter {
    /// At the start.
    pub fn new(cost: HostCost, stack: Stack) -> Self {
        Self { packet_ns: cost.packet_ns, stack, packets: 0, cold: true }
    }

    /// A poll begins.
    pub fn poll(&mut self) {
        self.cold = true;
    }

    /// What the next packet costs, in nanoseconds.
    pub fn packet(&mut self) -> u64 {
        self.packets += 1;
        let every = u64::from(self.stack.answer_every);
        let answer = if every > 0 && self.packets.is_multiple_of(every) { self.packet_ns } else { 0 };
        let cold = if std::mem::take(&mut self.cold) { self.stack.cold_ns } else { 0 };
        self.packet_ns + answer + cold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches: an answer at every packet or none, a poll that is cold throughout, costs that multiply.
    #[test]
    fn answers_double_and_the_first_packet_of_a_poll_is_cold() {
        let mut meter = Meter::new(HostCost { packet_ns: 100, ..HostCost::default() }, Stack { cold_ns: 30, answer_every: 2 });
        let mut poll = |packets| {
            meter.poll();
            (0..packets).map(|_| meter.packet()).collect::<Vec<_>>()
        };
        assert_eq!(poll(4), [130, 200, 100, 200]);
        assert_eq!(poll(1), [130]);
        assert_eq!(poll(2), [230, 100], "an answer that is cold too");
        let mut plain = Meter::new(HostCost::default(), Stack::default());
        assert_eq!([plain.packet(), plain.packet()], [150, 150]);
    }
}

//! The root complex: a device's TLP streams on one side, host memory and the CPU on the other.
//!
//! ```text
//! device TX → framer → rules → transmit buffer → link → memory, interrupts, CPU reads
//! device RX ← beats ← link ← completions of the device's reads, requests of the CPU
//! ```
//!
//! Time is what [`RootComplex::clock`] says, once a device clock. Everything else follows from it: a TLP
//! leaves when credits and link allow, and arrives half the latency after its last byte.

use crate::iotlb::Translations;
use crate::completer::{Completer, ReadFault};
use crate::counters::Counters;
use crate::credits::Cost;
use crate::downstream::Downstream;
use crate::link::Wire;
use crate::memory::{Memory, MemoryFault};
use crate::pool::Pool;
use crate::requester::{FailedRequest, Requester};
use crate::rules::{Checker, Limits, Violation};
use crate::settings::{Settings, SettingsError};
use crate::stream::{Beat, Framer};
use crate::upstream::Upstream;
use fastrand::Rng;
use std::collections::VecDeque;

/// What the device sees in a clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct DeviceInputs<'a> {
    /// The beat on the stream to the device, valid when there is one.
    pub rx: Option<&'a Beat>,
    /// The root complex takes the beat that the device shows.
    pub tx_ready: bool,
    /// One more non-posted request is accepted. It falls only when one begins.
    pub np_ready: bool,
}

/// A message signalled interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt {
    /// When it arrived, in ps.
    pub at_ps: u64,
    /// Where it was written.
    pub address: u64,
    /// What was written.
    pub data: u32,
}

/// A root complex with one device behind one link.
#[derive(Debug)]
pub struct RootComplex {
    pub(crate) settings: Settings,
    pub(crate) now: u64,
    /// Nothing happens before this time, in ps, unless the device or the CPU does something.
    pub(crate) next_event: u64,
    pub(crate) wire: Wire,
    pub(crate) framer: Framer,
    /// The TLP that is coming in took a non-posted credit.
    pub(crate) framing_nonposted: bool,
    pub(crate) checker: Checker,
    pub(crate) upstream: Upstream,
    pub(crate) requester: Requester,
    pub(crate) completer: Completer,
    pub(crate) downstream: Downstream,
    pub(crate) pool: Pool,
    /// Stalls, gaps and random faults; apart from the completer's, so that one does not change the other.
    pub(crate) rng: Rng,
    tx_ready: bool,
    pub(crate) np_ready: bool,
    stall_clocks: u8,
    gap_clocks: u8,
    pub(crate) removed: bool,
    /// Offset of the PCI Express capability, once known.
    pub(crate) express: Option<u16>,
    pub(crate) next_faults: VecDeque<ReadFault>,
    pub(crate) random_faults: (u16, Vec<ReadFault>),
    pub(crate) interrupts: VecDeque<Interrupt>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) violation_count: u64,
    pub(crate) memory_faults: Vec<MemoryFault>,
}

impl RootComplex {
    /// A root complex at time 0, its device as after reset.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let latency = u64::from(settings.latency_ns) * 1000 / 2;
        let lanes = usize::from(settings.stream_bits / 32);
        Ok(Self {
            now: 0,
            next_event: 0,
            wire: Wire::new(settings.link, settings.dllp),
            framer: Framer::new(lanes),
            framing_nonposted: false,
            checker: Checker::new(settings.device),
            upstream: Upstream::new(
                latency,
                settings.transmit_buffer,
                settings.credits,
                Translations::new(settings.iotlb),
            ),
            requester: Requester::new(
                settings.host,
                u64::from(settings.completion_timeout_ns) * 1000,
            ),
            completer: Completer::new(&settings),
            downstream: Downstream::new(latency, lanes, settings.device_credits),
            pool: Pool::default(),
            rng: Rng::with_seed(!settings.seed),
            tx_ready: true,
            np_ready: true,
            stall_clocks: 0,
            gap_clocks: 0,
            removed: false,
            express: None,
            next_faults: VecDeque::new(),
            random_faults: (0, Vec::new()),
            interrupts: VecDeque::new(),
            violations: Vec::new(),
            violation_count: 0,
            memory_faults: Vec::new(),
            settings,
        })
    }

    /// What the device sees before the next clock edge.
    #[inline]
    pub fn outputs(&self) -> DeviceInputs<'_> {
        let rx = if self.downstream.valid {
            Some(&self.downstream.beat)
        } else {
            None
        };
        DeviceInputs {
            rx,
            tx_ready: self.tx_ready,
            np_ready: self.np_ready,
        }
    }

    /// A clock edge of the device at `now_ps`, which never goes back. `tx` is the beat that the device
    /// shows (valid), taken if `tx_ready` was set; `rx_ready` says that the device takes the beat it was
    /// shown, if any.
    #[inline]
    pub fn clock(
        &mut self,
        now_ps: u64,
        tx: Option<&Beat>,
        rx_ready: bool,
        memory: &mut impl Memory,
    ) {
        self.now = now_ps;
        let moves = tx.is_some() || rx_ready && self.downstream.valid;
        if moves || now_ps >= self.next_event {
            self.work(tx, rx_ready, memory);
        }
    }

    fn work(&mut self, tx: Option<&Beat>, rx_ready: bool, memory: &mut impl Memory) {
        if self.removed {
            return;
        }
        if rx_ready && self.downstream.valid {
            if let Some(done) = self.downstream.accept(self.now) {
                self.delivered(done);
            }
            if self.chance(self.settings.rx_gap_permille) {
                self.gap_clocks = self.rng.u8(1..=8);
            }
        }
        if let Some(beat) = tx.filter(|_| self.tx_ready) {
            self.take_beat(beat);
        }
        self.advance(memory);
    }

    /// Lets everything happen that is due by now.
    pub(crate) fn advance(&mut self, memory: &mut impl Memory) {
        self.upstream.pump(self.now, &mut self.wire);
        while let Some((at, tlp)) = self.upstream.arrived(self.now) {
            self.receive(at, tlp, memory);
        }
        if self.requester.next_event() <= self.now {
            while let Some(handle) = self.requester.expire(self.now) {
                self.downstream.cancel(handle);
            }
        }
        self.downstream.pump(
            self.now,
            &mut self.wire,
            &mut self.requester,
            &mut self.completer,
            &self.checker.limits,
            &mut self.pool,
        );
        self.gap_clocks = self.gap_clocks.saturating_sub(1);
        if self.gap_clocks == 0 {
            self.downstream.present(self.now);
        }
        self.stall_clocks = self.stall_clocks.saturating_sub(1);
        if self.stall_clocks == 0 && self.chance(self.settings.tx_stall_permille) {
            self.stall_clocks = self.rng.u8(1..=32);
        }
        self.tx_ready = self.stall_clocks == 0 && self.upstream.has_room(self.framer.received);
        self.np_ready = self.upstream.credits.covers(Cost::NONPOSTED);
        self.next_event = match self.settings.tx_stall_permille {
            0 => self.next_transfer().min(self.requester.next_event()),
            _ => 0,
        };
    }

    /// When the link or memory has something to do next, in ps; `u64::MAX` if never.
    fn next_transfer(&self) -> u64 {
        self.upstream
            .next_event()
            .min(self.downstream.next_event(&self.wire, &self.completer))
    }

    pub(crate) fn chance(&mut self, permille: u16) -> bool {
        permille > 0 && self.rng.u16(0..1000) < permille
    }

    /// Lets time run until only the device or the CPU can cause something. For tests at TLP level.
    pub fn settle(&mut self, memory: &mut impl Memory) {
        self.advance(memory);
        while !self.removed && self.next_transfer() != u64::MAX {
            self.now = self.now.max(self.next_transfer());
            self.advance(memory);
        }
    }

    /// The time of the last clock edge, in ps.
    pub fn now_ps(&self) -> u64 {
        self.now
    }

    /// TLPs and bytes that have crossed the link.
    pub fn counters(&self) -> &Counters {
        &self.wire.counters
    }

    /// Rules that the device broke, oldest first; at most 1000 are kept.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Number of violations, also of those not kept.
    pub fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// Accesses that host memory refused.
    pub fn memory_faults(&self) -> &[MemoryFault] {
        &self.memory_faults
    }

    /// CPU reads and configuration accesses that failed.
    pub fn failed_requests(&self) -> &[FailedRequest] {
        &self.requester.failures
    }

    /// What the device may do at present.
    pub fn limits(&self) -> &Limits {
        &self.checker.limits
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The next interrupt that has arrived.
    pub fn take_interrupt(&mut self) -> Option<Interrupt> {
        self.interrupts.pop_front()
    }

    /// Hot reset: drops every TLP in flight, ends CPU reads with all ones, and forgets what configuration
    /// software had set. The device is present afterwards; resetting it is the caller's part.
    pub fn hot_reset(&mut self) {
        self.framer.clear();
        self.upstream.clear();
        self.completer.clear();
        self.downstream.clear();
        self.requester.abandon(self.now);
        self.checker.reset();
        self.express = None;
        self.removed = false;
        self.next_event = 0;
        (self.tx_ready, self.np_ready) = (true, true);
    }

    /// Takes the device away: TLPs in flight are lost, every CPU read answers all ones, until
    /// [`RootComplex::hot_reset`] brings it back.
    pub fn remove_device(&mut self) {
        self.hot_reset();
        self.removed = true;
    }
}

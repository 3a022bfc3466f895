//! The world: it owns time, and steps core, root complex, host memory and wire together.
//!
//! ```text
//! driver ─ seams ─→ World { root complex ⇄ core ⇄ wire, host memory, scoreboard }
//! ```
//!
//! One step is one cycle of the core's clock. Nothing else moves time: a register read steps the world until
//! the answer comes, a wait steps it until the interrupt, and host work steps it by its cost.

use crate::core_model::CoreModel;
use crate::expectation::Expectation;
use crate::memory::HostMemory;
use crate::scoreboard::Scoreboard;
use crate::wire::{LineRate, Pace, WireSink, WireSource};
use ferronic_pcie::{
    enumerate, ConfigAccess, Device as PcieDevice, Outcome, Plan, RootComplex, Settings, SettingsError,
};
use ferronic::packet::Packet;
use ferronic::rx::RxQueue;
use ferronic_contract::registers::{self, rx_vector, MSIX_TABLE};
use std::path::Path;

/// Period of the core's clock: 125 MHz.
pub const CYCLE_PS: u64 = 8000;
/// Vectors that the simulated host can take.
const VECTORS: usize = 64;
/// Where the host wants its interrupt messages; vector `v` at 16 bytes each.
const MESSAGES: u64 = 0xFEE0_0000;

/// Why a world could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Illegal settings of the root complex.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The core did not answer as a PCI Express endpoint.
    #[error("the core does not enumerate: {0}")]
    Enumerate(String),
    /// The waveform file cannot be written.
    #[error("{file}: {source}")]
    Trace {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Core, root complex, memory, wire and scoreboard in one clock.
pub struct World<M, const B: usize> {
    core: M,
    /// The root complex, for faults and counters.
    pub pcie: RootComplex,
    memory: HostMemory,
    /// Frames to the core.
    pub source: WireSource<B>,
    /// Frames from the core.
    pub sink: WireSink<B>,
    /// What must arrive, and what did.
    pub scoreboard: Scoreboard,
    /// What the driver has set up.
    expectation: Expectation,
    /// Cycle of the first beat of the frame that the wire is bringing.
    began: Option<u64>,
    /// TLP beats that the core has sent.
    tlp_beats: u64,
    bar: u64,
    cycle: u64,
    interrupts: [u32; VECTORS],
}

impl<M: CoreModel<B>, const B: usize> World<M, B> {
    /// Powers the core up, resets it, enumerates it and routes its interrupt vectors.
    ///
    /// # Errors
    ///
    /// Settings that are illegal, or a core that does not enumerate.
    pub fn new(settings: Settings, pace: Pace, scoreboard: Scoreboard) -> Result<Self, WorldError> {
        let seed = settings.seed;
        let mut world = Self {
            core: M::power_up(seed),
            pcie: RootComplex::new(Settings { stream_bits: 8 * B as u16, ..settings })?,
            memory: HostMemory::default(),
            source: WireSource::new(LineRate::GIGABIT, pace),
            sink: WireSink::new(LineRate::GIGABIT),
            scoreboard,
            expectation: Expectation::default(),
            began: None,
            tlp_beats: 0,
            bar: 0,
            cycle: 0,
            interrupts: [0; VECTORS],
        };
        world.reset();
        world.enumerate(&Plan::default())?;
        world.expectation = Expectation::of(world.read32(registers::FEATURES.offset));
        Ok(world)
    }

    /// Enumerates the core and routes its interrupt vectors: after power-up, or after a reset of the function.
    ///
    /// # Errors
    ///
    /// The core does not enumerate.
    pub fn enumerate(&mut self, plan: &Plan) -> Result<PcieDevice, WorldError> {
        let device = enumerate(self, plan).map_err(|error| WorldError::Enumerate(error.to_string()))?;
        self.pcie.attach(&device);
        self.route_interrupts(&device)?;
        Ok(device)
    }

    /// Opens a waveform file. Only a core built for it can write one.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn trace(&mut self, file: &Path) -> Result<(), WorldError> {
        self.core
            .simulation()
            .open_trace(file)
            .map_err(|source| WorldError::Trace { file: file.display().to_string(), source })
    }

    /// Holds the core in reset for some cycles.
    pub fn reset(&mut self) {
        self.reset_and(|_| {});
    }

    /// Hot reset: the link goes down, what is in flight is lost, the core is reset. Also ends a surprise removal.
    /// Enumerate it afterwards.
    pub fn hot_reset(&mut self) {
        // While the core is held: before, it would begin a TLP anew, and after, see the end of one cut in two.
        self.reset_and(RootComplex::hot_reset);
    }

    fn reset_and(&mut self, meanwhile: impl FnOnce(&mut RootComplex)) {
        self.core.set_reset(true);
        for _ in 0..8 {
            self.step();
        }
        meanwhile(&mut self.pcie);
        self.core.set_reset(false);
        self.step();
    }

    /// Finds the BAR, fills the MSI-X table with one message a vector, unmasks and enables it. A kernel does this
    /// for a driver on a real machine.
    fn route_interrupts(&mut self, device: &PcieDevice) -> Result<(), WorldError> {
        let missing = |what: &str| WorldError::Enumerate(format!("no {what}"));
        self.bar = device.bars.first().ok_or_else(|| missing("BAR"))?.address;
        let msix = device.msix.ok_or_else(|| missing("MSI-X capability"))?;
        for vector in 0..u64::from(msix.vectors) {
            let entry = self.bar + u64::from(MSIX_TABLE) + 16 * vector;
            let message = MESSAGES + 16 * vector;
            for (word, value) in [message as u32, (message >> 32) as u32, vector as u32, 0].into_iter().enumerate() {
                self.pcie.cpu_write32(entry + 4 * word as u64, value);
            }
        }
        let enable = 0x8000_0000;
        self.config_write(msix.offset, enable).map_err(|outcome| WorldError::Enumerate(format!("{outcome:?}")))
    }

    /// Simulated time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.cycle * CYCLE_PS
    }

    /// Cycles of the core's clock since power-up.
    pub fn cycles(&self) -> u64 {
        self.cycle
    }

    /// The simulated host's memory.
    pub fn memory(&self) -> HostMemory {
        self.memory.clone()
    }

    /// Illegal TLPs, wild DMA, failed register accesses and broken frames on the wire, in words.
    pub fn illegal(&self) -> Vec<String> {
        let tlps = self.pcie.violations().iter().map(|violation| format!("illegal TLP: {violation}"));
        let faults = self.pcie.memory_faults().iter().map(|fault| format!("wild DMA: {fault:?}"));
        let failed = self.pcie.failed_requests().iter().map(|request| format!("failed access: {request:?}"));
        let wire = self.sink.violations().iter().map(|violation| format!("on the wire: {violation:?}"));
        tlps.chain(faults).chain(failed).chain(wire).collect()
    }

    /// What the core's own assertions found.
    pub fn core_failure(&mut self) -> Option<String> {
        self.core.simulation().failure().map(|failure| format!("{failure:?}"))
    }

    /// One cycle of the core's clock.
    #[inline]
    pub fn step(&mut self) {
        let now = self.now_ps();
        let inputs = self.pcie.outputs();
        let inputs_ready = inputs.tx_ready;
        self.core.drive_tlp(inputs.rx, inputs_ready, inputs.np_ready);
        let arrived = self.source.poll(now);
        self.core.drive_wire(arrived.as_ref(), self.sink.ready(now));
        self.core.clock(false);
        self.core.simulation().dump(2 * self.cycle);

        let tlp = self.core.tlp();
        let rx_ready = self.core.rx_ready();
        let leaving = self.core.wire();
        let events = self.core.events();
        self.core.clock(true);
        self.core.simulation().dump(2 * self.cycle + 1);

        self.tlp_beats += u64::from(tlp.is_some() && inputs_ready);
        self.pcie.clock(now, tlp.as_ref(), rx_ready, &mut self.memory);
        if let Some(beat) = arrived {
            let began = *self.began.get_or_insert(self.cycle);
            if beat.last {
                self.began = None;
                if let Some(sent) = self.source.take_sent() {
                    self.scoreboard.on_wire(sent, began);
                }
            }
        }
        if events.any() {
            self.scoreboard.on_events(events, &self.expectation);
        }
        if let Some(frame) = self.sink.clock(now, leaving.as_ref()) {
            self.scoreboard.on_sent(&frame, &self.expectation);
        }
        while let Some(interrupt) = self.pcie.take_interrupt() {
            let vector = (interrupt.data as usize).min(VECTORS - 1);
            self.interrupts[vector] += 1;
        }
        self.cycle += 1;
    }

    /// TLP beats that the core has sent since power-up.
    pub fn tlp_beats(&self) -> u64 {
        self.tlp_beats
    }

    /// The driver delivered a packet.
    pub fn on_delivered(&mut self, packet: &Packet) {
        self.scoreboard.on_delivered(packet, &self.expectation, self.cycle);
    }

    /// Steps until one of the queues has something to do, because its vector fired or because its next poll is due, or
    /// until the time is over or nothing is on its way any more.
    pub fn await_any<'a>(&mut self, queues: impl Iterator<Item = &'a RxQueue>, mut deadline_ps: u64) {
        let mut vectors = Vec::new();
        for queue in queues {
            if queue.is_armed() {
                vectors.push(rx_vector(queue.number().into()));
            }
            if let Some(due) = queue.next_poll() {
                deadline_ps = deadline_ps.min(due.as_nanos() as u64 * 1000);
            }
        }
        while self.now_ps() < deadline_ps
            && !(self.scoreboard.is_settled() && self.source.is_done())
            && !vectors.iter().any(|vector| self.has_interrupt(*vector))
        {
            self.step();
        }
    }

    /// Lets simulated time pass.
    pub fn pass_ns(&mut self, ns: u64) {
        for _ in 0..(ns * 1000).div_ceil(CYCLE_PS) {
            self.step();
        }
    }

    /// Whether the vector fired since it was last taken.
    pub fn has_interrupt(&self, vector: u32) -> bool {
        self.interrupts[vector as usize % VECTORS] > 0
    }

    /// Whether the vector fired since it was last taken, which this does.
    pub fn take_interrupt(&mut self, vector: u32) -> bool {
        let count = &mut self.interrupts[vector as usize % VECTORS];
        std::mem::take(count) > 0
    }

    /// Reads a register of BAR 0: steps until the answer is there. A device that is gone reads all ones.
    pub fn read32(&mut self, offset: u32) -> u32 {
        let handle = self.pcie.cpu_read32(self.bar + u64::from(offset));
        loop {
            if let Some(answer) = self.pcie.poll(handle) {
                return answer.value as u32;
            }
            self.step();
        }
    }

    /// Writes a register of BAR 0; the write travels on while the host goes on.
    pub fn write32(&mut self, offset: u32, value: u32) {
        self.expectation.write(offset, value);
        self.pcie.cpu_write32(self.bar + u64::from(offset), value);
    }
}

impl<M: CoreModel<B>, const B: usize> ConfigAccess for World<M, B> {
    fn config_read(&mut self, offset: u16) -> Result<u32, Outcome> {
        let handle = self.pcie.config_read(offset);
        self.await_config(handle)
    }

    fn config_write(&mut self, offset: u16, value: u32) -> Result<(), Outcome> {
        let handle = self.pcie.config_write(offset, value, 0xF);
        self.await_config(handle).map(drop)
    }
}

impl<M: CoreModel<B>, const B: usize> World<M, B> {
    fn await_config(&mut self, handle: ferronic_pcie::Handle) -> Result<u32, Outcome> {
        loop {
            if let Some(answer) = self.pcie.poll(handle) {
                return match answer.outcome {
                    Outcome::Success => Ok(answer.value as u32),
                    failure => Err(failure),
                };
            }
            self.step();
        }
    }
}

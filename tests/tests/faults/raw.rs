//! A driver with no manners: it writes what descriptor it likes, rings when it likes, and looks at single words.

use crate::MAC;
use ferronic::dma::DmaRegion;
use ferronic_contract::cause::Cause;
use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::descriptor::{self, RxDescriptor, TxDescriptor, FLAG_EOP};
use ferronic_contract::registers::{self, queue, vector, Register, RX_QUEUE, TX_QUEUE};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{Memory, Settings};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::scoreboard::Scoreboard;
use ferronic_sim::wire::{Frame, Pace};
use ferronic_sim::world::World;

/// Cycles in which anything that is to happen at all has happened.
pub const LONG: u64 = 20_000;

/// How queues and vectors are set up, RX and TX alike.
#[derive(Clone, Copy)]
pub struct Setup {
    pub ring: u32,
    pub thresholds: Thresholds,
    /// `rx-frames` and `rx-usecs`, the latter in cycles.
    pub moderation: (u32, u32),
    pub max_frame: u16,
    /// Completion time-out in units of 1024 cycles.
    pub timeout: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Self { ring: 64, thresholds: Thresholds::default(), moderation: (1, 0), max_frame: 9600, timeout: 6104 }
    }
}

/// One side of a queue pair.
pub struct Queue {
    base: u32,
    vector: u32,
    size: RingSize,
    descriptors: DmaRegion,
    done: DmaRegion,
    /// Index behind the last descriptor written.
    pub tail: u16,
    /// Completions taken.
    pub seen: u16,
}

/// A world, and the memory that a driver holds.
pub struct Raw<M = NicCore, const B: usize = 8> {
    pub world: World<M, B>,
    pub rx: Queue,
    pub tx: Queue,
    setup: Setup,
}

impl<M: CoreModel<B> + 'static, const B: usize> Raw<M, B> {
    /// Powers up a core and starts its queues, empty.
    pub fn new(settings: Settings, setup: Setup) -> Self {
        Self::on(World::new(settings, Pace::default(), Scoreboard::default()).expect("a world"), setup)
    }

    /// Takes over a world: resets the core and starts its queues.
    pub fn on(world: World<M, B>, setup: Setup) -> Self {
        let ring = RingSize::new(setup.ring).expect("a ring size");
        let (memory, entries) = (world.memory(), setup.ring as usize);
        let region = |bytes| memory.allocate(bytes, 4096).expect("memory");
        let side = |base, vector, bytes| Queue {
            base,
            vector: registers::VECTOR + vector * registers::VECTOR_STRIDE,
            size: ring,
            descriptors: region(entries * descriptor::BYTES),
            done: region(bytes),
            tail: 0,
            seen: 0,
        };
        let rx = side(RX_QUEUE, registers::rx_vector(0), entries * completion::BYTES);
        let tx = side(TX_QUEUE, registers::tx_vector(0), 64);
        let mut raw = Self { world, rx, tx, setup };
        raw.reset();
        raw
    }

    /// Gives the memory back and leaves the core as it is.
    pub fn abandon(self) -> World<M, B> {
        self.world
    }

    /// Resets the core, sets it up anew, and starts the queues, empty.
    pub fn reset(&mut self) {
        self.write(0, registers::CONTROL, 1);
        let mut left = 10_000;
        while self.read(0, registers::CONTROL) & 1 == 1 {
            left -= 1;
            assert!(left > 0, "the reset does not end");
        }
        self.new_scoreboard();
        let Setup { thresholds, moderation, max_frame, timeout, .. } = self.setup;
        self.write(0, registers::MAX_FRAME, max_frame.into());
        self.write(0, registers::TIMEOUT, timeout);
        self.write(0, registers::MAC_LOW, u32::from_le_bytes([MAC[0], MAC[1], MAC[2], MAC[3]]));
        self.write(0, registers::MAC_HIGH, u32::from(u16::from_le_bytes([MAC[4], MAC[5]])));
        for side in [&self.rx, &self.tx] {
            let (ring, done) = (side.descriptors.bus(), side.done.bus());
            for (register, value) in [
                (queue::RING_LOW, ring as u32),
                (queue::RING_HIGH, (ring >> 32) as u32),
                (queue::SIZE, side.size.log2().into()),
                (queue::DONE_LOW, done as u32),
                (queue::DONE_HIGH, (done >> 32) as u32),
                (queue::THRESHOLDS, thresholds.register()),
                (queue::LOW_WATER, thresholds.low_water.into()),
                (queue::WTIMER, 200),
            ] {
                self.world.write32(side.base + register.offset, value);
            }
            self.world.write32(side.vector + vector::FRAMES.offset, moderation.0);
            self.world.write32(side.vector + vector::CYCLES.offset, moderation.1);
        }
        self.enable(RX_QUEUE);
        self.enable(TX_QUEUE);
        self.write(0, registers::CONTROL, registers::RX_ENABLE.at(1) | registers::TX_ENABLE.at(1));
        self.read(0, registers::ID);
    }

    /// Forgets the frames that are on their way; nothing may be.
    pub fn new_scoreboard(&mut self) {
        self.world.scoreboard = Scoreboard::default();
    }

    fn side(&mut self, base: u32) -> &mut Queue {
        if base == RX_QUEUE {
            &mut self.rx
        } else {
            &mut self.tx
        }
    }

    /// Starts a queue that is at rest, from index 0.
    pub fn enable(&mut self, base: u32) {
        let side = self.side(base);
        (side.tail, side.seen) = (0, 0);
        for word in 0..side.done.bytes() / 4 {
            side.done.write(4 * word, [0]);
        }
        self.write(base, queue::CONTROL, 1);
    }

    /// Disables a queue and waits until it is at rest.
    pub fn disable(&mut self, base: u32) {
        self.write(base, queue::CONTROL, 0);
        // A full TX buffer takes 130,000 cycles to leave.
        for _ in 0..3000 {
            if queue::IDLE.of(self.read(base, queue::STATUS)) == 1 {
                return;
            }
        }
        panic!("queue {base:#x} does not come to rest: STATUS {:#x}", self.read(base, queue::STATUS));
    }

    /// Reads a register of a group.
    pub fn read(&mut self, base: u32, register: Register) -> u32 {
        self.world.read32(base + register.offset)
    }

    /// Writes a register of a group.
    pub fn write(&mut self, base: u32, register: Register, value: u32) {
        self.world.write32(base + register.offset, value);
    }

    /// Why a queue is stopped, if it is.
    pub fn stopped(&mut self, base: u32) -> Option<Cause> {
        let status = self.read(base, queue::STATUS);
        (queue::STOPPED.of(status) == 1).then(|| Cause::from_bits(queue::CAUSE.of(status)).expect("a cause"))
    }

    /// Waits until the queue is stopped and at rest.
    pub fn wait_stopped(&mut self, base: u32) -> Cause {
        for _ in 0..2000 {
            let status = self.read(base, queue::STATUS);
            if queue::STOPPED.of(status) == 1 && queue::IDLE.of(status) == 1 {
                return Cause::from_bits(queue::CAUSE.of(status)).expect("a cause");
            }
        }
        panic!("queue {base:#x} does not stop: STATUS {:#x}", self.read(base, queue::STATUS));
    }

    /// Memory for buffers: `bytes` bytes below 4 GiB and as many above.
    pub fn buffers(&self, bytes: usize) -> [DmaRegion; 2] {
        let memory = self.world.memory();
        let mut pair = [0, 1].map(|_| memory.allocate(bytes, 4096).expect("memory"));
        pair.sort_by_key(DmaRegion::bus);
        assert!(pair[0].bus() >> 32 == 0 && pair[1].bus() >> 32 != 0);
        pair
    }

    /// Writes host memory.
    pub fn poke(&mut self, address: u64, bytes: &[u8]) {
        self.world.memory().write(address, bytes).expect("mapped memory");
    }

    /// Reads host memory.
    pub fn peek(&mut self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.world.memory().read(address, &mut bytes).expect("mapped memory");
        bytes
    }

    /// Writes an RX descriptor; the core learns of it with the doorbell.
    pub fn post(&mut self, address: u64, length: u16) {
        let cookie = 0xC000_0000 | u32::from(self.rx.tail);
        let descriptor = RxDescriptor { address, length, cookie };
        self.rx.descriptors.write(self.rx.size.slot(self.rx.tail) * descriptor::BYTES, descriptor.encode());
        self.rx.tail = self.rx.tail.wrapping_add(1);
    }

    /// Writes a TX descriptor; the core learns of it with the doorbell.
    pub fn queue(&mut self, address: u64, length: u16) {
        let descriptor = TxDescriptor { address, length, flags: FLAG_EOP };
        self.tx.descriptors.write(self.tx.size.slot(self.tx.tail) * descriptor::BYTES, descriptor.encode());
        self.tx.tail = self.tx.tail.wrapping_add(1);
    }

    /// Puts a frame at an address, has the scoreboard expect it on the wire, and queues it.
    pub fn send(&mut self, address: u64, frame: &[u8]) {
        self.poke(address, frame);
        self.world.scoreboard.on_send(frame);
        self.queue(address, frame.len() as u16);
    }

    /// Rings a queue's doorbell for all that was written.
    pub fn doorbell(&mut self, base: u32) {
        let tail = self.side(base).tail;
        self.write(base, queue::TAIL, tail.into());
    }

    /// The next completion, if it is there.
    pub fn take(&mut self) -> Option<RxCompletion> {
        let side = &mut self.rx;
        let words = side.done.read(side.size.slot(side.seen) * completion::BYTES);
        let completion = RxCompletion::decode(&words);
        if completion.phase != side.size.phase(side.seen) {
            return None;
        }
        assert_eq!(completion.index, side.seen, "completions come in order");
        side.seen = side.seen.wrapping_add(1);
        Some(completion)
    }

    /// The index that the core wrote back for TX.
    pub fn tx_done(&self) -> u32 {
        self.tx.done.load_acquire(0)
    }

    /// Brings a frame on the wire.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.world.source.push(Frame::new(bytes.to_vec(), "raw".into(), 0));
    }

    /// Steps until the condition holds, at most so many cycles; says whether it came to hold.
    pub fn until(&mut self, cycles: u64, mut condition: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..cycles {
            if condition(self) {
                return true;
            }
            self.world.step();
        }
        condition(self)
    }

    /// Steps.
    pub fn pass(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.world.step();
        }
    }

    /// The next completion, which must come.
    pub fn must_take(&mut self) -> RxCompletion {
        let mut taken = None;
        self.until(LONG, |raw| {
            taken = raw.take();
            taken.is_some()
        });
        taken.unwrap_or_else(|| panic!("no completion {}", self.rx.seen))
    }

    /// Every frame given to send must reach the wire.
    pub fn must_send(&mut self) {
        let limit = LONG + 100 * self.world.scoreboard.unsent() as u64 * 200;
        assert!(self.until(limit, |raw| raw.world.scoreboard.unsent() == 0), "frames are not sent");
    }

    /// No rule of PCI Express broken, nothing wrong on the wire or in what the core says of frames.
    pub fn must_be_sound(&mut self) {
        let violations: Vec<_> = self.world.pcie.violations().iter().map(ToString::to_string).collect();
        assert!(violations.is_empty(), "{violations:?}");
        assert_eq!(self.world.sink.violation_count(), 0);
        let (words, count) = self.world.scoreboard.mismatches();
        assert_eq!(count, 0, "{words:?}");
        assert_eq!(self.world.core_failure(), None);
    }

    /// As [`must_be_sound`](Self::must_be_sound), and all DMA went where it may.
    pub fn must_be_tame(&mut self) {
        self.must_be_sound();
        assert!(self.world.pcie.memory_faults().is_empty(), "{:?}", self.world.pcie.memory_faults());
    }
}

//! A test device: registers, rings and vectors by the contract, with a clock that moves when the test says so.
//!
//! A frame is received or sent when the test says so. It can be told to misbehave. It has four RX queues, one TX queue and
//! every optional block, unless the test takes one out.

mod ends;
mod receive;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ferronic::{Bar, Clock, Config, Device, Interrupts, Nic};
use ferronic_contract::class::Mac;
use ferronic_contract::descriptor::{self, TxDescriptor};
use ferronic_contract::field::Field;
use ferronic_contract::registers::{self, filter, queue, vector, Register};
use ferronic_contract::ring::{distance, RingSize};

use crate::memory::Memory;

pub use ends::{frame, number, small, small_doorbell, small_policy, small_queues, small_with, Keep, Numbers};

pub const OWN: Mac = [0x02, 0, 0, 0, 0, 1];
pub const CLOCK_KHZ: u32 = 125_000;
/// RX queues of the device.
pub const RX_QUEUES: u8 = 4;
/// Vector of TX queue 0.
const TX_VECTOR: usize = 1;
const VECTORS: usize = 2 * RX_QUEUES as usize;

/// A write to the filters that takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterWrite {
    /// The fields of a kind.
    Kind(usize, u32),
    /// A row and its words.
    Row(usize, [u32; filter::ENTRY_WORDS]),
}

/// Start of an RX queue's registers.
pub fn rx_base(number: u8) -> u32 {
    registers::RX_QUEUE + u32::from(number) * registers::QUEUE_STRIDE
}

#[derive(Clone, Copy, Default)]
struct Ring {
    tail: u16,
    done: u16,
}

#[derive(Clone, Copy, Default)]
struct Vector {
    armed: bool,
    fired: bool,
}

pub struct Mock {
    pub memory: Rc<Memory>,
    words: RefCell<Vec<u32>>,
    rx: [Cell<Ring>; RX_QUEUES as usize],
    tx: Cell<Ring>,
    vectors: [Cell<Vector>; VECTORS],
    /// Register reads so far.
    pub reads: Cell<u32>,
    /// All registers read all ones.
    pub gone: Cell<bool>,
    /// Disabled queues never report IDLE.
    pub restless: Cell<bool>,
    /// RESET never clears.
    pub stuck_in_reset: Cell<bool>,
    /// Frames that arrive in the moment before the next arming takes effect.
    pub before_arming: RefCell<VecDeque<Vec<u8>>>,
    /// Frames that arrive during the next wait.
    pub during_wait: RefCell<VecDeque<Vec<u8>>>,
    /// Doorbells of the RX queue so far.
    pub rx_doorbells: Cell<u32>,
    /// Waits so far.
    pub waits: Cell<u32>,
    /// Waits so far in which the vector did not fire.
    pub timeouts: Cell<u32>,
    /// Frames that are sent in the moment before the next arming of the TX vector takes effect.
    pub sent_before_arming: Cell<usize>,
    /// Completions may have been forged, so the tail proves nothing.
    pub believed: Cell<bool>,
    /// Producer indices are not written, though the queue asks for it.
    pub index_withheld: Cell<bool>,
    /// The time. It passes when the test says so, and in waits in which nothing fires.
    pub time: Cell<Duration>,
    /// Time that passes with each look at the clock.
    pub tick: Cell<Duration>,
    /// Writes to the filters so far.
    pub filter_writes: RefCell<Vec<FilterWrite>>,
}

impl Mock {
    pub fn new() -> Rc<Self> {
        let mock = Self {
            memory: Rc::new(Memory::new()),
            words: RefCell::new(vec![0; ferronic_contract::BAR_BYTES as usize / 4]),
            rx: Default::default(),
            tx: Cell::default(),
            vectors: Default::default(),
            reads: Cell::new(0),
            gone: Cell::new(false),
            restless: Cell::new(false),
            stuck_in_reset: Cell::new(false),
            before_arming: RefCell::default(),
            during_wait: RefCell::default(),
            rx_doorbells: Cell::new(0),
            waits: Cell::new(0),
            timeouts: Cell::new(0),
            sent_before_arming: Cell::new(0),
            believed: Cell::new(false),
            index_withheld: Cell::new(false),
            time: Cell::default(),
            tick: Cell::default(),
            filter_writes: RefCell::default(),
        };
        mock.set(registers::GLOBAL, registers::ID, registers::ID_VALUE);
        mock.set(registers::GLOBAL, registers::VERSION, registers::VERSION_VALUE);
        mock.set(registers::GLOBAL, registers::CLOCK_KHZ, CLOCK_KHZ);
        let queues = registers::RX_QUEUES.at(RX_QUEUES.into()) | registers::TX_QUEUES.at(1);
        mock.set(registers::GLOBAL, registers::PARAMS, queues | registers::RX_FIFO_LOG2.at(14));
        mock.set(registers::GLOBAL, registers::FEATURES, u32::MAX);
        Rc::new(mock)
    }

    /// Takes an optional block out.
    pub fn without(self: Rc<Self>, feature: Field) -> Rc<Self> {
        let features = self.get(registers::GLOBAL, registers::FEATURES);
        self.set(registers::GLOBAL, registers::FEATURES, features & !feature.mask());
        self
    }

    /// Opens the driver on it.
    pub fn open(self: &Rc<Self>, config: &Config) -> Nic {
        Nic::open(self.device(), config).unwrap()
    }

    pub fn device(self: &Rc<Self>) -> Device {
        Device {
            bar: Rc::clone(self) as Rc<dyn Bar>,
            dma: Rc::clone(&self.memory) as Rc<dyn ferronic::Dma>,
            interrupts: Rc::clone(self) as Rc<dyn Interrupts>,
            clock: Rc::clone(self) as Rc<dyn Clock>,
        }
    }

    /// A register's value, as the driver wrote it.
    pub fn get(&self, base: u32, register: Register) -> u32 {
        self.words.borrow()[((base + register.offset) / 4) as usize]
    }

    pub fn set(&self, base: u32, register: Register, value: u32) {
        self.words.borrow_mut()[((base + register.offset) / 4) as usize] = value;
    }

    fn pair(&self, base: u32, low: Register, high: Register) -> u64 {
        u64::from(self.get(base, low)) | u64::from(self.get(base, high)) << 32
    }

    fn size(&self, base: u32) -> RingSize {
        RingSize::new(1 << self.get(base, queue::SIZE)).expect("a ring size")
    }

    pub fn mac(&self) -> Mac {
        let low = self.get(registers::GLOBAL, registers::MAC_LOW).to_le_bytes();
        let high = self.get(registers::GLOBAL, registers::MAC_HIGH).to_le_bytes();
        [low[0], low[1], low[2], low[3], high[0], high[1]]
    }

    pub fn epoch(&self) -> u8 {
        registers::MAC_EPOCH.of(self.get(registers::GLOBAL, registers::MAC_HIGH)) as u8
    }

    /// A word of a table that starts at a register.
    pub fn word(&self, base: u32, first: Register, number: u32) -> u32 {
        self.words.borrow()[((base + first.offset) / 4 + number) as usize]
    }

    fn descriptor(&self, base: u32, index: u16) -> [u32; 4] {
        let ring = self.pair(base, queue::RING_LOW, queue::RING_HIGH);
        let bus = ring + (self.size(base).slot(index) * descriptor::BYTES) as u64;
        std::array::from_fn(|i| self.memory.read_word(bus + 4 * i as u64))
    }

    /// Sends up to `most` frames that it was told of, writes the index back, and says what they were.
    pub fn transmit(&self, most: usize) -> Vec<Vec<u8>> {
        let mut ring = self.tx.get();
        let mut frames = Vec::new();
        while frames.len() < most && ring.done != ring.tail {
            let descriptor = TxDescriptor::decode(&self.descriptor(registers::TX_QUEUE, ring.done));
            assert_eq!(descriptor.flags, descriptor::FLAG_EOP);
            frames.push(self.memory.read_bytes(descriptor.address, usize::from(descriptor.length)));
            ring.done = ring.done.wrapping_add(1);
        }
        self.tx.set(ring);
        self.write_back(u32::from(ring.done));
        if !frames.is_empty() {
            self.event(TX_VECTOR);
        }
        frames
    }

    /// Writes a word to where the TX index goes.
    pub fn write_back(&self, word: u32) {
        self.memory.write_word(self.pair(registers::TX_QUEUE, queue::DONE_LOW, queue::DONE_HIGH), word);
    }

    /// Fires a vector if it is armed.
    pub fn event(&self, number: usize) {
        if self.vectors[number].get().armed {
            self.vectors[number].set(Vector { armed: false, fired: true });
        }
    }

    fn receive_all(&self, frames: &RefCell<VecDeque<Vec<u8>>>) {
        for frame in frames.take() {
            assert!(self.receive(&frame));
        }
    }

    fn arm(&self, number: usize, seen: u16) {
        match number {
            0 => self.receive_all(&self.before_arming),
            TX_VECTOR => drop(self.transmit(self.sent_before_arming.take())),
            _ => {}
        }
        let done = if number == TX_VECTOR { self.tx.get().done } else { self.rx[number / 2].get().done };
        let fired = self.vectors[number].get().fired;
        let at_once = done != seen;
        self.vectors[number].set(Vector { armed: !at_once, fired: fired || at_once });
    }

    fn ring(&self, base: u32) -> &Cell<Ring> {
        if base == registers::TX_QUEUE {
            &self.tx
        } else {
            &self.rx[((base - registers::RX_QUEUE) / registers::QUEUE_STRIDE) as usize]
        }
    }

    fn enable(&self, base: u32, value: u32) {
        if queue::ENABLE.of(value) == 1 {
            self.ring(base).set(Ring::default());
        }
        let idle = queue::ENABLE.of(value) == 0 && !self.restless.get();
        self.set(base, queue::STATUS, queue::IDLE.at(u32::from(idle)));
    }

    fn doorbell(&self, base: u32, value: u32) {
        let tail = u16::try_from(value).expect("a tail is 16 bits");
        let ring = self.ring(base);
        let entries = self.size(base).entries();
        let ahead = u32::from(distance(ring.get().done, tail));
        assert!(ahead <= entries || self.believed.get(), "a doorbell beyond the ring");
        ring.set(Ring { tail, ..ring.get() });
        if base == registers::RX_QUEUE {
            self.rx_doorbells.set(self.rx_doorbells.get() + 1);
        }
    }

    fn filter_write(&self, offset: u32, value: u32) {
        let kinds = filter::KIND.offset..filter::KIND.offset + 4 * filter::KINDS as u32;
        if kinds.contains(&offset) {
            let kind = (offset - filter::KIND.offset) / 4;
            self.filter_writes.borrow_mut().push(FilterWrite::Kind(kind as usize, value));
        } else if offset == filter::COMMIT.offset {
            let words = std::array::from_fn(|i| self.word(registers::FILTER, filter::ENTRY, i as u32));
            let row = filter::COMMIT_ROW.of(value) as usize;
            self.filter_writes.borrow_mut().push(FilterWrite::Row(row, words));
            // The epoch in force is one, whichever way it was written.
            let mut address = [self.get(registers::GLOBAL, registers::MAC_HIGH)];
            registers::MAC_EPOCH.put(&mut address, filter::COMMIT_EPOCH.of(value));
            self.set(registers::GLOBAL, registers::MAC_HIGH, address[0]);
        }
    }
}

impl Bar for Mock {
    fn read32(&self, offset: u32) -> u32 {
        self.reads.set(self.reads.get() + 1);
        if self.gone.get() {
            return u32::MAX;
        }
        self.words.borrow()[(offset / 4) as usize]
    }

    fn write32(&self, offset: u32, value: u32) {
        if self.gone.get() {
            return;
        }
        let stuck = self.stuck_in_reset.get();
        let stored = if offset == registers::CONTROL.offset && !stuck { value & !registers::RESET.mask() } else { value };
        self.words.borrow_mut()[(offset / 4) as usize] = stored;
        for base in (0..RX_QUEUES).map(rx_base).chain([registers::TX_QUEUE]) {
            if offset == base + queue::CONTROL.offset {
                self.enable(base, value);
            } else if offset == base + queue::TAIL.offset {
                self.doorbell(base, value);
            }
        }
        for number in 0..VECTORS {
            let base = registers::VECTOR + number as u32 * registers::VECTOR_STRIDE;
            if offset == base + vector::ARM.offset {
                self.arm(number, u16::try_from(value).expect("an index is 16 bits"));
            }
        }
        if (registers::FILTER..registers::MSIX_TABLE).contains(&offset) {
            self.filter_write(offset - registers::FILTER, value);
        }
    }
}

impl Clock for Mock {
    fn now(&self) -> Duration {
        self.time.set(self.time.get() + self.tick.get());
        self.time.get()
    }
}

impl Interrupts for Mock {
    fn wait(&self, vector: u32, timeout: Duration) -> io::Result<bool> {
        self.waits.set(self.waits.get() + 1);
        self.receive_all(&self.during_wait);
        let cell = &self.vectors[vector as usize];
        let state = cell.get();
        cell.set(Vector { fired: false, ..state });
        if !state.fired {
            self.timeouts.set(self.timeouts.get() + 1);
            self.time.set(self.time.get() + timeout);
        }
        Ok(state.fired)
    }
}

//! A test device: registers, rings and vectors by the contract, without time.
//!
//! A frame is received or sent when the test says so. It can be told to misbehave.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use ferronic::{Bar, Config, Device, Interrupts, Nic, Packet, Sink};
use ferronic_contract::class::{classify, Class, Mac};
use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::descriptor::{self, RxDescriptor, TxDescriptor};
use ferronic_contract::registers::{self, queue, vector, Register};
use ferronic_contract::ring::{distance, RingSize};

use crate::memory::Memory;

pub const OWN: Mac = [0x02, 0, 0, 0, 0, 1];
pub const CLOCK_KHZ: u32 = 125_000;

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
    rx: Cell<Ring>,
    tx: Cell<Ring>,
    vectors: [Cell<Vector>; 2],
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
}

impl Mock {
    pub fn new() -> Rc<Self> {
        let mock = Self {
            memory: Rc::new(Memory::new()),
            words: RefCell::new(vec![0; ferronic_contract::BAR_BYTES as usize / 4]),
            rx: Cell::default(),
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
        };
        mock.set(registers::GLOBAL, registers::ID, registers::ID_VALUE);
        mock.set(registers::GLOBAL, registers::VERSION, registers::VERSION_VALUE);
        mock.set(registers::GLOBAL, registers::CLOCK_KHZ, CLOCK_KHZ);
        Rc::new(mock)
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

    /// Descriptors that the device was told of and has not used.
    pub fn rx_ready(&self) -> u16 {
        distance(self.rx.get().done, self.rx.get().tail)
    }

    /// Index of the next completion.
    pub fn rx_done(&self) -> u16 {
        self.rx.get().done
    }

    fn descriptor(&self, base: u32, index: u16) -> [u32; 4] {
        let ring = self.pair(base, queue::RING_LOW, queue::RING_HIGH);
        let bus = ring + (self.size(base).slot(index) * descriptor::BYTES) as u64;
        std::array::from_fn(|i| self.memory.read_word(bus + 4 * i as u64))
    }

    /// Receives a frame as an honest core does; false when it has no descriptor.
    pub fn receive(&self, frame: &[u8]) -> bool {
        self.receive_with(frame, |_| {})
    }

    /// Receives a frame, with its completion changed before it is written.
    pub fn receive_with(&self, frame: &[u8], edit: impl FnOnce(&mut RxCompletion)) -> bool {
        if self.rx_ready() == 0 || registers::RX_ENABLE.of(self.get(registers::GLOBAL, registers::CONTROL)) == 0 {
            return false;
        }
        let mut ring = self.rx.get();
        let descriptor = RxDescriptor::decode(&self.descriptor(registers::RX_QUEUE, ring.done));
        assert!(frame.len() <= usize::from(descriptor.length), "the test's frame is longer than the buffer");
        self.memory.write_bytes(descriptor.address, frame);
        let class = classify(frame, &self.mac());
        let mut completion = RxCompletion {
            length: frame.len() as u16,
            protocol: class.map_or(0, |c| c.protocol),
            status: class.map(|c: Class| c.status(self.epoch())).unwrap_or_default(),
            cookie: descriptor.cookie,
            index: ring.done,
            phase: self.size(registers::RX_QUEUE).phase(ring.done),
            ..RxCompletion::default()
        };
        edit(&mut completion);
        self.write_completion(ring.done, &completion.encode());
        ring.done = ring.done.wrapping_add(1);
        self.rx.set(ring);
        self.event(0);
        true
    }

    /// Writes the words of a completion into the slot of an index.
    pub fn write_completion(&self, index: u16, words: &[u32; completion::WORDS]) {
        let ring = self.pair(registers::RX_QUEUE, queue::DONE_LOW, queue::DONE_HIGH);
        let bus = ring + (self.size(registers::RX_QUEUE).slot(index) * completion::BYTES) as u64;
        for (i, &word) in words.iter().enumerate() {
            self.memory.write_word(bus + 4 * i as u64, word);
        }
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
        self.event(1);
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
        if number == 0 {
            self.receive_all(&self.before_arming);
        } else {
            self.transmit(self.sent_before_arming.take());
        }
        let done = if number == 0 { self.rx.get().done } else { self.tx.get().done };
        let fired = self.vectors[number].get().fired;
        let at_once = done != seen;
        self.vectors[number].set(Vector { armed: !at_once, fired: fired || at_once });
    }

    fn enable(&self, base: u32, value: u32) {
        if queue::ENABLE.of(value) == 1 {
            let ring = if base == registers::RX_QUEUE { &self.rx } else { &self.tx };
            ring.set(Ring::default());
        }
        let idle = queue::ENABLE.of(value) == 0 && !self.restless.get();
        self.set(base, queue::STATUS, queue::IDLE.at(u32::from(idle)));
    }

    fn doorbell(&self, base: u32, value: u32) {
        let tail = u16::try_from(value).expect("a tail is 16 bits");
        let ring = if base == registers::RX_QUEUE { &self.rx } else { &self.tx };
        let entries = self.size(base).entries();
        let ahead = u32::from(distance(ring.get().done, tail));
        assert!(ahead <= entries || self.believed.get(), "a doorbell beyond the ring");
        ring.set(Ring { tail, ..ring.get() });
        if base == registers::RX_QUEUE {
            self.rx_doorbells.set(self.rx_doorbells.get() + 1);
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
        for base in [registers::RX_QUEUE, registers::TX_QUEUE] {
            if offset == base + queue::CONTROL.offset {
                self.enable(base, value);
            } else if offset == base + queue::TAIL.offset {
                self.doorbell(base, value);
            }
        }
        for number in 0..2 {
            let base = registers::VECTOR + number * registers::VECTOR_STRIDE;
            if offset == base + vector::ARM.offset {
                self.arm(number as usize, u16::try_from(value).expect("an index is 16 bits"));
            }
        }
    }
}

impl Interrupts for Mock {
    fn wait(&self, vector: u32, _timeout: Duration) -> io::Result<bool> {
        self.waits.set(self.waits.get() + 1);
        self.receive_all(&self.during_wait);
        let cell = &self.vectors[vector as usize];
        let state = cell.get();
        cell.set(Vector { fired: false, ..state });
        self.timeouts.set(self.timeouts.get() + u32::from(!state.fired));
        Ok(state.fired)
    }
}

/// A frame of 60 bytes to the own address that carries a number.
pub fn frame(number: u32) -> Vec<u8> {
    let mut bytes = vec![0; 60];
    bytes[..6].copy_from_slice(&OWN);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[20..24].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The number in a frame.
pub fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[20..24].try_into().unwrap())
}

/// A set-up with rings of 8 and a doorbell every 2.
pub fn small() -> Config {
    let mut config = Config { mac: OWN, buffers: 32, doorbell_every: 2, ..Config::default() };
    config.rx.ring = RingSize::new(8).unwrap();
    config.tx.ring = RingSize::new(8).unwrap();
    config
}

/// A sink that keeps every packet.
#[derive(Default)]
pub struct Keep(pub Vec<Packet>);

impl Sink for Keep {
    fn deliver(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

/// A sink that notes the numbers and gives the buffers back.
#[derive(Default)]
pub struct Numbers(pub Vec<u32>);

impl Sink for Numbers {
    fn deliver(&mut self, packet: Packet) {
        self.0.push(number(packet.bytes()));
    }
}

//! The whole device behind the driver's seams.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use ferronic::{Bar, Interrupts};
use ferronic_contract::cause::Cause;
use ferronic_contract::class::Mac;
use ferronic_contract::completion::{self, RxCompletion};
use ferronic_contract::descriptor::{RxDescriptor, TxDescriptor, FLAG_EOP};
use ferronic_contract::registers::{self, queue};
use ferronic_contract::{MAX_FRAME, MIN_FRAME};
use ferronic_pcie::Memory;

use super::bank::Bank;
use super::classify::expected_completion;
use super::queue::{Fetched, Queue};
use super::vector::Vector;
use super::verdict::{verdict, DropCause, Verdict};

/// Rate of the clock that the model says it has, in kHz. It has none.
const CLOCK_KHZ: u32 = 125_000;
/// One queue pair, 8 bytes a cycle, no packet FIFO, one read at a time.
const PARAMS: u32 = registers::QUEUES.at(1) | registers::STREAM_BYTES.at(8) | registers::READ_TAGS.at(1);
/// Vectors of queue pair 0.
const RX_VECTOR: usize = registers::rx_vector(0) as usize;
const TX_VECTOR: usize = registers::tx_vector(0) as usize;

/// A device without time: a frame is delivered, or sent, in the call that makes it possible.
///
/// It has no packet FIFO, so a frame that finds no descriptor is dropped at once, as
/// [`DropCause::NoDescriptor`], where the core would let it wait. `memory` is host memory by bus address; it
/// must not call back into the model.
pub struct Model<M>(RefCell<State<M>>);

struct State<M> {
    memory: M,
    global: Bank,
    own: Mac,
    epoch: u8,
    rx: Queue,
    tx: Queue,
    vectors: [Vector; 2],
    sent: VecDeque<Vec<u8>>,
}

impl<M: Memory> Model<M> {
    /// A device after reset.
    pub fn new(memory: M) -> Self {
        Self(RefCell::new(State::new(memory)))
    }

    /// A frame, without FCS, comes from the wire. The completion written for it, or why there is none.
    ///
    /// # Errors
    ///
    /// The frame was dropped, and its cause counted.
    pub fn receive(&self, frame: &[u8], bad_fcs: bool) -> Result<RxCompletion, DropCause> {
        self.0.borrow_mut().receive(frame, bad_fcs)
    }

    /// The next frame that the device has put on the wire, as long as its descriptor said: the MAC pads.
    pub fn sent(&self) -> Option<Vec<u8>> {
        self.0.borrow_mut().sent.pop_front()
    }
}

impl<M: Memory> Bar for Model<M> {
    fn read32(&self, offset: u32) -> u32 {
        self.0.borrow().read(offset)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.0.borrow_mut().write(offset, value);
    }
}

impl<M: Memory> Interrupts for Model<M> {
    /// Nothing happens while the driver waits, so there is nothing to wait for.
    fn wait(&self, vector: u32, _timeout: Duration) -> io::Result<bool> {
        let mut state = self.0.borrow_mut();
        let fired = state.vectors.get_mut(vector as usize).map(Vector::take);
        fired.ok_or_else(|| io::Error::other(format!("the model has no interrupt vector {vector}")))
    }
}

/// A group of registers.
enum Group {
    Global,
    Rx,
    Tx,
    Vector(usize),
}

/// The group that an offset of the BAR lies in, and the offset in the group.
fn group(offset: u32) -> Option<(Group, u32)> {
    let inside = |base: u32, bytes: u32| offset.checked_sub(base).filter(|&rest| rest < bytes);
    let vector = |number: u32| inside(registers::VECTOR + number * registers::VECTOR_STRIDE, registers::VECTOR_STRIDE);
    inside(registers::GLOBAL, registers::SCRATCH.offset + 4)
        .map(|rest| (Group::Global, rest))
        .or_else(|| Some((Group::Rx, inside(registers::RX_QUEUE, registers::QUEUE_STRIDE)?)))
        .or_else(|| Some((Group::Tx, inside(registers::TX_QUEUE, registers::QUEUE_STRIDE)?)))
        .or_else(|| Some((Group::Vector(RX_VECTOR), vector(registers::rx_vector(0))?)))
        .or_else(|| Some((Group::Vector(TX_VECTOR), vector(registers::tx_vector(0))?)))
}

fn global_bank() -> Bank {
    let after_reset = [
        (registers::ID, registers::ID_VALUE),
        (registers::VERSION, registers::VERSION_VALUE),
        (registers::PARAMS, PARAMS),
        (registers::FEATURES, registers::FEATURE_L2.at(1)),
        (registers::CLOCK_KHZ, CLOCK_KHZ),
        (registers::MAX_FRAME, 1518),
        (registers::TIMEOUT, 6104),
    ];
    Bank::new(&registers::GLOBALS, &after_reset)
}

impl<M: Memory> State<M> {
    fn new(memory: M) -> Self {
        Self {
            memory,
            global: global_bank(),
            own: [0; 6],
            epoch: 0,
            rx: Queue::default(),
            tx: Queue::default(),
            vectors: Default::default(),
            sent: VecDeque::new(),
        }
    }

    /// Everything but the memory and what is on the wire already starts anew.
    fn reset(&mut self) {
        self.global = global_bank();
        (self.own, self.epoch) = ([0; 6], 0);
        (self.rx, self.tx, self.vectors) = Default::default();
    }

    fn read(&self, offset: u32) -> u32 {
        match group(offset) {
            Some((Group::Global, offset)) => self.global.read(offset),
            Some((Group::Rx, offset)) => self.rx.read(offset),
            Some((Group::Tx, offset)) => self.tx.read(offset),
            Some((Group::Vector(number), offset)) => self.vectors[number].read(offset),
            None => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32) {
        match group(offset) {
            Some((Group::Global, offset)) => self.write_global(offset, value),
            Some((Group::Rx, offset)) => {
                let stopped = self.rx.write(offset, value);
                self.vectors[RX_VECTOR].alarm_if(stopped);
            }
            Some((Group::Tx, offset)) => {
                let stopped = self.tx.write(offset, value);
                self.vectors[TX_VECTOR].alarm_if(stopped);
                self.transmit();
            }
            Some((Group::Vector(number), offset)) => {
                let producer = if number == RX_VECTOR { self.rx.done() } else { self.tx.done() };
                self.vectors[number].write(offset, value, producer);
            }
            None => {}
        }
    }

    fn write_global(&mut self, offset: u32, value: u32) {
        self.global.write(offset, value);
        if offset == registers::CONTROL.offset {
            if registers::RESET.of(value) == 1 {
                self.reset();
            }
            self.transmit();
        } else if offset == registers::MAC_HIGH.offset {
            let [a, b, c, d] = self.global.get(registers::MAC_LOW).to_le_bytes();
            let [e, f, ..] = registers::MAC_45.of(value).to_le_bytes();
            self.own = [a, b, c, d, e, f];
            self.epoch = registers::MAC_EPOCH.of(value) as u8;
        }
    }

    /// The MAX_FRAME register, as far as it may go.
    fn max_frame(&self) -> u16 {
        self.global.get(registers::MAX_FRAME).min(u32::from(MAX_FRAME)) as u16
    }

    fn receive(&mut self, frame: &[u8], bad_fcs: bool) -> Result<RxCompletion, DropCause> {
        self.global.count(registers::FRAMES_IN);
        let outcome = self.deliver(frame, bad_fcs);
        if let Err(cause) = outcome {
            let (_, counter) = cause.counter();
            let bank = if cause == DropCause::Buffer { &mut self.rx.bank } else { &mut self.global };
            bank.count(counter);
        }
        outcome
    }

    fn deliver(&mut self, frame: &[u8], bad_fcs: bool) -> Result<RxCompletion, DropCause> {
        let enabled = registers::RX_ENABLE.of(self.global.get(registers::CONTROL)) == 1;
        let Some(size) = self.rx.running().filter(|_| enabled) else { return Err(DropCause::Disabled) };
        if let Verdict::Drop(cause) = verdict(frame.len(), bad_fcs, self.max_frame()) {
            return Err(cause);
        }
        let descriptor = match self.rx.fetch(&mut self.memory) {
            Fetched::Descriptor(words) => RxDescriptor::decode(&words),
            Fetched::Empty => return Err(DropCause::NoDescriptor),
            Fetched::Off => return Err(DropCause::Disabled),
            Fetched::Failed => {
                self.vectors[RX_VECTOR].alarm_if(true);
                return Err(DropCause::Disabled);
            }
        };
        if frame.len() > usize::from(descriptor.length) {
            return Err(DropCause::Buffer);
        }
        let index = self.rx.done();
        let completion = expected_completion(frame, &self.own, self.epoch, index, size, descriptor.cookie);
        // Writes are posted: the device never learns what becomes of them. Host memory records the fault.
        let _ = self.memory.write(descriptor.address, frame);
        let ring = self.rx.bank.address(queue::DONE_LOW, queue::DONE_HIGH);
        let bytes = completion.encode().map(u32::to_le_bytes);
        let _ = self.memory.write(ring + (size.slot(index) * completion::BYTES) as u64, bytes.as_flattened());
        self.rx.bank.count(queue::FRAMES);
        let low = self.rx.finish();
        self.vectors[RX_VECTOR].alarm_if(low);
        self.vectors[RX_VECTOR].event();
        Ok(completion)
    }

    /// Sends what is posted, while the device may send.
    fn transmit(&mut self) {
        let before = self.tx.done();
        while registers::TX_ENABLE.of(self.global.get(registers::CONTROL)) == 1 {
            match self.tx.fetch(&mut self.memory) {
                Fetched::Descriptor(words) => self.send(&TxDescriptor::decode(&words)),
                Fetched::Failed => self.vectors[TX_VECTOR].alarm_if(true),
                Fetched::Empty | Fetched::Off => break,
            }
        }
        let done = self.tx.done();
        if done != before {
            let address = self.tx.bank.address(queue::DONE_LOW, queue::DONE_HIGH);
            let _ = self.memory.write(address, &u32::from(done).to_le_bytes());
            self.vectors[TX_VECTOR].event();
        }
    }

    /// Puts the frame of a descriptor on the wire, or stops the queue.
    fn send(&mut self, descriptor: &TxDescriptor) {
        match self.read_frame(descriptor) {
            Ok(frame) => {
                self.sent.push_back(frame);
                self.tx.bank.count(queue::FRAMES);
                self.global.count(registers::FRAMES_OUT);
                let low = self.tx.finish();
                self.vectors[TX_VECTOR].alarm_if(low);
            }
            Err(cause) => {
                self.tx.bank.count(queue::DROP_BUFFER);
                self.tx.stop(cause);
                self.vectors[TX_VECTOR].alarm_if(true);
            }
        }
    }

    fn read_frame(&mut self, descriptor: &TxDescriptor) -> Result<Vec<u8>, Cause> {
        let fits = (MIN_FRAME..=self.max_frame()).contains(&descriptor.length);
        if !fits || descriptor.flags & FLAG_EOP == 0 {
            return Err(Cause::BadDescriptor);
        }
        let mut frame = vec![0; usize::from(descriptor.length)];
        self.memory.read(descriptor.address, &mut frame).map_err(|_| Cause::UnsupportedRequest)?;
        Ok(frame)
    }
}

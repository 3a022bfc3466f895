//! The whole device behind the driver's seams.

mod prepared;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use ferronic::{Bar, Interrupts};
use ferronic_contract::cause::Cause;
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::{RxDescriptor, TxDescriptor, FLAG_EOP};
use ferronic_contract::registers::queue::Format;
use ferronic_contract::registers::{self, queue};
use ferronic_contract::ring::RingSize;
use ferronic_contract::{MAX_FRAME, MIN_FRAME};
use ferronic_pcie::Memory;

use super::bank::Bank;
use super::expect::{Delivery, Fate, Misfit, Placed};
use super::map::{group, Group, TX_VECTOR};
use super::queue::{Fetched, Queue};
use super::settings::{Settings, ALL_FEATURES};
use super::vector::Vector;
use super::verdict::{verdict, DropCause, Verdict};

pub use prepared::Prepared;

/// Rate of the clock that the model says it has, in kHz. It has none.
const CLOCK_KHZ: u32 = 125_000;
/// RX queues of [`Model::new`].
const RX_QUEUES: usize = 4;

/// A device without time: a frame is delivered, or sent, in the call that makes it possible.
///
/// It has no packet FIFO, so a frame that finds no descriptor is dropped at once, as
/// [`DropCause::QueueNoDescriptor`], where the core would let it wait, and time stamps are 0. `memory` is host memory by
/// bus address; it must not call back into the model.
pub struct Model<M>(RefCell<State<M>>);

struct State<M> {
    memory: M,
    global: Bank,
    settings: Settings,
    /// Changes with the settings: what was judged under another number may be judged otherwise now.
    judgement: u64,
    rx: Vec<Queue>,
    tx: Queue,
    /// By number; those of TX queues that are not there stay idle.
    vectors: Vec<Vector>,
    sent: VecDeque<Vec<u8>>,
}

/// What was written for a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The RX queue.
    pub queue: u8,
    /// One completion for each buffer.
    pub completions: Vec<RxCompletion>,
}

impl<M: Memory> Model<M> {
    /// A device after reset, with four RX queues.
    pub fn new(memory: M) -> Self {
        Self::with_queues(memory, RX_QUEUES)
    }

    /// A device with `rx_queues` RX queues, 1 to 16.
    ///
    /// # Panics
    ///
    /// `rx_queues` is out of range.
    pub fn with_queues(memory: M, rx_queues: usize) -> Self {
        assert!((1..=16).contains(&rx_queues), "{rx_queues} RX queues; there can be 1 to 16");
        Self(RefCell::new(State::new(memory, rx_queues)))
    }

    /// A frame, without FCS, comes from the wire. What was written for it, or why nothing was.
    ///
    /// # Errors
    ///
    /// The frame was dropped, and its cause counted.
    pub fn receive(&self, frame: &[u8], bad_fcs: bool) -> Result<Received, DropCause> {
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

/// The values of the global registers after reset.
fn global_bank(rx_queues: usize) -> Bank {
    // One TX queue, 8 bytes a cycle, no packet FIFO, one read at a time.
    let params = registers::RX_QUEUES.at(rx_queues as u32)
        | registers::TX_QUEUES.at(1)
        | registers::STREAM_BYTES.at(8)
        | registers::READ_TAGS.at(1);
    let after_reset = [
        (registers::ID, registers::ID_VALUE),
        (registers::VERSION, registers::VERSION_VALUE),
        (registers::PARAMS, params),
        (registers::FEATURES, ALL_FEATURES),
        (registers::CLOCK_KHZ, CLOCK_KHZ),
        (registers::MAX_FRAME, 1518),
        (registers::TIMEOUT, 6104),
        (registers::RX_MODE, 1),
    ];
    Bank::new(&registers::GLOBALS, &after_reset)
}

impl<M: Memory> State<M> {
    fn new(memory: M, rx_queues: usize) -> Self {
        let mut state = Self {
            memory,
            global: global_bank(rx_queues),
            settings: Settings::default(),
            judgement: 0,
            rx: (0..rx_queues).map(|_| Queue::default()).collect(),
            tx: Queue::default(),
            vectors: Vec::new(),
            sent: VecDeque::new(),
        };
        state.reset();
        state
    }

    /// Everything but the memory and what is on the wire already starts anew.
    fn reset(&mut self) {
        let rx_queues = self.rx.len();
        self.global = global_bank(rx_queues);
        self.settings = Settings::default();
        self.judgement += 1;
        self.rx.fill_with(Queue::default);
        self.tx = Queue::default();
        self.vectors.clear();
        self.vectors.resize_with(2 * rx_queues, Vector::default);
    }

    fn read(&self, offset: u32) -> u32 {
        match group(offset, self.rx.len()) {
            Some((Group::Global, offset)) => self.global.read(offset),
            Some((Group::Rx(number), offset)) => self.rx[number].read(offset),
            Some((Group::Tx, offset)) => self.tx.read(offset),
            Some((Group::Vector(number), offset)) => self.vectors[number].read(offset),
            Some((Group::Filter, offset)) => self.settings.filters.read(offset),
            None => 0,
        }
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.judgement += u64::from(self.settings.write(offset, value));
        match group(offset, self.rx.len()) {
            Some((Group::Global, offset)) => self.write_global(offset, value),
            Some((Group::Rx(number), offset)) => {
                let stopped = self.rx[number].write(offset, value);
                self.rx_vector(number).alarm_if(stopped);
            }
            Some((Group::Tx, offset)) => {
                let stopped = self.tx.write(offset, value);
                self.tx_vector().alarm_if(stopped);
                self.transmit();
            }
            Some((Group::Vector(number), offset)) => {
                let queue = if number == TX_VECTOR { &self.tx } else { &self.rx[number / 2] };
                self.vectors[number].write(offset, value, queue.done());
            }
            Some((Group::Filter, _)) | None => {}
        }
    }

    fn rx_vector(&mut self, queue: usize) -> &mut Vector {
        &mut self.vectors[registers::rx_vector(queue as u32) as usize]
    }

    fn tx_vector(&mut self) -> &mut Vector {
        &mut self.vectors[TX_VECTOR]
    }

    fn write_global(&mut self, offset: u32, value: u32) {
        self.global.write(offset, value);
        if offset == registers::CONTROL.offset {
            if registers::RESET.of(value) == 1 {
                self.reset();
            }
            self.transmit();
        }
    }

    /// The MAX_FRAME register, as far as it may go.
    fn max_frame(&self) -> u16 {
        self.global.get(registers::MAX_FRAME).min(u32::from(MAX_FRAME)) as u16
    }

    fn receive(&mut self, frame: &[u8], bad_fcs: bool) -> Result<Received, DropCause> {
        self.global.count(registers::FRAMES_IN);
        let delivery = match self.at_the_wire(frame, bad_fcs) {
            Ok(delivery) => delivery,
            Err(cause) => {
                self.global.count(cause.counter(0).1);
                return Err(cause);
            }
        };
        let number = usize::from(delivery.queue);
        let outcome = self.deliver(number, &delivery);
        if let Err(cause) = outcome {
            self.rx[number].bank.count(cause.counter(0).1);
        }
        outcome
    }

    /// What holds of a frame before its queue has a say.
    fn at_the_wire(&self, frame: &[u8], bad_fcs: bool) -> Result<Delivery, DropCause> {
        let enabled = registers::RX_ENABLE.of(self.global.get(registers::CONTROL)) == 1;
        if !enabled || self.rx.iter().all(|queue| queue.running().is_none()) {
            return Err(DropCause::Disabled);
        }
        if let Verdict::Drop(cause) = verdict(frame.len(), bad_fcs, self.max_frame()) {
            return Err(cause);
        }
        match self.settings.judge(frame) {
            Fate::Pause => Err(DropCause::Pause),
            Fate::Filtered => Err(DropCause::Filter),
            // A queue that this device does not have never runs.
            Fate::Queue(delivery) if usize::from(delivery.queue) >= self.rx.len() => Err(DropCause::Disabled),
            Fate::Queue(delivery) => Ok(delivery),
        }
    }

    fn deliver(&mut self, number: usize, delivery: &Delivery) -> Result<Received, DropCause> {
        let queue = &mut self.rx[number];
        let size = queue.running().ok_or(DropCause::QueueDisabled)?;
        let control = queue.bank.get(queue::CONTROL);
        let mut buffers = Vec::new();
        let mut failed = false;
        let placed = delivery.place(control, || match queue.fetch(&mut self.memory, buffers.len()) {
            Fetched::Descriptor(words) => {
                let descriptor = RxDescriptor::decode(&words);
                buffers.push(descriptor);
                Some(descriptor.length)
            }
            Fetched::Empty | Fetched::Off => None,
            Fetched::Failed => {
                failed = true;
                None
            }
        });
        let outcome = match placed {
            Ok(placed) => Ok(self.write_frame(number, delivery, &placed, size, control, &buffers)),
            Err(Misfit::TooLong) => Err(DropCause::Buffer),
            Err(Misfit::NoBuffer) if failed => Err(DropCause::QueueDisabled),
            Err(Misfit::NoBuffer) => Err(DropCause::QueueNoDescriptor),
        };
        self.rx_vector(number).alarm_if(failed);
        outcome
    }

    /// Writes a frame to its buffers, and then its completions.
    fn write_frame(
        &mut self,
        number: usize,
        delivery: &Delivery,
        placed: &Placed,
        size: RingSize,
        control: u32,
        buffers: &[RxDescriptor],
    ) -> Received {
        let queue = &mut self.rx[number];
        let cookies: Vec<u32> = buffers.iter().map(|buffer| buffer.cookie).collect();
        let completions = delivery.completions(placed, size, queue.done(), &cookies);
        // Writes are posted: the device never learns what becomes of them. Host memory records the fault.
        for (piece, buffer) in placed.pieces.iter().zip(buffers) {
            let _ = self.memory.write(buffer.address, &delivery.bytes[piece.clone()]);
        }
        if placed.cut {
            queue.bank.count(queue::CUT);
        }
        self.complete(number, size, control, &completions);
        Received { queue: number as u8, completions }
    }

    /// Writes the completions of a frame that lies in its buffers.
    fn complete(&mut self, number: usize, size: RingSize, control: u32, completions: &[RxCompletion]) {
        let queue = &mut self.rx[number];
        let ring = queue.bank.address(queue::DONE_LOW, queue::DONE_HIGH);
        let format = format(control);
        let mut low = false;
        for completion in completions {
            let slot = ring + (size.slot(completion.index) * format.bytes()) as u64;
            let _ = match format {
                Format::Full => self.memory.write(slot, completion.encode().map(u32::to_le_bytes).as_flattened()),
                compact => {
                    let words = completion.encode_compact(compact == Format::CompactTag);
                    self.memory.write(slot, words.map(u32::to_le_bytes).as_flattened())
                }
            };
            low |= queue.finish();
        }
        if queue::INDEX.of(control) == 1 {
            let address = queue.bank.address(queue::INDEX_LOW, queue::INDEX_HIGH);
            let _ = self.memory.write(address, &u32::from(queue.done()).to_le_bytes());
        }
        queue.bank.count(queue::FRAMES);
        let vector = self.rx_vector(number);
        vector.alarm_if(low);
        vector.event();
    }

    /// Sends what is posted, while the device may send.
    fn transmit(&mut self) {
        let before = self.tx.done();
        while registers::TX_ENABLE.of(self.global.get(registers::CONTROL)) == 1 {
            match self.tx.fetch(&mut self.memory, 0) {
                Fetched::Descriptor(words) => self.send(&TxDescriptor::decode(&words)),
                Fetched::Failed => self.tx_vector().alarm_if(true),
                Fetched::Empty | Fetched::Off => break,
            }
        }
        let done = self.tx.done();
        if done != before {
            let address = self.tx.bank.address(queue::DONE_LOW, queue::DONE_HIGH);
            let _ = self.memory.write(address, &u32::from(done).to_le_bytes());
            self.tx_vector().event();
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
                self.tx_vector().alarm_if(low);
            }
            Err(cause) => {
                self.tx.bank.count(queue::DROP_BUFFER);
                self.tx.stop(cause);
                self.tx_vector().alarm_if(true);
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

/// The completion format that a queue's register CONTROL asks for; the value 3 means nothing in the contract.
pub fn format(control: u32) -> Format {
    match queue::FORMAT.of(control) {
        1 => Format::CompactHash,
        2 => Format::CompactTag,
        _ => Format::Full,
    }
}

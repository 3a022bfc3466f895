//! The loop of the device's thread: requests, frames, interrupts.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use ferronic::{Bar, Interrupts};

use super::memory::{DeviceMemory, Mapping};
use super::seams::relax;
use super::{pin, Options, Shared};
use crate::model::{Model, Prepared};

/// Frames between two looks at the requests.
const BURST: usize = 32;

/// What the driver's thread wants of the device's. They are answered in their order.
pub(super) enum Request {
    /// A register write.
    Write { offset: u32, value: u32 },
    /// A register read; the value is the answer.
    Read { offset: u32, number: u32 },
    /// A new region.
    Map(Mapping),
    /// A region goes away. From the answer on the device does not touch it.
    Unmap { start: u64, number: u32 },
    /// Other traffic.
    Generate { frames: Vec<Vec<u8>>, limit: u64, number: u32 },
    /// The thread ends.
    End,
}

/// Says that the device is gone, also when its thread panics: behind all that touches memory.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.store(false, Ordering::Release);
    }
}

/// Starts the device's thread.
pub(super) fn start(shared: Arc<Shared>, options: Options) -> JoinHandle<()> {
    let run = move || {
        let alive = Alive(shared);
        if let Some(processor) = options.processor {
            pin::this_thread_to(processor);
        }
        Engine::new(&alive.0, options).run();
    };
    std::thread::Builder::new().name("device".into()).spawn(run).expect("a thread for the device")
}

struct Engine<'a> {
    shared: &'a Shared,
    memory: DeviceMemory,
    model: Model<DeviceMemory>,
    vectors: u32,
    generator: Generator,
}

/// The frames to receive.
#[derive(Default)]
struct Generator {
    frames: Vec<Vec<u8>>,
    /// Those that get to a queue, judged.
    prepared: Vec<Prepared>,
    next: usize,
    left: u64,
}

impl<'a> Engine<'a> {
    fn new(shared: &'a Shared, options: Options) -> Self {
        let memory = DeviceMemory::new(options.writes);
        Self {
            shared,
            model: Model::with_queues(memory.clone(), options.rx_queues),
            memory,
            vectors: 2 * options.rx_queues as u32,
            generator: Generator::default(),
        }
    }

    fn run(&mut self) {
        let mut idle = 0u32;
        loop {
            let mut worked = false;
            while let Some(request) = self.shared.requests.pop() {
                worked = true;
                if !self.answer(request) {
                    return;
                }
            }
            let received = self.receive();
            if received > 0 {
                worked = true;
                // Behind the last completion, so that who has seen the count sees the frames.
                self.shared.delivered.fetch_add(received, Ordering::Release);
            }
            if worked {
                idle = 0;
                self.tell_interrupts();
            } else {
                idle = idle.wrapping_add(1);
                relax(idle);
            }
        }
    }

    /// False when that was the last one.
    fn answer(&mut self, request: Request) -> bool {
        match request {
            Request::Write { offset, value } => {
                self.model.write32(offset, value);
                let sent = std::iter::from_fn(|| self.model.sent()).count() as u64;
                if sent > 0 {
                    self.shared.sent.fetch_add(sent, Ordering::Release);
                }
            }
            Request::Read { offset, number } => self.say(number, self.model.read32(offset)),
            Request::Map(mapping) => self.memory.map(mapping),
            Request::Unmap { start, number } => {
                self.memory.unmap(start);
                self.say(number, 0);
            }
            Request::Generate { frames, limit, number } => {
                self.generator = Generator { frames, left: limit, ..Generator::default() };
                self.say(number, 0);
            }
            Request::End => return false,
        }
        true
    }

    fn say(&self, number: u32, value: u32) {
        self.shared.answer.store(u64::from(number) << 32 | u64::from(value), Ordering::Release);
    }

    /// Receives a burst, as far as there are descriptors, and says how many frames that was.
    fn receive(&mut self) -> u64 {
        let Generator { frames, prepared, next, left } = &mut self.generator;
        if *left == 0 || frames.is_empty() {
            return 0;
        }
        if prepared.first().is_none_or(|frame| !self.model.is_current(frame)) {
            *prepared = frames.iter().filter_map(|frame| self.model.prepare(frame).ok()).collect();
            *next = 0;
        }
        let mut received = 0;
        for _ in 0..BURST {
            let Some(frame) = prepared.get(*next).filter(|frame| *left > 0 && self.model.room(frame.queue()) > 0) else {
                break;
            };
            received += u64::from(self.model.receive_prepared(frame).is_ok());
            *left -= 1;
            *next = (*next + 1) % prepared.len();
        }
        received
    }

    fn tell_interrupts(&self) {
        let fired = |vector: &u32| matches!(self.model.wait(*vector, Duration::ZERO), Ok(true));
        let bits = (0..self.vectors).filter(fired).fold(0, |bits, vector| bits | 1 << vector);
        if bits != 0 {
            self.shared.fired.fetch_or(bits, Ordering::Release);
        }
    }
}

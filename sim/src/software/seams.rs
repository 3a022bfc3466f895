//! Registers and interrupts from the driver's side: requests to the device's thread.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferronic::{Bar, Clock, Interrupts, SystemClock};

use super::engine::Request;
use super::Shared;

/// Waits a moment. The other thread is on another processor, as a rule; where it is not, or where others want this
/// one, it gets its turn.
pub(super) fn relax(turns: u32) {
    if turns.is_multiple_of(256) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

/// The driver's end of the requests. One thread has it, so one question at most is open.
pub(super) struct Port {
    shared: Arc<Shared>,
    /// Number of the last question.
    asked: Cell<u32>,
    clock: Rc<SystemClock>,
}

impl Port {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, asked: Cell::new(0), clock: Rc::default() }
    }

    pub(super) fn clock(&self) -> Rc<dyn Clock> {
        Rc::clone(&self.clock) as _
    }

    fn is_alive(&self) -> bool {
        self.shared.alive.load(Ordering::Acquire)
    }

    /// Sends a request on its way. One to a device that is gone is lost.
    pub(super) fn post(&self, request: Request) {
        let mut turns = 0;
        let mut waiting = Some(request);
        while let Some(request) = waiting.take() {
            waiting = self.shared.requests.push(request).err().filter(|_| self.is_alive());
            turns += 1;
            relax(turns);
        }
    }

    /// Sends a request and waits for its answer; `None` from a device that is gone.
    pub(super) fn ask(&self, request: impl FnOnce(u32) -> Request) -> Option<u32> {
        let number = self.asked.get().wrapping_add(1);
        self.asked.set(number);
        self.post(request(number));
        let mut turns = 0u32;
        loop {
            let alive = self.is_alive();
            let answer = self.shared.answer.load(Ordering::Acquire);
            if (answer >> 32) as u32 == number {
                return Some(answer as u32);
            }
            if !alive {
                return None;
            }
            turns = turns.wrapping_add(1);
            relax(turns);
        }
    }
}

impl Bar for Port {
    fn read32(&self, offset: u32) -> u32 {
        self.ask(|number| Request::Read { offset, number }).unwrap_or(u32::MAX)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.post(Request::Write { offset, value });
    }
}

impl Interrupts for Port {
    fn wait(&self, vector: u32, timeout: Duration) -> io::Result<bool> {
        let bit = 1u64.checked_shl(vector).ok_or_else(|| io::Error::other(format!("no interrupt vector {vector}")))?;
        let begun = Instant::now();
        let mut turns = 0u32;
        loop {
            // A look first: taking the word away from the device each time would slow it down.
            if self.shared.fired.load(Ordering::Relaxed) & bit != 0 {
                return Ok(self.shared.fired.fetch_and(!bit, Ordering::AcqRel) & bit != 0);
            }
            if begun.elapsed() >= timeout {
                return Ok(false);
            }
            turns = turns.wrapping_add(1);
            relax(turns);
        }
    }
}

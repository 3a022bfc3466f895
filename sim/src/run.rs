//! One run: frames over the wire through the core, by DMA to the driver, and back if asked; checked throughout.

use crate::core_model::CoreModel;
use crate::cost::{HostCost, Meter, Stack};
use crate::device::SimDevice;
use crate::outcome::FrameLine;
use crate::report::{Report, Totals};
use crate::scoreboard::Scoreboard;
use crate::wire::{CaptureError, CaptureWriter, Frame, LineRate, Pace, WireSink, WireSource};
use crate::world::{World, WorldError};
use ferronic::nic::{Config, Nic};
use ferronic::packet::{Packet, Sink};
use ferronic::rx::{RxQueue, Turn};
use ferronic::tx::TxQueue;
use ferronic_contract::registers::rx_vector;
use ferronic_pcie::Settings;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longest wait of the driver for an interrupt, or for the time of its next poll, simulated: 1 ms.
const TURN_PS: u64 = 1_000_000_000;
/// Simulated time without any progress after which frames count as lost: the core's completion time-out is 50 ms.
const STALL_PS: u64 = 120_000_000_000;
/// Frames given to the TX ring for each doorbell when the driver is the one that sends.
const SEND_BATCH: usize = 16;

/// Which way the frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the wire to the driver.
    Receive,
    /// From the wire to the driver, which sends each frame back out.
    Echo,
    /// From the driver to the wire.
    Send,
}

/// What is done to an open device before frames flow.
pub type Prepare = Box<dyn Fn(&mut Nic) -> Result<(), ferronic::error::Error>>;

/// What to run.
pub struct Run {
    /// The driver's set-up.
    pub driver: Config,
    /// Link, latency and disorder.
    pub pcie: Settings,
    /// Speed of the wire, both ways.
    pub line: LineRate,
    /// Spacing of the frames on the wire.
    pub pace: Pace,
    /// Filters, RSS, VLAN strip and the like.
    pub prepare: Option<Prepare>,
    /// RX queues that are open and that nobody polls.
    pub unserved: Vec<u8>,
    /// Which way.
    pub direction: Direction,
    /// Most packets a poll.
    pub budget: usize,
    /// Host work in simulated time.
    pub cost: HostCost,
    /// What the stack adds to it.
    pub stack: Stack,
    /// Capture of what the driver delivered.
    pub received: Option<PathBuf>,
    /// Capture of what the core sent.
    pub sent: Option<PathBuf>,
    /// Waveform; only the tracing core writes one.
    pub waveform: Option<PathBuf>,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            driver: Config::default(),
            pcie: Settings::default(),
            line: LineRate::GIGABIT,
            pace: Pace::default(),
            prepare: None,
            unserved: Vec::new(),
            direction: Direction::Receive,
            budget: 64,
            cost: HostCost::default(),
            stack: Stack::default(),
            received: None,
            sent: None,
            waveform: None,
        }
    }
}

/// Why a run could not be made or finished. Frames that are lost or wrong are no error: the report tells them.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world could not be brought up.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The driver gave up.
    #[error("driver: {0}")]
    Driver(#[from] ferronic::error::Error),
    /// A capture could not be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

/// Who wants to know how far a run is, and each frame's fate.
pub struct Watcher<'a> {
    /// Called now and then with the number of frames that are settled.
    pub progress: &'a mut dyn FnMut(u64),
    /// Called with each frame in the order of the wire.
    pub frame: Option<Box<dyn FnMut(&Frame, &FrameLine)>>,
}

type Shared<M, const B: usize> = Rc<RefCell<World<M, B>>>;

/// The end of the driver's RX: shows the scoreboard every packet, sends it back if asked.
struct Checker<'a, M, const B: usize> {
    world: Shared<M, B>,
    tx: Option<&'a mut TxQueue>,
    cost: HostCost,
    meter: &'a mut Meter,
    received: &'a mut Option<CaptureWriter>,
    failure: &'a mut Option<CaptureError>,
}

impl<M: CoreModel<B>, const B: usize> Sink for Checker<'_, M, B> {
    fn deliver(&mut self, packet: Packet) {
        let now = {
            let mut world = self.world.borrow_mut();
            world.on_delivered(&packet);
            world.pass_ns(self.meter.packet());
            world.now_ps()
        };
        if let Some(Err(error)) = self.received.as_mut().map(|capture| capture.write(now, packet.bytes())) {
            self.failure.get_or_insert(error);
        }
        if let Some(tx) = &mut self.tx {
            let length = packet.completion.length;
            self.world.borrow_mut().scoreboard.on_send(packet.bytes());
            send(&self.world, tx, packet.into_buffer(), length, self.cost);
        }
    }
}

/// Gives the TX ring a frame; while it is full, rings the doorbell, waits and reclaims, as a busy driver would.
fn send<M: CoreModel<B>, const B: usize>(
    world: &Shared<M, B>,
    tx: &mut TxQueue,
    mut buffer: ferronic::pool::Buffer,
    length: u16,
    cost: HostCost,
) {
    world.borrow_mut().pass_ns(cost.send_ns);
    for _ in 0..STALL_PS / 1_000_000 {
        match tx.send(buffer, 0, length) {
            Ok(()) => return,
            Err(refused) => {
                buffer = refused.buffer;
                tx.flush();
                world.borrow_mut().pass_ns(1000);
                if tx.reclaim().is_err() {
                    break;
                }
            }
        }
    }
    world.borrow_mut().scoreboard.mismatch("the TX ring stays full".into());
}

/// Runs frames on a core.
///
/// # Errors
///
/// The core does not come up, the driver gives up, or a file cannot be written.
pub fn run<M: CoreModel<B> + 'static, const B: usize>(
    run: &Run,
    frames: impl Iterator<Item = Frame> + Send + 'static,
    watcher: &mut Watcher<'_>,
) -> Result<Report, RunError> {
    let mut received = run.received.as_deref().map(CaptureWriter::create).transpose()?;
    let mut scoreboard = Scoreboard::default();
    if let Some(observer) = watcher.frame.take() {
        scoreboard.observe(observer);
    }
    if let Some(path) = &run.sent {
        scoreboard.capture_sent(CaptureWriter::create(path)?);
    }
    run.unserved.iter().for_each(|queue| scoreboard.leave_unserved(*queue));
    let mut world = World::<M, B>::new(run.pcie.clone(), run.pace, scoreboard)?;
    (world.source, world.sink) = (WireSource::new(run.line, run.pace), WireSink::new(run.line));
    if let Some(file) = &run.waveform {
        world.trace(file)?;
    }
    let world = Rc::new(RefCell::new(world));
    let mut nic = Nic::open(SimDevice::open(&world, run.cost), &run.driver)?;
    if let Some(prepare) = &run.prepare {
        prepare(&mut nic)?;
    }

    // Reading a register makes sure that every write before it has arrived: from here on the core takes frames.
    nic.check()?;
    let begun = Instant::now();
    let (first_cycle, first_beat, pcie_before) = {
        let world = world.borrow();
        (world.cycles(), world.tlp_beats(), world.pcie.counters().clone())
    };
    let mut failure = None;
    let outcome = match run.direction {
        Direction::Send => transmit(&world, &mut nic, run, frames, watcher),
        Direction::Receive | Direction::Echo => {
            world.borrow_mut().source.feed(frames);
            let echo = run.direction == Direction::Echo;
            receive(&world, &mut nic, run, echo, &mut received, &mut failure, watcher)
        }
    };
    let (wall, cycles) = (begun.elapsed(), world.borrow().cycles() - first_cycle);
    let pcie = (pcie_before, world.borrow().pcie.counters().clone());
    let tlp_beats = world.borrow().tlp_beats() - first_beat;
    let totals = Totals { cycles, tlp_beats, wall, pcie, counters: nic.counters() };
    world.borrow_mut().settle_host_drops(&nic.rx);
    let broken = outcome.err();
    let closed = match nic.close() {
        Ok(closed) => closed,
        Err(error) => return Err(broken.unwrap_or(RunError::Driver(error))),
    };
    if let Some(error) = broken {
        return Err(error);
    }
    if let Some(error) = failure {
        return Err(error.into());
    }
    let mut world = world.borrow_mut();
    let failure = world.core_failure();
    if let Some(failure) = failure {
        world.scoreboard.mismatch(format!("assertion in the core: {failure}"));
    }
    world.scoreboard.finish()?;
    if let Some(capture) = received {
        capture.finish()?;
    }
    Ok(Report::new(&mut world, totals, &closed))
}

/// One CPU polls every queue in turn, and waits for an interrupt when none has anything, until every frame is settled.
fn receive<M: CoreModel<B>, const B: usize>(
    world: &Shared<M, B>,
    nic: &mut Nic,
    run: &Run,
    echo: bool,
    received: &mut Option<CaptureWriter>,
    failure: &mut Option<CaptureError>,
    watcher: &mut Watcher<'_>,
) -> Result<(), RunError> {
    let mut stall = Stall::default();
    let mut meter = Meter::new(run.cost, run.stack);
    let served = |queue: &RxQueue| !run.unserved.contains(&queue.number());
    loop {
        let mut idle = true;
        for queue in nic.rx.iter_mut().filter(|queue| served(queue)) {
            if queue.is_armed() && !world.borrow().has_interrupt(rx_vector(queue.number().into())) {
                continue;
            }
            let tx = echo.then_some(&mut nic.tx);
            meter.poll();
            let mut sink =
                Checker { world: Rc::clone(world), tx, cost: run.cost, meter: &mut meter, received, failure };
            if queue.turn(run.budget, Duration::ZERO, &mut sink)? != Turn::Idle {
                idle = false;
                world.borrow_mut().pass_ns(run.cost.poll_ns);
            }
        }
        if echo {
            nic.tx.flush();
            nic.tx.reclaim().map_err(ferronic::error::Error::from)?;
        }
        let mut world = world.borrow_mut();
        if idle {
            let deadline = world.now_ps() + TURN_PS;
            world.await_any(nic.rx.iter().filter(|queue| served(queue)), deadline);
        }
        world.settle_host_drops(&nic.rx);
        let settled = world.scoreboard.settled();
        (watcher.progress)(settled);
        let done = world.source.is_done() && world.scoreboard.is_settled();
        if done || stall.stalled(world.now_ps(), settled) {
            return Ok(());
        }
    }
}

/// Sends frames as fast as the ring takes them, then waits until they are all on the wire.
fn transmit<M: CoreModel<B>, const B: usize>(
    world: &Shared<M, B>,
    nic: &mut Nic,
    run: &Run,
    frames: impl Iterator<Item = Frame>,
    watcher: &mut Watcher<'_>,
) -> Result<(), RunError> {
    let mut stall = Stall::default();
    for (count, frame) in frames.enumerate() {
        let length = frame.bytes.len();
        if length < usize::from(ferronic_contract::MIN_FRAME) || length > usize::from(run.driver.max_frame) {
            continue;
        }
        let mut buffer = loop {
            match nic.pool().get() {
                Some(buffer) => break buffer,
                None => {
                    world.borrow_mut().pass_ns(1000);
                    nic.tx.reclaim().map_err(ferronic::error::Error::from)?;
                    nic.check()?;
                }
            }
        };
        buffer.bytes_mut()[..length].copy_from_slice(&frame.bytes);
        world.borrow_mut().scoreboard.on_send(&frame.bytes);
        send(world, &mut nic.tx, buffer, length as u16, run.cost);
        if count % SEND_BATCH == SEND_BATCH - 1 {
            nic.tx.flush();
            nic.tx.reclaim().map_err(ferronic::error::Error::from)?;
            (watcher.progress)(world.borrow().scoreboard.settled());
        }
    }
    nic.tx.flush();
    loop {
        let mut world = world.borrow_mut();
        let settled = world.scoreboard.settled();
        (watcher.progress)(settled);
        if world.scoreboard.is_settled() || stall.stalled(world.now_ps(), settled) {
            break;
        }
        world.pass_ns(10_000);
    }
    nic.tx.reclaim().map_err(ferronic::error::Error::from)?;
    Ok(())
}

/// Notices when nothing moves any more.
#[derive(Default)]
struct Stall {
    settled: u64,
    since_ps: Option<u64>,
}

impl Stall {
    fn stalled(&mut self, now_ps: u64, settled: u64) -> bool {
        if self.since_ps.is_none() || settled != self.settled {
            self.settled = settled;
            self.since_ps = Some(now_ps);
        }
        self.since_ps.is_some_and(|since| now_ps - since > STALL_PS)
    }
}

impl<M: CoreModel<B>, const B: usize> World<M, B> {
    /// Tells the scoreboard of the packets that the driver dropped since it last saw one, by the driver's count.
    pub fn settle_host_drops(&mut self, queues: &[RxQueue]) {
        for queue in queues {
            let (number, dropped) = (queue.number(), queue.statistics().dropped_no_buffer);
            let known = self.scoreboard.host_drops(number);
            for _ in known..dropped {
                self.scoreboard.on_host_drop(number);
            }
            if known > dropped {
                self.scoreboard.mismatch(format!("{known} completions skipped, but the driver dropped {dropped}"));
            }
        }
    }
}

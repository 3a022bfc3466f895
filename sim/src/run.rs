//! One run: frames over the wire through the core, by DMA to the driver, and back if asked; checked throughout.

use crate::core_model::CoreModel;
use crate::cost::HostCost;
use crate::device::SimDevice;
use crate::outcome::{FrameLine, Lost};
use crate::report::{Report, Totals};
use crate::scoreboard::{Expectation, Scoreboard};
use crate::wire::{CaptureError, CaptureWriter, Frame, Pace};
use crate::world::{World, WorldError};
use ferronic::nic::{Config, Nic};
use ferronic::packet::{Packet, Sink};
use ferronic::tx::TxQueue;
use ferronic_contract::registers;
use ferronic_pcie::Settings;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Longest wait of the driver for an interrupt, simulated.
const TURN: Duration = Duration::from_millis(1);
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

/// What to run.
pub struct Run {
    /// The driver's set-up.
    pub driver: Config,
    /// Link, latency and disorder.
    pub pcie: Settings,
    /// Spacing of the frames on the wire.
    pub pace: Pace,
    /// Which way.
    pub direction: Direction,
    /// Most packets a poll.
    pub budget: usize,
    /// Host work in simulated time.
    pub cost: HostCost,
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
            pace: Pace::default(),
            direction: Direction::Receive,
            budget: 64,
            cost: HostCost::default(),
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
    received: &'a mut Option<CaptureWriter>,
    failure: &'a mut Option<CaptureError>,
}

impl<M: CoreModel<B>, const B: usize> Sink for Checker<'_, M, B> {
    fn deliver(&mut self, packet: Packet) {
        let now = {
            let mut world = self.world.borrow_mut();
            world.scoreboard.on_delivered(&packet);
            world.pass_ns(self.cost.packet_ns);
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
    let mut world = World::<M, B>::new(run.pcie.clone(), run.pace, scoreboard)?;
    if let Some(file) = &run.waveform {
        world.trace(file)?;
    }
    let world = Rc::new(RefCell::new(world));
    let device = SimDevice::open(&world, run.cost);
    let bar = Rc::clone(&device.bar);
    let mut nic = Nic::open(device, &run.driver)?;
    let features = bar.read32(registers::FEATURES.offset);
    world.borrow_mut().scoreboard.expect(Expectation {
        mac: nic.mac(),
        epoch: nic.epoch(),
        ring: run.driver.rx[0].queue.ring,
        max_frame: run.driver.max_frame,
        features,
    });

    // Reading a register makes sure that every write before it has arrived: from here on the core takes frames.
    nic.check()?;
    let begun = Instant::now();
    let (first_cycle, pcie_before) = {
        let world = world.borrow();
        (world.cycles(), world.pcie.counters().clone())
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
    let totals = Totals { cycles, wall, pcie, counters: nic.counters() };
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
    world.settle_host_drops(closed.rx.dropped_no_buffer);
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

/// Polls until every frame is settled.
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
    loop {
        let tx = echo.then_some(&mut nic.tx);
        let mut sink = Checker { world: Rc::clone(world), tx, cost: run.cost, received, failure };
        nic.rx[0].turn(run.budget, TURN, &mut sink)?;
        world.borrow_mut().pass_ns(run.cost.poll_ns);
        if echo {
            nic.tx.flush();
            nic.tx.reclaim().map_err(ferronic::error::Error::from)?;
        }
        let mut world = world.borrow_mut();
        world.settle_host_drops(nic.rx[0].statistics().dropped_no_buffer);
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
    fn settle_host_drops(&mut self, dropped: u64) {
        let known = self.scoreboard.dropped().get(&Lost::NoHostBuffer).copied().unwrap_or(0);
        for _ in known..dropped {
            self.scoreboard.on_host_drop();
        }
        if known > dropped {
            self.scoreboard.mismatch(format!("{known} completions skipped, but the driver dropped {dropped}"));
        }
    }
}

//! Opening and closing a device: queue pair 0, one address, one frame size.

use ferronic_contract::class::Mac;
use ferronic_contract::registers::{self, ID_VALUE, VERSION_VALUE};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_contract::MAX_FRAME;

use crate::device::{Device, Group};
use crate::error::Error;
use crate::packet::Filter;
use crate::pool::Pool;
use crate::queue::{in_range, Moderation, Queue, QueueConfig, GONE, PATIENCE};
use crate::rx::RxQueue;
use crate::statistics::{self, Counter, RxStatistics, TxStatistics};
use crate::tx::TxQueue;

/// Shortest value of the core's MAX_FRAME register.
const LEAST_MAX_FRAME: u32 = 60;

/// How a device is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Own address.
    pub mac: Mac,
    /// Longest frame in bytes without FCS, 60..=9600; longer ones are dropped or refused.
    pub max_frame: u16,
    /// The RX queue.
    pub rx: QueueConfig,
    /// The TX queue.
    pub tx: QueueConfig,
    /// RX descriptors posted per doorbell, 1 to the ring's entries.
    pub doorbell_every: u16,
    /// Buffers in the pool: more than the RX ring has entries. Those beyond are what the sink may keep and
    /// what is sent.
    pub buffers: u32,
    /// Bytes of a buffer, 64..=16384. The core drops received frames that are longer.
    pub buffer_bytes: u16,
}

impl Default for Config {
    /// A local address, rings of 256, buffers of 2 KiB.
    fn default() -> Self {
        const RING: RingSize = match RingSize::new(256) {
            Some(ring) => ring,
            None => panic!("256 is a ring size"),
        };
        let queue = QueueConfig {
            ring: RING,
            thresholds: Thresholds::default(),
            write_back_usecs: 5,
            moderation: Moderation::default(),
        };
        Self {
            mac: [0x02, 0, 0, 0, 0, 1],
            max_frame: 1518,
            rx: queue,
            tx: queue,
            doorbell_every: 8,
            buffers: 1024,
            buffer_bytes: 2048,
        }
    }
}

impl Config {
    /// Refuses what can be refused without a device.
    fn check(&self) -> Result<(), Error> {
        let entries = self.rx.ring.entries();
        in_range("MAX_FRAME", u32::from(self.max_frame), LEAST_MAX_FRAME, u32::from(MAX_FRAME))?;
        in_range("RX descriptors per doorbell", u32::from(self.doorbell_every), 1, entries)?;
        in_range("buffers", self.buffers, entries + 1, 1 << 24)?;
        in_range("bytes of a buffer", u32::from(self.buffer_bytes), 64, 16384)?;
        self.rx.thresholds.check()?;
        self.tx.thresholds.check()?;
        Ok(())
    }
}

/// What closing found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// RX counters at the end.
    pub rx: RxStatistics,
    /// TX counters at the end.
    pub tx: TxStatistics,
    /// Frames given to the TX ring of which it is not known that they were sent.
    pub tx_unfinished: u16,
}

/// An open device.
pub struct Nic {
    /// Receiving.
    pub rx: RxQueue,
    /// Sending.
    pub tx: TxQueue,
    device: Device,
    global: Group,
    pool: Pool,
    clock_khz: u32,
    closed: bool,
}

impl Nic {
    /// Resets the device, sets it up and starts it.
    ///
    /// # Errors
    ///
    /// Not a core that this driver understands, a setting out of range, no memory, or no answer.
    pub fn open(device: Device, config: &Config) -> Result<Self, Error> {
        config.check()?;
        let global = Group::new(&device, registers::GLOBAL);
        identify(&global)?;
        let clock_khz = global.read(registers::CLOCK_KHZ);
        if clock_khz == 0 {
            return Err(Error::NoClock);
        }
        // A driver that died may have left the queues running; a reset in the middle of its DMA would leave
        // answers without a question. A queue that does not come to rest is reset all the same.
        let old = [Queue::rx(&device), Queue::tx(&device)];
        for queue in &old {
            queue.disable();
        }
        for queue in &old {
            match queue.wait_idle() {
                Err(Error::NotIdle { .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        reset(&global)?;

        let pool = Pool::new(&*device.dma, config.buffers, config.buffer_bytes)
            .map_err(|source| Error::Memory { what: "packet buffers", source })?;
        global.write(registers::MAX_FRAME, u32::from(config.max_frame));
        let filter = set_filter(&global, config.mac);
        let rx = RxQueue::new(&device, pool.clone(), config, filter, clock_khz)?;
        let tx = TxQueue::new(&device, &config.tx, config.max_frame, clock_khz)?;
        let mut nic = Self { rx, tx, device, global, pool, clock_khz, closed: false };
        nic.tx.queue.enable();
        nic.rx.start();
        nic.global.write(registers::CONTROL, registers::RX_ENABLE.at(1) | registers::TX_ENABLE.at(1));
        Ok(nic)
    }

    /// The buffer pool, for frames to send.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Rate of the core's clock in kHz.
    pub fn clock_khz(&self) -> u32 {
        self.clock_khz
    }

    /// Epoch of the address filter: what the core stamps on frames compared with the own address, 0 to 7.
    pub fn epoch(&self) -> u8 {
        self.rx.filter.epoch
    }

    /// Own address.
    pub fn mac(&self) -> Mac {
        self.rx.filter.mac
    }

    /// Changes the own address. Frames that the core compared with the old one are classified by software,
    /// as long as fewer than 8 changes are made while they are on their way.
    pub fn set_mac(&mut self, mac: Mac) {
        self.rx.filter = set_filter(&self.global, mac);
    }

    /// Reads the core's counters. Not for the data path.
    pub fn counters(&self) -> Vec<Counter> {
        statistics::read(&self.device)
    }

    /// Reads whether the device is there and runs. Not for the data path.
    ///
    /// # Errors
    ///
    /// The device is gone, or the core stopped a queue.
    pub fn check(&self) -> Result<(), Error> {
        self.rx.queue.check()?;
        self.tx.queue.check()
    }

    /// Stops the device and waits until it leaves the memory alone. Frames that wait in the TX ring are
    /// not sent: to have them sent, wait until [`TxQueue::outstanding`] is 0 before.
    ///
    /// # Errors
    ///
    /// The device is gone, or does not come to rest. Then the memory lent to it is never freed or used again,
    /// because it may still write there.
    pub fn close(mut self) -> Result<Closed, Error> {
        self.stop()?;
        // An index that breaks the contract says nothing about frames, and they count as unfinished.
        let _ = self.tx.reclaim();
        Ok(Closed { rx: self.rx.statistics(), tx: self.tx.statistics(), tx_unfinished: self.tx.outstanding() })
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.closed = true;
        // TX stays enabled until its queue is at rest, so that frames under way can leave.
        self.global.write(registers::CONTROL, registers::TX_ENABLE.at(1));
        self.rx.queue.disable();
        self.tx.queue.disable();
        let rest = self.rx.queue.wait_idle().and_then(|()| self.tx.queue.wait_idle());
        self.global.write(registers::CONTROL, 0);
        if rest.is_err() {
            self.rx.abandon();
            self.tx.abandon();
        }
        rest
    }
}

impl Drop for Nic {
    fn drop(&mut self) {
        if !self.closed {
            // Nobody is left to tell: `stop` keeps the memory when the device does not come to rest.
            let _ = self.stop();
        }
    }
}

/// Refuses what is not a core of this contract's major version.
fn identify(global: &Group) -> Result<(), Error> {
    match global.read(registers::ID) {
        ID_VALUE => {}
        GONE => return Err(Error::DeviceGone),
        id => return Err(Error::NotFerronic(id)),
    }
    let version = global.read(registers::VERSION);
    if version >> 16 != VERSION_VALUE >> 16 {
        return Err(Error::Version(version));
    }
    Ok(())
}

fn reset(global: &Group) -> Result<(), Error> {
    global.write(registers::CONTROL, registers::RESET.at(1));
    let mut control = 0;
    for _ in 0..PATIENCE {
        control = global.read(registers::CONTROL);
        if control == GONE {
            return Err(Error::DeviceGone);
        }
        if registers::RESET.of(control) == 0 {
            return Ok(());
        }
    }
    Err(Error::ResetStuck(control))
}

/// Writes the own address under the next epoch. The core takes both with the second write.
fn set_filter(global: &Group, mac: Mac) -> Filter {
    let epoch = registers::MAC_EPOCH.of(global.read(registers::MAC_HIGH)) + 1;
    let [a, b, c, d, e, f] = mac;
    global.write(registers::MAC_LOW, u32::from_le_bytes([a, b, c, d]));
    let bytes = u32::from(u16::from_le_bytes([e, f]));
    global.write(registers::MAC_HIGH, registers::MAC_45.at(bytes) | registers::MAC_EPOCH.at(epoch));
    Filter { mac, epoch: (epoch & registers::MAC_EPOCH.max()) as u8 }
}

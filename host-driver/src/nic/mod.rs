//! Opening and closing a device.

use std::sync::Arc;

use ferronic_contract::class::Mac;
use ferronic_contract::registers::{self, FEATURE_RSS, ID_VALUE, VERSION_VALUE};

pub use crate::config::Config;
use crate::device::{Device, Group};
use crate::error::Error;
use crate::features::Features;
use crate::filters::Filters;
use crate::pool::Pool;
use crate::queue::{Queue, QueueName, GONE, PATIENCE};
use crate::rx::{RxQueue, Shared};
use crate::station::Station;
use crate::statistics::{self, Counter, RxStatistics, TxStatistics};
use crate::tx::TxQueue;

mod cost;
mod flow;
mod steer;

pub use cost::RegisterCost;
pub use flow::FlowControl;
pub use steer::{Rss, RssTypes, RxMode, VlanStrip};

/// What closing found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// RX counters at the end, of all queues together.
    pub rx: RxStatistics,
    /// TX counters at the end.
    pub tx: TxStatistics,
    /// Frames given to the TX ring of which it is not known that they were sent.
    pub tx_unfinished: u16,
}

/// An open device.
pub struct Nic {
    /// Receiving: the queues by number. Each is polled on its own.
    pub rx: Vec<RxQueue>,
    /// Sending.
    pub tx: TxQueue,
    /// Exact filters.
    pub filters: Filters,
    device: Device,
    global: Group,
    filter: Group,
    features: Features,
    station: Arc<Station>,
    rss: Rss,
    mode: RxMode,
    strip: VlanStrip,
    clock_khz: u32,
    closed: bool,
}

impl Nic {
    /// Resets the device, sets it up and starts it. With more than one RX queue, packets are spread evenly by hash if the
    /// build has RSS; without, they come by queue 0 unless a filter says otherwise.
    ///
    /// # Errors
    ///
    /// Not a core that this driver understands, a setting out of range or beyond what this build of the core has, no
    /// memory, or no answer.
    pub fn open(device: Device, config: &Config) -> Result<Self, Error> {
        config.check()?;
        let global = Group::new(&device, registers::GLOBAL);
        identify(&global)?;
        let features = Features::read(&global);
        config.check_features(&features)?;
        let clock_khz = global.read(registers::CLOCK_KHZ);
        if clock_khz == 0 {
            return Err(Error::NoClock);
        }
        quieten(&device, &features)?;
        reset(&global)?;

        global.write(registers::MAX_FRAME, u32::from(config.max_frame));
        // The epoch goes on from where a driver before left it, so that its frames are told apart.
        let old_epoch = registers::MAC_EPOCH.of(global.read(registers::MAC_HIGH)) as u8;
        let station = Arc::new(Station::new(config.mac, old_epoch));
        station.announce(config.mac, &global);
        let shared = Shared { device: &device, config, features, station: &station, clock_khz };
        let queues = config.rx.len() as u8;
        let rx = (0..queues).map(|number| RxQueue::new(&shared, number)).collect::<Result<Vec<_>, _>>()?;
        let tx = TxQueue::new(&device, &config.tx, config.max_frame, clock_khz)?;
        let filter = Group::new(&device, registers::FILTER);
        let filters = Filters::new(filter.clone(), Arc::clone(&station), features, queues);
        let mut nic = Self {
            rx,
            tx,
            filters,
            device,
            global,
            filter,
            features,
            station,
            rss: Rss::even(RssTypes::NONE, 1),
            mode: RxMode::default(),
            strip: VlanStrip::default(),
            clock_khz,
            // Only a device that was started has to be stopped.
            closed: true,
        };
        nic.set_hold(config.hold())?;
        if nic.features.has(FEATURE_RSS) {
            nic.set_rss(Rss::even(if queues > 1 { RssTypes::ALL } else { RssTypes::NONE }, queues))?;
        }
        nic.closed = false;
        nic.tx.start();
        nic.rx.iter_mut().try_for_each(RxQueue::start)?;
        nic.global.write(registers::CONTROL, registers::RX_ENABLE.at(1) | registers::TX_ENABLE.at(1));
        Ok(nic)
    }

    /// A buffer pool for frames to send: RX queue 0's.
    pub fn pool(&self) -> &Pool {
        self.rx[0].pool()
    }

    /// What this build of the core has.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Rate of the core's clock in kHz.
    pub fn clock_khz(&self) -> u32 {
        self.clock_khz
    }

    /// Epoch of the address filter: what the core stamps on frames compared with the own address and the filters as
    /// they are now, 0 to 7.
    pub fn epoch(&self) -> u8 {
        self.station.get().1
    }

    /// Own address.
    pub fn mac(&self) -> Mac {
        self.station.get().0
    }

    /// Changes the own address. Frames that the core compared with the old one are classified by software,
    /// as long as fewer than 8 changes, of address or filters, are made while they are on their way.
    pub fn set_mac(&mut self, mac: Mac) {
        self.station.announce(mac, &self.global);
    }

    /// Reads the counters of the core and of the open queues. Not for the data path.
    pub fn counters(&self) -> Vec<Counter> {
        let rx = self.rx.iter().map(|queue| QueueName::Rx(queue.number()));
        statistics::read(&self.device, rx.chain([QueueName::Tx(0)]))
    }

    /// Every counter, the driver's and the core's, in the manner of `ethtool -S`: first the sums that every interface has
    /// (`rx_packets`, `rx_missed_errors`), then each by itself (`rx0_packets`, `rx0_time_squeeze`, `rx0_starved`,
    /// `drop_filter`). Not for the data path.
    pub fn statistics(&self) -> Vec<(String, u64)> {
        let counters = self.counters();
        let rx: Vec<RxStatistics> = self.rx.iter().map(RxQueue::statistics).collect();
        let standard = statistics::standard(&rx.iter().sum(), &self.tx.statistics(), &counters);
        let mut list: Vec<(String, u64)> = standard.into_iter().map(|(name, value)| (name.into(), value)).collect();
        for queue in &self.rx {
            let counted = queue.statistics();
            let pool = queue.pool().statistics();
            list.extend(counted.list().map(|(name, value)| (format!("rx{}_{name}", queue.number()), value)));
            list.extend(pool.list().map(|(name, value)| (format!("rx{}_pool_{name}", queue.number()), value)));
        }
        list.extend(self.tx.statistics().list().map(|(name, value)| (format!("tx0_{name}"), value)));
        list.extend(counters.iter().map(|counter| (counter.ethtool_name(), u64::from(counter.value))));
        list
    }

    /// Reads whether the device is there and runs. Not for the data path.
    ///
    /// # Errors
    ///
    /// The device is gone, or the core stopped a queue.
    pub fn check(&self) -> Result<(), Error> {
        self.rx.iter().try_for_each(|rx| rx.queue.check())?;
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
        let _ = self.tx.reclaim_all();
        let rx: Vec<RxStatistics> = self.rx.iter().map(RxQueue::statistics).collect();
        Ok(Closed { rx: rx.iter().sum(), tx: self.tx.statistics(), tx_unfinished: self.tx.outstanding() })
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.closed = true;
        // TX stays enabled until its queue is at rest, so that frames under way can leave.
        self.global.write(registers::CONTROL, registers::TX_ENABLE.at(1));
        let queues = || self.rx.iter().map(|rx| &rx.queue).chain([&self.tx.queue]);
        queues().for_each(Queue::disable);
        let rest = queues().try_for_each(Queue::wait_idle);
        self.global.write(registers::CONTROL, 0);
        if rest.is_err() {
            self.rx.iter_mut().for_each(RxQueue::abandon);
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

/// Stops every queue of the core. A driver that died may have left them running; a reset in the middle of its DMA would
/// leave answers without a question. A queue that does not come to rest is reset all the same.
fn quieten(device: &Device, features: &Features) -> Result<(), Error> {
    let names = (0..features.rx_queues()).map(QueueName::Rx).chain((0..features.tx_queues()).map(QueueName::Tx));
    let queues: Vec<Queue> = names.map(|name| Queue::new(device, name)).collect();
    queues.iter().for_each(Queue::disable);
    for queue in &queues {
        match queue.wait_idle() {
            Err(Error::NotIdle { .. }) | Ok(()) => {}
            Err(error) => return Err(error),
        }
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

//! Several ports as one.
//!
//! Each flow has its port, by the [layer 3+4 hash](layer34) of its packets. When a port goes down its flows go to the
//! others; when it is back they come home. All other flows stay where they are, unlike in Linux's bonding, where the
//! number of ports that are up decides about every flow.
//!
//! **Order.** The packets of a flow leave in the order in which they were sent. A flow is moved only when its old port is
//! down, or has sent all that it got of the flow. That is the rule of Linux's receive flow steering (RFS;
//! Documentation/networking/scaling.rst): remember how far the queue had been filled with the last packet of the flow,
//! and let go when it has been emptied that far. Flows are kept in [`BUCKETS`] buckets by hash, and move by bucket.
//! What a port had not sent when it went down is lost to the flow: so a port that went down is taken out, and put in
//! anew, closed and opened, when it is up.

use crate::features::Offloads;
use crate::nic::Nic;
use crate::statistics::counters;

mod hash;

pub use hash::layer34;

/// Buckets that flows are sorted into.
pub const BUCKETS: usize = 256;

/// What a bond has to know of a port.
pub trait BondPort {
    /// Frames that its TX ring has taken since it was opened.
    fn accepted(&self) -> u64;

    /// How many of these it is done with, as far as reclaiming has found out.
    fn done(&self) -> u64;

    /// What it can take over from the host.
    fn offloads(&self) -> Offloads;
}

impl BondPort for Nic {
    fn accepted(&self) -> u64 {
        self.tx.statistics().packets
    }

    fn done(&self) -> u64 {
        self.tx.statistics().reclaimed
    }

    fn offloads(&self) -> Offloads {
        self.features().offloads()
    }
}

/// Where the flows of a bucket go.
#[derive(Clone, Copy)]
struct Bucket {
    port: usize,
    /// What its port will have accepted with the last frame of the bucket.
    last: u64,
}

counters! {
    /// What a bond has done.
    BondStatistics {
        /// Packets that were given a port.
        packets,
        /// Times that the flows of a bucket were moved to another port.
        moved,
        /// Packets that found no port up.
        no_port,
    }
}

/// Several ports as one.
pub struct Bond<P> {
    /// The ports by number; none where one is down.
    ports: Vec<Option<P>>,
    buckets: [Bucket; BUCKETS],
    statistics: BondStatistics,
}

impl<P: BondPort> Bond<P> {
    /// A bond of these ports, all of them up.
    pub fn new(ports: Vec<P>) -> Self {
        let count = ports.len().max(1);
        let buckets = std::array::from_fn(|bucket| Bucket { port: bucket % count, last: 0 });
        Self { ports: ports.into_iter().map(Some).collect(), buckets, statistics: BondStatistics::default() }
    }

    /// The port by which a frame must be sent; `None` when none is up. Take a buffer of that port's pool, which its device
    /// can reach, and send it before the next frame is asked about. When the port's ring is full the frame waits, or is
    /// dropped, but goes by no other port.
    #[inline]
    pub fn port(&mut self, frame: &[u8]) -> Option<&mut P> {
        let number = layer34(frame) as usize % BUCKETS;
        let Some(port) = self.choose(number) else {
            self.statistics.no_port += 1;
            return None;
        };
        let bucket = &mut self.buckets[number];
        self.statistics.moved += u64::from(bucket.port != port);
        self.statistics.packets += 1;
        let chosen = self.ports.get_mut(port)?.as_mut()?;
        *bucket = Bucket { port, last: chosen.accepted() + 1 };
        Some(chosen)
    }

    /// The port for the next frame of a bucket.
    fn choose(&self, number: usize) -> Option<usize> {
        let home = number % self.ports.len().max(1);
        let Bucket { port: now, last } = self.buckets[number];
        let Some(current) = self.get(now) else {
            return if self.get(home).is_some() { Some(home) } else { self.stand_in(number) };
        };
        // A frame that was refused never counts as done; a ring that is empty has none of any flow.
        let drained = current.done() >= last || current.done() == current.accepted();
        let go_home = now != home && drained && self.get(home).is_some();
        Some(if go_home { home } else { now })
    }

    /// A port that is up, for a bucket whose own is not: its like are spread over all that are.
    fn stand_in(&self, number: usize) -> Option<usize> {
        let up = || (0..self.ports.len()).filter(|&port| self.get(port).is_some());
        let count = up().count();
        up().nth(number / self.ports.len().max(1) % count.max(1))
    }

    /// A port that is up.
    pub fn get(&self, port: usize) -> Option<&P> {
        self.ports.get(port)?.as_ref()
    }

    /// A port that is up, to poll and to reclaim.
    pub fn get_mut(&mut self, port: usize) -> Option<&mut P> {
        self.ports.get_mut(port)?.as_mut()
    }

    /// The ports that are up.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.ports.iter_mut().flatten()
    }

    /// Takes a port out that went down, and hands it over to be closed. Its flows go to others from the next packet on.
    pub fn down(&mut self, port: usize) -> Option<P> {
        let gone = self.ports.get_mut(port)?.take();
        // What comes back in its place has sent nothing yet.
        self.buckets.iter_mut().filter(|bucket| bucket.port == port).for_each(|bucket| bucket.last = 0);
        gone
    }

    /// Puts a port in, opened anew, in the place of the one that went down. Its flows come home, each when the port that
    /// stood in for it has sent what it had of it.
    ///
    /// # Errors
    ///
    /// There is no such place, or it is taken; the port is the caller's.
    pub fn up(&mut self, port: usize, opened: P) -> Result<(), P> {
        match self.ports.get_mut(port) {
            Some(place) if place.is_none() => {
                *place = Some(opened);
                Ok(())
            }
            _ => Err(opened),
        }
    }

    /// What all ports that are up offer.
    pub fn offloads(&self) -> Offloads {
        Offloads::shared(self.ports.iter().flatten().map(P::offloads))
    }

    /// What was counted.
    pub fn statistics(&self) -> BondStatistics {
        self.statistics
    }
}

//! Several ports on one CPU, so that a heavy one never starves a light one.
//!
//! Deficit round robin (M. Shreedhar and G. Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995):
//! each round every port is given its quantum on top of what it has left, and is polled for no more than that; a port
//! that has nothing more to do loses what is left. Linux polls its NAPI instances in turn too, by one weight each, so
//! there a port whose packets cost more gets more of the CPU.
//!
//! **In packets:** a port that always has some is served its quantum each round, exactly. **In time:** what a packet
//! costs is known only afterwards. So a port is polled in small slices, no longer than its measured time a packet makes
//! fit, and what it took too much it owes in the next round (a surplus round robin: S. Floyd and V. Jacobson, 1995).
//! With `M` the longest slice, in any number of rounds a port that always has some is served its quanta, give or take `M`;
//! and between two turns of a port no more passes than the quanta of all others, and an `M` of each.
//!
//! Free of hardware: a [`Port`] is whatever can be polled.

use std::time::Duration;

use crate::packet_time::PacketTime;

/// Packets of a slice at most, when time is shared.
const SLICE: u16 = 8;

/// What a poll of a port did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Packets handled.
    pub packets: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// What takes its turn.
pub trait Port {
    /// How a poll can fail.
    type Error;

    /// Handles up to `budget` packets. Fewer means that it has no more.
    ///
    /// # Errors
    ///
    /// The port's own.
    fn poll(&mut self, budget: usize) -> Result<Work, Self::Error>;
}

/// What each port is given each round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many packets, by port; at least 1.
    Packets(Vec<u32>),
    /// So much time, by port; at least 1 µs.
    Time(Vec<Duration>),
}

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Packets handled.
    pub packets: usize,
    /// Ports that may have more. When there is none, all was found empty.
    pub busy: usize,
}

/// A port's account, in packets or nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Account {
    quantum: i64,
    /// What it may still use; below 0 what it owes.
    deficit: i64,
    packet: PacketTime,
}

/// A deficit round robin.
#[derive(Clone, Debug)]
pub struct Schedule {
    timed: bool,
    accounts: Vec<Account>,
}

impl Schedule {
    /// A schedule of as many ports as there are shares.
    pub fn new(share: &Share) -> Self {
        let account = |quantum: i64, least: i64| Account { quantum: quantum.max(least), deficit: 0, packet: PacketTime::UNKNOWN };
        match share {
            Share::Packets(quanta) => {
                let accounts = quanta.iter().map(|&packets| account(packets.into(), 1)).collect();
                Self { timed: false, accounts }
            }
            Share::Time(quanta) => {
                let nanos = |time: &Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 2).min(i64::MAX / 2);
                Self { timed: true, accounts: quanta.iter().map(|time| account(nanos(time), 1000)).collect() }
            }
        }
    }

    /// Shares otherwise from the next round on. Ports that were there before keep what they have left or owe, if the unit
    /// stays.
    pub fn set_share(&mut self, share: &Share) {
        let new = Self::new(share);
        let old = std::mem::replace(self, new);
        if old.timed == self.timed {
            for (account, old) in self.accounts.iter_mut().zip(old.accounts) {
                *account = Account { quantum: account.quantum, ..old };
            }
        }
    }

    /// One round: every port has its turn. Ports beyond the number of shares have none.
    ///
    /// # Errors
    ///
    /// The first error of a port, which loses what it had left. The others have had their turn all the same.
    pub fn round<P: Port + ?Sized>(&mut self, ports: &mut [&mut P]) -> Result<Round, P::Error> {
        let mut round = Round::default();
        let mut failure = None;
        for (account, port) in self.accounts.iter_mut().zip(ports) {
            account.deficit = account.deficit.saturating_add(account.quantum);
            match account.serve(self.timed, *port) {
                Ok(served) => {
                    round.packets += served.packets;
                    round.busy += served.busy;
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(round), Err)
    }
}

impl Account {
    /// Polls a port until its deficit is used up, or it has no more.
    fn serve<P: Port + ?Sized>(&mut self, timed: bool, port: &mut P) -> Result<Round, P::Error> {
        let mut packets = 0;
        while self.deficit > 0 {
            let budget = self.slice(timed);
            // A port that fails saves nothing up for when it works again.
            let work = port.poll(budget).inspect_err(|_| self.deficit = self.deficit.min(0))?;
            packets += work.packets;
            self.charge(timed, &work);
            if work.packets < budget {
                // What it owes it still owes.
                self.deficit = self.deficit.min(0);
                return Ok(Round { packets, busy: 0 });
            }
        }
        Ok(Round { packets, busy: 1 })
    }

    /// Packets of the next poll, at least 1.
    fn slice(&self, timed: bool) -> usize {
        let left = self.deficit.max(1) as u64;
        if !timed {
            return left as usize;
        }
        // Of a port whose packets were never timed, one shows what they cost.
        self.packet.fit(Duration::from_nanos(left), SLICE).map_or(1, usize::from)
    }

    fn charge(&mut self, timed: bool, work: &Work) {
        if !timed {
            self.deficit -= work.packets as i64;
            return;
        }
        // A clock that stands still must not make a turn endless.
        let elapsed = work.elapsed.as_nanos().clamp(1, i64::MAX as u128 / 2) as i64;
        self.deficit = self.deficit.saturating_sub(elapsed);
        self.packet.learn(work.packets, work.elapsed);
    }
}

//! The driver's queues: how many, their rings, thresholds, buffers and completions.

use super::parse;
use clap::{Args, ValueEnum};
use ferronic::{Config, Discovery, RxConfig};
use ferronic_contract::class::Mac;
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::{OutOfRange, Thresholds};
use ferronic_sim::setup::driver;

#[derive(Clone, Copy, ValueEnum)]
enum Completion {
    /// 32 bytes, every field
    Full,
    /// 16 bytes, with the RSS hash
    CompactHash,
    /// 16 bytes, with filter tag and VLAN TCI
    CompactTag,
}

#[derive(Clone, Copy, ValueEnum)]
enum Find {
    /// By the phase bit of each completion
    Phase,
    /// By the producer index, a word that the core writes to memory
    Index,
}

#[derive(Args)]
#[command(next_help_heading = "Queues")]
pub struct Queues {
    /// Own MAC address of the driver
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:00:01", value_parser = parse::mac)]
    pub own_mac: Mac,
    /// RX queues to open, 1 to what the core has (4); each has a ring, buffers and an interrupt vector
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub queues: u8,
    /// Entries of each ring: a power of two from 8 to 32768
    #[arg(long, value_name = "N", default_value = "256", value_parser = ring)]
    ring: RingSize,
    /// PTHRESH: prefetch descriptors while fewer than this are on chip, 1 to 64
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().prefetch)]
    pthresh: u8,
    /// HTHRESH: prefetch only when the host has this many ready (or the chip has none), 1 to 64
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().host)]
    hthresh: u8,
    /// BATCH: most descriptors in one read, 1 to 32
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().batch)]
    batch: u8,
    /// WTHRESH: completions gathered before they are written, 1 to 8; those that share 64 bytes go in one TLP
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().write_back)]
    wthresh: u8,
    /// Microseconds after which gathered completions are written though fewer than WTHRESH, 0 to 134217
    #[arg(long, value_name = "USECS", default_value_t = 5)]
    write_back_usecs: u32,
    /// LOW WATER: event when fewer descriptors than this are left; 0 is off
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().low_water)]
    low_water: u16,
    /// Longest frame taken, 60 to 9600 bytes without FCS
    #[arg(long, value_name = "BYTES", default_value_t = ferronic_contract::MAX_FRAME)]
    max_frame: u16,
    /// Format of the RX completions
    #[arg(long, value_enum, default_value = "full")]
    format: Completion,
    /// How the driver finds completions
    #[arg(long, value_enum, default_value = "phase")]
    discovery: Find,
    /// Bytes of each buffer, 64 to 16384 [default: room for the longest frame]
    #[arg(long, value_name = "BYTES")]
    buffer_bytes: Option<u16>,
    /// A frame longer than a buffer goes on in the next; without, it is dropped. Not with --transmit or --received,
    /// which take frames of one buffer
    #[arg(long, conflicts_with_all = ["transmit", "received"])]
    scatter: bool,
    /// The header goes to a buffer of its own: off, l2, l3 or l4 (where that layer's header ends), or 1 to 1023 bytes
    #[arg(long, value_name = "WHERE", default_value = "off", value_parser = split, conflicts_with_all = ["transmit", "received"])]
    split: (Split, u16),
    /// Microseconds that a frame waits for a descriptor of its queue before it is dropped, up to 134217; 0 is for ever
    /// [default: 33 with several queues, else 0]
    #[arg(long, value_name = "USECS")]
    hold_usecs: Option<u32>,
    /// Leaves this queue alone: open, with a full ring, but never polled. May be given several times
    #[arg(long, value_name = "QUEUE")]
    pub unserved: Vec<u8>,
}

fn ring(text: &str) -> Result<RingSize, String> {
    text.parse()
        .ok()
        .and_then(RingSize::new)
        .ok_or_else(|| format!("{text:?} is not a power of two from 8 to 32768"))
}

fn split(text: &str) -> Result<(Split, u16), String> {
    match text {
        "off" => Ok((Split::Off, 0)),
        "l2" => Ok((Split::L2, 0)),
        "l3" => Ok((Split::L3, 0)),
        "l4" => Ok((Split::L4, 0)),
        bytes => match bytes.parse() {
            Ok(bytes) => Ok((Split::Fixed, bytes)),
            Err(_) => Err("legal are off, l2, l3, l4 and a number of bytes from 1 to 1023".into()),
        },
    }
}

impl Queues {
    /// The driver's set-up. The driver itself refuses what is beyond its ranges or beyond the core.
    pub fn config(&self) -> Result<Config, OutOfRange> {
        let thresholds = Thresholds {
            prefetch: self.pthresh,
            host: self.hthresh,
            batch: self.batch,
            write_back: self.wthresh,
            low_water: self.low_water,
        };
        thresholds.check()?;
        let mut config = driver(self.ring, thresholds, self.max_frame);
        config.mac = self.own_mac;
        config.hold_usecs = self.hold_usecs;
        config.buffer_bytes = self.buffer_bytes.unwrap_or(config.buffer_bytes);
        config.tx.write_back_usecs = self.write_back_usecs;
        let rx = RxConfig {
            queue: config.tx,
            format: match self.format {
                Completion::Full => Format::Full,
                Completion::CompactHash => Format::CompactHash,
                Completion::CompactTag => Format::CompactTag,
            },
            discovery: match self.discovery {
                Find::Phase => Discovery::Phase,
                Find::Index => Discovery::Index,
            },
            scatter: self.scatter,
            split: self.split.0,
            split_bytes: self.split.1,
            policy: config.rx[0].policy,
        };
        config.rx = vec![rx; self.queues.into()];
        Ok(config)
    }

    /// Refuses to leave queues alone that are not there, or whose frames would stop all others.
    pub fn check_unserved(&self) -> Result<(), String> {
        self.unserved.iter().try_for_each(|queue| self.check_open("--unserved", *queue))?;
        let for_ever = self.hold_usecs.unwrap_or(u32::from(self.queues > 1)) == 0;
        if for_ever && !self.unserved.is_empty() {
            return Err("--unserved: the frames of a queue that nobody serves would wait for ever; give --hold-usecs".into());
        }
        Ok(())
    }

    /// Refuses a queue that is not open.
    pub fn check_open(&self, option: &str, queue: u8) -> Result<(), String> {
        if queue < self.queues {
            return Ok(());
        }
        Err(format!("{option}: queue {queue} is not open; --queues {} opens 0 to {}", self.queues, self.queues - 1))
    }
}

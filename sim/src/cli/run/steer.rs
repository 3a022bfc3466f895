//! Which frames are taken, which queue they go to, and what is taken out of them.

use super::queues::Queues;
use super::{filter, parse};
use clap::{Args, ValueEnum};
use ferronic::{Error, Filter, Nic, Rss, RssTypes, RxMode, Target, VlanStrip};
use ferronic_contract::class::Mac;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Every frame
    Promiscuous,
    /// Frames for the own address, for everyone, and those that a filter or --hash-address lets in
    Own,
    /// The same and every multicast frame
    #[value(name = "own+all-multicast")]
    OwnAndAllMulticast,
}

#[derive(Clone, Copy, ValueEnum)]
enum Strip {
    /// Customer tags, TPID 0x8100
    C,
    /// Service tags, TPID 0x88A8
    S,
    /// Both
    #[value(name = "c+s")]
    Both,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Steering")]
pub struct Steer {
    /// Frames that are hashed and spread over the queues: none, all, or some of ipv4+tcp4+udp4+ipv6+tcp6+udp6
    /// [default: all with several queues, else none]
    #[arg(long, value_name = "TYPES", value_parser = rss_types)]
    rss: Option<RssTypes>,
    /// Queue of frames without a hash [default: 0]
    #[arg(long, value_name = "QUEUE")]
    default_queue: Option<u8>,
    /// Exact filter; may be given up to 256 times: dmac=MAC, vlan=0-4095, type=0x0800, src=IP, dst=IP,
    /// port=tcp:80|udp:53|sctp:9, joined by commas, then to=QUEUE|rss|drop, tag=0-65535
    ///
    /// A frame that has all the fields goes to the queue, by RSS (the default) or nowhere, and its completion shows the tag.
    /// `type` and `port` are those behind VLAN tags, `vlan` that of the outer tag. Filters may name four different sets of
    /// fields; of two that match, the one whose set was named first wins.
    #[arg(long, value_name = "SPEC", value_parser = filter::parse)]
    filter: Vec<Filter>,
    /// Frames that are taken
    #[arg(long, value_enum)]
    rx_mode: Option<Mode>,
    /// Also takes frames to this address, found by a hash of 9 bits that lets in a few others; may be given several times
    #[arg(long, value_name = "MAC", value_parser = parse::mac, requires = "rx_mode")]
    hash_address: Vec<Mac>,
    /// What happens to frames that --hash-address lets in: QUEUE, rss or drop
    #[arg(long, value_name = "TARGET", value_parser = parse::target, default_value = "rss", requires = "hash_address")]
    hash_to: Target,
    /// Filter tag of those frames, 0 to 65535
    #[arg(long, value_name = "N", default_value_t = 0, requires = "hash_address")]
    hash_tag: u16,
    /// Outer VLAN tags to take out of frames; the completion has their TCI
    #[arg(long, value_enum)]
    strip: Option<Strip>,
}

fn rss_types(text: &str) -> Result<RssTypes, String> {
    match text {
        "none" => return Ok(RssTypes::NONE),
        "all" => return Ok(RssTypes::ALL),
        _ => {}
    }
    let mut types = RssTypes::NONE;
    for name in text.split('+') {
        let on = match name {
            "ipv4" => &mut types.ipv4,
            "tcp4" => &mut types.tcp4,
            "udp4" => &mut types.udp4,
            "ipv6" => &mut types.ipv6,
            "tcp6" => &mut types.tcp6,
            "udp6" => &mut types.udp6,
            _ => return Err(format!("{name:?}: legal are none, all, and ipv4, tcp4, udp4, ipv6, tcp6, udp6 joined by +")),
        };
        *on = true;
    }
    Ok(types)
}

impl Steer {
    /// Refuses queues that are not open, and addresses that change nothing.
    pub fn check(&self, queues: &Queues) -> Result<(), String> {
        let targets = self.filter.iter().map(|filter| ("--filter", filter.target)).chain([("--hash-to", self.hash_to)]);
        let named = targets.filter_map(|(option, target)| match target {
            Target::Queue(queue) => Some((option, queue)),
            Target::Rss | Target::Drop => None,
        });
        let by_default = self.default_queue.map(|queue| ("--default-queue", queue));
        named.chain(by_default).try_for_each(|(option, queue)| queues.check_open(option, queue))?;
        if self.rx_mode == Some(Mode::Promiscuous) && !self.hash_address.is_empty() {
            return Err("--hash-address: every frame is taken with --rx-mode promiscuous".into());
        }
        Ok(())
    }

    /// Sets an open device up.
    pub fn apply(&self, nic: &mut Nic) -> Result<(), Error> {
        if self.rss.is_some() || self.default_queue.is_some() {
            let now = nic.rss().clone();
            let types = self.rss.unwrap_or(now.types);
            nic.set_rss(Rss { types, default_queue: self.default_queue.unwrap_or(now.default_queue), ..now })?;
        }
        for filter in &self.filter {
            nic.filters.add(*filter)?;
        }
        if let Some(mode) = self.rx_mode {
            nic.set_rx_mode(RxMode {
                promiscuous: mode == Mode::Promiscuous,
                all_multicast: mode == Mode::OwnAndAllMulticast,
                addresses: self.hash_address.clone(),
                action: self.hash_to,
                tag: self.hash_tag,
            })?;
        }
        if let Some(strip) = self.strip {
            let (customer, service) = (!matches!(strip, Strip::S), !matches!(strip, Strip::C));
            nic.set_vlan_strip(VlanStrip { customer, service })?;
        }
        Ok(())
    }
}

//! An exact filter as text: fields that a frame must have, then what happens to it.
//!
//! | key | value |
//! |---|---|
//! | `dmac` | destination MAC address |
//! | `vlan` | VID of the outer VLAN tag, 0 to 4095 |
//! | `type` | EtherType behind the tags, such as 0x0800 |
//! | `src`, `dst` | IPv4 or IPv6 address |
//! | `port` | destination port: `tcp:N`, `udp:N` or `sctp:N` |
//! | `to` | number of a queue, `rss` (the default) or `drop` |
//! | `tag` | 16 bits for the completion, 0 by default |
//!
//! Such as `dst=10.0.0.1,port=udp:53,to=2,tag=7`.

use super::parse;
use ferronic::{Filter, FilterError, Match, Target, Transport};

const KEYS: &str = "the keys are dmac, vlan, type, src, dst, port, to, tag";
const NUMBERS: &str = "legal are 0 to 65535, also as 0x0 to 0xffff";

/// Reads a filter. Whether its queue is open, only the driver's set-up says.
pub fn parse(text: &str) -> Result<Filter, String> {
    let (mut on, mut target, mut tag) = (Match::default(), Target::Rss, 0);
    let pairs: Vec<(&str, &str)> = text.split(',').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    for (position, &(key, value)) in pairs.iter().enumerate() {
        let wrong = |legal: &str| format!("{key}={value}: {legal}");
        if pairs[..position].iter().any(|(earlier, _)| *earlier == key) {
            return Err(wrong("the key may come only once"));
        }
        let number = || parse::number(value).ok_or_else(|| wrong(NUMBERS));
        let address = || value.parse().map_err(|_| wrong("legal is an IPv4 or IPv6 address"));
        match key {
            "dmac" => on.dmac = Some(parse::mac(value).map_err(|error| wrong(&error))?),
            "vlan" => {
                let vid = parse::number(value).filter(|vid| *vid < 1 << 12);
                on.vlan = Some(vid.ok_or_else(|| wrong("legal are 0 to 4095"))?);
            }
            "type" => on.ethertype = Some(number()?),
            "src" => on.source = Some(address()?),
            "dst" => on.destination = Some(address()?),
            "port" => on.port = Some(port(value).ok_or_else(|| wrong("legal are tcp:N, udp:N and sctp:N, N from 0 to 65535"))?),
            "to" => target = parse::target(value).map_err(|error| wrong(&error))?,
            "tag" => tag = number()?,
            _ => return Err(wrong(KEYS)),
        }
    }
    if on == Match::default() {
        return Err(format!("{}: dmac, vlan, type, src, dst or port", FilterError::Empty));
    }
    Ok(Filter { on, target, tag })
}

fn port(text: &str) -> Option<(Transport, u16)> {
    let (transport, port) = text.split_once(':')?;
    let transport = match transport {
        "tcp" => Transport::Tcp,
        "udp" => Transport::Udp,
        "sctp" => Transport::Sctp,
        _ => return None,
    };
    Some((transport, parse::number(port)?))
}

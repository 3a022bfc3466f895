//! Receive-side scaling: the hash of a frame.

use std::net::IpAddr;

use ferronic_contract::parse::{RssType, L4, RSS_KEY};
use ferronic_contract::registers;

use super::parse::{octets, Reading};

/// The Toeplitz hash: the exclusive or of those 32-bit runs of the key at whose first bit the input has a 1.
pub fn toeplitz(input: &[u8]) -> u32 {
    let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let run = |at: usize| (at..at + 32).fold(0, |run, at| run << 1 | u32::from(bit(&RSS_KEY, at)));
    (0..8 * input.len()).filter(|&at| bit(input, at) == 1).fold(0, |hash, at| hash ^ run(at))
}

/// Hash and its type, of those that the RSS register (`types`) enables; hash 0 where there is none.
pub fn hash(reading: &Reading, types: u32) -> (u32, RssType) {
    let Some((source, destination)) = &reading.addresses else { return (0, RssType::None) };
    let with_ports = match (source, reading.l4) {
        _ if reading.fragment => None,
        (IpAddr::V4(_), L4::Tcp) => Some((registers::RSS_TCP4, RssType::Tcp4)),
        (IpAddr::V4(_), L4::Udp) => Some((registers::RSS_UDP4, RssType::Udp4)),
        (IpAddr::V6(_), L4::Tcp) => Some((registers::RSS_TCP6, RssType::Tcp6)),
        (IpAddr::V6(_), L4::Udp) => Some((registers::RSS_UDP6, RssType::Udp6)),
        _ => None,
    };
    let (enable, addresses_only) = match source {
        IpAddr::V4(_) => (registers::RSS_IPV4, RssType::Ipv4),
        IpAddr::V6(_) => (registers::RSS_IPV6, RssType::Ipv6),
    };
    let mut input = [octets(source), octets(destination)].concat();
    match (with_ports, reading.ports) {
        (Some((enable, kind)), Some((from, to))) if enable.of(types) == 1 => {
            input.extend([from.to_be_bytes(), to.to_be_bytes()].as_flattened());
            (toeplitz(&input), kind)
        }
        _ if enable.of(types) == 1 => (toeplitz(&input), addresses_only),
        _ => (0, RssType::None),
    }
}

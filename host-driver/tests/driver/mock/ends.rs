//! What stands at the two ends of most tests: frames and set-ups, and sinks.

use ferronic::{Config, Packet, Replenish, RxConfig, RxPolicy, Sink};
use ferronic_contract::ring::RingSize;

use super::OWN;

/// A frame of 60 bytes to the own address that carries a number.
pub fn frame(number: u32) -> Vec<u8> {
    let mut bytes = vec![0; 60];
    bytes[..6].copy_from_slice(&OWN);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[20..24].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The number in a frame.
pub fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[20..24].try_into().unwrap())
}

/// A set-up with rings of 8, a doorbell every 2, and no copies, so that every packet is in a buffer of the pool.
pub fn small() -> Config {
    let mut config = Config { mac: OWN, buffers: 32, ..Config::sized(RingSize::new(8).unwrap()) };
    config.rx[0].policy.copybreak = 0;
    config
}

/// The same with a doorbell every so many.
pub fn small_doorbell(doorbell_every: u16) -> Config {
    small_policy(|policy| policy.replenish = Replenish::AsTaken { doorbell_every })
}

/// The same with the policy changed.
pub fn small_policy(change: impl FnOnce(&mut RxPolicy)) -> Config {
    small_with(|rx| change(&mut rx.policy))
}

/// The same with one RX queue changed.
pub fn small_with(change: impl FnOnce(&mut RxConfig)) -> Config {
    let mut config = small();
    change(&mut config.rx[0]);
    config
}

/// The same with several RX queues.
pub fn small_queues(queues: usize) -> Config {
    let mut config = small();
    config.rx = vec![config.rx[0]; queues];
    config
}

/// A sink that keeps every packet.
#[derive(Default)]
pub struct Keep(pub Vec<Packet>);

impl Sink for Keep {
    fn deliver(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}

/// A sink that notes the numbers and gives the buffers back.
#[derive(Default)]
pub struct Numbers(pub Vec<u32>);

impl Sink for Numbers {
    fn deliver(&mut self, packet: Packet) {
        self.0.push(number(packet.bytes()));
    }
}

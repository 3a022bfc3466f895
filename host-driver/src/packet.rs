//! A received packet, who classified it, and where it goes.

use ferronic_contract::class::{classify, Class, Mac};
use ferronic_contract::completion::RxCompletion;

use crate::pool::Buffer;

/// Where packets go.
pub trait Sink {
    /// Takes a packet. Dropping it gives its buffer back to the pool; keeping it, or the buffer from
    /// [`Packet::into_buffer`], keeps the buffer out until it is dropped.
    fn deliver(&mut self, packet: Packet);
}

impl<F: FnMut(Packet)> Sink for F {
    fn deliver(&mut self, packet: Packet) {
        self(packet);
    }
}

/// Who classified a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The core, in the status bits: the driver has not touched the header.
    Status,
    /// The driver, by `eth_type_trans()`'s rule on the header.
    Software,
}

/// A received packet, which owns its buffer.
#[derive(Debug)]
pub struct Packet {
    buffer: Buffer,
    /// What the core wrote. Its classification is to be trusted only on [`Path::Status`].
    pub completion: RxCompletion,
    /// What the link layer says of the packet.
    pub class: Class,
    /// Who said so.
    pub path: Path,
    /// Whether the header was prefetched while the packet before was being handled.
    pub prefetched_ahead: bool,
}

impl Packet {
    /// A packet that is classified by the status bits if they can be trusted, else by software; `None` when it
    /// is too short for that.
    pub(crate) fn new(buffer: Buffer, completion: RxCompletion, filter: &Filter, prefetched_ahead: bool) -> Option<Self> {
        let (class, path) = match class_of(&completion, filter.epoch) {
            Some(class) => (class, Path::Status),
            None => (classify(frame(&buffer, &completion), &filter.mac)?, Path::Software),
        };
        Some(Self { buffer, completion, class, path, prefetched_ahead })
    }

    /// The frame, from the destination address on, without FCS.
    pub fn bytes(&self) -> &[u8] {
        frame(&self.buffer, &self.completion)
    }

    /// The buffer, with the frame at offset 0.
    pub fn into_buffer(self) -> Buffer {
        self.buffer
    }
}

/// Own address, and the epoch that the core stamps on frames it compared with that address.
#[derive(Clone, Copy)]
pub(crate) struct Filter {
    pub(crate) mac: Mac,
    pub(crate) epoch: u8,
}

/// What the status bits say, when the core vouches for them under the address filter of this epoch.
fn class_of(completion: &RxCompletion, epoch: u8) -> Option<Class> {
    let status = completion.status;
    if !status.classified() || status.epoch() != epoch || status.vlan_tags() > 2 {
        return None;
    }
    Some(Class {
        destination: status.destination(),
        protocol: completion.protocol,
        l2: status.l2()?,
        vlan_tags: status.vlan_tags(),
    })
}

/// The bytes of the frame. The length was checked against the buffer.
fn frame<'a>(buffer: &'a Buffer, completion: &RxCompletion) -> &'a [u8] {
    buffer.bytes().get(..usize::from(completion.length)).unwrap_or_default()
}

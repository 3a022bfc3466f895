//! Transaction layer packets as types (PCI Express Base Specification, section 2.2).
//!
//! A [`Tlp`] is a [`Header`] and a payload whose bytes are in address order. The bytes on the wire are
//! in [`crate::codec`].

use std::fmt;

/// Bus, device and function number: bus in bits 15:8, device in 7:3, function in 2:0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bdf(pub u16);

impl Bdf {
    /// Joins a bus (0 to 255), a device (0 to 31) and a function (0 to 7); higher bits are cut off.
    pub const fn new(bus: u8, device: u8, function: u8) -> Self {
        Self((bus as u16) << 8 | (device as u16 & 31) << 3 | (function as u16 & 7))
    }
}

impl fmt::Debug for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:02x}:{:02x}.{}",
            self.0 >> 8,
            self.0 >> 3 & 31,
            self.0 & 7
        )
    }
}

/// A TLP header. Fields that every type has are here, the others in [`Body`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Traffic class, 0 to 7.
    pub traffic_class: u8,
    /// Attributes: bit 0 no snoop, bit 1 relaxed ordering, bit 2 ID-based ordering.
    pub attributes: u8,
    /// Address type, 0 to 3; 0 is an untranslated address.
    pub address_type: u8,
    /// TD: a digest (ECRC) of one DW follows the payload.
    pub digest: bool,
    /// EP: the payload is known to be wrong.
    pub poisoned: bool,
    /// Length of the payload, or of the data asked for, in DW: 1 to 1024; 0 only in a completion or a
    /// message without data.
    pub length: u16,
    /// What the type of the TLP decides.
    pub body: Body,
}

/// The part of a header that depends on its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// MRd and MWr.
    Memory(MemoryRequest),
    /// CfgRd0 and CfgWr0.
    Config(ConfigRequest),
    /// Cpl and CplD.
    Completion(Completion),
    /// Msg and MsgD.
    Message(Message),
}

/// MRd or MWr.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryRequest {
    /// MWr when set, MRd otherwise.
    pub write: bool,
    /// Who asks.
    pub requester: Bdf,
    /// Tag; of no meaning in a write.
    pub tag: u8,
    /// Byte enables of the first DW; bit 0 is the lowest address.
    pub first_be: u8,
    /// Byte enables of the last DW; 0 when there is only one.
    pub last_be: u8,
    /// Byte address, a multiple of 4.
    pub address: u64,
    /// The header has 4 DW (64-bit address); 3 DW otherwise.
    pub wide: bool,
}

/// CfgRd0 or CfgWr0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigRequest {
    /// CfgWr0 when set, CfgRd0 otherwise.
    pub write: bool,
    /// Who asks.
    pub requester: Bdf,
    /// Tag.
    pub tag: u8,
    /// Byte enables of the only DW.
    pub first_be: u8,
    /// The function addressed.
    pub target: Bdf,
    /// Byte offset in configuration space, a multiple of 4 below 4096.
    pub offset: u16,
}

/// Cpl or CplD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Who answers.
    pub completer: Bdf,
    /// How the request ended.
    pub status: Status,
    /// Bytes that remain to be answered, with those of this completion: 1 to 4096.
    pub byte_count: u16,
    /// Who asked.
    pub requester: Bdf,
    /// Tag of the request.
    pub tag: u8,
    /// Low seven bits of the address of the first byte that counts.
    pub lower_address: u8,
    /// CplD when set, Cpl otherwise.
    pub data: bool,
}

/// Msg or MsgD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who sends it.
    pub requester: Bdf,
    /// Tag.
    pub tag: u8,
    /// Message code.
    pub code: u8,
    /// Routing, 0 to 7.
    pub routing: u8,
    /// MsgD when set, Msg otherwise.
    pub data: bool,
    /// Bytes 8 to 15 of the header.
    pub rest: [u8; 8],
}

/// Completion status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// SC, successful completion.
    Success,
    /// UR, unsupported request.
    UnsupportedRequest,
    /// CRS, configuration request retry status.
    ConfigRetry,
    /// CA, completer abort.
    CompleterAbort,
}

/// What credits and counters tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Memory write.
    MWr,
    /// Memory read.
    MRd,
    /// Completion with data.
    CplD,
    /// Completion without data.
    Cpl,
    /// Configuration read or write.
    Cfg,
    /// Message, with data or without.
    Msg,
}

/// A header with its payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tlp {
    /// The header.
    pub header: Header,
    /// The payload in address order: four times `header.length` bytes if the type has data, else empty.
    pub payload: Vec<u8>,
}

/// The DW and byte enables that cover `bytes` bytes from `address`: (length, first BE, last BE).
fn span(address: u64, bytes: usize) -> (u16, u8, u8) {
    let start = (address & 3) as usize;
    let end = start + bytes;
    let first = 0xF << start & 0xF;
    let last = 0xF >> ((4 - end % 4) % 4);
    let length = end.div_ceil(4).max(1);
    match (bytes, length) {
        (0, _) => (1, 0, 0),
        (_, 1) => (1, first & last, 0),
        _ => (length as u16, first, last),
    }
}

impl Header {
    /// A header with default traffic class and attributes.
    pub const fn new(length: u16, body: Body) -> Self {
        Self {
            traffic_class: 0,
            attributes: 0,
            address_type: 0,
            digest: false,
            poisoned: false,
            length,
            body,
        }
    }

    fn memory(write: bool, requester: Bdf, tag: u8, address: u64, bytes: usize) -> Self {
        let (length, first_be, last_be) = span(address, bytes);
        let (address, wide) = (address & !3, address >> 32 != 0);
        let request = MemoryRequest {
            write,
            requester,
            tag,
            first_be,
            last_be,
            address,
            wide,
        };
        Self::new(length, Body::Memory(request))
    }

    /// MRd of `bytes` (0 to 4096) bytes from any byte address.
    pub fn memory_read(requester: Bdf, tag: u8, address: u64, bytes: usize) -> Self {
        Self::memory(false, requester, tag, address, bytes)
    }

    /// MWr of `bytes` (0 to 4096) bytes to any byte address.
    pub fn memory_write(requester: Bdf, address: u64, bytes: usize) -> Self {
        Self::memory(true, requester, 0, address, bytes)
    }

    /// Length of the header in bytes: 12 or 16.
    pub const fn bytes(&self) -> usize {
        match self.body {
            Body::Memory(MemoryRequest { wide: true, .. }) | Body::Message(_) => 16,
            _ => 12,
        }
    }

    /// Whether a payload follows.
    pub const fn has_data(&self) -> bool {
        match self.body {
            Body::Memory(r) => r.write,
            Body::Config(r) => r.write,
            Body::Completion(c) => c.data,
            Body::Message(m) => m.data,
        }
    }

    /// Length of the payload in bytes.
    pub const fn payload_bytes(&self) -> usize {
        if self.has_data() {
            self.length as usize * 4
        } else {
            0
        }
    }

    /// Length of the whole TLP in bytes: header, payload, digest.
    pub const fn total_bytes(&self) -> usize {
        self.bytes() + self.payload_bytes() + if self.digest { 4 } else { 0 }
    }

    /// Makes the payload of a memory write of `data` to `address` in an empty buffer.
    pub(crate) fn fill(&self, address: u64, data: &[u8], payload: &mut Vec<u8>) {
        payload.resize(self.payload_bytes(), 0);
        payload[(address & 3) as usize..][..data.len()].copy_from_slice(data);
    }

    /// The class for credits and counters.
    pub const fn kind(&self) -> Kind {
        match self.body {
            Body::Memory(r) if r.write => Kind::MWr,
            Body::Memory(_) => Kind::MRd,
            Body::Config(_) => Kind::Cfg,
            Body::Completion(c) if c.data => Kind::CplD,
            Body::Completion(_) => Kind::Cpl,
            Body::Message(_) => Kind::Msg,
        }
    }

    /// The enabled bytes of a memory request: address of the first, and the count from the first to the
    /// last. A zero-length request has its own address and a count of 1 (section 2.3.1.1). `None` for
    /// other types.
    pub fn enabled_bytes(&self) -> Option<(u64, u16)> {
        let Body::Memory(r) = self.body else {
            return None;
        };
        Some(match (self.length, r.first_be, r.last_be) {
            (1, 0, _) => (r.address, 1),
            (1, first, _) => {
                let low = first.trailing_zeros() as u16;
                (
                    r.address + u64::from(low),
                    8 - first.leading_zeros() as u16 - low,
                )
            }
            (length, first, last) => {
                // Enables of 0 are illegal here; they count as if the outermost byte were enabled.
                let low = (first | 8).trailing_zeros().min(3) as u16;
                let high = (last | 1).leading_zeros() as u16 - 4;
                (r.address + u64::from(low), length * 4 - low - high)
            }
        })
    }
}

impl Tlp {
    /// A TLP without payload.
    pub const fn bare(header: Header) -> Self {
        Self {
            header,
            payload: Vec::new(),
        }
    }

    /// MWr of `data` (at most 4096 bytes) to any byte address; bytes outside are padded with 0 and not
    /// enabled.
    pub fn memory_write(requester: Bdf, address: u64, data: &[u8]) -> Self {
        let header = Header::memory_write(requester, address, data.len());
        let mut payload = Vec::new();
        header.fill(address, data, &mut payload);
        Self { header, payload }
    }
}

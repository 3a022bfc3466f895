//! TLPs as bytes on the wire (PCI Express Base Specification, sections 2.2.1 to 2.2.9). Byte 0 of the
//! header comes first; numbers in a header are big-endian, the payload is in address order.

use crate::tlp::{
    Bdf, Body, Completion, ConfigRequest, Header, MemoryRequest, Message, Status, Tlp,
};

const MEMORY: u8 = 0b0_0000;
const CONFIG_0: u8 = 0b0_0100;
const COMPLETION: u8 = 0b0_1010;
const MESSAGE: u8 = 0b1_0000;
const FOUR_DW: u8 = 0b0010_0000;
const WITH_DATA: u8 = 0b0100_0000;

/// Why bytes are not a TLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end within the header or the payload, or go on after them.
    #[error("the TLP has {actual} bytes but its header says {expected} (section 2.2.2)")]
    Length {
        /// Bytes that the header asks for.
        expected: usize,
        /// Bytes there are.
        actual: usize,
    },
    /// Fmt and type name no TLP that an endpoint or this root complex may send.
    #[error("fmt and type {0:#04x} name no TLP allowed here (section 2.2.1)")]
    Type(u8),
    /// A completion status of a reserved code.
    #[error("completion status {0} is reserved (section 2.2.9)")]
    Status(u8),
}

impl Status {
    const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::UnsupportedRequest => 1,
            Self::ConfigRetry => 2,
            Self::CompleterAbort => 4,
        }
    }

    const fn decode(code: u8) -> Result<Self, DecodeError> {
        match code {
            0 => Ok(Self::Success),
            1 => Ok(Self::UnsupportedRequest),
            2 => Ok(Self::ConfigRetry),
            4 => Ok(Self::CompleterAbort),
            _ => Err(DecodeError::Status(code)),
        }
    }
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Header length in bytes that the first byte (fmt and type) announces.
const fn header_bytes(first: u8) -> usize {
    if first & FOUR_DW != 0 {
        16
    } else {
        12
    }
}

impl Header {
    /// Writes the header to the front of `out` and returns its length in bytes, 12 or 16.
    pub fn encode(&self, out: &mut [u8; 16]) -> usize {
        *out = [0; 16];
        let kind = match &self.body {
            Body::Memory(_) => MEMORY,
            Body::Config(_) => CONFIG_0,
            Body::Completion(_) => COMPLETION,
            Body::Message(m) => MESSAGE | m.routing & 7,
        };
        let size = self.bytes();
        out[0] = kind
            | if size == 16 { FOUR_DW } else { 0 }
            | if self.has_data() { WITH_DATA } else { 0 };
        out[1] = (self.traffic_class & 7) << 4 | self.attributes & 4;
        let length = self.length & 0x3FF; // 1024 is written as 0
        out[2] = u8::from(self.digest) << 7
            | u8::from(self.poisoned) << 6
            | (self.attributes & 3) << 4
            | (self.address_type & 3) << 2
            | (length >> 8) as u8;
        out[3] = length as u8;
        let mut request = |requester: Bdf, tag, enables| {
            out[4..6].copy_from_slice(&requester.0.to_be_bytes());
            out[6] = tag;
            out[7] = enables;
        };
        match &self.body {
            Body::Memory(r) => {
                request(r.requester, r.tag, r.last_be << 4 | r.first_be & 15);
                let address = r.address & !3;
                if r.wide {
                    out[8..16].copy_from_slice(&address.to_be_bytes());
                } else {
                    out[8..12].copy_from_slice(&(address as u32).to_be_bytes());
                }
            }
            Body::Config(r) => {
                request(r.requester, r.tag, r.first_be & 15);
                out[8..10].copy_from_slice(&r.target.0.to_be_bytes());
                out[10..12].copy_from_slice(&(r.offset & 0xFFC).to_be_bytes());
            }
            Body::Completion(c) => {
                out[4..6].copy_from_slice(&c.completer.0.to_be_bytes());
                let count = c.byte_count & 0xFFF; // 4096 is written as 0
                out[6..8]
                    .copy_from_slice(&(u16::from(c.status.code()) << 13 | count).to_be_bytes());
                out[8..10].copy_from_slice(&c.requester.0.to_be_bytes());
                out[10] = c.tag;
                out[11] = c.lower_address & 0x7F;
            }
            Body::Message(m) => {
                request(m.requester, m.tag, m.code);
                out[8..16].copy_from_slice(&m.rest);
            }
        }
        size
    }

    /// Reads the header at the front of `bytes`. Reserved bits are ignored (see [`reserved_bits`]).
    ///
    /// # Errors
    /// Too few bytes, a type that is not allowed here, a reserved completion status.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let expected = bytes.first().map_or(12, |&first| header_bytes(first));
        if bytes.len() < expected {
            return Err(DecodeError::Length {
                expected,
                actual: bytes.len(),
            });
        }
        let first = bytes[0];
        if first & 0x80 != 0 {
            return Err(DecodeError::Type(first)); // a TLP prefix
        }
        let (wide, data) = (first & FOUR_DW != 0, first & WITH_DATA != 0);
        let requester = Bdf(be16(bytes, 4));
        let body = match first & 0x1F {
            MEMORY => Body::Memory(MemoryRequest {
                write: data,
                requester,
                tag: bytes[6],
                first_be: bytes[7] & 15,
                last_be: bytes[7] >> 4,
                address: match wide {
                    true => u64::from(be32(bytes, 8)) << 32 | u64::from(be32(bytes, 12) & !3),
                    false => u64::from(be32(bytes, 8) & !3),
                },
                wide,
            }),
            CONFIG_0 if !wide => Body::Config(ConfigRequest {
                write: data,
                requester,
                tag: bytes[6],
                first_be: bytes[7] & 15,
                target: Bdf(be16(bytes, 8)),
                offset: be16(bytes, 10) & 0xFFC,
            }),
            COMPLETION if !wide => Body::Completion(Completion {
                completer: requester,
                status: Status::decode(bytes[6] >> 5)?,
                byte_count: match be16(bytes, 6) & 0xFFF {
                    0 => 4096,
                    count => count,
                },
                requester: Bdf(be16(bytes, 8)),
                tag: bytes[10],
                lower_address: bytes[11] & 0x7F,
                data,
            }),
            kind if kind & 0b1_1000 == MESSAGE && wide => Body::Message(Message {
                requester,
                tag: bytes[6],
                code: bytes[7],
                routing: kind & 7,
                data,
                rest: std::array::from_fn(|i| bytes[8 + i]),
            }),
            _ => return Err(DecodeError::Type(first)),
        };
        let may_be_empty = !data && matches!(body, Body::Completion(_) | Body::Message(_));
        Ok(Self {
            traffic_class: bytes[1] >> 4 & 7,
            attributes: bytes[1] & 4 | bytes[2] >> 4 & 3,
            address_type: bytes[2] >> 2 & 3,
            digest: bytes[2] & 0x80 != 0,
            poisoned: bytes[2] & 0x40 != 0,
            length: match be16(bytes, 2) & 0x3FF {
                _ if may_be_empty => 0,
                0 => 1024,
                length => length,
            },
            body,
        })
    }
}

/// Whether a reserved bit is set in the encoded header, which must be one that [`Header::decode`] takes.
pub fn reserved_bits(header: &[u8]) -> bool {
    let common = header[1] & 0b1000_1011 != 0;
    let own = match header[0] & 0x1F {
        MEMORY => header[header_bytes(header[0]) - 1] & 3,
        CONFIG_0 => header[10] & 0xF0 | header[11] & 3 | header[7] & 0xF0,
        COMPLETION => header[6] & 0x10 | header[11] & 0x80,
        _ => 0,
    };
    common || own != 0
}

impl Tlp {
    /// Appends the wire bytes to `out`. The digest, if the header announces one, is written as 0.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut header = [0; 16];
        let size = self.header.encode(&mut header);
        out.extend_from_slice(&header[..size]);
        out.extend_from_slice(&self.payload);
        if self.header.digest {
            out.extend_from_slice(&[0; 4]);
        }
    }

    /// Reads a whole TLP.
    ///
    /// # Errors
    /// As [`Header::decode`]; also a length that differs from what the header says.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut payload = Vec::new();
        let header = Self::decode_into(bytes, &mut payload)?;
        Ok(Self { header, payload })
    }

    /// As [`Tlp::decode`], with the payload appended to a buffer that the caller keeps.
    ///
    /// # Errors
    /// As [`Tlp::decode`]; `payload` is untouched then.
    pub fn decode_into(bytes: &[u8], payload: &mut Vec<u8>) -> Result<Header, DecodeError> {
        let header = Header::decode(bytes)?;
        let expected = header.total_bytes();
        if bytes.len() != expected {
            return Err(DecodeError::Length {
                expected,
                actual: bytes.len(),
            });
        }
        payload.extend_from_slice(&bytes[header.bytes()..][..header.payload_bytes()]);
        Ok(header)
    }
}

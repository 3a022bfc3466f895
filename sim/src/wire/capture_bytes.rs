//! Captures written byte by byte, for tests.

use super::{parse_capture, Frame};

/// Writes numbers in one byte order.
pub(super) struct Bytes {
    big: bool,
    pub(super) out: Vec<u8>,
}

impl Bytes {
    pub(super) fn new(big: bool) -> Self {
        Self {
            big,
            out: Vec::new(),
        }
    }

    pub(super) fn u16(mut self, value: u16) -> Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.out.extend(bytes);
        self
    }

    pub(super) fn pcap(big: bool, magic: u32, network: u32) -> Self {
        Self::new(big)
            .u32(magic)
            .u16(2)
            .u16(4)
            .u32(0)
            .u32(0)
            .u32(65535)
            .u32(network)
    }

    pub(super) fn record(self, seconds: u32, fraction: u32, original: u32, bytes: &[u8]) -> Self {
        self.u32(seconds)
            .u32(fraction)
            .u32(bytes.len() as u32)
            .u32(original)
            .raw(bytes)
    }

    /// A pcapng block around `body`, padded to 32 bits.
    pub(super) fn block(self, kind: u32, body: Bytes) -> Self {
        let padding = vec![0; body.out.len().next_multiple_of(4) - body.out.len()];
        let length = (body.out.len() + padding.len() + 12) as u32;
        self.u32(kind)
            .u32(length)
            .raw(&body.out)
            .raw(&padding)
            .u32(length)
    }

    pub(super) fn section(self) -> Self {
        let body = Self::new(self.big)
            .u32(0x1A2B_3C4D)
            .u16(1)
            .u16(0)
            .u32(u32::MAX)
            .u32(u32::MAX);
        self.block(0x0A0D_0D0A, body)
    }

    /// An interface with `options`, each a code and a value.
    pub(super) fn interface(self, link: u16, snaplen: u32, options: &[(u16, &[u8])]) -> Self {
        let mut body = Self::new(self.big).u16(link).u16(0).u32(snaplen);
        for (code, value) in options {
            let padding = value.len().next_multiple_of(4) - value.len();
            body = body
                .u16(*code)
                .u16(value.len() as u16)
                .raw(value)
                .raw(&vec![0; padding]);
        }
        self.block(1, body.u32(0))
    }

    pub(super) fn packet(self, interface: u32, time: u64, bytes: &[u8]) -> Self {
        let body = Self::new(self.big)
            .u32(interface)
            .u32((time >> 32) as u32)
            .u32(time as u32);
        let body = body
            .u32(bytes.len() as u32)
            .u32(bytes.len() as u32)
            .raw(bytes);
        self.block(6, body)
    }

    pub(super) fn simple_packet(self, original: u32, bytes: &[u8]) -> Self {
        let body = Self::new(self.big).u32(original).raw(bytes);
        self.block(3, body)
    }

    pub(super) fn read(&self) -> Vec<Frame> {
        let capture = parse_capture(&self.out, "x").unwrap();
        assert_eq!(capture.truncated, None);
        capture.frames
    }

    pub(super) fn fault(&self) -> String {
        parse_capture(&self.out, "x").unwrap_err().to_string()
    }
}

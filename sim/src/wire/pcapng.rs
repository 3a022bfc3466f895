//! The pcapng half of [`super::read_capture`]: sections of either byte order, interfaces of any time resolution.

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{parse_block_be, parse_block_le, Block, InterfaceDescriptionBlock, OptionCode};

use super::captures::{check_ethernet, truncation, CaptureFault, Collector, Truncation};

/// The type of a section header block, with which every file begins. It reads the same in either byte order.
pub(super) const MAGIC: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];

/// The obsolete packet block, which `pcap-parser` does not decode.
const OBSOLETE_PACKET: u32 = 2;

/// What packets need to know of the interface they came in on.
struct Interface {
    snaplen: usize,
    units_per_second: u128,
    offset_seconds: i64,
}

/// Collects the frames of a whole file. Returns where it broke off, if it did.
pub(super) fn parse(
    bytes: &[u8],
    collector: &mut Collector,
) -> Result<Option<Truncation>, CaptureFault> {
    let mut rest = bytes;
    let mut interfaces = Vec::new();
    let mut big_endian = false;
    let mut number = 0;

    while !rest.is_empty() {
        if rest.starts_with(&MAGIC) {
            interfaces.clear();
            big_endian = match rest.get(8..12) {
                Some([0x1A, 0x2B, 0x3C, 0x4D]) => true,
                Some([0x4D, 0x3C, 0x2B, 0x1A]) => false,
                Some(other) => {
                    return Err(malformed(
                        number,
                        format!("{other:02x?} is no byte-order magic"),
                    ));
                }
                None => return broken(number, 12, rest.len()),
            };
        }
        let Some(length) = rest.get(4..8).and_then(|b| <[u8; 4]>::try_from(b).ok()) else {
            return broken(number, 8, rest.len());
        };
        let length = if big_endian {
            u32::from_be_bytes(length)
        } else {
            u32::from_le_bytes(length)
        } as usize;
        // Checked before parsing, so that what the parser refuses is malformed and not cut.
        if length > rest.len() {
            return broken(number, length, rest.len());
        }
        if length < 12 || !length.is_multiple_of(4) {
            return Err(malformed(number, format!("its length is {length}")));
        }
        let (block, after) = rest.split_at(length);
        let parsed = if big_endian {
            parse_block_be(block)
        } else {
            parse_block_le(block)
        };
        let (_, block) = parsed
            .map_err(|_| malformed(number, format!("its fields contradict its length {length}")))?;
        take_block(&block, big_endian, number, &mut interfaces, collector)?;
        rest = after;
        number += 1;
    }
    Ok(None)
}

fn take_block(
    block: &Block<'_>,
    big_endian: bool,
    number: usize,
    interfaces: &mut Vec<Interface>,
    collector: &mut Collector,
) -> Result<(), CaptureFault> {
    match block {
        Block::InterfaceDescription(description) => {
            let id = interfaces.len();
            let name = match description.if_name() {
                Some(Ok(name)) => format!("{id} \"{}\"", name.trim_end_matches('\0')),
                _ => id.to_string(),
            };
            check_ethernet(description.linktype, Some(name))?;
            interfaces.push(interface(description, big_endian, number)?);
        }
        Block::EnhancedPacket(packet) => {
            let interface = interfaces.get(packet.if_id as usize).ok_or_else(|| {
                malformed(
                    number,
                    format!(
                        "frame {} names interface {}, which the section does not describe",
                        collector.index(),
                        packet.if_id
                    ),
                )
            })?;
            let time = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            collector.push(packet.packet_data(), interface.nanoseconds(time));
        }
        Block::SimplePacket(packet) => {
            let interface = interfaces.first().ok_or_else(|| {
                malformed(
                    number,
                    format!("frame {} comes before any interface", collector.index()),
                )
            })?;
            // The block gives no captured length: it follows from the original one and the snap length.
            let captured = packet.packet_data();
            collector.push(&captured[..captured.len().min(interface.snaplen)], 0);
        }
        Block::Unknown(unknown) => {
            let kind = if big_endian {
                unknown.block_type.swap_bytes()
            } else {
                unknown.block_type
            };
            if kind == OBSOLETE_PACKET {
                return Err(malformed(number, "obsolete packet block (type 2)".into()));
            }
        }
        _ => {}
    }
    Ok(())
}

fn interface(
    block: &InterfaceDescriptionBlock<'_>,
    big_endian: bool,
    number: usize,
) -> Result<Interface, CaptureFault> {
    let option = |code| {
        block
            .options
            .iter()
            .find(|o| o.code == code)
            .map(|o| o.value())
    };
    let resolution = block.if_tsresol;
    let exponent = u32::from(resolution & 0x7F);
    let units_per_second = if resolution & 0x80 == 0 {
        10u128.checked_pow(exponent)
    } else {
        1u128.checked_shl(exponent)
    }
    .filter(|_| exponent <= 64)
    .ok_or_else(|| malformed(number, format!("its time resolution is {resolution:#04x}")))?;
    let offset_seconds = match option(OptionCode::IfTsoffset).map(<[u8; 8]>::try_from) {
        None => 0,
        Some(Ok(bytes)) if big_endian => i64::from_be_bytes(bytes),
        Some(Ok(bytes)) => i64::from_le_bytes(bytes),
        Some(Err(_)) => return Err(malformed(number, "its time offset is not 8 bytes".into())),
    };
    let snaplen = if block.snaplen == 0 {
        usize::MAX
    } else {
        block.snaplen as usize
    };
    Ok(Interface {
        snaplen,
        units_per_second,
        offset_seconds,
    })
}

impl Interface {
    /// Nanoseconds since the Unix epoch, kept within what a `u64` holds.
    fn nanoseconds(&self, time: u64) -> u64 {
        let since_offset = u128::from(time) * 1_000_000_000 / self.units_per_second;
        let offset = i128::from(self.offset_seconds) * 1_000_000_000;
        (since_offset as i128)
            .saturating_add(offset)
            .clamp(0, i128::from(u64::MAX)) as u64
    }
}

fn broken(number: usize, says: usize, remain: usize) -> Result<Option<Truncation>, CaptureFault> {
    Ok(Some(truncation(format!("block {number}"), says, remain)))
}

fn malformed(number: usize, what: String) -> CaptureFault {
    CaptureFault::Malformed(format!("block {number}: {what}"))
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;

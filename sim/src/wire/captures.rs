//! Reading captures: pcap and pcapng, in either byte order, of any time resolution.
//!
//! `pcap-parser` decodes records and blocks. What is added here is what it leaves to its caller: which
//! bytes of a record are the frame, the time in nanoseconds, and errors that name the file, the value
//! and the reason.

use std::path::Path;
use std::sync::Arc;

use pcap_parser::{
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
    LegacyPcapBlock, Linktype, PcapError, PcapHeader,
};

use super::pcapng;
use super::Frame;

/// Size of a pcap file header in bytes.
const FILE_HEADER: usize = 24;

/// A capture that was read.
#[derive(Debug)]
pub struct Capture {
    /// The frames in the order of the file.
    pub frames: Vec<Frame>,
    /// Where the file broke off, when the caller allowed that. `frames` holds all whole frames before it.
    pub truncated: Option<Truncation>,
}

/// The end of a file came before the end of what it announced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("truncated: {part} says {says} bytes, {remain} remain")]
pub struct Truncation {
    /// What is cut, such as "frame 17" (counted from 0).
    pub part: String,
    /// Bytes it needs.
    pub says: usize,
    /// Bytes that the file still has for it.
    pub remain: usize,
}

/// Why a capture cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct CaptureError {
    /// The file as the caller named it.
    pub file: String,
    /// What is wrong with it.
    pub reason: CaptureFault,
}

/// The reason inside a [`CaptureError`].
#[derive(Debug, thiserror::Error)]
pub enum CaptureFault {
    /// The operating system refused to read the file.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// The operating system refused to write the file.
    #[error("cannot be written: {0}")]
    Write(std::io::Error),
    /// The file has no bytes.
    #[error("is empty: 0 bytes")]
    Empty,
    /// The file begins like no capture. Holds its first bytes in hexadecimal.
    #[error("is neither pcap nor pcapng: it begins with {0}")]
    NotACapture(String),
    /// The frames are not Ethernet frames. Holds link type and, for pcapng, the interface.
    #[error("link type {} ({}){} is not Ethernet (1)", .link.0, .link, of_interface(.interface))]
    LinkType {
        /// The number of <https://www.tcpdump.org/linktypes.html>.
        link: Linktype,
        /// Number and name of the pcapng interface.
        interface: Option<String>,
    },
    /// The file broke off, and the caller did not allow that.
    #[error(transparent)]
    Truncated(#[from] Truncation),
    /// The file contradicts itself. Holds what and where.
    #[error("malformed: {0}")]
    Malformed(String),
}

fn of_interface(interface: &Option<String>) -> String {
    interface
        .as_ref()
        .map_or_else(String::new, |name| format!(" of interface {name}"))
}

/// Reads the capture at `path` into memory.
///
/// A frame that the snap length cut is returned as captured. A file that breaks off is an error unless
/// `allow_truncated`; then [`Capture::truncated`] tells where it broke.
///
/// # Errors
/// [`CaptureError`] when the file cannot be read, is empty, is not a capture, is truncated (see above),
/// contradicts itself, or holds frames that are not Ethernet.
pub fn read_capture(path: &Path, allow_truncated: bool) -> Result<Capture, CaptureError> {
    let fail = |reason| CaptureError {
        file: path.display().to_string(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(|e| fail(CaptureFault::Read(e)))?;
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into_owned(),
    );
    let capture = parse_capture(&bytes, &name).map_err(fail)?;
    match capture.truncated {
        Some(truncation) if !allow_truncated => Err(fail(truncation.into())),
        _ => Ok(capture),
    }
}

/// Reads a capture that is already in memory; `name` becomes [`Frame::source`]. Truncation is no error here.
///
/// # Errors
/// As [`read_capture`], without those of the operating system.
pub fn parse_capture(bytes: &[u8], name: &str) -> Result<Capture, CaptureFault> {
    if bytes.is_empty() {
        return Err(CaptureFault::Empty);
    }
    let mut collector = Collector {
        source: name.into(),
        frames: Vec::new(),
    };
    let truncated = if bytes.starts_with(&pcapng::MAGIC) {
        pcapng::parse(bytes, &mut collector)?
    } else {
        parse_pcap(bytes, &mut collector)?
    };
    Ok(Capture {
        frames: collector.frames,
        truncated,
    })
}

/// Gathers frames and gives each its name and number.
pub(super) struct Collector {
    source: Arc<str>,
    frames: Vec<Frame>,
}

impl Collector {
    /// The number that the next frame gets.
    pub(super) fn index(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn push(&mut self, bytes: &[u8], timestamp_ns: u64) {
        let mut frame = Frame::new(bytes.to_vec(), self.source.clone(), self.frames.len());
        frame.timestamp_ns = timestamp_ns;
        self.frames.push(frame);
    }
}

/// Refuses every link type but Ethernet.
pub(super) fn check_ethernet(
    link: Linktype,
    interface: Option<String>,
) -> Result<(), CaptureFault> {
    if link == Linktype::ETHERNET {
        Ok(())
    } else {
        Err(CaptureFault::LinkType { link, interface })
    }
}

/// What is cut when `remain` bytes are left of a `part` that needs `says` bytes.
pub(super) fn truncation(part: String, says: usize, remain: usize) -> Truncation {
    Truncation { part, says, remain }
}

fn parse_pcap(bytes: &[u8], collector: &mut Collector) -> Result<Option<Truncation>, CaptureFault> {
    let (mut rest, header) = match parse_pcap_header(bytes) {
        Ok(parsed) => parsed,
        Err(pcap_parser::nom::Err::Incomplete(_)) if bytes.len() >= 4 => {
            // Without a header nothing tells what the frames are, so there is no capture to return.
            return Err(truncation("the file header".into(), FILE_HEADER, bytes.len()).into());
        }
        Err(_) => return Err(CaptureFault::NotACapture(hex(&bytes[..bytes.len().min(4)]))),
    };
    // The upper bits of the field tell whether the frames carry an FCS, and how many 16-bit words of it.
    let field = header.network.0 as u32;
    check_ethernet(Linktype((field & 0x03FF_FFFF) as i32), None)?;
    let fcs = if field & 0x0400_0000 != 0 {
        (field >> 28) as usize * 2
    } else {
        0
    };
    let ns_per_unit = if header.is_nanosecond_precision() {
        1
    } else {
        1000
    };
    let (parse_record, record_header) = record_parser(&header);

    while !rest.is_empty() {
        let (after, record) = match parse_record(rest) {
            Ok(parsed) => parsed,
            Err(_) => {
                return Ok(Some(broken_record(
                    rest,
                    collector.index(),
                    header.is_bigendian(),
                    record_header,
                )))
            }
        };
        let frame_end = (record.origlen as usize).saturating_sub(fcs);
        // Only an FCS is taken off: some writers leave the original length 0 or below the captured one.
        let kept = if fcs > 0 {
            record.data.len().min(frame_end)
        } else {
            record.data.len()
        };
        let timestamp =
            u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_usec) * ns_per_unit;
        collector.push(&record.data[..kept], timestamp);
        rest = after;
    }
    Ok(None)
}

type RecordParser = for<'a> fn(
    &'a [u8],
) -> Result<
    (&'a [u8], LegacyPcapBlock<'a>),
    pcap_parser::nom::Err<PcapError<&'a [u8]>>,
>;

/// The parser of the file's records, and the size of a record's header in bytes.
fn record_parser(header: &PcapHeader) -> (RecordParser, usize) {
    if header.is_modified_format() {
        (parse_pcap_frame_modified, 24)
    } else if header.is_bigendian() {
        (parse_pcap_frame_be, 16)
    } else {
        (parse_pcap_frame, 16)
    }
}

fn broken_record(rest: &[u8], index: usize, big_endian: bool, record_header: usize) -> Truncation {
    let Some(captured) = rest
        .get(8..12)
        .and_then(|b| <[u8; 4]>::try_from(b).ok())
        .filter(|_| rest.len() >= record_header)
    else {
        return truncation(
            format!("the header of frame {index}"),
            record_header,
            rest.len(),
        );
    };
    let captured = if big_endian {
        u32::from_be_bytes(captured)
    } else {
        u32::from_le_bytes(captured)
    };
    truncation(
        format!("frame {index}"),
        captured as usize,
        rest.len() - record_header,
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
#[path = "captures_tests.rs"]
mod tests;

//! Captures written byte by byte: each order, resolution, format and fault.

use super::*;

/// Writes numbers in one byte order.
struct Bytes {
    big: bool,
    out: Vec<u8>,
}

impl Bytes {
    fn new(big: bool) -> Self {
        Self {
            big,
            out: Vec::new(),
        }
    }

    fn u16(mut self, value: u16) -> Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.out.extend(bytes);
        self
    }

    fn pcap(big: bool, magic: u32, network: u32) -> Self {
        Self::new(big)
            .u32(magic)
            .u16(2)
            .u16(4)
            .u32(0)
            .u32(0)
            .u32(65535)
            .u32(network)
    }

    fn record(self, seconds: u32, fraction: u32, original: u32, bytes: &[u8]) -> Self {
        self.u32(seconds)
            .u32(fraction)
            .u32(bytes.len() as u32)
            .u32(original)
            .raw(bytes)
    }

    /// A pcapng block around `body`, padded to 32 bits.
    fn block(self, kind: u32, body: Bytes) -> Self {
        let padding = vec![0; body.out.len().next_multiple_of(4) - body.out.len()];
        let length = (body.out.len() + padding.len() + 12) as u32;
        self.u32(kind)
            .u32(length)
            .raw(&body.out)
            .raw(&padding)
            .u32(length)
    }

    fn section(self) -> Self {
        let body = Self::new(self.big)
            .u32(0x1A2B_3C4D)
            .u16(1)
            .u16(0)
            .u32(u32::MAX)
            .u32(u32::MAX);
        self.block(0x0A0D_0D0A, body)
    }

    /// An interface with `options`, each a code and a value.
    fn interface(self, link: u16, snaplen: u32, options: &[(u16, &[u8])]) -> Self {
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

    fn packet(self, interface: u32, time: u64, bytes: &[u8]) -> Self {
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

    fn simple_packet(self, original: u32, bytes: &[u8]) -> Self {
        let body = Self::new(self.big).u32(original).raw(bytes);
        self.block(3, body)
    }

    fn read(&self) -> Vec<Frame> {
        let capture = parse_capture(&self.out, "x").unwrap();
        assert_eq!(capture.truncated, None);
        capture.frames
    }

    fn fault(&self) -> String {
        parse_capture(&self.out, "x").unwrap_err().to_string()
    }
}

#[test]
fn pcap_of_either_order_and_resolution() {
    for big in [false, true] {
        for (magic, ns) in [(0xA1B2_C3D4, 1000), (0xA1B2_3C4D, 1)] {
            let frames = Bytes::pcap(big, magic, 1)
                .record(3, 5, 4, &[1, 2, 3, 4])
                .record(4, 0, 90, &[9; 70])
                .read();
            assert_eq!(frames.len(), 2);
            assert_eq!(frames[0].bytes, [1, 2, 3, 4]);
            assert_eq!(frames[0].timestamp_ns, 3_000_000_000 + 5 * ns);
            assert_eq!((frames[1].index, frames[1].source.as_ref()), (1, "x"));
            assert_eq!(
                frames[1].bytes, [9; 70],
                "a frame that the snap length cut keeps what was captured"
            );
        }
    }
}

#[test]
fn pcap_with_the_longer_record_header() {
    let frames = Bytes::pcap(false, 0xA1B2_CD34, 1)
        .u32(1)
        .u32(2)
        .u32(3)
        .u32(3)
        .raw(&[0; 8])
        .raw(&[7; 3])
        .read();
    assert_eq!(
        (&frames[0].bytes[..], frames[0].timestamp_ns),
        (&[7; 3][..], 1_000_002_000)
    );
}

#[test]
fn an_fcs_in_the_capture_is_taken_off() {
    let with_fcs = 2 << 28 | 1 << 26 | 1;
    let frames = Bytes::pcap(false, 0xA1B2_C3D4, with_fcs)
        .record(0, 0, 64, &[5; 64])
        .record(0, 0, 64, &[5; 20])
        .read();
    assert_eq!(
        frames.iter().map(|f| f.bytes.len()).collect::<Vec<_>>(),
        [60, 20]
    );
    let length_without_flag = 3 << 28 | 1;
    let frames = Bytes::pcap(false, 0xA1B2_C3D4, length_without_flag)
        .record(0, 0, 64, &[5; 64])
        .read();
    assert_eq!(frames[0].bytes.len(), 64);
}

#[test]
fn pcap_faults_name_value_and_reason() {
    assert_eq!(Bytes::new(false).fault(), "is empty: 0 bytes");
    assert_eq!(
        Bytes::new(false).raw(b"\x7fELF and so on").fault(),
        "is neither pcap nor pcapng: it begins with 7f 45 4c 46"
    );
    assert_eq!(
        Bytes::new(false).raw(b"A").fault(),
        "is neither pcap nor pcapng: it begins with 41"
    );
    assert_eq!(
        Bytes::pcap(true, 0xA1B2_C3D4, 113).fault(),
        "link type 113 (LINUX_SLL) is not Ethernet (1)"
    );
    let header_only = Bytes::new(false).raw(&Bytes::pcap(false, 0xA1B2_C3D4, 1).out[..20]);
    assert_eq!(
        header_only.fault(),
        "truncated: the file header says 24 bytes, 20 remain"
    );
}

#[test]
fn a_truncated_pcap_keeps_its_whole_frames() {
    for big in [false, true] {
        let whole = Bytes::pcap(big, 0xA1B2_C3D4, 1)
            .record(0, 0, 70, &[1; 70])
            .record(0, 0, 120, &[2; 120])
            .out;
        let cut_at = |length: usize| {
            let capture = parse_capture(&whole[..length], "x").unwrap();
            (
                capture.frames.len(),
                capture.truncated.map(|t| t.to_string()),
            )
        };
        assert_eq!(
            cut_at(24 + 86 + 16 + 33),
            (
                1,
                Some("truncated: frame 1 says 120 bytes, 33 remain".into())
            )
        );
        assert_eq!(
            cut_at(24 + 86 + 5),
            (
                1,
                Some("truncated: the header of frame 1 says 16 bytes, 5 remain".into())
            )
        );
        assert_eq!(cut_at(24 + 86), (1, None));
        assert_eq!(cut_at(24), (0, None));
    }
}

#[test]
fn files_are_named_and_truncation_is_an_error_unless_allowed() {
    let missing = read_capture(Path::new("/no/such.pcap"), false).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("/no/such.pcap: cannot be read: No such file"),
        "{missing}"
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcap");
    std::fs::write(
        &path,
        Bytes::pcap(false, 0xA1B2_C3D4, 1)
            .record(0, 0, 9, &[1; 9])
            .u32(0)
            .out,
    )
    .unwrap();
    let error = read_capture(&path, false).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{}: truncated: the header of frame 1 says 16 bytes, 4 remain",
            path.display()
        )
    );
    let capture = read_capture(&path, true).unwrap();
    assert_eq!(
        (capture.frames.len(), capture.frames[0].source.as_ref()),
        (1, "cut.pcap")
    );
    assert!(capture.truncated.is_some());
}

#[test]
fn pcapng_of_either_order_and_several_resolutions() {
    for big in [false, true] {
        let seconds = |s: i64| {
            if big {
                s.to_be_bytes()
            } else {
                s.to_le_bytes()
            }
        };
        let frames = Bytes::new(big)
            .section()
            .interface(1, 0, &[(2, b"eth0")])
            .interface(1, 0, &[(9, &[9])])
            .interface(1, 0, &[(9, &[0x80 | 10]), (14, &seconds(100))])
            .interface(1, 0, &[(14, &seconds(-10))])
            .packet(0, 0x1_0000_0001, &[1; 61])
            .packet(1, 7, &[2; 60])
            .packet(2, 1536, &[3; 60])
            .packet(3, 5_000_000, &[4; 60])
            .block(0x0BAD_0001, Bytes::new(big).raw(b"unknown block"))
            .read();
        let times: Vec<u64> = frames.iter().map(|f| f.timestamp_ns).collect();
        assert_eq!(times, [0x1_0000_0001 * 1000, 7, 101_500_000_000, 0]);
        assert_eq!(
            frames[0].bytes, [1; 61],
            "padding of the block is no part of the frame"
        );
    }
}

#[test]
fn pcapng_simple_packets_are_cut_at_the_snap_length() {
    let frames = Bytes::new(true)
        .section()
        .interface(1, 66, &[])
        .simple_packet(61, &[1; 61])
        .simple_packet(90, &[2; 66])
        .read();
    assert_eq!(
        frames.iter().map(|f| f.bytes.len()).collect::<Vec<_>>(),
        [61, 66]
    );
}

#[test]
fn a_new_section_brings_its_own_byte_order_and_interfaces() {
    let second = Bytes::new(true)
        .section()
        .interface(1, 0, &[(9, &[0])])
        .packet(0, 2, &[2; 60]);
    let both = Bytes::new(false)
        .section()
        .interface(1, 0, &[])
        .packet(0, 2, &[1; 60])
        .raw(&second.out);
    assert_eq!(
        both.read()
            .iter()
            .map(|f| f.timestamp_ns)
            .collect::<Vec<_>>(),
        [2_000, 2_000_000_000]
    );
    let lost = both.raw(&Bytes::new(true).section().packet(0, 2, &[3; 60]).out);
    assert_eq!(
        lost.fault(),
        "malformed: block 7: frame 2 names interface 0, which the section does not describe"
    );
}

#[test]
fn pcapng_faults_name_value_and_reason() {
    let section = || Bytes::new(false).section();
    let mixed = section()
        .interface(1, 0, &[])
        .interface(127, 0, &[(2, b"mon0")]);
    assert_eq!(
        mixed.fault(),
        "link type 127 (Linktype(127 / 0x7f)) of interface 1 \"mon0\" is not Ethernet (1)"
    );
    assert_eq!(
        section().interface(1, 0, &[(9, &[40])]).fault(),
        "malformed: block 1: its time resolution is 0x28"
    );
    assert_eq!(
        section().interface(1, 0, &[(14, &[0; 4])]).fault(),
        "malformed: block 1: its time offset is not 8 bytes"
    );
    assert_eq!(
        section().simple_packet(1, &[1]).fault(),
        "malformed: block 1: frame 0 comes before any interface"
    );
    assert_eq!(
        section().block(2, Bytes::new(false).raw(&[0; 24])).fault(),
        "malformed: block 1: obsolete packet block (type 2)"
    );
    assert_eq!(
        section().u32(6).u32(8).u32(0).fault(),
        "malformed: block 1: its length is 8"
    );
    let overlong = Bytes::new(false)
        .u32(0)
        .u32(0)
        .u32(0)
        .u32(5000)
        .u32(5000)
        .raw(&[0; 8]);
    let contradiction = section().interface(1, 0, &[]).block(6, overlong);
    assert_eq!(
        contradiction.fault(),
        "malformed: block 2: its fields contradict its length 40"
    );
    let orderless = Bytes::new(false).u32(0x0A0D_0D0A).u32(28).raw(&[0; 20]);
    assert_eq!(
        orderless.fault(),
        "malformed: block 0: [00, 00, 00, 00] is no byte-order magic"
    );
}

#[test]
fn no_cut_or_changed_byte_makes_the_reader_panic() {
    let pcap = Bytes::pcap(true, 0xA1B2_3C4D, 1)
        .record(0, 0, 20, &[1; 20])
        .record(0, 0, 21, &[1; 21])
        .out;
    let ng = Bytes::new(false)
        .section()
        .interface(1, 64, &[(9, &[9])])
        .packet(0, 1, &[1; 21])
        .simple_packet(9, &[2; 9])
        .out;
    for whole in [pcap, ng] {
        for cut in 0..whole.len() {
            if let Ok(capture) = parse_capture(&whole[..cut], "x") {
                assert!(
                    capture.frames.len() < 2,
                    "a cut file cannot hold all frames"
                );
            }
            for value in [0, 0x7F, 0xFF] {
                let mut changed = whole.clone();
                changed[cut] = value;
                let _ = parse_capture(&changed, "x");
            }
        }
    }
}

#[test]
fn the_regression_captures_load() {
    let shared = std::env::var_os("FERRONIC_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        std::path::PathBuf::from,
    );
    let folder = shared.join("data/captures");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!(
            "skipped: no folder {} (set FERRONIC_SHARED to the folder that holds data/captures)",
            folder.display()
        );
        return;
    };
    let mut frames = 0;
    let mut files = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        frames += read_capture(&path, false)
            .unwrap_or_else(|e| panic!("{e}"))
            .frames
            .len();
        files += 1;
    }
    println!("{files} captures, {frames} frames");
    assert!(
        frames >= files && files > 0,
        "{files} captures gave {frames} frames"
    );
}

//! pcap of each order, resolution and fault; and real captures.

use super::*;
use crate::wire::capture_bytes::Bytes;

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

#[test]
fn the_demo_capture_holds_what_its_readme_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/captures/demo.pcap");
    let frames = read_capture(&path, false).unwrap().frames;
    assert!(
        (100..=300).contains(&frames.len()),
        "{} frames",
        frames.len()
    );
    let with_type = |low: u16, high: u16| {
        let types = frames
            .iter()
            .map(|f| u16::from_be_bytes([f.bytes[12], f.bytes[13]]));
        types.filter(|t| (low..=high).contains(t)).count()
    };
    for (what, low, high) in [
        ("LLC", 0, 0x05FF),
        ("ARP", 0x0806, 0x0806),
        ("IPv4", 0x0800, 0x0800),
        ("IPv6", 0x86DD, 0x86DD),
        ("802.1Q", 0x8100, 0x8100),
        ("802.1ad", 0x88A8, 0x88A8),
    ] {
        assert!(with_type(low, high) > 0, "no {what} frame");
    }
    let own_mac = [0x02, 0xFE, 0, 0, 0, 0x01];
    assert!(frames.iter().any(|f| f.bytes[..6] == own_mac));
}

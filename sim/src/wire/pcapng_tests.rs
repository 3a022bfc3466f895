//! pcapng of each order, resolution, kind of block and fault.

use crate::wire::capture_bytes::Bytes;

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

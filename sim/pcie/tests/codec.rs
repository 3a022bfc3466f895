//! Headers and TLPs survive the wire; bytes that are no TLP are refused.

use ferronic_pcie::codec::{reserved_bits, DecodeError};
use ferronic_pcie::tlp::{Body, Completion, ConfigRequest, MemoryRequest, Message};
use ferronic_pcie::{Bdf, Header, Status, Tlp};
use proptest::prelude::*;

fn body() -> impl Strategy<Value = (Body, bool)> {
    let status = prop_oneof![
        Just(Status::Success),
        Just(Status::UnsupportedRequest),
        Just(Status::ConfigRetry),
        Just(Status::CompleterAbort),
    ];
    prop_oneof![
        (any::<(bool, u16, u8, u64, bool)>(), 0..16u8, 0..16u8).prop_map(
            |((write, requester, tag, address, wide), first_be, last_be)| {
                let address = if wide {
                    address & !3
                } else {
                    address & 0xFFFF_FFFC
                };
                let requester = Bdf(requester);
                let r = MemoryRequest {
                    write,
                    requester,
                    tag,
                    first_be,
                    last_be,
                    address,
                    wide,
                };
                (Body::Memory(r), true)
            }
        ),
        (any::<(bool, u16, u8, u16)>(), 0..16u8, 0..1024u16).prop_map(
            |((write, requester, tag, target), first_be, dw)| {
                let (requester, target) = (Bdf(requester), Bdf(target));
                let r = ConfigRequest {
                    write,
                    requester,
                    tag,
                    first_be,
                    target,
                    offset: dw * 4,
                };
                (Body::Config(r), true)
            }
        ),
        (any::<(u16, u16, u8, bool)>(), status, 1..=4096u16, 0..128u8).prop_map(
            |((completer, requester, tag, data), status, byte_count, lower_address)| {
                let (completer, requester) = (Bdf(completer), Bdf(requester));
                let c = Completion {
                    completer,
                    status,
                    byte_count,
                    requester,
                    tag,
                    lower_address,
                    data,
                };
                (Body::Completion(c), data)
            }
        ),
        (any::<(u16, u8, u8, bool, [u8; 8])>(), 0..8u8).prop_map(
            |((requester, tag, code, data, rest), routing)| {
                let m = Message {
                    requester: Bdf(requester),
                    tag,
                    code,
                    routing,
                    data,
                    rest,
                };
                (Body::Message(m), data)
            }
        ),
    ]
}

fn header() -> impl Strategy<Value = Header> {
    (
        body(),
        1..=1024u16,
        0..8u8,
        0..8u8,
        0..4u8,
        any::<(bool, bool)>(),
    )
        .prop_map(
            |(
                (body, has_length),
                length,
                traffic_class,
                attributes,
                address_type,
                (digest, poisoned),
            )| {
                let length = if has_length { length } else { 0 };
                Header {
                    traffic_class,
                    attributes,
                    address_type,
                    digest,
                    poisoned,
                    length,
                    body,
                }
            },
        )
}

proptest! {
    #[test]
    fn a_tlp_survives_the_wire(header in header(), seed: u8) {
        let payload = (0..header.payload_bytes()).map(|i| seed.wrapping_add(i as u8)).collect();
        let tlp = Tlp { header, payload };
        let mut bytes = Vec::new();
        tlp.encode(&mut bytes);
        prop_assert_eq!(bytes.len(), header.total_bytes());
        prop_assert!(!reserved_bits(&bytes));
        prop_assert_eq!(Tlp::decode(&bytes), Ok(tlp));
        let (expected, actual) = (bytes.len(), bytes.len() - 4);
        prop_assert_eq!(Tlp::decode(&bytes[..actual]), Err(DecodeError::Length { expected, actual }));
        bytes.extend_from_slice(&[0; 4]);
        let actual = bytes.len();
        prop_assert_eq!(Tlp::decode(&bytes), Err(DecodeError::Length { expected, actual }));
    }

    #[test]
    fn any_bytes_decode_to_what_they_came_from_or_to_an_error(bytes: [u8; 16]) {
        if let Ok(header) = Header::decode(&bytes) {
            let mut again = [0; 16];
            let size = header.encode(&mut again);
            // The length of a TLP without data is reserved in completions and messages.
            let mut expected = bytes;
            if header.length == 0 {
                expected[2] &= 0xFC;
                expected[3] = 0;
            }
            if !reserved_bits(&bytes) {
                prop_assert_eq!(&again[..size], &expected[..size]);
            }
        }
    }

    #[test]
    fn byte_enables_cover_exactly_the_bytes(address in 0..u64::MAX - 8192, bytes in 0..=4093usize) {
        let header = Header::memory_read(Bdf(0), 0, address, bytes);
        let (first, count) = header.enabled_bytes().unwrap();
        if bytes == 0 {
            prop_assert_eq!((first, count), (address & !3, 1));
        } else {
            prop_assert_eq!((first, usize::from(count)), (address, bytes));
        }
    }
}

/// Bytes as a bus analyser shows them.
#[test]
fn known_bytes() {
    let cases: [(Tlp, &[u8]); 4] = [
        (
            Tlp::bare(Header::memory_read(Bdf::new(1, 0, 0), 0x0C, 0xFDAF_F040, 4)),
            &[0, 0, 0, 1, 1, 0, 0x0C, 0x0F, 0xFD, 0xAF, 0xF0, 0x40],
        ),
        (
            Tlp::memory_write(Bdf::new(0, 0, 0), 0xFDAF_F040, &[0x12, 0x34, 0x56, 0x78]),
            &[
                0x40, 0, 0, 1, 0, 0, 0, 0x0F, 0xFD, 0xAF, 0xF0, 0x40, 0x12, 0x34, 0x56, 0x78,
            ],
        ),
        (
            Tlp::memory_write(Bdf::new(2, 3, 1), 0x1_0000_0001, &[1, 2, 3, 4]),
            &[
                0x60, 0, 0, 2, 2, 0x19, 0, 0x1E, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0,
            ],
        ),
        (
            Tlp {
                header: Header::new(
                    1,
                    Body::Completion(Completion {
                        completer: Bdf::new(1, 0, 0),
                        status: Status::Success,
                        byte_count: 4,
                        requester: Bdf::new(0, 0, 0),
                        tag: 0x0C,
                        lower_address: 0x40,
                        data: true,
                    }),
                ),
                payload: vec![0x12, 0x34, 0x56, 0x78],
            },
            &[
                0x4A, 0, 0, 1, 1, 0, 0, 4, 0, 0, 0x0C, 0x40, 0x12, 0x34, 0x56, 0x78,
            ],
        ),
    ];
    for (tlp, expected) in cases {
        let mut bytes = Vec::new();
        tlp.encode(&mut bytes);
        assert_eq!(bytes, expected, "{tlp:?}");
    }
}

#[test]
fn foreign_types_are_refused() {
    // A prefix, MRdLk, IORd, CfgRd1, CplLk, FetchAdd, a message with 3 DW.
    for first in [0x80, 0x01, 0x02, 0x05, 0x0B, 0x4C, 0x10] {
        let mut bytes = [0; 16];
        bytes[0] = first;
        assert_eq!(Header::decode(&bytes), Err(DecodeError::Type(first)));
    }
    let mut completion = [0; 12];
    (completion[0], completion[6]) = (0x0A, 0x60);
    assert_eq!(Header::decode(&completion), Err(DecodeError::Status(3)));
    assert_eq!(
        Header::decode(&[]),
        Err(DecodeError::Length {
            expected: 12,
            actual: 0
        })
    );
}

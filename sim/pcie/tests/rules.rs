//! Every rule has a TLP that breaks it, and legal traffic breaks none.

mod common;

use common::{request, Bench, DEVICE, EXPRESS, HOST, RAM};
use ferronic_pcie::config::{self, ConfigAccess};
use ferronic_pcie::tlp::{Body, Completion, MemoryRequest, Message};
use ferronic_pcie::{Bdf, Header, ReadFault, Rule, Settings, Status, Tlp};

fn bench() -> Bench {
    Bench::enumerated(Settings::default()).0
}

#[track_caller]
fn expect(tlp: Tlp, rules: &[Rule]) {
    let mut bench = bench();
    bench.rc.push_tlp(tlp.clone());
    bench.run();
    assert_eq!(bench.broken(), rules, "{tlp:?}");
    if let Some(violation) = bench.rc.violations().first() {
        let text = violation.to_string();
        assert!(text.contains(violation.rule.text()), "{text}");
        assert!(
            text.contains("section") && text.contains("Memory"),
            "{text}"
        );
    }
}

#[test]
fn legal_requests() {
    expect(request(true, 64, |_| {}), &[]);
    expect(request(false, 128, |_| {}), &[]);
    expect(request(false, 128, |r| r.address = RAM + 4096 - 512), &[]);
    expect(
        request(false, 128, |r| (r.address, r.wide) = (1 << 32, true)),
        &[],
    );
    expect(request(true, 1, |r| r.first_be = 0b1001), &[]);
    expect(
        request(true, 2, |r| (r.first_be, r.last_be) = (0b0101, 0b1010)),
        &[],
    );
    expect(
        request(true, 3, |r| (r.first_be, r.last_be) = (0b1000, 0b0001)),
        &[],
    );
    expect(request(false, 1, |r| r.first_be = 0), &[]);
    expect(request(false, 1, |r| r.tag = 255), &[]);
}

#[test]
fn memory_requests() {
    expect(request(true, 65, |_| {}), &[Rule::PayloadTooLong]);
    expect(request(false, 129, |_| {}), &[Rule::ReadTooLong]);
    expect(
        request(false, 2, |r| r.address = RAM + 4092),
        &[Rule::Crosses4K],
    );
    expect(
        request(true, 2, |r| r.address = RAM + 4092),
        &[Rule::Crosses4K],
    );
    expect(request(false, 1, |r| r.wide = true), &[Rule::AddressFormat]);
    expect(
        request(true, 1, |r| r.last_be = 0xF),
        &[Rule::LastByteEnables],
    );
    expect(
        request(true, 2, |r| r.last_be = 0),
        &[Rule::LastByteEnables],
    );
    expect(
        request(true, 2, |r| r.first_be = 0),
        &[Rule::FirstByteEnables],
    );
    expect(
        request(true, 3, |r| r.first_be = 0b1010),
        &[Rule::ByteEnablesGap],
    );
    expect(
        request(true, 3, |r| r.last_be = 0b0101),
        &[Rule::ByteEnablesGap],
    );
    expect(
        request(true, 3, |r| r.last_be = 0b1110),
        &[Rule::ByteEnablesGap],
    );
    let unaligned = |r: &mut MemoryRequest| (r.address, r.first_be) = (RAM + 4, 0b0101);
    expect(request(true, 2, unaligned), &[Rule::ByteEnablesGap]);
    expect(
        request(true, 1, |r| r.requester = Bdf::new(1, 0, 1)),
        &[Rule::RequesterId],
    );
    let interrupt = |r: &mut MemoryRequest| r.address = 0xFEE0_0000;
    expect(request(true, 2, interrupt), &[Rule::InterruptWrite]);
    let half = |r: &mut MemoryRequest| (r.address, r.first_be) = (0xFEE0_0000, 0b0011);
    expect(request(true, 1, half), &[Rule::InterruptWrite]);
    let mut translated = request(true, 1, |_| {});
    translated.header.address_type = 2;
    expect(translated, &[Rule::AddressType]);
}

#[test]
fn tags() {
    let mut bench = bench();
    for _ in 0..2 {
        bench.rc.push_tlp(request(false, 1, |r| r.tag = 9));
    }
    bench.run();
    assert_eq!(bench.broken(), [Rule::TagInUse]);
    bench.rc.push_tlp(request(false, 1, |r| r.tag = 9));
    bench.run();
    assert_eq!(
        bench.broken().len(),
        1,
        "the tag is free after its completion"
    );

    bench
        .config_write(EXPRESS + config::DEVICE_CONTROL, 0x2000)
        .unwrap();
    bench.rc.push_tlp(request(false, 1, |r| r.tag = 31));
    bench.rc.push_tlp(request(false, 1, |r| r.tag = 32));
    assert_eq!(bench.broken()[1..], [Rule::TagTooBig]);
}

#[test]
fn limits_follow_configuration_writes() {
    let mut bench = bench();
    bench
        .config_write(EXPRESS + config::DEVICE_CONTROL, 0)
        .unwrap();
    bench.rc.push_tlp(request(true, 33, |_| {}));
    bench.rc.push_tlp(request(false, 33, |_| {}));
    assert_eq!(bench.broken(), [Rule::PayloadTooLong, Rule::ReadTooLong]);
    bench
        .config_write(config::COMMAND, config::COMMAND_MEMORY)
        .unwrap();
    bench.rc.push_tlp(request(true, 1, |_| {}));
    bench.rc.push_tlp(request(false, 1, |r| r.tag = 1));
    assert_eq!(bench.broken()[2..], [Rule::BusMaster, Rule::BusMaster]);
}

#[test]
fn a_tag_stays_in_use_when_a_duplicate_completion_comes() {
    let mut bench = bench();
    bench.rc.inject_read_fault(ReadFault::Duplicate);
    for _ in 0..2 {
        bench.rc.push_tlp(request(false, 1, |r| r.tag = 7));
        bench.rc.settle(&mut bench.ram);
        assert!(bench.rc.take_tlp().is_some()); // the completion, then the duplicate
        assert_eq!(bench.broken(), []);
    }
    bench.rc.push_tlp(request(false, 1, |r| r.tag = 7));
    assert_eq!(bench.broken(), [Rule::TagInUse]);
}

#[test]
fn a_request_on_its_way_while_bus_mastering_ends_is_legal() {
    let mut bench = bench();
    let off = bench
        .rc
        .config_write(config::COMMAND, config::COMMAND_MEMORY, 0xF);
    bench.rc.push_tlp(request(true, 1, |_| {})); // before the device has seen the write
    bench.rc.settle(&mut bench.ram);
    let write = bench.rc.take_tlp().expect("the write arrives");
    bench.rc.push_tlp(request(true, 1, |_| {})); // before the device has answered
    let answer = bench
        .endpoint
        .answer(&write)
        .expect("a configuration write has an answer");
    bench.rc.push_tlp(answer);
    bench.wait(off);
    assert_eq!(bench.broken(), []);
    assert!(!bench.rc.limits().bus_master);
}

#[test]
fn completions_for_the_cpu() {
    type Change = fn(&mut Tlp, &mut Completion);
    let cases: [(u64, usize, Change, &[Rule]); 12] = [
        (0, 4, |_, _| {}, &[]),
        (0, 4, |_, c| c.completer = HOST, &[Rule::CompleterId]),
        (0, 4, |_, c| c.requester = DEVICE, &[Rule::UnknownRequest]),
        (0, 4, |_, c| c.tag ^= 1, &[Rule::UnknownRequest]),
        (0, 4, |_, c| c.byte_count = 8, &[Rule::ByteCount]),
        (0, 8, |_, c| c.byte_count = 4, &[Rule::ByteCount]),
        (1, 2, |_, c| c.lower_address = 0, &[Rule::LowerAddress]),
        (
            0x1D4,
            4,
            |_, c| c.lower_address = 0x14,
            &[Rule::LowerAddress],
        ),
        (
            0,
            4,
            |_, c| c.status = Status::UnsupportedRequest,
            &[Rule::CompletionData],
        ),
        (
            0,
            4,
            |tlp, c| {
                c.data = false;
                tlp.header.length = 0;
                tlp.payload.clear();
            },
            &[Rule::CompletionData],
        ),
        (
            0,
            4,
            |tlp, _| {
                tlp.header.length = 2;
                tlp.payload.extend_from_slice(&[0; 4]);
            },
            &[Rule::CompletionLength],
        ),
        (
            0,
            8,
            |tlp, _| {
                tlp.header.length = 1;
                tlp.payload.truncate(4);
            },
            &[Rule::CompletionLength],
        ),
    ];
    for (case, (offset, bytes, change, rules)) in cases.into_iter().enumerate() {
        let mut bench = bench();
        bench.rc.cpu_read(0xE000_0000 + offset, bytes);
        bench.rc.settle(&mut bench.ram);
        let request = bench.rc.take_tlp().expect("the read arrives");
        let mut answer = bench
            .endpoint
            .answer(&request)
            .expect("a read has an answer");
        let Body::Completion(mut completion) = answer.header.body else {
            panic!()
        };
        change(&mut answer, &mut completion);
        answer.header.body = Body::Completion(completion);
        bench.rc.push_tlp(answer);
        bench.run();
        assert_eq!(bench.broken(), rules, "case {case}");
    }
}

#[test]
fn a_completion_that_nobody_asked_for() {
    let mut bench = bench();
    let handle = bench.rc.cpu_read32(0xE000_0000);
    bench.rc.settle(&mut bench.ram);
    let request = bench.rc.take_tlp().unwrap();
    let answer = bench.endpoint.answer(&request).unwrap();
    bench.rc.push_tlp(answer.clone());
    bench.rc.push_tlp(answer);
    bench.wait(handle);
    assert_eq!(bench.broken(), [Rule::UnknownRequest]);
}

#[test]
fn an_endpoint_configures_nobody_and_may_send_messages() {
    let message = Message {
        requester: DEVICE,
        tag: 0,
        code: 0x30,
        routing: 0,
        data: false,
        rest: [0; 8],
    };
    let mut bench = bench();
    bench
        .rc
        .push_tlp(Tlp::bare(Header::new(0, Body::Message(message))));
    bench.run();
    assert_eq!(
        (bench.broken(), bench.rc.counters().up.msg.tlps),
        (vec![], 1)
    );
    let stranger = Message {
        requester: HOST,
        ..message
    };
    bench
        .rc
        .push_tlp(Tlp::bare(Header::new(0, Body::Message(stranger))));
    assert_eq!(bench.broken(), [Rule::RequesterId]);
    let config = config_read();
    bench.rc.push_tlp(config);
    bench.run();
    assert_eq!(bench.broken()[1..], [Rule::TlpType]);
}

fn config_read() -> Tlp {
    let r = ferronic_pcie::tlp::ConfigRequest {
        write: false,
        requester: DEVICE,
        tag: 0,
        first_be: 0xF,
        target: HOST,
        offset: 0,
    };
    Tlp::bare(Header::new(1, Body::Config(r)))
}

//! Received TLPs against the codec of the root complex, at three widths, with pauses on both sides.

mod tlp;

use ferronic_bench::models::{tlp_rx_128::TlpRx128, tlp_rx_256::TlpRx256, tlp_rx_512::TlpRx512, tlp_rx_64::TlpRx64};
use ferronic_pcie::tlp::{Bdf, Body, Completion, ConfigRequest, Header, MemoryRequest, Message, Status, Tlp};
use ferronic_verilated::PowerUp;
use tlp::{beats, dwords, Random, Word};

#[derive(Debug, PartialEq, Clone, Default)]
struct Answer {
    tag: u8,
    status: u8,
    poisoned: bool,
    byte_count: u16,
    lower: u8,
    dwords: u16,
    requester: u16,
    data: Vec<u32>,
}

#[derive(Debug, PartialEq, Clone)]
struct Request {
    kind: u8,
    addr: u64,
    target: Option<u16>,
    dwords: u16,
    first_be: u8,
    last_be: u8,
    requester: u16,
    tag: u8,
    tc: u8,
    attr: u8,
    data: Vec<u32>,
}

/// What the block made, or should make, of a list of TLPs.
#[derive(Debug, PartialEq, Default)]
struct Outcome {
    answers: Vec<Answer>,
    requests: Vec<Request>,
    bad: usize,
}

macro_rules! bench {
    ($name:ident, $model:ty, $word:ty) => {
        /// Feeds the TLPs; `pause` is the chance in percent of a pause on either side in a cycle. Gives the cycles too.
        fn $name(seed: u64, tlps: &[Vec<u8>], pause: u64) -> (Outcome, usize) {
            let mut random = Random(seed);
            let mut block = <$model>::new(PowerUp::Random(seed));
            start!(block);
            let mut input: std::collections::VecDeque<_> = tlps.iter().flat_map(|tlp| beats::<$word>(tlp)).collect();
            let (mut seen, mut open) = (Outcome::default(), None::<Answer>);
            let (mut showing, mut idle, mut cycles, mut waiting) = (false, 0, 0, None::<Request>);
            while idle < 40 {
                showing |= !input.is_empty() && !random.percent(pause);
                block.set_rx_valid(showing);
                // Without valid the bus carries anything.
                let beat = if showing { input[0] } else { tlp_noise(&mut random) };
                block.set_rx_data(<$word>::pack(&beat.data));
                block.set_rx_keep(beat.keep as _);
                block.set_rx_last(beat.last);
                let ready = !random.percent(pause);
                block.set_q_ready(ready && block.q_valid());
                block.eval();
                if block.c_valid() {
                    let now = Answer {
                        tag: block.c_tag(),
                        status: block.c_status(),
                        poisoned: block.c_poisoned(),
                        byte_count: block.c_byte_count(),
                        lower: block.c_lower(),
                        dwords: block.c_dwords(),
                        requester: block.c_requester(),
                        data: vec![],
                    };
                    if block.c_first() {
                        open = Some(now.clone());
                    }
                    let answer = open.as_mut().expect("a beat without a first");
                    assert_eq!(Answer { data: vec![], ..answer.clone() }, now, "fields change within a completion");
                    answer.data.extend(block.c_data().lanes());
                    if block.c_last() {
                        let mut answer = open.take().unwrap();
                        let spare = answer.data.len() - usize::from(answer.dwords);
                        assert!(spare < <$word>::LANES || answer.dwords == 0, "too many beats");
                        answer.data.truncate(usize::from(answer.dwords));
                        seen.answers.push(answer);
                    }
                }
                if block.q_valid() {
                    let kind = block.q_kind();
                    let mut request = Request {
                        kind,
                        addr: block.q_addr(),
                        target: (kind < 2).then(|| block.q_target()),
                        dwords: block.q_dwords(),
                        first_be: block.q_first_be(),
                        last_be: block.q_last_be(),
                        requester: block.q_requester(),
                        tag: block.q_tag(),
                        tc: block.q_tc(),
                        attr: block.q_attr(),
                        data: block.q_data().lanes(),
                    };
                    request.data.truncate(if kind == 1 || kind == 3 { usize::from(request.dwords) } else { 0 });
                    if kind == 4 {
                        request.addr = 0;
                    }
                    if let Some(before) = &waiting {
                        assert_eq!(*before, request, "a waiting request changed");
                    }
                    waiting = Some(request.clone());
                    if ready {
                        seen.requests.push(request);
                        waiting = None;
                    }
                } else {
                    assert_eq!(waiting, None, "a request went without ready");
                }
                seen.bad += usize::from(block.bad());
                if showing && block.rx_ready() {
                    input.pop_front();
                    showing = false;
                    idle = 0;
                } else {
                    idle += 1;
                }
                assert!(idle < 40 || input.is_empty(), "stuck with {} beats", input.len());
                cycles += 1;
                tick!(block);
            }
            (seen, cycles - 40)
        }
    };
}

bench!(run_64, TlpRx64, u64);
bench!(run_128, TlpRx128, [u32; 4]);
bench!(run_256, TlpRx256, [u32; 8]);
bench!(run_512, TlpRx512, [u32; 16]);

fn tlp_noise(random: &mut Random) -> ferronic_pcie::Beat {
    let mut beat = ferronic_pcie::Beat::EMPTY;
    beat.data.iter_mut().for_each(|word| *word = random.next() as u32);
    beat.keep = random.next() as u16 & 255;
    beat.last = random.percent(50);
    beat
}

fn header(random: &mut Random, length: u16, body: Body) -> Header {
    let mut header = Header::new(length, body);
    header.traffic_class = random.below(8) as u8;
    header.attributes = random.below(4) as u8;
    header.digest = random.percent(15);
    header
}

fn completion(random: &mut Random) -> (Tlp, Answer) {
    let length = match random.below(10) {
        0 => 1024,
        1..=2 => 0,
        3..=6 => 1 + random.below(9) as u16,
        _ => 1 + random.below(64) as u16,
    };
    let (status, code) = [
        (Status::Success, 0),
        (Status::UnsupportedRequest, 1),
        (Status::ConfigRetry, 2),
        (Status::CompleterAbort, 4),
    ][if length > 0 { 0 } else { random.below(4) as usize }];
    let body = Completion {
        completer: Bdf(random.next() as u16),
        status,
        byte_count: 1 + random.below(4096) as u16,
        requester: Bdf(random.next() as u16),
        tag: random.next() as u8,
        lower_address: random.below(128) as u8,
        data: length > 0,
    };
    let mut header = header(random, length, Body::Completion(body));
    header.poisoned = random.percent(20);
    let payload = random.bytes(usize::from(length) * 4);
    let answer = Answer {
        tag: body.tag,
        status: code,
        poisoned: header.poisoned,
        byte_count: body.byte_count,
        lower: body.lower_address,
        dwords: length,
        requester: body.requester.0,
        data: dwords(&payload),
    };
    (Tlp { header, payload }, answer)
}

/// A request and whether it is to be passed on.
fn request(random: &mut Random) -> (Tlp, Request, bool) {
    let write = random.percent(50);
    let requester = Bdf(random.next() as u16);
    let tag = random.next() as u8;
    let first_be = random.below(16) as u8;
    let (header, kind, addr, target, last_be) = if random.percent(60) {
        let length = if write { 1 + random.below(4) as u16 } else { [1, 2, 3, 1023, 1024][random.below(5) as usize] };
        let last_be = random.below(16) as u8;
        let address = random.address();
        let wide = address >> 32 != 0;
        let body = Body::Memory(MemoryRequest { write, requester, tag, first_be, last_be, address, wide });
        (header(random, length, body), 2, address, None, last_be)
    } else {
        let target = Bdf(random.next() as u16);
        let offset = random.next() as u16 & 0xFFC;
        let body = Body::Config(ConfigRequest { write, requester, tag, first_be, target, offset });
        (header(random, 1, body), 0, u64::from(offset), Some(target.0), 0)
    };
    let mut tlp = Tlp { header, payload: random.bytes(header.payload_bytes()) };
    tlp.header.poisoned = write && random.percent(20);
    let memory_write = write && kind == 2;
    let refused = memory_write && (tlp.header.poisoned || header.length > 2);
    let mut request = Request {
        kind: kind + u8::from(write),
        addr,
        target,
        dwords: header.length,
        first_be,
        last_be,
        requester: requester.0,
        tag,
        tc: header.traffic_class,
        attr: header.attributes,
        data: dwords(&tlp.payload),
    };
    if tlp.header.poisoned && !memory_write {
        request = Request { kind: 4, addr: 0, target: None, data: vec![], ..request };
    }
    (tlp, request, !refused)
}

/// `count` TLPs and what is to come of them; `faults` percent have a wrong length.
fn mixture(random: &mut Random, count: usize, faults: u64) -> (Vec<Vec<u8>>, Outcome) {
    let (mut tlps, mut expected) = (vec![], Outcome::default());
    for _ in 0..count {
        let (mut bytes, mut cut) = (vec![], None);
        let fault = random.percent(faults);
        let mut bend = |random: &mut Random, bytes: &mut Vec<u8>| {
            let words = bytes.len() as u64 / 4;
            let new = if random.percent(50) { 1 + random.below(words - 1) } else { words + 1 + random.below(9) };
            bytes.resize(new as usize * 4, 0x5A);
            cut = Some(new < words);
        };
        match random.below(10) {
            0..=4 => {
                let (tlp, answer) = completion(random);
                tlp.encode(&mut bytes);
                if fault {
                    bend(random, &mut bytes);
                    expected.bad += 1;
                }
                if cut != Some(true) {
                    expected.answers.push(answer);
                }
            }
            5..=8 => {
                let (tlp, request, passed) = request(random);
                tlp.encode(&mut bytes);
                if fault {
                    bend(random, &mut bytes);
                }
                if fault || !passed {
                    expected.bad += 1;
                } else {
                    expected.requests.push(request);
                }
            }
            _ => {
                let length = random.below(6) as u16;
                let rest = [0; 8];
                let body = Message { requester: Bdf(3), tag: 1, code: 0x19, routing: random.below(6) as u8, data: length > 0, rest };
                let header = header(random, length, Body::Message(body));
                Tlp { header, payload: random.bytes(header.payload_bytes()) }.encode(&mut bytes);
            }
        }
        tlps.push(bytes);
    }
    (tlps, expected)
}

fn check_all(seed: u64, tlps: &[Vec<u8>], pause: u64, expected: &Outcome) {
    assert_eq!(&run_64(seed, tlps, pause).0, expected, "64 bits, seed {seed}");
    assert_eq!(&run_128(seed, tlps, pause).0, expected, "128 bits, seed {seed}");
    assert_eq!(&run_256(seed, tlps, pause).0, expected, "256 bits, seed {seed}");
    assert_eq!(&run_512(seed, tlps, pause).0, expected, "512 bits, seed {seed}");
}

/// Caught when tried: payload of a request taken from the lane before, the digest not counted, length 0 not read as 1024,
/// poisoned writes passed on, lower address without its top bit.
#[test]
fn tlps_are_told_apart_and_taken_to_pieces() {
    for seed in 0..60 {
        let (tlps, expected) = mixture(&mut Random(seed), 80, 0);
        check_all(seed, &tlps, [0, 20, 70][seed as usize % 3], &expected);
    }
}

/// Caught when tried: `c_last` shown for a completion that is cut short; the rest of one that is too long passed on.
#[test]
fn wrong_lengths_are_dropped_and_what_follows_is_whole() {
    for seed in 100..160 {
        let (tlps, expected) = mixture(&mut Random(seed), 80, 40);
        assert!(expected.bad > 10);
        check_all(seed, &tlps, [0, 20, 70][seed as usize % 3], &expected);
    }
}

/// Every fmt and type that the other tests do not send, with the lengths right: non-posted ones must be answered.
/// Caught when tried: a kind missing from the decoder.
#[test]
fn other_types_are_answered_or_dropped() {
    let known = [0x00, 0x20, 0x40, 0x60, 0x04, 0x44, 0x0A, 0x4A];
    let non_posted = [0x01, 0x21, 0x02, 0x42, 0x05, 0x45, 0x4C, 0x6C, 0x4D, 0x6D, 0x4E, 0x6E];
    for operation in (0..=255u8).filter(|operation| !known.contains(operation)) {
        let words = if operation & 0x20 != 0 { 4 } else { 3 } + if operation & 0x40 != 0 { 1 } else { 0 };
        let mut tlp = vec![0; words * 4];
        (tlp[0], tlp[3], tlp[4], tlp[5], tlp[6], tlp[7]) = (operation, 1, 0x12, 0x34, 0x56, 0x0F);
        let message = operation & 0b1011_1000 == 0b0011_0000;
        let mut expected = Outcome::default();
        if non_posted.contains(&operation) {
            expected.requests.push(Request {
                kind: 4,
                addr: 0,
                target: None,
                dwords: 1,
                first_be: 15,
                last_be: 0,
                requester: 0x1234,
                tag: 0x56,
                tc: 0,
                attr: 0,
                data: vec![],
            });
        } else if !message {
            expected.bad = 1;
        }
        check_all(operation.into(), &[tlp], 0, &expected);
    }
}

/// A completion costs its beats and at most one cycle more.
#[test]
fn completions_come_at_the_speed_of_the_stream() {
    let mut tlps = vec![];
    for tag in 0..100 {
        let body = Completion {
            completer: Bdf(0),
            status: Status::Success,
            byte_count: 256,
            requester: Bdf(0x100),
            tag,
            lower_address: 0,
            data: true,
        };
        let mut bytes = vec![];
        Tlp { header: Header::new(64, Body::Completion(body)), payload: vec![tag; 256] }.encode(&mut bytes);
        tlps.push(bytes);
    }
    let (seen, cycles) = run_64(1, &tlps, 0);
    assert_eq!(seen.answers.len(), 100);
    assert!(cycles <= 100 * 35, "{cycles} cycles at 64 bits");
    let (_, cycles) = run_128(1, &tlps, 0);
    assert!(cycles <= 100 * 18, "{cycles} cycles at 128 bits");
    let (_, cycles) = run_512(1, &tlps, 0);
    assert!(cycles <= 100 * 6, "{cycles} cycles at 512 bits");
}

/// A request that nobody takes holds up only the second one behind it. Caught when tried: a request at the output
/// that holds the stream.
#[test]
fn completions_pass_one_waiting_request() {
    let mut block = TlpRx64::new(PowerUp::Ones);
    start!(block);
    let (mut read, mut done) = (vec![], vec![]);
    Tlp::bare(Header::memory_read(Bdf(0), 1, 0x1000, 4)).encode(&mut read);
    let (tlp, answer) = completion(&mut Random(5));
    tlp.encode(&mut done);
    let mut answers = 0;
    for beat in beats::<u64>(&read).iter().chain(&beats::<u64>(&done)) {
        block.set_rx_valid(true);
        block.set_rx_data(u64::pack(&beat.data));
        block.set_rx_keep(beat.keep as u8);
        block.set_rx_last(beat.last);
        block.eval();
        assert!(block.rx_ready());
        answers += usize::from(block.c_valid() && block.c_last());
        tick!(block);
    }
    block.set_rx_valid(false);
    for _ in 0..4 {
        answers += usize::from(block.c_valid() && block.c_last());
        tick!(block);
    }
    assert_eq!((answers, block.c_tag(), block.q_valid()), (1, answer.tag, true));
}

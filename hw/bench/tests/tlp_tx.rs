//! Sent TLPs, decoded by the root complex's codec, with every source and the stream pausing at random.

mod tlp;

use ferronic_bench::models::{tlp_tx_128::TlpTx128, tlp_tx_256::TlpTx256, tlp_tx_512::TlpTx512, tlp_tx_64::TlpTx64};
use ferronic_pcie::tlp::{Bdf, Body, Completion, Header, MemoryRequest, Status, Tlp};
use ferronic_verilated::PowerUp;
use std::collections::VecDeque;
use tlp::{dwords, Random, Word};

const BDF: Bdf = Bdf(0x0308);
const CPL: usize = 0;
const PAY: usize = 1;
const SMALL: usize = 2;
const RD: usize = 3;

/// How the bench drives the block.
#[derive(Clone, Copy)]
struct Drive {
    /// Chance in percent of a pause of a source before a TLP, and of the stream in a cycle.
    source_pause: u64,
    sink_pause: u64,
    master_enable: bool,
    np_ready: bool,
    cycles: usize,
}

const FREE: Drive = Drive { source_pause: 0, sink_pause: 0, master_enable: true, np_ready: true, cycles: 4000 };

/// What came out: TLPs with the cycle of their first and last beat, and for each source the cycles in which its TLPs
/// were taken.
struct Sent {
    tlps: Vec<(Tlp, usize, usize)>,
    taken: [Vec<usize>; 4],
}

fn source(tlp: &Tlp) -> usize {
    match tlp.header.body {
        Body::Completion(_) => CPL,
        Body::Memory(MemoryRequest { write: false, .. }) => RD,
        // Bit 4 of the address marks payload writes.
        Body::Memory(MemoryRequest { address, .. }) => if address & 0x10 != 0 { PAY } else { SMALL },
        _ => panic!("{tlp:?}"),
    }
}

macro_rules! bench {
    ($name:ident, $model:ty, $word:ty) => {
        fn $name(seed: u64, tlps: &[Tlp], drive: Drive) -> Sent {
            let mut random = Random(seed);
            let mut block = <$model>::new(PowerUp::Random(seed));
            start!(block);
            block.set_bdf(BDF.0);
            block.set_master_enable(drive.master_enable);
            let mut queues: [VecDeque<&Tlp>; 4] = Default::default();
            tlps.iter().for_each(|tlp| queues[source(tlp)].push_back(tlp));
            let (mut valid, mut beat) = ([false; 4], [0; 4]);
            let mut sent = Sent { tlps: vec![], taken: Default::default() };
            let (mut bytes, mut first, mut held, mut quiet) = (vec![], 0, None, 0);
            for cycle in 0..drive.cycles {
                for i in 0..4 {
                    valid[i] |= !queues[i].is_empty() && !random.percent(drive.source_pause);
                }
                block.set_cpl_valid(valid[CPL]);
                if let (true, Body::Completion(body)) = (valid[CPL], queues[CPL].front().map_or(Body::Memory(NONE), |tlp| tlp.header.body)) {
                    let tlp = queues[CPL][0];
                    block.set_cpl_status(match body.status {
                        Status::Success => 0,
                        Status::UnsupportedRequest => 1,
                        Status::ConfigRetry => 2,
                        Status::CompleterAbort => 4,
                    });
                    block.set_cpl_byte_count(body.byte_count);
                    block.set_cpl_lower(body.lower_address);
                    block.set_cpl_requester(body.requester.0);
                    block.set_cpl_tag(body.tag);
                    block.set_cpl_tc(tlp.header.traffic_class);
                    block.set_cpl_attr(tlp.header.attributes);
                    block.set_cpl_dwords(tlp.header.length as u8);
                    let mut lanes = [0x5A5A_5A5A; 16];
                    for (lane, word) in lanes.iter_mut().zip(dwords(&tlp.payload)) {
                        *lane = word;
                    }
                    block.set_cpl_data(u64::pack(&lanes));
                }
                macro_rules! memory {
                    ($i:expr, $valid:ident, $addr:ident, $dwords:ident, $first:ident, $last:ident) => {
                        block.$valid(valid[$i]);
                        if let Some(Body::Memory(body)) = queues[$i].front().map(|tlp| tlp.header.body) {
                            block.$addr(body.address);
                            block.$dwords(queues[$i][0].header.length);
                            block.$first(body.first_be);
                            block.$last(body.last_be);
                        }
                    };
                }
                memory!(PAY, set_pay_valid, set_pay_addr, set_pay_dwords, set_pay_first_be, set_pay_last_be);
                memory!(SMALL, set_small_valid, set_small_addr, set_small_dwords, set_small_first_be, set_small_last_be);
                memory!(RD, set_rd_valid, set_rd_addr, set_rd_dwords, set_rd_first_be, set_rd_last_be);
                let wide = |i: usize| match queues[i].front().map(|tlp| tlp.header.body) {
                    Some(Body::Memory(body)) => body.address >> 32 != 0,
                    _ => false,
                };
                block.set_pay_wide(wide(PAY));
                block.set_small_wide(wide(SMALL));
                block.set_rd_wide(wide(RD));
                if let Some(Body::Memory(body)) = queues[RD].front().map(|tlp| tlp.header.body) {
                    block.set_rd_tag(body.tag);
                }
                let mut part = |i: usize| {
                    let mut lanes = [0; 16];
                    lanes.iter_mut().for_each(|lane| *lane = random.next() as u32);
                    let words = queues[i].front().map_or(vec![], |tlp| dwords(&tlp.payload));
                    let rest = words.get(beat[i] * <$word>::LANES..).unwrap_or(&[]);
                    for (lane, word) in lanes[..<$word>::LANES].iter_mut().zip(rest) {
                        *lane = *word;
                    }
                    (<$word>::pack(&lanes), rest.len() <= <$word>::LANES)
                };
                let (pay, small) = (part(PAY), part(SMALL));
                block.set_pay_data(pay.0);
                block.set_pay_last(pay.1);
                block.set_small_data(small.0);
                block.set_small_last(small.1);
                let ready = !random.percent(drive.sink_pause);
                block.set_tx_ready(ready);
                block.set_np_ready(drive.np_ready);
                block.eval();

                let readies = [block.cpl_ready(), block.pay_ready(), block.small_ready(), block.rd_ready()];
                for (i, last) in [(CPL, true), (PAY, pay.1), (SMALL, small.1), (RD, true)] {
                    if !valid[i] || !readies[i] {
                        continue;
                    }
                    beat[i] += 1;
                    if last {
                        (valid[i], beat[i]) = (false, 0);
                        queues[i].pop_front();
                        sent.taken[i].push(cycle);
                    }
                }
                let shown = (block.tx_data().lanes(), block.tx_keep(), block.tx_last());
                if block.tx_valid() {
                    if let Some(held) = &held {
                        assert_eq!(held, &shown, "a waiting beat changed");
                    }
                    held = Some(shown.clone());
                    if ready {
                        held = None;
                        if bytes.is_empty() {
                            first = cycle;
                        }
                        let full = (1u32 << <$word>::LANES) - 1;
                        assert!(u32::from(shown.1) == full || shown.2, "keep with holes before the last beat");
                        assert!(shown.1 & shown.1.wrapping_add(1) == 0 && shown.1 != 0, "keep {:#b}", shown.1);
                        for lane in &shown.0[..shown.1.count_ones() as usize] {
                            bytes.extend(lane.to_le_bytes());
                        }
                        if shown.2 {
                            let tlp = Tlp::decode(&bytes).unwrap_or_else(|error| panic!("{error}: {bytes:02x?}"));
                            sent.tlps.push((tlp, first, cycle));
                            bytes.clear();
                        } else {
                            assert!(drive.sink_pause > 0 || cycle - first < 1100);
                        }
                    }
                } else {
                    assert!(held.is_none(), "a beat went without ready");
                    assert!(bytes.is_empty(), "a bubble within a TLP");
                }
                quiet += usize::from(sent.tlps.len() >= tlps.len());
                if quiet == 30 {
                    break;
                }
                tick!(block);
            }
            assert!(bytes.is_empty(), "a TLP without its end");
            sent
        }
    };
}

const NONE: MemoryRequest =
    MemoryRequest { write: false, requester: BDF, tag: 0, first_be: 0, last_be: 0, address: 0, wide: false };

bench!(run_64, TlpTx64, u64);
bench!(run_128, TlpTx128, [u32; 4]);
bench!(run_256, TlpTx256, [u32; 8]);
bench!(run_512, TlpTx512, [u32; 16]);

type Run = fn(u64, &[Tlp], Drive) -> Sent;
const RUNS: [(Run, usize); 4] = [(run_64, 2), (run_128, 4), (run_256, 8), (run_512, 16)];

fn random_tlp(random: &mut Random, from: usize) -> Tlp {
    let mut tlp = if from == CPL {
        let length = random.below(3) as u16;
        let body = Completion {
            completer: BDF,
            status: [Status::Success, Status::UnsupportedRequest, Status::CompleterAbort][random.below(3) as usize],
            byte_count: 1 + random.below(4095) as u16,
            requester: Bdf(random.next() as u16),
            tag: random.next() as u8,
            lower_address: random.below(128) as u8,
            data: length > 0,
        };
        Tlp::bare(Header::new(length, Body::Completion(body)))
    } else {
        let length = match from {
            PAY => [1, 2, 3, 4, 5, 31, 32, 33, 128, 1024][random.below(10) as usize],
            SMALL => [1, 8][random.below(2) as usize],
            _ => [1, 2, 128, 1024][random.below(4) as usize],
        };
        let address = random.address() & !0x10 | if from == PAY { 0x10 } else { 0 };
        let body = MemoryRequest {
            write: from != RD,
            requester: BDF,
            tag: if from == RD { random.below(32) as u8 } else { 0 },
            first_be: random.below(16) as u8,
            last_be: random.below(16) as u8,
            address,
            wide: address >> 32 != 0,
        };
        Tlp::bare(Header::new(length, Body::Memory(body)))
    };
    if from == CPL {
        tlp.header.traffic_class = random.below(8) as u8;
        tlp.header.attributes = random.below(4) as u8;
    }
    tlp.payload = random.bytes(tlp.header.payload_bytes());
    tlp
}

fn random_tlps(seed: u64, count: usize, from: &[usize]) -> Vec<Tlp> {
    let mut random = Random(seed);
    (0..count).map(|i| random_tlp(&mut random, from[i % from.len()])).collect()
}

/// The TLPs of each source come out in its order.
fn check_order(sent: &Sent, tlps: &[Tlp], from: &[usize]) {
    for &i in from {
        let of = |tlps: &mut dyn Iterator<Item = &Tlp>| -> Vec<Tlp> { tlps.filter(|tlp| source(tlp) == i).cloned().collect() };
        let (got, wanted) = (of(&mut sent.tlps.iter().map(|sent| &sent.0)), of(&mut tlps.iter()));
        assert_eq!(got.len(), wanted.len(), "TLPs of source {i}");
        for (got, wanted) in got.iter().zip(&wanted) {
            assert_eq!(got, wanted, "source {i}");
        }
    }
}

/// Caught when tried: 4-dword header chosen from address bit 31, the carry of the payload not kept, last keep one dword
/// long, attributes left out, payload taken again after its last beat.
#[test]
fn tlps_are_built_as_the_sources_say() {
    for seed in 0..30 {
        let tlps = random_tlps(seed, 60, &[CPL, PAY, SMALL, RD]);
        for (run, _) in RUNS {
            let pause = [0, 30, 80][seed as usize % 3];
            let sent = run(seed, &tlps, Drive { source_pause: pause, sink_pause: pause, cycles: 40_000, ..FREE });
            check_order(&sent, &tlps, &[CPL, PAY, SMALL, RD]);
        }
    }
}

/// What a source was told by its last `ready`: its TLP is ahead of all that are granted later. Caught when tried: a TLP
/// that is under way chosen again.
#[test]
fn tlps_come_out_in_the_order_of_their_last_ready() {
    for seed in 0..10 {
        let tlps = random_tlps(seed, 200, &[CPL, PAY, SMALL, RD]);
        for (run, _) in RUNS {
            let sent = run(seed, &tlps, Drive { source_pause: 50, sink_pause: 20, cycles: 60_000, ..FREE });
            let mut taken: Vec<(usize, usize)> =
                (0..4).flat_map(|i| sent.taken[i].iter().map(move |cycle| (*cycle, i))).collect();
            taken.sort();
            let order: Vec<usize> = sent.tlps.iter().map(|sent| source(&sent.0)).collect();
            assert_eq!(order, taken.iter().map(|(_, i)| *i).collect::<Vec<_>>());
        }
    }
}

/// Without bus mastering only completions leave, and nothing is lost. Caught when tried: `small` left out of the gate.
#[test]
fn without_master_enable_only_completions_leave() {
    let tlps = random_tlps(1, 80, &[CPL, PAY, SMALL, RD]);
    for (run, _) in RUNS {
        let sent = run(1, &tlps, Drive { master_enable: false, ..FREE });
        assert_eq!(sent.tlps.len(), 20);
        check_order(&sent, &tlps, &[CPL]);
    }
}

/// Without credits for non-posted requests reads wait and all else goes on. Caught when tried: `np_ready` gating all.
#[test]
fn without_np_ready_only_reads_wait() {
    let tlps = random_tlps(2, 80, &[CPL, PAY, SMALL, RD]);
    for (run, _) in RUNS {
        let sent = run(2, &tlps, Drive { np_ready: false, cycles: 20_000, ..FREE });
        assert_eq!(sent.tlps.len(), 60);
        check_order(&sent, &tlps, &[CPL, PAY, SMALL]);
    }
}

/// Round robin: while a source has a TLP to send, no other gets ahead of it twice. Caught when tried: fixed priority.
#[test]
fn no_source_starves() {
    let tlps = random_tlps(3, 160, &[CPL, PAY, SMALL, RD]);
    for (run, _) in RUNS {
        let sent = run(3, &tlps, Drive { cycles: 40_000, ..FREE });
        for (at, four) in sent.tlps.windows(4).take(150).enumerate() {
            let mut sources: Vec<usize> = four.iter().map(|sent| source(&sent.0)).collect();
            sources.sort();
            assert_eq!(sources, [CPL, PAY, SMALL, RD], "TLPs {at} to {}", at + 3);
        }
    }
}

/// No idle cycle between TLPs, of one source or of several, but three cycles from a read to a read; none inside.
/// Caught when tried: a turn that passes on only in a cycle in which nothing is offered.
#[test]
fn the_stream_is_filled() {
    for (run, lanes) in RUNS {
        for (from, gap) in [(vec![PAY], 1), (vec![CPL], 1), (vec![PAY, SMALL], 1), (vec![RD], 3), (vec![PAY, SMALL, CPL, RD], 1)] {
            let tlps = random_tlps(4, 40, &from);
            let sent = run(4, &tlps, Drive { cycles: 40_000, ..FREE });
            assert_eq!(sent.tlps.len(), 40);
            for (tlp, first, last) in &sent.tlps {
                assert_eq!(last - first + 1, tlp.header.total_bytes().div_ceil(4 * lanes));
            }
            for pair in sent.tlps.windows(2) {
                assert!(pair[1].1 - pair[0].2 <= gap, "{} cycles from {:?}", pair[1].1 - pair[0].2, pair[0].0.header);
            }
        }
    }
}

/// One credit is one read, also when the stream is held: `np_ready` falls when the first beat of a read is taken.
/// Caught when tried: a second read granted while the first waits at the output.
#[test]
fn a_credit_is_spent_once() {
    let mut block = TlpTx128::new(PowerUp::Zeros);
    start!(block);
    block.set_master_enable(true);
    block.set_rd_valid(true);
    block.set_rd_dwords(4);
    let (mut random, mut credits, mut reads) = (Random(9), 0, 0);
    for cycle in 0..2000 {
        credits += u32::from(cycle % 11 == 0);
        let ready = random.percent(30);
        block.set_tx_ready(ready);
        block.set_np_ready(credits > 0);
        block.eval();
        if block.tx_valid() && ready {
            assert!(credits > 0, "a read without a credit");
            credits -= 1;
            reads += 1;
        }
        tick!(block);
    }
    assert!(reads > 170, "only {reads} reads");
}

//! Requests against a model of the rules for completions (PCI Express Base Specification, 2.2.9 and 2.3.1), with buses
//! that show their answer in the fourth cycle after the strobe and noise in all others.

mod tlp;

use ferronic_bench::models::completer::Completer;
use ferronic_verilated::PowerUp;
use std::collections::HashMap;
use tlp::Random;

const BAR: u64 = 0x0000_0012_3456_0000;
const SUCCESS: u8 = 0;
const UNSUPPORTED: u8 = 1;
const ABORT: u8 = 4;

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    kind: u8,
    addr: u64,
    target: u16,
    dwords: u16,
    first_be: u8,
    last_be: u8,
    requester: u16,
    tag: u8,
    tc: u8,
    attr: u8,
    data: u64,
}

#[derive(Debug, PartialEq)]
struct Completion {
    status: u8,
    byte_count: u16,
    lower: u8,
    dwords: u8,
    data: u64,
    requester: u16,
    tag: u8,
    tc: u8,
    attr: u8,
}

#[derive(Debug, PartialEq, Clone, Copy)]
struct Access {
    cfg: bool,
    write: bool,
    addr: u16,
    data: u32,
    be: u8,
}

struct Bench {
    block: Completer,
    random: Random,
    memory: HashMap<(bool, u16), u32>,
    /// Answers to show on the register bus and the configuration bus, and in how many cycles.
    due: [Option<(u32, u32)>; 2],
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut block = Completer::new(PowerUp::Random(seed));
        start!(block);
        block.set_bar(BAR);
        block.set_mem_enable(true);
        Self { block, random: Random(seed), memory: HashMap::new(), due: [None; 2] }
    }

    fn at(&self, cfg: bool, addr: u16) -> u32 {
        self.memory.get(&(cfg, addr)).copied().unwrap_or(u32::from(addr).wrapping_mul(0x9E37_79B1) ^ if cfg { 0xC0DE } else { 0 })
    }

    /// Runs one request: its completion, the accesses on the buses, the pulses of `bad`, and the cycles it took.
    fn run(&mut self, request: Request) -> (Option<Completion>, Vec<Access>, usize, usize) {
        let (mut completion, mut accesses, mut bad) = (None, vec![], 0);
        self.block.set_q_valid(true);
        self.block.set_q_kind(request.kind);
        self.block.set_q_addr(request.addr);
        self.block.set_q_target(request.target);
        self.block.set_q_dwords(request.dwords);
        self.block.set_q_first_be(request.first_be);
        self.block.set_q_last_be(request.last_be);
        self.block.set_q_requester(request.requester);
        self.block.set_q_tag(request.tag);
        self.block.set_q_tc(request.tc);
        self.block.set_q_attr(request.attr);
        self.block.set_q_data(request.data);
        for cycle in 0..200 {
            let mut shown = [self.random.next() as u32, self.random.next() as u32];
            for (due, shown) in self.due.iter_mut().zip(&mut shown) {
                match due {
                    Some((0, data)) => (*shown, *due) = (*data, None),
                    Some((wait, _)) => *wait -= 1,
                    None => {}
                }
            }
            self.block.set_bus_rdata(shown[0]);
            self.block.set_cfg_rdata(shown[1]);
            let ready = self.random.percent(50);
            self.block.set_cpl_ready(ready);
            self.block.eval();
            for cfg in [false, true] {
                let block = &self.block;
                let (write, read) = if cfg { (block.cfg_write(), block.cfg_read()) } else { (block.bus_write(), block.bus_read()) };
                if !write && !read {
                    continue;
                }
                let addr = if cfg { block.cfg_addr() } else { block.bus_addr() };
                let (data, be) = if cfg { (block.cfg_wdata(), block.cfg_be()) } else { (block.bus_wdata(), block.bus_be()) };
                assert!(!cfg || block.cfg_target() == request.target);
                accesses.push(Access { cfg, write, addr, data: if write { data } else { 0 }, be });
                if write {
                    self.memory.insert((cfg, addr), data);
                } else {
                    self.due[usize::from(cfg)] = Some((if cfg { 4 } else { 3 }, self.at(cfg, addr)));
                }
            }
            bad += usize::from(self.block.bad());
            if self.block.cpl_valid() && ready {
                assert!(completion.is_none() && self.block.q_ready(), "the request ends with its completion");
                completion = Some(Completion {
                    status: self.block.cpl_status(),
                    byte_count: self.block.cpl_byte_count(),
                    lower: self.block.cpl_lower(),
                    dwords: self.block.cpl_dwords(),
                    data: self.block.cpl_data(),
                    requester: self.block.cpl_requester(),
                    tag: self.block.cpl_tag(),
                    tc: self.block.cpl_tc(),
                    attr: self.block.cpl_attr(),
                });
            }
            let done = self.block.q_ready();
            tick!(self.block);
            if done {
                self.block.set_q_valid(false);
                self.block.eval();
                bad += usize::from(self.block.bad());
                tick!(self.block);
                return (completion, accesses, bad, cycle);
            }
        }
        panic!("no end of {request:?}");
    }

    /// What the rules ask for.
    fn expected(&self, request: Request) -> (Option<Completion>, Vec<Access>, usize) {
        let cfg = request.kind < 2;
        let memory = request.kind == 2 || request.kind == 3;
        let write = request.kind == 1 || request.kind == 3;
        let hit = request.addr >> 16 == BAR >> 16;
        let status = match request.kind {
            0 | 1 if request.target & 7 == 0 => SUCCESS,
            2 if hit && request.dwords <= 2 => SUCCESS,
            2 if hit => ABORT,
            3 if hit => SUCCESS,
            3 => return (None, vec![], 1),
            _ => UNSUPPORTED,
        };
        let mut accesses = vec![];
        let (mut data, mut dwords) = (0, 0);
        if status == SUCCESS {
            for i in 0..request.dwords {
                let be = if i == 0 { request.first_be } else { request.last_be };
                let addr = request.addr as u16 + 4 * i;
                if be != 0 {
                    let written = if write { (request.data >> (32 * i)) as u32 } else { 0 };
                    accesses.push(Access { cfg, write, addr, data: written, be });
                    data |= u64::from(self.at(cfg, addr)) << (32 * i);
                }
                dwords += u8::from(!write);
            }
        }
        if request.kind == 3 {
            return (None, accesses, 0);
        }
        // From the first to the last enabled byte, one by one.
        let enabled: Vec<u32> = (0..u32::from(request.dwords) * 4)
            .filter(|byte| match byte / 4 {
                0 => request.first_be >> byte & 1 != 0,
                dword if dword == u32::from(request.dwords) - 1 => request.last_be >> (byte % 4) & 1 != 0,
                _ => true,
            })
            .collect();
        let (byte_count, lower) = match (memory, enabled.first(), enabled.last()) {
            (false, ..) => (4, 0),
            (true, Some(first), Some(last)) => (last - first + 1, (request.addr as u8 & 0x7C) + *first as u8),
            _ => (1, request.addr as u8 & 0x7C),
        };
        let completion = Completion {
            status,
            byte_count: byte_count as u16 & 4095,
            lower,
            dwords,
            data: if write { 0 } else { data },
            requester: request.requester,
            tag: request.tag,
            tc: request.tc,
            attr: request.attr,
        };
        (Some(completion), accesses, 0)
    }

    fn check(&mut self, request: Request) -> usize {
        let expected = self.expected(request);
        let (mut completion, accesses, bad, cycles) = self.run(request);
        if let Some(completion) = completion.as_mut() {
            completion.data &= match completion.dwords {
                0 => 0,
                1 => 0xFFFF_FFFF,
                _ => u64::MAX,
            };
        }
        assert_eq!((completion, accesses, bad), expected, "{request:?}");
        cycles
    }
}

fn random_request(random: &mut Random) -> Request {
    let kind = random.below(5) as u8;
    let dwords = match kind {
        2 => [1, 1, 2, 2, 3, 4, 64, 1024][random.below(8) as usize],
        3 => 1 + random.below(2) as u16,
        _ => 1,
    };
    // More than one dword: the outer enables are not 0 (2.2.5).
    let be = |random: &mut Random| if dwords > 1 { 1 + random.below(15) } else { random.below(16) } as u8;
    let addr = match (kind, random.below(4)) {
        (0 | 1, _) => random.next() & 0xFFC,
        (_, 0) => BAR ^ 1 << (16 + random.below(48)) | 0x40,
        _ => BAR | random.next() & 0xFFF8,
    };
    Request {
        kind,
        addr,
        target: if random.percent(30) { random.next() as u16 } else { 0x0300 },
        dwords,
        first_be: be(random),
        last_be: if dwords > 1 { be(random) } else { 0 },
        requester: random.next() as u16,
        tag: random.next() as u8,
        tc: random.below(8) as u8,
        attr: random.below(4) as u8,
        data: random.next(),
    }
}

/// Caught when tried: rdata sampled a cycle early or late, the second dword at the address of the first, byte count by
/// the first enables alone, lower address by the last enables, one of the 48 bits of the BAR left out, UR for CA, strobe
/// without byte enables, function number not looked at.
#[test]
fn requests_are_answered_by_the_rules() {
    for seed in 0..8 {
        let mut bench = Bench::new(seed);
        let mut random = Random(seed + 1000);
        for _ in 0..800 {
            bench.check(random_request(&mut random));
        }
    }
}

/// A read of length zero is answered with one dword and a byte count of 1, and reaches no register.
#[test]
fn a_zero_length_read_has_no_side_effect() {
    let mut bench = Bench::new(1);
    let read = Request { kind: 2, addr: BAR | 0x1028, dwords: 1, ..Default::default() };
    let (completion, accesses, ..) = bench.run(read);
    let completion = completion.unwrap();
    assert_eq!((completion.status, completion.dwords, completion.byte_count, completion.lower), (SUCCESS, 1, 1, 0x28));
    assert!(accesses.is_empty());
}

/// Caught when tried: `mem_enable` not looked at.
#[test]
fn without_memory_space_nothing_hits() {
    let mut bench = Bench::new(2);
    bench.block.set_mem_enable(false);
    let read = Request { kind: 2, addr: BAR, dwords: 1, first_be: 15, ..Default::default() };
    let (completion, accesses, bad, _) = bench.run(read);
    assert_eq!((completion.unwrap().status, accesses.len(), bad), (UNSUPPORTED, 0, 0));
    let (completion, accesses, bad, _) = bench.run(Request { kind: 3, ..read });
    assert_eq!((completion, accesses.len(), bad), (None, 0, 1));
    let read = Request { kind: 0, addr: 4, dwords: 1, first_be: 15, ..Default::default() };
    assert_eq!(bench.run(read).0.unwrap().status, SUCCESS);
}

/// A doorbell costs no more than 6 cycles.
#[test]
fn a_doorbell_is_quick() {
    let mut bench = Bench::new(3);
    let write = Request { kind: 3, addr: BAR | 0x1028, dwords: 1, first_be: 15, data: 7, ..Default::default() };
    assert!(bench.check(write) <= 6);
}

//! MSI-X with 64 vectors: table, masks, pending bits, messages.

mod tlp;

use ferronic_bench::models::msix::Msix;
use ferronic_contract::registers::{MSIX_PBA, MSIX_TABLE};
use ferronic_verilated::PowerUp;
use tlp::Random;

const VECTORS: u64 = 64;
/// Cycles within which a vector that may fire must show its message.
const BOUND: usize = VECTORS as usize + 10;

struct Bench {
    block: Msix,
    /// Messages taken, in order.
    messages: Vec<(u64, u32)>,
    ready: bool,
}

impl Bench {
    fn new(power_up: PowerUp) -> Self {
        let mut block = Msix::new(power_up);
        start!(block);
        block.set_enable(true);
        Self { block, messages: vec![], ready: true }
    }

    fn cycle(&mut self) {
        self.block.set_m_ready(self.ready);
        self.block.eval();
        if self.ready && self.block.m_valid() {
            self.messages.push((self.block.m_addr(), self.block.m_data()));
        }
        tick!(self.block);
    }

    fn cycles(&mut self, count: usize) {
        (0..count).for_each(|_| self.cycle());
    }

    fn write(&mut self, addr: u32, data: u32, be: u8) {
        self.block.set_bus_addr(addr as u16);
        self.block.set_bus_wdata(data);
        self.block.set_bus_be(be);
        self.block.set_bus_write(true);
        self.cycle();
        self.block.set_bus_write(false);
        self.cycles(2);
    }

    /// The answer is what the bus shows four cycles after the strobe.
    fn read(&mut self, addr: u32) -> u32 {
        self.block.set_bus_addr(addr as u16);
        self.block.set_bus_read(true);
        self.cycle();
        self.block.set_bus_read(false);
        self.cycles(3);
        self.block.eval();
        let data = self.block.bus_rdata();
        self.cycle();
        data
    }

    /// Fills an entry; address and data tell its vector.
    fn fill(&mut self, vector: u64, masked: bool) {
        let entry = MSIX_TABLE + 16 * vector as u32;
        let (addr, data) = message(vector);
        self.write(entry, addr as u32, 15);
        self.write(entry + 4, (addr >> 32) as u32, 15);
        self.write(entry + 8, data, 15);
        self.write(entry + 12, masked.into(), 15);
    }

    fn fire(&mut self, vectors: u64) {
        self.block.set_fire(vectors);
        self.cycle();
        self.block.set_fire(0);
    }

    fn pending(&mut self) -> u64 {
        u64::from(self.read(MSIX_PBA)) | u64::from(self.read(MSIX_PBA + 4)) << 32
    }
}

fn message(vector: u64) -> (u64, u32) {
    (0x0000_0012_FEE0_0000 + (vector << 4), 0x4000 + vector as u32)
}

fn filled() -> Bench {
    let mut bench = Bench::new(PowerUp::Random(3));
    (0..VECTORS).for_each(|vector| bench.fill(vector, false));
    bench
}

/// Caught when tried: five bits for the vector (the 33rd is the first again).
#[test]
fn every_vector_sends_its_own_message() {
    let mut bench = filled();
    for vector in 0..VECTORS {
        bench.fire(1 << vector);
        bench.cycles(BOUND);
        assert_eq!(std::mem::take(&mut bench.messages), [message(vector)], "vector {vector}");
    }
    bench.fire(!0);
    bench.cycles(64 * 10);
    bench.messages.sort();
    assert_eq!(bench.messages, (0..VECTORS).map(message).collect::<Vec<_>>());
}

/// Caught when tried: pending bits cleared by the mask; a vector sent again and again.
#[test]
fn a_masked_vector_waits_in_its_pending_bit() {
    let mut bench = filled();
    for vector in [0, 31, 32, 63] {
        let control = MSIX_TABLE + 16 * vector as u32 + 12;
        bench.write(control, 1, 15);
        bench.fire(1 << vector);
        bench.fire(1 << vector);
        bench.cycles(3 * BOUND);
        assert_eq!((bench.messages.len(), bench.pending()), (0, 1 << vector));
        bench.write(control, 0, 15);
        bench.cycles(3 * BOUND);
        assert_eq!((std::mem::take(&mut bench.messages), bench.pending()), (vec![message(vector)], 0));
    }
}

/// Caught when tried: function mask ignored; fire lost while disabled.
#[test]
fn function_mask_and_disable_hold_all() {
    let mut bench = filled();
    for (enable, mask) in [(true, true), (false, false), (false, true)] {
        bench.block.set_enable(enable);
        bench.block.set_function_mask(mask);
        bench.fire(1 << 40 | 1 << 3);
        bench.cycles(3 * BOUND);
        assert_eq!((bench.messages.len(), bench.pending()), (0, 1 << 40 | 1 << 3));
        bench.block.set_enable(true);
        bench.block.set_function_mask(false);
        bench.cycles(3 * BOUND);
        let mut messages = std::mem::take(&mut bench.messages);
        messages.sort();
        assert_eq!(messages, [message(3), message(40)]);
    }
}

/// A fire while the message of the same vector waits to be taken is a message of its own.
/// Caught when tried: the pending bit cleared when the message is taken.
#[test]
fn a_fire_behind_a_presented_message_is_kept() {
    let mut bench = filled();
    bench.ready = false;
    bench.fire(1 << 9);
    bench.cycles(BOUND);
    assert!(bench.block.m_valid());
    bench.fire(1 << 9);
    bench.ready = true;
    bench.cycles(2 * BOUND);
    assert_eq!(bench.messages, [message(9), message(9)]);
}

/// Vectors are masked after reset, the table keeps bytes apart, PBA and reserved bits are read-only, and what is outside
/// reads 0. Caught when tried: byte enables ignored; entry number not compared with the number of vectors.
#[test]
fn the_table_is_memory_by_bytes() {
    let mut bench = Bench::new(PowerUp::Random(8));
    let mut random = Random(1);
    let mut model = vec![0u32; 4 * VECTORS as usize];
    for vector in 0..VECTORS as usize {
        assert_eq!(bench.read(MSIX_TABLE + 16 * vector as u32 + 12), 1, "vector {vector} is not masked after reset");
        bench.fill(vector as u64, true);
        let (addr, data) = message(vector as u64);
        model[4 * vector..4 * vector + 4].copy_from_slice(&[addr as u32, (addr >> 32) as u32, data, 1]);
    }
    for _ in 0..4000 {
        let word = random.below(4 * VECTORS) as usize;
        let addr = MSIX_TABLE + 4 * word as u32;
        if random.percent(50) {
            let (data, be) = (random.next() as u32, random.below(16) as u8);
            bench.write(addr, data, be);
            for byte in (0..4).filter(|byte| be >> byte & 1 != 0) {
                let mask = 0xFF << (8 * byte);
                model[word] = model[word] & !mask | data & mask;
            }
            if word % 4 == 3 {
                model[word] &= 1;
            }
        } else {
            assert_eq!(bench.read(addr), model[word], "dword {word}");
        }
    }
    for addr in [0, 0x3000, MSIX_TABLE + 16 * VECTORS as u32, MSIX_TABLE + 0x3FFC, MSIX_PBA + 8, MSIX_PBA + 0x3FFC] {
        bench.write(addr, 0xFFFF_FFFF, 15);
        assert_eq!(bench.read(addr), 0, "{addr:#x}");
    }
    bench.write(MSIX_PBA, 0xFFFF_FFFF, 15);
    assert_eq!(bench.pending(), 0);
    for (word, value) in model.iter().enumerate() {
        assert_eq!(bench.read(MSIX_TABLE + 4 * word as u32), *value, "dword {word} at the end");
    }
}

/// Everything at once: what was fired and not masked is sent, no more often than fired, and no message is torn, while
/// the bus is busy with other entries.
#[test]
fn nothing_is_lost_under_load() {
    for seed in 0..5 {
        let mut bench = filled();
        let mut random = Random(seed);
        let (mut fired, mut masked) = ([0usize; 64], 0u64);
        for _ in 0..3000 {
            bench.ready = random.percent(60);
            let vectors = random.next() & random.next() & random.next() & random.next();
            bench.fire(vectors);
            (0..64).filter(|vector| vectors >> vector & 1 != 0).for_each(|vector| fired[vector] += 1);
            let vector = random.below(VECTORS) as u32;
            match random.below(6) {
                0 => {
                    masked ^= 1 << vector;
                    bench.write(MSIX_TABLE + 16 * vector + 12, (masked >> vector) as u32 & 1, 15);
                }
                1 => assert_eq!(bench.read(MSIX_TABLE + 16 * vector + 8), message(vector.into()).1),
                2 => bench.cycles(random.below(20) as usize),
                _ => {}
            }
        }
        bench.ready = true;
        (0..VECTORS).for_each(|vector| bench.write(MSIX_TABLE + 16 * vector as u32 + 12, 0, 1));
        bench.cycles(64 * 20);
        assert_eq!(bench.pending(), 0);
        for vector in 0..VECTORS {
            let sent = bench.messages.iter().filter(|sent| **sent == message(vector)).count();
            assert!(sent > 0 && sent <= fired[vector as usize], "vector {vector}: {sent} of {}", fired[vector as usize]);
        }
        assert!(bench.messages.iter().all(|sent| (0..VECTORS).any(|vector| message(vector) == *sent)), "a torn message");
    }
}

//! Frames through the parser, a frame a cycle or with gaps, and every answer compared with [`reading::read`].

pub mod build;
pub mod reading;

use ferronic_bench::models::parse::Parse;
use ferronic_verilated::PowerUp;
use reading::{read, Frame, Reading};
use std::collections::VecDeque;

/// Cycles from a frame to its answer.
const LATENCY: usize = 18;

/// A generator of pseudo-random numbers (splitmix64): a test names its seed and can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// From 0 to `limit` - 1.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True in `percent` of 100.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// The block, with the frames whose answers are due.
pub struct Bench {
    block: Parse,
    due: VecDeque<Option<Frame>>,
    window: [u8; 128],
    random: Random,
}

impl Bench {
    pub fn new(seed: u64) -> Self {
        let mut block = Parse::new(PowerUp::Random(seed));
        block.set_reset(true);
        let mut bench = Self { block, due: VecDeque::new(), window: [0; 128], random: Random(seed) };
        for _ in 0..2 {
            bench.tick();
        }
        bench.block.set_reset(false);
        bench.due.extend(std::iter::repeat_n(None, LATENCY));
        bench
    }

    /// One cycle, with a frame or without. What was in the window before is left behind a short frame.
    pub fn cycle(&mut self, frame: Option<Frame>) {
        self.block.set_valid(frame.is_some());
        if let Some(frame) = &frame {
            // Sometimes what is left behind looks like the headers that the frame has not.
            if self.random.chance(50) {
                self.window = std::array::from_fn(|_| self.random.next() as u8);
            }
            let count = frame.bytes.len().min(128);
            self.window[..count].copy_from_slice(&frame.bytes[..count]);
            self.block.set_length(frame.bytes.len() as u16);
            self.block.set_info(frame.info());
            self.block.set_own_mac(frame.own.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
            self.block.set_epoch(frame.epoch);
        } else {
            // Nothing of what is shown now may be remembered.
            self.window = std::array::from_fn(|_| self.random.next() as u8);
            self.block.set_length(self.random.below(1 << 14) as u16);
            self.block.set_own_mac(self.random.next() >> 16);
            self.block.set_epoch(self.random.below(8) as u8);
        }
        let window = self.window;
        self.block.set_window(std::array::from_fn(|i| u32::from_le_bytes(window[4 * i..4 * i + 4].try_into().unwrap())));
        self.block.eval();
        self.due.push_back(frame);
        let due = self.due.pop_front().unwrap();
        assert_eq!(self.block.p_valid(), due.is_some());
        if let Some(frame) = due {
            assert_eq!(self.answer(), read(&frame), "{:02x?}", frame);
        }
        self.tick();
    }

    /// Waits for all answers.
    pub fn finish(&mut self) {
        for _ in 0..LATENCY {
            self.cycle(None);
        }
    }

    /// Frames back to back.
    pub fn check(&mut self, frames: impl IntoIterator<Item = Frame>) {
        for frame in frames {
            self.cycle(Some(frame));
        }
        self.finish();
    }

    fn tick(&mut self) {
        self.block.set_clock(true);
        self.block.eval();
        self.block.set_clock(false);
        self.block.eval();
    }

    fn answer(&self) -> Reading {
        let block = &self.block;
        let address = |words: [u32; 4]| std::array::from_fn(|i| words[i / 4].to_le_bytes()[i % 4]);
        let (l4_wanted, vid_valid) = (block.l4_wanted(), block.vid_valid());
        Reading {
            length: block.p_length(),
            info: block.p_info(),
            epoch: block.p_epoch(),
            classified: block.classified(),
            dst: block.dst(),
            l2: block.l2(),
            vlan: block.vlan(),
            protocol: block.protocol(),
            l3_offset: block.l3_offset(),
            l3: block.l3(),
            l3opt: block.l3opt(),
            frag: block.frag(),
            l4: block.l4(),
            ack: block.ack(),
            header_length: block.header_length(),
            l4_offset: block.l4_offset(),
            ip_checked: block.ip_checked(),
            ip_good: block.ip_good(),
            l4_wanted,
            header_sum: block.header_sum(),
            pseudo_sum: if l4_wanted { block.pseudo_sum() } else { 0 },
            dmac: block.dmac().to_le_bytes()[..6].try_into().unwrap(),
            ethertype: block.ethertype(),
            ethertype_valid: block.ethertype_valid(),
            vid: if vid_valid { block.vid() } else { 0 },
            vid_valid,
            source: address(block.source()),
            destination: address(block.destination()),
            source_port: block.source_port(),
            destination_port: block.destination_port(),
        }
    }
}

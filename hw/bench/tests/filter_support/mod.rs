//! The filters and their registers wired to each other, and software that writes as the bus lets it.

pub mod model;

use crate::host::Random;
use ferronic_bench::models::{filter::Filter, regs_filter::RegsFilter};
use ferronic_contract::registers::filter::*;
use ferronic_contract::registers::FILTER;
use ferronic_verilated::PowerUp;
use model::{Decision, Frame, Row, Tables, Taken};
use std::collections::VecDeque;

pub struct Bench {
    pub filter: Filter,
    pub regs: RegsFilter,
    pub random: Random,
    pub tables: Tables,
    /// Register writes to come, and cycles until the bus can bring the next.
    pub writes: VecDeque<(u32, u32)>,
    pub pause: u32,
    written: u32,
    pub ready: bool,
    pub cycle: u32,
    pub sent: usize,
    pub decisions: Vec<Decision>,
    /// Cycle of each decision.
    pub times: Vec<u32>,
    /// Each new epoch, with the number of frames that were sent before it showed.
    pub epochs: Vec<(u8, usize)>,
    pub indirect: Vec<(u8, u32)>,
}

impl Bench {
    /// All rows, bits and kinds 0.
    pub fn new(seed: u64) -> Self {
        let tables = Tables { rows: vec![[0; 12]; ROWS], kinds: [0; 4], bits: [0; 16], mode: 0, hash_filter: 0 };
        let mut bench = Self {
            filter: Filter::new(PowerUp::Random(seed)),
            regs: RegsFilter::new(PowerUp::Random(!seed)),
            random: Random(seed),
            tables,
            writes: VecDeque::new(),
            pause: 0,
            written: 0x5A5A_5A5A,
            ready: true,
            cycle: 0,
            sent: 0,
            decisions: Vec::new(),
            times: Vec::new(),
            epochs: Vec::new(),
            indirect: Vec::new(),
        };
        bench.filter.set_enabled(true);
        for reset in [true, true, false] {
            bench.filter.set_reset(reset);
            bench.regs.set_reset(reset);
            bench.tick(None);
        }
        bench.stage(&[0; 12]);
        (0..ROWS as u32).for_each(|row| bench.write(COMMIT.offset, row));
        (0..16).for_each(|word| bench.write(HASH.offset + 4 * word, 0));
        bench.settle();
        bench
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        self.writes.push_back((FILTER + offset, value));
    }

    pub fn stage(&mut self, row: &Row) {
        (0..).zip(row).for_each(|(word, value)| self.write(ENTRY.offset + 4 * word, *value));
    }

    pub fn commit(&mut self, place: usize, row: &Row) {
        self.stage(row);
        self.write(COMMIT.offset, COMMIT_ROW.at(place as u32));
    }

    /// Writes a row now, in the tables of both.
    pub fn put(&mut self, place: usize, row: Row) {
        self.tables.rows[place] = row;
        self.commit(place, &row);
    }

    pub fn set_kinds(&mut self, kinds: [u32; 4]) {
        self.tables.kinds = kinds;
        (0..).zip(kinds).for_each(|(i, kind)| self.write(KIND.offset + 4 * i, kind));
    }

    pub fn set_bits(&mut self, bits: [u32; 16]) {
        self.tables.bits = bits;
        (0..).zip(bits).for_each(|(i, word)| self.write(HASH.offset + 4 * i, word));
    }

    /// Until all that was written has taken effect.
    pub fn settle(&mut self) {
        while !self.writes.is_empty() {
            self.tick(None);
        }
        (0..40).for_each(|_| self.tick(None));
    }

    pub fn tick(&mut self, frame: Option<&Frame>) {
        let (filter, regs) = (&mut self.filter, &mut self.regs);
        let write = if self.pause == 0 { self.writes.pop_front() } else { None };
        self.pause = if write.is_some() { 2 } else { self.pause.saturating_sub(1) };
        // What is written stays on the bus, the address does not.
        let (address, data) = write.unwrap_or((FILTER + COMMIT.offset, self.written));
        self.written = data;
        regs.set_bus_write(write.is_some());
        regs.set_bus_addr(address as u16);
        regs.set_bus_wdata(data);
        regs.eval();

        // Without a frame, and for a field that is not there, the inputs hold rubbish.
        filter.set_valid(frame.is_some());
        let shown = frame.cloned().unwrap_or(Frame { dmac: [0x77; 6], l3: 1, l4: 1, port: 7, ..Frame::default() });
        filter.set_dst(shown.dst);
        filter.set_dmac(shown.dmac.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        filter.set_ethertype_valid(shown.ethertype.is_some());
        filter.set_ethertype(shown.ethertype.unwrap_or(0));
        filter.set_vid_valid(shown.vid.is_some());
        filter.set_vid(shown.vid.unwrap_or(0));
        filter.set_l3(shown.l3);
        filter.set_l4(shown.l4);
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let words = |bytes: &[u8; 16]| std::array::from_fn(|i| word(&bytes[4 * i..4 * i + 4]));
        filter.set_source(words(&shown.source));
        filter.set_destination(words(&shown.destination));
        filter.set_destination_port(shown.port);
        filter.set_mode(self.tables.mode);
        filter.set_hash_filter(self.tables.hash_filter);
        filter.set_kinds(regs.kinds());
        filter.set_change_valid(regs.change_valid());
        filter.set_change_is_row(regs.change_is_row());
        filter.set_change_row(regs.change_row());
        filter.set_change_row_data(regs.change_row_data());
        filter.set_change_word(regs.change_word());
        filter.set_change_word_data(regs.change_word_data());
        filter.set_f_ready(self.ready);
        filter.eval();
        regs.set_change_ready(filter.change_ready());
        regs.eval();

        if regs.epoch_write() {
            self.epochs.push((regs.epoch(), self.sent));
        }
        if regs.t_write() {
            self.indirect.push((regs.t_address(), regs.t_data()));
        }
        if filter.f_valid() && self.ready {
            let tag = filter.f_filter().then(|| filter.f_tag());
            let queue = (!filter.f_rss()).then(|| filter.f_queue());
            self.decisions.push((!filter.f_drop()).then_some(Taken { queue, tag }));
            self.times.push(self.cycle);
        }
        self.sent += usize::from(frame.is_some());
        self.cycle += 1;
        for clock in [true, false] {
            filter.set_clock(clock);
            regs.set_clock(clock);
            filter.eval();
            regs.eval();
        }
    }

    /// Sends frames and takes all decisions, with pauses in both: they must be those of the tables.
    pub fn check(&mut self, frames: &[Frame]) {
        let before = self.decisions.len();
        let mut to_come = frames.iter();
        let mut patience = 40 * frames.len() + 400;
        while self.decisions.len() < before + frames.len() {
            self.ready = !self.random.one_in(3);
            let send = self.filter.level() < 63 && !self.random.one_in(4);
            let frame = if send { to_come.next() } else { None };
            self.tick(frame);
            patience -= 1;
            assert!(patience > 0, "a decision is missing");
        }
        self.ready = true;
        for (frame, decision) in frames.iter().zip(&self.decisions[before..]) {
            assert_eq!(*decision, self.tables.decide(frame), "{frame:x?}");
        }
    }
}

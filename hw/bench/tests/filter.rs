//! The filters and their registers against the contract's keys, buckets and address hash. The two blocks are wired to
//! each other as in the core, and software writes as the bus lets it, every third cycle.
//!
//! Caught when tried: a change let in midway through a look-up (a row is missed while it moves); a kind tried although
//! the frame lacks its field.

mod host;

use ferronic_bench::models::{filter::Filter, regs_filter::RegsFilter};
use ferronic_contract::class::Mac;
use ferronic_contract::registers::filter::*;
use ferronic_contract::registers::{self, FILTER};
use ferronic_verilated::PowerUp;
use host::Random;
use std::collections::VecDeque;

type Row = [u32; ENTRY_WORDS];

#[derive(Clone, Debug, Default)]
struct Frame {
    dst: u8,
    dmac: Mac,
    ethertype: Option<u16>,
    vid: Option<u16>,
    l3: u8,
    l4: u8,
    source: [u8; 16],
    destination: [u8; 16],
    port: u16,
}

/// What becomes of a frame; `None`: dropped.
type Decision = Option<Taken>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    /// `None`: by RSS.
    queue: Option<u8>,
    /// `None`: no filter matched.
    tag: Option<u16>,
}

const BY_RSS: Decision = Some(Taken { queue: None, tag: None });

/// A decision that a row or HASH_FILTER asks for.
fn ruled(word: u32) -> Decision {
    let queue = (ROW_ACTION.of(word) == Action::Queue as u32).then(|| ROW_QUEUE.of(word) as u8);
    let tag = Some(ROW_TAG.of(word) as u16);
    (ROW_ACTION.of(word) < Action::Drop as u32).then_some(Taken { queue, tag })
}

/// The key of a frame for a kind; `None` when the frame lacks a field.
fn key(frame: &Frame, fields: u32) -> Option<Key> {
    let mut key = Key::default();
    if KIND_DMAC.of(fields) == 1 {
        key.dmac = frame.dmac;
    }
    if KIND_VLAN.of(fields) == 1 {
        key.vlan = frame.vid?;
    }
    if KIND_TYPE.of(fields) == 1 {
        key.ethertype = frame.ethertype?;
    }
    for (field, from, to) in
        [(KIND_SOURCE, &frame.source, &mut key.source), (KIND_DESTINATION, &frame.destination, &mut key.destination)]
    {
        if field.of(fields) == 1 {
            key.l3 = [1, 2].contains(&frame.l3).then_some(frame.l3)?;
            *to = *from;
        }
    }
    if KIND_PORT.of(fields) == 1 {
        key.l4 = [1, 2, 4].contains(&frame.l4).then_some(frame.l4)?;
        key.port = frame.port;
    }
    Some(key)
}

/// What software has written.
#[derive(Clone)]
struct Tables {
    rows: Vec<Row>,
    kinds: [u32; KINDS],
    bits: [u32; 16],
    mode: u32,
    hash_filter: u32,
}

impl Tables {
    fn exact(&self, frame: &Frame) -> Option<u32> {
        let compared = |row: &Row| {
            let mut row = *row;
            row[2] &= ROW_PORT.mask() | ROW_VLAN.mask() | ROW_L4.mask();
            row[3] &= ROW_KIND.mask() | ROW_VALID.mask() | ROW_L3.mask();
            row
        };
        (0..KINDS as u8).filter(|kind| self.kinds[usize::from(*kind)] != 0).find_map(|kind| {
            let key = key(frame, self.kinds[usize::from(kind)])?;
            let rows = key.buckets(kind).into_iter().flat_map(|bucket| [2 * usize::from(bucket), 2 * usize::from(bucket) + 1]);
            let wanted = key.row(kind, true, Action::Rss, 0, 0);
            rows.map(|row| self.rows[row]).find(|row| compared(row) == wanted).map(|row| row[3])
        })
    }

    fn decide(&self, frame: &Frame) -> Decision {
        if let Some(word) = self.exact(frame) {
            return ruled(word);
        }
        let on = |field: ferronic_contract::field::Field| field.of(self.mode) == 1;
        if on(registers::PROMISCUOUS) || frame.dst < 2 || (frame.dst == 2 && on(registers::ALL_MULTICAST)) {
            return BY_RSS;
        }
        let place = usize::from(address_hash(&frame.dmac));
        let by_hash = if frame.dst == 2 { on(registers::HASH_MULTICAST) } else { on(registers::HASH_UNICAST) };
        if by_hash && self.bits[place / 32] >> (place % 32) & 1 == 1 {
            return ruled(self.hash_filter);
        }
        None
    }

    /// A row into one of its buckets, others pushed to their other bucket. The words written, in order.
    fn place(&mut self, random: &mut Random, mut row: Row, kind: u8, key: Key) -> Vec<usize> {
        let mut placed = Vec::new();
        let mut buckets = key.buckets(kind);
        for _ in 0..200 {
            let places = buckets.map(usize::from).into_iter().flat_map(|bucket| [2 * bucket, 2 * bucket + 1]);
            let places: Vec<usize> = places.collect();
            if let Some(free) = places.iter().find(|place| ROW_VALID.get(&self.rows[**place]) == 0) {
                self.rows[*free] = row;
                placed.push(*free);
                return placed;
            }
            let victim = places[random.below(4) as usize];
            std::mem::swap(&mut self.rows[victim], &mut row);
            placed.push(victim);
            buckets = of_row(&row).buckets(ROW_KIND.get(&row) as u8);
        }
        panic!("no place at half load");
    }
}

/// The key of a row.
fn of_row(row: &Row) -> Key {
    let bytes = |first: usize| {
        let mut bytes = [0; 16];
        (0..4).for_each(|i| bytes[4 * i..4 * i + 4].copy_from_slice(&row[first + i].to_le_bytes()));
        bytes
    };
    let ([a, b, c, d], [e, f, ..]) = (row[0].to_le_bytes(), row[1].to_le_bytes());
    Key {
        dmac: [a, b, c, d, e, f],
        ethertype: ROW_TYPE.get(row) as u16,
        vlan: ROW_VLAN.get(row) as u16,
        l4: ROW_L4.get(row) as u8,
        port: ROW_PORT.get(row) as u16,
        l3: ROW_L3.get(row) as u8,
        source: bytes(4),
        destination: bytes(8),
    }
}

struct Bench {
    filter: Filter,
    regs: RegsFilter,
    random: Random,
    tables: Tables,
    /// Register writes to come, and cycles until the bus can bring the next.
    writes: VecDeque<(u32, u32)>,
    pause: u32,
    ready: bool,
    cycle: u32,
    sent: usize,
    decisions: Vec<Decision>,
    /// Cycle of each decision.
    times: Vec<u32>,
    /// Each new epoch, with the number of frames that were sent before it showed.
    epochs: Vec<(u8, usize)>,
    indirect: Vec<(u8, u32)>,
}

impl Bench {
    /// All rows, bits and kinds 0.
    fn new(seed: u64) -> Self {
        let tables = Tables { rows: vec![[0; 12]; ROWS], kinds: [0; 4], bits: [0; 16], mode: 0, hash_filter: 0 };
        let mut bench = Self {
            filter: Filter::new(PowerUp::Random(seed)),
            regs: RegsFilter::new(PowerUp::Random(!seed)),
            random: Random(seed),
            tables,
            writes: VecDeque::new(),
            pause: 0,
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

    fn write(&mut self, offset: u32, value: u32) {
        self.writes.push_back((FILTER + offset, value));
    }

    fn stage(&mut self, row: &Row) {
        (0..).zip(row).for_each(|(word, value)| self.write(ENTRY.offset + 4 * word, *value));
    }

    fn commit(&mut self, place: usize, row: &Row) {
        self.stage(row);
        self.write(COMMIT.offset, COMMIT_ROW.at(place as u32));
    }

    /// Writes a row now, in the tables of both.
    fn put(&mut self, place: usize, row: Row) {
        self.tables.rows[place] = row;
        self.commit(place, &row);
    }

    fn set_kinds(&mut self, kinds: [u32; 4]) {
        self.tables.kinds = kinds;
        (0..).zip(kinds).for_each(|(i, kind)| self.write(KIND.offset + 4 * i, kind));
    }

    fn set_bits(&mut self, bits: [u32; 16]) {
        self.tables.bits = bits;
        (0..).zip(bits).for_each(|(i, word)| self.write(HASH.offset + 4 * i, word));
    }

    /// Until all that was written has taken effect.
    fn settle(&mut self) {
        while !self.writes.is_empty() {
            self.tick(None);
        }
        (0..40).for_each(|_| self.tick(None));
    }

    fn tick(&mut self, frame: Option<&Frame>) {
        let (filter, regs) = (&mut self.filter, &mut self.regs);
        let write = if self.pause == 0 { self.writes.pop_front() } else { None };
        self.pause = if write.is_some() { 2 } else { self.pause.saturating_sub(1) };
        let (address, data) = write.unwrap_or((FILTER + COMMIT.offset, 0x5A5A_5A5A));
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
        let words = |bytes: &[u8; 16]| std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()));
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
    fn check(&mut self, frames: &[Frame]) {
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

/// A frame of few different values, so that its parts are often those of another.
fn frame(random: &mut Random) -> Frame {
    let mut address = || std::array::from_fn(|_| [0, 0xFF, 0x5A][random.below(3) as usize]);
    let (source, destination) = (address(), address());
    let l3 = random.below(5) as u8;
    let l4 = random.below(6) as u8;
    Frame {
        dst: random.below(4) as u8,
        dmac: (random.next() & 0x0300_0000_0001).to_le_bytes()[..6].try_into().unwrap(),
        ethertype: (!random.one_in(4)).then(|| [0x800, 0x86DD][random.below(2) as usize]),
        vid: (!random.one_in(4)).then(|| random.below(8) as u16),
        l3,
        l4,
        source: if [1, 2].contains(&l3) { source } else { [0; 16] },
        destination: if [1, 2].contains(&l3) { destination } else { [0; 16] },
        port: if [1, 2, 4].contains(&l4) { random.below(8) as u16 } else { 0 },
    }
}

/// A frame that has every field.
fn whole() -> Frame {
    Frame {
        dst: 3,
        dmac: [1, 2, 3, 4, 5, 6],
        ethertype: Some(0x86DD),
        vid: Some(0xABC),
        l3: 2,
        l4: 2,
        source: std::array::from_fn(|i| 0x20 + i as u8),
        destination: std::array::from_fn(|i| 0xC0 ^ i as u8),
        port: 0x1234,
    }
}

#[test]
fn frames_are_looked_up_as_the_contract_says() {
    let mut matched = [0; 2];
    for seed in 0..6 {
        let mut bench = Bench::new(seed);
        let mut random = Random(100 + seed);
        let kinds: [u32; 4] = std::array::from_fn(|i| if seed == 0 && i % 2 == 0 { 0 } else { 1 + random.below(63) as u32 });
        bench.set_kinds(kinds);
        let mut frames = Vec::new();
        let mut keys = std::collections::HashSet::new();
        for _ in 0..20_000 {
            let (frame, kind) = (frame(&mut random), random.below(4) as usize);
            let Some(key) = key(&frame, kinds[kind]).filter(|_| kinds[kind] != 0) else { continue };
            if keys.len() < FILTERS && keys.insert((kind, key)) {
                let row = key.row(kind as u8, true, Action::Rss, 0, 0);
                let word = ROW_ACTION.at(random.below(3) as u32) | ROW_QUEUE.at(random.next() as u32) | ROW_TAG.at(random.next() as u32);
                let row = std::array::from_fn(|i| if i == 3 { row[3] | word } else { row[i] });
                bench.tables.place(&mut random, row, kind as u8, key);
                frames.push(frame);
            }
        }
        for place in 0..ROWS {
            let row = bench.tables.rows[place];
            if row != [0; 12] {
                bench.commit(place, &row);
            }
        }
        bench.set_bits(std::array::from_fn(|_| random.next() as u32));
        bench.settle();
        for _ in 0..4 {
            bench.tables.mode = random.below(16) as u32 & !1;
            bench.tables.hash_filter = random.next() as u32 & !ROW_ACTION.mask() | ROW_ACTION.at(random.below(3) as u32);
            let near: Vec<Frame> = (0..300)
                .map(|_| {
                    let mut near = match random.below(3) {
                        0 => frame(&mut random),
                        _ => frames[random.below(frames.len() as u64) as usize].clone(),
                    };
                    match random.below(12) {
                        0 => near.dmac[random.below(6) as usize] ^= 1 << random.below(8),
                        1 => near.vid = near.vid.map(|vid| vid ^ 1 << random.below(12)),
                        2 => near.ethertype = near.ethertype.map(|kind| kind ^ 1 << random.below(16)),
                        3 => near.source[random.below(16) as usize] ^= 1 << random.below(8),
                        4 => near.destination[random.below(16) as usize] ^= 1 << random.below(8),
                        5 => near.port ^= 1 << random.below(16),
                        _ => {}
                    }
                    near
                })
                .collect();
            near.iter().for_each(|frame| matched[usize::from(bench.tables.exact(frame).is_some())] += 1);
            bench.check(&near);
        }
    }
    assert!(matched.iter().all(|count| *count > 1000), "misses and matches: {matched:?}");
}

#[test]
fn a_row_matches_when_every_bit_of_every_field_does() {
    let mut bench = Bench::new(7);
    bench.set_kinds([0, 0, 63, 0]);
    let frame = whole();
    let key = key(&frame, 63).unwrap();
    let places: Vec<usize> = key.buckets(2).into_iter().flat_map(|b| [2 * usize::from(b), 2 * usize::from(b) + 1]).collect();
    let row = key.row(2, true, Action::Queue, 5, 0x1234);
    let mut matches = 0;
    for bit in 0..384 {
        let mut other = row;
        other[bit / 32] ^= 1 << (bit % 32);
        bench.put(places[bit % 4], other);
        bench.settle();
        bench.check(&[frame.clone()]);
        matches += u32::from(bench.tables.exact(&frame).is_some());
        bench.put(places[bit % 4], [0; 12]);
    }
    // Action 2, queue 4, tag 16, and five bits that are no field's.
    assert_eq!(matches, 27);
}

#[test]
fn what_a_frame_lacks_never_matches() {
    let mut bench = Bench::new(8);
    let has = Frame { dst: 3, ethertype: Some(0), vid: Some(0), l3: 1, l4: 1, ..Frame::default() };
    let lacks = Frame { dst: 3, l3: 3, l4: 3, ..Frame::default() };
    let matched = Some(Taken { queue: None, tag: Some(9) });
    for field in [KIND_VLAN, KIND_TYPE, KIND_SOURCE, KIND_DESTINATION, KIND_PORT] {
        let fields = field.mask();
        bench.set_kinds([fields, 0, 0, 0]);
        let key = key(&has, fields).unwrap();
        // The keys of a frame with the field, and of one whose field is all 0, each at its place.
        let absent = Key { l3: if key.l3 == 1 { 3 } else { 0 }, l4: if key.l4 == 1 { 3 } else { 0 }, ..key };
        let place = |key: &Key| 2 * usize::from(key.buckets(0)[1]) + usize::from(*key == absent);
        let rows = [key, absent].map(|key| (place(&key), key.row(0, true, Action::Rss, 0, 9)));
        rows.iter().for_each(|(place, row)| bench.put(*place, *row));
        bench.settle();
        bench.check(&[has.clone(), lacks.clone(), has.clone()]);
        assert_eq!(bench.decisions[bench.decisions.len() - 3..], [matched, None, matched], "{}", field.name);
        rows.iter().for_each(|(place, _)| bench.put(*place, [0; 12]));
    }
}

#[test]
fn the_first_kind_and_the_first_row_win() {
    let mut bench = Bench::new(9);
    let kinds = [63, 1, 32, 24];
    bench.set_kinds(kinds);
    // A frame whose 16 rows are all different.
    let rows = |frame: &Frame| -> Vec<(usize, Row)> {
        let kinds = (0..4u8).map(|kind| (kind, key(frame, kinds[usize::from(kind)]).unwrap()));
        let buckets = kinds.flat_map(|(kind, key)| key.buckets(kind).map(|bucket| (kind, key, usize::from(bucket))));
        let places = buckets.flat_map(|(kind, key, bucket)| [2 * bucket, 2 * bucket + 1].map(|place| (kind, key, place)));
        (0..).zip(places).map(|(tag, (kind, key, place))| (place, key.row(kind, true, Action::Queue, tag as u8, tag))).collect()
    };
    let distinct = |frame: &Frame| rows(frame).iter().map(|row| row.0).collect::<std::collections::HashSet<_>>().len() == 16;
    let frame = (0..).map(|port| Frame { port, dmac: [2, 0, 0, 0, 0, port as u8], ..whole() }).find(distinct).unwrap();
    let rows = rows(&frame);
    rows.iter().for_each(|(place, row)| bench.put(*place, *row));
    for (tag, (place, _)) in (0..).zip(rows) {
        bench.settle();
        bench.check(&[frame.clone(), frame.clone()]);
        assert_eq!(bench.decisions.last().unwrap().unwrap().tag, Some(tag));
        bench.put(place, [0; 12]);
    }
    bench.settle();
    bench.check(&[frame]);
    assert_eq!(bench.decisions.last(), Some(&None));
}

#[test]
fn modes_and_the_address_hash_let_frames_in() {
    let mut bench = Bench::new(10);
    let mut random = Random(10);
    bench.set_bits(std::array::from_fn(|_| random.next() as u32));
    bench.settle();
    for mode in 0..16 {
        bench.tables.mode = mode;
        for action in 0..4 {
            bench.tables.hash_filter = ROW_ACTION.at(action) | ROW_QUEUE.at(random.next() as u32) | ROW_TAG.at(random.next() as u32);
            let frames: Vec<Frame> = (0..60)
                .map(|i| Frame { dst: i % 4, dmac: random.next().to_le_bytes()[..6].try_into().unwrap(), ..Frame::default() })
                .collect();
            bench.check(&frames);
        }
    }
    bench.tables.mode = 0;
    bench.filter.set_enabled(false);
    bench.set_kinds([1, 2, 3, 4]);
    bench.settle();
    let before = bench.decisions.len();
    for i in 0..40 {
        bench.tick(Some(&Frame { dst: i % 4, ..whole() }));
    }
    bench.settle();
    bench.settle();
    assert_eq!(bench.decisions[before..], [BY_RSS; 40], "without filters every frame is taken");
}

/// A row moves from place to place, and from kind to kind, under a stream of frames that it is for; each version has its own tag
/// and queue. Every frame matches, one version, and never an older one than the frame before or than its epoch says.
#[test]
fn a_change_is_seen_whole_and_in_order() {
    let mut bench = Bench::new(11);
    let kinds = [63, 1, 2, 4];
    bench.set_kinds(kinds);
    let frame = whole();
    let keys: [Key; 4] = std::array::from_fn(|kind| key(&frame, kinds[kind]).unwrap());
    let version = |number: u32, valid| {
        let kind = (number * 7 / 3 % 4) as u8;
        let key = keys[usize::from(kind)];
        let place = 2 * usize::from(key.buckets(kind)[(number / 2 % 2) as usize]) + (number % 2) as usize;
        (place, key.row(kind, valid, Action::Queue, number as u8, number as u16))
    };
    let (place, row) = version(0, true);
    bench.put(place, row);
    bench.settle();
    let versions = 400;
    for number in 1..=versions {
        let ((old, gone), (place, row)) = (version(number - 1, false), version(number, true));
        bench.stage(&row);
        bench.write(COMMIT.offset, COMMIT_ROW.at(place as u32) | COMMIT_EPOCH.at(number));
        if old != place {
            // The rest of the row does not matter when it is not valid.
            bench.write(ENTRY.offset + 12, gone[3]);
            bench.write(COMMIT.offset, COMMIT_ROW.at(old as u32) | COMMIT_EPOCH.at(number));
        }
    }
    let (start, sent) = (bench.decisions.len(), bench.sent);
    bench.epochs.clear();
    while !bench.writes.is_empty() {
        bench.ready = !bench.random.one_in(8);
        let send = bench.filter.level() < 6 && !bench.random.one_in(8);
        bench.tick(send.then_some(&frame));
    }
    bench.ready = true;
    (0..600).for_each(|_| bench.tick(None));
    let seen: Vec<u16> = bench.decisions[start..]
        .iter()
        .map(|decision| {
            let taken = decision.expect("a frame was missed");
            let tag = taken.tag.expect("a frame was not matched");
            assert_eq!(taken.queue, Some(tag as u8 % 16));
            tag
        })
        .collect();
    assert_eq!(seen.len(), bench.sent - sent);
    // While two versions are in the table the older one may be found first, so a frame may see one version less.
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{seen:?}");
    let mut number = 0;
    for (epoch, before) in bench.epochs.clone() {
        if u32::from(epoch) != number % 8 {
            number += 1;
            assert_eq!(u32::from(epoch), number % 8, "epochs come in order");
        } else {
            // The older version is gone.
            assert!(seen[before - sent..].iter().all(|tag| u32::from(*tag) >= number));
        }
    }
    assert!(number > versions - 2 && seen.len() > 500, "{number} {}", seen.len());
}

#[test]
fn decisions_take_four_cycles_a_kind() {
    for (kinds, cycles, latency) in [(0, 2, 11), (1, 4, 16), (2, 8, 20), (3, 12, 24), (4, 16, 28)] {
        let mut bench = Bench::new(12);
        bench.set_kinds(std::array::from_fn(|i| u32::from(i < kinds)));
        bench.settle();
        let start = bench.cycle;
        (0..60).for_each(|_| bench.tick(Some(&whole())));
        (0..1000).for_each(|_| bench.tick(None));
        assert_eq!(bench.times.len(), 60);
        assert_eq!((bench.times[0] - start, kinds), (latency, kinds));
        assert!(bench.times.windows(2).all(|pair| pair[1] - pair[0] == cycles), "{kinds} {:?}", bench.times);
    }
}

#[test]
fn nothing_is_lost_when_nobody_takes_decisions() {
    let mut bench = Bench::new(13);
    bench.ready = false;
    bench.tables.mode = 1;
    bench.set_kinds([1, 0, 0, 0]);
    let frames: Vec<Frame> = (0..72u8).map(|i| Frame { dmac: [i, 0, 0, 0, 0, 0], ..whole() }).collect();
    for i in 0..70u8 {
        let key = key(&frames[usize::from(i)], 1).unwrap();
        let row = key.row(0, true, Action::Queue, i, i.into());
        let places = { let Bench { tables, random, .. } = &mut bench; tables.place(random, row, 0, key) };
        for place in places {
            let row = bench.tables.rows[place];
            bench.commit(place, &row);
        }
    }
    bench.settle();
    frames.iter().for_each(|frame| bench.tick(Some(frame)));
    bench.settle();
    assert!(bench.filter.level() > 40 && bench.decisions.is_empty());
    let level = bench.filter.level();
    bench.settle();
    assert_eq!(bench.filter.level(), level);
    bench.check(&[]);
    bench.ready = true;
    (0..500).for_each(|_| bench.tick(None));
    assert_eq!(bench.filter.level(), 0);
    let expected: Vec<Decision> = frames.iter().map(|frame| bench.tables.decide(frame)).collect();
    assert_eq!(bench.decisions, expected);
}

#[test]
fn registers_stand_where_the_contract_says() {
    let mut bench = Bench::new(14);
    let load = |bench: &mut Bench, address: u32| {
        // The completer samples four cycles after the strobe, and the address is gone after it.
        for strobe in [true, false, false, false] {
            bench.regs.set_bus_read(strobe);
            bench.regs.set_bus_write(false);
            bench.regs.set_bus_addr(if strobe { address as u16 } else { 0xFFFC });
            for clock in [false, true, false] {
                bench.regs.set_clock(clock);
                bench.regs.eval();
            }
        }
        bench.regs.rdata()
    };
    let value = |offset: u32, turn: u32| offset.wrapping_mul(0x9E37_79B9) ^ turn;
    for turn in [0, u32::MAX] {
        (0..0x200).step_by(4).filter(|offset| *offset != COMMIT.offset).for_each(|offset| bench.write(offset, value(offset, turn)));
        bench.settle();
        for offset in (0..0x200).step_by(4) {
            let expected = match offset {
                0x40..=0x4C => value(offset, turn) & 0x3F,
                0x80..=0xBC => value(offset, turn),
                _ => 0,
            };
            assert_eq!(load(&mut bench, FILTER + offset), expected, "{offset:#x}");
            assert_eq!(load(&mut bench, FILTER + 0x1000 + offset), 0, "another page");
            assert_eq!(load(&mut bench, registers::GLOBAL + offset), 0, "another page");
        }
        let words: Vec<(u8, u32)> = (0..32).map(|word| (word as u8, value(INDIRECT.offset + 4 * word, turn))).collect();
        assert_eq!(bench.indirect, words);
        bench.indirect.clear();
    }
}

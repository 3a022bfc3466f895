//! A host and a wire around the RX path, at both widths. Every frame's fate is followed from the wire to memory, and
//! every rule of the interface is checked in every cycle; a test only says what happens and looks at the tallies.

use ferronic_bench::models::{rx_path_128::RxPath128, rx_path_64::RxPath64};
use ferronic_contract::class::{classify, Mac};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::RxDescriptor;
use ferronic_contract::ring::RingSize;
use ferronic_verilated::PowerUp;
use std::collections::{HashMap, VecDeque};

/// Bytes of the packet FIFO.
pub const DEPTH: usize = 32 * 1024;
/// Own address.
pub const MAC: Mac = [0x02, 0, 0x5E, 0x10, 0x20, 0x30];
/// The completion ring.
pub const RING: u64 = 0x7_6543_2000;

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
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True in `percent` of 100.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A memory write's header, and one beat of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pay {
    pub address: u64,
    pub dwords: u16,
    pub first_be: u8,
    pub last_be: u8,
    pub last: bool,
    pub data: Vec<u8>,
}

/// Pulses and levels that are counted: cycles in which each is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub frame_in: u64,
    pub disabled: u64,
    pub disabled_late: u64,
    pub undersize: u64,
    pub oversize: u64,
    pub bad: u64,
    pub fifo: u64,
    pub no_descriptor: u64,
    pub buffer: u64,
    pub frame: u64,
    pub starved: u64,
    pub waited: u64,
}

impl Tally {
    pub fn drops(&self) -> u64 {
        self.at_the_wire() + self.disabled_late + self.buffer
    }

    fn at_the_wire(&self) -> u64 {
        self.disabled + self.undersize + self.oversize + self.bad + self.fifo + self.no_descriptor
    }

    fn add(&mut self, now: &Self) {
        self.frame_in += now.frame_in;
        self.disabled += now.disabled;
        self.disabled_late += now.disabled_late;
        self.undersize += now.undersize;
        self.oversize += now.oversize;
        self.bad += now.bad;
        self.fifo += now.fifo;
        self.no_descriptor += now.no_descriptor;
        self.buffer += now.buffer;
        self.frame += now.frame;
        self.starved += now.starved;
        self.waited += now.waited;
    }
}

/// What the model needs of either width.
pub trait Path {
    const BYTES: usize;
    fn new(seed: u64) -> Self;
    fn settings(&mut self, settings: &Settings);
    fn wire(&mut self, valid: bool, data: &[u8], last: bool, error: bool);
    fn descriptor(&mut self, descriptor: Option<&RxDescriptor>);
    fn ready(&mut self, pay: bool, done: bool);
    fn settle(&mut self);
    fn clock_edge(&mut self);
    fn takes_descriptor(&self) -> bool;
    fn pay(&self) -> Option<Pay>;
    fn done(&self) -> Option<(u64, [u32; 8])>;
    fn now(&self) -> Tally;
    fn producer_index(&self) -> u16;
    fn is_idle(&self) -> bool;
}

/// The configuration, as the registers hold it.
#[derive(Clone, Debug)]
pub struct Settings {
    pub reset: bool,
    pub rx_enable: bool,
    pub queue_enable: bool,
    pub queue_stopped: bool,
    pub epoch: u8,
    pub max_frame: u16,
    /// Code: 128 << mps bytes.
    pub mps: u8,
    pub ring: RingSize,
    pub wthresh: u8,
    pub wtimer: u32,
}

macro_rules! path {
    ($model:ty, $bytes:expr, $pack:expr, $unpack:expr) => {
        impl Path for $model {
            const BYTES: usize = $bytes;

            fn new(seed: u64) -> Self {
                <$model>::new(PowerUp::Random(seed))
            }

            fn settings(&mut self, settings: &Settings) {
                self.set_reset(settings.reset);
                self.set_rx_enable(settings.rx_enable);
                self.set_queue_enable(settings.queue_enable);
                self.set_queue_stopped(settings.queue_stopped);
                self.set_own_mac(MAC.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
                self.set_epoch(settings.epoch);
                self.set_max_frame(settings.max_frame);
                self.set_mps(settings.mps);
                self.set_done_base(RING >> 12);
                self.set_size_log2(settings.ring.log2());
                self.set_wthresh(settings.wthresh);
                self.set_wtimer(settings.wtimer);
            }

            fn wire(&mut self, valid: bool, data: &[u8], last: bool, error: bool) {
                let mut beat = [0xEE; $bytes];
                beat[..data.len()].copy_from_slice(data);
                self.set_wire_valid(valid);
                self.set_wire_data($pack(beat));
                self.set_wire_keep(((1u32 << data.len()) - 1) as _);
                self.set_wire_last(last);
                self.set_wire_error(error);
            }

            fn descriptor(&mut self, descriptor: Option<&RxDescriptor>) {
                self.set_d_valid(descriptor.is_some());
                self.set_d_data(descriptor.map_or([0xFFFF_FFFF; 4], RxDescriptor::encode));
            }

            fn ready(&mut self, pay: bool, done: bool) {
                self.set_pay_ready(pay);
                self.set_done_ready(done);
            }

            fn settle(&mut self) {
                self.eval();
            }

            fn clock_edge(&mut self) {
                self.set_clock(true);
                self.eval();
                self.set_clock(false);
                self.eval();
            }

            fn takes_descriptor(&self) -> bool {
                self.d_ready()
            }

            fn pay(&self) -> Option<Pay> {
                self.pay_valid().then(|| Pay {
                    address: self.pay_addr(),
                    dwords: self.pay_dwords(),
                    first_be: self.pay_first_be(),
                    last_be: self.pay_last_be(),
                    last: self.pay_last(),
                    data: $unpack(self.pay_data()),
                })
            }

            fn done(&self) -> Option<(u64, [u32; 8])> {
                self.done_valid().then(|| (self.done_addr(), self.done_data()))
            }

            fn now(&self) -> Tally {
                Tally {
                    frame_in: self.frame_in().into(),
                    disabled: self.drop_disabled().into(),
                    disabled_late: self.drop_disabled_late().into(),
                    undersize: self.drop_undersize().into(),
                    oversize: self.drop_oversize().into(),
                    bad: self.drop_bad().into(),
                    fifo: self.drop_fifo().into(),
                    no_descriptor: self.drop_no_descriptor().into(),
                    buffer: self.drop_buffer().into(),
                    frame: self.frame().into(),
                    starved: self.starved().into(),
                    waited: self.waited().into(),
                }
            }

            fn producer_index(&self) -> u16 {
                self.producer()
            }

            fn is_idle(&self) -> bool {
                self.idle()
            }
        }
    };
}

path!(RxPath64, 8, u64::from_le_bytes, |word: u64| word.to_le_bytes().to_vec());
path!(
    RxPath128,
    16,
    |beat: [u8; 16]| -> [u32; 4] {
        std::array::from_fn(|i| u32::from_le_bytes(beat[4 * i..4 * i + 4].try_into().unwrap()))
    },
    |words: [u32; 4]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
);

/// A frame for the wire.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub error: bool,
    /// Idle cycles before it.
    pub gap: usize,
}

/// A frame with headers that use every branch of the classifier.
pub fn frame(random: &mut Random, length: usize) -> Frame {
    let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
    let destinations = [MAC, [0xFF; 6], [0x01, 0, 0x5E, 0, 0, 1], [0x02, 0, 0x5E, 0x10, 0x20, 0x31]];
    let kinds: [&[u8]; 6] =
        [&[8, 0], &[0x81, 0, 0, 1, 8, 0], &[0x88, 0xA8, 0, 1, 0x81, 0], &[0, 40, 0xFF, 0xFF], &[0, 40, 0xAA, 0xAA], &[6, 0]];
    let destination = destinations[random.below(4) as usize];
    let kind = kinds[random.below(6) as usize];
    for (at, byte) in destination.iter().enumerate().chain(kind.iter().enumerate().map(|(i, byte)| (12 + i, byte))) {
        if let Some(place) = bytes.get_mut(at) {
            *place = *byte;
        }
    }
    Frame { bytes, error: false, gap: 0 }
}

/// A frame at the wire: what is known of it so far.
struct OnWire {
    frame: Frame,
    active: bool,
    /// `starved` in the cycles in which it may have found the FIFO full.
    ever_starved: bool,
    always_starved: bool,
    /// Most bytes and frames that may have been stored meanwhile.
    peak: (usize, usize),
    epoch: u8,
}

/// Everything around the block.
pub struct World<P> {
    pub path: P,
    pub settings: Settings,
    pub random: Random,
    pub tally: Tally,
    pub cycle: u64,
    /// Per cent of cycles in which a write is taken.
    pub pay_ready: u64,
    pub done_ready: u64,
    pub to_send: VecDeque<Frame>,
    pub descriptors: VecDeque<RxDescriptor>,
    /// Completions in the order of writing.
    pub completions: Vec<RxCompletion>,
    /// Descriptors as they were used.
    pub used: Vec<RxDescriptor>,
    at: usize,
    on_wire: VecDeque<OnWire>,
    /// Stored frames with their epoch; frames with a descriptor.
    stored: VecDeque<(Vec<u8>, u8)>,
    assigned: VecDeque<(Vec<u8>, u8, RxDescriptor)>,
    /// Bytes of frames dropped late whose room may wait behind frames that are being written: three at most.
    dropped: VecDeque<usize>,
    memory: HashMap<u64, u8>,
    /// Bytes that completed frames have in memory.
    settled: usize,
    tlp: Vec<Pay>,
    held_pay: Option<Pay>,
    held_done: Option<(u64, [u32; 8])>,
    taken: u16,
    first_beat_before: bool,
    ready: (bool, bool),
}

impl<P: Path> World<P> {
    pub fn new(seed: u64) -> Self {
        let settings = Settings {
            reset: true,
            rx_enable: true,
            queue_enable: true,
            queue_stopped: false,
            epoch: 3,
            max_frame: 9600,
            mps: 1,
            ring: RingSize::new(8).unwrap(),
            wthresh: 1,
            wtimer: 0,
        };
        let mut world = Self {
            path: P::new(seed),
            settings,
            random: Random(seed),
            tally: Tally::default(),
            cycle: 0,
            pay_ready: 100,
            done_ready: 100,
            to_send: VecDeque::new(),
            descriptors: VecDeque::new(),
            completions: Vec::new(),
            used: Vec::new(),
            at: 0,
            on_wire: VecDeque::new(),
            stored: VecDeque::new(),
            assigned: VecDeque::new(),
            dropped: VecDeque::new(),
            memory: HashMap::new(),
            settled: 0,
            tlp: Vec::new(),
            held_pay: None,
            held_done: None,
            taken: 0,
            first_beat_before: false,
            ready: (false, false),
        };
        for _ in 0..3 {
            world.path.settings(&world.settings);
            world.path.wire(false, &[], false, false);
            world.path.descriptor(None);
            world.path.ready(false, false);
            world.path.settle();
            world.path.clock_edge();
        }
        world.settings.reset = false;
        world
    }

    /// Buffers of `length` bytes from `address` on, `stride` apart.
    pub fn post(&mut self, address: u64, stride: u64, length: u16, count: u64) {
        for i in 0..count {
            let cookie = self.random.next() as u32;
            self.descriptors.push_back(RxDescriptor { address: address + i * stride, length, cookie });
        }
    }

    /// Nothing left to do, as seen from outside.
    pub fn drained(&self) -> bool {
        self.to_send.is_empty() && self.on_wire.is_empty() && self.stored.is_empty() && self.assigned.is_empty()
    }

    /// Runs until all is delivered or dropped; at most `limit` cycles.
    pub fn drain(&mut self, limit: u64) {
        let start = self.cycle;
        while !self.drained() {
            assert!(self.cycle - start < limit, "not drained after {limit} cycles; {:?}", self.tally);
            self.step();
        }
        (0..8).for_each(|_| self.step());
        assert!(self.path.is_idle());
        self.check_sums();
    }

    /// What must hold when nothing is in flight.
    pub fn check_sums(&self) {
        assert_eq!(self.tally.frame_in, self.tally.frame + self.tally.drops(), "{:?}", self.tally);
        assert_eq!(self.tally.frame, self.completions.len() as u64);
        assert_eq!(self.memory.len(), self.settled, "bytes outside of every frame");
    }

    pub fn step(&mut self) {
        self.drive();
        self.path.settle();
        let now = self.path.now();
        self.tally.add(&now);
        self.follow(&now);
        self.take_pay();
        self.take_done();
        self.path.clock_edge();
        self.cycle += 1;
    }

    fn drive(&mut self) {
        self.path.settings(&self.settings);
        let active = self.settings.rx_enable && self.settings.queue_enable && !self.settings.queue_stopped;
        // The block looks at the state in the cycle after the first beat.
        if self.first_beat_before {
            self.on_wire.back_mut().unwrap().active = active;
        }
        self.first_beat_before = false;
        match self.to_send.front_mut() {
            Some(frame) if frame.gap == 0 => {
                if self.at == 0 {
                    let frame = Frame { gap: 0, ..frame.clone() };
                    let epoch = self.settings.epoch;
                    let on_wire = OnWire { frame, active, ever_starved: false, always_starved: true, peak: (0, 0), epoch };
                    self.on_wire.push_back(on_wire);
                    self.first_beat_before = true;
                }
                let end = (self.at + P::BYTES).min(frame.bytes.len());
                let last = end == frame.bytes.len();
                self.path.wire(true, &frame.bytes[self.at..end], last, frame.error && last);
                self.at = end;
                if last {
                    self.at = 0;
                    self.to_send.pop_front();
                }
            }
            Some(frame) => {
                frame.gap -= 1;
                self.path.wire(false, &[], true, true);
            }
            None => self.path.wire(false, &[], true, true),
        }
        self.path.descriptor(self.descriptors.front());
        let (pay, done) = (self.random.chance(self.pay_ready), self.random.chance(self.done_ready));
        self.path.ready(pay, done);
        self.ready = (pay, done);
    }

    /// The frames' fate, from the pulses.
    fn follow(&mut self, now: &Tally) {
        let round = |length: usize| length.next_multiple_of(P::BYTES);
        let bytes = self.stored.iter().map(|(bytes, _)| round(bytes.len())).sum::<usize>()
            + self.assigned.iter().map(|(bytes, ..)| round(bytes.len())).sum::<usize>()
            + self.dropped.iter().map(|bytes| round(*bytes)).sum::<usize>();
        for on_wire in &mut self.on_wire {
            on_wire.ever_starved |= now.starved == 1;
            on_wire.always_starved &= now.starved == 1;
            on_wire.peak = on_wire.peak.max((bytes, on_wire.peak.1));
            on_wire.peak.1 = on_wire.peak.1.max(self.stored.len());
        }

        // From the list of frames to a descriptor or away, before a new frame comes to the list.
        let used = self.path.takes_descriptor().then(|| self.descriptors.pop_front()).flatten();
        assert!(u64::from(used.is_some()) + now.buffer + now.disabled_late <= 1);
        if used.is_some() || now.buffer + now.disabled_late > 0 {
            let (bytes, epoch) = self.stored.pop_front().expect("a frame that was never stored");
            if let Some(descriptor) = used {
                assert!(bytes.len() <= descriptor.length.into(), "longer than its buffer");
                self.assigned.push_back((bytes, epoch, descriptor));
            } else {
                let fits = now.buffer == 1 && bytes.len() <= self.descriptors[0].length.into();
                assert!(!fits, "dropped though it fits");
                self.dropped.push_back(bytes.len());
                self.dropped.drain(..self.dropped.len().saturating_sub(3));
            }
        }

        if now.frame_in == 0 {
            assert_eq!(now.at_the_wire(), 0, "a drop without a frame");
            return;
        }
        let OnWire { frame, active, ever_starved, always_starved, peak, epoch } = self.on_wire.pop_front().unwrap();
        let length = frame.bytes.len();
        let none = Tally { frame_in: 1, ..Tally::default() };
        let verdict = Tally {
            frame: 0, starved: 0, waited: 0, disabled_late: 0, buffer: 0, ..*now
        };
        let limit = usize::from(self.settings.max_frame);
        let due = match () {
            () if !active => Tally { disabled: 1, ..none },
            () if frame.error => Tally { bad: 1, ..none },
            () if length < 14 => Tally { undersize: 1, ..none },
            () if length > limit => Tally { oversize: 1, ..none },
            () if now.fifo + now.no_descriptor == 0 => {
                self.stored.push_back((frame.bytes, epoch));
                none
            }
            () => {
                assert!(peak.0 + round(length) > DEPTH || peak.1 >= 500, "dropped though there is room: {peak:?}");
                assert!(if now.fifo == 1 { !always_starved } else { ever_starved });
                Tally { fifo: now.fifo, no_descriptor: 1 - now.fifo, ..none }
            }
        };
        assert_eq!(verdict, due, "{length} bytes");
    }

    fn take_pay(&mut self) {
        let pay = self.path.pay();
        if self.held_pay.is_some() {
            assert_eq!(pay, self.held_pay, "changed before it was taken");
        }
        self.held_pay = pay.clone().filter(|_| !self.ready.0);
        let Some(beat) = pay.filter(|_| self.ready.0) else { return };
        if let Some(first) = self.tlp.first() {
            let header = |pay: &Pay| (pay.address, pay.dwords, pay.first_be, pay.last_be);
            assert_eq!(header(&beat), header(first));
        }
        let last = beat.last;
        self.tlp.push(beat);
        let beats = usize::from(self.tlp[0].dwords).div_ceil(P::BYTES / 4);
        assert_eq!(last, self.tlp.len() == beats, "beat {} of {beats}", self.tlp.len());
        if last {
            self.take_tlp();
        }
    }

    /// Checks a memory write by the rules of PCIe and puts its bytes into memory.
    fn take_tlp(&mut self) {
        let Pay { address, dwords, first_be, last_be, .. } = self.tlp[0];
        let limit = 128 << self.settings.mps;
        let (lead, trail) = (first_be.trailing_zeros(), if dwords == 1 { first_be } else { last_be }.leading_zeros() - 4);
        assert!((1..=limit / 4).contains(&u64::from(dwords)));
        assert_eq!(address & 3, u64::from(lead));
        match dwords {
            1 => assert_eq!((first_be, last_be), (0xF & 0xF << lead & 0xF >> trail, 0)),
            _ => assert_eq!((first_be, last_be), (0xF & 0xF << lead, 0xF >> trail)),
        }
        let start = address & !3;
        let end = start + 4 * u64::from(dwords) - u64::from(trail);
        assert_eq!(address / limit, (end - 1) / limit, "crosses a multiple of MPS: {address:#x}..{end:#x}");
        let data = self.tlp.drain(..).flat_map(|beat| beat.data);
        for (at, byte) in (start..end).zip(data) {
            if at >= address {
                assert_eq!(self.memory.insert(at, byte), None, "{at:#x} is written twice");
            }
        }
    }

    fn take_done(&mut self) {
        if !self.settings.queue_enable && self.assigned.is_empty() && self.path.producer_index() == 0 {
            self.taken = 0;
        }
        assert_eq!(self.path.producer_index(), self.taken);
        let done = self.path.done();
        if self.held_done.is_some() {
            assert_eq!(done, self.held_done, "changed before it was taken");
        }
        self.held_done = done.filter(|_| !self.ready.1);
        let Some((address, words)) = done else { return };
        let (bytes, epoch, descriptor) = self.assigned.front().expect("a completion without a frame");
        for (at, byte) in bytes.iter().enumerate() {
            let at = descriptor.address + at as u64;
            assert_eq!(self.memory.get(&at), Some(byte), "completed before {at:#x} was written, or wrongly");
        }
        let class = classify(bytes, &MAC).unwrap();
        let due = RxCompletion {
            length: bytes.len() as u16,
            protocol: class.protocol,
            status: class.status(*epoch),
            cookie: descriptor.cookie,
            index: self.taken,
            l3_offset: class.l3_offset(),
            phase: self.settings.ring.phase(self.taken),
            ..Default::default()
        };
        assert_eq!(RxCompletion::decode(&words), due);
        assert_eq!(words, due.encode());
        assert_eq!(address, RING + 32 * self.settings.ring.slot(self.taken) as u64);
        if self.ready.1 {
            self.settled += bytes.len();
            self.completions.push(due);
            self.used.push(*descriptor);
            self.assigned.pop_front();
            self.taken = self.taken.wrapping_add(1);
        }
    }
}

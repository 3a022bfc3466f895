//! The test device's RX side.

use ferronic_contract::class::{classify, Class};
use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::RxDescriptor;
use ferronic_contract::registers::queue::{self, Format};
use ferronic_contract::registers::{self, rx_vector};
use ferronic_contract::ring::distance;
use ferronic_contract::status::{Status, EOP, SOP, SPLIT};

use super::{rx_base, Mock};

impl Mock {
    /// Descriptors of queue 0 that the device was told of and has not used.
    pub fn rx_ready(&self) -> u16 {
        self.ready(0)
    }

    /// The same of any queue.
    pub fn ready(&self, number: u8) -> u16 {
        let ring = self.rx[usize::from(number)].get();
        distance(ring.done, ring.tail)
    }

    /// Index of queue 0's next completion.
    pub fn rx_done(&self) -> u16 {
        self.rx[0].get().done
    }

    /// Receives a frame by queue 0 as an honest core does; false when it has no descriptor.
    pub fn receive(&self, frame: &[u8]) -> bool {
        self.receive_with(frame, |_| {})
    }

    /// The same with its completions changed before they are written.
    pub fn receive_with(&self, frame: &[u8], edit: impl FnMut(&mut RxCompletion)) -> bool {
        self.receive_by(0, frame, 0, edit)
    }

    /// Receives a frame by a queue, its first `header` bytes apart unless that is 0; false when it has too few descriptors.
    pub fn receive_by(&self, number: u8, frame: &[u8], header: usize, mut edit: impl FnMut(&mut RxCompletion)) -> bool {
        let base = rx_base(number);
        let control = self.get(base, queue::CONTROL);
        if registers::RX_ENABLE.of(self.get(registers::GLOBAL, registers::CONTROL)) == 0 || self.ready(number) == 0 {
            return false;
        }
        let room = usize::from(self.next_descriptor(number).length);
        let (head, body) = frame.split_at(header);
        let parts: Vec<&[u8]> = [head].into_iter().filter(|head| !head.is_empty()).chain(body.chunks(room)).collect();
        assert!(header == 0 || queue::SPLIT.of(control) != 0, "the queue does not split");
        let most = if queue::SCATTER.of(control) == 1 { usize::MAX } else { 1 + usize::from(header > 0) };
        assert!(parts.len() <= most, "the test's frame is longer than the buffer");
        if usize::from(self.ready(number)) < parts.len() {
            return false;
        }
        let class = classify(frame, &self.mac());
        let status = class.map(|c: Class| c.status(self.epoch())).unwrap_or_default();
        for (i, part) in parts.iter().enumerate() {
            let status = status
                .with(SOP, (i == 0).into())
                .with(EOP, (i + 1 == parts.len()).into())
                .with(SPLIT, (header > 0).into());
            self.part(number, part, class.map_or(0, |c| c.protocol), status, &mut edit);
        }
        self.publish_index(number);
        self.event(rx_vector(number.into()) as usize);
        true
    }

    fn next_descriptor(&self, number: u8) -> RxDescriptor {
        RxDescriptor::decode(&self.descriptor(rx_base(number), self.rx[usize::from(number)].get().done))
    }

    /// Fills the next buffer of a queue and writes its completion.
    pub fn part(
        &self,
        number: u8,
        bytes: &[u8],
        protocol: u16,
        status: Status,
        edit: &mut impl FnMut(&mut RxCompletion),
    ) {
        let cell = &self.rx[usize::from(number)];
        let mut ring = cell.get();
        let descriptor = self.next_descriptor(number);
        assert!(bytes.len() <= usize::from(descriptor.length), "more than the buffer holds");
        self.memory.write_bytes(descriptor.address, bytes);
        let mut completion = RxCompletion {
            length: bytes.len() as u16,
            protocol,
            status,
            cookie: descriptor.cookie,
            index: ring.done,
            phase: self.size(rx_base(number)).phase(ring.done),
            ..RxCompletion::default()
        };
        edit(&mut completion);
        match self.format(number) {
            Format::Full => self.write_words(number, ring.done, &completion.encode()),
            Format::CompactHash => self.write_words(number, ring.done, &completion.encode_compact(false)),
            Format::CompactTag => self.write_words(number, ring.done, &completion.encode_compact(true)),
        }
        ring.done = ring.done.wrapping_add(1);
        cell.set(ring);
    }

    fn format(&self, number: u8) -> Format {
        match queue::FORMAT.of(self.get(rx_base(number), queue::CONTROL)) {
            0 => Format::Full,
            1 => Format::CompactHash,
            2 => Format::CompactTag,
            other => panic!("no completion format {other}"),
        }
    }

    /// Writes the producer index of a queue, if the queue asks for it and the test does not withhold it.
    pub fn publish_index(&self, number: u8) {
        let asked = queue::INDEX.of(self.get(rx_base(number), queue::CONTROL)) == 1;
        if asked && !self.index_withheld.get() {
            self.write_index(number, self.rx[usize::from(number)].get().done.into());
        }
    }

    /// Writes a word to where a queue's producer index goes.
    pub fn write_index(&self, number: u8, word: u32) {
        self.memory.write_word(self.pair(rx_base(number), queue::INDEX_LOW, queue::INDEX_HIGH), word);
    }

    /// Writes the words of a completion into the slot of an index of queue 0.
    pub fn write_completion(&self, index: u16, words: &[u32]) {
        self.write_words(0, index, words);
    }

    fn write_words(&self, number: u8, index: u16, words: &[u32]) {
        let base = rx_base(number);
        let ring = self.pair(base, queue::DONE_LOW, queue::DONE_HIGH);
        let bus = ring + (self.size(base).slot(index) * self.format(number).bytes()) as u64;
        for (i, &word) in words.iter().enumerate() {
            self.memory.write_word(bus + 4 * i as u64, word);
        }
    }
}

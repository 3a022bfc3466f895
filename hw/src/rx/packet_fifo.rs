//! Stores frames from the wire until the DMA has read them, whole or not at all.
//!
//! ```text
//! wire → count bytes → word RAM (32 KiB ring) → read port
//!               └→ verdict: commit (length) | roll back, with exactly one cause
//! ```
//!
//! A beat is registered, written the cycle after, and the verdict on the frame falls in the cycle behind its last
//! beat, which may be the one that writes the first beat of the next frame: a roll-back therefore moves the write
//! pointer of that very cycle. The wire is never held up; the bound is a beat a cycle.
//!
//! `commit` and `length` belong to the cycle of the verdict; the drop pulses and `frame_in` come one cycle later.
//! Of several reasons the first counts: disabled, bad, undersize, oversize, full. `free` is the byte position up to which
//! the reader has read; it and the write pointer carry one bit more than the address, so full and empty differ.

use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Shortest frame that is kept: an Ethernet header.
pub const MIN_FRAME: u64 = 14;

/// 2^A words of W = 8·K bits, K = 2^Q; AP1 = A + 1, and A + Q = 15.
#[derive(LogicBlock)]
pub struct PacketFifo<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub wire_valid: Signal<In, Bit>,
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_keep: Signal<In, Bits<K>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    /// Of the frame: TCI of a tag that was removed, whether one was and whether of TPID 0x88A8, time; the same in each beat.
    pub wire_info: Signal<In, Bits<50>>,
    /// Frames are taken; looked at with a frame's first beat.
    pub active: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    /// The reader's oldest frame waits for a descriptor.
    pub starved: Signal<In, Bit>,
    /// No room for one more frame in the list of frames; heeded a cycle later.
    pub list_full: Signal<In, Bit>,
    pub free: Signal<In, Bits<16>>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    /// The beat that is being written, for the header window.
    pub beat_valid: Signal<Out, Bit>,
    pub beat_first: Signal<Out, Bit>,
    pub beat_data: Signal<Out, Bits<W>>,
    pub commit: Signal<Out, Bit>,
    /// As stored, without a removed tag.
    pub length: Signal<Out, Bits<14>>,
    pub info: Signal<Out, Bits<50>>,
    /// Fill in units of 64 bytes, a few cycles old.
    pub fill: Signal<Out, Bits<16>>,
    pub frame_in: Signal<Out, Bit>,
    pub drop_disabled: Signal<Out, Bit>,
    pub drop_bad: Signal<Out, Bit>,
    pub drop_undersize: Signal<Out, Bit>,
    pub drop_oversize: Signal<Out, Bit>,
    pub drop_fifo: Signal<Out, Bit>,
    pub drop_no_descriptor: Signal<Out, Bit>,
    ram: Ram<W, A>,
    // The registered beat.
    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    bytes: DFF<Bits<8>>,
    news: DFF<Bits<50>>,
    // The frame so far.
    middle: DFF<Bit>,
    off: DFF<Bit>,
    bad: DFF<Bit>,
    over: DFF<Bit>,
    waiting: DFF<Bit>,
    count: DFF<Bits<15>>,
    short: DFF<Bit>,
    long: DFF<Bit>,
    // Next word to write; first word of the frame.
    tail: DFF<Bits<AP1>>,
    start: DFF<Bits<AP1>>,
    verdict: DFF<Bit>,
    info_now: DFF<Bits<50>>,
    occupied: DFF<Bits<AP1>>,
    limit: DFF<Bits<15>>,
    crowded: DFF<Bit>,
    frame_pulse: DFF<Bit>,
    disabled_pulse: DFF<Bit>,
    bad_pulse: DFF<Bit>,
    undersize_pulse: DFF<Bit>,
    oversize_pulse: DFF<Bit>,
    fifo_pulse: DFF<Bit>,
    no_descriptor_pulse: DFF<Bit>,
    wire_bytes: Signal<Local, Bits<8>>,
    full_cause: Signal<Local, Bit>,
    faulty: Signal<Local, Bit>,
    waits_cause: Signal<Local, Bit>,
    keep: Signal<Local, Bit>,
    roll_back: Signal<Local, Bit>,
    first: Signal<Local, Bit>,
    off_now: Signal<Local, Bit>,
    over_before: Signal<Local, Bit>,
    long_before: Signal<Local, Bit>,
    count_before: Signal<Local, Bits<15>>,
    tail_now: Signal<Local, Bits<AP1>>,
    after_tail: Signal<Local, Bits<AP1>>,
    after_start: Signal<Local, Bits<AP1>>,
    after_now: Signal<Local, Bits<AP1>>,
    free_words: Signal<Local, Bits<AP1>>,
    used_tail: Signal<Local, Bits<AP1>>,
    used_start: Signal<Local, Bits<AP1>>,
    full: Signal<Local, Bit>,
    wanted: Signal<Local, Bit>,
    write: Signal<Local, Bit>,
    min_frame: Constant<Bits<15>>,
    one: Constant<Bits<AP1>>,
    log_bytes: Constant<Bits<4>>,
    msb: Constant<Bits<8>>,
    log_line: Constant<Bits<4>>,
    tag: Constant<Bits<15>>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize> Default
    for PacketFifo<W, K, Q, A, AP1>
{
    fn default() -> Self {
        assert!(W == 8 * K && K == 1 << Q && AP1 == A + 1 && A + Q == 15);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_error: Default::default(),
            wire_info: Default::default(),
            active: Default::default(),
            max_frame: Default::default(),
            starved: Default::default(),
            list_full: Default::default(),
            free: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            beat_valid: Default::default(),
            beat_first: Default::default(),
            beat_data: Default::default(),
            commit: Default::default(),
            length: Default::default(),
            info: Default::default(),
            fill: Default::default(),
            frame_in: Default::default(),
            drop_disabled: Default::default(),
            drop_bad: Default::default(),
            drop_undersize: Default::default(),
            drop_oversize: Default::default(),
            drop_fifo: Default::default(),
            drop_no_descriptor: Default::default(),
            ram: Default::default(),
            valid: Default::default(),
            data: Default::default(),
            last: Default::default(),
            error: Default::default(),
            bytes: Default::default(),
            news: Default::default(),
            middle: Default::default(),
            off: Default::default(),
            bad: Default::default(),
            over: Default::default(),
            waiting: Default::default(),
            count: Default::default(),
            tail: Default::default(),
            start: Default::default(),
            crowded: Default::default(),
            verdict: Default::default(),
            info_now: Default::default(),
            occupied: Default::default(),
            limit: Default::default(),
            frame_pulse: Default::default(),
            disabled_pulse: Default::default(),
            bad_pulse: Default::default(),
            undersize_pulse: Default::default(),
            oversize_pulse: Default::default(),
            fifo_pulse: Default::default(),
            no_descriptor_pulse: Default::default(),
            wire_bytes: Default::default(),
            long: Default::default(),
            short: Default::default(),
            full_cause: Default::default(),
            faulty: Default::default(),
            waits_cause: Default::default(),
            keep: Default::default(),
            roll_back: Default::default(),
            first: Default::default(),
            off_now: Default::default(),
            over_before: Default::default(),
            long_before: Default::default(),
            count_before: Default::default(),
            tail_now: Default::default(),
            after_tail: Default::default(),
            after_start: Default::default(),
            after_now: Default::default(),
            free_words: Default::default(),
            used_tail: Default::default(),
            used_start: Default::default(),
            full: Default::default(),
            wanted: Default::default(),
            write: Default::default(),
            min_frame: Constant::new(MIN_FRAME.into()),
            one: Constant::new(1.into()),
            log_bytes: Constant::new(Q.to_bits()),
            msb: Constant::new(A.to_bits()),
            log_line: Constant::new((6 - Q).to_bits()),
            tag: Constant::new(4.into()),
        }
    }
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize> Logic
    for PacketFifo<W, K, Q, A, AP1>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, data, last, error, bytes, news, info_now, occupied, limit);
        dff_setup!(self, clock, middle, off, bad, over, waiting, count, short, long, tail, start, verdict, crowded);
        dff_setup!(self, clock, frame_pulse, disabled_pulse, bad_pulse, undersize_pulse, oversize_pulse);
        dff_setup!(self, clock, fifo_pulse, no_descriptor_pulse);
        self.ram.clock.next = self.clock.val();

        // The beat.
        // `keep` has no gaps: the highest byte kept tells how many there are.
        self.wire_bytes.next = 0.into();
        for i in 0_usize..K {
            if self.wire_keep.val().get_bit(i) {
                self.wire_bytes.next = i.to_bits::<8>() + 1;
            }
        }
        self.valid.d.next = self.wire_valid.val();
        self.data.d.next = self.wire_data.val();
        self.last.d.next = self.wire_last.val();
        self.error.d.next = self.wire_error.val();
        self.bytes.d.next = self.wire_bytes.val();
        self.news.d.next = self.wire_info.val();

        // The verdict on the frame that ended in the cycle before.
        self.full_cause.next = self.over.q.val() | self.crowded.q.val();
        self.crowded.d.next = self.list_full.val();
        self.waits_cause.next = self.starved.val();
        if self.over.q.val() {
            self.waits_cause.next = self.waiting.q.val();
        }
        self.faulty.next = self.off.q.val() | self.bad.q.val() | self.short.q.val() | self.long.q.val();
        self.keep.next = self.verdict.q.val() & !self.faulty.val() & !self.full_cause.val();
        self.roll_back.next = self.verdict.q.val() & !self.keep.val();
        self.commit.next = self.keep.val();
        self.length.next = self.count.q.val().get_bits::<14>(0);
        self.frame_pulse.d.next = self.verdict.q.val();
        self.disabled_pulse.d.next = self.verdict.q.val() & self.off.q.val();
        self.bad_pulse.d.next = self.verdict.q.val() & self.bad.q.val() & !self.off.q.val();
        self.undersize_pulse.d.next =
            self.verdict.q.val() & self.short.q.val() & !self.off.q.val() & !self.bad.q.val();
        self.oversize_pulse.d.next =
            (self.verdict.q.val() & self.long.q.val()) & !(self.off.q.val() | self.bad.q.val() | self.short.q.val());
        self.fifo_pulse.d.next =
            (self.verdict.q.val() & !self.faulty.val()) & (self.full_cause.val() & !self.waits_cause.val());
        self.no_descriptor_pulse.d.next =
            (self.verdict.q.val() & !self.faulty.val()) & (self.full_cause.val() & self.waits_cause.val());

        // The frame of the registered beat. A frame known to be too long is written no further.
        self.first.next = !self.middle.q.val();
        self.off_now.next = (self.first.val() & !self.active.val()) | (self.middle.q.val() & self.off.q.val());
        self.over_before.next = self.middle.q.val() & self.over.q.val();
        self.long_before.next = self.middle.q.val() & self.long.q.val();
        self.count_before.next = self.count.q.val();
        if self.first.val() {
            self.count_before.next = 0.into();
        }
        // What comes of the beat is ready for either verdict on the frame before.
        self.free_words.next = self.free.val().get_bits::<AP1>(self.log_bytes.val().index());
        self.used_tail.next = self.tail.q.val() - self.free_words.val();
        self.used_start.next = self.start.q.val() - self.free_words.val();
        self.after_tail.next = self.tail.q.val() + self.one.val();
        self.after_start.next = self.start.q.val() + self.one.val();
        self.wanted.next =
            self.valid.q.val() & !self.off_now.val() & !self.over_before.val() & !self.long_before.val();
        self.full.next = self.used_tail.val().get_bit(self.msb.val().index());
        self.tail_now.next = self.tail.q.val();
        self.after_now.next = self.after_tail.val();
        if self.roll_back.val() {
            self.full.next = self.used_start.val().get_bit(self.msb.val().index());
            self.tail_now.next = self.start.q.val();
            self.after_now.next = self.after_start.val();
        }
        self.write.next = self.wanted.val() & !self.full.val();
        self.ram.write_address.next = self.tail_now.val().get_bits::<A>(0);
        self.ram.write_data.next = self.data.q.val();
        self.ram.write_enable.next = self.write.val();
        self.tail.d.next = self.tail_now.val();
        if self.write.val() {
            self.tail.d.next = self.after_now.val();
        }
        if self.keep.val() {
            self.start.d.next = self.tail.q.val();
        }
        self.verdict.d.next = self.valid.q.val() & self.last.q.val();
        if self.valid.q.val() {
            self.middle.d.next = !self.last.q.val();
            self.off.d.next = self.off_now.val();
            self.bad.d.next = self.error.q.val();
            self.over.d.next = self.over_before.val() | (self.wanted.val() & self.full.val());
            if !self.over_before.val() {
                self.waiting.d.next = self.starved.val();
            }
            // Saturates above every legal length.
            if !self.count_before.val().get_bit(14) {
                self.count.d.next = self.count_before.val() + bit_cast::<15, 8>(self.bytes.q.val());
            }
        }

        self.short.d.next = self.count.d.val() < self.min_frame.val();
        self.long.d.next = self.count.d.val() > self.limit.q.val();
        // MAX_FRAME is a length on the wire.
        if self.wire_valid.val() {
            self.limit.d.next = bit_cast::<15, 14>(self.max_frame.val());
            if self.wire_info.val().get_bit(16) {
                self.limit.d.next = bit_cast::<15, 14>(self.max_frame.val()) - self.tag.val();
            }
        }
        self.info_now.d.next = self.news.q.val();
        self.info.next = self.info_now.q.val();
        self.occupied.d.next = self.used_start.val();
        self.fill.next = bit_cast::<16, AP1>(self.occupied.q.val() >> self.log_line.val());

        self.beat_valid.next = self.valid.q.val();
        self.beat_first.next = self.first.val();
        self.beat_data.next = self.data.q.val();
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.read_address.val();
        self.read_data.next = self.ram.read_data.val();
        self.frame_in.next = self.frame_pulse.q.val();
        self.drop_disabled.next = self.disabled_pulse.q.val();
        self.drop_bad.next = self.bad_pulse.q.val();
        self.drop_undersize.next = self.undersize_pulse.q.val();
        self.drop_oversize.next = self.oversize_pulse.q.val();
        self.drop_fifo.next = self.fifo_pulse.q.val();
        self.drop_no_descriptor.next = self.no_descriptor_pulse.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.middle.d.next = false;
            self.verdict.d.next = false;
            self.tail.d.next = 0.into();
            self.start.d.next = 0.into();
        }
    }
}

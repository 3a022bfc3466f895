//! Puts PAUSE frames between the frames to send, and starts none while the other side asks for a pause.
//!
//! ```text
//! fill → marks, registered → a frame is wanted ─→┐
//! in_* ────────────────────────────────────────→ one beat, registered → wire_*
//! ```
//!
//! A PAUSE frame is sent when `fill` reaches `high`; again, each half of the time asked for after the last one began, until
//! it is back at `low`; then one that asks for no time. It waits for the frame that is being sent, and goes before the
//! next; `hold` does not hold it. Nothing is sent when `quanta` is 0, as nothing could be asked for.
//!
//! Frames pass through one register, a beat a cycle; no cycle is lost between frames, PAUSE frames among them.

use crate::common::join::Join;
use crate::flow::pause_in::{ADDRESS, OPCODE, TYPE};
use crate::flow::timer::Timer;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W = 8·K bits, 8 ≤ K ≤ 64.
#[derive(LogicBlock)]
pub struct PauseOut<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_data: Signal<In, Bits<W>>,
    pub in_keep: Signal<In, Bits<K>>,
    pub in_last: Signal<In, Bit>,
    pub in_ready: Signal<Out, Bit>,
    pub wire_valid: Signal<Out, Bit>,
    pub wire_data: Signal<Out, Bits<W>>,
    pub wire_keep: Signal<Out, Bits<K>>,
    pub wire_last: Signal<Out, Bit>,
    pub wire_ready: Signal<In, Bit>,
    /// Start no frame.
    pub hold: Signal<In, Bit>,
    pub send_enable: Signal<In, Bit>,
    /// Of the packet FIFO, in the unit of the marks.
    pub fill: Signal<In, Bits<16>>,
    pub high: Signal<In, Bits<16>>,
    pub low: Signal<In, Bits<16>>,
    pub quanta: Signal<In, Bits<16>>,
    /// Cycles of a quantum.
    pub cycles: Signal<In, Bits<12>>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<In, Bits<48>>,
    /// A PAUSE frame is on its way.
    pub sent: Signal<Out, Bit>,
    timer: Timer,
    on: DFF<Bit>,
    above: DFF<Bit>,
    below: DFF<Bit>,
    // The other side has been asked, or is about to be.
    asked: DFF<Bit>,
    wanted: DFF<Bit>,
    wanted_quanta: DFF<Bits<16>>,
    frame: Join<16, 32, 512>,
    // The PAUSE frame's beats to come; 0 while none is being sent.
    rest: DFF<Bits<512>>,
    left: DFF<Bits<4>>,
    middle: DFF<Bit>,
    out_valid: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_keep: DFF<Bits<K>>,
    out_last: DFF<Bit>,
    sent_pulse: DFF<Bit>,
    free: Signal<Local, Bit>,
    pausing: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
    emit: Signal<Local, Bit>,
    own: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    ending: Signal<Local, Bit>,
    left_now: Signal<Local, Bits<4>>,
    bytes: Signal<Local, Bits<512>>,
    address: Signal<Local, Bits<48>>,
    pause_address: Constant<Bits<48>>,
    control_type: Constant<Bits<16>>,
    opcode: Constant<Bits<16>>,
    beats: Constant<Bits<4>>,
    one: Constant<Bits<4>>,
    beat_bits: Constant<Bits<10>>,
    full_keep: Constant<Bits<K>>,
    last_keep: Constant<Bits<K>>,
}

impl<const W: usize, const K: usize> Default for PauseOut<W, K> {
    fn default() -> Self {
        assert!(W == 8 * K && K.is_power_of_two() && (8..=64).contains(&K));
        let full: Bits<K> = !Bits::default();
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            in_keep: Default::default(),
            in_last: Default::default(),
            in_ready: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_ready: Default::default(),
            hold: Default::default(),
            send_enable: Default::default(),
            fill: Default::default(),
            high: Default::default(),
            low: Default::default(),
            quanta: Default::default(),
            cycles: Default::default(),
            own_mac: Default::default(),
            sent: Default::default(),
            timer: Default::default(),
            on: Default::default(),
            above: Default::default(),
            below: Default::default(),
            asked: Default::default(),
            wanted: Default::default(),
            wanted_quanta: Default::default(),
            frame: Default::default(),
            rest: Default::default(),
            left: Default::default(),
            middle: Default::default(),
            out_valid: Default::default(),
            out_data: Default::default(),
            out_keep: Default::default(),
            out_last: Default::default(),
            sent_pulse: Default::default(),
            free: Default::default(),
            pausing: Default::default(),
            start: Default::default(),
            emit: Default::default(),
            own: Default::default(),
            open: Default::default(),
            ending: Default::default(),
            left_now: Default::default(),
            bytes: Default::default(),
            address: Default::default(),
            pause_address: Constant::new(ADDRESS.into()),
            control_type: Constant::new(u64::from(TYPE.swap_bytes()).into()),
            opcode: Constant::new(u64::from(OPCODE.swap_bytes()).into()),
            beats: Constant::new((64 / K).to_bits()),
            one: Constant::new(1.into()),
            beat_bits: Constant::new(W.to_bits()),
            full_keep: Constant::new(full),
            // 60 bytes: four less than full beats.
            last_keep: Constant::new(full >> 4),
        }
    }
}

impl<const W: usize, const K: usize> Logic for PauseOut<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, on, above, below, asked, wanted, wanted_quanta, rest, left, middle);
        dff_setup!(self, clock, out_valid, out_data, out_keep, out_last, sent_pulse);
        self.timer.clock.next = self.clock.val();
        self.timer.reset.next = self.reset.val();

        // What goes next.
        self.free.next = !self.out_valid.q.val() | self.wire_ready.val();
        self.pausing.next = self.left.q.val() != 0;
        // From registers alone, because `free` comes late in its cycle.
        self.own.next = self.pausing.val() | (self.wanted.q.val() & !self.middle.q.val());
        self.open.next = !self.pausing.val() & (self.middle.q.val() | (!self.wanted.q.val() & !self.hold.val()));
        self.start.next = self.free.val() & self.wanted.q.val() & !self.middle.q.val() & !self.pausing.val();
        self.emit.next = self.free.val() & self.own.val();
        self.in_ready.next = self.free.val() & self.open.val();
        if self.free.val() & self.open.val() & self.in_valid.val() {
            self.middle.d.next = !self.in_last.val();
        }

        // The PAUSE frame.
        self.address.next = self.pause_address.val();
        self.frame.part[0].next = self.address.val().get_bits::<16>(0);
        self.frame.part[1].next = self.address.val().get_bits::<16>(16);
        self.frame.part[2].next = self.address.val().get_bits::<16>(32);
        self.frame.part[3].next = self.own_mac.val().get_bits::<16>(0);
        self.frame.part[4].next = self.own_mac.val().get_bits::<16>(16);
        self.frame.part[5].next = self.own_mac.val().get_bits::<16>(32);
        self.frame.part[6].next = self.control_type.val();
        self.frame.part[7].next = self.opcode.val();
        self.frame.part[8].next = (self.wanted_quanta.q.val() << 8) | (self.wanted_quanta.q.val() >> 8);
        for i in 9_usize..32 {
            self.frame.part[i].next = 0.into();
        }
        self.bytes.next = self.frame.whole.val();
        self.left_now.next = self.beats.val();
        if self.pausing.val() {
            self.bytes.next = self.rest.q.val();
            self.left_now.next = self.left.q.val();
        }
        self.ending.next = (self.pausing.val() & (self.left.q.val() == self.one.val()))
            | (!self.pausing.val() & (self.beats.val() == self.one.val()));
        if self.emit.val() {
            self.rest.d.next = self.bytes.val() >> self.beat_bits.val();
            self.left.d.next = self.left_now.val() - self.one.val();
        }
        self.sent_pulse.d.next = self.emit.val() & self.ending.val();
        self.sent.next = self.sent_pulse.q.val();

        // The beat.
        if self.free.val() {
            self.out_valid.d.next = self.own.val() | (self.open.val() & self.in_valid.val());
            self.out_data.d.next = self.in_data.val();
            self.out_keep.d.next = self.in_keep.val();
            self.out_last.d.next = self.in_last.val();
            if self.own.val() {
                self.out_data.d.next = self.bytes.val().get_bits::<W>(0);
                self.out_keep.d.next = self.full_keep.val();
                self.out_last.d.next = false;
                if self.ending.val() {
                    self.out_keep.d.next = self.last_keep.val();
                    self.out_last.d.next = true;
                }
            }
        }
        self.wire_valid.next = self.out_valid.q.val();
        self.wire_data.next = self.out_data.q.val();
        self.wire_keep.next = self.out_keep.q.val();
        self.wire_last.next = self.out_last.q.val();

        // When a PAUSE frame is wanted.
        self.on.d.next = self.send_enable.val() & (self.quanta.val() != 0);
        self.above.d.next = self.fill.val() >= self.high.val();
        self.below.d.next = self.fill.val() <= self.low.val();
        self.timer.load.next = self.start.val();
        self.timer.quanta.next = self.quanta.val();
        self.timer.cycles.next = self.cycles.val() >> 1;
        if self.start.val() {
            self.wanted.d.next = false;
        }
        if !self.on.q.val() {
            self.asked.d.next = false;
            self.wanted.d.next = false;
        } else if self.asked.q.val() {
            // Marks that lie the wrong way round must not make it ask and take back without end.
            if self.below.q.val() & !self.above.q.val() {
                self.asked.d.next = false;
                self.wanted.d.next = true;
                self.wanted_quanta.d.next = 0.into();
            } else if !self.wanted.q.val() & !self.timer.running.val() {
                self.wanted.d.next = true;
                self.wanted_quanta.d.next = self.quanta.val();
            }
        } else if self.above.q.val() {
            self.asked.d.next = true;
            self.wanted.d.next = true;
            self.wanted_quanta.d.next = self.quanta.val();
        }

        if self.reset.val() {
            self.on.d.next = false;
            self.asked.d.next = false;
            self.wanted.d.next = false;
            self.left.d.next = 0.into();
            self.middle.d.next = false;
            self.out_valid.d.next = false;
        }
    }
}

//! Received TLPs: completions to one side, requests to the other.
//!
//! ```text
//! rx ─→ beat register ─→ header gatherer ─→ decoder ─→ q_* (one request is held)
//!           └─→ shift by the header's length ─→ c_* (no back-pressure)
//! ```
//!
//! A beat is taken each cycle; a completion whose payload ends in an odd place costs one more. A completion
//! waits behind a request only while two requests are unanswered.
//!
//! The length in the header rules. A completion that is cut short never shows `c_last`, so its tag runs into the
//! time-out; what is too long is cut off. Requests with a wrong length are dropped. Each such TLP gives one
//! pulse on `bad`. Messages are dropped without one.

use crate::pcie::decode::Decode;
use crate::pcie::geometry::Geometry;
use crate::pcie::swap::Swap;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W data bits in L dwords a beat.
#[derive(LogicBlock, Default)]
pub struct TlpRx<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub rx_valid: Signal<In, Bit>,
    pub rx_data: Signal<In, Bits<W>>,
    pub rx_keep: Signal<In, Bits<L>>,
    pub rx_last: Signal<In, Bit>,
    pub rx_ready: Signal<Out, Bit>,
    pub c_valid: Signal<Out, Bit>,
    pub c_first: Signal<Out, Bit>,
    pub c_last: Signal<Out, Bit>,
    pub c_data: Signal<Out, Bits<W>>,
    pub c_tag: Signal<Out, Bits<8>>,
    pub c_status: Signal<Out, Bits<3>>,
    pub c_poisoned: Signal<Out, Bit>,
    pub c_byte_count: Signal<Out, Bits<13>>,
    pub c_lower: Signal<Out, Bits<7>>,
    pub c_dwords: Signal<Out, Bits<11>>,
    pub c_requester: Signal<Out, Bits<16>>,
    pub q_valid: Signal<Out, Bit>,
    pub q_kind: Signal<Out, Bits<3>>,
    pub q_addr: Signal<Out, Bits<64>>,
    pub q_target: Signal<Out, Bits<16>>,
    pub q_dwords: Signal<Out, Bits<11>>,
    pub q_first_be: Signal<Out, Bits<4>>,
    pub q_last_be: Signal<Out, Bits<4>>,
    pub q_requester: Signal<Out, Bits<16>>,
    pub q_tag: Signal<Out, Bits<8>>,
    pub q_tc: Signal<Out, Bits<3>>,
    pub q_attr: Signal<Out, Bits<2>>,
    pub q_data: Signal<Out, Bits<64>>,
    pub q_ready: Signal<In, Bit>,
    pub bad: Signal<Out, Bit>,

    // Beat register. `owed`: dwords of the TLP from this beat on, by its header.
    start: DFF<Bit>,
    beat_valid: DFF<Bit>,
    beat_first: DFF<Bit>,
    beat_last: DFF<Bit>,
    beat_data: DFF<Bits<W>>,
    beat_dwords: DFF<Bits<6>>,
    owed: DFF<Bits<12>>,
    digest: DFF<Bit>,
    hold: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<6>>,
    length: Signal<Local, Bits<10>>,
    extra: Signal<Local, Bits<12>>,
    payload: Signal<Local, Bits<12>>,

    // Header gatherer: the first six dwords of the TLP.
    step: Signal<Local, Bit>,
    index: DFF<Bits<2>>,
    now: Signal<Local, Bits<2>>,
    head: DFF<Bits<192>>,
    wide: Signal<Local, Bits<192>>,
    opcode: Signal<Local, Bits<8>>,
    completion: DFF<Bit>,
    is_completion: Signal<Local, Bit>,
    short: Signal<Local, Bit>,
    long: Signal<Local, Bit>,
    wrong_before: Signal<Local, Bit>,
    wrong: DFF<Bit>,
    ended: DFF<Bit>,
    swap: Swap<192, 6>,
    header: Signal<Local, Bits<192>>,

    // Completions. `over`: the last dword has been passed on.
    previous: DFF<Bits<W>>,
    begun: DFF<Bit>,
    over: DFF<Bit>,
    flush: DFF<Bit>,
    reach: Signal<Local, Bits<12>>,
    final_beat: Signal<Local, Bit>,
    emit: Signal<Local, Bit>,
    out_valid: DFF<Bit>,
    out_first: DFF<Bit>,
    out_last: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_tag: DFF<Bits<8>>,
    out_status: DFF<Bits<3>>,
    out_poisoned: DFF<Bit>,
    out_byte_count: DFF<Bits<13>>,
    out_lower: DFF<Bits<7>>,
    out_dwords: DFF<Bits<11>>,
    out_requester: DFF<Bits<16>>,

    // Requests.
    decode: Decode,
    asked: DFF<Bit>,
    ask_kind: DFF<Bits<3>>,
    ask_addr: DFF<Bits<64>>,
    ask_target: DFF<Bits<16>>,
    ask_dwords: DFF<Bits<11>>,
    ask_first_be: DFF<Bits<4>>,
    ask_last_be: DFF<Bits<4>>,
    ask_requester: DFF<Bits<16>>,
    ask_tag: DFF<Bits<8>>,
    ask_tc: DFF<Bits<3>>,
    ask_attr: DFF<Bits<2>>,
    ask_data: DFF<Bits<64>>,
    refused: DFF<Bit>,

    geometry: Geometry<W, L>,
}

impl<const W: usize, const L: usize> Logic for TlpRx<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, start, beat_valid, beat_first, beat_last, beat_data, beat_dwords, owed, digest);
        dff_setup!(self, clock, index, head, completion, wrong, ended, previous, begun, over, flush);
        dff_setup!(self, clock, out_valid, out_first, out_last, out_data, out_tag, out_status, out_poisoned);
        dff_setup!(self, clock, out_byte_count, out_lower, out_dwords, out_requester);
        dff_setup!(self, clock, asked, ask_kind, ask_addr, ask_target, ask_dwords, ask_first_be, ask_last_be);
        dff_setup!(self, clock, ask_requester, ask_tag, ask_tc, ask_attr, ask_data, refused);

        // Beat register. The first beat of a TLP has its length; fmt bit 0 is a fourth header dword, bit 1 a payload.
        self.hold.next = self.flush.q.val() | (self.ended.q.val() & !self.completion.q.val() & self.asked.q.val());
        self.rx_ready.next = !self.hold.val();
        self.dwords.next = 0.into();
        for i in 0_usize..L {
            if self.rx_keep.val().get_bit(i) {
                self.dwords.next = i.to_bits::<6>() + 1;
            }
        }
        self.length.next = (bit_cast::<10, 2>(self.rx_data.val().get_bits::<2>(16)) << 8)
            | bit_cast::<10, 8>(self.rx_data.val().get_bits::<8>(24));
        self.payload.next = 0.into();
        if self.rx_data.val().get_bit(6) {
            self.payload.next = bit_cast::<12, 10>(self.length.val());
            if self.length.val() == 0 {
                self.payload.next = 1024.into();
            }
        }
        self.extra.next = 3.into();
        if self.rx_data.val().get_bit(5) & self.rx_data.val().get_bit(23) {
            self.extra.next = 5.into();
        } else if self.rx_data.val().get_bit(5) | self.rx_data.val().get_bit(23) {
            self.extra.next = 4.into();
        }
        if !self.hold.val() {
            self.beat_valid.d.next = self.rx_valid.val();
            self.beat_first.d.next = self.start.q.val();
            self.beat_last.d.next = self.rx_last.val();
            self.beat_data.d.next = self.rx_data.val();
            self.beat_dwords.d.next = self.dwords.val();
            if self.rx_valid.val() {
                self.start.d.next = self.rx_last.val();
                if self.start.q.val() {
                    self.owed.d.next = self.payload.val() + self.extra.val();
                    self.digest.d.next = self.rx_data.val().get_bit(23);
                } else if self.owed.q.val() > self.geometry.lanes.val() {
                    self.owed.d.next = self.owed.q.val() - self.geometry.lanes.val();
                } else {
                    self.owed.d.next = 0.into();
                }
            }
        }

        // Header gatherer.
        self.step.next = self.beat_valid.q.val() & !self.hold.val();
        self.now.next = self.index.q.val();
        if self.beat_first.q.val() {
            self.now.next = 0.into();
        }
        self.opcode.next = self.beat_data.q.val().get_bits::<8>(0);
        self.is_completion.next = self.completion.q.val();
        if self.beat_first.q.val() {
            self.is_completion.next = (self.opcode.val() == 10) | (self.opcode.val() == 74);
        }
        self.short.next =
            self.beat_last.q.val() & (bit_cast::<12, 6>(self.beat_dwords.q.val()) < self.owed.q.val());
        self.long.next = (self.beat_last.q.val() & (bit_cast::<12, 6>(self.beat_dwords.q.val()) > self.owed.q.val()))
            | (!self.beat_last.q.val() & (self.owed.q.val() <= self.geometry.lanes.val()));
        self.wrong_before.next = self.wrong.q.val() & !self.beat_first.q.val();
        self.wide.next = bit_cast::<192, W>(self.beat_data.q.val());
        self.ended.d.next = self.ended.q.val() & !self.completion.q.val() & self.asked.q.val();
        if self.step.val() {
            // Each beat fills its own part; behind the end of a TLP lies what was there before.
            match self.now.val().index() {
                0 => {
                    self.head.d.next = (self.head.q.val() & (self.geometry.second.val() | self.geometry.third.val()))
                        | self.wide.val();
                    self.index.d.next = 1.into();
                }
                1 => {
                    self.head.d.next = (self.head.q.val() & !self.geometry.second.val())
                        | (self.wide.val() << self.geometry.beat.val());
                    self.index.d.next = 2.into();
                }
                2 => {
                    self.head.d.next = (self.head.q.val() & !self.geometry.third.val())
                        | (self.wide.val() << self.geometry.two_beats.val());
                    self.index.d.next = 3.into();
                }
                _ => {}
            }
            self.previous.d.next = self.beat_data.q.val();
            self.completion.d.next = self.is_completion.val();
            self.wrong.d.next = self.wrong_before.val() | self.short.val() | self.long.val();
            self.ended.d.next = self.beat_last.q.val();
        }
        self.swap.a.next = self.head.q.val();
        self.header.next = self.swap.b.val();

        // Completions: a beat goes out made of the end of the beat before and the start of this one; what then is
        // left of the last beat goes out in a cycle of its own.
        self.reach.next = self.geometry.lane3.val();
        if self.digest.q.val() {
            self.reach.next = self.geometry.lane3.val() + 1;
        }
        self.final_beat.next = self.owed.q.val() <= self.reach.val();
        self.emit.next = false;
        self.flush.d.next = false;
        self.out_first.d.next = !self.begun.q.val();
        if self.step.val() {
            if self.beat_first.q.val() {
                self.begun.d.next = false;
                self.over.d.next = false;
            }
            if self.is_completion.val() {
                if self.now.val() > self.geometry.beat3.val() {
                    self.emit.next = !self.over.q.val();
                    self.over.d.next = self.over.q.val() | self.final_beat.val();
                    self.flush.d.next = self.beat_last.q.val()
                        & !self.short.val()
                        & !self.over.q.val()
                        & !self.final_beat.val();
                } else if self.now.val() == self.geometry.beat3.val() {
                    self.flush.d.next = self.beat_last.q.val() & !self.short.val();
                }
            }
        }
        self.out_data.d.next = (self.previous.q.val() >> self.geometry.bit3.val())
            | (self.beat_data.q.val() << self.geometry.rest3.val());
        self.out_last.d.next = self.final_beat.val() & !self.short.val();
        if self.flush.q.val() {
            self.emit.next = true;
            self.out_data.d.next = self.previous.q.val() >> self.geometry.bit3.val();
            self.out_last.d.next = true;
        }
        self.out_valid.d.next = self.emit.val();
        if self.emit.val() {
            self.begun.d.next = true;
        }
        // Taken over again and again until the first beat goes out, because it is known late that it does.
        if !self.begun.q.val() {
            self.out_poisoned.d.next = self.header.val().get_bit(14);
            self.out_status.d.next = self.header.val().get_bits::<3>(45);
            self.out_byte_count.d.next = bit_cast::<13, 12>(self.header.val().get_bits::<12>(32));
            if self.header.val().get_bits::<12>(32) == 0 {
                self.out_byte_count.d.next = 4096.into();
            }
            self.out_requester.d.next = self.header.val().get_bits::<16>(80);
            self.out_tag.d.next = self.header.val().get_bits::<8>(72);
            self.out_lower.d.next = self.header.val().get_bits::<7>(64);
            self.out_dwords.d.next = bit_cast::<11, 10>(self.header.val().get_bits::<10>(0));
            if !self.header.val().get_bit(30) {
                self.out_dwords.d.next = 0.into();
            } else if self.header.val().get_bits::<10>(0) == 0 {
                self.out_dwords.d.next = 1024.into();
            }
        }
        self.c_valid.next = self.out_valid.q.val();
        self.c_first.next = self.out_first.q.val();
        self.c_last.next = self.out_last.q.val();
        self.c_data.next = self.out_data.q.val();
        self.c_tag.next = self.out_tag.q.val();
        self.c_status.next = self.out_status.q.val();
        self.c_poisoned.next = self.out_poisoned.q.val();
        self.c_byte_count.next = self.out_byte_count.q.val();
        self.c_lower.next = self.out_lower.q.val();
        self.c_dwords.next = self.out_dwords.q.val();
        self.c_requester.next = self.out_requester.q.val();

        // Requests.
        self.decode.operation.next = self.header.val().get_bits::<8>(24);
        self.decode.length.next = self.header.val().get_bits::<10>(0);
        self.decode.poisoned.next = self.header.val().get_bit(14);
        self.refused.d.next = false;
        if self.q_ready.val() {
            self.asked.d.next = false;
        }
        if self.ended.q.val() & self.completion.q.val() {
            self.refused.d.next = self.wrong.q.val();
        } else if self.ended.q.val() & !self.asked.q.val() {
            self.asked.d.next = self.decode.good.val() & !self.wrong.q.val();
            self.refused.d.next = self.wrong.q.val() | (!self.decode.good.val() & !self.decode.message.val());
            self.ask_kind.d.next = self.decode.kind.val();
            self.ask_dwords.d.next = bit_cast::<11, 10>(self.header.val().get_bits::<10>(0));
            if self.header.val().get_bits::<10>(0) == 0 {
                self.ask_dwords.d.next = 1024.into();
            }
            self.ask_tc.d.next = self.header.val().get_bits::<3>(20);
            self.ask_attr.d.next = self.header.val().get_bits::<2>(12);
            self.ask_first_be.d.next = self.header.val().get_bits::<4>(32);
            self.ask_last_be.d.next = self.header.val().get_bits::<4>(36);
            self.ask_tag.d.next = self.header.val().get_bits::<8>(40);
            self.ask_requester.d.next = self.header.val().get_bits::<16>(48);
            self.ask_target.d.next = self.header.val().get_bits::<16>(80);
            if self.header.val().get_bit(29) {
                self.ask_addr.d.next = (bit_cast::<64, 32>(self.header.val().get_bits::<32>(64)) << 32)
                    | (bit_cast::<64, 30>(self.header.val().get_bits::<30>(98)) << 2);
                self.ask_data.d.next = self.head.q.val().get_bits::<64>(128);
            } else {
                self.ask_addr.d.next = bit_cast::<64, 30>(self.header.val().get_bits::<30>(66)) << 2;
                if self.header.val().get_bits::<5>(24) != 0 {
                    self.ask_addr.d.next = bit_cast::<64, 10>(self.header.val().get_bits::<10>(66)) << 2;
                }
                self.ask_data.d.next = self.head.q.val().get_bits::<64>(96);
            }
        }
        self.q_valid.next = self.asked.q.val();
        self.q_kind.next = self.ask_kind.q.val();
        self.q_addr.next = self.ask_addr.q.val();
        self.q_target.next = self.ask_target.q.val();
        self.q_dwords.next = self.ask_dwords.q.val();
        self.q_first_be.next = self.ask_first_be.q.val();
        self.q_last_be.next = self.ask_last_be.q.val();
        self.q_requester.next = self.ask_requester.q.val();
        self.q_tag.next = self.ask_tag.q.val();
        self.q_tc.next = self.ask_tc.q.val();
        self.q_attr.next = self.ask_attr.q.val();
        self.q_data.next = self.ask_data.q.val();
        self.bad.next = self.refused.q.val();

        if self.reset.val() {
            self.start.d.next = true;
            self.beat_valid.d.next = false;
            self.ended.d.next = false;
            self.flush.d.next = false;
            self.out_valid.d.next = false;
            self.asked.d.next = false;
            self.refused.d.next = false;
        }
    }
}

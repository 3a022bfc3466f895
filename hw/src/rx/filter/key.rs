//! Which kinds a frame is looked up for, and the key and buckets of each.
//!
//! ```text
//! frame, kinds → kinds in use whose fields the frame has → lowest one left → masked key → fold → buckets → pass
//! ```
//!
//! A look-up is a run of *passes*, one a kind, lowest first; a frame that no kind is for gets one *empty* pass, which
//! reads no row. The kinds are taken as they are when the look-up begins. While one pass is being read, the next is
//! made ready: three cycles, so a pass every four cycles goes out; empty ones every second cycle.
//!
//! `frame` is laid out as a row (see [`super::Filter`]): what it lacks in bits 5:0 of word 3, kind by kind as in KIND;
//! dst in 7:6; place in the address hash in 24:16. The key is a row with its kind and no validity, action, queue, tag.

use crate::common::join::Join;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Keys {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The build has filters; else every pass is empty.
    pub enabled: Signal<In, Bit>,
    /// Fields of kind i in bits 6i+5:6i.
    pub kinds: Signal<In, Bits<24>>,
    /// Another look-up may begin.
    pub room: Signal<In, Bit>,
    pub frame_valid: Signal<In, Bit>,
    pub frame: Signal<In, Bits<384>>,
    pub frame_ready: Signal<Out, Bit>,
    pub pass_valid: Signal<Out, Bit>,
    pub pass_ready: Signal<In, Bit>,
    pub key: Signal<Out, Bits<384>>,
    pub first_bucket: Signal<Out, Bits<8>>,
    pub second_bucket: Signal<Out, Bits<8>>,
    pub empty: Signal<Out, Bit>,
    /// The frame's last pass.
    pub last: Signal<Out, Bit>,
    pub dst: Signal<Out, Bits<2>>,
    pub place: Signal<Out, Bits<9>>,
    // The look-up that has begun: kinds still to do, and the fields of all kinds.
    begun: DFF<Bit>,
    to_do: DFF<Bits<4>>,
    fields: DFF<Bits<24>>,
    // The kinds, and which of them are in use.
    kinds_now: DFF<Bits<24>>,
    live: DFF<Bits<4>>,
    // The pass that is being made ready.
    full: DFF<Bit>,
    age: DFF<Bits<2>>,
    is_empty: DFF<Bit>,
    is_last: DFF<Bit>,
    who: DFF<Bits<2>>,
    hash: DFF<Bits<9>>,
    number: DFF<Bits<2>>,
    dmac: DFF<Bits<48>>,
    ethertype: DFF<Bits<16>>,
    port: DFF<Bits<16>>,
    vid: DFF<Bits<12>>,
    l4: DFF<Bits<3>>,
    l3: DFF<Bits<3>>,
    source: DFF<Bits<128>>,
    destination: DFF<Bits<128>>,
    fold: DFF<Bits<32>>,
    first: DFF<Bits<8>>,
    second: DFF<Bits<8>>,
    lacks: Signal<Local, Bits<6>>,
    kind: Signal<Local, Bits<6>>,
    asked: Signal<Local, Bits<6>>,
    usable: Signal<Local, Bits<4>>,
    lowest: Signal<Local, Bits<2>>,
    left: Signal<Local, Bits<4>>,
    wanted: Signal<Local, Bits<6>>,
    ready: Signal<Local, Bit>,
    load: Signal<Local, Bit>,
    words: [Signal<Local, Bits<32>>; 12],
    row: Join<32, 12, 384>,
}

impl Logic for Keys {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, begun, to_do, fields, kinds_now, live, full, age, is_empty, is_last, who, hash, number);
        dff_setup!(self, clock, dmac, ethertype, port, vid, l4, l3, source, destination, fold, first, second);

        // A kind of which the frame lacks a field cannot match.
        self.lacks.next = self.frame.val().get_bits::<6>(96);
        self.kinds_now.d.next = self.kinds.val();
        self.usable.next = 0.into();
        self.kind.next = 0.into();
        self.asked.next = 0.into();
        for i in 0_usize..4 {
            self.asked.next = self.kinds.val().get_bits::<6>(6 * i);
            self.live.d.next =
                self.live.d.val().replace_bit(i, self.enabled.val() & (self.asked.val() != 0));
            self.kind.next = self.kinds_now.q.val().get_bits::<6>(6 * i);
            self.usable.next = self
                .usable
                .val()
                .replace_bit(i, self.live.q.val().get_bit(i) & ((self.kind.val() & self.lacks.val()) == 0));
        }
        if (self.frame_valid.val() & self.room.val()) & !self.begun.q.val() {
            self.begun.d.next = true;
            self.to_do.d.next = self.usable.val();
            self.fields.d.next = self.kinds_now.q.val();
        }

        // The lowest kind left.
        self.lowest.next = 0.into();
        self.left.next = 0.into();
        if self.to_do.q.val().get_bit(0) {
            self.left.next = self.to_do.q.val() & 14;
        } else if self.to_do.q.val().get_bit(1) {
            self.lowest.next = 1.into();
            self.left.next = self.to_do.q.val() & 12;
        } else if self.to_do.q.val().get_bit(2) {
            self.lowest.next = 2.into();
            self.left.next = self.to_do.q.val() & 8;
        } else if self.to_do.q.val().get_bit(3) {
            self.lowest.next = 3.into();
        }
        self.wanted.next = 0.into();
        for i in 0_usize..4 {
            if self.lowest.val().index() == i {
                self.wanted.next = self.fields.q.val().get_bits::<6>(6 * i);
            }
        }

        self.ready.next = self.full.q.val() & (self.is_empty.q.val() | (self.age.q.val() == 2));
        self.load.next = self.begun.q.val() & !self.full.q.val();
        if self.age.q.val() != 2 {
            self.age.d.next = self.age.q.val() + 1;
        }
        if self.ready.val() & self.pass_ready.val() {
            self.full.d.next = false;
        }
        self.frame_ready.next = self.load.val() & (self.left.val() == 0);
        if self.load.val() {
            self.full.d.next = true;
            self.age.d.next = 0.into();
            self.to_do.d.next = self.left.val();
            if self.left.val() == 0 {
                self.begun.d.next = false;
            }
        }
        // Loaded whenever there is room: what a load that does not count leaves here, nobody looks at.
        if !self.full.q.val() {
            self.is_empty.d.next = self.to_do.q.val() == 0;
            self.is_last.d.next = self.left.val() == 0;
            self.who.d.next = self.frame.val().get_bits::<2>(102);
            self.hash.d.next = self.frame.val().get_bits::<9>(112);
            self.number.d.next = self.lowest.val();
            // Written so that each field's mask becomes the synchronous reset of its registers.
            if self.wanted.val().get_bit(0) {
                self.dmac.d.next = self.frame.val().get_bits::<48>(0);
            } else {
                self.dmac.d.next = 0.into();
            }
            if self.wanted.val().get_bit(1) {
                self.vid.d.next = self.frame.val().get_bits::<12>(80);
            } else {
                self.vid.d.next = 0.into();
            }
            if self.wanted.val().get_bit(2) {
                self.ethertype.d.next = self.frame.val().get_bits::<16>(48);
            } else {
                self.ethertype.d.next = 0.into();
            }
            if self.wanted.val().get_bit(3) {
                self.source.d.next = self.frame.val().get_bits::<128>(128);
            } else {
                self.source.d.next = 0.into();
            }
            if self.wanted.val().get_bit(4) {
                self.destination.d.next = self.frame.val().get_bits::<128>(256);
            } else {
                self.destination.d.next = 0.into();
            }
            if self.wanted.val().get_bit(3) | self.wanted.val().get_bit(4) {
                self.l3.d.next = self.frame.val().get_bits::<3>(108);
            } else {
                self.l3.d.next = 0.into();
            }
            if self.wanted.val().get_bit(5) {
                self.port.d.next = self.frame.val().get_bits::<16>(64);
                self.l4.d.next = self.frame.val().get_bits::<3>(92);
            } else {
                self.port.d.next = 0.into();
                self.l4.d.next = 0.into();
            }
        }

        self.words[0].next = self.dmac.q.val().get_bits::<32>(0);
        self.words[1].next = bit_cast::<32, 16>(self.dmac.q.val().get_bits::<16>(32))
            | (bit_cast::<32, 16>(self.ethertype.q.val()) << 16);
        self.words[2].next = bit_cast::<32, 16>(self.port.q.val())
            | (bit_cast::<32, 12>(self.vid.q.val()) << 16)
            | (bit_cast::<32, 3>(self.l4.q.val()) << 28);
        self.words[3].next = bit_cast::<32, 2>(self.number.q.val()) | (bit_cast::<32, 3>(self.l3.q.val()) << 12);
        for i in 0_usize..4 {
            self.words[4 + i].next = self.source.q.val().get_bits::<32>(32 * i);
            self.words[8 + i].next = self.destination.q.val().get_bits::<32>(32 * i);
        }
        for i in 0_usize..12 {
            self.row.part[i].next = self.words[i].val();
        }
        self.key.next = self.row.whole.val();

        // `Key::buckets` of the contract: word i rotated left by 5i mod 32.
        self.fold.d.next = self.words[0].val()
            ^ ((self.words[1].val() << 5) | (self.words[1].val() >> 27))
            ^ ((self.words[2].val() << 10) | (self.words[2].val() >> 22))
            ^ ((self.words[3].val() << 15) | (self.words[3].val() >> 17))
            ^ ((self.words[4].val() << 20) | (self.words[4].val() >> 12))
            ^ ((self.words[5].val() << 25) | (self.words[5].val() >> 7))
            ^ ((self.words[6].val() << 30) | (self.words[6].val() >> 2))
            ^ ((self.words[7].val() << 3) | (self.words[7].val() >> 29))
            ^ ((self.words[8].val() << 8) | (self.words[8].val() >> 24))
            ^ ((self.words[9].val() << 13) | (self.words[9].val() >> 19))
            ^ ((self.words[10].val() << 18) | (self.words[10].val() >> 14))
            ^ ((self.words[11].val() << 23) | (self.words[11].val() >> 9));
        self.first.d.next = self.fold.q.val().get_bits::<8>(0)
            ^ self.fold.q.val().get_bits::<8>(8)
            ^ self.fold.q.val().get_bits::<8>(16)
            ^ self.fold.q.val().get_bits::<8>(24);
        self.second.d.next = self.fold.q.val().get_bits::<8>(0)
            ^ self.fold.q.val().get_bits::<8>(7)
            ^ self.fold.q.val().get_bits::<8>(14)
            ^ self.fold.q.val().get_bits::<8>(21)
            ^ bit_cast::<8, 4>(self.fold.q.val().get_bits::<4>(28));

        self.pass_valid.next = self.ready.val();
        self.first_bucket.next = self.first.q.val();
        self.second_bucket.next = self.second.q.val();
        self.empty.next = self.is_empty.q.val();
        self.last.next = self.is_last.q.val();
        self.dst.next = self.who.q.val();
        self.place.next = self.hash.q.val();

        if self.reset.val() {
            self.begun.d.next = false;
            self.to_do.d.next = 0.into();
            self.full.d.next = false;
        }
    }
}

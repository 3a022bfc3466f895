//! The table of exact filters: 512 rows in block RAM, and the search of a frame's passes in it.
//!
//! ```text
//! pass → four rows of two buckets → differences → none? → first match of all passes → result, one a frame
//! ```
//!
//! **Reading.** A row a cycle; the first in the cycle in which the pass is taken (`pass_ready`), so passes follow each
//! other every four cycles. An empty pass takes one cycle. `place`, for the address hash, is shown in the cycle in which a
//! frame's last row has come out of the RAM; the frame's result is there three cycles later.
//!
//! **Changes** of a row or of a word of the address hash wait for the gap between two look-ups, and hold the next one
//! back: a look-up sees all of a change or nothing, and no row is read while it is written. A change waits for one
//! look-up at most: 17 cycles with four kinds.

use crate::common::ram::Ram;
use ferronic_contract::field::Field;
use ferronic_contract::registers::filter::{ROW_DESTINATION, ROW_FIELDS, ROW_SOURCE, ROW_VALID};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Rows {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub pass_valid: Signal<In, Bit>,
    pub pass_ready: Signal<Out, Bit>,
    pub key: Signal<In, Bits<384>>,
    pub first_bucket: Signal<In, Bits<8>>,
    pub second_bucket: Signal<In, Bits<8>>,
    pub empty: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub dst: Signal<In, Bits<2>>,
    pub pass_place: Signal<In, Bits<9>>,
    pub change_valid: Signal<In, Bit>,
    /// The change is that of a row.
    pub change_is_row: Signal<In, Bit>,
    pub change_row: Signal<In, Bits<9>>,
    pub change_data: Signal<In, Bits<384>>,
    /// Now.
    pub change_ready: Signal<Out, Bit>,
    pub place: Signal<Out, Bits<9>>,
    pub result_valid: Signal<Out, Bit>,
    pub hit: Signal<Out, Bit>,
    /// Word 3 of the row that matched.
    pub what: Signal<Out, Bits<32>>,
    pub result_dst: Signal<Out, Bits<2>>,
    ram: Ram<384, 9>,
    // The pass that is being read; `phase` 3 is its last row, and rest.
    busy: DFF<Bit>,
    phase: DFF<Bits<2>>,
    held_key: DFF<Bits<384>>,
    held_first: DFF<Bits<8>>,
    held_second: DFF<Bits<8>>,
    held_empty: DFF<Bit>,
    held_last: DFF<Bit>,
    held_dst: DFF<Bits<2>>,
    held_place: DFF<Bits<9>>,
    // A frame has had a pass and will have another.
    midway: DFF<Bit>,
    // First step after the RAM: differences, four bits at a time.
    same: DFF<Bits<96>>,
    a_live: DFF<Bit>,
    a_end: DFF<Bit>,
    a_dst: DFF<Bits<2>>,
    a_what: DFF<Bits<32>>,
    // Second: the row matches.
    b_match: DFF<Bit>,
    b_end: DFF<Bit>,
    b_dst: DFF<Bits<2>>,
    b_what: DFF<Bits<32>>,
    // Third: the first match.
    found: DFF<Bit>,
    kept: DFF<Bits<32>>,
    c_end: DFF<Bit>,
    c_hit: DFF<Bit>,
    c_dst: DFF<Bits<2>>,
    idle: Signal<Local, Bit>,
    hold: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    bucket: Signal<Local, Bits<8>>,
    odd: Signal<Local, Bit>,
    row: Signal<Local, Bits<384>>,
    differ: Signal<Local, Bits<384>>,
    part: Signal<Local, Bits<4>>,
    heeded: Constant<Bits<384>>,
    valid_bit: Constant<Bits<384>>,
}

/// The bits of a field in a row.
fn mask(field: Field) -> Bits<384> {
    Bits::<384>::from(u64::from(field.mask())) << (32 * field.word).to_bits::<9>()
}

/// All that is compared: fields, kind, and validity, which the key gets as 1.
fn heeded() -> Bits<384> {
    let fields = ROW_FIELDS.iter().filter(|field| !["ACTION", "QUEUE", "TAG"].contains(&field.name));
    let words = |first: Field| (0..4).map(move |i| Field { word: first.word + i, ..first });
    let addresses = [ROW_SOURCE, ROW_DESTINATION].into_iter().flat_map(words);
    fields.copied().chain(addresses).fold(0.into(), |all, field| all | mask(field))
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            pass_valid: Default::default(),
            pass_ready: Default::default(),
            key: Default::default(),
            first_bucket: Default::default(),
            second_bucket: Default::default(),
            empty: Default::default(),
            last: Default::default(),
            dst: Default::default(),
            pass_place: Default::default(),
            change_valid: Default::default(),
            change_is_row: Default::default(),
            change_row: Default::default(),
            change_data: Default::default(),
            change_ready: Default::default(),
            place: Default::default(),
            result_valid: Default::default(),
            hit: Default::default(),
            what: Default::default(),
            result_dst: Default::default(),
            ram: Default::default(),
            busy: Default::default(),
            phase: Default::default(),
            held_key: Default::default(),
            held_first: Default::default(),
            held_second: Default::default(),
            held_empty: Default::default(),
            held_last: Default::default(),
            held_dst: Default::default(),
            held_place: Default::default(),
            midway: Default::default(),
            same: Default::default(),
            a_live: Default::default(),
            a_end: Default::default(),
            a_dst: Default::default(),
            a_what: Default::default(),
            b_match: Default::default(),
            b_end: Default::default(),
            b_dst: Default::default(),
            b_what: Default::default(),
            found: Default::default(),
            kept: Default::default(),
            c_end: Default::default(),
            c_hit: Default::default(),
            c_dst: Default::default(),
            idle: Default::default(),
            hold: Default::default(),
            step: Default::default(),
            bucket: Default::default(),
            odd: Default::default(),
            row: Default::default(),
            differ: Default::default(),
            part: Default::default(),
            heeded: Constant::new(heeded()),
            valid_bit: Constant::new(mask(ROW_VALID)),
        }
    }
}

impl Logic for Rows {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, phase, held_key, held_first, held_second, held_empty, held_last, held_dst);
        dff_setup!(self, clock, held_place, midway, same, a_live, a_end, a_dst, a_what, b_match, b_end, b_dst, b_what);
        dff_setup!(self, clock, found, kept, c_end, c_hit, c_dst);
        self.ram.clock.next = self.clock.val();

        self.idle.next = !self.busy.q.val() | (self.phase.q.val() == 3);
        self.hold.next = self.change_valid.val() & !self.midway.q.val();
        self.pass_ready.next = self.idle.val() & !self.hold.val();
        self.step.next = self.pass_valid.val() & (self.idle.val() & !self.hold.val());
        self.change_ready.next = self.hold.val() & !self.busy.q.val();
        self.ram.write_enable.next = (self.hold.val() & !self.busy.q.val()) & self.change_is_row.val();
        self.ram.write_address.next = self.change_row.val();
        self.ram.write_data.next = self.change_data.val();

        if self.phase.q.val() == 3 {
            self.busy.d.next = false;
        } else {
            self.phase.d.next = self.phase.q.val() + 1;
        }
        if self.step.val() {
            self.busy.d.next = true;
            self.midway.d.next = !self.last.val();
            if !self.empty.val() {
                self.phase.d.next = 0.into();
            }
            self.held_key.d.next = self.key.val() | self.valid_bit.val();
            self.held_first.d.next = self.first_bucket.val();
            self.held_second.d.next = self.second_bucket.val();
            self.held_empty.d.next = self.empty.val();
            self.held_last.d.next = self.last.val();
            self.held_dst.d.next = self.dst.val();
            self.held_place.d.next = self.pass_place.val();
        }

        // At rest the first row of the pass to come is read, so that it is there when the pass is taken.
        self.bucket.next = self.first_bucket.val();
        self.odd.next = false;
        match self.phase.q.val().index() {
            0 => {
                self.bucket.next = self.held_first.q.val();
                self.odd.next = true;
            }
            1 => {
                self.bucket.next = self.held_second.q.val();
            }
            2 => {
                self.bucket.next = self.held_second.q.val();
                self.odd.next = true;
            }
            _ => {}
        }
        self.ram.read_enable.next = true;
        self.ram.read_address.next =
            (bit_cast::<9, 8>(self.bucket.val()) << 1) | bit_cast::<9, 1>(self.odd.val().into());
        self.place.next = self.held_place.q.val();

        self.row.next = self.ram.read_data.val();
        self.differ.next = (self.row.val() ^ self.held_key.q.val()) & self.heeded.val();
        self.same.d.next = 0.into();
        self.part.next = 0.into();
        for i in 0_usize..96 {
            self.part.next = self.differ.val().get_bits::<4>(4 * i);
            self.same.d.next = self.same.d.val().replace_bit(i, self.part.val() == 0);
        }
        self.a_what.d.next = self.row.val().get_bits::<32>(96);
        self.a_live.d.next = self.busy.q.val() & !self.held_empty.q.val();
        self.a_end.d.next = (self.busy.q.val() & (self.phase.q.val() == 3)) & self.held_last.q.val();
        self.a_dst.d.next = self.held_dst.q.val();

        self.b_match.d.next = self.same.q.val().all() & self.a_live.q.val();
        self.b_end.d.next = self.a_end.q.val();
        self.b_dst.d.next = self.a_dst.q.val();
        self.b_what.d.next = self.a_what.q.val();

        if !self.found.q.val() {
            self.kept.d.next = self.b_what.q.val();
        }
        self.c_hit.d.next = self.found.q.val() | self.b_match.q.val();
        self.found.d.next = (self.found.q.val() | self.b_match.q.val()) & !self.b_end.q.val();
        self.c_end.d.next = self.b_end.q.val();
        self.c_dst.d.next = self.b_dst.q.val();

        self.result_valid.next = self.c_end.q.val();
        self.hit.next = self.c_hit.q.val();
        self.what.next = self.kept.q.val();
        self.result_dst.next = self.c_dst.q.val();

        if self.reset.val() {
            self.busy.d.next = false;
            self.phase.d.next = 3.into();
            self.midway.d.next = false;
            self.a_live.d.next = false;
            self.a_end.d.next = false;
            self.b_match.d.next = false;
            self.b_end.d.next = false;
            self.found.d.next = false;
            self.c_end.d.next = false;
        }
    }
}

//! Takes the outer VLAN tag out of a frame, and keeps it.
//!
//! ```text
//! wire → register ─┬→ beat held back ─┬→ upper bytes ─┐
//!                  └──── next beat ───┴→ low 4 bytes ─┴→ s_*
//! ```
//!
//! Bytes 12 to 15 go when they are a tag of a kind that is enabled and a type follows them: 18 bytes or more. All behind
//! them moves up by four bytes: a beat is put together from the upper bytes of the one held back and the first four of
//! the one behind it. A last beat that is used up by this is left out, and the beat before it becomes the last.
//!
//! A beat leaves when its successor comes, the last by itself: `s_last` is [`LATENCY`] cycles behind `wire_last`, or one
//! less when the last beat was used up. A beat a cycle, frames of any length back to back.
//!
//! `s_info` is the TCI (15:0), stripped (16), stripped a service tag (17), and the time at the wire's first beat (49:18).
//! It belongs to the beat with `s_last`; at 64 bits the first beat leaves before the tag is known.

use ferronic_contract::class::{TPID_C, TPID_S};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from the wire's last beat to the one that leaves.
pub const LATENCY: usize = 3;
/// Where the tag begins.
const TAG: usize = 12;
/// The last byte of the type behind the tag.
const TYPE_END: usize = 17;

/// W = 8·K bits, 8 ≤ K ≤ 64.
#[derive(LogicBlock)]
pub struct Strip<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub wire_valid: Signal<In, Bit>,
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_keep: Signal<In, Bits<K>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    pub strip_c: Signal<In, Bit>,
    pub strip_s: Signal<In, Bit>,
    /// The time; Verilog has taken the word.
    pub now: Signal<In, Bits<32>>,
    pub s_valid: Signal<Out, Bit>,
    pub s_data: Signal<Out, Bits<W>>,
    pub s_keep: Signal<Out, Bits<K>>,
    pub s_last: Signal<Out, Bit>,
    pub s_error: Signal<Out, Bit>,
    pub s_info: Signal<Out, Bits<50>>,
    // The beat that came last from the wire, and what its two bytes at the tag's place say.
    in_valid: DFF<Bit>,
    in_data: DFF<Bits<W>>,
    in_keep: DFF<Bits<K>>,
    in_last: DFF<Bit>,
    in_error: DFF<Bit>,
    in_tag_c: DFF<Bit>,
    in_tag_s: DFF<Bit>,
    in_now: DFF<Bits<32>>,
    // Beats of the frame that came before: 0, 1, more.
    place: DFF<Bits<2>>,
    // The beat held back. `bears_tag`: it has a tag to remove, if the frame is long enough; `whole`: this beat shows that it is.
    valid: DFF<Bit>,
    first: DFF<Bit>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    bears_tag: DFF<Bit>,
    service: DFF<Bit>,
    whole: DFF<Bit>,
    data: DFF<Bits<W>>,
    keep: DFF<Bits<K>>,
    arrival: DFF<Bits<32>>,
    // What leaves.
    out_valid: DFF<Bit>,
    out_last: DFF<Bit>,
    out_error: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_keep: DFF<Bits<K>>,
    tci: DFF<Bits<16>>,
    stripped: DFF<Bit>,
    stripped_s: DFF<Bit>,
    stamp: DFF<Bits<32>>,
    next_data: Signal<Local, Bits<32>>,
    next_keep: Signal<Local, Bits<4>>,
    moved_data: Signal<Local, Bits<W>>,
    moved_keep: Signal<Local, Bits<K>>,
    tpid: Signal<Local, Bits<16>>,
    tag: Signal<Local, Bits<16>>,
    follows: Signal<Local, Bit>,
    strip: Signal<Local, Bit>,
    moving: Signal<Local, Bit>,
    used_up: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
    tag_place: Constant<Bits<2>>,
    tpid_at: Constant<Bits<8>>,
    tci_at: Constant<Bits<8>>,
    type_end: Constant<Bits<K>>,
    behind_tag: Constant<Bits<W>>,
    before_tag: Constant<Bits<W>>,
    tpid_c: Constant<Bits<16>>,
    tpid_s: Constant<Bits<16>>,
    one: Constant<Bits<2>>,
    two: Constant<Bits<2>>,
    up_bits: Constant<Bits<10>>,
    up_bytes: Constant<Bits<10>>,
    top_bits: Constant<Bits<10>>,
    top_bytes: Constant<Bits<10>>,
}

/// As `Bits`, the bytes of a beat from `from` on.
fn bytes_from<const W: usize>(from: usize) -> Bits<W> {
    (8 * from..W).fold(Bits::default(), |mask: Bits<W>, bit| mask.replace_bit(bit, true))
}

impl<const W: usize, const K: usize> Default for Strip<W, K> {
    fn default() -> Self {
        assert!(W == 8 * K && (8..=64).contains(&K));
        let behind = bytes_from::<W>(TAG % K);
        // In wider beats the type's last byte lies in the tag's beat; else it is the second byte of the next.
        let type_end = if K > TYPE_END { Bits::<K>::default().replace_bit(TYPE_END, true) } else { Bits::default() };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_error: Default::default(),
            strip_c: Default::default(),
            strip_s: Default::default(),
            now: Default::default(),
            s_valid: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_last: Default::default(),
            s_error: Default::default(),
            s_info: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            in_keep: Default::default(),
            in_last: Default::default(),
            in_error: Default::default(),
            in_tag_c: Default::default(),
            in_tag_s: Default::default(),
            in_now: Default::default(),
            place: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            error: Default::default(),
            bears_tag: Default::default(),
            service: Default::default(),
            whole: Default::default(),
            data: Default::default(),
            keep: Default::default(),
            arrival: Default::default(),
            out_valid: Default::default(),
            out_last: Default::default(),
            out_error: Default::default(),
            out_data: Default::default(),
            out_keep: Default::default(),
            tci: Default::default(),
            stripped: Default::default(),
            stripped_s: Default::default(),
            stamp: Default::default(),
            next_data: Default::default(),
            next_keep: Default::default(),
            moved_data: Default::default(),
            moved_keep: Default::default(),
            tpid: Default::default(),
            tag: Default::default(),
            follows: Default::default(),
            strip: Default::default(),
            moving: Default::default(),
            used_up: Default::default(),
            leave: Default::default(),
            tag_place: Constant::new((TAG / K).to_bits()),
            tpid_at: Constant::new((8 * (TAG % K)).to_bits()),
            tci_at: Constant::new((8 * (TAG % K) + 16).to_bits()),
            type_end: Constant::new(type_end),
            behind_tag: Constant::new(behind),
            before_tag: Constant::new(!behind),
            // As they lie in a beat: first byte lowest.
            tpid_c: Constant::new(u64::from(TPID_C.swap_bytes()).into()),
            tpid_s: Constant::new(u64::from(TPID_S.swap_bytes()).into()),
            one: Constant::new(1.into()),
            two: Constant::new(2.into()),
            up_bits: Constant::new(32.into()),
            up_bytes: Constant::new(4.into()),
            top_bits: Constant::new((W - 32).to_bits()),
            top_bytes: Constant::new((K - 4).to_bits()),
        }
    }
}

impl<const W: usize, const K: usize> Logic for Strip<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_valid, in_data, in_keep, in_last, in_error, in_tag_c, in_tag_s, in_now);
        dff_setup!(self, clock, place, valid, first, last, error, bears_tag, service, whole, data, keep, arrival);
        dff_setup!(self, clock, out_valid, out_last, out_error, out_data, out_keep, tci, stripped, stripped_s, stamp);

        // From the wire.
        self.in_valid.d.next = self.wire_valid.val();
        self.in_data.d.next = self.wire_data.val();
        self.in_keep.d.next = self.wire_keep.val();
        self.in_last.d.next = self.wire_last.val();
        self.in_error.d.next = self.wire_error.val();
        self.in_now.d.next = self.now.val();
        self.tpid.next = self.wire_data.val().get_bits::<16>(self.tpid_at.val().index());
        self.in_tag_c.d.next = self.strip_c.val() & (self.tpid.val() == self.tpid_c.val());
        self.in_tag_s.d.next = self.strip_s.val() & (self.tpid.val() == self.tpid_s.val());

        // The beat held back and the one behind it.
        self.follows.next = self.in_valid.q.val() & !self.last.q.val();
        self.leave.next = self.valid.q.val() & (self.last.q.val() | self.in_valid.q.val());
        self.strip.next =
            self.bears_tag.q.val() & (self.whole.q.val() | (self.follows.val() & self.in_keep.q.val().get_bit(1)));
        self.moving.next = self.strip.val() | (self.stripped.q.val() & !self.first.q.val());
        self.used_up.next = self.valid.q.val()
            & self.moving.val()
            & self.follows.val()
            & self.in_last.q.val()
            & !self.in_keep.q.val().get_bit(4);

        // All moved up by four bytes; nothing moves into a last beat.
        self.next_data.next = self.in_data.q.val().get_bits::<32>(0);
        self.next_keep.next = self.in_keep.q.val().get_bits::<4>(0);
        if self.last.q.val() {
            self.next_keep.next = 0.into();
        }
        self.moved_data.next = (self.data.q.val() >> self.up_bits.val())
            | (bit_cast::<W, 32>(self.next_data.val()) << self.top_bits.val());
        self.moved_keep.next = (self.keep.q.val() >> self.up_bytes.val())
            | (bit_cast::<K, 4>(self.next_keep.val()) << self.top_bytes.val());

        self.out_valid.d.next = self.leave.val();
        self.out_last.d.next = self.last.q.val() | self.used_up.val();
        self.out_error.d.next = (self.last.q.val() & self.error.q.val()) | (self.used_up.val() & self.in_error.q.val());
        self.out_data.d.next = self.data.q.val();
        self.out_keep.d.next = self.keep.q.val();
        if self.moving.val() {
            self.out_data.d.next = self.moved_data.val();
            self.out_keep.d.next = self.moved_keep.val();
        }
        // The tag's own beat moves from the tag on.
        if self.strip.val() {
            self.out_data.d.next =
                (self.data.q.val() & self.before_tag.val()) | (self.moved_data.val() & self.behind_tag.val());
        }
        self.tag.next = self.data.q.val().get_bits::<16>(self.tci_at.val().index());
        if self.leave.val() {
            if self.first.q.val() {
                self.stamp.d.next = self.arrival.q.val();
                self.tci.d.next = 0.into();
                self.stripped.d.next = false;
                self.stripped_s.d.next = false;
            }
            if self.strip.val() {
                self.tci.d.next = (self.tag.val() << 8) | (self.tag.val() >> 8);
                self.stripped.d.next = true;
                self.stripped_s.d.next = self.service.q.val();
            }
        }

        // The next beat to hold back.
        if self.leave.val() {
            self.valid.d.next = false;
        }
        if self.in_valid.q.val() {
            self.valid.d.next = !self.used_up.val();
            self.first.d.next = self.place.q.val() == 0;
            self.last.d.next = self.in_last.q.val();
            self.error.d.next = self.in_error.q.val();
            self.bears_tag.d.next =
                (self.place.q.val() == self.tag_place.val()) & (self.in_tag_c.q.val() | self.in_tag_s.q.val());
            self.service.d.next = self.in_tag_s.q.val();
            self.whole.d.next = (self.in_keep.q.val() & self.type_end.val()).any();
            self.data.d.next = self.in_data.q.val();
            self.keep.d.next = self.in_keep.q.val();
            self.arrival.d.next = self.in_now.q.val();
            if self.in_last.q.val() {
                self.place.d.next = 0.into();
            } else if self.place.q.val() != self.two.val() {
                self.place.d.next = self.place.q.val() + self.one.val();
            }
        }

        self.s_valid.next = self.out_valid.q.val();
        self.s_data.next = self.out_data.q.val();
        self.s_keep.next = self.out_keep.q.val();
        self.s_last.next = self.out_last.q.val();
        self.s_error.next = self.out_error.q.val();
        self.s_info.next = bit_cast::<50, 16>(self.tci.q.val())
            | (bit_cast::<50, 1>(self.stripped.q.val().into()) << 16)
            | (bit_cast::<50, 1>(self.stripped_s.q.val().into()) << 17)
            | (bit_cast::<50, 32>(self.stamp.q.val()) << 18);

        if self.reset.val() {
            self.in_valid.d.next = false;
            self.place.d.next = 0.into();
            self.valid.d.next = false;
            self.out_valid.d.next = false;
        }
    }
}

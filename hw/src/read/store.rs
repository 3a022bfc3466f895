//! The descriptors on chip, 64 a queue, in one memory for all queues.
//!
//! ```text
//! w_* (a beat) ─→ turned to the banks ─→ banks ─→ (one cycle after r_*) ─→ r_data
//! ```
//!
//! A bank holds half descriptors: half n of a queue is in row n / B of bank n mod B, so a beat of any width is written
//! in one cycle wherever it begins, and both halves of a descriptor are read in one. A beat is written in the second
//! cycle and may be read from the third on.

use crate::common::join::Join;
use crate::common::ram::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits a beat; G, the larger of W and 128; B = G / 64 banks of 2^A rows, 128 / B rows a queue.
#[derive(LogicBlock)]
pub struct Store<const W: usize, const G: usize, const B: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub w_valid: Signal<In, Bit>,
    pub w_queue: Signal<In, Bits<4>>,
    /// Of the first half descriptor, 0 to 127.
    pub w_place: Signal<In, Bits<7>>,
    /// Dwords.
    pub w_lanes: Signal<In, Bits<5>>,
    pub w_data: Signal<In, Bits<W>>,
    pub r_queue: Signal<In, Bits<4>>,
    pub r_slot: Signal<In, Bits<6>>,
    pub r_data: Signal<Out, Bits<128>>,
    bank: [Ram<64, A>; B],
    row: Join<64, B, G>,
    // Bank of the first half, and which banks get one: of this row, of the next.
    lane: Signal<Local, Bits<7>>,
    turn: Signal<Local, Bits<10>>,
    back: Signal<Local, Bits<10>>,
    wide: Signal<Local, Bits<G>>,
    halves: Signal<Local, Bits<16>>,
    spread: Signal<Local, Bits<16>>,
    beyond: Signal<Local, Bits<7>>,
    from: Signal<Local, Bits<12>>,
    data: DFF<Bits<G>>,
    here: DFF<Bits<16>>,
    next: DFF<Bits<16>>,
    here_row: DFF<Bits<12>>,
    next_row: DFF<Bits<12>>,
    // Read.
    slot_row: Signal<Local, Bits<12>>,
    at: DFF<Bits<10>>,
    one: Constant<Bits<16>>,
    banks: Constant<Bits<7>>,
    bank_mask: Constant<Bits<7>>,
    bank_log2: Constant<Bits<4>>,
    pair_log2: Constant<Bits<4>>,
    pair_mask: Constant<Bits<10>>,
    row_log2: Constant<Bits<4>>,
    width: Constant<Bits<10>>,
}

impl<const W: usize, const G: usize, const B: usize, const A: usize> Default for Store<W, G, B, A> {
    fn default() -> Self {
        assert!(G == W.max(128) && G == 64 * B && 1 << A >= 128 / B);
        let log2 = u64::from(B.ilog2());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            w_valid: Default::default(),
            w_queue: Default::default(),
            w_place: Default::default(),
            w_lanes: Default::default(),
            w_data: Default::default(),
            r_queue: Default::default(),
            r_slot: Default::default(),
            r_data: Default::default(),
            bank: std::array::from_fn(|_| Default::default()),
            row: Default::default(),
            lane: Default::default(),
            turn: Default::default(),
            back: Default::default(),
            wide: Default::default(),
            halves: Default::default(),
            spread: Default::default(),
            beyond: Default::default(),
            from: Default::default(),
            data: Default::default(),
            here: Default::default(),
            next: Default::default(),
            here_row: Default::default(),
            next_row: Default::default(),
            slot_row: Default::default(),
            at: Default::default(),
            one: Constant::new(1.into()),
            banks: Constant::new(B.to_bits()),
            bank_mask: Constant::new((B - 1).to_bits()),
            bank_log2: Constant::new(log2.into()),
            pair_log2: Constant::new((log2 - 1).into()),
            pair_mask: Constant::new((B / 2 - 1).to_bits()),
            row_log2: Constant::new((7 - log2).into()),
            width: Constant::new(G.to_bits()),
        }
    }
}

impl<const W: usize, const G: usize, const B: usize, const A: usize> Logic for Store<W, G, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, here, next, here_row, next_row, at);

        // Half j of the beat goes into bank (place + j) mod B; those that wrap go one row further.
        self.lane.next = self.w_place.val() & self.bank_mask.val();
        self.turn.next = bit_cast::<10, 7>(self.lane.val()) << 6;
        self.back.next = self.width.val() - self.turn.val();
        self.wide.next = bit_cast::<G, W>(self.w_data.val());
        self.data.d.next = (self.wide.val() << self.turn.val()) | (self.wide.val() >> self.back.val());
        self.halves.next = (self.one.val() << self.w_lanes.val().get_bits::<4>(1)) - self.one.val();
        self.spread.next = self.halves.val() << self.lane.val();
        self.here.d.next = 0.into();
        self.next.d.next = 0.into();
        if self.w_valid.val() {
            self.here.d.next = self.spread.val();
            self.next.d.next = self.spread.val() >> self.banks.val();
        }
        self.beyond.next = self.w_place.val() + self.banks.val();
        self.from.next = bit_cast::<12, 4>(self.w_queue.val()) << self.row_log2.val();
        self.here_row.d.next = self.from.val() | (bit_cast::<12, 7>(self.w_place.val()) >> self.bank_log2.val());
        self.next_row.d.next = self.from.val() | (bit_cast::<12, 7>(self.beyond.val()) >> self.bank_log2.val());

        self.slot_row.next = (bit_cast::<12, 4>(self.r_queue.val()) << self.row_log2.val())
            | (bit_cast::<12, 6>(self.r_slot.val()) >> self.pair_log2.val());
        self.at.d.next = (bit_cast::<10, 6>(self.r_slot.val()) & self.pair_mask.val()) << 7;
        for i in 0_usize..B {
            self.bank[i].clock.next = self.clock.val();
            self.bank[i].write_enable.next = self.here.q.val().get_bit(i) | self.next.q.val().get_bit(i);
            self.bank[i].write_address.next = self.here_row.q.val().get_bits::<A>(0);
            if self.next.q.val().get_bit(i) {
                self.bank[i].write_address.next = self.next_row.q.val().get_bits::<A>(0);
            }
            self.bank[i].write_data.next = self.data.q.val().get_bits::<64>(64 * i);
            self.bank[i].read_enable.next = true;
            self.bank[i].read_address.next = self.slot_row.val().get_bits::<A>(0);
            self.row.part[i].next = self.bank[i].read_data.val();
        }
        self.r_data.next = self.row.whole.val().get_bits::<128>(self.at.q.val().index());

        if self.reset.val() {
            self.here.d.next = 0.into();
            self.next.d.next = 0.into();
        }
    }
}

//! Gathers the RX completions of all queues and writes them into their rings, those that share a 64-byte line at once.
//!
//! ```text
//! c_* → RAM, 16 places a queue ───────────────────────┐
//!   └→ ledgers ─→ choose ─→ copy ─→ claim ─→ line ─→ done_*
//! gone ──┘                            └─ next: two cycles later
//! ```
//!
//! See `ledger` for when a queue's completions are written. Queues that have something to write take turns, a line each.
//! Three cycles for a line of two full completions, five for one of four compact ones. After its batch a queue with
//! `index_enable` writes its producer index.

mod ledger;
mod line;

use crate::common::ram::Ram;
use ledger::Ledger;
use line::Line;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N queues, at most 16.
#[derive(LogicBlock)]
pub struct Complete<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: [Signal<In, Bit>; N],
    pub stopped: [Signal<In, Bit>; N],
    pub base: [Signal<In, Bits<52>>; N],
    pub size_log2: [Signal<In, Bits<4>>; N],
    pub wthresh: [Signal<In, Bits<8>>; N],
    pub wtimer: [Signal<In, Bits<24>>; N],
    /// 0 full, 1 compact with hash, 2 compact with tag.
    pub format: [Signal<In, Bits<2>>; N],
    pub index_enable: [Signal<In, Bit>; N],
    pub index_address: [Signal<In, Bits<64>>; N],
    /// A completion, but for index and phase.
    pub c_valid: Signal<In, Bit>,
    pub c_queue: Signal<In, Bits<4>>,
    pub c_data: Signal<In, Bits<256>>,
    /// A bit a queue; with room for two more than that, so it may be three cycles old when the completion comes.
    pub c_room: Signal<Out, Bits<16>>,
    /// A completion of this queue is to come.
    pub holds: Signal<In, Bit>,
    pub holds_queue: Signal<In, Bits<4>>,
    /// Pulse: the data of this queue's oldest completion not released yet is on its way.
    pub gone: Signal<In, Bit>,
    pub gone_queue: Signal<In, Bits<4>>,
    pub done_valid: Signal<Out, Bit>,
    pub done_addr: Signal<Out, Bits<64>>,
    pub done_dwords: Signal<Out, Bits<5>>,
    pub done_data: Signal<Out, Bits<512>>,
    /// The write is taken, whole.
    pub done_ready: Signal<In, Bit>,
    /// Index behind the last completion that software can find.
    pub producer: [Signal<Out, Bits<16>>; N],
    /// Nothing of the queue is in flight from its descriptor on.
    pub idle: [Signal<Out, Bit>; N],
    ram: Ram<256, 8>,
    ledger: [Ledger; N],
    line: Line,
    // 0 chooses, 1 copies, 2 claims.
    state: DFF<Bits<2>>,
    turn: DFF<Bits<4>>,
    plain: DFF<Bit>,
    compact: DFF<Bit>,
    with_tag: DFF<Bit>,
    moves: DFF<Bit>,
    first: DFF<Bits<4>>,
    count: DFF<Bits<3>>,
    index: DFF<Bits<16>>,
    size: DFF<Bits<4>>,
    origin: DFF<Bits<52>>,
    index_low: DFF<Bits<12>>,
    left: DFF<Bit>,
    left_queue: DFF<Bits<4>>,
    want: Signal<Local, Bits<16>>,
    below: Signal<Local, Bits<16>>,
    claim: Signal<Local, Bit>,
    ones: Signal<Local, Bits<16>>,
    slot: Signal<Local, Bits<16>>,
    place: Signal<Local, Bits<4>>,
    index_of: Signal<Local, Bits<64>>,
}

impl<const N: usize> Default for Complete<N> {
    fn default() -> Self {
        assert!((1..=16).contains(&N));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: std::array::from_fn(|_| Default::default()),
            stopped: std::array::from_fn(|_| Default::default()),
            base: std::array::from_fn(|_| Default::default()),
            size_log2: std::array::from_fn(|_| Default::default()),
            wthresh: std::array::from_fn(|_| Default::default()),
            wtimer: std::array::from_fn(|_| Default::default()),
            format: std::array::from_fn(|_| Default::default()),
            index_enable: std::array::from_fn(|_| Default::default()),
            index_address: std::array::from_fn(|_| Default::default()),
            c_valid: Default::default(),
            c_queue: Default::default(),
            c_data: Default::default(),
            c_room: Default::default(),
            holds: Default::default(),
            holds_queue: Default::default(),
            gone: Default::default(),
            gone_queue: Default::default(),
            done_valid: Default::default(),
            done_addr: Default::default(),
            done_dwords: Default::default(),
            done_data: Default::default(),
            done_ready: Default::default(),
            producer: std::array::from_fn(|_| Default::default()),
            idle: std::array::from_fn(|_| Default::default()),
            ram: Default::default(),
            ledger: std::array::from_fn(|_| Default::default()),
            line: Default::default(),
            state: Default::default(),
            turn: Default::default(),
            plain: Default::default(),
            compact: Default::default(),
            with_tag: Default::default(),
            moves: Default::default(),
            first: Default::default(),
            count: Default::default(),
            index: Default::default(),
            size: Default::default(),
            origin: Default::default(),
            index_low: Default::default(),
            left: Default::default(),
            left_queue: Default::default(),
            want: Default::default(),
            below: Default::default(),
            claim: Default::default(),
            ones: Default::default(),
            slot: Default::default(),
            place: Default::default(),
            index_of: Default::default(),
        }
    }
}

impl<const N: usize> Logic for Complete<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, turn, plain, compact, with_tag, moves, first, count, index, size);
        dff_setup!(self, clock, origin, index_low, left, left_queue);
        self.ram.clock.next = self.clock.val();
        self.line.clock.next = self.clock.val();
        self.line.reset.next = self.reset.val();

        // `gone` comes late in its cycle.
        self.left.d.next = self.gone.val();
        self.left_queue.d.next = self.gone_queue.val();

        // The write that was copied: as many completions as share its line, or the index.
        self.claim.next = (self.state.q.val() == 2) & self.line.l_ready.val();
        self.ones.next = 65535.into();
        self.slot.next = self.index.q.val() & !bit_cast::<16, 16>(self.ones.val() << self.size.q.val());
        self.line.l_valid.next = self.claim.val();
        self.line.l_plain.next = self.plain.q.val();
        self.line.l_compact.next = self.compact.q.val();
        self.line.l_with_tag.next = self.with_tag.q.val();
        self.line.l_queue.next = self.turn.q.val();
        self.line.l_first.next = self.first.q.val();
        self.line.l_count.next = self.count.q.val();
        self.line.l_index.next = self.index.q.val();
        self.line.l_size_log2.next = self.size.q.val();
        self.line.l_base.next = self.origin.q.val();
        self.line.l_offset.next = bit_cast::<20, 16>(self.slot.val()) << 5;
        if self.compact.q.val() {
            self.line.l_offset.next = bit_cast::<20, 16>(self.slot.val()) << 4;
        }
        if self.plain.q.val() {
            self.line.l_offset.next = bit_cast::<20, 12>(self.index_low.q.val());
        }
        self.line.l_moves.next = self.moves.q.val();

        // The ledgers.
        self.c_room.next = 0.into();
        self.want.next = 0.into();
        self.place.next = 0.into();
        for i in 0_usize..N {
            self.ledger[i].clock.next = self.clock.val();
            self.ledger[i].reset.next = self.reset.val();
            self.ledger[i].enable.next = self.enable[i].val();
            self.ledger[i].stopped.next = self.stopped[i].val();
            self.ledger[i].wthresh.next = self.wthresh[i].val();
            self.ledger[i].wtimer.next = self.wtimer[i].val();
            self.ledger[i].index_enable.next = self.index_enable[i].val();
            self.ledger[i].compact.next = self.format[i].val() != 0;
            self.ledger[i].holds.next = self.holds.val() & (self.holds_queue.val() == i.to_bits::<4>());
            self.ledger[i].push.next = self.c_valid.val() & (self.c_queue.val() == i.to_bits::<4>());
            self.ledger[i].goes.next = self.left.q.val() & (self.left_queue.q.val() == i.to_bits::<4>());
            self.ledger[i].claim.next =
                self.claim.val() & !self.plain.q.val() & (self.turn.q.val() == i.to_bits::<4>());
            self.ledger[i].claim_count.next = self.count.q.val();
            self.ledger[i].claim_index.next =
                self.claim.val() & self.plain.q.val() & (self.turn.q.val() == i.to_bits::<4>());
            self.ledger[i].free.next = self.line.free.val() & (self.line.free_queue.val() == i.to_bits::<4>());
            self.ledger[i].free_count.next = self.line.free_count.val();
            self.ledger[i].taken.next = self.line.taken.val() & (self.line.taken_queue.val() == i.to_bits::<4>());
            self.ledger[i].moves.next = self.line.taken_moves.val();
            self.ledger[i].after.next = self.line.after.val();
            self.producer[i].next = self.ledger[i].producer.val();
            self.idle[i].next = self.ledger[i].idle.val();
            if self.ledger[i].room.val() {
                self.c_room.next = self.c_room.val().replace_bit(i, true);
            }
            if self.ledger[i].wants.val() {
                self.want.next = self.want.val().replace_bit(i, true);
            }
            if self.c_queue.val() == i.to_bits::<4>() {
                self.place.next = self.ledger[i].tail.val();
            }
        }
        self.ram.write_enable.next = self.c_valid.val();
        self.ram.write_address.next =
            (bit_cast::<8, 4>(self.c_queue.val()) << 4) | bit_cast::<8, 4>(self.place.val());
        self.ram.write_data.next = self.c_data.val();
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.line.read_address.val();
        self.line.read_data.next = self.ram.read_data.val();

        // The turn goes down through the queues that want to write, and begins again at the highest.
        self.below.next = self.want.val() & !bit_cast::<16, 16>(self.ones.val() << self.turn.q.val());
        if self.below.val() == 0 {
            self.below.next = self.want.val();
        }
        self.index_of.next = 0.into();
        match self.state.q.val().index() {
            0 => {
                for i in 0_usize..N {
                    if self.below.val().get_bit(i) {
                        self.turn.d.next = i.to_bits::<4>();
                    }
                }
                if self.want.val() != 0 {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                for i in 0_usize..N {
                    if self.turn.q.val() == i.to_bits::<4>() {
                        self.plain.d.next = self.ledger[i].wants_index.val();
                        self.compact.d.next = (self.format[i].val() != 0) & !self.ledger[i].wants_index.val();
                        self.with_tag.d.next = self.format[i].val().get_bit(1);
                        self.moves.d.next = self.ledger[i].wants_index.val() | !self.index_enable[i].val();
                        self.first.d.next = self.ledger[i].first.val();
                        self.count.d.next = self.ledger[i].ready.val();
                        if self.ledger[i].wants_index.val() {
                            self.count.d.next = 1.into();
                        }
                        self.index.d.next = self.ledger[i].index.val();
                        self.size.d.next = self.size_log2[i].val();
                        self.origin.d.next = self.base[i].val();
                        self.index_of.next = self.index_address[i].val();
                        self.index_low.d.next = self.index_of.val().get_bits::<12>(0);
                        if self.ledger[i].wants_index.val() {
                            self.origin.d.next = self.index_of.val().get_bits::<52>(12);
                        }
                    }
                }
                self.state.d.next = 2.into();
            }
            _ => {
                if self.claim.val() {
                    self.state.d.next = 0.into();
                }
            }
        }
        self.done_valid.next = self.line.done_valid.val();
        self.done_addr.next = self.line.done_addr.val();
        self.done_dwords.next = self.line.done_dwords.val();
        self.done_data.next = self.line.done_data.val();
        self.line.done_ready.next = self.done_ready.val();

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.turn.d.next = 0.into();
            self.left.d.next = false;
        }
    }
}

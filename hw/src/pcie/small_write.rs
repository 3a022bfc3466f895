//! The short writes of the core: RX completions and their index, TX indices, interrupt messages. One TLP each.
//!
//! ```text
//! done (1 to 16 dwords) ┐
//! index (1) ────────────┤ round robin ─→ small_* (to tlp_tx)
//! m (1) ────────────────┘
//! ```
//!
//! A source gets its `ready` with the last beat, when its TLP is ahead of everything granted later. Another source
//! that wants to write follows without a gap, the same one after one idle cycle.

use crate::pcie::geometry::Geometry;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W data bits in L dwords a beat.
#[derive(LogicBlock, Default)]
pub struct SmallWrite<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_addr: Signal<In, Bits<64>>,
    pub done_dwords: Signal<In, Bits<5>>,
    pub done_data: Signal<In, Bits<512>>,
    pub done_ready: Signal<Out, Bit>,
    pub index_valid: Signal<In, Bit>,
    pub index_addr: Signal<In, Bits<64>>,
    pub index_data: Signal<In, Bits<32>>,
    pub index_ready: Signal<Out, Bit>,
    pub m_valid: Signal<In, Bit>,
    pub m_addr: Signal<In, Bits<64>>,
    pub m_data: Signal<In, Bits<32>>,
    pub m_ready: Signal<Out, Bit>,
    pub small_valid: Signal<Out, Bit>,
    pub small_addr: Signal<Out, Bits<64>>,
    /// The address is not below 4 GiB.
    pub small_wide: Signal<Out, Bit>,
    pub small_dwords: Signal<Out, Bits<11>>,
    pub small_first_be: Signal<Out, Bits<4>>,
    pub small_last_be: Signal<Out, Bits<4>>,
    pub small_data: Signal<Out, Bits<W>>,
    pub small_last: Signal<Out, Bit>,
    pub small_ready: Signal<In, Bit>,

    busy: DFF<Bit>,
    /// done 0, index 1, m 2
    turn: DFF<Bits<2>>,
    /// Bits of `done_data` that are out or offered.
    next_offset: DFF<Bits<10>>,
    is_last: DFF<Bit>,
    // A source shows its address a cycle before its turn.
    done_wide: DFF<Bit>,
    index_wide: DFF<Bit>,
    m_wide: DFF<Bit>,
    beat: Signal<Local, Bits<10>>,
    after: Signal<Local, Bits<10>>,
    stop: Signal<Local, Bits<10>>,
    short: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    own: Signal<Local, Bit>,
    part: Signal<Local, Bits<512>>,
    data: DFF<Bits<W>>,
    geometry: Geometry<W, L>,
}

impl<const W: usize, const L: usize> Logic for SmallWrite<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, turn, next_offset, is_last, done_wide, index_wide, m_wide, data);

        self.done_wide.d.next = self.done_addr.val().get_bits::<32>(32) != 0;
        self.index_wide.d.next = self.index_addr.val().get_bits::<32>(32) != 0;
        self.m_wide.d.next = self.m_addr.val().get_bits::<32>(32) != 0;
        self.beat.next = bit_cast::<10, 16>(self.geometry.beat.val());
        self.after.next = self.next_offset.q.val() + self.beat.val();
        self.stop.next = bit_cast::<10, 5>(self.done_dwords.val()) << 5;
        // One beat is enough for what `done` shows.
        self.short.next = self.beat.val() >= self.stop.val();
        self.part.next = self.done_data.val() >> self.next_offset.q.val();
        self.taken.next = self.busy.q.val() & self.small_ready.val() & self.is_last.q.val();
        if self.busy.q.val() & self.small_ready.val() {
            self.next_offset.d.next = self.after.val();
            self.is_last.d.next = self.after.val() >= self.stop.val();
            self.data.d.next = bit_cast::<W, 512>(self.part.val());
        }

        // The next source; the one that was just served has nothing to show before the next cycle.
        self.own.next = !self.busy.q.val();
        if self.taken.val() | !self.busy.q.val() {
            self.next_offset.d.next = self.beat.val();
            self.is_last.d.next = true;
            self.data.d.next = bit_cast::<W, 512>(self.done_data.val());
            self.busy.d.next = true;
            match self.turn.q.val().index() {
                0 => {
                    if self.index_valid.val() {
                        self.turn.d.next = 1.into();
                        self.data.d.next = bit_cast::<W, 32>(self.index_data.val());
                    } else if self.m_valid.val() {
                        self.turn.d.next = 2.into();
                        self.data.d.next = bit_cast::<W, 32>(self.m_data.val());
                    } else {
                        self.busy.d.next = self.done_valid.val() & self.own.val();
                        self.is_last.d.next = self.short.val();
                    }
                }
                1 => {
                    if self.m_valid.val() {
                        self.turn.d.next = 2.into();
                        self.data.d.next = bit_cast::<W, 32>(self.m_data.val());
                    } else if self.done_valid.val() {
                        self.turn.d.next = 0.into();
                        self.is_last.d.next = self.short.val();
                    } else {
                        self.busy.d.next = self.index_valid.val() & self.own.val();
                        self.data.d.next = bit_cast::<W, 32>(self.index_data.val());
                    }
                }
                _ => {
                    if self.done_valid.val() {
                        self.turn.d.next = 0.into();
                        self.is_last.d.next = self.short.val();
                    } else if self.index_valid.val() {
                        self.turn.d.next = 1.into();
                        self.data.d.next = bit_cast::<W, 32>(self.index_data.val());
                    } else {
                        self.busy.d.next = self.m_valid.val() & self.own.val();
                        self.data.d.next = bit_cast::<W, 32>(self.m_data.val());
                    }
                }
            }
        }

        self.small_valid.next = self.busy.q.val();
        self.small_addr.next = self.done_addr.val();
        self.small_wide.next = self.done_wide.q.val();
        self.small_dwords.next = bit_cast::<11, 5>(self.done_dwords.val());
        self.small_first_be.next = 15.into();
        self.small_last_be.next = 15.into();
        if self.done_dwords.val() == 1 {
            self.small_last_be.next = 0.into();
        }
        self.small_data.next = self.data.q.val();
        self.small_last.next = self.is_last.q.val();
        if self.turn.q.val() == 1 {
            self.small_addr.next = self.index_addr.val();
            self.small_wide.next = self.index_wide.q.val();
            self.small_dwords.next = 1.into();
            self.small_last_be.next = 0.into();
        } else if self.turn.q.val() == 2 {
            self.small_addr.next = self.m_addr.val();
            self.small_wide.next = self.m_wide.q.val();
            self.small_dwords.next = 1.into();
            self.small_last_be.next = 0.into();
        }
        self.done_ready.next = self.taken.val() & (self.turn.q.val() == 0);
        self.index_ready.next = self.taken.val() & (self.turn.q.val() == 1);
        self.m_ready.next = self.taken.val() & (self.turn.q.val() == 2);

        if self.reset.val() {
            self.busy.d.next = false;
            self.turn.d.next = 0.into();
        }
    }
}

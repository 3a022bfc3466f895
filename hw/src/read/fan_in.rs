//! The descriptor reads of all queues, one after the other.
//!
//! ```text
//! r_valid ─→ tag free? ─→ round robin ─→ grant (register) ─→ that queue's request (register) ─→ a_*
//! ```
//!
//! Queue q reads with tag `first_tag` + q mod 8, so q and q + 8 share one. A tag is in use from the grant to the
//! `t_done` that names it, and never twice; of two queues that wait for the same tag, the one that had it last lets
//! the other go first. A read every three cycles. A queue whose tag is free waits for at most N - 1 reads of
//! others; one whose tag is in use also for the end of that read and for N - 1 more.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N queues, 1 to 16.
#[derive(LogicBlock)]
pub struct FanIn<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A multiple of 8.
    pub first_tag: Signal<In, Bits<8>>,
    pub r_valid: [Signal<In, Bit>; N],
    pub r_addr: [Signal<In, Bits<64>>; N],
    pub r_bytes: [Signal<In, Bits<13>>; N],
    pub r_ready: [Signal<Out, Bit>; N],
    pub a_valid: Signal<Out, Bit>,
    pub a_addr: Signal<Out, Bits<64>>,
    pub a_bytes: Signal<Out, Bits<13>>,
    pub a_tag: Signal<Out, Bits<8>>,
    pub a_ready: Signal<In, Bit>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    // 0 choose, 1 take over, 2 offer.
    state: DFF<Bits<2>>,
    grant: DFF<Bits<16>>,
    /// Queues behind the one that was granted last.
    behind: DFF<Bits<16>>,
    /// Tags in use, and those that a queue from 8 up had last.
    busy: DFF<Bits<8>>,
    upper: DFF<Bits<8>>,
    valids: Signal<Local, Bits<16>>,
    partners: Signal<Local, Bits<16>>,
    in_use: Signal<Local, Bits<16>>,
    had_it: Signal<Local, Bits<16>>,
    wants: Signal<Local, Bits<16>>,
    ahead: Signal<Local, Bits<16>>,
    pool: Signal<Local, Bits<16>>,
    lowest: Signal<Local, Bits<16>>,
    through: Signal<Local, Bits<16>>,
    taken: Signal<Local, Bits<8>>,
    freed: Signal<Local, Bits<8>>,
    low: Signal<Local, Bits<8>>,
    high: Signal<Local, Bits<8>>,
    number: Signal<Local, Bits<3>>,
    chosen_addr: Signal<Local, Bits<64>>,
    chosen_bytes: Signal<Local, Bits<13>>,
    addr: DFF<Bits<64>>,
    bytes: DFF<Bits<13>>,
    tag: DFF<Bits<8>>,
    one: Constant<Bits<8>>,
    one16: Constant<Bits<16>>,
}

impl<const N: usize> Default for FanIn<N> {
    fn default() -> Self {
        assert!((1..=16).contains(&N));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            first_tag: Default::default(),
            r_valid: std::array::from_fn(|_| Default::default()),
            r_addr: std::array::from_fn(|_| Default::default()),
            r_bytes: std::array::from_fn(|_| Default::default()),
            r_ready: std::array::from_fn(|_| Default::default()),
            a_valid: Default::default(),
            a_addr: Default::default(),
            a_bytes: Default::default(),
            a_tag: Default::default(),
            a_ready: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            state: Default::default(),
            grant: Default::default(),
            behind: Default::default(),
            busy: Default::default(),
            upper: Default::default(),
            valids: Default::default(),
            partners: Default::default(),
            in_use: Default::default(),
            had_it: Default::default(),
            wants: Default::default(),
            ahead: Default::default(),
            pool: Default::default(),
            lowest: Default::default(),
            through: Default::default(),
            taken: Default::default(),
            freed: Default::default(),
            low: Default::default(),
            high: Default::default(),
            number: Default::default(),
            chosen_addr: Default::default(),
            chosen_bytes: Default::default(),
            addr: Default::default(),
            bytes: Default::default(),
            tag: Default::default(),
            one: Constant::new(1.into()),
            one16: Constant::new(1.into()),
        }
    }
}

impl<const N: usize> Logic for FanIn<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, grant, behind, busy, upper, addr, bytes, tag);

        // Who may go: its tag is free, and it lets the other one of that tag go first if it had it last.
        self.valids.next = 0.into();
        for i in 0_usize..N {
            if self.r_valid[i].val() {
                self.valids.next = self.valids.val().replace_bit(i, true);
            }
        }
        self.partners.next = (self.valids.val() << 8) | (self.valids.val() >> 8);
        self.in_use.next = bit_cast::<16, 8>(self.busy.q.val()) | (bit_cast::<16, 8>(self.busy.q.val()) << 8);
        self.low.next = !self.upper.q.val();
        self.had_it.next = bit_cast::<16, 8>(self.low.val()) | (bit_cast::<16, 8>(self.upper.q.val()) << 8);
        self.wants.next =
            (self.valids.val() & !self.in_use.val()) & !(self.had_it.val() & self.partners.val());

        // The first from the one behind the last, round the end.
        self.ahead.next = self.wants.val() & self.behind.q.val();
        self.pool.next = self.wants.val();
        if self.ahead.val() != 0 {
            self.pool.next = self.ahead.val();
        }
        self.lowest.next = self.pool.val() & (!self.pool.val() + self.one16.val());

        // The request that was granted.
        self.chosen_addr.next = 0.into();
        self.chosen_bytes.next = 0.into();
        self.number.next = 0.into();
        for i in 0_usize..N {
            self.r_ready[i].next = (self.state.q.val() == 1) & self.grant.q.val().get_bit(i);
            if self.grant.q.val().get_bit(i) {
                self.chosen_addr.next = self.chosen_addr.val() | self.r_addr[i].val();
                self.chosen_bytes.next = self.chosen_bytes.val() | self.r_bytes[i].val();
                self.number.next = self.number.val() | i.to_bits::<3>();
            }
        }
        self.high.next = self.grant.q.val().get_bits::<8>(8);
        self.taken.next = 0.into();
        self.through.next = (self.grant.q.val() << 1) - self.one16.val();
        match self.state.q.val().index() {
            0 => {
                self.grant.d.next = self.lowest.val();
                if self.wants.val() != 0 {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.addr.d.next = self.chosen_addr.val();
                self.bytes.d.next = self.chosen_bytes.val();
                self.tag.d.next = self.first_tag.val() | bit_cast::<8, 3>(self.number.val());
                self.taken.next = self.grant.q.val().get_bits::<8>(0) | self.high.val();
                self.behind.d.next = !self.through.val();
                self.state.d.next = 2.into();
            }
            _ => {
                if self.a_ready.val() {
                    self.state.d.next = 0.into();
                }
            }
        }
        self.freed.next = 0.into();
        if self.t_done.val() & (self.t_done_tag.val().get_bits::<5>(3) == self.first_tag.val().get_bits::<5>(3)) {
            self.freed.next = self.one.val() << self.t_done_tag.val().get_bits::<3>(0);
        }
        self.busy.d.next = (self.busy.q.val() & !self.freed.val()) | self.taken.val();
        self.upper.d.next = (self.upper.q.val() & !self.taken.val()) | (self.taken.val() & self.high.val());

        self.a_valid.next = self.state.q.val() == 2;
        self.a_addr.next = self.addr.q.val();
        self.a_bytes.next = self.bytes.q.val();
        self.a_tag.next = self.tag.q.val();

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.behind.d.next = 0.into();
            self.busy.d.next = 0.into();
            self.upper.d.next = 0.into();
        }
    }
}

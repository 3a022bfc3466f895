//! Fetches one queue's descriptors ahead of need, by thresholds: when to read, and what is on chip.
//!
//! ```text
//! tail, thresholds ─→ decide (one comparison a cycle) ─→ r_* (one read outstanding)
//! t_* (its data) ─→ place of the next beat (in the store) ─→ arrived ─→ first ←─ take
//! ```
//!
//! The rule: read when fewer than PTHRESH are on chip and the host has HTHRESH, or the chip none and the host
//! any; then as many as there are, but no more than BATCH, than fit on chip, than lie before the ring's end and the
//! next 4 KiB boundary, than MRRS holds, and than 32. It never reads at or past the tail. Seven cycles from the
//! decision to the request.
//!
//! The descriptors themselves are in [`Store`](crate::read::store::Store), the one with index n in slot n mod 64;
//! this block knows how many there are. What arrives is told to have arrived two cycles later, when it is written.
//!
//! `low_event` comes when the descriptors left (on chip, on their way and in the host) fall below LOW_WATER,
//! and not again before LOW_WATER + BATCH are left; so not for the first posts after enabling.
//!
//! A tail more than the ring's size ahead, or a failed read, is an `error` with its `cause`, and nothing is read
//! until the queue is disabled. While the tag is `dead` (a read timed out, and its answer may still come), enabling the
//! queue ends in TimeOut at once, and a request that another's read made wait is withdrawn. Disabling waits for the
//! outstanding read, then forgets what is on chip and zeroes the indices.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// The descriptor prefetch of one queue.
#[derive(LogicBlock)]
pub struct Prefetch {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub my_tag: Signal<In, Bits<8>>,
    pub dead: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub stopped: Signal<In, Bit>,
    pub base: Signal<In, Bits<52>>,
    pub size_log2: Signal<In, Bits<4>>,
    pub tail: Signal<In, Bits<16>>,
    pub pthresh: Signal<In, Bits<8>>,
    pub hthresh: Signal<In, Bits<8>>,
    pub batch: Signal<In, Bits<8>>,
    pub low_water: Signal<In, Bits<16>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub r_valid: Signal<Out, Bit>,
    pub r_addr: Signal<Out, Bits<64>>,
    pub r_bytes: Signal<Out, Bits<13>>,
    pub r_ready: Signal<In, Bit>,
    pub t_valid: Signal<In, Bit>,
    pub t_lanes: Signal<In, Bits<5>>,
    pub t_tag: Signal<In, Bits<8>>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    pub t_done_cause: Signal<In, Bits<4>>,
    /// This beat is for this queue, and its first half descriptor goes here (of 128 on chip).
    pub mine: Signal<Out, Bit>,
    pub place: Signal<Out, Bits<7>>,
    /// A descriptor is there and not taken, nor being taken in this cycle; its place of 64 on chip.
    pub ready: Signal<Out, Bit>,
    pub front: Signal<Out, Bits<6>>,
    /// The first is taken.
    pub take: Signal<In, Bit>,
    pub head: Signal<Out, Bits<16>>,
    pub chip: Signal<Out, Bits<7>>,
    pub read_pulse: Signal<Out, Bit>,
    pub read_count: Signal<Out, Bits<6>>,
    pub low_event: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    pub cause: Signal<Out, Bits<4>>,
    pub idle: Signal<Out, Bit>,
    // 0 look, 1 compare, 2 to 6 the smallest limit, 7 offer the read, 8 wait for its end.
    state: DFF<Bits<4>>,
    next: DFF<Bits<16>>,
    host: DFF<Bits<16>>,
    on_chip: DFF<Bits<7>>,
    wanted: DFF<Bit>,
    overrun: DFF<Bit>,
    count: DFF<Bits<9>>,
    room: DFF<Bits<9>>,
    failed: DFF<Bit>,
    address: DFF<Bits<64>>,
    limit: DFF<Bits<9>>,
    size: DFF<Bits<16>>,
    mask: DFF<Bits<16>>,
    paged: Signal<Local, Bit>,
    page: DFF<Bits<9>>,
    page_mask: DFF<Bits<9>>,
    slot: DFF<Bits<16>>,
    in_page: Signal<Local, Bits<9>>,
    run: Signal<Local, Bit>,
    ours: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    forget: Signal<Local, Bit>,
    // Half descriptors that have come; descriptors that are being written, and that are there.
    filled: DFF<Bits<8>>,
    written: DFF<Bits<7>>,
    there: DFF<Bits<7>>,
    level: Signal<Local, Bits<7>>,
    // Low water. `armed`: an event may come; after the first it takes LOW_WATER + BATCH, the mark, to arm it.
    taken: DFF<Bits<16>>,
    // taken + 1, so that `take` decides between answers that are there already.
    after: DFF<Bits<16>>,
    left: DFF<Bits<16>>,
    mark: DFF<Bits<17>>,
    again: DFF<Bit>,
    armed: DFF<Bit>,
    low: DFF<Bit>,
    fault: DFF<Bit>,
    fault_cause: DFF<Bits<4>>,
    pulse: DFF<Bit>,
    one: Constant<Bits<16>>,
    most: Constant<Bits<9>>,
    slots: Constant<Bits<9>>,
}

impl Default for Prefetch {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            my_tag: Default::default(),
            dead: Default::default(),
            enable: Default::default(),
            stopped: Default::default(),
            base: Default::default(),
            size_log2: Default::default(),
            tail: Default::default(),
            pthresh: Default::default(),
            hthresh: Default::default(),
            batch: Default::default(),
            low_water: Default::default(),
            mrrs: Default::default(),
            r_valid: Default::default(),
            r_addr: Default::default(),
            r_bytes: Default::default(),
            r_ready: Default::default(),
            t_valid: Default::default(),
            t_lanes: Default::default(),
            t_tag: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            t_done_cause: Default::default(),
            mine: Default::default(),
            place: Default::default(),
            ready: Default::default(),
            front: Default::default(),
            take: Default::default(),
            head: Default::default(),
            chip: Default::default(),
            read_pulse: Default::default(),
            read_count: Default::default(),
            low_event: Default::default(),
            error: Default::default(),
            cause: Default::default(),
            idle: Default::default(),
            state: Default::default(),
            next: Default::default(),
            host: Default::default(),
            on_chip: Default::default(),
            wanted: Default::default(),
            overrun: Default::default(),
            count: Default::default(),
            room: Default::default(),
            failed: Default::default(),
            address: Default::default(),
            limit: Default::default(),
            size: Default::default(),
            mask: Default::default(),
            paged: Default::default(),
            page: Default::default(),
            page_mask: Default::default(),
            slot: Default::default(),
            in_page: Default::default(),
            run: Default::default(),
            ours: Default::default(),
            finished: Default::default(),
            forget: Default::default(),
            filled: Default::default(),
            written: Default::default(),
            there: Default::default(),
            level: Default::default(),
            taken: Default::default(),
            after: Default::default(),
            left: Default::default(),
            mark: Default::default(),
            again: Default::default(),
            armed: Default::default(),
            low: Default::default(),
            fault: Default::default(),
            fault_cause: Default::default(),
            pulse: Default::default(),
            one: Constant::new(1.into()),
            most: Constant::new(u64::from(ferronic_contract::thresholds::MAX_BATCH).into()),
            slots: Constant::new(u64::from(ferronic_contract::thresholds::ON_CHIP).into()),
        }
    }
}

impl Logic for Prefetch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, next, host, on_chip, wanted, overrun, count, room, failed, address);
        dff_setup!(self, clock, limit, size, mask, page, page_mask, slot);
        dff_setup!(self, clock, filled, written, there, taken, after, left, mark, again, armed, low, fault, fault_cause, pulse);

        self.run.next = self.enable.val() & !self.stopped.val() & !self.failed.q.val() & !self.dead.val();
        // Another queue may have the same tag: an answer is ours only while we wait for one.
        self.ours.next =
            (self.t_valid.val() & (self.state.q.val() == 8)) & (self.t_tag.val() == self.my_tag.val());
        self.finished.next =
            (self.t_done.val() & (self.state.q.val() == 8)) & (self.t_done_tag.val() == self.my_tag.val());
        self.forget.next = (self.state.q.val() == 0) & !self.enable.val();
        self.level.next = self.filled.q.val().get_bits::<7>(1) - self.taken.q.val().get_bits::<7>(0);
        self.fault.d.next = false;
        self.pulse.d.next = false;

        // A page of 256 descriptors, or the ring if that is shorter.
        self.size.d.next = self.one.val() << self.size_log2.val();
        self.mask.d.next = self.size.q.val() - self.one.val();
        self.paged.next = self.size_log2.val() >= 8;
        self.page.d.next = (bit_cast::<9, 1>(self.paged.val().into()) << 8)
            | bit_cast::<9, 8>(self.size.q.val().get_bits::<8>(0));
        self.page_mask.d.next = self.page.q.val() - 1;
        // The state machine needs it five cycles later.
        self.slot.d.next = self.next.q.val() & self.mask.q.val();
        self.in_page.next = self.next.q.val().get_bits::<9>(0) & self.page_mask.q.val();

        // What the next state compares with.
        self.limit.d.next = self.most.val();
        match self.state.q.val().index() {
            1 => {
                self.limit.d.next = bit_cast::<9, 8>(self.batch.val());
            }
            2 => {
                if self.host.q.val() < bit_cast::<16, 9>(self.most.val()) {
                    self.limit.d.next = self.host.q.val().get_bits::<9>(0);
                }
            }
            3 => {
                self.limit.d.next = self.slots.val() - bit_cast::<9, 7>(self.on_chip.q.val());
            }
            4 => {
                self.limit.d.next = self.room.q.val();
            }
            5 => {
                match self.mrrs.val().index() {
                    0 => {
                        self.limit.d.next = 8.into();
                    }
                    1 => {
                        self.limit.d.next = 16.into();
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        match self.state.q.val().index() {
            0 => {
                self.host.d.next = self.tail.val() - self.next.q.val();
                self.on_chip.d.next = self.level.val();
                if self.run.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.overrun.d.next = self.host.q.val() > self.size.q.val();
                self.wanted.d.next = (bit_cast::<8, 7>(self.on_chip.q.val()) < self.pthresh.val())
                    & (self.host.q.val() != 0)
                    & ((self.host.q.val() >= bit_cast::<16, 8>(self.hthresh.val())) | (self.on_chip.q.val() == 0));
                self.count.d.next = self.most.val();
                self.room.d.next = self.page.q.val() - self.in_page.val();
                self.state.d.next = 2.into();
            }
            7 => {
                if self.dead.val() {
                    self.state.d.next = 0.into();
                } else if self.r_ready.val() {
                    self.next.d.next = self.next.q.val() + bit_cast::<16, 9>(self.count.q.val());
                    self.pulse.d.next = true;
                    self.state.d.next = 8.into();
                }
            }
            8 => {
                if self.finished.val() {
                    self.state.d.next = 0.into();
                }
            }
            _ => {
                if self.limit.q.val() < self.count.q.val() {
                    self.count.d.next = self.limit.q.val();
                }
                self.state.d.next = self.state.q.val() + 1;
                if !self.run.val() | self.overrun.q.val() | !self.wanted.q.val() {
                    self.state.d.next = 0.into();
                }
                if self.run.val() & self.overrun.q.val() {
                    self.fault.d.next = true;
                    self.fault_cause.d.next = 6.into();
                    self.failed.d.next = true;
                }
                // BATCH of 0 is outside its range; it reads nothing.
                if (self.state.q.val() == 6) & (self.count.q.val() == 0) {
                    self.state.d.next = 0.into();
                }
            }
        }
        if (self.state.q.val() == 0) & self.enable.val() & self.dead.val() & !self.failed.q.val() {
            self.fault.d.next = true;
            self.fault_cause.d.next = 3.into();
            self.failed.d.next = true;
        }
        if self.finished.val() & (self.t_done_cause.val() != 0) {
            self.fault.d.next = true;
            self.fault_cause.d.next = self.t_done_cause.val();
            self.failed.d.next = true;
        }

        self.r_valid.next = (self.state.q.val() == 7) & !self.dead.val();
        self.address.d.next =
            (bit_cast::<64, 52>(self.base.val()) << 12) + (bit_cast::<64, 16>(self.slot.q.val()) << 4);
        self.r_addr.next = self.address.q.val();
        self.r_bytes.next = bit_cast::<13, 9>(self.count.q.val()) << 4;

        // What comes and goes.
        self.mine.next = self.ours.val();
        self.place.next = self.filled.q.val().get_bits::<7>(0);
        if self.ours.val() {
            self.filled.d.next = self.filled.q.val() + bit_cast::<8, 4>(self.t_lanes.val().get_bits::<4>(1));
        }
        self.written.d.next = self.filled.q.val().get_bits::<7>(1);
        self.there.d.next = self.written.q.val();
        self.front.next = self.taken.q.val().get_bits::<6>(0);
        self.ready.next = (self.taken.q.val().get_bits::<7>(0) != self.there.q.val()) & !self.forget.val();
        if self.take.val() {
            self.taken.d.next = self.after.q.val();
            self.after.d.next = self.after.q.val() + 1;
            self.front.next = self.after.q.val().get_bits::<6>(0);
            self.ready.next = (self.after.q.val().get_bits::<7>(0) != self.there.q.val()) & !self.forget.val();
        }

        self.left.d.next = self.tail.val() - self.taken.q.val();
        self.mark.d.next = bit_cast::<17, 16>(self.low_water.val()) + bit_cast::<17, 8>(self.batch.val());
        self.low.d.next = false;
        if self.left.q.val() < self.low_water.val() {
            self.armed.d.next = false;
            self.low.d.next = self.armed.q.val();
            self.again.d.next = self.again.q.val() | self.armed.q.val();
        } else if !self.again.q.val() | (bit_cast::<17, 16>(self.left.q.val()) >= self.mark.q.val()) {
            self.armed.d.next = true;
        }

        self.head.next = self.next.q.val();
        self.chip.next = self.level.val();
        self.read_pulse.next = self.pulse.q.val();
        self.read_count.next = self.count.q.val().get_bits::<6>(0);
        self.low_event.next = self.low.q.val();
        self.error.next = self.fault.q.val();
        self.cause.next = self.fault_cause.q.val();
        self.idle.next = self.state.q.val() < 7;

        if self.reset.val() | self.forget.val() {
            self.state.d.next = 0.into();
            self.next.d.next = 0.into();
            self.taken.d.next = 0.into();
            self.after.d.next = 1.into();
            self.left.d.next = 0.into();
            self.filled.d.next = 0.into();
            self.written.d.next = 0.into();
            self.there.d.next = 0.into();
            self.again.d.next = false;
            self.armed.d.next = false;
            self.low.d.next = false;
            self.failed.d.next = false;
            self.fault.d.next = false;
            self.overrun.d.next = false;
        }
    }
}

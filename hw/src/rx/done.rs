//! Gathers RX completions and writes them into the completion ring.
//!
//! ```text
//! completion → FIFO of 16 → released by the end of its data → batch → 32-byte write
//! ```
//!
//! A batch begins when WTHRESH completions are released, WTIMER cycles after the first, when the FIFO is full, or
//! when the queue goes down; it ends when none is left. `producer` counts completions whose write is taken, and
//! so is the index of the next. It returns to 0 when the queue is disabled and nothing is in flight.
//!
//! A completion takes two cycles plus those of its write.

use crate::common::fifo::Fifo;
use crate::common::join::Join;
use ferronic_contract::completion::{COOKIE, INDEX, L3_OFFSET, LENGTH, PHASE, PROTOCOL, STATUS};
use ferronic_contract::field::Field;
use ferronic_contract::status::{self, Status};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Done {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub queue_enable: Signal<In, Bit>,
    pub queue_stopped: Signal<In, Bit>,
    /// Nothing is on its way to this block.
    pub quiet: Signal<In, Bit>,
    pub c_valid: Signal<In, Bit>,
    pub c_length: Signal<In, Bits<14>>,
    pub c_protocol: Signal<In, Bits<16>>,
    pub c_classified: Signal<In, Bit>,
    pub c_dst: Signal<In, Bits<2>>,
    pub c_l2: Signal<In, Bits<2>>,
    pub c_vlan: Signal<In, Bits<2>>,
    pub c_epoch: Signal<In, Bits<3>>,
    pub c_l3_offset: Signal<In, Bits<8>>,
    pub c_cookie: Signal<In, Bits<32>>,
    /// One cycle late: a completion may follow another after two cycles at the soonest.
    pub c_room: Signal<Out, Bit>,
    /// Pulse: the data of the oldest completion not released yet is on its way.
    pub data_gone: Signal<In, Bit>,
    pub done_base: Signal<In, Bits<52>>,
    pub size_log2: Signal<In, Bits<4>>,
    pub wthresh: Signal<In, Bits<8>>,
    pub wtimer: Signal<In, Bits<24>>,
    pub done_valid: Signal<Out, Bit>,
    pub done_addr: Signal<Out, Bits<64>>,
    pub done_data: Signal<Out, Bits<256>>,
    pub done_ready: Signal<In, Bit>,
    pub producer: Signal<Out, Bits<16>>,
    pub idle: Signal<Out, Bit>,
    queue: Fifo<80, 4, 5>,
    room: DFF<Bit>,
    released: DFF<Bits<5>>,
    timer: DFF<Bits<24>>,
    batch: DFF<Bit>,
    index: DFF<Bits<16>>,
    valid: DFF<Bit>,
    address: DFF<Bits<64>>,
    start: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    // `taken` and `data_gone` come late in their cycle: what need not follow at once follows in the next.
    pop: DFF<Bit>,
    gone: DFF<Bit>,
    slots: Signal<Local, Bits<16>>,
    slot: Signal<Local, Bits<16>>,
    pass: Signal<Local, Bits<16>>,
    phase: DFF<Bits<1>>,
    entry: Signal<Local, Bits<80>>,
    data: Join<32, 8, 256>,
    one: Constant<Bits<5>>,
    one_index: Constant<Bits<16>>,
    one_tick: Constant<Bits<24>>,
    always_set: Constant<Bits<32>>,
    at_length: Constant<Bits<5>>,
    at_protocol: Constant<Bits<5>>,
    at_classified: Constant<Bits<5>>,
    at_dst: Constant<Bits<5>>,
    at_l2: Constant<Bits<5>>,
    at_vlan: Constant<Bits<5>>,
    at_epoch: Constant<Bits<5>>,
    at_index: Constant<Bits<5>>,
    at_l3_offset: Constant<Bits<5>>,
    at_phase: Constant<Bits<5>>,
}

/// The bit of its word at which a field begins.
fn at(field: Field) -> Constant<Bits<5>> {
    Constant::new(u64::from(field.low).into())
}

impl Default for Done {
    fn default() -> Self {
        // `update` can only number the words of a completion.
        let words = [LENGTH, PROTOCOL, STATUS, COOKIE, INDEX, L3_OFFSET, PHASE].map(|field| field.word);
        assert_eq!(words, [0, 1, 2, 4, 7, 7, 7]);
        let always_set = Status(0).with(status::SOP, 1).with(status::EOP, 1);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            queue_enable: Default::default(),
            queue_stopped: Default::default(),
            quiet: Default::default(),
            c_valid: Default::default(),
            c_length: Default::default(),
            c_protocol: Default::default(),
            c_classified: Default::default(),
            c_dst: Default::default(),
            c_l2: Default::default(),
            c_vlan: Default::default(),
            c_epoch: Default::default(),
            c_l3_offset: Default::default(),
            c_cookie: Default::default(),
            c_room: Default::default(),
            data_gone: Default::default(),
            done_base: Default::default(),
            size_log2: Default::default(),
            wthresh: Default::default(),
            wtimer: Default::default(),
            done_valid: Default::default(),
            done_addr: Default::default(),
            done_data: Default::default(),
            done_ready: Default::default(),
            producer: Default::default(),
            idle: Default::default(),
            queue: Default::default(),
            room: Default::default(),
            released: Default::default(),
            timer: Default::default(),
            batch: Default::default(),
            index: Default::default(),
            valid: Default::default(),
            address: Default::default(),
            start: Default::default(),
            taken: Default::default(),
            pop: Default::default(),
            gone: Default::default(),
            slots: Default::default(),
            slot: Default::default(),
            pass: Default::default(),
            phase: Default::default(),
            entry: Default::default(),
            data: Default::default(),
            one: Constant::new(1.into()),
            one_index: Constant::new(1.into()),
            one_tick: Constant::new(1.into()),
            always_set: Constant::new(u64::from(always_set.0).into()),
            at_length: at(LENGTH),
            at_protocol: at(PROTOCOL),
            at_classified: at(status::CLASSIFIED),
            at_dst: at(status::DST),
            at_l2: at(status::L2_KIND),
            at_vlan: at(status::VLAN),
            at_epoch: at(status::EPOCH),
            at_index: at(INDEX),
            at_l3_offset: at(L3_OFFSET),
            at_phase: at(PHASE),
        }
    }
}

impl Logic for Done {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, room, released, timer, batch, index, valid, address, phase, pop, gone);
        self.queue.clock.next = self.clock.val();
        self.queue.reset.next = self.reset.val();

        self.queue.s_valid.next = self.c_valid.val();
        self.queue.s_data.next = bit_cast::<80, 14>(self.c_length.val())
            | (bit_cast::<80, 16>(self.c_protocol.val()) << 14)
            | (bit_cast::<80, 1>(self.c_classified.val().into()) << 30)
            | (bit_cast::<80, 2>(self.c_dst.val()) << 31)
            | (bit_cast::<80, 2>(self.c_l2.val()) << 33)
            | (bit_cast::<80, 2>(self.c_vlan.val()) << 35)
            | (bit_cast::<80, 3>(self.c_epoch.val()) << 37)
            | (bit_cast::<80, 8>(self.c_l3_offset.val()) << 40)
            | (bit_cast::<80, 32>(self.c_cookie.val()) << 48);
        self.room.d.next = self.queue.s_ready.val();
        self.c_room.next = self.room.q.val();

        // When to write.
        self.taken.next = self.valid.q.val() & self.done_ready.val();
        self.start.next = (self.released.q.val() != 0)
            & ((bit_cast::<8, 5>(self.released.q.val()) >= self.wthresh.val())
                | (self.timer.q.val() >= self.wtimer.val())
                | !self.room.q.val()
                | !self.queue_enable.val()
                | self.queue_stopped.val());
        self.pop.d.next = self.taken.val();
        self.gone.d.next = self.data_gone.val();
        if self.gone.q.val() & !self.pop.q.val() {
            self.released.d.next = self.released.q.val() + self.one.val();
        }
        if self.pop.q.val() & !self.gone.q.val() {
            self.released.d.next = self.released.q.val() - self.one.val();
        }
        self.timer.d.next = self.timer.q.val() + self.one_tick.val();
        if (self.released.q.val() == 0) | self.batch.q.val() {
            self.timer.d.next = 0.into();
        }
        if self.start.val() {
            self.batch.d.next = true;
        } else if self.released.q.val() == 0 {
            self.batch.d.next = false;
        }

        // Where to write.
        self.slots.next = self.one_index.val() << self.size_log2.val();
        self.slot.next = self.index.q.val() & bit_cast::<16, 16>(self.slots.val() - self.one_index.val());
        self.pass.next = self.index.q.val() >> self.size_log2.val();
        if self.batch.q.val() & (self.released.q.val() != 0) & (self.queue.m_valid.val() & !self.valid.q.val())
            & !self.pop.q.val()
        {
            self.valid.d.next = true;
            self.phase.d.next = !self.pass.val().get_bits::<1>(0);
            self.address.d.next = (bit_cast::<64, 52>(self.done_base.val()) << 12)
                + (bit_cast::<64, 16>(self.slot.val()) << 5);
        }
        self.queue.m_ready.next = self.pop.q.val();
        if self.taken.val() {
            self.valid.d.next = false;
            self.index.d.next = self.index.q.val() + self.one_index.val();
        }

        // What to write.
        self.entry.next = self.queue.m_data.val();
        self.done_valid.next = self.valid.q.val();
        self.done_addr.next = self.address.q.val();
        for i in 0_usize..8 {
            self.data.part[i].next = 0.into();
        }
        self.data.part[0].next = bit_cast::<32, 14>(self.entry.val().get_bits::<14>(0)) << self.at_length.val();
        self.data.part[1].next = bit_cast::<32, 16>(self.entry.val().get_bits::<16>(14)) << self.at_protocol.val();
        self.data.part[2].next = self.always_set.val()
            | (bit_cast::<32, 1>(self.entry.val().get_bits::<1>(30)) << self.at_classified.val())
            | (bit_cast::<32, 2>(self.entry.val().get_bits::<2>(31)) << self.at_dst.val())
            | (bit_cast::<32, 2>(self.entry.val().get_bits::<2>(33)) << self.at_l2.val())
            | (bit_cast::<32, 2>(self.entry.val().get_bits::<2>(35)) << self.at_vlan.val())
            | (bit_cast::<32, 3>(self.entry.val().get_bits::<3>(37)) << self.at_epoch.val());
        self.data.part[4].next = self.entry.val().get_bits::<32>(48);
        self.data.part[7].next = (bit_cast::<32, 16>(self.index.q.val()) << self.at_index.val())
            | (bit_cast::<32, 8>(self.entry.val().get_bits::<8>(40)) << self.at_l3_offset.val())
            | (bit_cast::<32, 1>(self.phase.q.val()) << self.at_phase.val());
        self.done_data.next = self.data.whole.val();
        self.producer.next = self.index.q.val();
        self.idle.next = self.queue.level.val() == 0;
        if !self.queue_enable.val() & self.quiet.val() & (self.queue.level.val() == 0) {
            self.index.d.next = 0.into();
        }

        if self.reset.val() {
            self.room.d.next = false;
            self.released.d.next = 0.into();
            self.timer.d.next = 0.into();
            self.batch.d.next = false;
            self.index.d.next = 0.into();
            self.valid.d.next = false;
            self.pop.d.next = false;
            self.gone.d.next = false;
        }
    }
}

//! Registers of a queue, RX and TX alike, and its state: enabled, stopped and why.
//!
//! An error stops the queue: `stopped` goes to all its blocks, `cause` stays readable until software disables
//! the queue.

use super::bank::Bank;
use ferronic_contract::registers::queue;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// The registers of one queue.
#[derive(LogicBlock)]
pub struct QueueRegs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub enable: Signal<Out, Bit>,
    pub stopped: Signal<Out, Bit>,
    /// Descriptor ring, address bits 63:12.
    pub base: Signal<Out, Bits<52>>,
    pub size_log2: Signal<Out, Bits<4>>,
    /// Completion ring (RX) or write-back address (TX).
    pub done: Signal<Out, Bits<64>>,
    pub pthresh: Signal<Out, Bits<8>>,
    pub hthresh: Signal<Out, Bits<8>>,
    pub batch: Signal<Out, Bits<8>>,
    pub wthresh: Signal<Out, Bits<8>>,
    pub low_water: Signal<Out, Bits<16>>,
    pub wtimer: Signal<Out, Bits<24>>,
    pub tail: Signal<Out, Bits<16>>,
    pub scatter: Signal<Out, Bit>,
    pub format: Signal<Out, Bits<2>>,
    pub split: Signal<Out, Bits<3>>,
    pub split_bytes: Signal<Out, Bits<10>>,
    pub index_enable: Signal<Out, Bit>,
    pub index_address: Signal<Out, Bits<64>>,
    /// All blocks of the queue have come to rest.
    pub idle: Signal<In, Bit>,
    /// One cycle: stop the queue because of `cause`.
    pub error: Signal<In, Bit>,
    pub cause: Signal<In, Bits<4>>,
    pub head: Signal<In, Bits<16>>,
    pub producer: Signal<In, Bits<16>>,
    pub read: Signal<In, Bit>,
    pub read_count: Signal<In, Bits<6>>,
    pub starved: Signal<In, Bit>,
    pub waited: Signal<In, Bit>,
    pub frame: Signal<In, Bit>,
    pub drop_buffer: Signal<In, Bit>,
    pub low_event: Signal<In, Bit>,
    pub drop_no_descriptor: Signal<In, Bit>,
    pub drop_disabled: Signal<In, Bit>,
    pub cut: Signal<In, Bit>,
    bank: Bank<12, 3, 10>,
    stop: DFF<Bit>,
    why: DFF<Bits<4>>,
    tail_now: DFF<Bits<16>>,
    running: DFF<Bit>,
    status: Signal<Local, Bits<32>>,
    rest: DFF<Bit>,
}

impl QueueRegs {
    /// Registers that start at byte offset `base` of BAR 0.
    pub fn new(base: u32) -> Self {
        let thresholds = ferronic_contract::thresholds::Thresholds::default().register();
        let writable = [
            (queue::CONTROL, queue::CONTROL.bits(), 0),
            (queue::RING_LOW, 0xFFFF_F000, 0),
            (queue::RING_HIGH, u32::MAX, 0),
            (queue::SIZE, 0xF, 3),
            (queue::DONE_LOW, 0xFFFF_FFFC, 0),
            (queue::DONE_HIGH, u32::MAX, 0),
            (queue::THRESHOLDS, u32::MAX, thresholds),
            (queue::LOW_WATER, 0xFFFF, 0),
            (queue::WTIMER, 0xFF_FFFF, 0),
            (queue::TAIL, 0xFFFF, 0),
            (queue::INDEX_LOW, 0xFFFF_FFFC, 0),
            (queue::INDEX_HIGH, u32::MAX, 0),
        ];
        let counters = [
            queue::READS,
            queue::DESCRIPTORS,
            queue::STARVED,
            queue::WAITED,
            queue::FRAMES,
            queue::DROP_BUFFER,
            queue::LOW_WATER_EVENTS,
            queue::DROP_NO_DESCRIPTOR,
            queue::DROP_DISABLED,
            queue::CUT,
        ];
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            enable: Default::default(),
            stopped: Default::default(),
            base: Default::default(),
            size_log2: Default::default(),
            done: Default::default(),
            pthresh: Default::default(),
            hthresh: Default::default(),
            batch: Default::default(),
            wthresh: Default::default(),
            low_water: Default::default(),
            wtimer: Default::default(),
            tail: Default::default(),
            scatter: Default::default(),
            format: Default::default(),
            split: Default::default(),
            split_bytes: Default::default(),
            index_enable: Default::default(),
            index_address: Default::default(),
            idle: Default::default(),
            error: Default::default(),
            cause: Default::default(),
            head: Default::default(),
            producer: Default::default(),
            read: Default::default(),
            read_count: Default::default(),
            starved: Default::default(),
            waited: Default::default(),
            frame: Default::default(),
            drop_buffer: Default::default(),
            low_event: Default::default(),
            drop_no_descriptor: Default::default(),
            drop_disabled: Default::default(),
            cut: Default::default(),
            bank: Bank::new(base, writable, [queue::STATUS, queue::HEAD, queue::DONE], counters),
            stop: Default::default(),
            why: Default::default(),
            tail_now: Default::default(),
            running: Default::default(),
            status: Default::default(),
            rest: Default::default(),
        }
    }
}

impl Logic for QueueRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stop, why, tail_now, running, rest);
        self.bank.clock.next = self.clock.val();
        self.bank.reset.next = self.reset.val();
        self.bank.bus_addr.next = self.bus_addr.val();
        self.bank.bus_wdata.next = self.bus_wdata.val();
        self.bank.bus_write.next = self.bus_write.val();
        self.bank.bus_read.next = self.bus_read.val();
        self.rdata.next = self.bank.rdata.val();
        self.running.d.next = self.bank.value[0].val().get_bit(0);
        self.enable.next = self.running.q.val();
        self.base.next = bit_cast::<52, 20>(self.bank.value[1].val().get_bits::<20>(12))
            | (bit_cast::<52, 32>(self.bank.value[2].val()) << 20);
        self.size_log2.next = self.bank.value[3].val().get_bits::<4>(0);
        self.done.next = bit_cast::<64, 32>(self.bank.value[4].val()) | (bit_cast::<64, 32>(self.bank.value[5].val()) << 32);
        self.pthresh.next = self.bank.value[6].val().get_bits::<8>(0);
        self.hthresh.next = self.bank.value[6].val().get_bits::<8>(8);
        self.batch.next = self.bank.value[6].val().get_bits::<8>(16);
        self.wthresh.next = self.bank.value[6].val().get_bits::<8>(24);
        self.low_water.next = self.bank.value[7].val().get_bits::<16>(0);
        self.wtimer.next = self.bank.value[8].val().get_bits::<24>(0);
        self.scatter.next = self.bank.value[0].val().get_bit(1);
        self.format.next = self.bank.value[0].val().get_bits::<2>(2);
        self.index_enable.next = self.bank.value[0].val().get_bit(4);
        self.split.next = self.bank.value[0].val().get_bits::<3>(8);
        self.split_bytes.next = self.bank.value[0].val().get_bits::<10>(16);
        self.index_address.next = bit_cast::<64, 32>(self.bank.value[10].val()) | (bit_cast::<64, 32>(self.bank.value[11].val()) << 32);

        // A doorbell counts only while the queue runs, so that enabling starts at 0.
        if self.bank.written[9].val() {
            self.tail_now.d.next = self.bank.value[9].val().get_bits::<16>(0);
        }
        if self.error.val() & !self.stop.q.val() {
            self.stop.d.next = true;
            self.why.d.next = self.cause.val();
        }
        if !self.running.q.val() {
            self.tail_now.d.next = 0.into();
            self.stop.d.next = false;
            self.why.d.next = 0.into();
        }
        self.tail.next = self.tail_now.q.val();
        self.stopped.next = self.stop.q.val();

        self.rest.d.next = self.idle.val() & (!self.running.q.val() | self.stop.q.val());
        self.status.next = bit_cast::<32, 4>(self.why.q.val()) << 4;
        if self.rest.q.val() {
            self.status.next = self.status.val() | 1;
        }
        if self.stop.q.val() {
            self.status.next = self.status.val() | 2;
        }
        self.bank.show[0].next = self.status.val();
        self.bank.show[1].next = bit_cast::<32, 16>(self.head.val());
        self.bank.show[2].next = bit_cast::<32, 16>(self.producer.val());
        self.bank.amount[0].next = bit_cast::<6, 1>(self.read.val().into());
        self.bank.amount[1].next = 0.into();
        if self.read.val() {
            self.bank.amount[1].next = self.read_count.val();
        }
        self.bank.amount[2].next = bit_cast::<6, 1>(self.starved.val().into());
        self.bank.amount[3].next = bit_cast::<6, 1>(self.waited.val().into());
        self.bank.amount[4].next = bit_cast::<6, 1>(self.frame.val().into());
        self.bank.amount[5].next = bit_cast::<6, 1>(self.drop_buffer.val().into());
        self.bank.amount[6].next = bit_cast::<6, 1>(self.low_event.val().into());
        self.bank.amount[7].next = bit_cast::<6, 1>(self.drop_no_descriptor.val().into());
        self.bank.amount[8].next = bit_cast::<6, 1>(self.drop_disabled.val().into());
        self.bank.amount[9].next = bit_cast::<6, 1>(self.cut.val().into());

        if self.reset.val() {
            self.running.d.next = false;
            self.tail_now.d.next = 0.into();
            self.stop.d.next = false;
            self.why.d.next = 0.into();
        }
    }
}

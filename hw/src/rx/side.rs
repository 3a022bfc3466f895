//! The receiving side: the queues with their registers, interrupt vectors and descriptors, and the path that they share.
//!
//! ```text
//! wire → intake ─ oldest frame → deliver ─ chunks → payload → memory writes
//!                                  ↑  └ completions → complete → completion writes
//! register bus → queue registers → descriptors       └ producers → vectors
//! ```
//!
//! Frames keep their order from the wire to memory. One whose queue has no descriptor holds up the others for HOLD
//! cycles at most, once until its queue has a descriptor again.

use super::complete::Complete;
use super::deliver::Deliver;
use super::intake::Intake;
use super::payload::Payload;
use crate::read::queues::Descriptors;
use crate::regs::queue::QueueRegs;
use crate::regs::vector::VectorRegs;
use ferronic_contract::registers;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Tag of the first queue's descriptor reads.
const FIRST_TAG: u64 = 16;

/// NQ queues. W = 8·K bits a beat, K = 2^Q; 2^A words in the packet FIFO, A + Q = 15, AP1 = A + 1; N = 1024 / W;
/// H, the larger of W and 128; S = H / 128, B = H / 64; 2^T = 128·NQ / B.
#[derive(LogicBlock)]
pub struct RxSide<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const B: usize, const NQ: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The core is about to be reset: no queue runs.
    pub hold: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub wire_valid: Signal<In, Bit>,
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_keep: Signal<In, Bits<K>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    pub rx_enable: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    pub now: Signal<In, Bits<32>>,
    /// Registers HOLD, RX_MODE, HASH_FILTER, RSS, FLOW.
    pub longest_wait: Signal<In, Bits<24>>,
    pub rx_mode: Signal<In, Bits<32>>,
    pub hash_filter: Signal<In, Bits<32>>,
    pub rss: Signal<In, Bits<32>>,
    pub flow: Signal<In, Bits<32>>,
    pub epoch_write: Signal<Out, Bit>,
    pub new_epoch: Signal<Out, Bits<3>>,
    /// The other side asks to send nothing.
    pub pause: Signal<Out, Bit>,
    pub fill: Signal<Out, Bits<16>>,
    pub mps: Signal<In, Bits<3>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub dead: Signal<In, Bits<32>>,
    // Descriptor reads and what they bring.
    pub a_valid: Signal<Out, Bit>,
    pub a_addr: Signal<Out, Bits<64>>,
    pub a_bytes: Signal<Out, Bits<13>>,
    pub a_tag: Signal<Out, Bits<8>>,
    pub a_ready: Signal<In, Bit>,
    pub t_valid: Signal<In, Bit>,
    pub t_data: Signal<In, Bits<W>>,
    pub t_tag: Signal<In, Bits<8>>,
    pub t_lanes: Signal<In, Bits<5>>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    pub t_done_cause: Signal<In, Bits<4>>,
    pub pay_valid: Signal<Out, Bit>,
    pub pay_addr: Signal<Out, Bits<64>>,
    pub pay_wide: Signal<Out, Bit>,
    pub pay_dwords: Signal<Out, Bits<11>>,
    pub pay_first_be: Signal<Out, Bits<4>>,
    pub pay_last_be: Signal<Out, Bits<4>>,
    pub pay_data: Signal<Out, Bits<W>>,
    pub pay_last: Signal<Out, Bit>,
    pub pay_ready: Signal<In, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_addr: Signal<Out, Bits<64>>,
    pub done_dwords: Signal<Out, Bits<5>>,
    pub done_data: Signal<Out, Bits<512>>,
    pub done_ready: Signal<In, Bit>,
    /// A bit a queue.
    pub fire: Signal<Out, Bits<16>>,
    pub frame_in: Signal<Out, Bit>,
    /// Why a frame is dropped at the wire, one bit of: disabled, bad, undersize, oversize, FIFO, no descriptor.
    pub drop: Signal<Out, Bits<6>>,
    pub drop_filter: Signal<Out, Bit>,
    pub pause_in: Signal<Out, Bit>,
    /// The oldest frame taken is decided on: its queue, and why it is dropped if it is, one bit of: PAUSE, filter,
    /// disabled, no descriptor, buffer; or that it is cut short.
    pub head: Signal<Out, Bit>,
    pub head_drop: Signal<Out, Bits<6>>,
    pub head_queue: Signal<Out, Bits<4>>,
    /// Nothing in flight.
    pub idle: Signal<Out, Bit>,
    intake: Intake<W, K, Q, A, AP1, N, H, S>,
    queue: [QueueRegs; NQ],
    vector: [VectorRegs; NQ],
    descriptors: Descriptors<W, NQ, H, B, T>,
    deliver: Deliver<K>,
    payload: Payload<W, K, Q, A>,
    complete: Complete<NQ>,
    // Queues that are enabled; that are not stopped either.
    run: DFF<Bits<16>>,
    running: DFF<Bits<16>>,
    active: DFF<Bit>,
    framed: DFF<Bit>,
    framed_queue: DFF<Bits<4>>,
    quiet: DFF<Bit>,
    rest: [Signal<Local, Bit>; NQ],
    resting: Signal<Local, Bits<16>>,
    answer: Signal<Local, Bits<32>>,
    // A descriptor was taken: what is not looked at in the next cycle may move a cycle late.
    take: DFF<Bit>,
    // What the frame's queue asks for.
    scatter: DFF<Bit>,
    split: DFF<Bits<3>>,
    split_bytes: DFF<Bits<10>>,
    discards: Signal<Local, Bits<6>>,
    first_tag: Constant<Bits<8>>,
    can_split: Constant<Bit>,
    can_compact: Constant<Bit>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const B: usize, const NQ: usize, const T: usize> RxSide<W, K, Q, A, AP1, N, H, S, B, NQ, T> {
    /// In a build with these features (value of FEATURES).
    pub fn new(features: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            hold: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_error: Default::default(),
            rx_enable: Default::default(),
            max_frame: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            now: Default::default(),
            longest_wait: Default::default(),
            rx_mode: Default::default(),
            hash_filter: Default::default(),
            rss: Default::default(),
            flow: Default::default(),
            epoch_write: Default::default(),
            new_epoch: Default::default(),
            pause: Default::default(),
            fill: Default::default(),
            mps: Default::default(),
            mrrs: Default::default(),
            dead: Default::default(),
            a_valid: Default::default(),
            a_addr: Default::default(),
            a_bytes: Default::default(),
            a_tag: Default::default(),
            a_ready: Default::default(),
            t_valid: Default::default(),
            t_data: Default::default(),
            t_tag: Default::default(),
            t_lanes: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            t_done_cause: Default::default(),
            pay_valid: Default::default(),
            pay_addr: Default::default(),
            pay_wide: Default::default(),
            pay_dwords: Default::default(),
            pay_first_be: Default::default(),
            pay_last_be: Default::default(),
            pay_data: Default::default(),
            pay_last: Default::default(),
            pay_ready: Default::default(),
            done_valid: Default::default(),
            done_addr: Default::default(),
            done_dwords: Default::default(),
            done_data: Default::default(),
            done_ready: Default::default(),
            fire: Default::default(),
            frame_in: Default::default(),
            drop: Default::default(),
            drop_filter: Default::default(),
            pause_in: Default::default(),
            head: Default::default(),
            head_drop: Default::default(),
            head_queue: Default::default(),
            idle: Default::default(),
            intake: Intake::new(features),
            queue: std::array::from_fn(|queue| {
                QueueRegs::new(registers::RX_QUEUE + queue as u32 * registers::QUEUE_STRIDE)
            }),
            vector: std::array::from_fn(|queue| VectorRegs::new(registers::rx_vector(queue as u32))),
            descriptors: Default::default(),
            deliver: Default::default(),
            payload: Default::default(),
            complete: Default::default(),
            run: Default::default(),
            running: Default::default(),
            active: Default::default(),
            quiet: Default::default(),
            framed: Default::default(),
            framed_queue: Default::default(),
            rest: std::array::from_fn(|_| Default::default()),
            resting: Default::default(),
            answer: Default::default(),
            take: Default::default(),
            scatter: Default::default(),
            split: Default::default(),
            split_bytes: Default::default(),
            discards: Default::default(),
            first_tag: Constant::new(FIRST_TAG.into()),
            can_split: Constant::new(registers::FEATURE_SPLIT.of(features) == 1),
            can_compact: Constant::new(registers::FEATURE_COMPACT.of(features) == 1),
        }
    }
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const B: usize, const NQ: usize, const T: usize> Logic for RxSide<W, K, Q, A, AP1, N, H, S, B, NQ, T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, framed, framed_queue, run, running, active, quiet, take, scatter, split, split_bytes);
        self.intake.clock.next = self.clock.val();
        self.intake.reset.next = self.reset.val();
        self.descriptors.clock.next = self.clock.val();
        self.descriptors.reset.next = self.reset.val();
        self.deliver.clock.next = self.clock.val();
        self.deliver.reset.next = self.reset.val();
        self.payload.clock.next = self.clock.val();
        self.payload.reset.next = self.reset.val();
        self.complete.clock.next = self.clock.val();
        self.complete.reset.next = self.reset.val();

        self.run.d.next = 0.into();
        self.running.d.next = 0.into();
        for i in 0_usize..NQ {
            self.run.d.next = self.run.d.val().replace_bit(i, self.queue[i].enable.val() & !self.hold.val());
            self.running.d.next = self.running.d.val().replace_bit(
                i,
                self.queue[i].enable.val() & !self.hold.val() & !self.queue[i].stopped.val(),
            );
        }

        // From the wire.
        self.intake.wire_valid.next = self.wire_valid.val();
        self.intake.wire_data.next = self.wire_data.val();
        self.intake.wire_keep.next = self.wire_keep.val();
        self.intake.wire_last.next = self.wire_last.val();
        self.intake.wire_error.next = self.wire_error.val();
        self.intake.max_frame.next = self.max_frame.val();
        self.intake.own_mac.next = self.own_mac.val();
        self.intake.epoch.next = self.epoch.val();
        self.intake.now.next = self.now.val();
        self.intake.rx_mode.next = self.rx_mode.val();
        self.intake.hash_filter.next = self.hash_filter.val();
        self.intake.rss.next = self.rss.val();
        self.intake.flow.next = self.flow.val();
        self.intake.bus_addr.next = self.bus_addr.val();
        self.intake.bus_wdata.next = self.bus_wdata.val();
        self.intake.bus_write.next = self.bus_write.val();
        self.intake.bus_read.next = self.bus_read.val();
        self.active.d.next = self.rx_enable.val() & self.running.q.val().any();
        self.intake.active.next = self.active.q.val();
        self.intake.starved.next = self.deliver.starved.val();
        self.intake.free.next = self.payload.free.val();
        self.intake.read_address.next = self.payload.read_address.val();
        self.intake.m_ready.next = self.deliver.m_ready.val();
        self.epoch_write.next = self.intake.epoch_write.val();
        self.new_epoch.next = self.intake.new_epoch.val();
        self.fill.next = self.intake.fill.val();
        self.frame_in.next = self.intake.frame_in.val();
        self.pause.next = self.intake.hold.val();
        self.drop.next = bit_cast::<6, 1>(self.intake.drop_disabled.val().into())
            | (bit_cast::<6, 1>(self.intake.drop_bad.val().into()) << 1)
            | (bit_cast::<6, 1>(self.intake.drop_undersize.val().into()) << 2)
            | (bit_cast::<6, 1>(self.intake.drop_oversize.val().into()) << 3)
            | (bit_cast::<6, 1>(self.intake.drop_fifo.val().into()) << 4)
            | (bit_cast::<6, 1>(self.intake.drop_no_descriptor.val().into()) << 5);

        // Descriptors.
        self.descriptors.mrrs.next = self.mrrs.val();
        self.descriptors.dead.next = self.dead.val();
        self.descriptors.t_valid.next = self.t_valid.val();
        self.descriptors.t_data.next = self.t_data.val();
        self.descriptors.t_tag.next = self.t_tag.val();
        self.descriptors.t_lanes.next = self.t_lanes.val();
        self.descriptors.first_tag.next = self.first_tag.val();
        self.descriptors.t_done.next = self.t_done.val();
        self.descriptors.t_done_tag.next = self.t_done_tag.val();
        self.descriptors.t_done_cause.next = self.t_done_cause.val();
        self.a_valid.next = self.descriptors.r_valid.val();
        self.a_addr.next = self.descriptors.r_addr.val();
        self.a_bytes.next = self.descriptors.r_bytes.val();
        self.a_tag.next = self.descriptors.r_tag.val();
        self.descriptors.r_ready.next = self.a_ready.val();
        self.descriptors.want.next = self.deliver.d_queue.val();
        // Delivery does not look at d_* in the cycle after, and then names the same queue still.
        self.take.d.next = self.deliver.d_take.val();
        self.descriptors.d_take.next = self.take.q.val();
        self.scatter.d.next = false;
        self.split.d.next = 0.into();
        self.split_bytes.d.next = 0.into();
        for i in 0_usize..NQ {
            self.descriptors.enable[i].next = self.run.q.val().get_bit(i);
            self.descriptors.stopped[i].next = self.queue[i].stopped.val();
            self.descriptors.base[i].next = self.queue[i].base.val();
            self.descriptors.size_log2[i].next = self.queue[i].size_log2.val();
            self.descriptors.tail[i].next = self.queue[i].tail.val();
            self.descriptors.pthresh[i].next = self.queue[i].pthresh.val();
            self.descriptors.hthresh[i].next = self.queue[i].hthresh.val();
            self.descriptors.batch[i].next = self.queue[i].batch.val();
            self.descriptors.low_water[i].next = self.queue[i].low_water.val();
            if self.deliver.d_queue.val() == i.to_bits::<4>() {
                self.scatter.d.next = self.queue[i].scatter.val() & self.can_split.val();
                if self.can_split.val() {
                    self.split.d.next = self.queue[i].split.val();
                }
                self.split_bytes.d.next = self.queue[i].split_bytes.val();
            }
        }

        // Delivery.
        self.deliver.mps.next = self.mps.val();
        self.deliver.hold.next = self.longest_wait.val();
        self.deliver.active.next = self.running.q.val();
        self.deliver.m_valid.next = self.intake.m_valid.val();
        self.deliver.m_data.next = self.intake.m_data.val();
        self.deliver.f_drop.next = self.intake.f_drop.val();
        self.deliver.f_rss.next = self.intake.f_rss.val();
        self.deliver.f_queue.next = self.intake.f_queue.val();
        self.deliver.f_filter.next = self.intake.f_filter.val();
        self.deliver.f_tag.next = self.intake.f_tag.val();
        // The intake shows a frame when both its template and its decision are there.
        self.deliver.f_valid.next = self.intake.m_valid.val();
        self.deliver.d_valid.next = self.descriptors.d_valid.val();
        self.deliver.d_data.next = self.descriptors.d_data.val();
        self.deliver.q_scatter.next = self.scatter.q.val();
        self.deliver.q_split.next = self.split.q.val();
        self.deliver.q_split_bytes.next = self.split_bytes.q.val();
        self.deliver.c_room.next = self.complete.c_room.val();
        self.payload.k_valid.next = self.deliver.k_valid.val();
        self.payload.k_queue.next = self.deliver.k_queue.val();
        self.payload.k_address.next = self.deliver.k_address.val();
        self.payload.k_position.next = self.deliver.k_position.val();
        self.payload.k_bytes.next = self.deliver.k_bytes.val();
        self.payload.k_close.next = self.deliver.k_close.val();
        self.payload.k_last.next = self.deliver.k_last.val();
        self.payload.k_empty.next = self.deliver.k_empty.val();
        self.payload.k_end.next = self.deliver.k_end.val();
        self.deliver.k_ready.next = self.payload.k_ready.val();
        self.payload.read_data.next = self.intake.read_data.val();
        self.pay_valid.next = self.payload.pay_valid.val();
        self.pay_addr.next = self.payload.pay_addr.val();
        self.pay_wide.next = self.payload.pay_wide.val();
        self.pay_dwords.next = self.payload.pay_dwords.val();
        self.pay_first_be.next = self.payload.pay_first_be.val();
        self.pay_last_be.next = self.payload.pay_last_be.val();
        self.pay_data.next = self.payload.pay_data.val();
        self.pay_last.next = self.payload.pay_last.val();
        self.payload.pay_ready.next = self.pay_ready.val();

        self.framed.d.next = self.payload.frame.val();
        self.framed_queue.d.next = self.payload.frame_queue.val();

        // Completions.
        self.complete.c_valid.next = self.deliver.c_valid.val();
        self.complete.c_queue.next = self.deliver.c_queue.val();
        self.complete.c_data.next = self.deliver.c_data.val();
        self.complete.holds.next = self.deliver.holds.val();
        self.complete.holds_queue.next = self.deliver.holds_queue.val();
        self.complete.gone.next = self.payload.gone.val();
        self.complete.gone_queue.next = self.payload.frame_queue.val();
        self.done_valid.next = self.complete.done_valid.val();
        self.done_addr.next = self.complete.done_addr.val();
        self.done_dwords.next = self.complete.done_dwords.val();
        self.done_data.next = self.complete.done_data.val();
        self.complete.done_ready.next = self.done_ready.val();
        for i in 0_usize..NQ {
            self.complete.enable[i].next = self.run.q.val().get_bit(i);
            self.complete.stopped[i].next = self.queue[i].stopped.val();
            self.complete.base[i].next = self.queue[i].done.val().get_bits::<52>(12);
            self.complete.size_log2[i].next = self.queue[i].size_log2.val();
            self.complete.wthresh[i].next = self.queue[i].wthresh.val();
            self.complete.wtimer[i].next = self.queue[i].wtimer.val();
            self.complete.format[i].next = 0.into();
            if self.can_compact.val() {
                self.complete.format[i].next = self.queue[i].format.val();
            }
            self.complete.index_enable[i].next = self.queue[i].index_enable.val() & self.can_compact.val();
            self.complete.index_address[i].next = self.queue[i].index_address.val();
        }

        // Queues and their vectors.
        self.answer.next = self.intake.rdata.val();
        self.fire.next = 0.into();
        self.resting.next = 0xFFFF.into();
        for i in 0_usize..NQ {
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
            self.queue[i].bus_addr.next = self.bus_addr.val();
            self.queue[i].bus_wdata.next = self.bus_wdata.val();
            self.queue[i].bus_write.next = self.bus_write.val();
            self.queue[i].bus_read.next = self.bus_read.val();
            self.vector[i].clock.next = self.clock.val();
            self.vector[i].reset.next = self.reset.val();
            self.vector[i].bus_addr.next = self.bus_addr.val();
            self.vector[i].bus_wdata.next = self.bus_wdata.val();
            self.vector[i].bus_write.next = self.bus_write.val();
            self.vector[i].bus_read.next = self.bus_read.val();
            self.answer.next = self.answer.val() | (self.queue[i].rdata.val() | self.vector[i].rdata.val());
            self.rest[i].next = self.descriptors.idle[i].val() & self.complete.idle[i].val();
            self.resting.next = self.resting.val().replace_bit(i, self.rest[i].val());
            self.queue[i].idle.next = self.rest[i].val();
            self.queue[i].error.next = self.descriptors.error[i].val();
            self.queue[i].cause.next = self.descriptors.cause[i].val();
            self.queue[i].head.next = self.descriptors.head[i].val();
            self.queue[i].producer.next = self.complete.producer[i].val();
            self.queue[i].read.next = self.descriptors.read_pulse[i].val();
            self.queue[i].read_count.next = self.descriptors.read_count[i].val();
            self.queue[i].low_event.next = self.descriptors.low_event[i].val();
            self.queue[i].starved.next =
                self.deliver.starved.val() & (self.deliver.wait_queue.val() == i.to_bits::<4>());
            self.queue[i].waited.next =
                self.deliver.waited.val() & (self.deliver.wait_queue.val() == i.to_bits::<4>());
            self.queue[i].frame.next =
                self.framed.q.val() & (self.framed_queue.q.val() == i.to_bits::<4>());
            self.queue[i].drop_buffer.next =
                self.deliver.e_buffer.val() & (self.deliver.e_queue.val() == i.to_bits::<4>());
            self.queue[i].drop_no_descriptor.next =
                self.deliver.e_no_descriptor.val() & (self.deliver.e_queue.val() == i.to_bits::<4>());
            self.queue[i].drop_disabled.next =
                self.deliver.e_disabled.val() & (self.deliver.e_queue.val() == i.to_bits::<4>());
            self.queue[i].cut.next =
                self.deliver.e_cut.val() & (self.deliver.e_queue.val() == i.to_bits::<4>());
            self.vector[i].producer.next = self.complete.producer[i].val();
            self.vector[i].urgent.next = self.descriptors.low_event[i].val() | self.descriptors.error[i].val();
            self.fire.next = self.fire.val().replace_bit(i, self.vector[i].fire.val());
        }
        self.rdata.next = self.answer.val();
        self.idle.next = self.quiet.q.val();
        self.quiet.d.next = (self.intake.idle.val() & self.resting.val().all())
            & (!self.deliver.busy.val() & !self.payload.busy.val());

        // What became of the oldest frame.
        self.drop_filter.next = self.deliver.e_filter.val();
        self.pause_in.next = self.deliver.e_pause.val();
        self.discards.next = bit_cast::<6, 1>(self.deliver.e_pause.val().into())
            | (bit_cast::<6, 1>(self.deliver.e_filter.val().into()) << 1)
            | (bit_cast::<6, 1>(self.deliver.e_disabled.val().into()) << 2)
            | (bit_cast::<6, 1>(self.deliver.e_no_descriptor.val().into()) << 3)
            | (bit_cast::<6, 1>(self.deliver.e_buffer.val().into()) << 4)
            | (bit_cast::<6, 1>(self.deliver.e_cut.val().into()) << 5);
        self.head.next = self.deliver.decided.val();
        self.head_drop.next = self.discards.val();
        self.head_queue.next = self.deliver.e_queue.val();
    }
}

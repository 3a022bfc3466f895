//! The sending side: one queue with its registers, its interrupt vector, its descriptors and its data path.
//!
//! ```text
//! register bus → queue registers → descriptors → path → wire, index
//!                    └────── vector ← producer ─┘
//! ```

use super::TxPath;
use crate::read::queues::Descriptors;
use crate::regs::queue::QueueRegs;
use crate::regs::vector::VectorRegs;
use ferronic_contract::registers;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Tag of the descriptor reads.
const TAG: u64 = 24;

/// W bits, K bytes, L dwords a beat; 2^B rows in the buffer, D = 2·W, X = W + 7; H, the larger of W and 128, S = H / 64,
/// 2^T = 128 / S.
#[derive(LogicBlock)]
pub struct TxSide<const W: usize, const K: usize, const L: usize, const B: usize, const D: usize, const X: usize, const H: usize, const S: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The core is about to be reset: no queue runs.
    pub hold: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub tx_enable: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub dead: Signal<In, Bits<32>>,
    // Descriptor reads, payload reads, and what they bring.
    pub b_valid: Signal<Out, Bit>,
    pub b_addr: Signal<Out, Bits<64>>,
    pub b_bytes: Signal<Out, Bits<13>>,
    pub b_tag: Signal<Out, Bits<8>>,
    pub b_ready: Signal<In, Bit>,
    pub p_valid: Signal<Out, Bit>,
    pub p_addr: Signal<Out, Bits<64>>,
    pub p_bytes: Signal<Out, Bits<13>>,
    pub p_tag: Signal<Out, Bits<8>>,
    pub p_ready: Signal<In, Bit>,
    pub t_valid: Signal<In, Bit>,
    pub t_data: Signal<In, Bits<W>>,
    pub t_tag: Signal<In, Bits<8>>,
    pub t_dword: Signal<In, Bits<10>>,
    pub t_lanes: Signal<In, Bits<5>>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    pub t_done_cause: Signal<In, Bits<4>>,
    pub wire_valid: Signal<Out, Bit>,
    pub wire_data: Signal<Out, Bits<W>>,
    pub wire_keep: Signal<Out, Bits<K>>,
    pub wire_last: Signal<Out, Bit>,
    pub wire_ready: Signal<In, Bit>,
    pub index_valid: Signal<Out, Bit>,
    pub index_addr: Signal<Out, Bits<64>>,
    pub index_data: Signal<Out, Bits<32>>,
    pub index_ready: Signal<In, Bit>,
    pub fire: Signal<Out, Bit>,
    /// Pulse: a frame has gone to the wire.
    pub frame: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,
    queue: QueueRegs,
    vector: VectorRegs,
    descriptors: Descriptors<W, 1, H, S, T>,
    path: TxPath<W, K, L, B, D, X>,
    run: DFF<Bit>,
    rest: Signal<Local, Bit>,
    error: Signal<Local, Bit>,
    tag: Constant<Bits<8>>,
}

impl<const W: usize, const K: usize, const L: usize, const B: usize, const D: usize, const X: usize, const H: usize, const S: usize, const T: usize> Default
    for TxSide<W, K, L, B, D, X, H, S, T>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            hold: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            tx_enable: Default::default(),
            max_frame: Default::default(),
            mrrs: Default::default(),
            dead: Default::default(),
            b_valid: Default::default(),
            b_addr: Default::default(),
            b_bytes: Default::default(),
            b_tag: Default::default(),
            b_ready: Default::default(),
            p_valid: Default::default(),
            p_addr: Default::default(),
            p_bytes: Default::default(),
            p_tag: Default::default(),
            p_ready: Default::default(),
            t_valid: Default::default(),
            t_data: Default::default(),
            t_tag: Default::default(),
            t_dword: Default::default(),
            t_lanes: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            t_done_cause: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_ready: Default::default(),
            index_valid: Default::default(),
            index_addr: Default::default(),
            index_data: Default::default(),
            index_ready: Default::default(),
            fire: Default::default(),
            frame: Default::default(),
            idle: Default::default(),
            queue: QueueRegs::new(registers::TX_QUEUE),
            vector: VectorRegs::new(registers::tx_vector(0)),
            descriptors: Default::default(),
            path: Default::default(),
            run: Default::default(),
            rest: Default::default(),
            error: Default::default(),
            tag: Constant::new(TAG.into()),
        }
    }
}

impl<const W: usize, const K: usize, const L: usize, const B: usize, const D: usize, const X: usize, const H: usize, const S: usize, const T: usize> Logic
    for TxSide<W, K, L, B, D, X, H, S, T>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, run);
        self.queue.clock.next = self.clock.val();
        self.queue.reset.next = self.reset.val();
        self.queue.bus_addr.next = self.bus_addr.val();
        self.queue.bus_wdata.next = self.bus_wdata.val();
        self.queue.bus_write.next = self.bus_write.val();
        self.queue.bus_read.next = self.bus_read.val();
        self.vector.clock.next = self.clock.val();
        self.vector.reset.next = self.reset.val();
        self.vector.bus_addr.next = self.bus_addr.val();
        self.vector.bus_wdata.next = self.bus_wdata.val();
        self.vector.bus_write.next = self.bus_write.val();
        self.vector.bus_read.next = self.bus_read.val();
        self.rdata.next = self.queue.rdata.val() | self.vector.rdata.val();
        self.run.d.next = self.queue.enable.val() & !self.hold.val();

        self.descriptors.clock.next = self.clock.val();
        self.descriptors.reset.next = self.reset.val();
        self.descriptors.first_tag.next = self.tag.val();
        self.descriptors.dead.next = self.dead.val();
        self.descriptors.want.next = 0.into();
        self.descriptors.enable[0].next = self.run.q.val();
        self.descriptors.stopped[0].next = self.queue.stopped.val();
        self.descriptors.base[0].next = self.queue.base.val();
        self.descriptors.size_log2[0].next = self.queue.size_log2.val();
        self.descriptors.tail[0].next = self.queue.tail.val();
        self.descriptors.pthresh[0].next = self.queue.pthresh.val();
        self.descriptors.hthresh[0].next = self.queue.hthresh.val();
        self.descriptors.batch[0].next = self.queue.batch.val();
        self.descriptors.low_water[0].next = self.queue.low_water.val();
        self.descriptors.mrrs.next = self.mrrs.val();
        self.b_valid.next = self.descriptors.r_valid.val();
        self.b_addr.next = self.descriptors.r_addr.val();
        self.b_bytes.next = self.descriptors.r_bytes.val();
        self.b_tag.next = self.descriptors.r_tag.val();
        self.descriptors.r_ready.next = self.b_ready.val();
        self.descriptors.t_valid.next = self.t_valid.val();
        self.descriptors.t_data.next = self.t_data.val();
        self.descriptors.t_tag.next = self.t_tag.val();
        self.descriptors.t_lanes.next = self.t_lanes.val();
        self.descriptors.t_done.next = self.t_done.val();
        self.descriptors.t_done_tag.next = self.t_done_tag.val();
        self.descriptors.t_done_cause.next = self.t_done_cause.val();

        self.path.clock.next = self.clock.val();
        self.path.reset.next = self.reset.val();
        self.path.enable.next = self.run.q.val();
        self.path.stopped.next = self.queue.stopped.val();
        self.path.tx_enable.next = self.tx_enable.val();
        self.path.max_frame.next = self.max_frame.val();
        self.path.mrrs.next = self.mrrs.val();
        self.path.wthresh.next = self.queue.wthresh.val();
        self.path.wtimer.next = self.queue.wtimer.val();
        self.path.done_addr.next = self.queue.done.val();
        self.path.d_valid.next = self.descriptors.d_valid.val();
        self.path.d_data.next = self.descriptors.d_data.val();
        self.descriptors.d_take.next = self.path.d_ready.val();
        self.p_valid.next = self.path.r_valid.val();
        self.p_addr.next = self.path.r_addr.val();
        self.p_bytes.next = self.path.r_bytes.val();
        self.p_tag.next = self.path.r_tag.val();
        self.path.r_ready.next = self.p_ready.val();
        self.path.dead.next = self.dead.val();
        self.path.t_valid.next = self.t_valid.val();
        self.path.t_data.next = self.t_data.val();
        self.path.t_tag.next = self.t_tag.val();
        self.path.t_dword.next = self.t_dword.val();
        self.path.t_lanes.next = self.t_lanes.val();
        self.path.t_done.next = self.t_done.val();
        self.path.t_done_tag.next = self.t_done_tag.val();
        self.path.t_done_cause.next = self.t_done_cause.val();
        self.wire_valid.next = self.path.wire_valid.val();
        self.wire_data.next = self.path.wire_data.val();
        self.wire_keep.next = self.path.wire_keep.val();
        self.wire_last.next = self.path.wire_last.val();
        self.path.wire_ready.next = self.wire_ready.val();
        self.index_valid.next = self.path.index_valid.val();
        self.index_addr.next = self.path.index_addr.val();
        self.index_data.next = self.path.index_data.val();
        self.path.index_ready.next = self.index_ready.val();

        // Two sources of errors.
        self.error.next = self.descriptors.error[0].val() | self.path.error.val();
        self.queue.error.next = self.error.val();
        self.queue.cause.next = self.descriptors.cause[0].val();
        if self.path.error.val() {
            self.queue.cause.next = self.path.cause.val();
        }
        self.rest.next = self.descriptors.idle[0].val() & self.path.idle.val();
        self.queue.idle.next = self.rest.val();
        self.queue.head.next = self.descriptors.head[0].val();
        self.queue.producer.next = self.path.producer.val();
        self.queue.read.next = self.descriptors.read_pulse[0].val();
        self.queue.read_count.next = self.descriptors.read_count[0].val();
        self.queue.low_event.next = self.descriptors.low_event[0].val();
        self.queue.starved.next =
            (!self.descriptors.d_valid.val() & !self.path.busy.val()) & !self.descriptors.idle[0].val();
        self.queue.frame.next = self.path.frame.val();
        self.queue.drop_buffer.next = self.path.drop.val();
        // What only receiving knows.
        self.queue.waited.next = false;
        self.queue.drop_no_descriptor.next = false;
        self.queue.drop_disabled.next = false;
        self.queue.cut.next = false;

        self.vector.producer.next = self.path.producer.val();
        self.vector.urgent.next = self.error.val();
        self.fire.next = self.vector.fire.val();
        self.frame.next = self.path.frame.val();
        self.idle.next = self.rest.val();
    }
}

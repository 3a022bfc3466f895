//! The core: PCI Express at one edge, the wire at the other, one queue pair between.
//!
//! ```text
//! wire_rx → rx ────────────── payload, completions ──→ ┐
//! wire_tx ← tx ── index ───────────────────────────→   pcie ⇄ TLP streams
//!           ↑ ↑── reads ─┐                             ↑ ↑
//!           │  rx_prefetch, tx_prefetch ── reads ─→ read │
//!           │                                 register bus, fire
//! global, rx_queue, tx_queue, rx_vector, tx_vector ←───┘
//! ```
//!
//! `reset` resets all; RESET in CONTROL and a function-level reset go through [`crate::restart`] and spare the PCIe side.
//! `event_*` tell, in the order of the wire, what becomes of each frame; a scoreboard or an LED may use them.

use crate::emit::verilog;
use crate::pcie::PcieSide;
use crate::read::queues::Descriptors;
use crate::read::ReadSide;
use crate::regs::global::{Build, GlobalRegs};
use crate::regs::queue::QueueRegs;
use crate::regs::vector::VectorRegs;
use crate::rx::RxPath;
use crate::restart::Restart;
use crate::tx::TxPath;
use ferronic_contract::registers;
use rust_hdl_core::prelude::*;

/// Rate of the core's clock in kHz.
pub const CLOCK_KHZ: u32 = 125_000;
/// Tags for payload reads.
pub const READ_TAGS: u32 = 16;
/// Tag of the RX queue's descriptor reads.
const RX_TAG: u64 = 16;
/// Tag of the TX queue's descriptor reads.
const TX_TAG: u64 = 24;

/// A core of one queue pair. W = 8·K = 32·L bits a beat, K = 2^Q; 2^A words in the RX packet FIFO, AP1 = A + 1;
/// N = 1024 / W words in the header window; H, the larger of W and 128; 2^B rows in the TX buffer, D = 2·W, X = W + 7;
/// S = H / 64 banks of 2^T = 128 / S rows for descriptors.
#[derive(LogicBlock)]
pub struct Core<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const B: usize, const D: usize, const X: usize, const S: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub rx_valid: Signal<In, Bit>,
    pub rx_data: Signal<In, Bits<W>>,
    pub rx_keep: Signal<In, Bits<L>>,
    pub rx_last: Signal<In, Bit>,
    pub rx_ready: Signal<Out, Bit>,
    pub tx_valid: Signal<Out, Bit>,
    pub tx_data: Signal<Out, Bits<W>>,
    pub tx_keep: Signal<Out, Bits<L>>,
    pub tx_last: Signal<Out, Bit>,
    pub tx_ready: Signal<In, Bit>,
    /// One more read request will be taken.
    pub np_ready: Signal<In, Bit>,
    pub wire_rx_valid: Signal<In, Bit>,
    pub wire_rx_data: Signal<In, Bits<W>>,
    pub wire_rx_keep: Signal<In, Bits<K>>,
    pub wire_rx_last: Signal<In, Bit>,
    pub wire_rx_error: Signal<In, Bit>,
    pub wire_tx_valid: Signal<Out, Bit>,
    pub wire_tx_data: Signal<Out, Bits<W>>,
    pub wire_tx_keep: Signal<Out, Bits<K>>,
    pub wire_tx_last: Signal<Out, Bit>,
    pub wire_tx_ready: Signal<In, Bit>,
    /// A frame from the wire has ended.
    pub event_in: Signal<Out, Bit>,
    /// With `event_in`: why it is dropped, one bit of: disabled, bad, undersize, oversize, FIFO, no descriptor.
    pub event_drop: Signal<Out, Bits<6>>,
    /// The oldest frame taken is in memory.
    pub event_delivered: Signal<Out, Bit>,
    /// The oldest frame taken is dropped, longer than its buffer.
    pub event_drop_buffer: Signal<Out, Bit>,
    /// The oldest frame taken is given up, its queue disabled or stopped.
    pub event_drop_late: Signal<Out, Bit>,
    restart: Restart,
    pcie: PcieSide<W, L, 2, 1, 3>,
    read: ReadSide<W, L>,
    rx_prefetch: Descriptors<W, 1, H, S, T>,
    tx_prefetch: Descriptors<W, 1, H, S, T>,
    rx: RxPath<W, K, Q, A, AP1, N>,
    tx: TxPath<W, K, L, B, D, X>,
    global: GlobalRegs,
    rx_queue: QueueRegs,
    tx_queue: QueueRegs,
    rx_vector: VectorRegs,
    tx_vector: VectorRegs,
    full_write: Signal<Local, Bit>,
    rx_run: Signal<Local, Bit>,
    tx_run: Signal<Local, Bit>,
    tx_starved: Signal<Local, Bit>,
    rx_idle: Signal<Local, Bit>,
    tx_idle: Signal<Local, Bit>,
    fire: Signal<Local, Bits<2>>,
    drops: Signal<Local, Bits<6>>,
    rx_tag: Constant<Bits<8>>,
    tx_tag: Constant<Bits<8>>,
}

impl<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const B: usize, const D: usize, const X: usize, const S: usize, const T: usize> Default for Core<W, K, L, Q, A, AP1, N, H, B, D, X, S, T> {
    fn default() -> Self {
        assert!(W == 8 * K && W == 32 * L && K == 1 << Q && A + 1 == AP1 && D == 2 * W && X == W + 7);
        let build = Build {
            rx_queues: 1,
            tx_queues: 1,
            features: registers::FEATURE_L2.mask(),
            stream_bytes: K as u32,
            rx_fifo_log2: (A + Q) as u32,
            read_tags: READ_TAGS,
            clock_khz: CLOCK_KHZ,
        };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            rx_valid: Default::default(),
            rx_data: Default::default(),
            rx_keep: Default::default(),
            rx_last: Default::default(),
            rx_ready: Default::default(),
            tx_valid: Default::default(),
            tx_data: Default::default(),
            tx_keep: Default::default(),
            tx_last: Default::default(),
            tx_ready: Default::default(),
            np_ready: Default::default(),
            wire_rx_valid: Default::default(),
            wire_rx_data: Default::default(),
            wire_rx_keep: Default::default(),
            wire_rx_last: Default::default(),
            wire_rx_error: Default::default(),
            wire_tx_valid: Default::default(),
            wire_tx_data: Default::default(),
            wire_tx_keep: Default::default(),
            wire_tx_last: Default::default(),
            wire_tx_ready: Default::default(),
            event_in: Default::default(),
            event_drop: Default::default(),
            event_delivered: Default::default(),
            event_drop_buffer: Default::default(),
            event_drop_late: Default::default(),
            restart: Default::default(),
            pcie: Default::default(),
            read: Default::default(),
            rx_prefetch: Default::default(),
            tx_prefetch: Default::default(),
            rx: Default::default(),
            tx: Default::default(),
            global: GlobalRegs::new(build),
            rx_queue: QueueRegs::new(registers::RX_QUEUE),
            tx_queue: QueueRegs::new(registers::TX_QUEUE),
            rx_vector: VectorRegs::new(registers::rx_vector(0)),
            tx_vector: VectorRegs::new(registers::tx_vector(0)),
            full_write: Default::default(),
            rx_run: Default::default(),
            tx_run: Default::default(),
            tx_starved: Default::default(),
            rx_idle: Default::default(),
            tx_idle: Default::default(),
            fire: Default::default(),
            drops: Default::default(),
            rx_tag: Constant::new(RX_TAG.into()),
            tx_tag: Constant::new(TX_TAG.into()),
        }
    }
}

impl<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const B: usize, const D: usize, const X: usize, const S: usize, const T: usize> Logic for Core<W, K, L, Q, A, AP1, N, H, B, D, X, S, T> {
    #[hdl_gen]
    fn update(&mut self) {
        // Only whole dwords are written.
        self.full_write.next = self.pcie.bus_write.val() & (self.pcie.bus_be.val() == 15);
        self.rx_idle.next = self.rx_prefetch.idle[0].val() & self.rx.idle.val();
        self.tx_idle.next = self.tx_prefetch.idle[0].val() & self.tx.idle.val();
        self.rx_run.next = self.rx_queue.enable.val() & !self.restart.hold.val();
        self.tx_run.next = self.tx_queue.enable.val() & !self.restart.hold.val();
        self.tx_starved.next = (!self.tx_prefetch.d_valid.val() & !self.tx.busy.val()) & !self.tx_prefetch.idle[0].val();

        // Clock and reset. The PCIe side lives on through a reset of the core: the host is still talking to it.
        self.pcie.clock.next = self.clock.val();
        self.pcie.reset.next = self.reset.val();
        self.pcie.core_reset.next = self.restart.core_reset.val();
        self.restart.clock.next = self.clock.val();
        self.restart.reset.next = self.reset.val();
        self.read.clock.next = self.clock.val();
        self.read.reset.next = self.restart.core_reset.val();
        self.rx_prefetch.clock.next = self.clock.val();
        self.rx_prefetch.reset.next = self.restart.core_reset.val();
        self.tx_prefetch.clock.next = self.clock.val();
        self.tx_prefetch.reset.next = self.restart.core_reset.val();
        self.rx.clock.next = self.clock.val();
        self.rx.reset.next = self.restart.core_reset.val();
        self.tx.clock.next = self.clock.val();
        self.tx.reset.next = self.restart.core_reset.val();
        self.global.clock.next = self.clock.val();
        self.global.reset.next = self.restart.core_reset.val();
        self.rx_queue.clock.next = self.clock.val();
        self.rx_queue.reset.next = self.restart.core_reset.val();
        self.tx_queue.clock.next = self.clock.val();
        self.tx_queue.reset.next = self.restart.core_reset.val();
        self.rx_vector.clock.next = self.clock.val();
        self.rx_vector.reset.next = self.restart.core_reset.val();
        self.tx_vector.clock.next = self.clock.val();
        self.tx_vector.reset.next = self.restart.core_reset.val();

        // TLP streams.
        self.pcie.rx_valid.next = self.rx_valid.val();
        self.pcie.rx_data.next = self.rx_data.val();
        self.pcie.rx_keep.next = self.rx_keep.val();
        self.pcie.rx_last.next = self.rx_last.val();
        self.rx_ready.next = self.pcie.rx_ready.val();
        self.tx_valid.next = self.pcie.tx_valid.val();
        self.tx_data.next = self.pcie.tx_data.val();
        self.tx_keep.next = self.pcie.tx_keep.val();
        self.tx_last.next = self.pcie.tx_last.val();
        self.pcie.tx_ready.next = self.tx_ready.val();
        self.pcie.np_ready.next = self.np_ready.val();

        // Completions of our reads to the tag table; its answers to everyone who reads.
        self.read.c_valid.next = self.pcie.c_valid.val();
        self.read.c_first.next = self.pcie.c_first.val();
        self.read.c_last.next = self.pcie.c_last.val();
        self.read.c_data.next = self.pcie.c_data.val();
        self.read.c_tag.next = self.pcie.c_tag.val();
        self.read.c_status.next = self.pcie.c_status.val();
        self.read.c_poisoned.next = self.pcie.c_poisoned.val();
        self.read.c_byte_count.next = self.pcie.c_byte_count.val();
        self.read.c_lower.next = self.pcie.c_lower.val();
        self.read.c_dwords.next = self.pcie.c_dwords.val();
        self.read.c_requester.next = self.pcie.c_requester.val();
        self.read.bdf.next = self.pcie.bdf.val();
        self.read.timeout.next = self.global.timeout.val();
        self.pcie.rd_valid.next = self.read.rd_valid.val();
        self.pcie.rd_addr.next = self.read.rd_addr.val();
        self.pcie.rd_dwords.next = self.read.rd_dwords.val();
        self.pcie.rd_first_be.next = self.read.rd_first_be.val();
        self.pcie.rd_last_be.next = self.read.rd_last_be.val();
        self.pcie.rd_tag.next = self.read.rd_tag.val();
        self.read.rd_ready.next = self.pcie.rd_ready.val();
        self.read.a_valid.next = self.rx_prefetch.r_valid.val();
        self.read.a_addr.next = self.rx_prefetch.r_addr.val();
        self.read.a_bytes.next = self.rx_prefetch.r_bytes.val();
        self.read.a_tag.next = self.rx_prefetch.r_tag.val();
        self.rx_prefetch.r_ready.next = self.read.a_ready.val();
        self.read.b_valid.next = self.tx_prefetch.r_valid.val();
        self.read.b_addr.next = self.tx_prefetch.r_addr.val();
        self.read.b_bytes.next = self.tx_prefetch.r_bytes.val();
        self.read.b_tag.next = self.tx_prefetch.r_tag.val();
        self.tx_prefetch.r_ready.next = self.read.b_ready.val();
        self.read.p_valid.next = self.tx.r_valid.val();
        self.read.p_addr.next = self.tx.r_addr.val();
        self.read.p_bytes.next = self.tx.r_bytes.val();
        self.read.p_tag.next = self.tx.r_tag.val();
        self.tx.r_ready.next = self.read.p_ready.val();
        self.tx.dead.next = self.read.dead.val();
        self.rx_prefetch.t_valid.next = self.read.o_valid.val();
        self.rx_prefetch.t_data.next = self.read.o_data.val();
        self.rx_prefetch.t_lanes.next = self.read.o_lanes.val();
        self.rx_prefetch.t_tag.next = self.read.o_tag.val();
        self.rx_prefetch.t_done.next = self.read.o_done.val();
        self.rx_prefetch.t_done_tag.next = self.read.o_done_tag.val();
        self.rx_prefetch.t_done_cause.next = self.read.o_done_cause.val();
        self.tx_prefetch.t_valid.next = self.read.o_valid.val();
        self.tx_prefetch.t_data.next = self.read.o_data.val();
        self.tx_prefetch.t_lanes.next = self.read.o_lanes.val();
        self.tx_prefetch.t_tag.next = self.read.o_tag.val();
        self.tx_prefetch.t_done.next = self.read.o_done.val();
        self.tx_prefetch.t_done_tag.next = self.read.o_done_tag.val();
        self.tx_prefetch.t_done_cause.next = self.read.o_done_cause.val();
        self.tx.t_valid.next = self.read.o_valid.val();
        self.tx.t_data.next = self.read.o_data.val();
        self.tx.t_tag.next = self.read.o_tag.val();
        self.tx.t_dword.next = self.read.o_dword.val();
        self.tx.t_lanes.next = self.read.o_lanes.val();
        self.tx.t_done.next = self.read.o_done.val();
        self.tx.t_done_tag.next = self.read.o_done_tag.val();
        self.tx.t_done_cause.next = self.read.o_done_cause.val();

        // Descriptors.
        self.rx_prefetch.first_tag.next = self.rx_tag.val();
        self.rx_prefetch.dead.next = self.read.dead.val();
        self.rx_prefetch.want.next = 0.into();
        self.tx_prefetch.first_tag.next = self.tx_tag.val();
        self.tx_prefetch.dead.next = self.read.dead.val();
        self.tx_prefetch.want.next = 0.into();
        self.rx_prefetch.enable[0].next = self.rx_run.val();
        self.rx_prefetch.stopped[0].next = self.rx_queue.stopped.val();
        self.rx_prefetch.base[0].next = self.rx_queue.base.val();
        self.rx_prefetch.size_log2[0].next = self.rx_queue.size_log2.val();
        self.rx_prefetch.tail[0].next = self.rx_queue.tail.val();
        self.rx_prefetch.pthresh[0].next = self.rx_queue.pthresh.val();
        self.rx_prefetch.hthresh[0].next = self.rx_queue.hthresh.val();
        self.rx_prefetch.batch[0].next = self.rx_queue.batch.val();
        self.rx_prefetch.low_water[0].next = self.rx_queue.low_water.val();
        self.rx_prefetch.mrrs.next = self.pcie.mrrs.val();
        self.rx.d_valid.next = self.rx_prefetch.d_valid.val();
        self.rx.d_data.next = self.rx_prefetch.d_data.val();
        self.rx_prefetch.d_take.next = self.rx.d_ready.val();
        self.tx_prefetch.enable[0].next = self.tx_run.val();
        self.tx_prefetch.stopped[0].next = self.tx_queue.stopped.val();
        self.tx_prefetch.base[0].next = self.tx_queue.base.val();
        self.tx_prefetch.size_log2[0].next = self.tx_queue.size_log2.val();
        self.tx_prefetch.tail[0].next = self.tx_queue.tail.val();
        self.tx_prefetch.pthresh[0].next = self.tx_queue.pthresh.val();
        self.tx_prefetch.hthresh[0].next = self.tx_queue.hthresh.val();
        self.tx_prefetch.batch[0].next = self.tx_queue.batch.val();
        self.tx_prefetch.low_water[0].next = self.tx_queue.low_water.val();
        self.tx_prefetch.mrrs.next = self.pcie.mrrs.val();
        self.tx.d_valid.next = self.tx_prefetch.d_valid.val();
        self.tx.d_data.next = self.tx_prefetch.d_data.val();
        self.tx_prefetch.d_take.next = self.tx.d_ready.val();

        // RX.
        self.rx.wire_valid.next = self.wire_rx_valid.val();
        self.rx.wire_data.next = self.wire_rx_data.val();
        self.rx.wire_keep.next = self.wire_rx_keep.val();
        self.rx.wire_last.next = self.wire_rx_last.val();
        self.rx.wire_error.next = self.wire_rx_error.val();
        self.rx.rx_enable.next = self.global.rx_enable.val();
        self.rx.own_mac.next = self.global.own_mac.val();
        self.rx.epoch.next = self.global.epoch.val();
        self.rx.max_frame.next = self.global.max_frame.val();
        self.rx.queue_enable.next = self.rx_run.val();
        self.rx.queue_stopped.next = self.rx_queue.stopped.val();
        self.rx.mps.next = self.pcie.mps.val();
        self.rx.done_base.next = self.rx_queue.done.val().get_bits::<52>(12);
        self.rx.size_log2.next = self.rx_queue.size_log2.val();
        self.rx.wthresh.next = self.rx_queue.wthresh.val();
        self.rx.wtimer.next = self.rx_queue.wtimer.val();
        self.pcie.pay_valid.next = self.rx.pay_valid.val();
        self.pcie.pay_addr.next = self.rx.pay_addr.val();
        self.pcie.pay_dwords.next = self.rx.pay_dwords.val();
        self.pcie.pay_first_be.next = self.rx.pay_first_be.val();
        self.pcie.pay_last_be.next = self.rx.pay_last_be.val();
        self.pcie.pay_data.next = self.rx.pay_data.val();
        self.pcie.pay_last.next = self.rx.pay_last.val();
        self.rx.pay_ready.next = self.pcie.pay_ready.val();
        self.pcie.done_valid.next = self.rx.done_valid.val();
        self.pcie.done_addr.next = self.rx.done_addr.val();
        self.pcie.done_data.next = self.rx.done_data.val();
        self.rx.done_ready.next = self.pcie.done_ready.val();

        // TX.
        self.wire_tx_valid.next = self.tx.wire_valid.val();
        self.wire_tx_data.next = self.tx.wire_data.val();
        self.wire_tx_keep.next = self.tx.wire_keep.val();
        self.wire_tx_last.next = self.tx.wire_last.val();
        self.tx.wire_ready.next = self.wire_tx_ready.val();
        self.tx.tx_enable.next = self.global.tx_enable.val();
        self.tx.max_frame.next = self.global.max_frame.val();
        self.tx.enable.next = self.tx_run.val();
        self.tx.stopped.next = self.tx_queue.stopped.val();
        self.tx.mrrs.next = self.pcie.mrrs.val();
        self.tx.done_addr.next = self.tx_queue.done.val();
        self.tx.wthresh.next = self.tx_queue.wthresh.val();
        self.tx.wtimer.next = self.tx_queue.wtimer.val();
        self.pcie.index_valid.next = self.tx.index_valid.val();
        self.pcie.index_addr.next = self.tx.index_addr.val();
        self.pcie.index_data.next = self.tx.index_data.val();
        self.tx.index_ready.next = self.pcie.index_ready.val();

        // Register bus.
        self.global.bus_addr.next = self.pcie.bus_addr.val();
        self.global.bus_wdata.next = self.pcie.bus_wdata.val();
        self.global.bus_read.next = self.pcie.bus_read.val();
        self.global.bus_write.next = self.full_write.val();
        self.rx_queue.bus_addr.next = self.pcie.bus_addr.val();
        self.rx_queue.bus_wdata.next = self.pcie.bus_wdata.val();
        self.rx_queue.bus_read.next = self.pcie.bus_read.val();
        self.rx_queue.bus_write.next = self.full_write.val();
        self.tx_queue.bus_addr.next = self.pcie.bus_addr.val();
        self.tx_queue.bus_wdata.next = self.pcie.bus_wdata.val();
        self.tx_queue.bus_read.next = self.pcie.bus_read.val();
        self.tx_queue.bus_write.next = self.full_write.val();
        self.rx_vector.bus_addr.next = self.pcie.bus_addr.val();
        self.rx_vector.bus_wdata.next = self.pcie.bus_wdata.val();
        self.rx_vector.bus_read.next = self.pcie.bus_read.val();
        self.rx_vector.bus_write.next = self.full_write.val();
        self.tx_vector.bus_addr.next = self.pcie.bus_addr.val();
        self.tx_vector.bus_wdata.next = self.pcie.bus_wdata.val();
        self.tx_vector.bus_read.next = self.pcie.bus_read.val();
        self.tx_vector.bus_write.next = self.full_write.val();
        self.pcie.bus_rdata.next = ((self.global.rdata.val() | self.rx_queue.rdata.val()) | (self.tx_queue.rdata.val() | self.rx_vector.rdata.val())) | self.tx_vector.rdata.val();

        // Counters and errors.
        self.global.frame_in.next = self.rx.frame_in.val();
        self.global.drop_disabled.next = self.rx.drop_disabled.val();
        self.global.drop_filter.next = false;
        self.global.pause_in.next = false;
        self.global.pause_out.next = false;
        self.global.epoch_write.next = false;
        self.global.new_epoch.next = 0.into();
        self.global.drop_undersize.next = self.rx.drop_undersize.val();
        self.global.drop_oversize.next = self.rx.drop_oversize.val();
        self.global.drop_bad.next = self.rx.drop_bad.val();
        self.global.drop_fifo.next = self.rx.drop_fifo.val();
        self.global.drop_no_descriptor.next = self.rx.drop_no_descriptor.val();
        self.global.frame_out.next = self.tx.frame.val();
        self.global.unexpected.next = self.read.unexpected.val();
        self.global.malformed.next = self.pcie.bad.val();
        self.rx_queue.idle.next = self.rx_idle.val();
        self.tx_queue.idle.next = self.tx_idle.val();
        self.rx_queue.head.next = self.rx_prefetch.head[0].val();
        self.rx_queue.read.next = self.rx_prefetch.read_pulse[0].val();
        self.rx_queue.read_count.next = self.rx_prefetch.read_count[0].val();
        self.rx_queue.low_event.next = self.rx_prefetch.low_event[0].val();
        self.tx_queue.head.next = self.tx_prefetch.head[0].val();
        self.tx_queue.read.next = self.tx_prefetch.read_pulse[0].val();
        self.tx_queue.read_count.next = self.tx_prefetch.read_count[0].val();
        self.tx_queue.low_event.next = self.tx_prefetch.low_event[0].val();
        self.rx_queue.error.next = self.rx_prefetch.error[0].val();
        self.rx_queue.cause.next = self.rx_prefetch.cause[0].val();
        self.rx_queue.producer.next = self.rx.producer.val();
        self.rx_queue.starved.next = self.rx.starved.val();
        self.rx_queue.waited.next = self.rx.waited.val();
        self.rx_queue.frame.next = self.rx.frame.val();
        self.rx_queue.drop_no_descriptor.next = false;
        self.rx_queue.drop_disabled.next = self.rx.drop_disabled_late.val();
        self.rx_queue.cut.next = false;
        self.rx_queue.drop_buffer.next = self.rx.drop_buffer.val();
        self.tx_queue.producer.next = self.tx.producer.val();
        self.tx_queue.starved.next = self.tx_starved.val();
        self.tx_queue.waited.next = false;
        self.tx_queue.frame.next = self.tx.frame.val();
        self.tx_queue.drop_no_descriptor.next = false;
        self.tx_queue.drop_disabled.next = false;
        self.tx_queue.cut.next = false;
        self.tx_queue.drop_buffer.next = self.tx.drop.val();

        // Interrupts.
        self.rx_vector.producer.next = self.rx.producer.val();
        self.tx_vector.producer.next = self.tx.producer.val();
        self.rx_vector.urgent.next = self.rx_prefetch.low_event[0].val() | self.rx_prefetch.error[0].val();
        self.tx_vector.urgent.next = self.tx_prefetch.error[0].val() | self.tx.error.val();
        self.fire.next = 0.into();
        if self.rx_vector.fire.val() {
            self.fire.next = 1.into();
        }
        if self.tx_vector.fire.val() {
            self.fire.next = self.fire.val() | 2;
        }
        self.pcie.fire.next = self.fire.val();

        // The TX queue has two sources of errors.
        self.tx_queue.error.next = self.tx_prefetch.error[0].val() | self.tx.error.val();
        self.tx_queue.cause.next = self.tx_prefetch.cause[0].val();
        if self.tx.error.val() {
            self.tx_queue.cause.next = self.tx.cause.val();
        }

        // Why the frame is dropped, in the order that `event_drop` documents.
        self.drops.next = 0.into();
        if self.rx.drop_disabled.val() {
            self.drops.next = self.drops.val() | 1;
        }
        if self.rx.drop_bad.val() {
            self.drops.next = self.drops.val() | 2;
        }
        if self.rx.drop_undersize.val() {
            self.drops.next = self.drops.val() | 4;
        }
        if self.rx.drop_oversize.val() {
            self.drops.next = self.drops.val() | 8;
        }
        if self.rx.drop_fifo.val() {
            self.drops.next = self.drops.val() | 16;
        }
        if self.rx.drop_no_descriptor.val() {
            self.drops.next = self.drops.val() | 32;
        }
        self.event_drop.next = self.drops.val();
        self.event_in.next = self.rx.frame_in.val();
        self.event_delivered.next = self.rx.frame.val();
        self.event_drop_buffer.next = self.rx.drop_buffer.val();
        self.event_drop_late.next = self.rx.drop_disabled_late.val();

        // Reset of the core without the PCIe side.
        self.restart.ask.next = self.global.soft_reset.val() | self.pcie.flr.val();
        self.restart.at_rest.next = self.rx_idle.val() & self.tx_idle.val();
        self.restart.master_enable.next = self.pcie.master_enable.val();
    }
}

/// The core with a stream of 64 bits, as boards use it.
pub fn verilog_64(name: &str) -> String {
    verilog(Core::<64, 8, 2, 3, 12, 13, 16, 128, 11, 128, 71, 2, 6>::default(), name)
}

/// The core with a stream of 128 bits.
pub fn verilog_128(name: &str) -> String {
    verilog(Core::<128, 16, 4, 4, 11, 12, 8, 128, 10, 256, 135, 2, 6>::default(), name)
}

//! The blocks of the RX path, wired; see the picture in `mod.rs`.
//!
//! The list of frames holds 512 entries. Frames whose verdict has fallen reach it three cycles later, so the packet
//! FIFO is told that it is full eight entries early.

use super::classify::Classify;
use super::dma::Dma;
use super::done::Done;
use super::packet_fifo::PacketFifo;
use super::payload::Payload;
use super::window::Window;
use crate::common::fifo::Fifo;
use rust_hdl_core::prelude::*;

/// W = 8·K bits, K = 2^Q; 2^A words in the packet FIFO, A + Q = 15, AP1 = A + 1; N = 1024 / W.
#[derive(LogicBlock)]
pub struct RxPath<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub wire_valid: Signal<In, Bit>,
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_keep: Signal<In, Bits<K>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    pub rx_enable: Signal<In, Bit>,
    pub queue_enable: Signal<In, Bit>,
    pub queue_stopped: Signal<In, Bit>,
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    pub max_frame: Signal<In, Bits<14>>,
    pub mps: Signal<In, Bits<3>>,
    pub done_base: Signal<In, Bits<52>>,
    pub size_log2: Signal<In, Bits<4>>,
    pub wthresh: Signal<In, Bits<8>>,
    pub wtimer: Signal<In, Bits<24>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub d_ready: Signal<Out, Bit>,
    pub pay_valid: Signal<Out, Bit>,
    pub pay_addr: Signal<Out, Bits<64>>,
    pub pay_dwords: Signal<Out, Bits<11>>,
    pub pay_first_be: Signal<Out, Bits<4>>,
    pub pay_last_be: Signal<Out, Bits<4>>,
    pub pay_data: Signal<Out, Bits<W>>,
    pub pay_last: Signal<Out, Bit>,
    pub pay_ready: Signal<In, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_addr: Signal<Out, Bits<64>>,
    pub done_data: Signal<Out, Bits<256>>,
    pub done_ready: Signal<In, Bit>,
    pub producer: Signal<Out, Bits<16>>,
    /// Pulse: a frame ended on the wire.
    pub frame_in: Signal<Out, Bit>,
    pub drop_disabled: Signal<Out, Bit>,
    /// Also counts as disabled: a frame stored before the queue went down.
    pub drop_disabled_late: Signal<Out, Bit>,
    pub drop_undersize: Signal<Out, Bit>,
    pub drop_oversize: Signal<Out, Bit>,
    pub drop_bad: Signal<Out, Bit>,
    pub drop_fifo: Signal<Out, Bit>,
    pub drop_no_descriptor: Signal<Out, Bit>,
    pub drop_buffer: Signal<Out, Bit>,
    /// Level: the oldest frame waits for a descriptor.
    pub starved: Signal<Out, Bit>,
    /// Pulse: a frame begins to wait for a descriptor.
    pub waited: Signal<Out, Bit>,
    /// Pulse: the data of a frame has been delivered.
    pub frame: Signal<Out, Bit>,
    /// No stored frame and nothing in flight.
    pub idle: Signal<Out, Bit>,
    packets: PacketFifo<W, K, Q, A, AP1>,
    header: Window<W, N>,
    classify: Classify,
    list: Fifo<48, 9, 10>,
    dma: Dma<K>,
    payload: Payload<W, K, Q, A>,
    done: Done,
    entry: Signal<Local, Bits<48>>,
    running: Signal<Local, Bit>,
    quiet: Signal<Local, Bit>,
    list_limit: Constant<Bits<10>>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize> Default
    for RxPath<W, K, Q, A, AP1, N>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_error: Default::default(),
            rx_enable: Default::default(),
            queue_enable: Default::default(),
            queue_stopped: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            max_frame: Default::default(),
            mps: Default::default(),
            done_base: Default::default(),
            size_log2: Default::default(),
            wthresh: Default::default(),
            wtimer: Default::default(),
            d_valid: Default::default(),
            d_data: Default::default(),
            d_ready: Default::default(),
            pay_valid: Default::default(),
            pay_addr: Default::default(),
            pay_dwords: Default::default(),
            pay_first_be: Default::default(),
            pay_last_be: Default::default(),
            pay_data: Default::default(),
            pay_last: Default::default(),
            pay_ready: Default::default(),
            done_valid: Default::default(),
            done_addr: Default::default(),
            done_data: Default::default(),
            done_ready: Default::default(),
            producer: Default::default(),
            frame_in: Default::default(),
            drop_disabled: Default::default(),
            drop_disabled_late: Default::default(),
            drop_undersize: Default::default(),
            drop_oversize: Default::default(),
            drop_bad: Default::default(),
            drop_fifo: Default::default(),
            drop_no_descriptor: Default::default(),
            drop_buffer: Default::default(),
            starved: Default::default(),
            waited: Default::default(),
            frame: Default::default(),
            idle: Default::default(),
            packets: Default::default(),
            header: Default::default(),
            classify: Default::default(),
            list: Default::default(),
            dma: Default::default(),
            payload: Default::default(),
            done: Default::default(),
            entry: Default::default(),
            running: Default::default(),
            quiet: Default::default(),
            list_limit: Constant::new(504.into()),
        }
    }
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize> Logic
    for RxPath<W, K, Q, A, AP1, N>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.packets.clock.next = self.clock.val();
        self.packets.reset.next = self.reset.val();
        self.header.clock.next = self.clock.val();
        self.header.reset.next = self.reset.val();
        self.classify.clock.next = self.clock.val();
        self.classify.reset.next = self.reset.val();
        self.list.clock.next = self.clock.val();
        self.list.reset.next = self.reset.val();
        self.dma.clock.next = self.clock.val();
        self.dma.reset.next = self.reset.val();
        self.payload.clock.next = self.clock.val();
        self.payload.reset.next = self.reset.val();
        self.done.clock.next = self.clock.val();
        self.done.reset.next = self.reset.val();

        self.running.next = self.queue_enable.val() & !self.queue_stopped.val();
        self.packets.wire_valid.next = self.wire_valid.val();
        self.packets.wire_data.next = self.wire_data.val();
        self.packets.wire_keep.next = self.wire_keep.val();
        self.packets.wire_last.next = self.wire_last.val();
        self.packets.wire_error.next = self.wire_error.val();
        self.packets.wire_info.next = 0.into();
        self.packets.active.next = self.rx_enable.val() & self.running.val();
        self.packets.max_frame.next = self.max_frame.val();
        self.packets.starved.next = self.dma.starved.val();
        self.packets.list_full.next = self.list.level.val() >= self.list_limit.val();
        self.packets.free.next = self.payload.free.val();
        self.packets.read_address.next = self.payload.read_address.val();
        self.frame_in.next = self.packets.frame_in.val();
        self.drop_disabled.next = self.packets.drop_disabled.val();
        self.drop_undersize.next = self.packets.drop_undersize.val();
        self.drop_oversize.next = self.packets.drop_oversize.val();
        self.drop_bad.next = self.packets.drop_bad.val();
        self.drop_fifo.next = self.packets.drop_fifo.val();
        self.drop_no_descriptor.next = self.packets.drop_no_descriptor.val();

        self.header.beat_valid.next = self.packets.beat_valid.val();
        self.header.beat_first.next = self.packets.beat_first.val();
        self.header.beat_data.next = self.packets.beat_data.val();
        self.classify.valid.next = self.packets.commit.val();
        self.classify.length.next = self.packets.length.val();
        self.classify.window.next = self.header.window.val().get_bits::<256>(0);
        self.classify.own_mac.next = self.own_mac.val();
        self.classify.epoch.next = self.epoch.val();

        self.list.s_valid.next = self.classify.out_valid.val();
        self.list.s_data.next = bit_cast::<48, 14>(self.classify.out_length.val())
            | (bit_cast::<48, 16>(self.classify.protocol.val()) << 14)
            | (bit_cast::<48, 1>(self.classify.classified.val().into()) << 30)
            | (bit_cast::<48, 2>(self.classify.dst.val()) << 31)
            | (bit_cast::<48, 2>(self.classify.l2.val()) << 33)
            | (bit_cast::<48, 2>(self.classify.vlan.val()) << 35)
            | (bit_cast::<48, 3>(self.classify.out_epoch.val()) << 37)
            | (bit_cast::<48, 8>(self.classify.l3_offset.val()) << 40);
        self.entry.next = self.list.m_data.val();
        self.list.m_ready.next = self.dma.m_ready.val();

        self.dma.active.next = self.running.val();
        self.dma.mps.next = self.mps.val();
        self.dma.m_valid.next = self.list.m_valid.val();
        self.dma.m_length.next = self.entry.val().get_bits::<14>(0);
        self.dma.d_valid.next = self.d_valid.val();
        self.dma.d_data.next = self.d_data.val();
        self.d_ready.next = self.dma.d_ready.val();
        self.dma.c_room.next = self.done.c_room.val();
        self.dma.k_ready.next = self.payload.k_ready.val();
        self.starved.next = self.dma.starved.val();
        self.waited.next = self.dma.waited.val();
        self.drop_buffer.next = self.dma.drop_buffer.val();
        self.drop_disabled_late.next = self.dma.drop_disabled_late.val();

        self.payload.k_valid.next = self.dma.k_valid.val();
        self.payload.k_address.next = self.dma.k_address.val();
        self.payload.k_position.next = self.dma.k_position.val();
        self.payload.k_bytes.next = self.dma.k_bytes.val();
        self.payload.k_queue.next = 0.into();
        self.payload.k_close.next = self.dma.k_last.val();
        self.payload.k_last.next = self.dma.k_last.val();
        self.payload.k_empty.next = self.dma.k_empty.val();
        self.payload.k_end.next = self.dma.k_end.val();
        self.payload.read_data.next = self.packets.read_data.val();
        self.pay_valid.next = self.payload.pay_valid.val();
        self.pay_addr.next = self.payload.pay_addr.val();
        self.pay_dwords.next = self.payload.pay_dwords.val();
        self.pay_first_be.next = self.payload.pay_first_be.val();
        self.pay_last_be.next = self.payload.pay_last_be.val();
        self.pay_data.next = self.payload.pay_data.val();
        self.pay_last.next = self.payload.pay_last.val();
        self.payload.pay_ready.next = self.pay_ready.val();
        self.frame.next = self.payload.frame.val();

        self.quiet.next = !self.dma.busy.val() & !self.payload.busy.val() & (self.list.level.val() == 0);
        self.done.queue_enable.next = self.queue_enable.val();
        self.done.queue_stopped.next = self.queue_stopped.val();
        self.done.quiet.next = self.quiet.val();
        self.done.c_valid.next = self.dma.c_valid.val();
        self.done.c_cookie.next = self.dma.c_cookie.val();
        self.done.c_length.next = self.entry.val().get_bits::<14>(0);
        self.done.c_protocol.next = self.entry.val().get_bits::<16>(14);
        self.done.c_classified.next = self.entry.val().get_bit(30);
        self.done.c_dst.next = self.entry.val().get_bits::<2>(31);
        self.done.c_l2.next = self.entry.val().get_bits::<2>(33);
        self.done.c_vlan.next = self.entry.val().get_bits::<2>(35);
        self.done.c_epoch.next = self.entry.val().get_bits::<3>(37);
        self.done.c_l3_offset.next = self.entry.val().get_bits::<8>(40);
        self.done.data_gone.next = self.payload.frame.val();
        self.done.done_base.next = self.done_base.val();
        self.done.size_log2.next = self.size_log2.val();
        self.done.wthresh.next = self.wthresh.val();
        self.done.wtimer.next = self.wtimer.val();
        self.done_valid.next = self.done.done_valid.val();
        self.done_addr.next = self.done.done_addr.val();
        self.done_data.next = self.done.done_data.val();
        self.done.done_ready.next = self.done_ready.val();
        self.producer.next = self.done.producer.val();
        self.idle.next = self.quiet.val() & self.done.idle.val();
    }
}

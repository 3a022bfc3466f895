//! Deliver and payload, wired as in the RX path: what the bench runs.

use super::Deliver;
use crate::rx::payload::Payload;
use rust_hdl_core::prelude::*;

/// W = 8·K bits, K = 2^Q; 2^A words in the packet FIFO.
#[derive(LogicBlock, Default)]
pub struct Delivery<const W: usize, const K: usize, const Q: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub mps: Signal<In, Bits<3>>,
    pub hold: Signal<In, Bits<24>>,
    pub active: Signal<In, Bits<16>>,
    pub m_valid: Signal<In, Bit>,
    pub m_data: Signal<In, Bits<256>>,
    pub f_valid: Signal<In, Bit>,
    pub f_drop: Signal<In, Bit>,
    pub f_rss: Signal<In, Bit>,
    pub f_queue: Signal<In, Bits<4>>,
    pub f_filter: Signal<In, Bit>,
    pub f_tag: Signal<In, Bits<16>>,
    pub m_ready: Signal<Out, Bit>,
    pub d_queue: Signal<Out, Bits<4>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub q_scatter: Signal<In, Bit>,
    pub q_split: Signal<In, Bits<3>>,
    pub q_split_bytes: Signal<In, Bits<10>>,
    pub d_take: Signal<Out, Bit>,
    pub c_room: Signal<In, Bits<16>>,
    pub c_valid: Signal<Out, Bit>,
    pub c_queue: Signal<Out, Bits<4>>,
    pub c_data: Signal<Out, Bits<256>>,
    pub holds: Signal<Out, Bit>,
    pub holds_queue: Signal<Out, Bits<4>>,
    pub starved: Signal<Out, Bit>,
    pub waited: Signal<Out, Bit>,
    pub wait_queue: Signal<Out, Bits<4>>,
    pub e_pause: Signal<Out, Bit>,
    pub e_filter: Signal<Out, Bit>,
    pub e_disabled: Signal<Out, Bit>,
    pub e_no_descriptor: Signal<Out, Bit>,
    pub e_buffer: Signal<Out, Bit>,
    pub e_cut: Signal<Out, Bit>,
    pub e_queue: Signal<Out, Bits<4>>,
    pub read_address: Signal<Out, Bits<A>>,
    pub read_data: Signal<In, Bits<W>>,
    pub free: Signal<Out, Bits<16>>,
    pub pay_valid: Signal<Out, Bit>,
    pub pay_addr: Signal<Out, Bits<64>>,
    pub pay_wide: Signal<Out, Bit>,
    pub pay_dwords: Signal<Out, Bits<11>>,
    pub pay_first_be: Signal<Out, Bits<4>>,
    pub pay_last_be: Signal<Out, Bits<4>>,
    pub pay_data: Signal<Out, Bits<W>>,
    pub pay_last: Signal<Out, Bit>,
    pub pay_ready: Signal<In, Bit>,
    pub gone: Signal<Out, Bit>,
    pub frame: Signal<Out, Bit>,
    pub frame_queue: Signal<Out, Bits<4>>,
    pub busy: Signal<Out, Bit>,
    deliver: Deliver<K>,
    payload: Payload<W, K, Q, A>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize> Logic for Delivery<W, K, Q, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.payload.clock.next = self.clock.val();
        self.payload.reset.next = self.reset.val();
        self.deliver.clock.next = self.clock.val();
        self.deliver.reset.next = self.reset.val();
        self.deliver.mps.next = self.mps.val();
        self.deliver.hold.next = self.hold.val();
        self.deliver.active.next = self.active.val();
        self.deliver.m_valid.next = self.m_valid.val();
        self.deliver.m_data.next = self.m_data.val();
        self.deliver.f_valid.next = self.f_valid.val();
        self.deliver.f_drop.next = self.f_drop.val();
        self.deliver.f_rss.next = self.f_rss.val();
        self.deliver.f_queue.next = self.f_queue.val();
        self.deliver.f_filter.next = self.f_filter.val();
        self.deliver.f_tag.next = self.f_tag.val();
        self.m_ready.next = self.deliver.m_ready.val();
        self.d_queue.next = self.deliver.d_queue.val();
        self.deliver.d_valid.next = self.d_valid.val();
        self.deliver.d_data.next = self.d_data.val();
        self.deliver.q_scatter.next = self.q_scatter.val();
        self.deliver.q_split.next = self.q_split.val();
        self.deliver.q_split_bytes.next = self.q_split_bytes.val();
        self.d_take.next = self.deliver.d_take.val();
        self.deliver.c_room.next = self.c_room.val();
        self.c_valid.next = self.deliver.c_valid.val();
        self.c_queue.next = self.deliver.c_queue.val();
        self.c_data.next = self.deliver.c_data.val();
        self.holds.next = self.deliver.holds.val();
        self.holds_queue.next = self.deliver.holds_queue.val();
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
        self.starved.next = self.deliver.starved.val();
        self.waited.next = self.deliver.waited.val();
        self.wait_queue.next = self.deliver.wait_queue.val();
        self.e_pause.next = self.deliver.e_pause.val();
        self.e_filter.next = self.deliver.e_filter.val();
        self.e_disabled.next = self.deliver.e_disabled.val();
        self.e_no_descriptor.next = self.deliver.e_no_descriptor.val();
        self.e_buffer.next = self.deliver.e_buffer.val();
        self.e_cut.next = self.deliver.e_cut.val();
        self.e_queue.next = self.deliver.e_queue.val();
        self.read_address.next = self.payload.read_address.val();
        self.payload.read_data.next = self.read_data.val();
        self.free.next = self.payload.free.val();
        self.pay_valid.next = self.payload.pay_valid.val();
        self.pay_addr.next = self.payload.pay_addr.val();
        self.pay_wide.next = self.payload.pay_wide.val();
        self.pay_dwords.next = self.payload.pay_dwords.val();
        self.pay_first_be.next = self.payload.pay_first_be.val();
        self.pay_last_be.next = self.payload.pay_last_be.val();
        self.pay_data.next = self.payload.pay_data.val();
        self.pay_last.next = self.payload.pay_last.val();
        self.payload.pay_ready.next = self.pay_ready.val();
        self.gone.next = self.payload.gone.val();
        self.frame.next = self.payload.frame.val();
        self.frame_queue.next = self.payload.frame_queue.val();
        self.busy.next = self.deliver.busy.val() | self.payload.busy.val();
    }
}

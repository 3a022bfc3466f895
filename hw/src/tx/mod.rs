//! From a TX descriptor to the wire: fetch, packet buffer, wire, index write-back.

pub mod bank;
pub mod buffer;
pub mod fetch;
pub mod out;
pub mod side;
pub mod write_back;

pub use side::TxSide;

use crate::emit::verilog;
use rust_hdl_core::prelude::*;

/// The TX path of one queue: descriptors (`d_*`), its reads (`r_*`) and what they bring (`t_*`), the wire
/// (`wire_*`), and the index write-back (`index_*`).
///
/// W bits, K bytes and L dwords a beat; the packet buffer has 2^A rows; D = 2 W and X = W + 7.
#[derive(LogicBlock, Default)]
pub struct TxPath<
    const W: usize,
    const K: usize,
    const L: usize,
    const A: usize,
    const D: usize,
    const X: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub stopped: Signal<In, Bit>,
    pub tx_enable: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub wthresh: Signal<In, Bits<8>>,
    pub wtimer: Signal<In, Bits<24>>,
    pub done_addr: Signal<In, Bits<64>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub d_ready: Signal<Out, Bit>,
    pub r_valid: Signal<Out, Bit>,
    pub r_addr: Signal<Out, Bits<64>>,
    pub r_bytes: Signal<Out, Bits<13>>,
    pub r_tag: Signal<Out, Bits<8>>,
    pub r_ready: Signal<In, Bit>,
    pub dead: Signal<In, Bits<32>>,
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
    pub producer: Signal<Out, Bits<16>>,
    pub error: Signal<Out, Bit>,
    pub cause: Signal<Out, Bits<4>>,
    pub frame: Signal<Out, Bit>,
    pub drop: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,
    fetch: fetch::Fetch<K, L>,
    buffer: buffer::Buffer<W, L, A>,
    sender: out::Sender<W, K, A, D, X>,
    write_back: write_back::WriteBack,
}

impl<const W: usize, const K: usize, const L: usize, const A: usize, const D: usize, const X: usize> Logic
    for TxPath<W, K, L, A, D, X>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.fetch.clock.next = self.clock.val();
        self.fetch.reset.next = self.reset.val();
        self.fetch.enable.next = self.enable.val();
        self.fetch.stopped.next = self.stopped.val();
        self.fetch.max_frame.next = self.max_frame.val();
        self.fetch.mrrs.next = self.mrrs.val();
        self.fetch.d_valid.next = self.d_valid.val();
        self.fetch.d_data.next = self.d_data.val();
        self.d_ready.next = self.fetch.d_ready.val();
        self.r_valid.next = self.fetch.r_valid.val();
        self.r_addr.next = self.fetch.r_addr.val();
        self.r_bytes.next = self.fetch.r_bytes.val();
        self.r_tag.next = self.fetch.r_tag.val();
        self.fetch.r_ready.next = self.r_ready.val();
        self.fetch.dead.next = self.dead.val().get_bits::<16>(0);
        self.fetch.in_use.next = self.buffer.in_use.val();
        self.fetch.freed_row.next = self.sender.row.val();
        self.fetch.f_ready.next = self.sender.f_ready.val();

        self.buffer.clock.next = self.clock.val();
        self.buffer.reset.next = self.reset.val();
        self.buffer.a_valid.next = self.fetch.a_valid.val();
        self.buffer.a_tag.next = self.fetch.a_tag.val();
        self.buffer.a_place.next = self.fetch.a_place.val();
        self.buffer.a_last.next = self.fetch.a_last.val();
        self.buffer.next_tag.next = self.fetch.next_tag.val();
        self.buffer.t_valid.next = self.t_valid.val();
        self.buffer.t_data.next = self.t_data.val();
        self.buffer.t_tag.next = self.t_tag.val();
        self.buffer.t_dword.next = self.t_dword.val();
        self.buffer.t_lanes.next = self.t_lanes.val();
        self.buffer.t_done.next = self.t_done.val();
        self.buffer.t_done_tag.next = self.t_done_tag.val();
        self.buffer.t_done_cause.next = self.t_done_cause.val();
        self.buffer.read_row.next = self.sender.read_row.val();

        self.sender.clock.next = self.clock.val();
        self.sender.reset.next = self.reset.val();
        self.sender.enable.next = self.enable.val();
        self.sender.tx_enable.next = self.tx_enable.val();
        self.sender.f_valid.next = self.fetch.f_valid.val();
        self.sender.f_length.next = self.fetch.f_length.val();
        self.sender.f_offset.next = self.fetch.f_offset.val();
        self.sender.g_valid.next = self.buffer.g_valid.val();
        self.sender.g_bad.next = self.buffer.g_bad.val();
        self.sender.read_data.next = self.buffer.read_data.val();
        self.wire_valid.next = self.sender.wire_valid.val();
        self.wire_data.next = self.sender.wire_data.val();
        self.wire_keep.next = self.sender.wire_keep.val();
        self.wire_last.next = self.sender.wire_last.val();
        self.sender.wire_ready.next = self.wire_ready.val();

        self.write_back.clock.next = self.clock.val();
        self.write_back.reset.next = self.reset.val();
        self.write_back.enable.next = self.enable.val();
        self.write_back.stopped.next = self.stopped.val();
        self.write_back.wthresh.next = self.wthresh.val();
        self.write_back.wtimer.next = self.wtimer.val();
        self.write_back.done_addr.next = self.done_addr.val();
        self.write_back.fetch_idle.next = self.fetch.idle.val();
        self.write_back.started.next = self.fetch.f_valid.val() & self.sender.f_ready.val();
        self.write_back.sent.next = self.sender.sent.val();
        self.write_back.dropped.next = self.sender.dropped.val();
        self.write_back.refused.next = self.fetch.error.val();
        self.index_valid.next = self.write_back.index_valid.val();
        self.index_addr.next = self.write_back.index_addr.val();
        self.index_data.next = self.write_back.index_data.val();
        self.write_back.index_ready.next = self.index_ready.val();
        self.producer.next = self.write_back.producer.val();

        self.error.next = self.buffer.error.val() | self.fetch.error.val();
        self.cause.next = 7.into();
        if self.buffer.error.val() {
            self.cause.next = self.buffer.cause.val();
        }
        self.frame.next = self.sender.sent.val();
        self.drop.next = self.write_back.drop.val();
        self.idle.next = self.write_back.idle.val();
        self.busy.next = !self.write_back.idle.val();
    }
}

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("tx_fetch_64", verilog(fetch::Fetch::<8, 2>::default(), "tx_fetch_64")),
        ("tx_fetch_128", verilog(fetch::Fetch::<16, 4>::default(), "tx_fetch_128")),
        ("tx_buffer_64", verilog(buffer::Buffer::<64, 2, 11>::default(), "tx_buffer_64")),
        ("tx_buffer_128", verilog(buffer::Buffer::<128, 4, 10>::default(), "tx_buffer_128")),
        ("tx_out_64", verilog(out::Sender::<64, 8, 11, 128, 71>::default(), "tx_out_64")),
        ("tx_out_128", verilog(out::Sender::<128, 16, 10, 256, 135>::default(), "tx_out_128")),
        ("tx_write_back", verilog(write_back::WriteBack::default(), "tx_write_back")),
        ("tx_path_64", verilog(TxPath::<64, 8, 2, 11, 128, 71>::default(), "tx_path_64")),
        ("tx_path_128", verilog(TxPath::<128, 16, 4, 10, 256, 135>::default(), "tx_path_128")),
        ("tx_path_256", verilog(TxPath::<256, 32, 8, 9, 512, 263>::default(), "tx_path_256")),
        ("tx_path_512", verilog(TxPath::<512, 64, 16, 8, 1024, 519>::default(), "tx_path_512")),
    ]
}

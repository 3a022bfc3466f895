//! Reads of host memory: descriptor prefetch, the arbiter of the sources, and the table of tags.
//!
//! Tags: 0 to 15 TX payload, 16 to 23 RX prefetch (queue q and q + 8 share 16 + q mod 8), 24 TX prefetch. The
//! [`Descriptors`](queues::Descriptors) of the queues of one direction are placed by the top.

pub mod arbiter;
pub mod expiry;
pub mod fan_in;
pub mod prefetch;
pub mod queues;
pub mod store;
pub mod table;
pub mod tags;

use crate::emit::verilog;
use queues::Descriptors;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Arbiter and tags: sources of reads (`a_*` RX prefetch, `b_*` TX prefetch, `p_*` TX payload) to the transmitter (`rd_*`),
/// and completions (`c_*`) back to whoever asked (`o_*`).
#[derive(LogicBlock, Default)]
pub struct ReadSide<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bdf: Signal<In, Bits<16>>,
    pub timeout: Signal<In, Bits<16>>,
    pub a_valid: Signal<In, Bit>,
    pub a_addr: Signal<In, Bits<64>>,
    pub a_bytes: Signal<In, Bits<13>>,
    pub a_tag: Signal<In, Bits<8>>,
    pub a_ready: Signal<Out, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_addr: Signal<In, Bits<64>>,
    pub b_bytes: Signal<In, Bits<13>>,
    pub b_tag: Signal<In, Bits<8>>,
    pub b_ready: Signal<Out, Bit>,
    pub p_valid: Signal<In, Bit>,
    pub p_addr: Signal<In, Bits<64>>,
    pub p_bytes: Signal<In, Bits<13>>,
    pub p_tag: Signal<In, Bits<8>>,
    pub p_ready: Signal<Out, Bit>,
    pub rd_valid: Signal<Out, Bit>,
    pub rd_addr: Signal<Out, Bits<64>>,
    pub rd_wide: Signal<Out, Bit>,
    pub rd_dwords: Signal<Out, Bits<11>>,
    pub rd_first_be: Signal<Out, Bits<4>>,
    pub rd_last_be: Signal<Out, Bits<4>>,
    pub rd_tag: Signal<Out, Bits<8>>,
    pub rd_ready: Signal<In, Bit>,
    pub c_valid: Signal<In, Bit>,
    pub c_first: Signal<In, Bit>,
    pub c_last: Signal<In, Bit>,
    pub c_data: Signal<In, Bits<W>>,
    pub c_tag: Signal<In, Bits<8>>,
    pub c_status: Signal<In, Bits<3>>,
    pub c_poisoned: Signal<In, Bit>,
    pub c_byte_count: Signal<In, Bits<13>>,
    pub c_lower: Signal<In, Bits<7>>,
    pub c_dwords: Signal<In, Bits<11>>,
    pub c_requester: Signal<In, Bits<16>>,
    pub o_valid: Signal<Out, Bit>,
    pub o_data: Signal<Out, Bits<W>>,
    pub o_tag: Signal<Out, Bits<8>>,
    pub o_dword: Signal<Out, Bits<10>>,
    pub o_lanes: Signal<Out, Bits<5>>,
    pub o_done: Signal<Out, Bit>,
    pub o_done_tag: Signal<Out, Bits<8>>,
    pub o_done_cause: Signal<Out, Bits<4>>,
    pub unexpected: Signal<Out, Bit>,
    pub dead: Signal<Out, Bits<32>>,
    arbiter: arbiter::Arbiter,
    tags: tags::Tags<W, L>,
    // What the reads bring goes far.
    far_valid: DFF<Bit>,
    far_data: DFF<Bits<W>>,
    far_tag: DFF<Bits<8>>,
    far_dword: DFF<Bits<10>>,
    far_lanes: DFF<Bits<5>>,
    far_done: DFF<Bit>,
    far_done_tag: DFF<Bits<8>>,
    far_done_cause: DFF<Bits<4>>,
}

impl<const W: usize, const L: usize> Logic for ReadSide<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, far_valid, far_data, far_tag, far_dword, far_lanes, far_done, far_done_tag, far_done_cause);
        self.arbiter.clock.next = self.clock.val();
        self.arbiter.reset.next = self.reset.val();
        self.arbiter.a_valid.next = self.a_valid.val();
        self.arbiter.a_addr.next = self.a_addr.val();
        self.arbiter.a_bytes.next = self.a_bytes.val();
        self.arbiter.a_tag.next = self.a_tag.val();
        self.a_ready.next = self.arbiter.a_ready.val();
        self.arbiter.b_valid.next = self.b_valid.val();
        self.arbiter.b_addr.next = self.b_addr.val();
        self.arbiter.b_bytes.next = self.b_bytes.val();
        self.arbiter.b_tag.next = self.b_tag.val();
        self.b_ready.next = self.arbiter.b_ready.val();
        self.arbiter.c_valid.next = self.p_valid.val();
        self.arbiter.c_addr.next = self.p_addr.val();
        self.arbiter.c_bytes.next = self.p_bytes.val();
        self.arbiter.c_tag.next = self.p_tag.val();
        self.p_ready.next = self.arbiter.c_ready.val();
        self.rd_valid.next = self.arbiter.rd_valid.val();
        self.rd_addr.next = self.arbiter.rd_addr.val();
        self.rd_wide.next = self.arbiter.rd_wide.val();
        self.rd_dwords.next = self.arbiter.rd_dwords.val();
        self.rd_first_be.next = self.arbiter.rd_first_be.val();
        self.rd_last_be.next = self.arbiter.rd_last_be.val();
        self.rd_tag.next = self.arbiter.rd_tag.val();
        self.arbiter.rd_ready.next = self.rd_ready.val();

        self.tags.clock.next = self.clock.val();
        self.tags.reset.next = self.reset.val();
        self.tags.bdf.next = self.bdf.val();
        self.tags.timeout.next = self.timeout.val();
        self.tags.i_valid.next = self.arbiter.i_valid.val();
        self.tags.i_tag.next = self.arbiter.i_tag.val();
        self.tags.i_addr.next = self.arbiter.i_addr.val();
        self.tags.i_bytes.next = self.arbiter.i_bytes.val();
        self.tags.c_valid.next = self.c_valid.val();
        self.tags.c_first.next = self.c_first.val();
        self.tags.c_last.next = self.c_last.val();
        self.tags.c_data.next = self.c_data.val();
        self.tags.c_tag.next = self.c_tag.val();
        self.tags.c_status.next = self.c_status.val();
        self.tags.c_poisoned.next = self.c_poisoned.val();
        self.tags.c_byte_count.next = self.c_byte_count.val();
        self.tags.c_lower.next = self.c_lower.val();
        self.tags.c_dwords.next = self.c_dwords.val();
        self.tags.c_requester.next = self.c_requester.val();
        self.far_valid.d.next = self.tags.o_valid.val();
        self.o_valid.next = self.far_valid.q.val();
        self.far_data.d.next = self.tags.o_data.val();
        self.o_data.next = self.far_data.q.val();
        self.far_tag.d.next = self.tags.o_tag.val();
        self.o_tag.next = self.far_tag.q.val();
        self.far_dword.d.next = self.tags.o_dword.val();
        self.o_dword.next = self.far_dword.q.val();
        self.far_lanes.d.next = self.tags.o_lanes.val();
        self.o_lanes.next = self.far_lanes.q.val();
        self.far_done.d.next = self.tags.o_done.val();
        self.o_done.next = self.far_done.q.val();
        self.far_done_tag.d.next = self.tags.o_done_tag.val();
        self.o_done_tag.next = self.far_done_tag.q.val();
        self.far_done_cause.d.next = self.tags.o_done_cause.val();
        self.o_done_cause.next = self.far_done_cause.q.val();
        self.unexpected.next = self.tags.unexpected.val();
        self.dead.next = self.tags.dead.val();
        if self.reset.val() {
            self.far_valid.d.next = false;
            self.far_done.d.next = false;
        }
    }
}

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("tags_64", verilog(tags::Tags::<64, 2>::default(), "tags_64")),
        ("tags_128", verilog(tags::Tags::<128, 4>::default(), "tags_128")),
        ("tags_256", verilog(tags::Tags::<256, 8>::default(), "tags_256")),
        ("tags_512", verilog(tags::Tags::<512, 16>::default(), "tags_512")),
        ("arbiter", verilog(arbiter::Arbiter::default(), "arbiter")),
        ("descriptors_64", verilog(Descriptors::<64, 1, 128, 2, 6>::default(), "descriptors_64")),
        ("descriptors_128", verilog(Descriptors::<128, 1, 128, 2, 6>::default(), "descriptors_128")),
        ("descriptors_256", verilog(Descriptors::<256, 1, 256, 4, 5>::default(), "descriptors_256")),
        ("descriptors_512", verilog(Descriptors::<512, 1, 512, 8, 4>::default(), "descriptors_512")),
        ("descriptors_4_64", verilog(Descriptors::<64, 4, 128, 2, 8>::default(), "descriptors_4_64")),
        ("descriptors_16_512", verilog(Descriptors::<512, 16, 512, 8, 8>::default(), "descriptors_16_512")),
        ("read_side_64", verilog(ReadSide::<64, 2>::default(), "read_side_64")),
        ("read_side_128", verilog(ReadSide::<128, 4>::default(), "read_side_128")),
    ]
}

//! From the wire to the frame that is next: stored, described, and steered.
//!
//! ```text
//! wire → strip → packet FIFO ─────────────────────→ read port
//!          └─ beats, commit → header ─┬─ template → list ───────────┐
//!                                     └─ keys → filter → decisions ┴→ oldest frame
//! ```
//!
//! The list and the decisions hold 512 frames, the filter's queue 64. A frame whose verdict has fallen reaches them some cycles later,
//! so the packet FIFO is told early that they are full, by the frames that may be on their way.

use super::filter::Filter;
use super::header::{self, Header};
use super::packet_fifo::PacketFifo;
use super::strip::Strip;
use crate::common::fifo::Fifo;
use crate::regs::filter::FilterRegs;
use ferronic_contract::registers;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Most frames on their way from their verdict to list and filter.
const UNDER_WAY: u64 = header::LATENCY as u64 + 6;

/// W = 8·K bits a beat, K = 2^Q; 2^A words in the packet FIFO, A + Q = 15, AP1 = A + 1; N = 1024 / W; H,
/// the larger of W and 128; S = H / 128.
#[derive(LogicBlock)]
pub struct Intake<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub wire_valid: Signal<In, Bit>,
    pub wire_data: Signal<In, Bits<W>>,
    pub wire_keep: Signal<In, Bits<K>>,
    pub wire_last: Signal<In, Bit>,
    pub wire_error: Signal<In, Bit>,
    /// Frames are taken: RX is enabled and a queue runs.
    pub active: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    pub now: Signal<In, Bits<32>>,
    /// Registers RX_MODE, HASH_FILTER, RSS, FLOW.
    pub rx_mode: Signal<In, Bits<32>>,
    pub hash_filter: Signal<In, Bits<32>>,
    pub rss: Signal<In, Bits<32>>,
    pub flow: Signal<In, Bits<32>>,
    /// Register bus, for the filters.
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    pub epoch_write: Signal<Out, Bit>,
    pub new_epoch: Signal<Out, Bits<3>>,
    /// The other side asks to send nothing.
    pub hold: Signal<Out, Bit>,
    /// Fill of the packet FIFO in units of 64 bytes.
    pub fill: Signal<Out, Bits<16>>,
    /// The oldest frame waits for a descriptor.
    pub starved: Signal<In, Bit>,
    pub free: Signal<In, Bits<16>>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    /// The oldest frame: template of its completion, and what the filters decided.
    pub m_valid: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<256>>,
    pub f_drop: Signal<Out, Bit>,
    pub f_rss: Signal<Out, Bit>,
    pub f_queue: Signal<Out, Bits<4>>,
    pub f_filter: Signal<Out, Bit>,
    pub f_tag: Signal<Out, Bits<16>>,
    pub m_ready: Signal<In, Bit>,
    pub frame_in: Signal<Out, Bit>,
    pub drop_disabled: Signal<Out, Bit>,
    pub drop_undersize: Signal<Out, Bit>,
    pub drop_oversize: Signal<Out, Bit>,
    pub drop_bad: Signal<Out, Bit>,
    pub drop_fifo: Signal<Out, Bit>,
    pub drop_no_descriptor: Signal<Out, Bit>,
    /// No frame inside.
    pub idle: Signal<Out, Bit>,
    stripper: Strip<W, K>,
    packets: PacketFifo<W, K, Q, A, AP1>,
    header: Header<W, K, N, H, S>,
    filter_regs: FilterRegs,
    filter: Filter,
    list: Fifo<256, 9, 10>,
    // One entry a frame, as the list has; so the filter never waits for the frame that waits for a descriptor.
    decisions: Fifo<23, 9, 10>,
    decision: Signal<Local, Bits<23>>,
    crowded: DFF<Bit>,
    both: Signal<Local, Bit>,
    list_limit: Constant<Bits<10>>,
    filter_limit: Constant<Bits<7>>,
    can_strip: Constant<Bit>,
    can_filter: Constant<Bit>,
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize> Intake<W, K, Q, A, AP1, N, H, S> {
    /// In a build with these features (value of FEATURES).
    pub fn new(features: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            wire_valid: Default::default(),
            wire_data: Default::default(),
            wire_keep: Default::default(),
            wire_last: Default::default(),
            wire_error: Default::default(),
            active: Default::default(),
            max_frame: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            now: Default::default(),
            rx_mode: Default::default(),
            hash_filter: Default::default(),
            rss: Default::default(),
            flow: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            epoch_write: Default::default(),
            new_epoch: Default::default(),
            hold: Default::default(),
            fill: Default::default(),
            starved: Default::default(),
            free: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            m_valid: Default::default(),
            m_data: Default::default(),
            f_drop: Default::default(),
            f_rss: Default::default(),
            f_queue: Default::default(),
            f_filter: Default::default(),
            f_tag: Default::default(),
            m_ready: Default::default(),
            frame_in: Default::default(),
            drop_disabled: Default::default(),
            drop_undersize: Default::default(),
            drop_oversize: Default::default(),
            drop_bad: Default::default(),
            drop_fifo: Default::default(),
            drop_no_descriptor: Default::default(),
            idle: Default::default(),
            stripper: Default::default(),
            packets: Default::default(),
            header: Header::new(features),
            filter_regs: Default::default(),
            filter: Default::default(),
            list: Default::default(),
            decisions: Default::default(),
            decision: Default::default(),
            crowded: Default::default(),
            both: Default::default(),
            list_limit: Constant::new((512 - UNDER_WAY).into()),
            filter_limit: Constant::new((64 - UNDER_WAY).into()),
            can_strip: Constant::new(registers::FEATURE_STRIP.of(features) == 1),
            can_filter: Constant::new(registers::FEATURE_FILTER.of(features) == 1),
        }
    }
}

impl<const W: usize, const K: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize> Logic for Intake<W, K, Q, A, AP1, N, H, S> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, crowded);
        self.stripper.clock.next = self.clock.val();
        self.stripper.reset.next = self.reset.val();
        self.packets.clock.next = self.clock.val();
        self.packets.reset.next = self.reset.val();
        self.header.clock.next = self.clock.val();
        self.header.reset.next = self.reset.val();
        self.filter_regs.clock.next = self.clock.val();
        self.filter_regs.reset.next = self.reset.val();
        self.filter.clock.next = self.clock.val();
        self.filter.reset.next = self.reset.val();
        self.decisions.clock.next = self.clock.val();
        self.decisions.reset.next = self.reset.val();
        self.list.clock.next = self.clock.val();
        self.list.reset.next = self.reset.val();

        self.stripper.wire_valid.next = self.wire_valid.val();
        self.stripper.wire_data.next = self.wire_data.val();
        self.stripper.wire_keep.next = self.wire_keep.val();
        self.stripper.wire_last.next = self.wire_last.val();
        self.stripper.wire_error.next = self.wire_error.val();
        self.stripper.strip_c.next = self.rx_mode.val().get_bit(8) & self.can_strip.val();
        self.stripper.strip_s.next = self.rx_mode.val().get_bit(9) & self.can_strip.val();
        self.stripper.now.next = self.now.val();

        self.packets.wire_valid.next = self.stripper.s_valid.val();
        self.packets.wire_data.next = self.stripper.s_data.val();
        self.packets.wire_keep.next = self.stripper.s_keep.val();
        self.packets.wire_last.next = self.stripper.s_last.val();
        self.packets.wire_error.next = self.stripper.s_error.val();
        self.packets.wire_info.next = self.stripper.s_info.val();
        self.packets.active.next = self.active.val();
        self.packets.max_frame.next = self.max_frame.val();
        self.packets.starved.next = self.starved.val();
        self.crowded.d.next = (self.list.level.val() >= self.list_limit.val())
            | (self.filter.level.val() >= self.filter_limit.val());
        self.packets.list_full.next = self.crowded.q.val();
        self.packets.free.next = self.free.val();
        self.packets.read_address.next = self.read_address.val();
        self.read_data.next = self.packets.read_data.val();
        self.fill.next = self.packets.fill.val();
        self.frame_in.next = self.packets.frame_in.val();
        self.drop_disabled.next = self.packets.drop_disabled.val();
        self.drop_undersize.next = self.packets.drop_undersize.val();
        self.drop_oversize.next = self.packets.drop_oversize.val();
        self.drop_bad.next = self.packets.drop_bad.val();
        self.drop_fifo.next = self.packets.drop_fifo.val();
        self.drop_no_descriptor.next = self.packets.drop_no_descriptor.val();

        self.header.s_valid.next = self.stripper.s_valid.val();
        self.header.s_data.next = self.stripper.s_data.val();
        self.header.s_keep.next = self.stripper.s_keep.val();
        self.header.s_last.next = self.stripper.s_last.val();
        self.header.beat_valid.next = self.packets.beat_valid.val();
        self.header.beat_first.next = self.packets.beat_first.val();
        self.header.beat_data.next = self.packets.beat_data.val();
        self.header.commit.next = self.packets.commit.val();
        self.header.length.next = self.packets.length.val();
        self.header.info.next = self.packets.info.val();
        self.header.own_mac.next = self.own_mac.val();
        self.header.epoch.next = self.epoch.val();
        self.header.rss.next = self.rss.val();
        self.header.flow.next = self.flow.val();
        self.header.t_write.next = self.filter_regs.t_write.val();
        self.header.t_address.next = self.filter_regs.t_address.val();
        self.header.t_data.next = self.filter_regs.t_data.val();
        self.hold.next = self.header.hold.val();

        self.filter_regs.bus_addr.next = self.bus_addr.val();
        self.filter_regs.bus_wdata.next = self.bus_wdata.val();
        self.filter_regs.bus_write.next = self.bus_write.val();
        self.filter_regs.bus_read.next = self.bus_read.val();
        self.rdata.next = self.filter_regs.rdata.val();
        self.epoch_write.next = self.filter_regs.epoch_write.val();
        self.new_epoch.next = self.filter_regs.epoch.val();

        self.filter.kinds.next = self.filter_regs.kinds.val();
        self.filter.change_valid.next = self.filter_regs.change_valid.val();
        self.filter.change_is_row.next = self.filter_regs.change_is_row.val();
        self.filter.change_row.next = self.filter_regs.change_row.val();
        self.filter.change_row_data.next = self.filter_regs.change_row_data.val();
        self.filter.change_word.next = self.filter_regs.change_word.val();
        self.filter.change_word_data.next = self.filter_regs.change_word_data.val();
        self.filter_regs.change_ready.next = self.filter.change_ready.val();
        self.filter.enabled.next = self.can_filter.val();
        self.filter.mode.next = self.rx_mode.val();
        self.filter.hash_filter.next = self.hash_filter.val();
        self.filter.valid.next = self.header.key_valid.val();
        self.filter.dst.next = self.header.key_dst.val();
        self.filter.dmac.next = self.header.key_dmac.val();
        self.filter.ethertype.next = self.header.key_ethertype.val();
        self.filter.ethertype_valid.next = self.header.key_ethertype_valid.val();
        self.filter.vid.next = self.header.key_vid.val();
        self.filter.vid_valid.next = self.header.key_vid_valid.val();
        self.filter.l3.next = self.header.key_l3.val();
        self.filter.l4.next = self.header.key_l4.val();
        self.filter.source.next = self.header.key_source.val();
        self.filter.destination.next = self.header.key_destination.val();
        self.filter.destination_port.next = self.header.key_port.val();

        // A frame is there when both its template and its decision are.
        self.list.s_valid.next = self.header.t_valid.val();
        self.list.s_data.next = self.header.template.val();
        self.decisions.s_valid.next = self.filter.f_valid.val();
        self.filter.f_ready.next = self.decisions.s_ready.val();
        self.decisions.s_data.next = bit_cast::<23, 16>(self.filter.f_tag.val())
            | (bit_cast::<23, 4>(self.filter.f_queue.val()) << 16)
            | (bit_cast::<23, 1>(self.filter.f_filter.val().into()) << 20)
            | (bit_cast::<23, 1>(self.filter.f_rss.val().into()) << 21)
            | (bit_cast::<23, 1>(self.filter.f_drop.val().into()) << 22);
        self.decision.next = self.decisions.m_data.val();
        self.both.next = self.list.m_valid.val() & self.decisions.m_valid.val();
        self.m_valid.next = self.both.val();
        self.m_data.next = self.list.m_data.val();
        self.f_tag.next = self.decision.val().get_bits::<16>(0);
        self.f_queue.next = self.decision.val().get_bits::<4>(16);
        self.f_filter.next = self.decision.val().get_bit(20);
        self.f_rss.next = self.decision.val().get_bit(21);
        self.f_drop.next = self.decision.val().get_bit(22);
        self.list.m_ready.next = self.m_ready.val() & self.both.val();
        self.decisions.m_ready.next = self.m_ready.val() & self.both.val();
        self.idle.next = self.list.level.val() == 0;
        if self.reset.val() {
            self.crowded.d.next = false;
        }
    }
}

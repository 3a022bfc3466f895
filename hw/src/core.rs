//! The core: PCI Express at one edge, the wire at the other.
//!
//! ```text
//! wire_rx → rx ─────────────── payload, completions ──→ ┐
//! wire_tx ← pause ← tx ── index ────────────────────→   pcie ⇄ TLP streams
//!                   ↑↑── descriptor and payload reads ─→ read ─┘ │
//! global, rx, tx ←───────────────────────────────── register bus, fire
//! ```
//!
//! `reset` resets all; RESET in CONTROL and a function-level reset go through [`crate::restart`] and spare the PCIe side.
//! `event_*` tell, in the order of the wire, what becomes of each frame; a scoreboard or an LED may use them.

use crate::emit::{roomy, verilog};
use crate::flow::pause_out::PauseOut;
use crate::pcie::PcieSide;
use crate::read::ReadSide;
use crate::regs::global::{Build, GlobalRegs};
use crate::restart::Restart;
use crate::rx::RxSide;
use crate::tx::TxSide;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Rate of the core's clock in kHz.
pub const CLOCK_KHZ: u32 = 125_000;
/// Tags for payload reads.
pub const READ_TAGS: u32 = 16;
/// Every feature: the value of FEATURES of a build that leaves nothing out.
pub const ALL_FEATURES: u32 = ferronic_contract::registers::FEATURES.bits();

/// A core of NQ RX queues and one TX queue. W = 8·K = 32·L bits a beat, K = 2^Q; 2^A words in the RX packet FIFO, AP1 = A + 1;
/// N = 1024 / W words in the header window; H, the larger of W and 128; S = H / 128, S2 = H / 64; 2^B rows in the TX buffer, D = 2·W, X = W + 7;
/// 2^T = 128 / S2 and 2^TQ = 128·NQ / S2 rows of descriptors; V = 2^LV interrupt vectors, at least 2·NQ, VP2 = LV + 2.
#[derive(LogicBlock)]
pub struct Core<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const S2: usize, const B: usize, const D: usize, const X: usize, const T: usize, const NQ: usize, const TQ: usize, const V: usize, const LV: usize, const VP2: usize> {
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
    /// The oldest frame taken is decided on.
    pub event_head: Signal<Out, Bit>,
    /// With `event_head`: why it is dropped, if it is, one bit of: PAUSE, filter, disabled, no descriptor,
    /// buffer; or that it is cut short.
    pub event_head_drop: Signal<Out, Bits<6>>,
    /// With `event_head`: its queue.
    pub event_queue: Signal<Out, Bits<4>>,
    restart: Restart,
    pcie: PcieSide<W, L, V, LV, VP2>,
    read: ReadSide<W, L>,
    rx: RxSide<W, K, Q, A, AP1, N, H, S, S2, NQ, TQ>,
    tx: TxSide<W, K, L, B, D, X, H, S2, T>,
    pause: PauseOut<W, K>,
    global: GlobalRegs,
    // The register bus, a cycle late: it goes everywhere.
    bus_addr: DFF<Bits<16>>,
    bus_wdata: DFF<Bits<32>>,
    bus_read: DFF<Bit>,
    bus_write: DFF<Bit>,
    fire: Signal<Local, Bits<V>>,
    flow: Signal<Local, Bits<32>>,
    can_pause: Constant<Bit>,
    nothing: Constant<Bits<32>>,
}

impl<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const S2: usize, const B: usize, const D: usize, const X: usize, const T: usize, const NQ: usize, const TQ: usize, const V: usize, const LV: usize, const VP2: usize> Core<W, K, L, Q, A, AP1, N, H, S, S2, B, D, X, T, NQ, TQ, V, LV, VP2> {
    /// In a build with these features (value of FEATURES; see [`ALL_FEATURES`]).
    pub fn new(features: u32) -> Self {
        assert!(W == 8 * K && W == 32 * L && K == 1 << Q && A + 1 == AP1 && D == 2 * W && X == W + 7);
        assert!(V == 1 << LV && V >= 2 * NQ && VP2 == LV + 2 && (1..=16).contains(&NQ));
        let build = Build {
            rx_queues: NQ as u32,
            tx_queues: 1,
            stream_bytes: K as u32,
            rx_fifo_log2: (A + Q) as u32,
            read_tags: READ_TAGS,
            clock_khz: CLOCK_KHZ,
            features,
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
            event_head: Default::default(),
            event_head_drop: Default::default(),
            event_queue: Default::default(),
            restart: Default::default(),
            pcie: Default::default(),
            read: Default::default(),
            rx: RxSide::new(features),
            tx: Default::default(),
            pause: Default::default(),
            global: GlobalRegs::new(build),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_read: Default::default(),
            bus_write: Default::default(),
            fire: Default::default(),
            flow: Default::default(),
            can_pause: Constant::new(ferronic_contract::registers::FEATURE_FLOW.of(features) == 1),
            nothing: Constant::new(0.into()),
        }
    }
}

impl<const W: usize, const K: usize, const L: usize, const Q: usize, const A: usize, const AP1: usize, const N: usize, const H: usize, const S: usize, const S2: usize, const B: usize, const D: usize, const X: usize, const T: usize, const NQ: usize, const TQ: usize, const V: usize, const LV: usize, const VP2: usize> Logic for Core<W, K, L, Q, A, AP1, N, H, S, S2, B, D, X, T, NQ, TQ, V, LV, VP2> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bus_addr, bus_wdata, bus_read, bus_write);
        self.bus_addr.d.next = self.pcie.bus_addr.val();
        self.bus_wdata.d.next = self.pcie.bus_wdata.val();
        self.bus_read.d.next = self.pcie.bus_read.val();
        // Only whole dwords are written.
        self.bus_write.d.next = self.pcie.bus_write.val() & (self.pcie.bus_be.val() == 15);
        self.flow.next = self.nothing.val();
        if self.can_pause.val() {
            self.flow.next = self.global.flow.val();
        }

        // Clock and reset. The PCIe side lives on through a reset of the core: the host is still talking to it.
        self.pcie.clock.next = self.clock.val();
        self.pcie.reset.next = self.reset.val();
        self.pcie.core_reset.next = self.restart.core_reset.val();
        self.restart.clock.next = self.clock.val();
        self.restart.reset.next = self.reset.val();
        self.read.clock.next = self.clock.val();
        self.read.reset.next = self.restart.core_reset.val();
        self.rx.clock.next = self.clock.val();
        self.rx.reset.next = self.restart.core_reset.val();
        self.tx.clock.next = self.clock.val();
        self.tx.reset.next = self.restart.core_reset.val();
        self.pause.clock.next = self.clock.val();
        self.pause.reset.next = self.restart.core_reset.val();
        self.global.clock.next = self.clock.val();
        self.global.reset.next = self.restart.core_reset.val();

        // TLP streams.
        self.pcie.rx_valid.next = self.rx_valid.val();
        self.pcie.rx_data.next = self.rx_data.val();
        self.pcie.rx_keep.next = self.rx_keep.val();
        self.pcie.rx_last.next = self.rx_last.val();
        self.pcie.tx_ready.next = self.tx_ready.val();
        self.pcie.np_ready.next = self.np_ready.val();
        self.rx_ready.next = self.pcie.rx_ready.val();
        self.tx_valid.next = self.pcie.tx_valid.val();
        self.tx_data.next = self.pcie.tx_data.val();
        self.tx_keep.next = self.pcie.tx_keep.val();
        self.tx_last.next = self.pcie.tx_last.val();

        // Reads, and their answers to everyone who reads.
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
        self.pcie.rd_wide.next = self.read.rd_wide.val();
        self.pcie.rd_dwords.next = self.read.rd_dwords.val();
        self.pcie.rd_first_be.next = self.read.rd_first_be.val();
        self.pcie.rd_last_be.next = self.read.rd_last_be.val();
        self.pcie.rd_tag.next = self.read.rd_tag.val();
        self.read.rd_ready.next = self.pcie.rd_ready.val();
        self.read.a_valid.next = self.rx.a_valid.val();
        self.read.a_addr.next = self.rx.a_addr.val();
        self.read.a_bytes.next = self.rx.a_bytes.val();
        self.read.a_tag.next = self.rx.a_tag.val();
        self.rx.a_ready.next = self.read.a_ready.val();
        self.read.b_valid.next = self.tx.b_valid.val();
        self.read.b_addr.next = self.tx.b_addr.val();
        self.read.b_bytes.next = self.tx.b_bytes.val();
        self.read.b_tag.next = self.tx.b_tag.val();
        self.read.p_valid.next = self.tx.p_valid.val();
        self.read.p_addr.next = self.tx.p_addr.val();
        self.read.p_bytes.next = self.tx.p_bytes.val();
        self.read.p_tag.next = self.tx.p_tag.val();
        self.tx.b_ready.next = self.read.b_ready.val();
        self.tx.p_ready.next = self.read.p_ready.val();
        self.rx.t_valid.next = self.read.o_valid.val();
        self.rx.t_data.next = self.read.o_data.val();
        self.rx.t_tag.next = self.read.o_tag.val();
        self.rx.t_lanes.next = self.read.o_lanes.val();
        self.rx.t_done.next = self.read.o_done.val();
        self.rx.t_done_tag.next = self.read.o_done_tag.val();
        self.rx.t_done_cause.next = self.read.o_done_cause.val();
        self.rx.dead.next = self.read.dead.val();
        self.tx.t_valid.next = self.read.o_valid.val();
        self.tx.t_data.next = self.read.o_data.val();
        self.tx.t_tag.next = self.read.o_tag.val();
        self.tx.t_done.next = self.read.o_done.val();
        self.tx.t_done_tag.next = self.read.o_done_tag.val();
        self.tx.t_done_cause.next = self.read.o_done_cause.val();
        self.tx.dead.next = self.read.dead.val();
        self.tx.t_dword.next = self.read.o_dword.val();
        self.tx.t_lanes.next = self.read.o_lanes.val();

        // RX.
        self.rx.wire_valid.next = self.wire_rx_valid.val();
        self.rx.wire_data.next = self.wire_rx_data.val();
        self.rx.wire_keep.next = self.wire_rx_keep.val();
        self.rx.wire_last.next = self.wire_rx_last.val();
        self.rx.wire_error.next = self.wire_rx_error.val();
        self.rx.rx_enable.next = self.global.rx_enable.val();
        self.rx.max_frame.next = self.global.max_frame.val();
        self.rx.own_mac.next = self.global.own_mac.val();
        self.rx.epoch.next = self.global.epoch.val();
        self.rx.now.next = self.global.now.val();
        self.rx.longest_wait.next = self.global.hold.val();
        self.rx.rx_mode.next = self.global.rx_mode.val();
        self.rx.hash_filter.next = self.global.hash_filter.val();
        self.rx.rss.next = self.global.rss.val();
        self.rx.flow.next = self.flow.val();
        self.rx.hold.next = self.restart.hold.val();
        self.rx.mps.next = self.pcie.mps.val();
        self.rx.mrrs.next = self.pcie.mrrs.val();
        self.pcie.pay_valid.next = self.rx.pay_valid.val();
        self.pcie.pay_addr.next = self.rx.pay_addr.val();
        self.pcie.pay_wide.next = self.rx.pay_wide.val();
        self.pcie.pay_dwords.next = self.rx.pay_dwords.val();
        self.pcie.pay_first_be.next = self.rx.pay_first_be.val();
        self.pcie.pay_last_be.next = self.rx.pay_last_be.val();
        self.pcie.pay_data.next = self.rx.pay_data.val();
        self.pcie.pay_last.next = self.rx.pay_last.val();
        self.pcie.done_valid.next = self.rx.done_valid.val();
        self.pcie.done_addr.next = self.rx.done_addr.val();
        self.pcie.done_dwords.next = self.rx.done_dwords.val();
        self.pcie.done_data.next = self.rx.done_data.val();
        self.rx.pay_ready.next = self.pcie.pay_ready.val();
        self.rx.done_ready.next = self.pcie.done_ready.val();

        // TX, with PAUSE frames in between.
        self.tx.tx_enable.next = self.global.tx_enable.val();
        self.tx.max_frame.next = self.global.max_frame.val();
        self.tx.hold.next = self.restart.hold.val();
        self.tx.mrrs.next = self.pcie.mrrs.val();
        self.pcie.index_valid.next = self.tx.index_valid.val();
        self.pcie.index_addr.next = self.tx.index_addr.val();
        self.pcie.index_data.next = self.tx.index_data.val();
        self.tx.index_ready.next = self.pcie.index_ready.val();
        self.pause.in_valid.next = self.tx.wire_valid.val();
        self.pause.in_data.next = self.tx.wire_data.val();
        self.pause.in_keep.next = self.tx.wire_keep.val();
        self.pause.in_last.next = self.tx.wire_last.val();
        self.tx.wire_ready.next = self.pause.in_ready.val();
        self.wire_tx_valid.next = self.pause.wire_valid.val();
        self.wire_tx_data.next = self.pause.wire_data.val();
        self.wire_tx_keep.next = self.pause.wire_keep.val();
        self.wire_tx_last.next = self.pause.wire_last.val();
        self.pause.wire_ready.next = self.wire_tx_ready.val();
        self.pause.hold.next = self.rx.pause.val();
        self.pause.fill.next = self.rx.fill.val();
        self.pause.own_mac.next = self.global.own_mac.val();
        self.pause.send_enable.next = self.flow.val().get_bit(0);
        self.pause.cycles.next = self.flow.val().get_bits::<12>(4);
        self.pause.quanta.next = self.flow.val().get_bits::<16>(16);
        self.pause.high.next = self.global.flow_marks.val().get_bits::<16>(0);
        self.pause.low.next = self.global.flow_marks.val().get_bits::<16>(16);

        // Register bus.
        self.global.bus_addr.next = self.bus_addr.q.val();
        self.global.bus_wdata.next = self.bus_wdata.q.val();
        self.global.bus_read.next = self.bus_read.q.val();
        self.global.bus_write.next = self.bus_write.q.val();
        self.rx.bus_addr.next = self.bus_addr.q.val();
        self.rx.bus_wdata.next = self.bus_wdata.q.val();
        self.rx.bus_read.next = self.bus_read.q.val();
        self.rx.bus_write.next = self.bus_write.q.val();
        self.tx.bus_addr.next = self.bus_addr.q.val();
        self.tx.bus_wdata.next = self.bus_wdata.q.val();
        self.tx.bus_read.next = self.bus_read.q.val();
        self.tx.bus_write.next = self.bus_write.q.val();
        self.pcie.bus_rdata.next = self.global.rdata.val() | (self.rx.rdata.val() | self.tx.rdata.val());

        // What is counted, and what the events show.
        self.global.frame_in.next = self.rx.frame_in.val();
        self.global.drop_disabled.next = self.rx.drop.val().get_bit(0);
        self.global.drop_bad.next = self.rx.drop.val().get_bit(1);
        self.global.drop_undersize.next = self.rx.drop.val().get_bit(2);
        self.global.drop_oversize.next = self.rx.drop.val().get_bit(3);
        self.global.drop_fifo.next = self.rx.drop.val().get_bit(4);
        self.global.drop_no_descriptor.next = self.rx.drop.val().get_bit(5);
        self.global.drop_filter.next = self.rx.drop_filter.val();
        self.global.pause_in.next = self.rx.pause_in.val();
        self.global.pause_out.next = self.pause.sent.val();
        self.global.frame_out.next = self.tx.frame.val();
        self.global.unexpected.next = self.read.unexpected.val();
        self.global.malformed.next = self.pcie.bad.val();
        self.global.epoch_write.next = self.rx.epoch_write.val();
        self.global.new_epoch.next = self.rx.new_epoch.val();
        self.event_in.next = self.rx.frame_in.val();
        self.event_drop.next = self.rx.drop.val();
        self.event_head.next = self.rx.head.val();
        self.event_head_drop.next = self.rx.head_drop.val();
        self.event_queue.next = self.rx.head_queue.val();

        // Interrupts: RX queue q has vector 2q, the TX queue vector 1.
        self.fire.next = 0.into();
        for i in 0_usize..NQ {
            self.fire.next = self.fire.val().replace_bit(2 * i, self.rx.fire.val().get_bit(i));
        }
        self.fire.next = self.fire.val().replace_bit(1, self.tx.fire.val());
        self.pcie.fire.next = self.fire.val();

        // Reset of the core without the PCIe side.
        self.restart.ask.next = self.global.soft_reset.val() | self.pcie.flr.val();
        self.restart.at_rest.next = self.rx.idle.val() & self.tx.idle.val();
        self.restart.master_enable.next = self.pcie.master_enable.val();

        if self.reset.val() {
            self.bus_read.d.next = false;
            self.bus_write.d.next = false;
        }
    }
}

/// The core as boards use it: 64 bits, four RX queues.
pub type Core64 = Core<64, 8, 2, 3, 12, 13, 16, 128, 1, 2, 11, 128, 71, 6, 4, 8, 8, 3, 5>;
/// 128 bits, one RX queue.
pub type Core128 = Core<128, 16, 4, 4, 11, 12, 8, 128, 1, 2, 10, 256, 135, 6, 1, 6, 2, 1, 3>;
/// 256 bits, sixteen RX queues.
pub type Core256 = Core<256, 32, 8, 5, 10, 11, 4, 256, 2, 4, 9, 512, 263, 5, 16, 9, 32, 5, 7>;
/// 512 bits, four RX queues.
pub type Core512 = Core<512, 64, 16, 6, 9, 10, 2, 512, 4, 8, 8, 1024, 519, 4, 4, 6, 8, 3, 5>;

/// The 64-bit core with the given features and number of RX queues, of which 1 and 4 can be asked for.
pub fn build(features: u32, queues: usize, name: &str) -> Option<String> {
    roomy(|| match queues {
        1 => Some(verilog(Core::<64, 8, 2, 3, 12, 13, 16, 128, 1, 2, 11, 128, 71, 6, 1, 6, 2, 1, 3>::new(features), name)),
        4 => Some(verilog(Core64::new(features), name)),
        _ => None,
    })
}

/// A core of all features and a width of 64, 128, 256 or 512 bits.
///
/// # Panics
///
/// No such width.
pub fn core(bits: usize, name: &str) -> String {
    roomy(|| match bits {
        64 => verilog(Core64::new(ALL_FEATURES), name),
        128 => verilog(Core128::new(ALL_FEATURES), name),
        256 => verilog(Core256::new(ALL_FEATURES), name),
        512 => verilog(Core512::new(ALL_FEATURES), name),
        _ => panic!("no core of {bits} bits"),
    })
}

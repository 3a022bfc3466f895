//! The PCI Express side: TLPs at one edge, reads, writes, registers and interrupts at the other.
//!
//! ```text
//! rx ─→ tlp_rx ─┬─→ c_* (completions of our reads)
//!               └─→ completer ─┬─→ config
//!                              ├─→ msix ←─ fire
//!                              └─→ register bus
//! tx ←─ tlp_tx ←─┬─ completer
//!                ├─ pay_*, rd_*
//!                └─ small_write ←─ done_*, index_*, msix
//! ```

pub mod completer;
pub mod config;
mod decode;
mod geometry;
mod grant;
pub mod msix;
pub mod small_write;
mod swap;
pub mod tlp_rx;
pub mod tlp_tx;

use crate::emit::verilog;
use completer::Completer;
use config::Config;
use msix::Msix;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;
use small_write::SmallWrite;
use tlp_rx::TlpRx;
use tlp_tx::TlpTx;

/// W data bits in L dwords a beat; N = 2^V interrupt vectors, VP2 = V + 2.
///
/// `reset` resets all; a function-level reset (`flr`, one cycle) resets the configuration space and the MSI-X block, and
/// lets the TLPs under way end: a source of writes that has begun a TLP must end it.
#[derive(LogicBlock, Default)]
pub struct PcieSide<const W: usize, const L: usize, const N: usize, const V: usize, const VP2: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The core is reset and withdraws what it offers.
    pub core_reset: Signal<In, Bit>,
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
    pub np_ready: Signal<In, Bit>,
    pub c_valid: Signal<Out, Bit>,
    pub c_first: Signal<Out, Bit>,
    pub c_last: Signal<Out, Bit>,
    pub c_data: Signal<Out, Bits<W>>,
    pub c_tag: Signal<Out, Bits<8>>,
    pub c_status: Signal<Out, Bits<3>>,
    pub c_poisoned: Signal<Out, Bit>,
    pub c_byte_count: Signal<Out, Bits<13>>,
    pub c_lower: Signal<Out, Bits<7>>,
    pub c_dwords: Signal<Out, Bits<11>>,
    pub c_requester: Signal<Out, Bits<16>>,
    pub pay_valid: Signal<In, Bit>,
    pub pay_addr: Signal<In, Bits<64>>,
    pub pay_wide: Signal<In, Bit>,
    pub pay_dwords: Signal<In, Bits<11>>,
    pub pay_first_be: Signal<In, Bits<4>>,
    pub pay_last_be: Signal<In, Bits<4>>,
    pub pay_data: Signal<In, Bits<W>>,
    pub pay_last: Signal<In, Bit>,
    pub pay_ready: Signal<Out, Bit>,
    pub rd_valid: Signal<In, Bit>,
    pub rd_addr: Signal<In, Bits<64>>,
    pub rd_wide: Signal<In, Bit>,
    pub rd_dwords: Signal<In, Bits<11>>,
    pub rd_first_be: Signal<In, Bits<4>>,
    pub rd_last_be: Signal<In, Bits<4>>,
    pub rd_tag: Signal<In, Bits<8>>,
    pub rd_ready: Signal<Out, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_addr: Signal<In, Bits<64>>,
    pub done_dwords: Signal<In, Bits<5>>,
    pub done_data: Signal<In, Bits<512>>,
    pub done_ready: Signal<Out, Bit>,
    pub index_valid: Signal<In, Bit>,
    pub index_addr: Signal<In, Bits<64>>,
    pub index_data: Signal<In, Bits<32>>,
    pub index_ready: Signal<Out, Bit>,
    pub fire: Signal<In, Bits<N>>,
    pub bus_addr: Signal<Out, Bits<16>>,
    pub bus_wdata: Signal<Out, Bits<32>>,
    pub bus_be: Signal<Out, Bits<4>>,
    pub bus_write: Signal<Out, Bit>,
    pub bus_read: Signal<Out, Bit>,
    pub bus_rdata: Signal<In, Bits<32>>,
    pub mem_enable: Signal<Out, Bit>,
    pub master_enable: Signal<Out, Bit>,
    pub mps: Signal<Out, Bits<3>>,
    pub mrrs: Signal<Out, Bits<3>>,
    pub rcb: Signal<Out, Bit>,
    pub bdf: Signal<Out, Bits<16>>,
    pub flr: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,

    tlp_rx: TlpRx<W, L>,
    tlp_tx: TlpTx<W, L>,
    completer: Completer,
    configuration: Config<N>,
    msix: Msix<N, V, VP2>,
    small_write: SmallWrite<W, L>,
    bad_waits: DFF<Bit>,
    // MASTER_ENABLE for what sends, a cycle late.
    may_send: DFF<Bit>,
}

impl<const W: usize, const L: usize, const N: usize, const V: usize, const VP2: usize> Logic for PcieSide<W, L, N, V, VP2> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bad_waits, may_send);
        self.tlp_rx.clock.next = self.clock.val();
        self.tlp_tx.clock.next = self.clock.val();
        self.completer.clock.next = self.clock.val();
        self.configuration.clock.next = self.clock.val();
        self.msix.clock.next = self.clock.val();
        self.small_write.clock.next = self.clock.val();
        self.tlp_rx.reset.next = self.reset.val();
        self.tlp_tx.reset.next = self.reset.val();
        self.completer.reset.next = self.reset.val();
        self.configuration.reset.next = self.reset.val();
        // With bus mastering off nothing of a short write has begun; its source is gone, so it must not go out later.
        self.small_write.reset.next =
            self.reset.val() | (self.core_reset.val() & !self.may_send.q.val());
        self.msix.reset.next = self.reset.val() | self.configuration.flr.val();

        // Received: completions go out, requests to the completer.
        self.tlp_rx.rx_valid.next = self.rx_valid.val();
        self.tlp_rx.rx_data.next = self.rx_data.val();
        self.tlp_rx.rx_keep.next = self.rx_keep.val();
        self.tlp_rx.rx_last.next = self.rx_last.val();
        self.rx_ready.next = self.tlp_rx.rx_ready.val();
        self.c_valid.next = self.tlp_rx.c_valid.val();
        self.c_first.next = self.tlp_rx.c_first.val();
        self.c_last.next = self.tlp_rx.c_last.val();
        self.c_data.next = self.tlp_rx.c_data.val();
        self.c_tag.next = self.tlp_rx.c_tag.val();
        self.c_status.next = self.tlp_rx.c_status.val();
        self.c_poisoned.next = self.tlp_rx.c_poisoned.val();
        self.c_byte_count.next = self.tlp_rx.c_byte_count.val();
        self.c_lower.next = self.tlp_rx.c_lower.val();
        self.c_dwords.next = self.tlp_rx.c_dwords.val();
        self.c_requester.next = self.tlp_rx.c_requester.val();
        self.completer.q_valid.next = self.tlp_rx.q_valid.val();
        self.completer.q_kind.next = self.tlp_rx.q_kind.val();
        self.completer.q_addr.next = self.tlp_rx.q_addr.val();
        self.completer.q_target.next = self.tlp_rx.q_target.val();
        self.completer.q_dwords.next = self.tlp_rx.q_dwords.val();
        self.completer.q_first_be.next = self.tlp_rx.q_first_be.val();
        self.completer.q_last_be.next = self.tlp_rx.q_last_be.val();
        self.completer.q_requester.next = self.tlp_rx.q_requester.val();
        self.completer.q_tag.next = self.tlp_rx.q_tag.val();
        self.completer.q_tc.next = self.tlp_rx.q_tc.val();
        self.completer.q_attr.next = self.tlp_rx.q_attr.val();
        self.completer.q_data.next = self.tlp_rx.q_data.val();
        self.tlp_rx.q_ready.next = self.completer.q_ready.val();

        // Configuration space.
        self.configuration.cfg_addr.next = self.completer.cfg_addr.val();
        self.configuration.cfg_target.next = self.completer.cfg_target.val();
        self.configuration.cfg_wdata.next = self.completer.cfg_wdata.val();
        self.configuration.cfg_be.next = self.completer.cfg_be.val();
        self.configuration.cfg_write.next = self.completer.cfg_write.val();
        self.configuration.cfg_read.next = self.completer.cfg_read.val();
        self.completer.cfg_rdata.next = self.configuration.cfg_rdata.val();
        self.completer.bar.next = self.configuration.bar.val();
        self.completer.mem_enable.next = self.configuration.mem_enable.val();
        self.mem_enable.next = self.configuration.mem_enable.val();
        self.master_enable.next = self.configuration.master_enable.val();
        self.mps.next = self.configuration.mps.val();
        self.mrrs.next = self.configuration.mrrs.val();
        self.rcb.next = self.configuration.rcb.val();
        self.bdf.next = self.configuration.bdf.val();
        self.flr.next = self.configuration.flr.val();

        // Register bus: the MSI-X table is one slave, the others are outside.
        self.bus_addr.next = self.completer.bus_addr.val();
        self.msix.bus_addr.next = self.completer.bus_addr.val();
        self.bus_wdata.next = self.completer.bus_wdata.val();
        self.msix.bus_wdata.next = self.completer.bus_wdata.val();
        self.bus_be.next = self.completer.bus_be.val();
        self.msix.bus_be.next = self.completer.bus_be.val();
        self.bus_write.next = self.completer.bus_write.val();
        self.msix.bus_write.next = self.completer.bus_write.val();
        self.bus_read.next = self.completer.bus_read.val();
        self.msix.bus_read.next = self.completer.bus_read.val();
        self.completer.bus_rdata.next = self.bus_rdata.val() | self.msix.bus_rdata.val();

        // Interrupts and the other short writes.
        self.msix.enable.next = self.configuration.msix_enable.val();
        self.msix.function_mask.next = self.configuration.msix_mask.val();
        self.msix.fire.next = self.fire.val();
        self.small_write.m_valid.next = self.msix.m_valid.val();
        self.small_write.m_addr.next = self.msix.m_addr.val();
        self.small_write.m_data.next = self.msix.m_data.val();
        self.msix.m_ready.next = self.small_write.m_ready.val();
        self.small_write.done_valid.next = self.done_valid.val();
        self.small_write.done_addr.next = self.done_addr.val();
        self.small_write.done_dwords.next = self.done_dwords.val();
        self.small_write.done_data.next = self.done_data.val();
        self.done_ready.next = self.small_write.done_ready.val();
        self.small_write.index_valid.next = self.index_valid.val();
        self.small_write.index_addr.next = self.index_addr.val();
        self.small_write.index_data.next = self.index_data.val();
        self.index_ready.next = self.small_write.index_ready.val();

        // Sent.
        self.tlp_tx.small_valid.next = self.small_write.small_valid.val();
        self.tlp_tx.small_addr.next = self.small_write.small_addr.val();
        self.tlp_tx.small_wide.next = self.small_write.small_wide.val();
        self.tlp_tx.small_dwords.next = self.small_write.small_dwords.val();
        self.tlp_tx.small_first_be.next = self.small_write.small_first_be.val();
        self.tlp_tx.small_last_be.next = self.small_write.small_last_be.val();
        self.tlp_tx.small_data.next = self.small_write.small_data.val();
        self.tlp_tx.small_last.next = self.small_write.small_last.val();
        self.small_write.small_ready.next = self.tlp_tx.small_ready.val();
        self.tlp_tx.cpl_valid.next = self.completer.cpl_valid.val();
        self.tlp_tx.cpl_status.next = self.completer.cpl_status.val();
        self.tlp_tx.cpl_byte_count.next = self.completer.cpl_byte_count.val();
        self.tlp_tx.cpl_lower.next = self.completer.cpl_lower.val();
        self.tlp_tx.cpl_requester.next = self.completer.cpl_requester.val();
        self.tlp_tx.cpl_tag.next = self.completer.cpl_tag.val();
        self.tlp_tx.cpl_tc.next = self.completer.cpl_tc.val();
        self.tlp_tx.cpl_attr.next = self.completer.cpl_attr.val();
        self.tlp_tx.cpl_dwords.next = self.completer.cpl_dwords.val();
        self.tlp_tx.cpl_data.next = self.completer.cpl_data.val();
        self.completer.cpl_ready.next = self.tlp_tx.cpl_ready.val();
        self.tlp_tx.pay_valid.next = self.pay_valid.val();
        self.tlp_tx.pay_addr.next = self.pay_addr.val();
        self.tlp_tx.pay_wide.next = self.pay_wide.val();
        self.tlp_tx.pay_dwords.next = self.pay_dwords.val();
        self.tlp_tx.pay_first_be.next = self.pay_first_be.val();
        self.tlp_tx.pay_last_be.next = self.pay_last_be.val();
        self.tlp_tx.pay_data.next = self.pay_data.val();
        self.tlp_tx.pay_last.next = self.pay_last.val();
        self.pay_ready.next = self.tlp_tx.pay_ready.val();
        self.tlp_tx.rd_valid.next = self.rd_valid.val();
        self.tlp_tx.rd_addr.next = self.rd_addr.val();
        self.tlp_tx.rd_wide.next = self.rd_wide.val();
        self.tlp_tx.rd_dwords.next = self.rd_dwords.val();
        self.tlp_tx.rd_first_be.next = self.rd_first_be.val();
        self.tlp_tx.rd_last_be.next = self.rd_last_be.val();
        self.tlp_tx.rd_tag.next = self.rd_tag.val();
        self.rd_ready.next = self.tlp_tx.rd_ready.val();
        self.tx_valid.next = self.tlp_tx.tx_valid.val();
        self.tx_data.next = self.tlp_tx.tx_data.val();
        self.tx_keep.next = self.tlp_tx.tx_keep.val();
        self.tx_last.next = self.tlp_tx.tx_last.val();
        self.tlp_tx.tx_ready.next = self.tx_ready.val();
        self.tlp_tx.np_ready.next = self.np_ready.val();
        self.tlp_tx.bdf.next = self.configuration.bdf.val();
        self.may_send.d.next = self.configuration.master_enable.val();
        self.tlp_tx.master_enable.next = self.may_send.q.val();

        // Two faults in one cycle give two pulses.
        self.bad.next = self.tlp_rx.bad.val() | self.completer.bad.val() | self.bad_waits.q.val();
        self.bad_waits.d.next = (self.tlp_rx.bad.val() & self.completer.bad.val())
            | (self.bad_waits.q.val() & (self.tlp_rx.bad.val() | self.completer.bad.val()));

        if self.reset.val() {
            self.bad_waits.d.next = false;
        }
    }
}

/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![
        ("tlp_rx_64", verilog(TlpRx::<64, 2>::default(), "tlp_rx_64")),
        ("tlp_rx_128", verilog(TlpRx::<128, 4>::default(), "tlp_rx_128")),
        ("tlp_rx_256", verilog(TlpRx::<256, 8>::default(), "tlp_rx_256")),
        ("tlp_rx_512", verilog(TlpRx::<512, 16>::default(), "tlp_rx_512")),
        ("tlp_tx_64", verilog(TlpTx::<64, 2>::default(), "tlp_tx_64")),
        ("tlp_tx_128", verilog(TlpTx::<128, 4>::default(), "tlp_tx_128")),
        ("tlp_tx_256", verilog(TlpTx::<256, 8>::default(), "tlp_tx_256")),
        ("tlp_tx_512", verilog(TlpTx::<512, 16>::default(), "tlp_tx_512")),
        ("completer", verilog(Completer::default(), "completer")),
        ("config_space", verilog(Config::<64>::default(), "config_space")),
        ("msix", verilog(Msix::<64, 6, 8>::default(), "msix")),
        ("small_write_64", verilog(SmallWrite::<64, 2>::default(), "small_write_64")),
        ("small_write_128", verilog(SmallWrite::<128, 4>::default(), "small_write_128")),
        ("small_write_256", verilog(SmallWrite::<256, 8>::default(), "small_write_256")),
        ("small_write_512", verilog(SmallWrite::<512, 16>::default(), "small_write_512")),
        ("pcie_side_64", verilog(PcieSide::<64, 2, 8, 3, 5>::default(), "pcie_side_64")),
        ("pcie_side_128", verilog(PcieSide::<128, 4, 64, 6, 8>::default(), "pcie_side_128")),
    ]
}

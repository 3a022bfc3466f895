//! Configuration space: type 0 header, one 64-bit BAR of 64 KiB, power management, PCI Express and MSI-X.
//!
//! ```text
//! cfg bus ─→ mux of all registers ─→ word ─→ answer (held)
//!                                      └─→ merged with the bytes written ─→ the registers
//! ```
//!
//! A strobe is answered, or done, two cycles later; the bus may strobe every third cycle. FLR resets what the
//! specification says it resets and keeps MPS, RCB and the other link settings. In D3hot the function answers
//! configuration requests alone.
//!
//! Rules: PCI Express Base Specification, sections 7.5 (header, PCI Express capability), 6.6.2 (FLR), 7.7.2 (MSI-X).

use ferronic_contract::registers::{MSIX_PBA, MSIX_TABLE};
use ferronic_contract::{BAR_BYTES, PCI_CLASS, PCI_DEVICE_ID, PCI_VENDOR_ID};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N interrupt vectors.
#[derive(LogicBlock)]
pub struct Config<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_addr: Signal<In, Bits<12>>,
    pub cfg_target: Signal<In, Bits<16>>,
    pub cfg_wdata: Signal<In, Bits<32>>,
    pub cfg_be: Signal<In, Bits<4>>,
    pub cfg_write: Signal<In, Bit>,
    pub cfg_read: Signal<In, Bit>,
    pub cfg_rdata: Signal<Out, Bits<32>>,
    pub bar: Signal<Out, Bits<64>>,
    pub mem_enable: Signal<Out, Bit>,
    pub master_enable: Signal<Out, Bit>,
    pub mps: Signal<Out, Bits<3>>,
    pub mrrs: Signal<Out, Bits<3>>,
    pub rcb: Signal<Out, Bit>,
    pub msix_enable: Signal<Out, Bit>,
    pub msix_mask: Signal<Out, Bit>,
    pub bdf: Signal<Out, Bits<16>>,
    pub flr: Signal<Out, Bit>,

    word: DFF<Bits<32>>,
    commit: DFF<Bit>,
    index: Signal<Local, Bits<10>>,
    mask: Signal<Local, Bits<32>>,
    merged: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<16>>,
    high: Signal<Local, Bits<16>>,

    // Registers; bits that cannot be written stay 0.
    command: DFF<Bits<16>>,
    bar_low: DFF<Bits<16>>,
    bar_high: DFF<Bits<32>>,
    line: DFF<Bits<8>>,
    /// 0 is D0, 3 is D3hot.
    power: DFF<Bits<2>>,
    device: DFF<Bits<16>>,
    function_reset: DFF<Bit>,
    link: DFF<Bits<16>>,
    msix: DFF<Bits<16>>,
    own_bdf: DFF<Bits<16>>,

    ids: Constant<Bits<32>>,
    status: Constant<Bits<32>>,
    octet: Constant<Bits<32>>,
    class_code: Constant<Bits<32>>,
    bar_flags: Constant<Bits<32>>,
    pm_capability: Constant<Bits<32>>,
    pcie_capability: Constant<Bits<32>>,
    device_capability: Constant<Bits<32>>,
    link_capability: Constant<Bits<32>>,
    link_status: Constant<Bits<32>>,
    link_speeds: Constant<Bits<32>>,
    msix_capability: Constant<Bits<32>>,
    msix_table: Constant<Bits<32>>,
    msix_pba: Constant<Bits<32>>,
    command_bits: Constant<Bits<16>>,
    device_bits: Constant<Bits<16>>,
    kept_bits: Constant<Bits<16>>,
    link_bits: Constant<Bits<16>>,
    msix_bits: Constant<Bits<16>>,
    device_default: Constant<Bits<16>>,
}

impl<const N: usize> Default for Config<N> {
    fn default() -> Self {
        assert!((1..=2048).contains(&N), "MSI-X has from 1 to 2048 vectors, not {N}");
        assert_eq!(BAR_BYTES, 1 << 16);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            cfg_addr: Default::default(),
            cfg_target: Default::default(),
            cfg_wdata: Default::default(),
            cfg_be: Default::default(),
            cfg_write: Default::default(),
            cfg_read: Default::default(),
            cfg_rdata: Default::default(),
            bar: Default::default(),
            mem_enable: Default::default(),
            master_enable: Default::default(),
            mps: Default::default(),
            mrrs: Default::default(),
            rcb: Default::default(),
            msix_enable: Default::default(),
            msix_mask: Default::default(),
            bdf: Default::default(),
            flr: Default::default(),
            word: Default::default(),
            commit: Default::default(),
            index: Default::default(),
            mask: Default::default(),
            merged: Default::default(),
            low: Default::default(),
            high: Default::default(),
            command: Default::default(),
            bar_low: Default::default(),
            bar_high: Default::default(),
            line: Default::default(),
            power: Default::default(),
            device: Default::default(),
            function_reset: Default::default(),
            link: Default::default(),
            msix: Default::default(),
            own_bdf: Default::default(),
            ids: Constant::new((u64::from(PCI_DEVICE_ID) << 16 | u64::from(PCI_VENDOR_ID)).to_bits()),
            // A list of capabilities.
            status: Constant::new(0x0010_0000.into()),
            octet: Constant::new(0xFF.into()),
            class_code: Constant::new((u64::from(PCI_CLASS) << 8).to_bits()),
            // 64-bit memory, not prefetchable.
            bar_flags: Constant::new(0x4.into()),
            // Next 0x50; version 3, no PME, no soft reset is said in the control register.
            pm_capability: Constant::new(0x0003_5001.into()),
            // Next 0x90; version 2, endpoint.
            pcie_capability: Constant::new(0x0002_9010.into()),
            // MPS 512, role-based error reporting, FLR.
            device_capability: Constant::new(0x1000_8002.into()),
            // 2.5 GT/s, x1; the same in the status.
            link_capability: Constant::new(0x0000_0011.into()),
            link_status: Constant::new(0x0011_0000.into()),
            link_speeds: Constant::new(0x2.into()),
            msix_capability: Constant::new((0x11 | (N as u64 - 1) << 16).to_bits()),
            msix_table: Constant::new(u64::from(MSIX_TABLE).to_bits()),
            msix_pba: Constant::new(u64::from(MSIX_PBA).to_bits()),
            // ASPM 1:0, RCB 3, common clock 6, extended synch 7.
            // Memory space, bus master, parity, SERR#, INTx off.
            command_bits: Constant::new(0x0546.into()),
            // Error reporting 3:0, relaxed ordering 4, MPS 7:5, no snoop 11, MRRS 14:12; MPS outlives an FLR.
            device_bits: Constant::new(0x78FF.into()),
            kept_bits: Constant::new(0x00E0.into()),
            // Relaxed ordering and no snoop allowed, MRRS 512.
            device_default: Constant::new(0x2810.into()),
            // ASPM 1:0, RCB 3, common clock 6, extended synch 7.
            link_bits: Constant::new(0x00CB.into()),
            // Function mask, enable.
            msix_bits: Constant::new(0xC000.into()),
        }
    }
}

impl<const N: usize> Logic for Config<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, word, commit, command, bar_low, bar_high, line, power, device, function_reset);
        dff_setup!(self, clock, link, msix, own_bdf);

        // Dword offset; comments give the byte offset.
        self.index.next = self.cfg_addr.val().get_bits::<10>(2);
        self.commit.d.next = self.cfg_write.val();
        if self.cfg_write.val() {
            self.own_bdf.d.next = self.cfg_target.val();
        }
        if self.cfg_read.val() | self.cfg_write.val() {
            self.word.d.next = 0.into();
            match self.index.val().index() {
                // 0x00 IDs, 0x04 status and command, 0x08 class and revision 0
                0 => self.word.d.next = self.ids.val(),
                1 => self.word.d.next = self.status.val() | bit_cast::<32, 16>(self.command.q.val()),
                2 => self.word.d.next = self.class_code.val(),
                // 0x10 BAR 0, 0x2C subsystem IDs, 0x34 first capability, 0x3C interrupt line
                4 => self.word.d.next = (bit_cast::<32, 16>(self.bar_low.q.val()) << 16) | self.bar_flags.val(),
                5 => self.word.d.next = self.bar_high.q.val(),
                11 => self.word.d.next = self.ids.val(),
                13 => self.word.d.next = 64.into(),
                15 => self.word.d.next = bit_cast::<32, 8>(self.line.q.val()),
                // 0x40 power management; no soft reset on the way from D3hot to D0
                16 => self.word.d.next = self.pm_capability.val(),
                17 => self.word.d.next = bit_cast::<32, 2>(self.power.q.val()) | 8,
                // 0x50 PCI Express
                20 => self.word.d.next = self.pcie_capability.val(),
                21 => self.word.d.next = self.device_capability.val(),
                22 => self.word.d.next = bit_cast::<32, 16>(self.device.q.val()),
                23 => self.word.d.next = self.link_capability.val(),
                24 => self.word.d.next = self.link_status.val() | bit_cast::<32, 16>(self.link.q.val()),
                31 => self.word.d.next = self.link_speeds.val(),
                // 0x90 MSI-X
                36 => {
                    self.word.d.next =
                        (bit_cast::<32, 16>(self.msix.q.val()) << 16) | self.msix_capability.val()
                }
                37 => self.word.d.next = self.msix_table.val(),
                38 => self.word.d.next = self.msix_pba.val(),
                _ => {}
            }
        }
        self.cfg_rdata.next = self.word.q.val();

        self.mask.next = 0.into();
        if self.cfg_be.val().get_bit(0) {
            self.mask.next = self.mask.val() | self.octet.val();
        }
        if self.cfg_be.val().get_bit(1) {
            self.mask.next = self.mask.val() | (self.octet.val() << 8);
        }
        if self.cfg_be.val().get_bit(2) {
            self.mask.next = self.mask.val() | (self.octet.val() << 16);
        }
        if self.cfg_be.val().get_bit(3) {
            self.mask.next = self.mask.val() | (self.octet.val() << 24);
        }
        self.merged.next = (self.word.q.val() & !self.mask.val()) | (self.cfg_wdata.val() & self.mask.val());
        self.low.next = self.merged.val().get_bits::<16>(0);
        self.high.next = self.merged.val().get_bits::<16>(16);
        self.function_reset.d.next = false;
        if self.commit.q.val() {
            match self.index.val().index() {
                1 => self.command.d.next = self.low.val() & self.command_bits.val(),
                4 => self.bar_low.d.next = self.high.val(),
                5 => self.bar_high.d.next = self.merged.val(),
                15 => self.line.d.next = self.merged.val().get_bits::<8>(0),
                17 => {
                    // Other states are not supported: a write of one is ignored.
                    if self.merged.val().get_bit(0) == self.merged.val().get_bit(1) {
                        self.power.d.next = self.merged.val().get_bits::<2>(0);
                    }
                }
                22 => {
                    self.device.d.next = self.low.val() & self.device_bits.val();
                    self.function_reset.d.next = self.merged.val().get_bit(15);
                }
                24 => self.link.d.next = self.low.val() & self.link_bits.val(),
                36 => self.msix.d.next = self.high.val() & self.msix_bits.val(),
                _ => {}
            }
        }

        self.bar.next = (bit_cast::<64, 32>(self.bar_high.q.val()) << 32)
            | (bit_cast::<64, 16>(self.bar_low.q.val()) << 16);
        self.mem_enable.next = self.command.q.val().get_bit(1) & (self.power.q.val() == 0);
        self.master_enable.next = self.command.q.val().get_bit(2) & (self.power.q.val() == 0);
        self.mps.next = self.device.q.val().get_bits::<3>(5);
        self.mrrs.next = self.device.q.val().get_bits::<3>(12);
        self.rcb.next = self.link.q.val().get_bit(3);
        self.msix_mask.next = self.msix.q.val().get_bit(14);
        self.msix_enable.next = self.msix.q.val().get_bit(15);
        self.bdf.next = self.own_bdf.q.val();
        self.flr.next = self.function_reset.q.val();

        if self.reset.val() | self.function_reset.q.val() {
            self.command.d.next = 0.into();
            self.bar_low.d.next = 0.into();
            self.bar_high.d.next = 0.into();
            self.line.d.next = 0.into();
            self.power.d.next = 0.into();
            self.msix.d.next = 0.into();
            self.device.d.next = (self.device.q.val() & self.kept_bits.val()) | self.device_default.val();
        }
        if self.reset.val() {
            self.commit.d.next = false;
            self.function_reset.d.next = false;
            self.device.d.next = self.device_default.val();
            self.link.d.next = 0.into();
            self.own_bdf.d.next = 0.into();
        }
    }
}

//! Answers requests: configuration space and BAR 0, a dword at a time.
//!
//! ```text
//! q ─→ hit? legal? ─→ access, 1 or 2 dwords, 5 cycles each ─→ cpl
//! ```
//!
//! A write of one dword takes 6 cycles, a read 10. Reads over two dwords in the BAR are answered with Completer
//! Abort; what does not hit the BAR, other functions and other kinds with Unsupported Request. A dword without byte
//! enables is not accessed (it reads 0), so a read of length zero has no side effect.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Completer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bar: Signal<In, Bits<64>>,
    pub mem_enable: Signal<In, Bit>,
    pub q_valid: Signal<In, Bit>,
    pub q_kind: Signal<In, Bits<3>>,
    pub q_addr: Signal<In, Bits<64>>,
    pub q_target: Signal<In, Bits<16>>,
    pub q_dwords: Signal<In, Bits<11>>,
    pub q_first_be: Signal<In, Bits<4>>,
    pub q_last_be: Signal<In, Bits<4>>,
    pub q_requester: Signal<In, Bits<16>>,
    pub q_tag: Signal<In, Bits<8>>,
    pub q_tc: Signal<In, Bits<3>>,
    pub q_attr: Signal<In, Bits<2>>,
    pub q_data: Signal<In, Bits<64>>,
    pub q_ready: Signal<Out, Bit>,
    pub bus_addr: Signal<Out, Bits<16>>,
    pub bus_wdata: Signal<Out, Bits<32>>,
    pub bus_be: Signal<Out, Bits<4>>,
    pub bus_write: Signal<Out, Bit>,
    pub bus_read: Signal<Out, Bit>,
    pub bus_rdata: Signal<In, Bits<32>>,
    pub cfg_addr: Signal<Out, Bits<12>>,
    pub cfg_target: Signal<Out, Bits<16>>,
    pub cfg_wdata: Signal<Out, Bits<32>>,
    pub cfg_be: Signal<Out, Bits<4>>,
    pub cfg_write: Signal<Out, Bit>,
    pub cfg_read: Signal<Out, Bit>,
    pub cfg_rdata: Signal<In, Bits<32>>,
    pub cpl_valid: Signal<Out, Bit>,
    pub cpl_status: Signal<Out, Bits<3>>,
    pub cpl_byte_count: Signal<Out, Bits<12>>,
    pub cpl_lower: Signal<Out, Bits<7>>,
    pub cpl_requester: Signal<Out, Bits<16>>,
    pub cpl_tag: Signal<Out, Bits<8>>,
    pub cpl_tc: Signal<Out, Bits<3>>,
    pub cpl_attr: Signal<Out, Bits<2>>,
    pub cpl_dwords: Signal<Out, Bits<2>>,
    pub cpl_data: Signal<Out, Bits<64>>,
    pub cpl_ready: Signal<In, Bit>,
    /// A write that hits nothing.
    pub bad: Signal<Out, Bit>,

    // 0 idle, 1 decide, 2 access, 3 wait, 4 answer, 5 done without an answer
    state: DFF<Bits<3>>,
    hit: DFF<Bit>,
    second: DFF<Bit>,
    count: DFF<Bits<3>>,
    status: DFF<Bits<3>>,
    dwords: DFF<Bits<2>>,
    byte_count: DFF<Bits<12>>,
    lower: DFF<Bits<2>>,
    data: DFF<Bits<64>>,
    addr: DFF<Bits<16>>,
    wdata: DFF<Bits<32>>,
    be: DFF<Bits<4>>,
    write_strobe: DFF<Bit>,
    read_strobe: DFF<Bit>,
    cfg_write_strobe: DFF<Bit>,
    cfg_read_strobe: DFF<Bit>,
    missed: DFF<Bit>,
    // What is asked: a cycle after `q_valid`, when the request is looked at.
    is_config: DFF<Bit>,
    is_write: DFF<Bit>,
    is_memory: DFF<Bit>,
    function_number: Signal<Local, Bits<3>>,
    // Bytes of the first dword before, and of the last dword behind, the enabled ones.
    lead: Signal<Local, Bits<2>>,
    trail: Signal<Local, Bits<2>>,
    end_be: Signal<Local, Bits<4>>,
    be_now: Signal<Local, Bits<4>>,
    // What the register bus showed: it comes from afar.
    heard: DFF<Bits<32>>,
    answer: Signal<Local, Bits<32>>,
}

impl Logic for Completer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, hit, second, count, status, dwords, byte_count, lower, data);
        dff_setup!(self, clock, addr, wdata, be, write_strobe, read_strobe, cfg_write_strobe, cfg_read_strobe);
        dff_setup!(self, clock, missed, is_config, is_write, is_memory, heard);

        self.is_config.d.next = (self.q_kind.val() == 0) | (self.q_kind.val() == 1);
        self.is_write.d.next = (self.q_kind.val() == 1) | (self.q_kind.val() == 3);
        self.is_memory.d.next = (self.q_kind.val() == 2) | (self.q_kind.val() == 3);
        self.function_number.next = self.q_target.val().get_bits::<3>(0);

        // Byte count and lower address, by the byte enables.
        self.end_be.next = self.q_last_be.val();
        if self.q_dwords.val() == 1 {
            self.end_be.next = self.q_first_be.val();
        }
        self.lead.next = 3.into();
        if self.q_first_be.val().get_bit(0) | (self.q_first_be.val() == 0) {
            self.lead.next = 0.into();
        } else if self.q_first_be.val().get_bit(1) {
            self.lead.next = 1.into();
        } else if self.q_first_be.val().get_bit(2) {
            self.lead.next = 2.into();
        }
        self.trail.next = 3.into();
        if self.end_be.val().get_bit(3) {
            self.trail.next = 0.into();
        } else if self.end_be.val().get_bit(2) {
            self.trail.next = 1.into();
        } else if self.end_be.val().get_bit(1) {
            self.trail.next = 2.into();
        }

        self.be_now.next = self.q_first_be.val();
        if self.second.q.val() {
            self.be_now.next = self.q_last_be.val();
        }
        self.heard.d.next = self.bus_rdata.val();
        self.answer.next = 0.into();
        if self.be.q.val() != 0 {
            self.answer.next = self.heard.q.val();
            if self.is_config.q.val() {
                self.answer.next = self.cfg_rdata.val();
            }
        }

        self.hit.d.next = self.mem_enable.val()
            & (self.q_addr.val().get_bits::<48>(16) == self.bar.val().get_bits::<48>(16));
        self.write_strobe.d.next = false;
        self.read_strobe.d.next = false;
        self.cfg_write_strobe.d.next = false;
        self.cfg_read_strobe.d.next = false;
        self.missed.d.next = false;
        self.q_ready.next = false;
        self.cpl_valid.next = false;
        match self.state.q.val().index() {
            0 => {
                self.second.d.next = false;
                if self.q_valid.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.status.d.next = 0.into();
                self.state.d.next = 2.into();
                self.dwords.d.next = self.q_dwords.val().get_bits::<2>(0);
                if self.is_write.q.val() {
                    self.dwords.d.next = 0.into();
                }
                self.lower.d.next = self.lead.val();
                self.byte_count.d.next = (bit_cast::<12, 10>(self.q_dwords.val().get_bits::<10>(0)) << 2)
                    - bit_cast::<12, 2>(self.lead.val())
                    - bit_cast::<12, 2>(self.trail.val());
                if !self.is_memory.q.val() {
                    self.lower.d.next = 0.into();
                    self.byte_count.d.next = 4.into();
                }
                if self.is_memory.q.val() & !self.hit.q.val() {
                    self.status.d.next = 1.into();
                    self.dwords.d.next = 0.into();
                    self.state.d.next = 4.into();
                    if self.is_write.q.val() {
                        self.missed.d.next = true;
                        self.state.d.next = 5.into();
                    }
                } else if self.is_memory.q.val() & (self.q_dwords.val() > 2) {
                    self.status.d.next = 4.into();
                    self.dwords.d.next = 0.into();
                    self.state.d.next = 4.into();
                } else if !self.is_memory.q.val() & (!self.is_config.q.val() | (self.function_number.val() != 0)) {
                    self.status.d.next = 1.into();
                    self.dwords.d.next = 0.into();
                    self.state.d.next = 4.into();
                }
            }
            2 => {
                self.addr.d.next = self.q_addr.val().get_bits::<16>(0);
                self.wdata.d.next = self.q_data.val().get_bits::<32>(0);
                if self.second.q.val() {
                    self.addr.d.next = self.q_addr.val().get_bits::<16>(0) + 4;
                    self.wdata.d.next = self.q_data.val().get_bits::<32>(32);
                }
                self.be.d.next = self.be_now.val();
                if self.be_now.val() != 0 {
                    self.write_strobe.d.next = self.is_write.q.val() & !self.is_config.q.val();
                    self.read_strobe.d.next = !self.is_write.q.val() & !self.is_config.q.val();
                    self.cfg_write_strobe.d.next = self.is_write.q.val() & self.is_config.q.val();
                    self.cfg_read_strobe.d.next = !self.is_write.q.val() & self.is_config.q.val();
                }
                self.count.d.next = 0.into();
                self.state.d.next = 3.into();
            }
            3 => {
                // The strobe is out while count is 0.
                self.count.d.next = self.count.q.val() + 1;
                if (self.count.q.val() == 5) | ((self.count.q.val() == 1) & self.is_write.q.val()) {
                    if self.second.q.val() {
                        self.data.d.next = (bit_cast::<64, 32>(self.answer.val()) << 32) | self.data.q.val();
                    } else {
                        self.data.d.next = bit_cast::<64, 32>(self.answer.val());
                    }
                    self.second.d.next = true;
                    self.state.d.next = 4.into();
                    if !self.second.q.val() & (self.q_dwords.val() == 2) {
                        self.state.d.next = 2.into();
                    } else if self.q_kind.val() == 3 {
                        self.state.d.next = 5.into();
                    }
                }
            }
            4 => {
                self.cpl_valid.next = true;
                if self.cpl_ready.val() {
                    self.q_ready.next = true;
                    self.state.d.next = 0.into();
                }
            }
            5 => {
                self.q_ready.next = true;
                self.state.d.next = 0.into();
            }
            _ => self.state.d.next = 0.into(),
        }

        self.bus_addr.next = self.addr.q.val();
        self.bus_wdata.next = self.wdata.q.val();
        self.bus_be.next = self.be.q.val();
        self.bus_write.next = self.write_strobe.q.val();
        self.bus_read.next = self.read_strobe.q.val();
        self.cfg_addr.next = self.addr.q.val().get_bits::<12>(0);
        self.cfg_target.next = self.q_target.val();
        self.cfg_wdata.next = self.wdata.q.val();
        self.cfg_be.next = self.be.q.val();
        self.cfg_write.next = self.cfg_write_strobe.q.val();
        self.cfg_read.next = self.cfg_read_strobe.q.val();
        self.cpl_status.next = self.status.q.val();
        self.cpl_byte_count.next = self.byte_count.q.val();
        self.cpl_lower.next = bit_cast::<7, 2>(self.lower.q.val());
        if self.is_memory.q.val() {
            self.cpl_lower.next =
                (bit_cast::<7, 5>(self.q_addr.val().get_bits::<5>(2)) << 2) | bit_cast::<7, 2>(self.lower.q.val());
        }
        self.cpl_requester.next = self.q_requester.val();
        self.cpl_tag.next = self.q_tag.val();
        self.cpl_tc.next = self.q_tc.val();
        self.cpl_attr.next = self.q_attr.val();
        self.cpl_dwords.next = self.dwords.q.val();
        self.cpl_data.next = self.data.q.val();
        self.bad.next = self.missed.q.val();

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.write_strobe.d.next = false;
            self.read_strobe.d.next = false;
            self.cfg_write_strobe.d.next = false;
            self.cfg_read_strobe.d.next = false;
            self.missed.d.next = false;
        }
    }
}

//! Turns three sources of reads into one, and bytes into dwords and byte enables.
//!
//! RX prefetch (`a_*`), TX prefetch (`b_*`) and TX payload (`c_*`), each served in turn. A source's read is taken
//! over in one cycle, its header is computed in the next, and it is offered to the transmitter (`rd_*`) after
//! that: a read every three cycles, faster than a 64-bit stream takes its header. When the transmitter takes it,
//! the table of tags is told (`i_*`): its time-out counts from then.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Round robin over three sources.
#[derive(LogicBlock, Default)]
pub struct Arbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
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
    pub c_valid: Signal<In, Bit>,
    pub c_addr: Signal<In, Bits<64>>,
    pub c_bytes: Signal<In, Bits<13>>,
    pub c_tag: Signal<In, Bits<8>>,
    pub c_ready: Signal<Out, Bit>,
    pub rd_valid: Signal<Out, Bit>,
    pub rd_addr: Signal<Out, Bits<64>>,
    /// The address is not below 4 GiB.
    pub rd_wide: Signal<Out, Bit>,
    pub rd_dwords: Signal<Out, Bits<11>>,
    pub rd_first_be: Signal<Out, Bits<4>>,
    pub rd_last_be: Signal<Out, Bits<4>>,
    pub rd_tag: Signal<Out, Bits<8>>,
    pub rd_ready: Signal<In, Bit>,
    pub i_valid: Signal<Out, Bit>,
    pub i_tag: Signal<Out, Bits<8>>,
    pub i_addr: Signal<Out, Bits<12>>,
    pub i_bytes: Signal<Out, Bits<13>>,
    // 0 waits for a read, 1 computes, 2 offers.
    state: DFF<Bits<2>>,
    last: DFF<Bits<2>>,
    choice: Signal<Local, Bits<2>>,
    // The choice of the cycle before. What is offered stays until it is taken, so it holds still.
    chosen: DFF<Bits<2>>,
    addr: DFF<Bits<64>>,
    bytes: DFF<Bits<13>>,
    tag: DFF<Bits<8>>,
    wide: DFF<Bit>,
    dwords: DFF<Bits<11>>,
    first_be: DFF<Bits<4>>,
    last_be: DFF<Bits<4>>,
    offset: Signal<Local, Bits<2>>,
    sum: Signal<Local, Bits<13>>,
    last_bytes: Signal<Local, Bits<2>>,
    first: Signal<Local, Bits<4>>,
    final_be: Signal<Local, Bits<4>>,
    issued: DFF<Bit>,
}

impl Logic for Arbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, wide, state, chosen, last, addr, bytes, tag, dwords, first_be, last_be, issued);

        // The source behind the last one comes first; 3 is none.
        self.choice.next = 3.into();
        match self.last.q.val().index() {
            0 => {
                if self.b_valid.val() {
                    self.choice.next = 1.into();
                } else if self.c_valid.val() {
                    self.choice.next = 2.into();
                } else if self.a_valid.val() {
                    self.choice.next = 0.into();
                }
            }
            1 => {
                if self.c_valid.val() {
                    self.choice.next = 2.into();
                } else if self.a_valid.val() {
                    self.choice.next = 0.into();
                } else if self.b_valid.val() {
                    self.choice.next = 1.into();
                }
            }
            _ => {
                if self.a_valid.val() {
                    self.choice.next = 0.into();
                } else if self.b_valid.val() {
                    self.choice.next = 1.into();
                } else if self.c_valid.val() {
                    self.choice.next = 2.into();
                }
            }
        }
        self.chosen.d.next = self.choice.val();
        self.a_ready.next = (self.state.q.val() == 0) & (self.chosen.q.val() == 0);
        self.b_ready.next = (self.state.q.val() == 0) & (self.chosen.q.val() == 1);
        self.c_ready.next = (self.state.q.val() == 0) & (self.chosen.q.val() == 2);

        self.offset.next = self.addr.q.val().get_bits::<2>(0);
        self.sum.next = self.bytes.q.val() + bit_cast::<13, 2>(self.offset.val()) + 3;
        // Bytes of the last dword, 0 meaning 4; the sum has 3 too many.
        self.last_bytes.next = self.sum.val().get_bits::<2>(0) + 1;
        self.first.next = 15.into();
        match self.offset.val().index() {
            1 => {
                self.first.next = 14.into();
            }
            2 => {
                self.first.next = 12.into();
            }
            3 => {
                self.first.next = 8.into();
            }
            _ => {}
        }
        self.final_be.next = 15.into();
        match self.last_bytes.val().index() {
            1 => {
                self.final_be.next = 1.into();
            }
            2 => {
                self.final_be.next = 3.into();
            }
            3 => {
                self.final_be.next = 7.into();
            }
            _ => {}
        }

        self.issued.d.next = false;
        match self.state.q.val().index() {
            0 => {
                match self.chosen.q.val().index() {
                    0 => {
                        self.addr.d.next = self.a_addr.val();
                        self.bytes.d.next = self.a_bytes.val();
                        self.tag.d.next = self.a_tag.val();
                    }
                    1 => {
                        self.addr.d.next = self.b_addr.val();
                        self.bytes.d.next = self.b_bytes.val();
                        self.tag.d.next = self.b_tag.val();
                    }
                    _ => {
                        self.addr.d.next = self.c_addr.val();
                        self.bytes.d.next = self.c_bytes.val();
                        self.tag.d.next = self.c_tag.val();
                    }
                }
                if self.chosen.q.val() != 3 {
                    self.chosen.d.next = 3.into();
                    self.last.d.next = self.chosen.q.val();
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.wide.d.next = self.addr.q.val().get_bits::<32>(32) != 0;
                self.dwords.d.next = self.sum.val().get_bits::<11>(2);
                self.first_be.d.next = self.first.val();
                self.last_be.d.next = self.final_be.val();
                if self.sum.val().get_bits::<11>(2) == 1 {
                    self.first_be.d.next = self.first.val() & self.final_be.val();
                    self.last_be.d.next = 0.into();
                }
                self.state.d.next = 2.into();
            }
            _ => {
                if self.rd_ready.val() {
                    self.issued.d.next = true;
                    self.state.d.next = 0.into();
                }
            }
        }
        self.rd_valid.next = self.state.q.val() == 2;
        self.rd_addr.next = self.addr.q.val();
        self.rd_wide.next = self.wide.q.val();
        self.rd_dwords.next = self.dwords.q.val();
        self.rd_first_be.next = self.first_be.q.val();
        self.rd_last_be.next = self.last_be.q.val();
        self.rd_tag.next = self.tag.q.val();
        // One cycle after the transmitter took it, when the next read may be taken over at the earliest.
        self.i_valid.next = self.issued.q.val();
        self.i_tag.next = self.tag.q.val();
        self.i_addr.next = self.addr.q.val().get_bits::<12>(0);
        self.i_bytes.next = self.bytes.q.val();

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.chosen.d.next = 3.into();
            self.last.d.next = 0.into();
            self.issued.d.next = false;
        }
    }
}

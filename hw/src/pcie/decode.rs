//! What a received request wants, from its fmt and type, length and EP bit. Combinational.
//!
//! Kinds: 0 configuration read, 1 configuration write, 2 memory read, 3 memory write, 4 a legal non-posted request
//! that this function does not support. Not good: to be dropped; a message is dropped too, but is no fault.

use rust_hdl_core::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Decode {
    /// Header byte 0: fmt in bits 7:5, type in 4:0.
    pub operation: Signal<In, Bits<8>>,
    /// As in the header: 0 means 1024.
    pub length: Signal<In, Bits<10>>,
    pub poisoned: Signal<In, Bit>,
    pub good: Signal<Out, Bit>,
    pub message: Signal<Out, Bit>,
    pub kind: Signal<Out, Bits<3>>,
    single: Signal<Local, Bit>,
    brief: Signal<Local, Bit>,
    routing: Signal<Local, Bits<8>>,
}

impl Logic for Decode {
    #[hdl_gen]
    fn update(&mut self) {
        self.single.next = self.length.val() == 1;
        self.brief.next = self.single.val() | (self.length.val() == 2);
        // Msg and MsgD: fmt 0x1, type 10rrr.
        self.routing.next = self.operation.val() & 184;
        self.message.next = self.routing.val() == 48;
        self.good.next = false;
        self.kind.next = 4.into();
        match self.operation.val().index() {
            // MRd with 3 and 4 dwords of header
            0 => {
                self.good.next = true;
                self.kind.next = 2.into();
            }
            32 => {
                self.good.next = true;
                self.kind.next = 2.into();
            }
            // MWr
            64 => {
                self.good.next = !self.poisoned.val() & self.brief.val();
                self.kind.next = 3.into();
            }
            96 => {
                self.good.next = !self.poisoned.val() & self.brief.val();
                self.kind.next = 3.into();
            }
            // CfgRd0
            4 => {
                self.good.next = self.single.val();
                self.kind.next = 0.into();
            }
            // CfgWr0; a poisoned one must be answered
            68 => {
                self.good.next = self.single.val();
                if !self.poisoned.val() {
                    self.kind.next = 1.into();
                }
            }
            // MRdLk
            1 => self.good.next = true,
            33 => self.good.next = true,
            // IORd, IOWr
            2 => self.good.next = true,
            66 => self.good.next = true,
            // CfgRd1, CfgWr1
            5 => self.good.next = true,
            69 => self.good.next = true,
            // FetchAdd, Swap, CAS
            76 => self.good.next = true,
            77 => self.good.next = true,
            78 => self.good.next = true,
            108 => self.good.next = true,
            109 => self.good.next = true,
            110 => self.good.next = true,
            _ => {}
        }
    }
}

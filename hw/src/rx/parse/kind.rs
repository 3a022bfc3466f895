//! What a protocol number says comes next: one of the contract's L4 values, or an extension header.
//!
//! | kind | |
//! |---|---|
//! | 0 to 5 | no next header, TCP, UDP, ICMP, SCTP, other: `L4` of the contract |
//! | 8 | hop-by-hop or destination options |
//! | 9 | routing |
//! | 10 | fragment |
//! | 11 | authentication |

use ferronic_contract::parse::L4;
use rust_hdl_core::prelude::*;

const _: () = assert!(
    L4::None as u8 == 0 && L4::Tcp as u8 == 1 && L4::Udp as u8 == 2 && L4::Icmp as u8 == 3 && L4::Sctp as u8 == 4 && L4::Other as u8 == 5
);

#[derive(LogicBlock, Default)]
pub struct Kind {
    pub number: Signal<In, Bits<8>>,
    /// Over IPv6: only there are extension headers walked, and ICMP has another number.
    pub v6: Signal<In, Bit>,
    pub kind: Signal<Out, Bits<4>>,
}

impl Logic for Kind {
    #[hdl_gen]
    fn update(&mut self) {
        self.kind.next = 5.into();
        if self.number.val() == 6 {
            self.kind.next = 1.into();
        } else if self.number.val() == 17 {
            self.kind.next = 2.into();
        } else if self.number.val() == 132 {
            self.kind.next = 4.into();
        }
        if self.v6.val() {
            if (self.number.val() == 0) | (self.number.val() == 60) {
                self.kind.next = 8.into();
            } else if self.number.val() == 43 {
                self.kind.next = 9.into();
            } else if self.number.val() == 44 {
                self.kind.next = 10.into();
            } else if self.number.val() == 51 {
                self.kind.next = 11.into();
            } else if self.number.val() == 58 {
                self.kind.next = 3.into();
            } else if self.number.val() == 59 {
                self.kind.next = 0.into();
            }
        } else if self.number.val() == 1 {
            self.kind.next = 3.into();
        }
    }
}

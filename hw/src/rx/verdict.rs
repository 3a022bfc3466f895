//! What the sums say about the checksums of a frame.
//!
//! ```text
//! body − header + pseudo header → is it 0? → verdicts
//! ```
//!
//! The L4 checksum is right when the one's-complement sum of the pseudo header and of the packet behind the network header
//! is 0 (RFC 9293, section 3.1), that is 0 modulo 0xFFFF. Subtracting is adding the complement. Verdicts are numbered as
//! `ferronic_contract::parse::Checksum`. A frame a cycle, answered [`LATENCY`] cycles later.

use ferronic_contract::parse::Checksum;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from a frame's sums to its verdicts.
pub const LATENCY: usize = 2;

#[derive(LogicBlock)]
pub struct Verdict {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub raw: Signal<In, Bits<16>>,
    pub body: Signal<In, Bits<16>>,
    pub header_sum: Signal<In, Bits<16>>,
    pub pseudo_sum: Signal<In, Bits<16>>,
    pub l4_wanted: Signal<In, Bit>,
    pub ip_checked: Signal<In, Bit>,
    pub ip_good: Signal<In, Bit>,
    pub out_valid: Signal<Out, Bit>,
    pub ipcsum: Signal<Out, Bits<2>>,
    pub l4csum: Signal<Out, Bits<2>>,
    pub raw_out: Signal<Out, Bits<16>>,
    a_valid: DFF<Bit>,
    a_raw: DFF<Bits<16>>,
    a_sum: DFF<Bits<18>>,
    a_wanted: DFF<Bit>,
    a_ipcsum: DFF<Bits<2>>,
    b_valid: DFF<Bit>,
    b_raw: DFF<Bits<16>>,
    b_ipcsum: DFF<Bits<2>>,
    b_l4csum: DFF<Bits<2>>,
    minus_header: Signal<Local, Bits<16>>,
    zero: Signal<Local, Bit>,
    good: Constant<Bits<2>>,
    bad: Constant<Bits<2>>,
    // The multiples of 0xFFFF that a sum of three words reaches.
    modulus: Constant<Bits<18>>,
    twice: Constant<Bits<18>>,
    thrice: Constant<Bits<18>>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            raw: Default::default(),
            body: Default::default(),
            header_sum: Default::default(),
            pseudo_sum: Default::default(),
            l4_wanted: Default::default(),
            ip_checked: Default::default(),
            ip_good: Default::default(),
            out_valid: Default::default(),
            ipcsum: Default::default(),
            l4csum: Default::default(),
            raw_out: Default::default(),
            a_valid: Default::default(),
            a_raw: Default::default(),
            a_sum: Default::default(),
            a_wanted: Default::default(),
            a_ipcsum: Default::default(),
            b_valid: Default::default(),
            b_raw: Default::default(),
            b_ipcsum: Default::default(),
            b_l4csum: Default::default(),
            minus_header: Default::default(),
            zero: Default::default(),
            good: Constant::new((Checksum::Good as u64).into()),
            bad: Constant::new((Checksum::Bad as u64).into()),
            modulus: Constant::new(0xFFFF.into()),
            twice: Constant::new(0x1_FFFE.into()),
            thrice: Constant::new(0x2_FFFD.into()),
        }
    }
}

impl Logic for Verdict {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_valid, a_raw, a_sum, a_wanted, a_ipcsum, b_valid, b_raw, b_ipcsum, b_l4csum);

        self.a_valid.d.next = self.valid.val();
        self.a_raw.d.next = self.raw.val();
        self.minus_header.next = !self.header_sum.val();
        self.a_sum.d.next = bit_cast::<18, 16>(self.body.val())
            + bit_cast::<18, 16>(self.minus_header.val())
            + bit_cast::<18, 16>(self.pseudo_sum.val());
        self.a_wanted.d.next = self.l4_wanted.val();
        self.a_ipcsum.d.next = 0.into();
        if self.ip_checked.val() {
            self.a_ipcsum.d.next = self.bad.val();
            if self.ip_good.val() {
                self.a_ipcsum.d.next = self.good.val();
            }
        }

        self.zero.next = (self.a_sum.q.val() == 0)
            | (self.a_sum.q.val() == self.modulus.val())
            | (self.a_sum.q.val() == self.twice.val())
            | (self.a_sum.q.val() == self.thrice.val());
        self.b_valid.d.next = self.a_valid.q.val();
        self.b_raw.d.next = self.a_raw.q.val();
        self.b_ipcsum.d.next = self.a_ipcsum.q.val();
        self.b_l4csum.d.next = 0.into();
        if self.a_wanted.q.val() {
            self.b_l4csum.d.next = self.bad.val();
            if self.zero.val() {
                self.b_l4csum.d.next = self.good.val();
            }
        }

        self.out_valid.next = self.b_valid.q.val();
        self.ipcsum.next = self.b_ipcsum.q.val();
        self.l4csum.next = self.b_l4csum.q.val();
        self.raw_out.next = self.b_raw.q.val();

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
        }
    }
}

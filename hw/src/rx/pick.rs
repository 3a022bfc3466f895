//! One 16-bit word at a fixed place of a frame, caught as its beat comes by.
//!
//! Stands from the cycle after its beat until the cycle of the next frame's beat of the same number. `tag` and `v6` say
//! whether it is, as a type, that of a VLAN tag or of IPv6.

use ferronic_contract::class::{TPID_C, TPID_S};
use ferronic_contract::parse::ETHERTYPE_IPV6;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Pick<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    /// Number of the beat in its frame.
    pub beat: Signal<In, Bits<14>>,
    pub word: Signal<Out, Bits<16>>,
    pub tag: Signal<Out, Bit>,
    pub v6: Signal<Out, Bit>,
    word_held: DFF<Bits<16>>,
    tag_held: DFF<Bit>,
    v6_held: DFF<Bit>,
    raw: Signal<Local, Bits<16>>,
    now: Signal<Local, Bits<16>>,
    place: Constant<Bits<14>>,
    at: Constant<Bits<16>>,
    tpid_c: Constant<Bits<16>>,
    tpid_s: Constant<Bits<16>>,
    ipv6: Constant<Bits<16>>,
}

impl<const W: usize> Pick<W> {
    /// The word at this byte of the frame.
    pub fn at(byte: usize) -> Self {
        assert!(byte % 2 == 0);
        Self {
            clock: Default::default(),
            valid: Default::default(),
            data: Default::default(),
            beat: Default::default(),
            word: Default::default(),
            tag: Default::default(),
            v6: Default::default(),
            word_held: Default::default(),
            tag_held: Default::default(),
            v6_held: Default::default(),
            raw: Default::default(),
            now: Default::default(),
            place: Constant::new((8 * byte / W).to_bits()),
            at: Constant::new((8 * byte % W).to_bits()),
            tpid_c: Constant::new(u64::from(TPID_C).into()),
            tpid_s: Constant::new(u64::from(TPID_S).into()),
            ipv6: Constant::new(u64::from(ETHERTYPE_IPV6).into()),
        }
    }
}

impl<const W: usize> Logic for Pick<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, word_held, tag_held, v6_held);
        self.raw.next = self.data.val().get_bits::<16>(self.at.val().index());
        self.now.next = (self.raw.val() << 8) | (self.raw.val() >> 8);
        if self.valid.val() & (self.beat.val() == self.place.val()) {
            self.word_held.d.next = self.now.val();
            self.tag_held.d.next = (self.now.val() == self.tpid_c.val()) | (self.now.val() == self.tpid_s.val());
            self.v6_held.d.next = self.now.val() == self.ipv6.val();
        }
        self.word.next = self.word_held.q.val();
        self.tag.next = self.tag_held.q.val();
        self.v6.next = self.v6_held.q.val();
    }
}

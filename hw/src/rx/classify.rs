//! What `eth_type_trans()` would say of a frame, from its first 32 bytes and its length.
//!
//! ```text
//! window, length → compares, registered → selection, registered → out
//! ```
//!
//! Exactly `ferronic_contract::class::classify`. Bytes behind the end of the frame are never heeded. One frame a
//! cycle, answered two cycles later; address and epoch are taken in the cycle of `valid`, so they belong together.

use ferronic_contract::class::{PROTOCOL_LLC, PROTOCOL_RAW, TPID_C, TPID_S, TYPE_MIN};
use ferronic_contract::status::{Destination, L2};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Classify {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub window: Signal<In, Bits<256>>,
    pub length: Signal<In, Bits<14>>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    pub out_valid: Signal<Out, Bit>,
    pub out_length: Signal<Out, Bits<14>>,
    pub classified: Signal<Out, Bit>,
    pub dst: Signal<Out, Bits<2>>,
    pub protocol: Signal<Out, Bits<16>>,
    pub l2: Signal<Out, Bits<2>>,
    pub vlan: Signal<Out, Bits<2>>,
    pub out_epoch: Signal<Out, Bits<3>>,
    pub l3_offset: Signal<Out, Bits<8>>,
    // First stage: compares.
    a_valid: DFF<Bit>,
    a_length: DFF<Bits<14>>,
    a_epoch: DFF<Bits<3>>,
    own: DFF<Bits<6>>,
    broadcast: DFF<Bits<6>>,
    group: DFF<Bit>,
    kind: DFF<Bits<16>>,
    ones: DFF<Bit>,
    outer: DFF<Bit>,
    inner: DFF<Bit>,
    has_header: DFF<Bit>,
    has_llc: DFF<Bit>,
    has_outer: DFF<Bit>,
    has_inner: DFF<Bit>,
    // Second stage: selection.
    b_valid: DFF<Bit>,
    b_length: DFF<Bits<14>>,
    b_epoch: DFF<Bits<3>>,
    b_classified: DFF<Bit>,
    b_dst: DFF<Bits<2>>,
    b_protocol: DFF<Bits<16>>,
    b_l2: DFF<Bits<2>>,
    b_vlan: DFF<Bits<2>>,
    b_l3: DFF<Bits<8>>,
    address: Signal<Local, Bits<48>>,
    address_byte: Signal<Local, Bits<8>>,
    own_byte: Signal<Local, Bits<8>>,
    kind_now: Signal<Local, Bits<16>>,
    llc_now: Signal<Local, Bits<16>>,
    inner_now: Signal<Local, Bits<16>>,
    all_ones: Constant<Bits<16>>,
    byte_ones: Constant<Bits<8>>,
    tpid_c: Constant<Bits<16>>,
    tpid_s: Constant<Bits<16>>,
    type_min: Constant<Bits<16>>,
    protocol_raw: Constant<Bits<16>>,
    protocol_llc: Constant<Bits<16>>,
    header_end: Constant<Bits<14>>,
    llc_end: Constant<Bits<14>>,
    outer_end: Constant<Bits<14>>,
    inner_end: Constant<Bits<14>>,
    l2_ethernet: Constant<Bits<2>>,
    l2_llc: Constant<Bits<2>>,
    l2_raw: Constant<Bits<2>>,
    host: Constant<Bits<2>>,
    to_all: Constant<Bits<2>>,
    to_group: Constant<Bits<2>>,
    other_host: Constant<Bits<2>>,
    l3_plain: Constant<Bits<8>>,
    l3_one: Constant<Bits<8>>,
    l3_two: Constant<Bits<8>>,
}

fn constant<const N: usize>(value: u64) -> Constant<Bits<N>> {
    Constant::new(value.into())
}

impl Default for Classify {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            window: Default::default(),
            length: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            out_valid: Default::default(),
            out_length: Default::default(),
            classified: Default::default(),
            dst: Default::default(),
            protocol: Default::default(),
            l2: Default::default(),
            vlan: Default::default(),
            out_epoch: Default::default(),
            l3_offset: Default::default(),
            a_valid: Default::default(),
            a_length: Default::default(),
            a_epoch: Default::default(),
            own: Default::default(),
            broadcast: Default::default(),
            group: Default::default(),
            kind: Default::default(),
            ones: Default::default(),
            outer: Default::default(),
            inner: Default::default(),
            has_header: Default::default(),
            has_llc: Default::default(),
            has_outer: Default::default(),
            has_inner: Default::default(),
            b_valid: Default::default(),
            b_length: Default::default(),
            b_epoch: Default::default(),
            b_classified: Default::default(),
            b_dst: Default::default(),
            b_protocol: Default::default(),
            b_l2: Default::default(),
            b_vlan: Default::default(),
            b_l3: Default::default(),
            address: Default::default(),
            address_byte: Default::default(),
            own_byte: Default::default(),
            kind_now: Default::default(),
            llc_now: Default::default(),
            inner_now: Default::default(),
            all_ones: constant(0xFFFF),
            byte_ones: constant(0xFF),
            tpid_c: constant(TPID_C.into()),
            tpid_s: constant(TPID_S.into()),
            type_min: constant(TYPE_MIN.into()),
            protocol_raw: constant(PROTOCOL_RAW.into()),
            protocol_llc: constant(PROTOCOL_LLC.into()),
            header_end: constant(14),
            llc_end: constant(16),
            // A tag counts when room for a type follows it.
            outer_end: constant(18),
            inner_end: constant(22),
            l2_ethernet: constant(L2::EthernetII as u64),
            l2_llc: constant(L2::Llc as u64),
            l2_raw: constant(L2::Raw as u64),
            host: constant(Destination::Host as u64),
            to_all: constant(Destination::Broadcast as u64),
            to_group: constant(Destination::Multicast as u64),
            other_host: constant(Destination::OtherHost as u64),
            l3_plain: constant(14),
            l3_one: constant(18),
            l3_two: constant(22),
        }
    }
}

impl Logic for Classify {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_valid, a_length, a_epoch, own, broadcast, group, kind, ones, outer, inner);
        dff_setup!(self, clock, has_header, has_llc, has_outer, has_inner);
        dff_setup!(self, clock, b_valid, b_length, b_epoch, b_classified, b_dst, b_protocol, b_l2, b_vlan, b_l3);

        self.a_valid.d.next = self.valid.val();
        self.a_length.d.next = self.length.val();
        self.a_epoch.d.next = self.epoch.val();
        self.address.next = self.window.val().get_bits::<48>(0);
        self.own.d.next = 0.into();
        self.broadcast.d.next = 0.into();
        self.address_byte.next = 0.into();
        self.own_byte.next = 0.into();
        for i in 0_usize..6 {
            self.address_byte.next = self.address.val().get_bits::<8>(8 * i);
            self.own_byte.next = self.own_mac.val().get_bits::<8>(8 * i);
            self.own.d.next =
                self.own.d.val().replace_bit(i, self.address_byte.val() == self.own_byte.val());
            self.broadcast.d.next =
                self.broadcast.d.val().replace_bit(i, self.address_byte.val() == self.byte_ones.val());
        }
        self.group.d.next = self.window.val().get_bit(0);
        // Bytes 12 and 13, 14 and 15, 16 and 17, the first on the wire on top.
        self.kind_now.next = (bit_cast::<16, 8>(self.window.val().get_bits::<8>(96)) << 8)
            | bit_cast::<16, 8>(self.window.val().get_bits::<8>(104));
        self.llc_now.next = self.window.val().get_bits::<16>(112);
        self.inner_now.next = (bit_cast::<16, 8>(self.window.val().get_bits::<8>(128)) << 8)
            | bit_cast::<16, 8>(self.window.val().get_bits::<8>(136));
        self.kind.d.next = self.kind_now.val();
        self.ones.d.next = self.llc_now.val() == self.all_ones.val();
        self.outer.d.next = (self.kind_now.val() == self.tpid_c.val()) | (self.kind_now.val() == self.tpid_s.val());
        self.inner.d.next =
            (self.inner_now.val() == self.tpid_c.val()) | (self.inner_now.val() == self.tpid_s.val());
        self.has_header.d.next = self.length.val() >= self.header_end.val();
        self.has_llc.d.next = self.length.val() >= self.llc_end.val();
        self.has_outer.d.next = self.length.val() >= self.outer_end.val();
        self.has_inner.d.next = self.length.val() >= self.inner_end.val();

        self.b_valid.d.next = self.a_valid.q.val();
        self.b_length.d.next = self.a_length.q.val();
        self.b_epoch.d.next = self.a_epoch.q.val();
        self.b_classified.d.next = self.has_header.q.val();
        // Own address first: a station whose address has the group bit set is still the host.
        if self.own.q.val().all() {
            self.b_dst.d.next = self.host.val();
        } else if self.broadcast.q.val().all() {
            self.b_dst.d.next = self.to_all.val();
        } else if self.group.q.val() {
            self.b_dst.d.next = self.to_group.val();
        } else {
            self.b_dst.d.next = self.other_host.val();
        }
        if self.kind.q.val() >= self.type_min.val() {
            self.b_protocol.d.next = self.kind.q.val();
            self.b_l2.d.next = self.l2_ethernet.val();
        } else if self.has_llc.q.val() & self.ones.q.val() {
            self.b_protocol.d.next = self.protocol_raw.val();
            self.b_l2.d.next = self.l2_raw.val();
        } else {
            self.b_protocol.d.next = self.protocol_llc.val();
            self.b_l2.d.next = self.l2_llc.val();
        }
        self.b_vlan.d.next = 0.into();
        self.b_l3.d.next = self.l3_plain.val();
        if self.has_outer.q.val() & self.outer.q.val() {
            self.b_vlan.d.next = 1.into();
            self.b_l3.d.next = self.l3_one.val();
            if self.has_inner.q.val() & self.inner.q.val() {
                self.b_vlan.d.next = 2.into();
                self.b_l3.d.next = self.l3_two.val();
            }
        }

        self.out_valid.next = self.b_valid.q.val();
        self.out_length.next = self.b_length.q.val();
        self.classified.next = self.b_classified.q.val();
        self.dst.next = self.b_dst.q.val();
        self.protocol.next = self.b_protocol.q.val();
        self.l2.next = self.b_l2.q.val();
        self.vlan.next = self.b_vlan.q.val();
        self.out_epoch.next = self.b_epoch.q.val();
        self.l3_offset.next = self.b_l3.q.val();

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
        }
    }
}

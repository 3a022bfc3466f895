//! What `eth_type_trans()` would say of a frame, the tags counted, and the keys of the link layer.
//!
//! ```text
//! window, length → compares, registered → selection, registered → out
//! ```
//!
//! Exactly `ferronic_contract::class::classify`, and a stripped tag counts too: then only one more is looked for.
//! Bytes behind the end of the frame are never heeded. Answered two cycles later.

use ferronic_contract::class::{PROTOCOL_LLC, PROTOCOL_RAW, TPID_C, TPID_S, TYPE_MIN};
use ferronic_contract::status::{Destination, L2 as Framing};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

// The numbers that stand below.
const _: () = assert!(TPID_C == 0x8100 && TPID_S == 0x88A8 && TYPE_MIN == 0x0600 && PROTOCOL_RAW == 1 && PROTOCOL_LLC == 4);
const _: () = assert!(Framing::EthernetII as u8 == 0 && Framing::Llc as u8 == 1 && Framing::Raw as u8 == 2);
const _: () = assert!(
    Destination::Host as u8 == 0
        && Destination::Broadcast as u8 == 1
        && Destination::Multicast as u8 == 2
        && Destination::OtherHost as u8 == 3
);

#[derive(LogicBlock, Default)]
pub struct L2 {
    pub clock: Signal<In, Clock>,
    /// Bytes 0 to 21.
    pub head: Signal<In, Bits<176>>,
    pub length: Signal<In, Bits<14>>,
    pub info: Signal<In, Bits<50>>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    /// One cycle early: one-hot, tags still in the frame.
    pub tags_early: Signal<Out, Bits<3>>,
    pub tags: Signal<Out, Bits<3>>,
    /// Bytes of the frame from the network header on.
    pub rest: Signal<Out, Bits<14>>,
    pub out_length: Signal<Out, Bits<14>>,
    pub out_info: Signal<Out, Bits<50>>,
    pub out_epoch: Signal<Out, Bits<3>>,
    pub classified: Signal<Out, Bit>,
    pub dst: Signal<Out, Bits<2>>,
    pub framing: Signal<Out, Bits<2>>,
    pub vlan: Signal<Out, Bits<2>>,
    pub protocol: Signal<Out, Bits<16>>,
    pub dmac: Signal<Out, Bits<48>>,
    /// Behind the tags; valid on Ethernet II.
    pub ethertype: Signal<Out, Bits<16>>,
    pub ethertype_valid: Signal<Out, Bit>,
    pub vid: Signal<Out, Bits<12>>,
    pub vid_valid: Signal<Out, Bit>,
    // First stage: compares.
    a_length: DFF<Bits<14>>,
    a_info: DFF<Bits<50>>,
    a_epoch: DFF<Bits<3>>,
    a_dmac: DFF<Bits<48>>,
    a_tags: DFF<Bits<3>>,
    a_rest: DFF<Bits<14>>,
    own: DFF<Bits<6>>,
    broadcast: DFF<Bits<6>>,
    kind: DFF<Bits<16>>,
    kind_one: DFF<Bits<16>>,
    kind_two: DFF<Bits<16>>,
    outer_vid: DFF<Bits<12>>,
    ones: DFF<Bit>,
    has_header: DFF<Bit>,
    // Second stage: selection.
    b_length: DFF<Bits<14>>,
    b_info: DFF<Bits<50>>,
    b_epoch: DFF<Bits<3>>,
    b_dmac: DFF<Bits<48>>,
    b_tags: DFF<Bits<3>>,
    b_rest: DFF<Bits<14>>,
    b_classified: DFF<Bit>,
    b_dst: DFF<Bits<2>>,
    b_protocol: DFF<Bits<16>>,
    b_framing: DFF<Bits<2>>,
    b_vlan: DFF<Bits<2>>,
    b_ethertype: DFF<Bits<16>>,
    b_ethertype_valid: DFF<Bit>,
    b_vid: DFF<Bits<12>>,
    b_vid_valid: DFF<Bit>,
    address_byte: Signal<Local, Bits<8>>,
    own_byte: Signal<Local, Bits<8>>,
    kind_now: Signal<Local, Bits<16>>,
    kind_one_now: Signal<Local, Bits<16>>,
    llc_now: Signal<Local, Bits<16>>,
    outer: Signal<Local, Bit>,
    inner: Signal<Local, Bit>,
    stripped: Signal<Local, Bit>,
}

impl Logic for L2 {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_length, a_info, a_epoch, a_dmac, a_tags, a_rest, own, broadcast, kind, kind_one);
        dff_setup!(self, clock, kind_two, outer_vid, ones, has_header);
        dff_setup!(self, clock, b_length, b_info, b_epoch, b_dmac, b_tags, b_rest, b_classified, b_dst, b_protocol);
        dff_setup!(self, clock, b_framing, b_vlan, b_ethertype, b_ethertype_valid, b_vid, b_vid_valid);

        self.a_length.d.next = self.length.val();
        self.a_info.d.next = self.info.val();
        self.a_epoch.d.next = self.epoch.val();
        self.a_dmac.d.next = self.head.val().get_bits::<48>(0);
        self.a_rest.d.next = self.length.val() - 14;
        self.own.d.next = 0.into();
        self.broadcast.d.next = 0.into();
        self.address_byte.next = 0.into();
        self.own_byte.next = 0.into();
        for i in 0_usize..6 {
            self.address_byte.next = self.head.val().get_bits::<8>(8 * i);
            self.own_byte.next = self.own_mac.val().get_bits::<8>(8 * i);
            self.own.d.next = self.own.d.val().replace_bit(i, self.address_byte.val() == self.own_byte.val());
            self.broadcast.d.next = self.broadcast.d.val().replace_bit(i, self.address_byte.val() == 0xFF);
        }
        // The first byte on the wire on top: bytes 12 and 13, 16 and 17, 20 and 21.
        self.kind_now.next = (bit_cast::<16, 8>(self.head.val().get_bits::<8>(96)) << 8)
            | bit_cast::<16, 8>(self.head.val().get_bits::<8>(104));
        self.kind_one_now.next = (bit_cast::<16, 8>(self.head.val().get_bits::<8>(128)) << 8)
            | bit_cast::<16, 8>(self.head.val().get_bits::<8>(136));
        self.kind.d.next = self.kind_now.val();
        self.kind_one.d.next = self.kind_one_now.val();
        self.kind_two.d.next = (bit_cast::<16, 8>(self.head.val().get_bits::<8>(160)) << 8)
            | bit_cast::<16, 8>(self.head.val().get_bits::<8>(168));
        self.llc_now.next = self.head.val().get_bits::<16>(112);
        self.ones.d.next = (self.llc_now.val() == 0xFFFF) & (self.length.val() >= 16);
        self.has_header.d.next = self.length.val() >= 14;
        // A tag counts when room for a type follows it.
        self.outer.next =
            ((self.kind_now.val() == 0x8100) | (self.kind_now.val() == 0x88A8)) & (self.length.val() >= 18);
        self.stripped.next = self.info.val().get_bit(16);
        self.inner.next = ((self.kind_one_now.val() == 0x8100) | (self.kind_one_now.val() == 0x88A8))
            & (self.length.val() >= 22)
            & !self.stripped.val();
        self.a_tags.d.next = 1.into();
        if self.outer.val() {
            self.a_tags.d.next = 2.into();
            if self.inner.val() {
                self.a_tags.d.next = 4.into();
            }
        }
        self.outer_vid.d.next = (bit_cast::<12, 4>(self.head.val().get_bits::<4>(112)) << 8)
            | bit_cast::<12, 8>(self.head.val().get_bits::<8>(120));
        if self.stripped.val() {
            self.outer_vid.d.next = self.info.val().get_bits::<12>(0);
        }
        self.tags_early.next = self.a_tags.q.val();

        self.b_length.d.next = self.a_length.q.val();
        self.b_info.d.next = self.a_info.q.val();
        self.b_epoch.d.next = self.a_epoch.q.val();
        self.b_dmac.d.next = self.a_dmac.q.val();
        self.b_tags.d.next = self.a_tags.q.val();
        self.b_classified.d.next = self.has_header.q.val();
        // Own address first: a station whose address has the group bit set is still the host.
        self.b_dst.d.next = 3.into();
        if self.own.q.val().all() {
            self.b_dst.d.next = 0.into();
        } else if self.broadcast.q.val().all() {
            self.b_dst.d.next = 1.into();
        } else if self.a_dmac.q.val().get_bit(0) {
            self.b_dst.d.next = 2.into();
        }
        self.b_protocol.d.next = self.kind.q.val();
        self.b_framing.d.next = 0.into();
        self.b_ethertype_valid.d.next = self.has_header.q.val();
        if self.kind.q.val() < 0x0600 {
            self.b_ethertype_valid.d.next = false;
            self.b_protocol.d.next = 4.into();
            self.b_framing.d.next = 1.into();
            if self.ones.q.val() {
                self.b_protocol.d.next = 1.into();
                self.b_framing.d.next = 2.into();
            }
        }
        self.b_ethertype.d.next = self.kind.q.val();
        self.b_rest.d.next = self.a_rest.q.val();
        self.b_vlan.d.next = 0.into();
        if self.a_tags.q.val().get_bit(1) {
            self.b_ethertype.d.next = self.kind_one.q.val();
            self.b_rest.d.next = self.a_rest.q.val() - 4;
            self.b_vlan.d.next = 1.into();
        }
        if self.a_tags.q.val().get_bit(2) {
            self.b_ethertype.d.next = self.kind_two.q.val();
            self.b_rest.d.next = self.a_rest.q.val() - 8;
            self.b_vlan.d.next = 2.into();
        }
        self.b_vid.d.next = self.outer_vid.q.val();
        self.b_vid_valid.d.next = !self.a_tags.q.val().get_bit(0);
        if self.a_info.q.val().get_bit(16) {
            self.b_vlan.d.next = 1.into();
            self.b_vid_valid.d.next = true;
            if self.a_tags.q.val().get_bit(1) {
                self.b_vlan.d.next = 2.into();
            }
        }

        self.tags.next = self.b_tags.q.val();
        self.rest.next = self.b_rest.q.val();
        self.out_length.next = self.b_length.q.val();
        self.out_info.next = self.b_info.q.val();
        self.out_epoch.next = self.b_epoch.q.val();
        self.classified.next = self.b_classified.q.val();
        self.dst.next = self.b_dst.q.val();
        self.framing.next = self.b_framing.q.val();
        self.vlan.next = self.b_vlan.q.val();
        self.protocol.next = self.b_protocol.q.val();
        self.dmac.next = self.b_dmac.q.val();
        self.ethertype.next = self.b_ethertype.q.val();
        self.ethertype_valid.next = self.b_ethertype_valid.q.val();
        self.vid.next = self.b_vid.q.val();
        self.vid_valid.next = self.b_vid_valid.q.val();
    }
}

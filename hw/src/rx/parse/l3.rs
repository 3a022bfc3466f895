//! The network header: which one, where its packet ends, and what comes behind it.
//!
//! ```text
//! words → registered → header selected by the tags → compared with the frame → decided, out
//! ```
//!
//! Answered four cycles later. A packet that breaks a rule is no network packet at all.

use super::kind::Kind;
use ferronic_contract::parse::{ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_IPV6, L3 as Network};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

// The numbers that stand below.
const _: () = assert!(ETHERTYPE_IPV4 == 0x0800 && ETHERTYPE_ARP == 0x0806 && ETHERTYPE_IPV6 == 0x86DD);
const _: () = assert!(
    Network::None as u8 == 0
        && Network::Ipv4 as u8 == 1
        && Network::Ipv6 as u8 == 2
        && Network::Arp as u8 == 3
        && Network::Other as u8 == 4
);

/// The network header begins with dword 0, 1 or 2 of the grid, by the tags in front of it.
#[derive(LogicBlock, Default)]
pub struct L3 {
    pub clock: Signal<In, Clock>,
    /// Dwords 0 to 11 of the grid.
    pub words: Signal<In, Bits<384>>,
    /// From L2, one cycle later.
    pub tags_early: Signal<In, Bits<3>>,
    /// From L2, two cycles later.
    pub tags: Signal<In, Bits<3>>,
    pub rest: Signal<In, Bits<14>>,
    pub ethertype: Signal<In, Bits<16>>,
    pub ethertype_valid: Signal<In, Bit>,
    pub l3: Signal<Out, Bits<3>>,
    pub option: Signal<Out, Bit>,
    pub frag: Signal<Out, Bit>,
    /// What comes behind the header, see `kind.rs`.
    pub kind: Signal<Out, Bits<4>>,
    /// The dword behind the header; that of the network header when there is none.
    pub place: Signal<Out, Bits<5>>,
    /// Whole dwords from there to the end of the packet or of the window.
    pub room: Signal<Out, Bits<5>>,
    /// End of the packet, in bytes behind byte 14.
    pub packet_end: Signal<Out, Bits<14>>,
    /// Dwords of the grid in front of the network header.
    pub ahead: Signal<Out, Bits<2>>,
    pub source: Signal<Out, Bits<128>>,
    pub destination: Signal<Out, Bits<128>>,
    a_words: DFF<Bits<384>>,
    head: DFF<Bits<320>>,
    // Its version is 6.
    six: DFF<Bit>,
    // Compared.
    c_is4: DFF<Bit>,
    c_is6: DFF<Bit>,
    c_arp: DFF<Bit>,
    c_other: DFF<Bit>,
    c_good4: DFF<Bit>,
    c_good6: DFF<Bit>,
    c_option: DFF<Bit>,
    c_more: DFF<Bit>,
    c_later: DFF<Bit>,
    c_kind: DFF<Bits<4>>,
    c_place: DFF<Bits<5>>,
    c_end: DFF<Bits<17>>,
    c_before: DFF<Bits<2>>,
    c_source: DFF<Bits<128>>,
    c_destination: DFF<Bits<128>>,
    // Decided.
    d_l3: DFF<Bits<3>>,
    d_option: DFF<Bit>,
    d_frag: DFF<Bit>,
    d_kind: DFF<Bits<4>>,
    d_place: DFF<Bits<5>>,
    d_room: DFF<Bits<5>>,
    d_end: DFF<Bits<14>>,
    d_before: DFF<Bits<2>>,
    d_source: DFF<Bits<128>>,
    d_destination: DFF<Bits<128>>,
    next4: Kind,
    next6: Kind,
    early: Signal<Local, Bits<3>>,
    version: Signal<Local, Bits<4>>,
    dwords: Signal<Local, Bits<4>>,
    total: Signal<Local, Bits<16>>,
    payload: Signal<Local, Bits<16>>,
    behind: Signal<Local, Bits<17>>,
    behind6: Signal<Local, Bits<17>>,
    fragment: Signal<Local, Bits<16>>,
    long_rest: Signal<Local, Bits<17>>,
    header: Signal<Local, Bits<16>>,
    before_now: Signal<Local, Bits<2>>,
    bytes_before: Signal<Local, Bits<17>>,
    four_ok: Signal<Local, Bit>,
    six_ok: Signal<Local, Bit>,
    limit: Signal<Local, Bits<5>>,
    end_dwords: Signal<Local, Bits<12>>,
    good4: Signal<Local, Bit>,
    good6: Signal<Local, Bit>,
}

impl Logic for L3 {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_words, head, six, c_is4, c_is6, c_arp, c_other, c_good4, c_good6, c_option, c_more);
        dff_setup!(self, clock, c_later, c_kind, c_place, c_end, c_before, c_source, c_destination);
        dff_setup!(self, clock, d_l3, d_option, d_frag, d_kind, d_place, d_room, d_end, d_before, d_source);
        dff_setup!(self, clock, d_destination);

        self.a_words.d.next = self.words.val();
        self.early.next = self.tags_early.val();
        self.head.d.next = self.a_words.q.val().get_bits::<320>(0);
        self.six.d.next = self.a_words.q.val().get_bits::<4>(4) == 6;
        if self.early.val().get_bit(1) {
            self.head.d.next = self.a_words.q.val().get_bits::<320>(32);
            self.six.d.next = self.a_words.q.val().get_bits::<4>(36) == 6;
        }
        if self.early.val().get_bit(2) {
            self.head.d.next = self.a_words.q.val().get_bits::<320>(64);
            self.six.d.next = self.a_words.q.val().get_bits::<4>(68) == 6;
        }

        // The header's fields; those of both versions are looked at, whatever it is.
        self.version.next = self.head.q.val().get_bits::<4>(4);
        self.dwords.next = self.head.q.val().get_bits::<4>(0);
        self.total.next = (bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(16)) << 8)
            | bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(24));
        self.payload.next = (bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(32)) << 8)
            | bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(40));
        self.fragment.next = (bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(48)) << 8)
            | bit_cast::<16, 8>(self.head.q.val().get_bits::<8>(56));
        self.next4.v6.next = false;
        self.next4.number.next = self.head.q.val().get_bits::<8>(72);
        self.next6.v6.next = true;
        self.next6.number.next = self.head.q.val().get_bits::<8>(48);
        self.c_kind.d.next = self.next4.kind.val();
        self.c_source.d.next = bit_cast::<128, 32>(self.head.q.val().get_bits::<32>(96));
        self.c_destination.d.next = bit_cast::<128, 32>(self.head.q.val().get_bits::<32>(128));
        self.behind6.next = bit_cast::<17, 16>(self.payload.val()) + 40;
        self.behind.next = bit_cast::<17, 16>(self.total.val());
        if self.six.q.val() {
            self.c_kind.d.next = self.next6.kind.val();
            self.c_source.d.next = self.head.q.val().get_bits::<128>(64);
            self.c_destination.d.next = self.head.q.val().get_bits::<128>(192);
            self.behind.next = self.behind6.val();
        }

        self.before_now.next = 0.into();
        self.bytes_before.next = 0.into();
        if self.tags.val().get_bit(1) {
            self.before_now.next = 1.into();
            self.bytes_before.next = 4.into();
        }
        if self.tags.val().get_bit(2) {
            self.before_now.next = 2.into();
            self.bytes_before.next = 8.into();
        }
        self.c_before.d.next = self.before_now.val();
        self.c_end.d.next = self.behind.val() + self.bytes_before.val();
        self.c_place.d.next = bit_cast::<5, 2>(self.before_now.val()) + bit_cast::<5, 4>(self.dwords.val());
        if self.six.q.val() {
            self.c_place.d.next = bit_cast::<5, 2>(self.before_now.val()) + 10;
        }

        // Against the frame. The header's 20 or 40 bytes are inside when all that it claims is.
        self.long_rest.next = bit_cast::<17, 14>(self.rest.val());
        self.header.next = bit_cast::<16, 4>(self.dwords.val()) << 2;
        self.four_ok.next = (self.version.val() == 4) & (self.dwords.val() >= 5);
        self.six_ok.next = self.six.q.val() & (self.behind6.val() <= self.long_rest.val());
        self.c_good4.d.next = self.four_ok.val()
            & (self.total.val() >= self.header.val())
            & (bit_cast::<17, 16>(self.total.val()) <= self.long_rest.val());
        self.c_good6.d.next = self.six_ok.val();
        self.c_is4.d.next = self.ethertype_valid.val() & (self.ethertype.val() == 0x0800);
        self.c_is6.d.next = self.ethertype_valid.val() & (self.ethertype.val() == 0x86DD);
        self.c_arp.d.next = self.ethertype_valid.val() & (self.ethertype.val() == 0x0806);
        self.c_other.d.next = self.ethertype_valid.val();
        self.c_option.d.next = self.dwords.val() > 5;
        self.c_more.d.next = self.fragment.val().get_bit(13);
        self.c_later.d.next = self.fragment.val().get_bits::<13>(0).any();

        self.good4.next = self.c_is4.q.val() & self.c_good4.q.val();
        self.good6.next = self.c_is6.q.val() & self.c_good6.q.val();
        self.d_l3.d.next = 0.into();
        if self.good4.val() {
            self.d_l3.d.next = 1.into();
        } else if self.good6.val() {
            self.d_l3.d.next = 2.into();
        } else if self.c_arp.q.val() {
            self.d_l3.d.next = 3.into();
        } else if self.c_other.q.val() & !self.c_is4.q.val() & !self.c_is6.q.val() {
            self.d_l3.d.next = 4.into();
        }
        self.d_option.d.next = self.good4.val() & self.c_option.q.val();
        self.d_frag.d.next = self.good4.val() & (self.c_more.q.val() | self.c_later.q.val());
        self.d_kind.d.next = 0.into();
        self.d_place.d.next = bit_cast::<5, 2>(self.c_before.q.val());
        self.d_source.d.next = 0.into();
        self.d_destination.d.next = 0.into();
        if self.good4.val() | self.good6.val() {
            self.d_place.d.next = self.c_place.q.val();
            self.d_source.d.next = self.c_source.q.val();
            self.d_destination.d.next = self.c_destination.q.val();
            // A fragment of IPv4 that is not the first has no transport header.
            if self.good6.val() | !self.c_later.q.val() {
                self.d_kind.d.next = self.c_kind.q.val();
            }
        }
        self.end_dwords.next = self.c_end.q.val().get_bits::<12>(2);
        self.limit.next = self.end_dwords.val().get_bits::<5>(0);
        if self.end_dwords.val() > 28 {
            self.limit.next = 28.into();
        }
        self.d_room.d.next = self.limit.val() - self.c_place.q.val();
        self.d_end.d.next = self.c_end.q.val().get_bits::<14>(0);
        self.d_before.d.next = self.c_before.q.val();

        self.l3.next = self.d_l3.q.val();
        self.option.next = self.d_option.q.val();
        self.frag.next = self.d_frag.q.val();
        self.kind.next = self.d_kind.q.val();
        self.place.next = self.d_place.q.val();
        self.room.next = self.d_room.q.val();
        self.packet_end.next = self.d_end.q.val();
        self.ahead.next = self.d_before.q.val();
        self.source.next = self.d_source.q.val();
        self.destination.next = self.d_destination.q.val();
    }
}

//! What a frame is, from its first 128 bytes and its length: the rules of `ferronic_contract::parse`.
//!
//! ```text
//! window → l2 → l3 → extension ×4 → l4 ────────→ out
//!    │     │    │         └→ header_sum ───────→
//!    │     │    └→ pseudo_sum, delay ──────────→
//!    └→ peek, delay (grid) └→ delay ───────────→
//! ```
//!
//! The network header begins at byte 14, 18 or 22, and every header behind it is whole dwords long. So all headers
//! begin in the *grid* of dwords 0 to 27 from byte 14 on, and whether one is inside (frame, packet and window at once) is
//! one small comparison: its dwords against the room. The last two bytes of the window never hold a header that is inside.
//! Bytes behind the end of the frame are never heeded.
//!
//! A frame a cycle, answered [`LATENCY`] cycles later, as many as the walk and the adders take. Address and epoch are taken
//! in the cycle of `valid`.

mod delay;
mod extension;
mod header_sum;
mod kind;
mod l2;
mod l3;
mod l4;
mod peek;
mod pseudo_sum;

use crate::common::join::Join;
use delay::Delay;
use extension::Extension;
use ferronic_contract::parse::MAX_EXTENSIONS;
use header_sum::HeaderSum;
use l2::L2;
use l3::L3;
use l4::L4;
use peek::Peek;
use pseudo_sum::PseudoSum;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from `valid` to `p_valid`.
pub const LATENCY: usize = 18;

// One block each.
const _: () = assert!(MAX_EXTENSIONS == 4);

#[derive(LogicBlock, Default)]
pub struct Parse {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    /// Byte i of the frame in bits 8i+7:8i.
    pub window: Signal<In, Bits<1024>>,
    pub length: Signal<In, Bits<14>>,
    /// TCI 15:0, stripped 16; the rest is handed on.
    pub info: Signal<In, Bits<50>>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    pub p_valid: Signal<Out, Bit>,
    pub p_length: Signal<Out, Bits<14>>,
    pub p_info: Signal<Out, Bits<50>>,
    pub p_epoch: Signal<Out, Bits<3>>,
    pub classified: Signal<Out, Bit>,
    pub dst: Signal<Out, Bits<2>>,
    pub l2: Signal<Out, Bits<2>>,
    /// Tags on the wire, a stripped one included.
    pub vlan: Signal<Out, Bits<2>>,
    pub protocol: Signal<Out, Bits<16>>,
    pub l3_offset: Signal<Out, Bits<8>>,
    pub l3: Signal<Out, Bits<3>>,
    pub l3opt: Signal<Out, Bit>,
    pub frag: Signal<Out, Bit>,
    pub l4: Signal<Out, Bits<3>>,
    pub ack: Signal<Out, Bit>,
    pub header_length: Signal<Out, Bits<8>>,
    /// Behind the network header and the extension headers walked.
    pub l4_offset: Signal<Out, Bits<8>>,
    pub ip_checked: Signal<Out, Bit>,
    /// With `ip_checked`: the header's checksum is right.
    pub ip_good: Signal<Out, Bit>,
    pub l4_wanted: Signal<Out, Bit>,
    /// Of bytes 14 to `l4_offset`.
    pub header_sum: Signal<Out, Bits<16>>,
    /// With `l4_wanted`.
    pub pseudo_sum: Signal<Out, Bits<16>>,
    pub dmac: Signal<Out, Bits<48>>,
    pub ethertype: Signal<Out, Bits<16>>,
    pub ethertype_valid: Signal<Out, Bit>,
    pub vid: Signal<Out, Bits<12>>,
    pub vid_valid: Signal<Out, Bit>,
    /// Byte 0 in bits 7:0; 0 when there is none.
    pub source: Signal<Out, Bits<128>>,
    pub destination: Signal<Out, Bits<128>>,
    pub source_port: Signal<Out, Bits<16>>,
    pub destination_port: Signal<Out, Bits<16>>,
    link: L2,
    network: L3,
    peeks: [Peek; 18],
    codes: Join<12, 18, 216>,
    codes_wait: Delay<216, 4>,
    step_one: Extension,
    step_two: Extension,
    step_three: Extension,
    step_four: Extension,
    transport: L4,
    headers: HeaderSum,
    pseudo: PseudoSum,
    grid_wait: Delay<896, 13>,
    end_wait: Delay<16, 8>,
    // What is known early, in words of 16 bits.
    link_words: Join<16, 12, 178>,
    link_wait: Delay<178, 16>,
    network_words: Join<128, 3, 259>,
    network_wait: Delay<259, 14>,
    transport_words: Join<16, 4, 53>,
    transport_wait: Delay<53, 2>,
    valids: DFF<Bits<18>>,
    options: DFF<Bits<6>>,
    frags: DFF<Bits<6>>,
    link_then: Signal<Local, Bits<178>>,
    network_then: Signal<Local, Bits<259>>,
    transport_then: Signal<Local, Bits<53>>,
    end_then: Signal<Local, Bits<16>>,
    early_info: Signal<Local, Bits<50>>,
    early_dmac: Signal<Local, Bits<48>>,
    is4: Signal<Local, Bit>,
    offset: Signal<Local, Bits<8>>,
}

impl Logic for Parse {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valids, options, frags);

        self.link.clock.next = self.clock.val();
        self.link.head.next = self.window.val().get_bits::<176>(0);
        self.link.length.next = self.length.val();
        self.link.info.next = self.info.val();
        self.link.own_mac.next = self.own_mac.val();
        self.link.epoch.next = self.epoch.val();

        self.network.clock.next = self.clock.val();
        self.network.words.next = self.window.val().get_bits::<384>(112);
        self.network.tags_early.next = self.link.tags_early.val();
        self.network.tags.next = self.link.tags.val();
        self.network.rest.next = self.link.rest.val();
        self.network.ethertype.next = self.link.ethertype.val();
        self.network.ethertype_valid.next = self.link.ethertype_valid.val();

        // Behind 40 bytes of IPv6 header: dword 10 is the first.
        for i in 0_usize..18 {
            self.peeks[i].dword.next = self.window.val().get_bits::<32>(32 * i + 432);
            self.codes.part[i].next = self.peeks[i].code.val();
        }
        self.codes_wait.clock.next = self.clock.val();
        self.codes_wait.now.next = self.codes.whole.val();

        self.step_one.clock.next = self.clock.val();
        self.step_one.codes.next = self.codes_wait.then.val();
        self.step_one.place.next = self.network.place.val();
        self.step_one.room.next = self.network.room.val();
        self.step_one.kind.next = self.network.kind.val();
        self.step_one.option.next = self.network.option.val();
        self.step_one.frag.next = self.network.frag.val();
        self.step_one.routed.next = false;
        self.step_two.clock.next = self.clock.val();
        self.step_two.codes.next = self.step_one.out_codes.val();
        self.step_two.place.next = self.step_one.out_place.val();
        self.step_two.room.next = self.step_one.out_room.val();
        self.step_two.kind.next = self.step_one.out_kind.val();
        self.step_two.option.next = self.step_one.out_option.val();
        self.step_two.frag.next = self.step_one.out_frag.val();
        self.step_two.routed.next = self.step_one.out_routed.val();
        self.step_three.clock.next = self.clock.val();
        self.step_three.codes.next = self.step_two.out_codes.val();
        self.step_three.place.next = self.step_two.out_place.val();
        self.step_three.room.next = self.step_two.out_room.val();
        self.step_three.kind.next = self.step_two.out_kind.val();
        self.step_three.option.next = self.step_two.out_option.val();
        self.step_three.frag.next = self.step_two.out_frag.val();
        self.step_three.routed.next = self.step_two.out_routed.val();
        self.step_four.clock.next = self.clock.val();
        self.step_four.codes.next = self.step_three.out_codes.val();
        self.step_four.place.next = self.step_three.out_place.val();
        self.step_four.room.next = self.step_three.out_room.val();
        self.step_four.kind.next = self.step_three.out_kind.val();
        self.step_four.option.next = self.step_three.out_option.val();
        self.step_four.frag.next = self.step_three.out_frag.val();
        self.step_four.routed.next = self.step_three.out_routed.val();

        // The end of the walk.
        self.end_wait.clock.next = self.clock.val();
        self.end_wait.now.next =
            bit_cast::<16, 14>(self.network.packet_end.val()) | (bit_cast::<16, 2>(self.network.ahead.val()) << 14);
        self.end_then.next = self.end_wait.then.val();
        self.grid_wait.clock.next = self.clock.val();
        self.grid_wait.now.next = self.window.val().get_bits::<896>(112);
        self.transport.clock.next = self.clock.val();
        self.transport.place.next = self.step_four.out_place.val();
        self.transport.room.next = self.step_four.out_room.val();
        self.transport.kind.next = self.step_four.out_kind.val();
        self.transport.frag.next = self.step_four.out_frag.val();
        self.transport.routed.next = self.step_four.out_routed.val();
        self.transport.packet_end.next = self.end_then.val().get_bits::<14>(0);
        self.transport.grid.next = self.grid_wait.then.val();
        self.headers.clock.next = self.clock.val();
        self.headers.place.next = self.step_four.out_place.val();
        self.headers.ahead.next = self.end_then.val().get_bits::<2>(14);
        self.headers.grid.next = self.grid_wait.then.val();
        self.pseudo.clock.next = self.clock.val();
        self.pseudo.source.next = self.network.source.val();
        self.pseudo.destination.next = self.network.destination.val();
        self.pseudo.tcp.next = self.transport.l4.val() == 1;
        self.pseudo.length.next = self.transport.length.val();

        // What is known earlier waits for the sums.
        self.valids.d.next = (self.valids.q.val() << 1) | bit_cast::<18, 1>(self.valid.val().into());
        self.options.d.next = (self.options.q.val() << 1) | bit_cast::<6, 1>(self.step_four.out_option.val().into());
        self.frags.d.next = (self.frags.q.val() << 1) | bit_cast::<6, 1>(self.step_four.out_frag.val().into());

        self.offset.next = 14.into();
        if self.link.tags.val() == 2 {
            self.offset.next = 18.into();
        } else if self.link.tags.val() == 4 {
            self.offset.next = 22.into();
        }
        self.early_dmac.next = self.link.dmac.val();
        self.early_info.next = self.link.out_info.val();
        self.link_words.part[0].next = self.link.protocol.val();
        self.link_words.part[1].next = self.link.ethertype.val();
        self.link_words.part[2].next = bit_cast::<16, 14>(self.link.out_length.val())
            | (bit_cast::<16, 1>(self.link.classified.val().into()) << 14)
            | (bit_cast::<16, 1>(self.link.ethertype_valid.val().into()) << 15);
        self.link_words.part[3].next = bit_cast::<16, 12>(self.link.vid.val())
            | (bit_cast::<16, 1>(self.link.vid_valid.val().into()) << 12)
            | (bit_cast::<16, 3>(self.link.out_epoch.val()) << 13);
        self.link_words.part[4].next = bit_cast::<16, 2>(self.link.dst.val())
            | (bit_cast::<16, 2>(self.link.framing.val()) << 2)
            | (bit_cast::<16, 2>(self.link.vlan.val()) << 4)
            | (bit_cast::<16, 8>(self.offset.val()) << 6);
        self.link_words.part[5].next = self.early_dmac.val().get_bits::<16>(0);
        self.link_words.part[6].next = self.early_dmac.val().get_bits::<16>(16);
        self.link_words.part[7].next = self.early_dmac.val().get_bits::<16>(32);
        self.link_words.part[8].next = self.early_info.val().get_bits::<16>(0);
        self.link_words.part[9].next = self.early_info.val().get_bits::<16>(16);
        self.link_words.part[10].next = self.early_info.val().get_bits::<16>(32);
        self.link_words.part[11].next = bit_cast::<16, 2>(self.early_info.val().get_bits::<2>(48));
        self.link_wait.clock.next = self.clock.val();
        self.link_wait.now.next = self.link_words.whole.val();
        self.link_then.next = self.link_wait.then.val();
        self.protocol.next = self.link_then.val().get_bits::<16>(0);
        self.ethertype.next = self.link_then.val().get_bits::<16>(16);
        self.p_length.next = self.link_then.val().get_bits::<14>(32);
        self.classified.next = self.link_then.val().get_bit(46);
        self.ethertype_valid.next = self.link_then.val().get_bit(47);
        self.vid.next = self.link_then.val().get_bits::<12>(48);
        self.vid_valid.next = self.link_then.val().get_bit(60);
        self.p_epoch.next = self.link_then.val().get_bits::<3>(61);
        self.dst.next = self.link_then.val().get_bits::<2>(64);
        self.l2.next = self.link_then.val().get_bits::<2>(66);
        self.vlan.next = self.link_then.val().get_bits::<2>(68);
        self.l3_offset.next = self.link_then.val().get_bits::<8>(70);
        self.dmac.next = self.link_then.val().get_bits::<48>(80);
        self.p_info.next = self.link_then.val().get_bits::<50>(128);

        self.network_words.part[0].next = self.network.source.val();
        self.network_words.part[1].next = self.network.destination.val();
        self.network_words.part[2].next = bit_cast::<128, 3>(self.network.l3.val());
        self.network_wait.clock.next = self.clock.val();
        self.network_wait.now.next = self.network_words.whole.val();
        self.network_then.next = self.network_wait.then.val();
        self.source.next = self.network_then.val().get_bits::<128>(0);
        self.destination.next = self.network_then.val().get_bits::<128>(128);
        self.l3.next = self.network_then.val().get_bits::<3>(256);

        self.transport_words.part[0].next = self.transport.source_port.val();
        self.transport_words.part[1].next = self.transport.destination_port.val();
        self.transport_words.part[2].next = bit_cast::<16, 8>(self.transport.header_length.val())
            | (bit_cast::<16, 8>(self.transport.l4_offset.val()) << 8);
        self.transport_words.part[3].next = bit_cast::<16, 3>(self.transport.l4.val())
            | (bit_cast::<16, 1>(self.transport.ack.val().into()) << 3)
            | (bit_cast::<16, 1>(self.transport.wanted.val().into()) << 4);
        self.transport_wait.clock.next = self.clock.val();
        self.transport_wait.now.next = self.transport_words.whole.val();
        self.transport_then.next = self.transport_wait.then.val();
        self.source_port.next = self.transport_then.val().get_bits::<16>(0);
        self.destination_port.next = self.transport_then.val().get_bits::<16>(16);
        self.header_length.next = self.transport_then.val().get_bits::<8>(32);
        self.l4_offset.next = self.transport_then.val().get_bits::<8>(40);
        self.l4.next = self.transport_then.val().get_bits::<3>(48);
        self.ack.next = self.transport_then.val().get_bit(51);
        self.l4_wanted.next = self.transport_then.val().get_bit(52);

        self.p_valid.next = self.valids.q.val().get_bit(17);
        self.l3opt.next = self.options.q.val().get_bit(5);
        self.frag.next = self.frags.q.val().get_bit(5);
        self.is4.next = self.network_then.val().get_bits::<3>(256) == 1;
        self.ip_checked.next = self.is4.val();
        self.ip_good.next = self.is4.val() & self.headers.good.val();
        self.header_sum.next = self.headers.sum.val();
        self.pseudo_sum.next = self.pseudo.sum.val();

        if self.reset.val() {
            self.valids.d.next = 0.into();
        }
    }
}

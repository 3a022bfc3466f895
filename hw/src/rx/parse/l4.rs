//! The transport header: what it is, where it ends, its ports, and whether its checksum can be looked at.
//!
//! ```text
//! place → one-hot, registered → dwords selected → compared with the packet → decided, out
//! ```
//!
//! Answered four cycles later. A header that is not inside is none.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct L4 {
    pub clock: Signal<In, Clock>,
    /// The dword behind all network headers, and whole dwords from there to the end of the packet or the window.
    pub place: Signal<In, Bits<5>>,
    pub room: Signal<In, Bits<5>>,
    /// What is there, see `kind.rs`; an extension header is one too many.
    pub kind: Signal<In, Bits<4>>,
    pub frag: Signal<In, Bit>,
    pub routed: Signal<In, Bit>,
    /// End of the packet, in bytes behind byte 14.
    pub packet_end: Signal<In, Bits<14>>,
    /// Dwords 0 to 27, one cycle later than `place`.
    pub grid: Signal<In, Bits<896>>,
    pub l4: Signal<Out, Bits<3>>,
    pub ack: Signal<Out, Bit>,
    /// The checksum can be looked at.
    pub wanted: Signal<Out, Bit>,
    /// Bytes of the packet from the transport header on.
    pub length: Signal<Out, Bits<14>>,
    pub header_length: Signal<Out, Bits<8>>,
    pub l4_offset: Signal<Out, Bits<8>>,
    pub source_port: Signal<Out, Bits<16>>,
    pub destination_port: Signal<Out, Bits<16>>,
    // One-hot: dwords 0, 1 and 3 of the header.
    at: DFF<Bits<28>>,
    a_kind: DFF<Bits<3>>,
    a_room: DFF<Bits<5>>,
    a_place: DFF<Bits<5>>,
    a_plain: DFF<Bit>,
    a_frag: DFF<Bit>,
    a_length: DFF<Bits<14>>,
    // Selected.
    ports: DFF<Bits<32>>,
    second: DFF<Bits<32>>,
    offset: DFF<Bits<4>>,
    b_kind: DFF<Bits<3>>,
    b_room: DFF<Bits<5>>,
    b_place: DFF<Bits<5>>,
    b_plain: DFF<Bit>,
    b_frag: DFF<Bit>,
    b_length: DFF<Bits<14>>,
    // Compared.
    c_ports: DFF<Bits<32>>,
    c_kind: DFF<Bits<3>>,
    c_inside: DFF<Bit>,
    c_size: DFF<Bits<4>>,
    c_place: DFF<Bits<5>>,
    c_plain: DFF<Bit>,
    c_frag: DFF<Bit>,
    c_empty: DFF<Bit>,
    c_udp_length: DFF<Bit>,
    c_udp_sum: DFF<Bit>,
    c_length: DFF<Bits<14>>,
    // Decided.
    d_l4: DFF<Bits<3>>,
    d_ack: DFF<Bit>,
    d_wanted: DFF<Bit>,
    d_length: DFF<Bits<14>>,
    d_header_length: DFF<Bits<8>>,
    d_l4_offset: DFF<Bits<8>>,
    d_ports: DFF<Bits<32>>,
    bytes_before: Signal<Local, Bits<14>>,
    word: Signal<Local, Bits<32>>,
    nibble: Signal<Local, Bits<4>>,
    least: Signal<Local, Bits<4>>,
    size: Signal<Local, Bits<4>>,
    size_bytes: Signal<Local, Bits<14>>,
    udp_length: Signal<Local, Bits<16>>,
    udp_sum: Signal<Local, Bits<16>>,
    long_length: Signal<Local, Bits<16>>,
    offset_now: Signal<Local, Bits<8>>,
}

impl Logic for L4 {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, a_kind, a_room, a_place, a_plain, a_frag, a_length);
        dff_setup!(self, clock, ports, second, offset, b_kind, b_room, b_place, b_plain, b_frag, b_length);
        dff_setup!(self, clock, c_ports, c_kind, c_inside, c_size, c_place, c_plain, c_frag, c_empty);
        dff_setup!(self, clock, c_udp_length, c_udp_sum, c_length);
        dff_setup!(self, clock, d_l4, d_ack, d_wanted, d_length, d_header_length, d_l4_offset, d_ports);

        self.at.d.next = 0.into();
        for i in 5_usize..28 {
            self.at.d.next = self.at.d.val().replace_bit(i, self.place.val().index() == i);
        }
        self.a_kind.d.next = self.kind.val().get_bits::<3>(0);
        if self.kind.val().get_bit(3) {
            self.a_kind.d.next = 0.into();
        }
        self.a_room.d.next = self.room.val();
        self.a_place.d.next = self.place.val();
        self.a_plain.d.next = !self.frag.val() & !self.routed.val();
        self.a_frag.d.next = self.frag.val();
        self.bytes_before.next = bit_cast::<14, 5>(self.place.val()) << 2;
        self.a_length.d.next = self.packet_end.val() - self.bytes_before.val();

        self.ports.d.next = 0.into();
        self.second.d.next = 0.into();
        self.offset.d.next = 0.into();
        self.word.next = 0.into();
        self.nibble.next = 0.into();
        for i in 5_usize..28 {
            self.word.next = 0.into();
            if self.at.q.val().get_bit(i) {
                self.word.next = self.grid.val().get_bits::<32>(32 * i);
            }
            self.ports.d.next = self.ports.d.val() | self.word.val();
        }
        for i in 5_usize..27 {
            self.word.next = 0.into();
            if self.at.q.val().get_bit(i) {
                self.word.next = self.grid.val().get_bits::<32>(32 * i + 32);
            }
            self.second.d.next = self.second.d.val() | self.word.val();
        }
        for i in 5_usize..25 {
            self.nibble.next = 0.into();
            if self.at.q.val().get_bit(i) {
                self.nibble.next = self.grid.val().get_bits::<4>(32 * i + 100);
            }
            self.offset.d.next = self.offset.d.val() | self.nibble.val();
        }
        self.b_kind.d.next = self.a_kind.q.val();
        self.b_room.d.next = self.a_room.q.val();
        self.b_place.d.next = self.a_place.q.val();
        self.b_plain.d.next = self.a_plain.q.val();
        self.b_frag.d.next = self.a_frag.q.val();
        self.b_length.d.next = self.a_length.q.val();

        // Dwords that the header takes, and the least it may.
        self.size.next = 0.into();
        self.least.next = 0.into();
        if self.b_kind.q.val() == 1 {
            self.size.next = self.offset.q.val();
            self.least.next = 5.into();
        } else if (self.b_kind.q.val() == 2) | (self.b_kind.q.val() == 3) {
            self.size.next = 2.into();
        } else if self.b_kind.q.val() == 4 {
            self.size.next = 3.into();
        }
        self.c_size.d.next = self.size.val();
        self.c_inside.d.next = (self.size.val() >= self.least.val())
            & (bit_cast::<5, 4>(self.size.val()) <= self.b_room.q.val());
        self.size_bytes.next = bit_cast::<14, 4>(self.offset.q.val()) << 2;
        self.c_empty.d.next = self.b_length.q.val() == self.size_bytes.val();
        self.udp_length.next = (bit_cast::<16, 8>(self.second.q.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.second.q.val().get_bits::<8>(8));
        self.udp_sum.next = self.second.q.val().get_bits::<16>(16);
        self.long_length.next = bit_cast::<16, 14>(self.b_length.q.val());
        self.c_udp_length.d.next = self.udp_length.val() == self.long_length.val();
        self.c_udp_sum.d.next = self.udp_sum.val().any();
        self.c_ports.d.next = self.ports.q.val();
        self.c_kind.d.next = self.b_kind.q.val();
        self.c_place.d.next = self.b_place.q.val();
        self.c_plain.d.next = self.b_plain.q.val();
        self.c_frag.d.next = self.b_frag.q.val();
        self.c_length.d.next = self.b_length.q.val();

        self.offset_now.next = (bit_cast::<8, 5>(self.c_place.q.val()) << 2) + 14;
        self.d_l4_offset.d.next = self.offset_now.val();
        self.d_header_length.d.next = self.offset_now.val();
        self.d_length.d.next = self.c_length.q.val();
        self.d_l4.d.next = 0.into();
        self.d_ack.d.next = false;
        self.d_wanted.d.next = false;
        self.d_ports.d.next = 0.into();
        if self.c_inside.q.val() {
            self.d_l4.d.next = self.c_kind.q.val();
            self.d_header_length.d.next = self.offset_now.val() + (bit_cast::<8, 4>(self.c_size.q.val()) << 2);
            if self.c_kind.q.val() == 1 {
                self.d_ack.d.next = self.c_empty.q.val() & !self.c_frag.q.val();
                self.d_wanted.d.next = self.c_plain.q.val();
            } else if self.c_kind.q.val() == 2 {
                self.d_wanted.d.next = self.c_plain.q.val() & self.c_udp_length.q.val() & self.c_udp_sum.q.val();
            }
            if (self.c_kind.q.val() == 1) | (self.c_kind.q.val() == 2) | (self.c_kind.q.val() == 4) {
                self.d_ports.d.next = self.c_ports.q.val();
            }
        }

        self.l4.next = self.d_l4.q.val();
        self.ack.next = self.d_ack.q.val();
        self.wanted.next = self.d_wanted.q.val();
        self.length.next = self.d_length.q.val();
        self.header_length.next = self.d_header_length.q.val();
        self.l4_offset.next = self.d_l4_offset.q.val();
        self.source_port.next = (bit_cast::<16, 8>(self.d_ports.q.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.d_ports.q.val().get_bits::<8>(8));
        self.destination_port.next = (bit_cast::<16, 8>(self.d_ports.q.val().get_bits::<8>(16)) << 8)
            | bit_cast::<16, 8>(self.d_ports.q.val().get_bits::<8>(24));
    }
}

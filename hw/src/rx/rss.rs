//! Receive-side scaling: a hash of addresses and ports, and from it a queue.
//!
//! ```text
//! fields → type, input of 36 bytes → 1: eleven partial hashes → 2: hash → 3: row of the table → 4: queue → out
//! ```
//!
//! Which frames are hashed over what: `ferronic_contract::parse`. IPv6 fills the input with source, destination and ports.
//! IPv4 lies at its start: source, destination in the place of the source's second word, ports in the place of the third; the
//! rest adds nothing to the hash, and neither do ports that do not count.
//!
//! The indirection table is written a dword of four entries at a time, of which the low four bits are kept. A row that is
//! written in the cycle in which it is read is read as written. A frame a cycle, answered [`LATENCY`] cycles later.

use crate::common::join::Join;
use crate::common::ram::Ram;
use crate::rx::toeplitz::Toeplitz;
use ferronic_contract::parse::{RssType, L3, L4};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from a frame's fields to its queue.
pub const LATENCY: usize = 4;

#[derive(LogicBlock)]
pub struct Rss {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub l3: Signal<In, Bits<3>>,
    pub l4: Signal<In, Bits<3>>,
    pub frag: Signal<In, Bit>,
    /// In network order, byte 0 in bits 7:0; IPv4 in the low 32 bits.
    pub source: Signal<In, Bits<128>>,
    pub destination: Signal<In, Bits<128>>,
    /// As numbers.
    pub source_port: Signal<In, Bits<16>>,
    pub destination_port: Signal<In, Bits<16>>,
    /// Bits 5:0 of the register RSS.
    pub types: Signal<In, Bits<6>>,
    pub default_queue: Signal<In, Bits<4>>,
    pub t_write: Signal<In, Bit>,
    pub t_address: Signal<In, Bits<5>>,
    pub t_data: Signal<In, Bits<32>>,
    pub out_valid: Signal<Out, Bit>,
    pub hash: Signal<Out, Bits<32>>,
    pub hash_type: Signal<Out, Bits<3>>,
    pub out_queue: Signal<Out, Bits<4>>,
    toeplitz: [Toeplitz; 11],
    rows: Ram<16, 5>,
    entries: Join<4, 4, 16>,
    ports: Join<8, 4, 32>,
    partial: [DFF<Bits<32>>; 11],
    a_valid: DFF<Bit>,
    a_type: DFF<Bits<3>>,
    b_valid: DFF<Bit>,
    b_type: DFF<Bits<3>>,
    b_hash: DFF<Bits<32>>,
    c_valid: DFF<Bit>,
    c_type: DFF<Bits<3>>,
    c_hash: DFF<Bits<32>>,
    // The row that was written while it was read.
    c_fresh: DFF<Bit>,
    c_written: DFF<Bits<16>>,
    d_valid: DFF<Bit>,
    d_type: DFF<Bits<3>>,
    d_hash: DFF<Bits<32>>,
    d_queue: DFF<Bits<4>>,
    v4: Signal<Local, Bit>,
    v6: Signal<Local, Bit>,
    tcp: Signal<Local, Bit>,
    udp: Signal<Local, Bit>,
    type_now: Signal<Local, Bits<3>>,
    with_ports: Signal<Local, Bit>,
    sum: Signal<Local, Bits<32>>,
    read_row: Signal<Local, Bits<5>>,
    row: Signal<Local, Bits<16>>,
    entry: Signal<Local, Bits<2>>,
    ipv4: Constant<Bits<3>>,
    ipv6: Constant<Bits<3>>,
    l4_tcp: Constant<Bits<3>>,
    l4_udp: Constant<Bits<3>>,
    over_ipv4: Constant<Bits<3>>,
    over_tcp4: Constant<Bits<3>>,
    over_udp4: Constant<Bits<3>>,
    over_ipv6: Constant<Bits<3>>,
    over_tcp6: Constant<Bits<3>>,
    over_udp6: Constant<Bits<3>>,
}

fn constant(value: u8) -> Constant<Bits<3>> {
    Constant::new(u64::from(value).into())
}

impl Default for Rss {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            l3: Default::default(),
            l4: Default::default(),
            frag: Default::default(),
            source: Default::default(),
            destination: Default::default(),
            source_port: Default::default(),
            destination_port: Default::default(),
            types: Default::default(),
            default_queue: Default::default(),
            t_write: Default::default(),
            t_address: Default::default(),
            t_data: Default::default(),
            out_valid: Default::default(),
            hash: Default::default(),
            hash_type: Default::default(),
            out_queue: Default::default(),
            // The last two: destination and ports as IPv4 has them.
            toeplitz: std::array::from_fn(|i| Toeplitz::at(if i < 9 { i } else { i - 8 })),
            rows: Default::default(),
            entries: Default::default(),
            ports: Default::default(),
            partial: std::array::from_fn(|_| Default::default()),
            a_valid: Default::default(),
            a_type: Default::default(),
            b_valid: Default::default(),
            b_type: Default::default(),
            b_hash: Default::default(),
            c_valid: Default::default(),
            c_type: Default::default(),
            c_hash: Default::default(),
            c_fresh: Default::default(),
            c_written: Default::default(),
            d_valid: Default::default(),
            d_type: Default::default(),
            d_hash: Default::default(),
            d_queue: Default::default(),
            v4: Default::default(),
            v6: Default::default(),
            tcp: Default::default(),
            udp: Default::default(),
            type_now: Default::default(),
            with_ports: Default::default(),
            sum: Default::default(),
            read_row: Default::default(),
            row: Default::default(),
            entry: Default::default(),
            ipv4: constant(L3::Ipv4 as u8),
            ipv6: constant(L3::Ipv6 as u8),
            l4_tcp: constant(L4::Tcp as u8),
            l4_udp: constant(L4::Udp as u8),
            over_ipv4: constant(RssType::Ipv4 as u8),
            over_tcp4: constant(RssType::Tcp4 as u8),
            over_udp4: constant(RssType::Udp4 as u8),
            over_ipv6: constant(RssType::Ipv6 as u8),
            over_tcp6: constant(RssType::Tcp6 as u8),
            over_udp6: constant(RssType::Udp6 as u8),
        }
    }
}

impl Logic for Rss {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_valid, a_type, b_valid, b_type, b_hash, c_valid, c_type, c_hash, c_fresh, c_written);
        dff_setup!(self, clock, d_valid, d_type, d_hash, d_queue);
        self.rows.clock.next = self.clock.val();

        // The type.
        self.v4.next = self.l3.val() == self.ipv4.val();
        self.v6.next = self.l3.val() == self.ipv6.val();
        self.tcp.next = (self.l4.val() == self.l4_tcp.val()) & !self.frag.val();
        self.udp.next = (self.l4.val() == self.l4_udp.val()) & !self.frag.val();
        self.type_now.next = 0.into();
        self.with_ports.next = false;
        if self.v4.val() {
            if self.tcp.val() & self.types.val().get_bit(1) {
                self.type_now.next = self.over_tcp4.val();
                self.with_ports.next = true;
            } else if self.udp.val() & self.types.val().get_bit(2) {
                self.type_now.next = self.over_udp4.val();
                self.with_ports.next = true;
            } else if self.types.val().get_bit(0) {
                self.type_now.next = self.over_ipv4.val();
            }
        } else if self.v6.val() {
            if self.tcp.val() & self.types.val().get_bit(4) {
                self.type_now.next = self.over_tcp6.val();
                self.with_ports.next = true;
            } else if self.udp.val() & self.types.val().get_bit(5) {
                self.type_now.next = self.over_udp6.val();
                self.with_ports.next = true;
            } else if self.types.val().get_bit(3) {
                self.type_now.next = self.over_ipv6.val();
            }
        }

        // 1: the input and what its words add.
        self.ports.part[0].next = self.source_port.val().get_bits::<8>(8);
        self.ports.part[1].next = self.source_port.val().get_bits::<8>(0);
        self.ports.part[2].next = self.destination_port.val().get_bits::<8>(8);
        self.ports.part[3].next = self.destination_port.val().get_bits::<8>(0);
        for i in 0_usize..4 {
            self.toeplitz[i].word.next = self.source.val().get_bits::<32>(32 * i);
            self.toeplitz[i + 4].word.next = self.destination.val().get_bits::<32>(32 * i);
        }
        self.toeplitz[8].word.next = self.ports.whole.val();
        self.toeplitz[9].word.next = self.destination.val().get_bits::<32>(0);
        self.toeplitz[10].word.next = self.ports.whole.val();
        self.sum.next = 0.into();
        for i in 0_usize..11 {
            self.partial[i].clock.next = self.clock.val();
            self.partial[i].d.next = self.toeplitz[i].hash.val();
            self.sum.next = self.sum.val() ^ self.partial[i].q.val();
        }
        // What does not count is left out here, by a reset of the register: a gate at each bit of the input costs a LUT.
        // Of IPv4, the source is the first word alone.
        if !self.v6.val() {
            for i in 4_usize..9 {
                self.partial[i].d.next = 0.into();
            }
        }
        if !self.v4.val() {
            for i in 9_usize..11 {
                self.partial[i].d.next = 0.into();
            }
        }
        if !self.with_ports.val() {
            self.partial[8].d.next = 0.into();
            self.partial[10].d.next = 0.into();
        }
        self.a_valid.d.next = self.valid.val();
        self.a_type.d.next = self.type_now.val();

        // 2: the hash.
        self.b_valid.d.next = self.a_valid.q.val();
        self.b_type.d.next = self.a_type.q.val();
        self.b_hash.d.next = 0.into();
        if self.a_type.q.val() != 0 {
            self.b_hash.d.next = self.sum.val();
        }

        // 3: the row of its low seven bits.
        for i in 0_usize..4 {
            self.entries.part[i].next = self.t_data.val().get_bits::<4>(8 * i);
        }
        self.rows.write_enable.next = self.t_write.val();
        self.rows.write_address.next = self.t_address.val();
        self.rows.write_data.next = self.entries.whole.val();
        self.read_row.next = self.b_hash.q.val().get_bits::<5>(2);
        self.rows.read_enable.next = true;
        self.rows.read_address.next = self.read_row.val();
        self.c_fresh.d.next = self.t_write.val() & (self.t_address.val() == self.read_row.val());
        self.c_written.d.next = self.entries.whole.val();
        self.c_valid.d.next = self.b_valid.q.val();
        self.c_type.d.next = self.b_type.q.val();
        self.c_hash.d.next = self.b_hash.q.val();

        // 4: the queue.
        self.row.next = self.rows.read_data.val();
        if self.c_fresh.q.val() {
            self.row.next = self.c_written.q.val();
        }
        self.entry.next = self.c_hash.q.val().get_bits::<2>(0);
        self.d_queue.d.next = self.default_queue.val();
        if self.c_type.q.val() != 0 {
            for i in 0_usize..4 {
                if self.entry.val().index() == i {
                    self.d_queue.d.next = self.row.val().get_bits::<4>(4 * i);
                }
            }
        }
        self.d_valid.d.next = self.c_valid.q.val();
        self.d_type.d.next = self.c_type.q.val();
        self.d_hash.d.next = self.c_hash.q.val();

        self.out_valid.next = self.d_valid.q.val();
        self.hash.next = self.d_hash.q.val();
        self.hash_type.next = self.d_type.q.val();
        self.out_queue.next = self.d_queue.q.val();

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.c_valid.d.next = false;
            self.d_valid.d.next = false;
        }
    }
}

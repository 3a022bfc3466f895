//! The one's-complement sum of the pseudo header: addresses, protocol, and length of the transport packet.
//!
//! ```text
//! addresses → by fours → all, kept until the length is known → with length and protocol → folded, out
//! ```
//!
//! IPv4 and IPv6 sum the same numbers (RFC 9293, section 3.1; RFC 8200, section 8.1). As in `header_sum.rs`, words are
//! added as they lie, the first byte lowest.

use super::delay::Delay;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct PseudoSum {
    pub clock: Signal<In, Clock>,
    pub source: Signal<In, Bits<128>>,
    pub destination: Signal<In, Bits<128>>,
    /// Twelve cycles later: TCP, else UDP.
    pub tcp: Signal<In, Bit>,
    pub length: Signal<In, Bits<14>>,
    /// Two more cycles later.
    pub sum: Signal<Out, Bits<16>>,
    fours: [DFF<Bits<18>>; 4],
    addresses: DFF<Bits<20>>,
    kept: Delay<20, 10>,
    all: DFF<Bits<21>>,
    folded: DFF<Bits<16>>,
    source_front: Signal<Local, Bits<16>>,
    source_back: Signal<Local, Bits<16>>,
    destination_front: Signal<Local, Bits<16>>,
    destination_back: Signal<Local, Bits<16>>,
    number: Signal<Local, Bits<21>>,
    swapped: Signal<Local, Bits<21>>,
    once: Signal<Local, Bits<17>>,
}

impl Logic for PseudoSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, addresses, all, folded);
        self.source_front.next = 0.into();
        self.source_back.next = 0.into();
        self.destination_front.next = 0.into();
        self.destination_back.next = 0.into();
        for i in 0_usize..4 {
            self.fours[i].clock.next = self.clock.val();
            self.source_front.next = self.source.val().get_bits::<16>(32 * i);
            self.source_back.next = self.source.val().get_bits::<16>(32 * i + 16);
            self.destination_front.next = self.destination.val().get_bits::<16>(32 * i);
            self.destination_back.next = self.destination.val().get_bits::<16>(32 * i + 16);
            self.fours[i].d.next = bit_cast::<18, 16>(self.source_front.val())
                + bit_cast::<18, 16>(self.source_back.val())
                + bit_cast::<18, 16>(self.destination_front.val())
                + bit_cast::<18, 16>(self.destination_back.val());
        }
        self.addresses.d.next = (bit_cast::<20, 18>(self.fours[0].q.val()) + bit_cast::<20, 18>(self.fours[1].q.val()))
            + (bit_cast::<20, 18>(self.fours[2].q.val()) + bit_cast::<20, 18>(self.fours[3].q.val()));
        self.kept.clock.next = self.clock.val();
        self.kept.now.next = self.addresses.q.val();

        self.number.next = 0x1100.into();
        if self.tcp.val() {
            self.number.next = 0x0600.into();
        }
        self.swapped.next = (bit_cast::<21, 8>(self.length.val().get_bits::<8>(0)) << 8)
            | bit_cast::<21, 6>(self.length.val().get_bits::<6>(8));
        self.all.d.next = bit_cast::<21, 20>(self.kept.then.val()) + (self.swapped.val() + self.number.val());
        self.once.next = bit_cast::<17, 16>(self.all.q.val().get_bits::<16>(0))
            + bit_cast::<17, 5>(self.all.q.val().get_bits::<5>(16));
        self.folded.d.next =
            self.once.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.once.val().get_bits::<1>(16));
        self.sum.next = (bit_cast::<16, 8>(self.folded.q.val().get_bits::<8>(0)) << 8)
            | bit_cast::<16, 8>(self.folded.q.val().get_bits::<8>(8));
    }
}

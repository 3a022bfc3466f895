//! One step of the walk over IPv6 extension headers.
//!
//! ```text
//! place → code of that dword, registered → length against the room, registered → next place
//! ```
//!
//! Two cycles, a packet a cycle. A step finds an extension header or hands on what it got. A header that is not
//! inside ends the walk: nothing comes behind it.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Extension {
    pub clock: Signal<In, Clock>,
    /// Codes of dwords 10 to 27 of the grid, 12 bits each, see `peek.rs`.
    pub codes: Signal<In, Bits<216>>,
    /// The dword behind all that was walked, and whole dwords from there to the end of the packet or the window.
    pub place: Signal<In, Bits<5>>,
    pub room: Signal<In, Bits<5>>,
    /// What is there, see `kind.rs`.
    pub kind: Signal<In, Bits<4>>,
    /// An option or extension header was seen.
    pub option: Signal<In, Bit>,
    pub frag: Signal<In, Bit>,
    /// A routing header had segments left.
    pub routed: Signal<In, Bit>,
    pub out_codes: Signal<Out, Bits<216>>,
    pub out_place: Signal<Out, Bits<5>>,
    pub out_room: Signal<Out, Bits<5>>,
    pub out_kind: Signal<Out, Bits<4>>,
    pub out_option: Signal<Out, Bit>,
    pub out_frag: Signal<Out, Bit>,
    pub out_routed: Signal<Out, Bit>,
    a_codes: DFF<Bits<216>>,
    a_place: DFF<Bits<5>>,
    a_room: DFF<Bits<5>>,
    a_kind: DFF<Bits<4>>,
    a_option: DFF<Bit>,
    a_frag: DFF<Bit>,
    a_routed: DFF<Bit>,
    code: DFF<Bits<12>>,
    // Behind the first 8 bytes, which every extension header has.
    a_place_two: DFF<Bits<5>>,
    a_room_two: DFF<Bits<5>>,
    a_has_two: DFF<Bit>,
    b_codes: DFF<Bits<216>>,
    b_place: DFF<Bits<5>>,
    b_room: DFF<Bits<5>>,
    b_kind: DFF<Bits<4>>,
    b_option: DFF<Bit>,
    b_frag: DFF<Bit>,
    b_routed: DFF<Bit>,
    here: Signal<Local, Bits<12>>,
    units: Signal<Local, Bits<6>>,
    more: Signal<Local, Bits<6>>,
    room_two: Signal<Local, Bits<6>>,
    fits: Signal<Local, Bit>,
    place_next: Signal<Local, Bits<5>>,
    room_next: Signal<Local, Bits<5>>,
}

impl Logic for Extension {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_codes, a_place, a_room, a_kind, a_option, a_frag, a_routed, code);
        dff_setup!(self, clock, a_place_two, a_room_two, a_has_two);
        dff_setup!(self, clock, b_codes, b_place, b_room, b_kind, b_option, b_frag, b_routed);

        self.a_codes.d.next = self.codes.val();
        self.a_place.d.next = self.place.val();
        self.a_room.d.next = self.room.val();
        self.a_kind.d.next = self.kind.val();
        self.a_option.d.next = self.option.val();
        self.a_frag.d.next = self.frag.val();
        self.a_routed.d.next = self.routed.val();
        self.code.d.next = 0.into();
        self.here.next = 0.into();
        for i in 10_usize..28 {
            self.here.next = 0.into();
            if self.place.val().index() == i {
                self.here.next = self.codes.val().get_bits::<12>(12 * i - 120);
            }
            self.code.d.next = self.code.d.val() | self.here.val();
        }
        self.a_place_two.d.next = self.place.val() + 2;
        self.a_room_two.d.next = self.room.val() - 2;
        self.a_has_two.d.next = self.room.val() >= 2;

        // Dwords behind the first two.
        self.units.next = bit_cast::<6, 5>(self.code.q.val().get_bits::<5>(4));
        self.more.next = self.units.val() << 1;
        self.room_two.next = bit_cast::<6, 5>(self.a_room_two.q.val());
        // Each kind has sums of its own, because the kind is known late.
        self.fits.next = self.more.val() <= self.room_two.val();
        self.place_next.next = self.a_place_two.q.val() + self.more.val().get_bits::<5>(0);
        self.room_next.next = self.a_room_two.q.val() - self.more.val().get_bits::<5>(0);
        if self.a_kind.q.val() == 10 {
            self.fits.next = true;
            self.place_next.next = self.a_place_two.q.val();
            self.room_next.next = self.a_room_two.q.val();
        } else if self.a_kind.q.val() == 11 {
            self.fits.next = self.units.val() <= self.room_two.val();
            self.place_next.next = self.a_place_two.q.val() + self.units.val().get_bits::<5>(0);
            self.room_next.next = self.a_room_two.q.val() - self.units.val().get_bits::<5>(0);
        }

        self.b_codes.d.next = self.a_codes.q.val();
        self.b_place.d.next = self.a_place.q.val();
        self.b_room.d.next = self.a_room.q.val();
        self.b_kind.d.next = self.a_kind.q.val();
        self.b_option.d.next = self.a_option.q.val();
        self.b_frag.d.next = self.a_frag.q.val();
        self.b_routed.d.next = self.a_routed.q.val();
        if self.a_kind.q.val().get_bit(3) {
            self.b_kind.d.next = 0.into();
            if self.a_has_two.q.val() & self.fits.val() {
                self.b_place.d.next = self.place_next.val();
                self.b_room.d.next = self.room_next.val();
                self.b_kind.d.next = self.code.q.val().get_bits::<4>(0);
                self.b_option.d.next = true;
                if (self.a_kind.q.val() == 9) & self.code.q.val().get_bit(9) {
                    self.b_routed.d.next = true;
                }
                if self.a_kind.q.val() == 10 {
                    self.b_frag.d.next =
                        self.a_frag.q.val() | self.code.q.val().get_bit(10) | self.code.q.val().get_bit(11);
                    // Not the first fragment: what follows is in the middle of something.
                    if self.code.q.val().get_bit(10) {
                        self.b_kind.d.next = 0.into();
                    }
                }
            }
        }

        self.out_codes.next = self.b_codes.q.val();
        self.out_place.next = self.b_place.q.val();
        self.out_room.next = self.b_room.q.val();
        self.out_kind.next = self.b_kind.q.val();
        self.out_option.next = self.b_option.q.val();
        self.out_frag.next = self.b_frag.q.val();
        self.out_routed.next = self.b_routed.q.val();
    }
}

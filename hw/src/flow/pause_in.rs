//! Recognises PAUSE frames, and says for how long none may be sent.
//!
//! ```text
//! window → compares, registered → is_pause → timer → hold
//! ```
//!
//! A PAUSE frame goes to 01-80-C2-00-00-01 or to this station, is untagged, of type 0x8808 and opcode 1. The time asked
//! for replaces what is left of the last one. While `honour` is 0, no frame is one and nothing is held.
//!
//! A frame a cycle. `is_pause` and `out_valid` come [`LATENCY`] cycles later; `hold` changes in the cycle after.

use crate::flow::timer::Timer;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Cycles from a frame's window to `is_pause`.
pub const LATENCY: usize = 2;
/// The type of MAC control frames.
pub const TYPE: u16 = 0x8808;
/// The opcode of PAUSE.
pub const OPCODE: u16 = 1;
/// The group address of PAUSE frames, byte 0 lowest.
pub const ADDRESS: u64 = 0x0100_00C2_8001;

#[derive(LogicBlock)]
pub struct PauseIn {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    /// The first 32 bytes of the frame.
    pub window_low: Signal<In, Bits<256>>,
    pub length: Signal<In, Bits<14>>,
    /// A tag was removed.
    pub stripped: Signal<In, Bit>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<In, Bits<48>>,
    pub honour: Signal<In, Bit>,
    /// Cycles of a quantum.
    pub cycles: Signal<In, Bits<12>>,
    pub out_valid: Signal<Out, Bit>,
    pub is_pause: Signal<Out, Bit>,
    /// No frame may be started.
    pub hold: Signal<Out, Bit>,
    timer: Timer,
    a_valid: DFF<Bit>,
    own: DFF<Bits<6>>,
    group: DFF<Bits<6>>,
    control: DFF<Bit>,
    opcode: DFF<Bit>,
    plain: DFF<Bit>,
    a_quanta: DFF<Bits<16>>,
    b_valid: DFF<Bit>,
    b_pause: DFF<Bit>,
    b_quanta: DFF<Bits<16>>,
    there: Signal<Local, Bits<8>>,
    own_byte: Signal<Local, Bits<8>>,
    group_byte: Signal<Local, Bits<8>>,
    kind: Signal<Local, Bits<16>>,
    code: Signal<Local, Bits<16>>,
    quanta: Signal<Local, Bits<16>>,
    address: Signal<Local, Bits<48>>,
    pause_address: Constant<Bits<48>>,
    // As they lie in the window: first byte lowest.
    control_type: Constant<Bits<16>>,
    pause_opcode: Constant<Bits<16>>,
    quanta_end: Constant<Bits<14>>,
}

impl Default for PauseIn {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            window_low: Default::default(),
            length: Default::default(),
            stripped: Default::default(),
            own_mac: Default::default(),
            honour: Default::default(),
            cycles: Default::default(),
            out_valid: Default::default(),
            is_pause: Default::default(),
            hold: Default::default(),
            timer: Default::default(),
            a_valid: Default::default(),
            own: Default::default(),
            group: Default::default(),
            control: Default::default(),
            opcode: Default::default(),
            plain: Default::default(),
            a_quanta: Default::default(),
            b_valid: Default::default(),
            b_pause: Default::default(),
            b_quanta: Default::default(),
            there: Default::default(),
            own_byte: Default::default(),
            group_byte: Default::default(),
            kind: Default::default(),
            code: Default::default(),
            quanta: Default::default(),
            address: Default::default(),
            pause_address: Constant::new(ADDRESS.into()),
            control_type: Constant::new(u64::from(TYPE.swap_bytes()).into()),
            pause_opcode: Constant::new(u64::from(OPCODE.swap_bytes()).into()),
            quanta_end: Constant::new(18.into()),
        }
    }
}

impl Logic for PauseIn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, a_valid, own, group, control, opcode, plain, a_quanta, b_valid, b_pause, b_quanta);
        self.timer.clock.next = self.clock.val();
        self.timer.reset.next = self.reset.val() | !self.honour.val();

        self.address.next = self.pause_address.val();
        self.own.d.next = 0.into();
        self.group.d.next = 0.into();
        self.there.next = 0.into();
        self.own_byte.next = 0.into();
        self.group_byte.next = 0.into();
        for i in 0_usize..6 {
            self.there.next = self.window_low.val().get_bits::<8>(8 * i);
            self.own_byte.next = self.own_mac.val().get_bits::<8>(8 * i);
            self.group_byte.next = self.address.val().get_bits::<8>(8 * i);
            self.own.d.next = self.own.d.val().replace_bit(i, self.there.val() == self.own_byte.val());
            self.group.d.next = self.group.d.val().replace_bit(i, self.there.val() == self.group_byte.val());
        }
        self.kind.next = self.window_low.val().get_bits::<16>(96);
        self.code.next = self.window_low.val().get_bits::<16>(112);
        self.quanta.next = self.window_low.val().get_bits::<16>(128);
        self.a_valid.d.next = self.valid.val();
        self.control.d.next = self.kind.val() == self.control_type.val();
        self.opcode.d.next = self.code.val() == self.pause_opcode.val();
        self.plain.d.next = !self.stripped.val() & (self.length.val() >= self.quanta_end.val());
        self.a_quanta.d.next = (self.quanta.val() << 8) | (self.quanta.val() >> 8);

        self.b_valid.d.next = self.a_valid.q.val();
        self.b_pause.d.next = self.a_valid.q.val()
            & self.honour.val()
            & self.control.q.val()
            & self.opcode.q.val()
            & self.plain.q.val()
            & (self.own.q.val().all() | self.group.q.val().all());
        self.b_quanta.d.next = self.a_quanta.q.val();

        self.timer.load.next = self.b_pause.q.val();
        self.timer.quanta.next = self.b_quanta.q.val();
        self.timer.cycles.next = self.cycles.val();
        self.out_valid.next = self.b_valid.q.val();
        self.is_pause.next = self.b_pause.q.val();
        self.hold.next = self.timer.running.val();

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.b_pause.d.next = false;
        }
    }
}

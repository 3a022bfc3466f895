//! Cuts the part of a frame that one buffer holds into chunks of one TLP each.
//!
//! ```text
//! j_* → waiting → bytes to the next multiple of MPS → chunk, chunk, … (k_*)
//! ```
//!
//! A chunk ends where the bus address is a multiple of the maximum payload size (MPS), hence never crosses 4 KiB.
//! A frame that is dropped becomes an empty chunk. A chunk every two cycles, the first a cycle after its job.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Cut {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Code of the maximum payload size: 128 << mps bytes.
    pub mps: Signal<In, Bits<3>>,
    pub j_ready: Signal<Out, Bit>,
    pub j_valid: Signal<In, Bit>,
    /// The job of the cycle before is none.
    pub j_recall: Signal<In, Bit>,
    pub j_empty: Signal<In, Bit>,
    pub j_last: Signal<In, Bit>,
    pub j_queue: Signal<In, Bits<4>>,
    pub j_address: Signal<In, Bits<64>>,
    pub j_position: Signal<In, Bits<16>>,
    pub j_bytes: Signal<In, Bits<14>>,
    pub j_end: Signal<In, Bits<16>>,
    pub k_valid: Signal<Out, Bit>,
    pub k_queue: Signal<Out, Bits<4>>,
    pub k_address: Signal<Out, Bits<64>>,
    pub k_position: Signal<Out, Bits<16>>,
    pub k_bytes: Signal<Out, Bits<14>>,
    pub k_close: Signal<Out, Bit>,
    pub k_last: Signal<Out, Bit>,
    pub k_empty: Signal<Out, Bit>,
    pub k_end: Signal<Out, Bits<16>>,
    pub k_ready: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    // The job that waits.
    held: DFF<Bit>,
    h_empty: DFF<Bit>,
    h_last: DFF<Bit>,
    h_queue: DFF<Bits<4>>,
    h_address: DFF<Bits<64>>,
    h_position: DFF<Bits<16>>,
    h_bytes: DFF<Bits<14>>,
    h_end: DFF<Bits<16>>,
    h_room: DFF<Bits<14>>,
    // The job that is cut, from the next chunk on.
    valid: DFF<Bit>,
    empty: DFF<Bit>,
    last: DFF<Bit>,
    queue: DFF<Bits<4>>,
    address: DFF<Bits<64>>,
    position: DFF<Bits<16>>,
    left: DFF<Bits<14>>,
    stop: DFF<Bits<16>>,
    room: DFF<Bits<14>>,
    // The chunk that shows is the last.
    close: DFF<Bit>,
    // What is behind the chunk, once `settled`: a cycle after the chunk itself.
    settled: DFF<Bit>,
    // Lower half with its carry, and the upper half if there is one.
    after_address: DFF<Bits<33>>,
    after_upper: DFF<Bits<32>>,
    upper: Signal<Local, Bits<32>>,
    after_position: DFF<Bits<16>>,
    after_left: DFF<Bits<14>>,
    limit: Signal<Local, Bits<14>>,
    least: Signal<Local, Bits<14>>,
    one: Signal<Local, Bits<14>>,
    offset: Signal<Local, Bits<14>>,
    have: Signal<Local, Bit>,
    next: Signal<Local, Bit>,
}

impl Logic for Cut {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, h_empty, h_last, h_queue, h_address, h_position, h_bytes, h_end, h_room);
        dff_setup!(self, clock, valid, empty, last, queue, address, position, left, stop, room, close);
        dff_setup!(self, clock, settled, after_address, after_upper, after_position, after_left);

        self.one.next = 1.into();
        self.least.next = 128.into();
        self.limit.next = self.least.val() << self.mps.val();
        self.offset.next =
            self.j_address.val().get_bits::<14>(0) & bit_cast::<14, 14>(self.limit.val() - self.one.val());

        self.j_ready.next = !self.held.q.val();
        if self.j_valid.val() {
            self.held.d.next = true;
        }
        if !self.held.q.val() {
            self.h_empty.d.next = self.j_empty.val();
            self.h_last.d.next = self.j_last.val();
            self.h_queue.d.next = self.j_queue.val();
            self.h_address.d.next = self.j_address.val();
            self.h_position.d.next = self.j_position.val();
            self.h_bytes.d.next = self.j_bytes.val();
            self.h_end.d.next = self.j_end.val();
            self.h_room.d.next = self.limit.val() - self.offset.val();
        }

        self.have.next = self.held.q.val() & !self.j_recall.val();
        if self.j_recall.val() {
            self.held.d.next = false;
        }
        self.settled.d.next = true;
        self.after_address.d.next =
            bit_cast::<33, 32>(self.address.q.val().get_bits::<32>(0)) + bit_cast::<33, 14>(self.room.q.val());
        self.after_upper.d.next = self.address.q.val().get_bits::<32>(32) + 1;
        self.upper.next = self.address.q.val().get_bits::<32>(32);
        if self.after_address.q.val().get_bit(32) {
            self.upper.next = self.after_upper.q.val();
        }
        self.after_position.d.next = self.position.q.val() + bit_cast::<16, 14>(self.room.q.val());
        self.after_left.d.next = self.left.q.val() - self.room.q.val();
        self.k_valid.next = self.valid.q.val() & (self.close.q.val() | self.settled.q.val());
        self.k_queue.next = self.queue.q.val();
        self.k_address.next = self.address.q.val();
        self.k_position.next = self.position.q.val();
        self.k_bytes.next = self.room.q.val();
        if self.close.q.val() {
            self.k_bytes.next = self.left.q.val();
        }
        self.k_close.next = self.close.q.val();
        self.k_last.next = self.close.q.val() & self.last.q.val();
        self.k_empty.next = self.empty.q.val();
        self.k_end.next = self.stop.q.val();
        if self.k_ready.val() & self.settled.q.val() & !self.close.q.val() {
            self.address.d.next = bit_cast::<64, 32>(self.after_address.q.val().get_bits::<32>(0))
                | (bit_cast::<64, 32>(self.upper.val()) << 32);
            self.position.d.next = self.after_position.q.val();
            self.left.d.next = self.after_left.q.val();
            self.settled.d.next = false;
            self.room.d.next = self.limit.val();
            self.close.d.next = self.after_left.q.val() <= self.limit.val();
        }
        self.next.next = !self.valid.q.val() | (self.k_ready.val() & self.close.q.val());
        if self.next.val() {
            self.valid.d.next = self.have.val();
            self.settled.d.next = false;
            self.empty.d.next = self.h_empty.q.val();
            self.last.d.next = self.h_last.q.val();
            self.queue.d.next = self.h_queue.q.val();
            self.address.d.next = self.h_address.q.val();
            self.position.d.next = self.h_position.q.val();
            self.left.d.next = self.h_bytes.q.val();
            self.stop.d.next = self.h_end.q.val();
            self.room.d.next = self.h_room.q.val();
            self.close.d.next = self.h_empty.q.val() | (self.h_bytes.q.val() <= self.h_room.q.val());
            if self.have.val() {
                self.held.d.next = false;
            }
        }
        self.busy.next = self.valid.q.val() | self.held.q.val();

        if self.reset.val() {
            self.held.d.next = false;
            self.valid.d.next = false;
        }
    }
}

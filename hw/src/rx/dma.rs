//! Decides on each frame, in the order of arrival, and cuts it into chunks of one TLP each.
//!
//! ```text
//! list of frames ─┐
//!                 ├→ fits? → completion → done
//! descriptors ────┘     └→ chunk, chunk, … → payload
//! ```
//!
//! A chunk ends where the bus address is a multiple of the maximum payload size (MPS), hence never crosses 4 KiB.
//! A frame longer than its buffer is dropped and the descriptor waits for the next frame; while the queue is off,
//! frames are discarded. Dropped frames become empty chunks, so that their room is given back in order.
//!
//! A frame that is started is finished whatever becomes of the queue. The completion goes to `done` before
//! the data has left: `done` holds it until `payload` reports the frame's last beat.
//!
//! Six cycles for the first chunk of a frame, three for each further one, in the shadow of the beats.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Positions are byte addresses in the packet FIFO with one bit more; frames begin at multiples of K bytes.
#[derive(LogicBlock)]
pub struct Dma<const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The queue is enabled and not stopped.
    pub active: Signal<In, Bit>,
    /// Code of the maximum payload size: 128 << mps bytes.
    pub mps: Signal<In, Bits<3>>,
    pub m_valid: Signal<In, Bit>,
    pub m_length: Signal<In, Bits<14>>,
    pub m_ready: Signal<Out, Bit>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub d_ready: Signal<Out, Bit>,
    /// Room for a completion; taken by `c_valid` for the frame that `m_ready` takes.
    pub c_room: Signal<In, Bit>,
    pub c_valid: Signal<Out, Bit>,
    pub c_cookie: Signal<Out, Bits<32>>,
    pub k_valid: Signal<Out, Bit>,
    pub k_address: Signal<Out, Bits<64>>,
    pub k_position: Signal<Out, Bits<16>>,
    pub k_bytes: Signal<Out, Bits<14>>,
    /// The frame ends with this chunk.
    pub k_last: Signal<Out, Bit>,
    /// No payload: the frame is dropped.
    pub k_empty: Signal<Out, Bit>,
    /// Position behind the frame.
    pub k_end: Signal<Out, Bits<16>>,
    pub k_ready: Signal<In, Bit>,
    pub starved: Signal<Out, Bit>,
    pub waited: Signal<Out, Bit>,
    pub drop_buffer: Signal<Out, Bit>,
    pub drop_disabled_late: Signal<Out, Bit>,
    pub busy: Signal<Out, Bit>,
    state: DFF<Bits<3>>,
    waiting: DFF<Bit>,
    discard: DFF<Bit>,
    fits: DFF<Bit>,
    address: DFF<Bits<64>>,
    buffer: DFF<Bits<16>>,
    cookie: DFF<Bits<32>>,
    left: DFF<Bits<14>>,
    position: DFF<Bits<16>>,
    behind: DFF<Bits<16>>,
    room: DFF<Bits<14>>,
    take: DFF<Bits<14>>,
    last: DFF<Bit>,
    empty: DFF<Bit>,
    hungry: Signal<Local, Bit>,
    limit: Signal<Local, Bits<14>>,
    offset: Signal<Local, Bits<14>>,
    refuse: Signal<Local, Bit>,
    least_limit: Constant<Bits<14>>,
    one: Constant<Bits<14>>,
    round: Constant<Bits<16>>,
}

impl<const K: usize> Default for Dma<K> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            active: Default::default(),
            mps: Default::default(),
            m_valid: Default::default(),
            m_length: Default::default(),
            m_ready: Default::default(),
            d_valid: Default::default(),
            d_data: Default::default(),
            d_ready: Default::default(),
            c_room: Default::default(),
            c_valid: Default::default(),
            c_cookie: Default::default(),
            k_valid: Default::default(),
            k_address: Default::default(),
            k_position: Default::default(),
            k_bytes: Default::default(),
            k_last: Default::default(),
            k_empty: Default::default(),
            k_end: Default::default(),
            k_ready: Default::default(),
            starved: Default::default(),
            waited: Default::default(),
            drop_buffer: Default::default(),
            drop_disabled_late: Default::default(),
            busy: Default::default(),
            state: Default::default(),
            waiting: Default::default(),
            discard: Default::default(),
            fits: Default::default(),
            address: Default::default(),
            buffer: Default::default(),
            cookie: Default::default(),
            left: Default::default(),
            position: Default::default(),
            behind: Default::default(),
            room: Default::default(),
            take: Default::default(),
            last: Default::default(),
            empty: Default::default(),
            hungry: Default::default(),
            limit: Default::default(),
            offset: Default::default(),
            refuse: Default::default(),
            least_limit: Constant::new(128.into()),
            one: Constant::new(1.into()),
            round: Constant::new((K - 1).to_bits()),
        }
    }
}

impl<const K: usize> Logic for Dma<K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, waiting, discard, fits, address, buffer, cookie, left, position, behind);
        dff_setup!(self, clock, room, take, last, empty);

        self.m_ready.next = false;
        self.d_ready.next = false;
        self.c_valid.next = false;
        self.k_valid.next = false;
        self.drop_buffer.next = false;
        self.drop_disabled_late.next = false;
        self.hungry.next = false;
        self.refuse.next = self.discard.q.val() | !self.fits.q.val();
        self.limit.next = self.least_limit.val() << self.mps.val();
        self.offset.next =
            self.address.q.val().get_bits::<14>(0) & bit_cast::<14, 14>(self.limit.val() - self.one.val());

        match self.state.q.val().index() {
            // A frame and a descriptor.
            0 => {
                self.hungry.next = self.m_valid.val() & self.active.val() & !self.d_valid.val();
                self.left.d.next = self.m_length.val();
                self.address.d.next = self.d_data.val().get_bits::<64>(0);
                self.buffer.d.next = self.d_data.val().get_bits::<16>(64);
                self.cookie.d.next = self.d_data.val().get_bits::<32>(96);
                self.discard.d.next = !self.active.val();
                if self.m_valid.val() & (!self.active.val() | (self.d_valid.val() & self.c_room.val())) {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.fits.d.next = bit_cast::<16, 14>(self.left.q.val()) <= self.buffer.q.val();
                self.behind.d.next =
                    (self.position.q.val() + bit_cast::<16, 14>(self.left.q.val()) + self.round.val())
                        & !self.round.val();
                self.state.d.next = 2.into();
            }
            // The decision.
            2 => {
                self.m_ready.next = true;
                self.empty.d.next = self.refuse.val();
                self.last.d.next = self.refuse.val();
                if self.refuse.val() {
                    self.drop_disabled_late.next = self.discard.q.val();
                    self.drop_buffer.next = !self.discard.q.val();
                    self.state.d.next = 5.into();
                } else {
                    self.d_ready.next = true;
                    self.c_valid.next = true;
                    self.state.d.next = 3.into();
                }
            }
            // Bytes to the next multiple of MPS.
            3 => {
                self.room.d.next = self.limit.val() - self.offset.val();
                self.state.d.next = 4.into();
            }
            4 => {
                self.take.d.next = self.room.q.val();
                self.last.d.next = false;
                if self.left.q.val() <= self.room.q.val() {
                    self.take.d.next = self.left.q.val();
                    self.last.d.next = true;
                }
                self.state.d.next = 5.into();
            }
            // The chunk.
            5 => {
                self.k_valid.next = true;
                if self.k_ready.val() {
                    self.state.d.next = 3.into();
                    self.address.d.next = self.address.q.val() + bit_cast::<64, 14>(self.take.q.val());
                    self.position.d.next = self.position.q.val() + bit_cast::<16, 14>(self.take.q.val());
                    self.left.d.next = self.left.q.val() - self.take.q.val();
                    if self.last.q.val() {
                        self.position.d.next = self.behind.q.val();
                        self.state.d.next = 0.into();
                    }
                }
            }
            _ => {
                self.state.d.next = 0.into();
            }
        }

        // A frame counts as having waited once, in the first cycle.
        self.starved.next = self.hungry.val();
        self.waited.next = self.hungry.val() & !self.waiting.q.val();
        if self.hungry.val() {
            self.waiting.d.next = true;
        }
        if self.m_ready.val() {
            self.waiting.d.next = false;
        }

        self.c_cookie.next = self.cookie.q.val();
        self.k_address.next = self.address.q.val();
        self.k_position.next = self.position.q.val();
        self.k_bytes.next = self.take.q.val();
        self.k_last.next = self.last.q.val();
        self.k_empty.next = self.empty.q.val();
        self.k_end.next = self.behind.q.val();
        self.busy.next = self.state.q.val() != 0;

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.waiting.d.next = false;
            self.position.d.next = 0.into();
        }
    }
}

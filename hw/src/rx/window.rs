//! The first 128 bytes of a frame, gathered from beats of any width.
//!
//! ```text
//! beat → word 0 | word 1 | … → window
//! ```
//!
//! The window of a frame stands from the cycle after its last beat until the cycle of the next frame's first beat,
//! that one included. Bytes behind the end of a short frame are left over from earlier ones: the user
//! masks them by the frame's length. A beat a cycle.

use crate::common::join::Join;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N words of W bits, N = max(1, 1024 / W).
#[derive(LogicBlock)]
pub struct Window<const W: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_first: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    /// Byte i of the frame in bits 8i+7:8i.
    pub window: Signal<Out, Bits<1024>>,
    // Word 0 holds the first beat.
    words: [DFF<Bits<W>>; N],
    // The word that comes next, a bit each; none behind the last.
    turn: DFF<Bits<16>>,
    turn_now: Signal<Local, Bits<16>>,
    gather: Join<W, N, 1024>,
    one: Constant<Bits<16>>,
}

impl<const W: usize, const N: usize> Default for Window<W, N> {
    fn default() -> Self {
        assert!(N == (1024 / W).max(1) && N <= 16);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            beat_valid: Default::default(),
            beat_first: Default::default(),
            beat_data: Default::default(),
            window: Default::default(),
            words: std::array::from_fn(|_| Default::default()),
            turn: Default::default(),
            turn_now: Default::default(),
            gather: Default::default(),
            one: Constant::new(1.into()),
        }
    }
}

impl<const W: usize, const N: usize> Logic for Window<W, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn);
        for i in 0_usize..N {
            self.words[i].clock.next = self.clock.val();
            self.words[i].d.next = self.words[i].q.val();
        }
        self.turn_now.next = self.turn.q.val();
        if self.beat_first.val() {
            self.turn_now.next = self.one.val();
        }
        if self.beat_valid.val() {
            self.turn.d.next = self.turn_now.val() << 1;
            for i in 0_usize..N {
                if self.turn_now.val().get_bit(i) {
                    self.words[i].d.next = self.beat_data.val();
                }
            }
        }
        for i in 0_usize..N {
            self.gather.part[i].next = self.words[i].q.val();
        }
        self.window.next = self.gather.whole.val();
        if self.reset.val() {
            self.turn.d.next = 0.into();
        }
    }
}

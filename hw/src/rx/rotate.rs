//! Cuts beats out of words that follow one another: each is rotated, and bytes of two are joined.
//!
//! ```text
//! word → register → whole dwords → bytes ─┬──────────→ join → beat
//!                                         └→ earlier ──┘
//! ```
//!
//! A word that is no beat (`r_beat` 0) is there for the next one, which needs its upper bytes. Three cycles.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits a word, of 2^Q bytes.
#[derive(LogicBlock)]
pub struct Rotate<const W: usize, const Q: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_beat: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    /// Bytes by which the beats are ahead of the words.
    pub r_turn: Signal<In, Bits<Q>>,
    pub read_data: Signal<In, Bits<W>>,
    pub valid: Signal<Out, Bit>,
    pub last: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    // Registered, coarsely and finely rotated.
    x_valid: DFF<Bit>,
    x_beat: DFF<Bit>,
    x_last: DFF<Bit>,
    x_turn: DFF<Bits<Q>>,
    x_word: DFF<Bits<W>>,
    y_valid: DFF<Bit>,
    y_beat: DFF<Bit>,
    y_last: DFF<Bit>,
    y_turn: DFF<Bits<Q>>,
    y_word: DFF<Bits<W>>,
    z_valid: DFF<Bit>,
    z_beat: DFF<Bit>,
    z_last: DFF<Bit>,
    z_word: DFF<Bits<W>>,
    z_mask: DFF<Bits<W>>,
    earlier: DFF<Bits<W>>,
    coarse: Signal<Local, Bits<W>>,
    fine: Signal<Local, Bits<W>>,
    gap: Signal<Local, Bits<10>>,
    width: Constant<Bits<10>>,
    eight: Constant<Bits<10>>,
    ones: Constant<Bits<W>>,
}

impl<const W: usize, const Q: usize> Default for Rotate<W, Q> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            r_valid: Default::default(),
            r_beat: Default::default(),
            r_last: Default::default(),
            r_turn: Default::default(),
            read_data: Default::default(),
            valid: Default::default(),
            last: Default::default(),
            data: Default::default(),
            x_valid: Default::default(),
            x_beat: Default::default(),
            x_last: Default::default(),
            x_turn: Default::default(),
            x_word: Default::default(),
            y_valid: Default::default(),
            y_beat: Default::default(),
            y_last: Default::default(),
            y_turn: Default::default(),
            y_word: Default::default(),
            z_valid: Default::default(),
            z_beat: Default::default(),
            z_last: Default::default(),
            z_word: Default::default(),
            z_mask: Default::default(),
            earlier: Default::default(),
            coarse: Default::default(),
            fine: Default::default(),
            gap: Default::default(),
            width: Constant::new(W.to_bits()),
            eight: Constant::new(8.into()),
            ones: Constant::new(!Bits::default()),
        }
    }
}

impl<const W: usize, const Q: usize> Logic for Rotate<W, Q> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, x_valid, x_beat, x_last, x_turn, x_word, y_valid, y_beat, y_last, y_turn, y_word);
        dff_setup!(self, clock, z_valid, z_beat, z_last, z_word, z_mask, earlier);

        self.x_valid.d.next = self.r_valid.val();
        self.x_beat.d.next = self.r_beat.val();
        self.x_last.d.next = self.r_last.val();
        self.x_turn.d.next = self.r_turn.val();
        self.x_word.d.next = self.read_data.val();
        self.coarse.next = self.x_word.q.val();
        for i in 2_usize..Q {
            if self.x_turn.q.val().get_bit(i) {
                self.coarse.next = (self.coarse.val() >> (self.eight.val() << i.to_bits::<10>()))
                    | (self.coarse.val() << (self.width.val() - (self.eight.val() << i.to_bits::<10>())));
            }
        }
        self.y_valid.d.next = self.x_valid.q.val();
        self.y_beat.d.next = self.x_beat.q.val();
        self.y_last.d.next = self.x_last.q.val();
        self.y_turn.d.next = self.x_turn.q.val();
        self.y_word.d.next = self.coarse.val();
        self.fine.next = self.y_word.q.val();
        for i in 0_usize..2 {
            if self.y_turn.q.val().get_bit(i) {
                self.fine.next = (self.fine.val() >> (self.eight.val() << i.to_bits::<10>()))
                    | (self.fine.val() << (self.width.val() - (self.eight.val() << i.to_bits::<10>())));
            }
        }
        self.z_valid.d.next = self.y_valid.q.val();
        self.z_beat.d.next = self.y_beat.q.val();
        self.z_last.d.next = self.y_last.q.val();
        self.z_word.d.next = self.fine.val();
        // Bytes from the later word: the upper `turn`, or all when there is but one word.
        self.gap.next = self.width.val() - (bit_cast::<10, Q>(self.y_turn.q.val()) << 3);
        self.z_mask.d.next = self.ones.val() << self.gap.val();
        if self.y_turn.q.val() == 0 {
            self.z_mask.d.next = self.ones.val();
        }
        if self.z_valid.q.val() {
            self.earlier.d.next = self.z_word.q.val();
        }
        self.valid.next = self.z_beat.q.val();
        self.last.next = self.z_last.q.val();
        self.data.next =
            (self.z_word.q.val() & self.z_mask.q.val()) | (self.earlier.q.val() & !self.z_mask.q.val());

        if self.reset.val() {
            self.x_beat.d.next = false;
            self.y_beat.d.next = false;
            self.z_beat.d.next = false;
        }
    }
}

//! What becomes of a frame: exact filter, then RX_MODE, then address hash, else dropped.
//!
//! The decision is there one cycle after the result: drop in bit 0, RSS 1, queue 5:2, filter 6, tag 22:7. An action
//! that the contract does not name (3) drops.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(LogicBlock)]
pub struct Decide {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The build has filters; else every frame is taken.
    pub enabled: Signal<In, Bit>,
    /// RX_MODE.
    pub mode: Signal<In, Bits<32>>,
    /// HASH_FILTER.
    pub hash_filter: Signal<In, Bits<32>>,
    pub result_valid: Signal<In, Bit>,
    pub hit: Signal<In, Bit>,
    /// Word 3 of the row that matched: action, queue and tag lie as in HASH_FILTER.
    pub what: Signal<In, Bits<32>>,
    pub dst: Signal<In, Bits<2>>,
    /// The destination is in the address hash table.
    pub listed: Signal<In, Bit>,
    pub valid: Signal<Out, Bit>,
    pub decision: Signal<Out, Bits<23>>,
    there: DFF<Bit>,
    word: DFF<Bits<23>>,
    multicast: Signal<Local, Bit>,
    other: Signal<Local, Bit>,
    plain: Signal<Local, Bit>,
    by_hash: Signal<Local, Bit>,
    rule: Signal<Local, Bits<32>>,
    ruled: Signal<Local, Bits<23>>,
    drop: Constant<Bits<23>>,
    rss: Constant<Bits<23>>,
    filter: Constant<Bits<23>>,
}

impl Default for Decide {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enabled: Default::default(),
            mode: Default::default(),
            hash_filter: Default::default(),
            result_valid: Default::default(),
            hit: Default::default(),
            what: Default::default(),
            dst: Default::default(),
            listed: Default::default(),
            valid: Default::default(),
            decision: Default::default(),
            there: Default::default(),
            word: Default::default(),
            multicast: Default::default(),
            other: Default::default(),
            plain: Default::default(),
            by_hash: Default::default(),
            rule: Default::default(),
            ruled: Default::default(),
            drop: Constant::new(1.into()),
            rss: Constant::new(2.into()),
            filter: Constant::new(64.into()),
        }
    }
}

impl Logic for Decide {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, there, word);
        self.multicast.next = self.dst.val() == 2;
        self.other.next = self.dst.val() == 3;
        // Own address, broadcast, or a mode.
        self.plain.next = (self.mode.val().get_bit(0) | !self.dst.val().get_bit(1))
            | (self.multicast.val() & self.mode.val().get_bit(1));
        self.by_hash.next = self.listed.val()
            & ((self.multicast.val() & self.mode.val().get_bit(2)) | (self.other.val() & self.mode.val().get_bit(3)));

        self.rule.next = self.hash_filter.val();
        if self.hit.val() {
            self.rule.next = self.what.val();
        }
        self.ruled.next = (self.filter.val() | (bit_cast::<23, 4>(self.rule.val().get_bits::<4>(8)) << 2))
            | (bit_cast::<23, 16>(self.rule.val().get_bits::<16>(16)) << 7);
        if self.rule.val().get_bit(5) {
            self.ruled.next = self.ruled.val() | self.drop.val();
        } else if !self.rule.val().get_bit(4) {
            self.ruled.next = self.ruled.val() | self.rss.val();
        }

        self.there.d.next = self.result_valid.val();
        self.word.d.next = self.drop.val();
        if !self.enabled.val() {
            self.word.d.next = self.rss.val();
        } else if self.hit.val() {
            self.word.d.next = self.ruled.val();
        } else if self.plain.val() {
            self.word.d.next = self.rss.val();
        } else if self.by_hash.val() {
            self.word.d.next = self.ruled.val();
        }
        self.valid.next = self.there.q.val();
        self.decision.next = self.word.q.val();
        if self.reset.val() {
            self.there.d.next = false;
        }
    }
}

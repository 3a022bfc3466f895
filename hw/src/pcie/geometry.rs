//! Where a header ends in a stream of W bits: the constants that TLP blocks need of W. Wires only.

use rust_hdl_core::prelude::*;

/// W data bits in L dwords a beat.
#[derive(LogicBlock)]
pub struct Geometry<const W: usize, const L: usize> {
    /// L.
    pub lanes: Signal<Out, Bits<12>>,
    /// W and 2 W.
    pub beat: Signal<Out, Bits<16>>,
    pub two_beats: Signal<Out, Bits<16>>,
    /// Of the first six dwords, the bits that the second and the third beat bring.
    pub second: Signal<Out, Bits<192>>,
    pub third: Signal<Out, Bits<192>>,
    /// Beat, lane and bit at which dword 3 is, so the payload behind a header of three dwords; bits from there on.
    pub beat3: Signal<Out, Bits<2>>,
    pub lane3: Signal<Out, Bits<12>>,
    pub bit3: Signal<Out, Bits<16>>,
    pub rest3: Signal<Out, Bits<16>>,
    /// The same for dword 4.
    pub beat4: Signal<Out, Bits<2>>,
    pub bit4: Signal<Out, Bits<16>>,
    pub rest4: Signal<Out, Bits<16>>,
    lanes_is: Constant<Bits<12>>,
    beat_is: Constant<Bits<16>>,
    two_beats_is: Constant<Bits<16>>,
    second_is: Constant<Bits<192>>,
    third_is: Constant<Bits<192>>,
    beat3_is: Constant<Bits<2>>,
    lane3_is: Constant<Bits<12>>,
    bit3_is: Constant<Bits<16>>,
    rest3_is: Constant<Bits<16>>,
    beat4_is: Constant<Bits<2>>,
    bit4_is: Constant<Bits<16>>,
    rest4_is: Constant<Bits<16>>,
}

impl<const W: usize, const L: usize> Default for Geometry<W, L> {
    fn default() -> Self {
        assert_eq!(W, 32 * L);
        let beat = |n: usize| (n * W..192.min((n + 1) * W)).fold(Bits::default(), |mask: Bits<192>, bit| mask.replace_bit(bit, true));
        let bit = |dword: usize| (dword % L * 32) as u64;
        Self {
            lanes: Default::default(),
            beat: Default::default(),
            two_beats: Default::default(),
            second: Default::default(),
            third: Default::default(),
            beat3: Default::default(),
            lane3: Default::default(),
            bit3: Default::default(),
            rest3: Default::default(),
            beat4: Default::default(),
            bit4: Default::default(),
            rest4: Default::default(),
            lanes_is: Constant::new((L as u64).to_bits()),
            beat_is: Constant::new((W as u64).to_bits()),
            two_beats_is: Constant::new((2 * W as u64).to_bits()),
            second_is: Constant::new(beat(1)),
            third_is: Constant::new(beat(2)),
            beat3_is: Constant::new((3 / L as u64).to_bits()),
            lane3_is: Constant::new((3 % L as u64).to_bits()),
            bit3_is: Constant::new(bit(3).to_bits()),
            rest3_is: Constant::new((W as u64 - bit(3)).to_bits()),
            beat4_is: Constant::new((4 / L as u64).to_bits()),
            bit4_is: Constant::new(bit(4).to_bits()),
            rest4_is: Constant::new((W as u64 - bit(4)).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize> Logic for Geometry<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        self.lanes.next = self.lanes_is.val();
        self.beat.next = self.beat_is.val();
        self.two_beats.next = self.two_beats_is.val();
        self.second.next = self.second_is.val();
        self.third.next = self.third_is.val();
        self.beat3.next = self.beat3_is.val();
        self.lane3.next = self.lane3_is.val();
        self.bit3.next = self.bit3_is.val();
        self.rest3.next = self.rest3_is.val();
        self.beat4.next = self.beat4_is.val();
        self.bit4.next = self.bit4_is.val();
        self.rest4.next = self.rest4_is.val();
    }
}

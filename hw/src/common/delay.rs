//! A word, some cycles later: brings results of pipelines of different depth together.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits, a cycle later.
#[derive(LogicBlock, Default)]
pub struct Step<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, Bits<W>>,
    pub q: Signal<Out, Bits<W>>,
    held: DFF<Bits<W>>,
}

impl<const W: usize> Logic for Step<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.held.d.next = self.d.val();
        self.q.next = self.held.q.val();
    }
}

/// W bits, N cycles later.
#[derive(LogicBlock)]
pub struct Delay<const W: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, Bits<W>>,
    pub q: Signal<Out, Bits<W>>,
    step: [Step<W>; N],
}

impl<const W: usize, const N: usize> Default for Delay<W, N> {
    fn default() -> Self {
        assert!(N > 0, "a delay of no cycles is a wire");
        Self {
            clock: Default::default(),
            d: Default::default(),
            q: Default::default(),
            step: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<const W: usize, const N: usize> Logic for Delay<W, N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.q.next = self.d.val();
        for i in 0_usize..N {
            self.step[i].clock.next = self.clock.val();
            self.step[i].d.next = self.q.val();
            self.q.next = self.step[i].q.val();
        }
    }
}

//! A word, some cycles later: brings results of pipelines of different depth together.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// W bits, N cycles later.
#[derive(LogicBlock)]
pub struct Delay<const W: usize, const N: usize> {
    pub clock: Signal<In, Clock>,
    pub d: Signal<In, Bits<W>>,
    pub q: Signal<Out, Bits<W>>,
    stage: [DFF<Bits<W>>; N],
}

impl<const W: usize, const N: usize> Default for Delay<W, N> {
    fn default() -> Self {
        assert!(N > 0, "a delay of no cycles is a wire");
        Self {
            clock: Default::default(),
            d: Default::default(),
            q: Default::default(),
            stage: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<const W: usize, const N: usize> Logic for Delay<W, N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.q.next = self.d.val();
        for i in 0_usize..N {
            self.stage[i].clock.next = self.clock.val();
            self.stage[i].d.next = self.q.val();
            self.q.next = self.stage[i].q.val();
        }
    }
}

//! The descriptors of N queues: prefetch of each, one store, one port for their reads, one for what they hold.
//!
//! ```text
//! registers ─→ prefetch (N) ─→ fan_in ─→ r_*
//! t_* (a beat) ─→ whose, and where ─→ store ─→ d_data
//! want ─→ that queue's first ─→ store        └─ d_valid (what has arrived)
//! ```
//!
//! `d_valid` and `d_data` belong to the queue that `want` named in the cycle before. `d_take` pops that descriptor, and
//! in the next cycle the one behind it may show: a descriptor a cycle, of one queue or of several. A queue is
//! not shown while it forgets what it has. Tags: queue q has `first_tag` + q mod 8.

use crate::read::fan_in::FanIn;
use crate::read::prefetch::Prefetch;
use crate::read::store::Store;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// N queues, 1 to 16; W bits a beat; G, the larger of W and 128; B = G / 64; 2^A = 128 N / B, rounded up.
#[derive(LogicBlock)]
pub struct Descriptors<const W: usize, const N: usize, const G: usize, const B: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A multiple of 8.
    pub first_tag: Signal<In, Bits<8>>,
    /// Of all tags.
    pub dead: Signal<In, Bits<32>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub enable: [Signal<In, Bit>; N],
    pub stopped: [Signal<In, Bit>; N],
    pub base: [Signal<In, Bits<52>>; N],
    pub size_log2: [Signal<In, Bits<4>>; N],
    pub tail: [Signal<In, Bits<16>>; N],
    pub pthresh: [Signal<In, Bits<8>>; N],
    pub hthresh: [Signal<In, Bits<8>>; N],
    pub batch: [Signal<In, Bits<8>>; N],
    pub low_water: [Signal<In, Bits<16>>; N],
    pub r_valid: Signal<Out, Bit>,
    pub r_addr: Signal<Out, Bits<64>>,
    pub r_bytes: Signal<Out, Bits<13>>,
    pub r_tag: Signal<Out, Bits<8>>,
    pub r_ready: Signal<In, Bit>,
    pub t_valid: Signal<In, Bit>,
    pub t_data: Signal<In, Bits<W>>,
    pub t_tag: Signal<In, Bits<8>>,
    pub t_lanes: Signal<In, Bits<5>>,
    pub t_done: Signal<In, Bit>,
    pub t_done_tag: Signal<In, Bits<8>>,
    pub t_done_cause: Signal<In, Bits<4>>,
    pub want: Signal<In, Bits<4>>,
    pub d_valid: Signal<Out, Bit>,
    pub d_data: Signal<Out, Bits<128>>,
    pub d_take: Signal<In, Bit>,
    pub head: [Signal<Out, Bits<16>>; N],
    pub chip: [Signal<Out, Bits<7>>; N],
    pub read_pulse: [Signal<Out, Bit>; N],
    pub read_count: [Signal<Out, Bits<6>>; N],
    pub low_event: [Signal<Out, Bit>; N],
    pub error: [Signal<Out, Bit>; N],
    pub cause: [Signal<Out, Bits<4>>; N],
    pub idle: [Signal<Out, Bit>; N],
    queue: [Prefetch; N],
    fan_in: FanIn<N>,
    store: Store<W, G, B, A>,
    // It comes from afar.
    mrrs_now: DFF<Bits<3>>,
    tag: [Signal<Local, Bits<8>>; N],
    dead_here: DFF<Bits<8>>,
    dead_twice: Signal<Local, Bits<16>>,
    // The beat that came, and where it goes.
    whose: Signal<Local, Bits<4>>,
    place: Signal<Local, Bits<7>>,
    ours: Signal<Local, Bit>,
    beat_valid: DFF<Bit>,
    beat_queue: DFF<Bits<4>>,
    beat_place: DFF<Bits<7>>,
    beat_lanes: DFF<Bits<5>>,
    beat_data: DFF<Bits<W>>,
    // The queue that is wanted; the one that shows.
    pop: Signal<Local, Bit>,
    shown: DFF<Bits<4>>,
    valid: DFF<Bit>,
}

impl<const W: usize, const N: usize, const G: usize, const B: usize, const A: usize> Default for Descriptors<W, N, G, B, A> {
    fn default() -> Self {
        assert!((1..=16).contains(&N) && 1 << A >= 128 * N / B);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            first_tag: Default::default(),
            dead: Default::default(),
            mrrs: Default::default(),
            enable: std::array::from_fn(|_| Default::default()),
            stopped: std::array::from_fn(|_| Default::default()),
            base: std::array::from_fn(|_| Default::default()),
            size_log2: std::array::from_fn(|_| Default::default()),
            tail: std::array::from_fn(|_| Default::default()),
            pthresh: std::array::from_fn(|_| Default::default()),
            hthresh: std::array::from_fn(|_| Default::default()),
            batch: std::array::from_fn(|_| Default::default()),
            low_water: std::array::from_fn(|_| Default::default()),
            r_valid: Default::default(),
            r_addr: Default::default(),
            r_bytes: Default::default(),
            r_tag: Default::default(),
            r_ready: Default::default(),
            t_valid: Default::default(),
            t_data: Default::default(),
            t_tag: Default::default(),
            t_lanes: Default::default(),
            t_done: Default::default(),
            t_done_tag: Default::default(),
            t_done_cause: Default::default(),
            want: Default::default(),
            d_valid: Default::default(),
            d_data: Default::default(),
            d_take: Default::default(),
            head: std::array::from_fn(|_| Default::default()),
            chip: std::array::from_fn(|_| Default::default()),
            read_pulse: std::array::from_fn(|_| Default::default()),
            read_count: std::array::from_fn(|_| Default::default()),
            low_event: std::array::from_fn(|_| Default::default()),
            error: std::array::from_fn(|_| Default::default()),
            cause: std::array::from_fn(|_| Default::default()),
            idle: std::array::from_fn(|_| Default::default()),
            queue: std::array::from_fn(|_| Default::default()),
            fan_in: Default::default(),
            store: Default::default(),
            mrrs_now: Default::default(),
            tag: std::array::from_fn(|_| Default::default()),
            dead_here: Default::default(),
            dead_twice: Default::default(),
            whose: Default::default(),
            place: Default::default(),
            ours: Default::default(),
            beat_valid: Default::default(),
            beat_queue: Default::default(),
            beat_place: Default::default(),
            beat_lanes: Default::default(),
            beat_data: Default::default(),
            pop: Default::default(),
            shown: Default::default(),
            valid: Default::default(),
        }
    }
}

impl<const W: usize, const N: usize, const G: usize, const B: usize, const A: usize> Logic for Descriptors<W, N, G, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat_valid, beat_queue, beat_place, beat_lanes, beat_data, shown, valid);
        dff_setup!(self, clock, mrrs_now, dead_here);
        self.mrrs_now.d.next = self.mrrs.val();
        self.fan_in.clock.next = self.clock.val();
        self.fan_in.reset.next = self.reset.val();
        self.store.clock.next = self.clock.val();
        self.store.reset.next = self.reset.val();

        // Requests.
        self.fan_in.first_tag.next = self.first_tag.val();
        self.fan_in.t_done.next = self.t_done.val();
        self.fan_in.t_done_tag.next = self.t_done_tag.val();
        self.r_valid.next = self.fan_in.a_valid.val();
        self.r_addr.next = self.fan_in.a_addr.val();
        self.r_bytes.next = self.fan_in.a_bytes.val();
        self.r_tag.next = self.fan_in.a_tag.val();
        self.fan_in.a_ready.next = self.r_ready.val();

        // What is taken.
        self.pop.next = self.valid.q.val() & self.d_take.val();

        // Each queue, what it says of the beat, and the one that is wanted.
        self.dead_here.d.next = bit_cast::<8, 32>(self.dead.val() >> self.first_tag.val());
        self.dead_twice.next =
            bit_cast::<16, 8>(self.dead_here.q.val()) | (bit_cast::<16, 8>(self.dead_here.q.val()) << 8);
        self.ours.next = false;
        self.whose.next = 0.into();
        self.place.next = 0.into();
        self.shown.d.next = self.want.val();
        self.store.r_queue.next = self.want.val();
        self.store.r_slot.next = 0.into();
        self.valid.d.next = false;
        for i in 0_usize..N {
            self.tag[i].next = self.first_tag.val() | (i.to_bits::<8>() & 7);
            self.queue[i].clock.next = self.clock.val();
            self.queue[i].reset.next = self.reset.val();
            self.queue[i].my_tag.next = self.tag[i].val();
            self.queue[i].dead.next = self.dead_twice.val().get_bit(i);
            self.queue[i].mrrs.next = self.mrrs_now.q.val();
            self.queue[i].enable.next = self.enable[i].val();
            self.queue[i].stopped.next = self.stopped[i].val();
            self.queue[i].base.next = self.base[i].val();
            self.queue[i].size_log2.next = self.size_log2[i].val();
            self.queue[i].tail.next = self.tail[i].val();
            self.queue[i].pthresh.next = self.pthresh[i].val();
            self.queue[i].hthresh.next = self.hthresh[i].val();
            self.queue[i].batch.next = self.batch[i].val();
            self.queue[i].low_water.next = self.low_water[i].val();
            self.fan_in.r_valid[i].next = self.queue[i].r_valid.val();
            self.fan_in.r_addr[i].next = self.queue[i].r_addr.val();
            self.fan_in.r_bytes[i].next = self.queue[i].r_bytes.val();
            self.queue[i].r_ready.next = self.fan_in.r_ready[i].val();
            self.queue[i].t_valid.next = self.t_valid.val();
            self.queue[i].t_lanes.next = self.t_lanes.val();
            self.queue[i].t_tag.next = self.t_tag.val();
            self.queue[i].t_done.next = self.t_done.val();
            self.queue[i].t_done_tag.next = self.t_done_tag.val();
            self.queue[i].t_done_cause.next = self.t_done_cause.val();
            if self.queue[i].mine.val() {
                self.ours.next = true;
                self.whose.next = self.whose.val() | i.to_bits::<4>();
                self.place.next = self.place.val() | self.queue[i].place.val();
            }
            if self.want.val() == i.to_bits::<4>() {
                self.store.r_slot.next = self.queue[i].front.val();
                self.valid.d.next = self.queue[i].ready.val();
            }
            self.queue[i].take.next = self.pop.val() & (self.shown.q.val() == i.to_bits::<4>());
            self.head[i].next = self.queue[i].head.val();
            self.chip[i].next = self.queue[i].chip.val();
            self.read_pulse[i].next = self.queue[i].read_pulse.val();
            self.read_count[i].next = self.queue[i].read_count.val();
            self.low_event[i].next = self.queue[i].low_event.val();
            self.error[i].next = self.queue[i].error.val();
            self.cause[i].next = self.queue[i].cause.val();
            self.idle[i].next = self.queue[i].idle.val();
        }

        // Into the store.
        self.beat_valid.d.next = self.ours.val();
        self.beat_queue.d.next = self.whose.val();
        self.beat_place.d.next = self.place.val();
        self.beat_lanes.d.next = self.t_lanes.val();
        self.beat_data.d.next = self.t_data.val();
        self.store.w_valid.next = self.beat_valid.q.val();
        self.store.w_queue.next = self.beat_queue.q.val();
        self.store.w_place.next = self.beat_place.q.val();
        self.store.w_lanes.next = self.beat_lanes.q.val();
        self.store.w_data.next = self.beat_data.q.val();

        self.d_valid.next = self.valid.q.val();
        self.d_data.next = self.store.r_data.val();

        if self.reset.val() {
            self.beat_valid.d.next = false;
            self.valid.d.next = false;
        }
    }
}

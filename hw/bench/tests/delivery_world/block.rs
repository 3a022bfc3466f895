//! The block at its four widths behind one trait.

use super::{Frame, Sample};
use crate::tlp::Word;
use ferronic_bench::models::{delivery_128, delivery_256, delivery_512, delivery_64};
use ferronic_verilated::PowerUp;

/// What the world needs of any width.
pub trait Delivery {
    const BYTES: usize;
    fn new(seed: u64) -> Self;
    fn frame(&mut self, frame: Option<(&[u32; 8], &Frame)>, apart: bool);
    fn queue(&mut self, active: u16, sample: &Sample);
    fn inputs(&mut self, reset: bool, mps: u8, hold: u32, room: u16, pay_ready: bool, read: &[u8]);
    fn settle(&mut self);
    fn clock_edge(&mut self);
    fn out(&self) -> Out;
}

/// All outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    pub m_ready: bool,
    pub d_queue: usize,
    pub d_take: bool,
    pub completion: Option<(usize, [u32; 8])>,
    pub holds: Option<usize>,
    pub word: usize,
    pub free: u16,
    pub pay: Option<Pay>,
    pub ends: (bool, bool, usize),
    pub wait: (bool, bool, usize),
    pub events: ([bool; 6], usize),
    pub busy: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pay {
    pub address: u64,
    pub dwords: u16,
    pub first_be: u8,
    pub last_be: u8,
    pub last: bool,
    pub data: Vec<u8>,
}

macro_rules! delivery {
    ($model:ty, $word:ty) => {
        impl Delivery for $model {
            const BYTES: usize = 4 * <$word as Word>::LANES;

            fn new(seed: u64) -> Self {
                <$model>::new(PowerUp::Random(seed))
            }

            fn frame(&mut self, frame: Option<(&[u32; 8], &Frame)>, apart: bool) {
                self.set_m_valid(frame.is_some());
                self.set_f_valid(frame.is_some() && !apart);
                let Some((template, frame)) = frame else { return };
                self.set_m_data(*template);
                self.set_f_drop(frame.drop);
                self.set_f_rss(frame.rss);
                self.set_f_queue(if frame.rss { !frame.queue as u8 & 15 } else { frame.queue as u8 });
                self.set_f_filter(frame.tag.is_some());
                self.set_f_tag(frame.tag.unwrap_or(0x5A5A));
            }

            fn queue(&mut self, active: u16, sample: &Sample) {
                self.set_active(active);
                self.set_d_valid(sample.descriptor.is_some());
                self.set_d_data(sample.descriptor.map_or([!0; 4], |descriptor| descriptor.encode()));
                self.set_q_scatter(sample.scatter);
                self.set_q_split(sample.split as u8);
                self.set_q_split_bytes(sample.split_bytes);
            }

            fn inputs(&mut self, reset: bool, mps: u8, hold: u32, room: u16, pay_ready: bool, read: &[u8]) {
                self.set_reset(reset);
                self.set_mps(mps);
                self.set_hold(hold);
                self.set_c_room(room);
                self.set_pay_ready(pay_ready);
                let lane = |i: usize| read.get(4 * i..4 * i + 4).map_or(0, |b| u32::from_le_bytes(b.try_into().unwrap()));
                self.set_read_data(Word::pack(&std::array::from_fn(lane)));
            }

            fn settle(&mut self) {
                self.eval();
            }

            fn clock_edge(&mut self) {
                self.set_clock(true);
                self.eval();
                self.set_clock(false);
                self.eval();
            }

            fn out(&self) -> Out {
                let events = [
                    self.e_pause(), self.e_filter(), self.e_disabled(), self.e_no_descriptor(), self.e_buffer(), self.e_cut(),
                ];
                Out {
                    m_ready: self.m_ready(),
                    d_queue: self.d_queue().into(),
                    d_take: self.d_take(),
                    completion: self.c_valid().then(|| (self.c_queue().into(), self.c_data())),
                    holds: self.holds().then(|| self.holds_queue().into()),
                    word: self.read_address().into(),
                    free: self.free(),
                    pay: self.pay_valid().then(|| Pay {
                        address: self.pay_addr(),
                        dwords: self.pay_dwords(),
                        first_be: self.pay_first_be(),
                        last_be: self.pay_last_be(),
                        last: self.pay_last(),
                        data: self.pay_data().lanes().iter().flat_map(|lane| lane.to_le_bytes()).collect(),
                    }),
                    ends: (self.gone(), self.frame(), self.frame_queue().into()),
                    wait: (self.starved(), self.waited(), self.wait_queue().into()),
                    events: (events, self.e_queue().into()),
                    busy: self.busy(),
                }
            }
        }
    };
}

delivery!(delivery_64::Delivery64, u64);
delivery!(delivery_128::Delivery128, [u32; 4]);
delivery!(delivery_256::Delivery256, [u32; 8]);
delivery!(delivery_512::Delivery512, [u32; 16]);

//! Frames that are judged once and received many times.
//!
//! Judging a frame (its layers, checksums, filters and hash) takes the model far longer than moving it. A [`Prepared`]
//! frame keeps the judgement, so that the model delivers it at the speed of memory. The rules are the same code; what is
//! left out is only their repetition.

use ferronic_contract::completion::RxCompletion;
use ferronic_contract::descriptor::RxDescriptor;
use ferronic_contract::registers::queue;
use ferronic_contract::ring::RingSize;
use ferronic_pcie::Memory;

use super::{registers, Delivery, DropCause, Fetched, Model, State};

/// Index and phase of a prepared completion are put in when it is written; until then, any ring will do.
const ANY: RingSize = RingSize::new(8).unwrap();

/// A frame with the model's judgement of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    delivery: Delivery,
    /// The completion of the frame in one buffer, at index 0.
    completion: RxCompletion,
    judgement: u64,
}

impl Prepared {
    /// The RX queue that the frame goes to.
    pub fn queue(&self) -> u8 {
        self.delivery.queue
    }
}

impl<M: Memory> Model<M> {
    /// Judges a frame by the settings as they are.
    ///
    /// # Errors
    ///
    /// The frame would be dropped before its queue has a say.
    pub fn prepare(&self, frame: &[u8]) -> Result<Prepared, DropCause> {
        let state = self.0.borrow();
        let delivery = state.at_the_wire(frame, false)?;
        let completion = delivery.completion(ANY, 0, 0);
        Ok(Prepared { delivery, completion, judgement: state.judgement })
    }

    /// Whether the settings are still those that the frame was judged by.
    pub fn is_current(&self, frame: &Prepared) -> bool {
        frame.judgement == self.0.borrow().judgement
    }

    /// Descriptors that an RX queue has for frames to come; 0 when it does not run.
    pub fn room(&self, queue: u8) -> u32 {
        let state = self.0.borrow();
        let enabled = registers::RX_ENABLE.of(state.global.get(registers::CONTROL)) == 1;
        state.rx.get(usize::from(queue)).map_or(0, |queue| match queue.running() {
            Some(_) if enabled => queue.left(),
            _ => 0,
        })
    }

    /// The prepared frame comes from the wire, as in [`Model::receive`].
    ///
    /// # Errors
    ///
    /// The frame was dropped, and its cause counted.
    pub fn receive_prepared(&self, frame: &Prepared) -> Result<(), DropCause> {
        let mut state = self.0.borrow_mut();
        state.global.count(registers::FRAMES_IN);
        state.deliver_prepared(frame).inspect_err(|cause| {
            state.rx[usize::from(frame.delivery.queue)].bank.count(cause.counter(0).1);
        })
    }
}

impl<M: Memory> State<M> {
    fn deliver_prepared(&mut self, frame: &Prepared) -> Result<(), DropCause> {
        let number = usize::from(frame.delivery.queue);
        let queue = &mut self.rx[number];
        let size = queue.running().ok_or(DropCause::QueueDisabled)?;
        let control = queue.bank.get(queue::CONTROL);
        if queue::SPLIT.of(control) == 0 {
            if let Fetched::Descriptor(words) = queue.fetch(&mut self.memory, 0) {
                let RxDescriptor { address, length, cookie } = RxDescriptor::decode(&words);
                if frame.delivery.bytes.len() <= usize::from(length) {
                    let index = queue.done();
                    // A posted write, as in `write_frame`.
                    let _ = self.memory.write(address, &frame.delivery.bytes);
                    let completion = RxCompletion { cookie, index, phase: size.phase(index), ..frame.completion };
                    self.complete(number, size, control, &[completion]);
                    return Ok(());
                }
            }
        }
        self.deliver(number, &frame.delivery).map(drop)
    }
}

//! From buffers to frames: SOP, what is between, EOP.
//!
//! Frames do not mix: the completions of a frame are one behind the other. The assembler says first whether a completion
//! fits ([`Assembler::check`]) and whether its buffer is worth keeping ([`Assembler::wants`]); then it takes it in. Of a
//! frame that is lost nothing more is kept, and what was kept goes back to the pool.

use ferronic_contract::completion::RxCompletion;
use ferronic_contract::status::{EOP, ERROR, SOP};
use ferronic_contract::MIN_FRAME;

use super::fault::RxFault;
use crate::packet::{Frame, Segment, Spare};

/// What a frame of this queue can be.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Most buffers.
    pub(super) segments: usize,
    /// Bytes of a buffer.
    pub(super) buffer: u16,
    /// Most bytes.
    pub(super) frame: u16,
}

/// Why a frame is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// No buffer could take the place of one of its own.
    NoBuffer,
    /// The core could not bring all of it.
    Cut,
}

/// A frame that has begun and not ended.
struct Open {
    /// What was kept of it.
    kept: Result<Frame, Loss>,
    segments: usize,
    bytes: u32,
}

/// Gathers the buffers of one queue's frames.
pub(super) struct Assembler {
    limits: Limits,
    spare: Spare,
    open: Option<Open>,
}

/// The status bits that tell a whole frame from any other completion, and what they are then.
const WHOLE_MASK: u32 = SOP.mask() | EOP.mask() | ERROR.mask();
const WHOLE: u32 = SOP.mask() | EOP.mask();

/// Whether the core gave the frame up with this completion.
fn cut(completion: &RxCompletion) -> bool {
    completion.status.get(EOP) == 1 && completion.status.get(ERROR) == 1
}

impl Assembler {
    pub(super) fn new(limits: Limits, buffers: u32) -> Self {
        Self { limits, spare: Spare::new(limits.segments - 1, buffers), open: None }
    }

    /// Whether the next completion can follow those taken in, and is a whole frame.
    #[inline]
    pub(super) fn check(&self, completion: &RxCompletion) -> Result<bool, RxFault> {
        let RxCompletion { length, status, .. } = *completion;
        let most = self.limits.buffer.min(self.limits.frame);
        let alone = status.0 & WHOLE_MASK == WHOLE && self.open.is_none();
        if alone && (MIN_FRAME..=most).contains(&length) {
            return Ok(true);
        }
        self.check_part(completion).map(|()| false)
    }

    /// The same for any completion.
    #[cold]
    fn check_part(&self, completion: &RxCompletion) -> Result<(), RxFault> {
        let RxCompletion { index, length, status, .. } = *completion;
        let Limits { segments, buffer, frame } = self.limits;
        let (sop, eop, cut) = (status.get(SOP) == 1, status.get(EOP) == 1, cut(completion));
        let (before, bytes) = self.open.as_ref().map_or((0, 0), |open| (open.segments, open.bytes));
        let least = match (cut, sop && eop) {
            (true, _) => 0,
            (false, true) => MIN_FRAME,
            (false, false) => 1,
        };
        if length < least || length > buffer {
            return Err(RxFault::Length { index, length, min: least, max: buffer });
        }
        if sop != self.open.is_none() {
            return Err(RxFault::Order { index, sop });
        }
        if !eop && before + 1 >= segments || before + 1 > segments {
            return Err(RxFault::Segments { index, max: segments });
        }
        let total = bytes + u32::from(length);
        if total > u32::from(frame) || eop && !cut && total < u32::from(MIN_FRAME) {
            return Err(RxFault::Frame { index, length: total, min: MIN_FRAME, max: frame });
        }
        Ok(())
    }

    /// Whether the buffer of a completion that was checked is worth keeping.
    pub(super) fn wants(&self, completion: &RxCompletion) -> bool {
        !cut(completion) && self.open.as_ref().is_none_or(|open| open.kept.is_ok())
    }

    /// Takes in a completion that was checked, with its buffer, or with why that is not kept. With the last of a frame:
    /// the frame, or why it was lost.
    pub(super) fn add(
        &mut self,
        completion: RxCompletion,
        buffer: Result<Segment, Loss>,
        prefetched_ahead: bool,
    ) -> Option<Result<Frame, Loss>> {
        let eop = completion.status.get(EOP) == 1;
        let length = u32::from(completion.length);
        let open = match self.open.take() {
            None => {
                let kept = buffer.map(|first| Frame { completion, first, rest: None, prefetched_ahead });
                Open { kept, segments: 1, bytes: length }
            }
            Some(Open { kept, segments, bytes }) => {
                let kept = kept.and_then(|frame| self.append(frame, buffer?));
                Open { kept, segments: segments + 1, bytes: bytes + length }
            }
        };
        if eop {
            return Some(open.kept);
        }
        self.open = Some(open);
        None
    }

    fn append(&self, mut frame: Frame, segment: Segment) -> Result<Frame, Loss> {
        if frame.rest.is_none() {
            frame.rest = self.spare.get();
        }
        // There are as many lists as frames of two buffers can be out.
        frame.rest.as_mut().ok_or(Loss::NoBuffer)?.push(segment);
        Ok(frame)
    }
}

/// Why the buffer of a completion that is not [wanted](Assembler::wants) is not kept.
pub(super) fn loss(completion: &RxCompletion) -> Loss {
    if cut(completion) {
        Loss::Cut
    } else {
        Loss::NoBuffer
    }
}

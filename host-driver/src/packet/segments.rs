//! The buffers of a packet: one, or several without an allocation.
//!
//! Nearly every packet is one buffer, so a packet holds its first segment itself. The list of the others is one of a
//! fixed set that an RX queue makes when it is opened, with room for the longest frame; it goes back when the packet
//! is dropped, as buffers do.

use std::cell::RefCell;
use std::rc::Rc;

use crate::pool::Buffer;

/// A buffer and how much of it is the packet's, from offset 0 on.
#[derive(Debug)]
pub struct Segment {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes of the packet in it, at most its size.
    pub length: u16,
}

impl Segment {
    /// The packet's bytes in the buffer. The length was checked against it.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes().get(..usize::from(self.length)).unwrap_or_default()
    }
}

/// Empty lists.
#[derive(Clone)]
pub(crate) struct Spare(Rc<RefCell<Vec<Vec<Segment>>>>);

impl Spare {
    /// Lists of up to `room` segments, as many as there can be packets of two and more of `buffers` buffers, and the
    /// one being gathered.
    pub(crate) fn new(room: usize, buffers: u32) -> Self {
        let lists = if room == 0 { 0 } else { buffers as usize / 2 + 1 };
        Self(Rc::new(RefCell::new((0..lists).map(|_| Vec::with_capacity(room)).collect())))
    }

    /// An empty list.
    pub(crate) fn get(&self) -> Option<Rest> {
        let segments = self.0.borrow_mut().pop()?;
        Some(Rest { segments, home: self.clone() })
    }
}

/// The segments behind the first.
pub(crate) struct Rest {
    segments: Vec<Segment>,
    home: Spare,
}

impl Rest {
    /// Adds a segment, if there is room.
    pub(crate) fn push(&mut self, segment: Segment) {
        if self.segments.len() < self.segments.capacity() {
            self.segments.push(segment);
        }
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Gives the segments out, in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Segment> + '_ {
        self.segments.drain(..)
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.segments.clear();
        self.home.0.borrow_mut().push(std::mem::take(&mut self.segments));
    }
}

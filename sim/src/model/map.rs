//! Which register group an offset of the BAR lies in.

use ferronic_contract::registers;

/// The vector of the one TX queue.
pub(super) const TX_VECTOR: usize = registers::tx_vector(0) as usize;

/// A group of registers.
pub(super) enum Group {
    Global,
    Rx(usize),
    Tx,
    Vector(usize),
    Filter,
}

/// The group of an offset, and the offset in it, in a device with so many RX queues and one TX queue.
pub(super) fn group(offset: u32, rx_queues: usize) -> Option<(Group, u32)> {
    let inside = |base: u32, stride: u32, groups: usize| {
        let rest = offset.checked_sub(base)?;
        let number = (rest / stride) as usize;
        (number < groups).then_some((number, rest % stride))
    };
    // Of the vectors of TX queues there is the first.
    let vector = |number: usize| (number.is_multiple_of(2) || number == TX_VECTOR).then_some(Group::Vector(number));
    if let Some((_, rest)) = inside(registers::GLOBAL, registers::SCRATCH.offset + 4, 1) {
        Some((Group::Global, rest))
    } else if let Some((number, rest)) = inside(registers::RX_QUEUE, registers::QUEUE_STRIDE, rx_queues) {
        Some((Group::Rx(number), rest))
    } else if let Some((_, rest)) = inside(registers::TX_QUEUE, registers::QUEUE_STRIDE, 1) {
        Some((Group::Tx, rest))
    } else if let Some((number, rest)) = inside(registers::VECTOR, registers::VECTOR_STRIDE, 2 * rx_queues) {
        Some((vector(number)?, rest))
    } else {
        let (_, rest) = inside(registers::FILTER, registers::MSIX_TABLE - registers::FILTER, 1)?;
        Some((Group::Filter, rest))
    }
}

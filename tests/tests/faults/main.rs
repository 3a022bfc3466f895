//! Faults that people hit in a PCIe core, a ring or an interrupt, each put to the whole system: the RTL, the root
//! complex, host memory and the wire, with the real driver or, where it cannot be made to do it, a raw one.
//!
//! Above each test stands which mutation of RTL or driver it would catch.

mod interrupts;
mod life;
mod live;
mod memory;
mod raw;
mod reads;
mod resets;
mod rings;
mod storms;

/// Own address in every test.
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A frame to the own address, told apart by its number; its bytes follow from length and number.
fn frame(length: usize, number: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut rng = fastrand::Rng::with_seed(number as u64 ^ (length as u64) << 32);
    rng.fill(&mut bytes);
    let header = [MAC[0], MAC[1], MAC[2], MAC[3], MAC[4], MAC[5], 2, 0, 0, 0, 0, 2, 8, 0];
    bytes[..14].copy_from_slice(&header);
    if let Some(place) = bytes.get_mut(14..18) {
        place.copy_from_slice(&(number as u32).to_be_bytes());
    }
    bytes
}

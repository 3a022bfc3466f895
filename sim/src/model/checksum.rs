//! The Internet checksum (RFC 1071).

use etherparse::checksum::Sum16BitWords;

/// The one's-complement sum of the parts' 16-bit big-endian words, never complemented; an odd last byte is padded with 0.
///
/// Each part but the last has an even number of bytes. A sum that is 0 modulo 0xFFFF is 0 only when all bytes are.
pub fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().fold(Sum16BitWords::new(), |sum, part| sum.add_slice(part));
    // The crate adds words in the machine's order (RFC 1071, section 2 (B)).
    u16::from_be(!words.ones_complement())
}

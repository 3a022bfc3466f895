//! PAUSE frames (IEEE 802.3, annex 31B).

use super::MIN_FRAME;

/// The group address of PAUSE frames.
const ADDRESS: [u8; 6] = [0x01, 0x80, 0xC2, 0x00, 0x00, 0x01];
/// The type of MAC control frames, and the opcode of PAUSE.
const CONTROL: [u8; 4] = [0x88, 0x08, 0x00, 0x01];

/// The frame by which a station asks for a pause of so many quanta of 512 bit times; 0 ends one.
pub fn pause_frame(source: [u8; 6], quanta: u16) -> Vec<u8> {
    let mut frame = [ADDRESS.as_slice(), &source, &CONTROL, &quanta.to_be_bytes()].concat();
    frame.resize(MIN_FRAME, 0);
    frame
}

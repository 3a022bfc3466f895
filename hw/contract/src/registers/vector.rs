//! Registers of an interrupt vector.
//!
//! A vector fires once and is then disarmed. Arming tells the index that software has seen: if the producer
//! has moved on, the interrupt fires at once, so no event is lost between the last look and the re-arm. Else
//! it fires when `FRAMES` events have come, or `CYCLES` after the first. A low-water event or a stopped queue
//! fires an armed vector at once, and is kept for the next arming otherwise.

use super::Access::{Ro, Rw, Wo};
use super::{reg, Register};

/// `rx-frames`.
pub const FRAMES: Register = reg("FRAMES", 0x00, Rw, "events before an interrupt, 1 to 255 (ethtool rx-frames); 1 after reset");
/// `rx-usecs`.
pub const CYCLES: Register = reg("CYCLES", 0x04, Rw, "cycles from the first event to an interrupt, 24 bits (ethtool rx-usecs); 0 fires at once");
/// Arm.
pub const ARM: Register = reg("ARM", 0x08, Wo, "arms the vector; the value is the 16-bit index that software has seen");
/// Disarm.
pub const DISARM: Register = reg("DISARM", 0x0C, Wo, "disarms the vector, whatever the value");
/// Interrupts sent.
pub const SENT: Register = reg("SENT", 0x10, Ro, "counter: interrupts raised (a masked vector's wait in its pending bit)");

/// Registers of a vector.
pub const REGISTERS: [Register; 5] = [FRAMES, CYCLES, ARM, DISARM, SENT];

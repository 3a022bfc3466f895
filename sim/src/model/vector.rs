//! An interrupt vector: fires once when armed, and forgets no event between the last look and the re-arm.
//!
//! The model has no time, so moderation is the least there is: the first event fires. A driver that is
//! right with this is right with any moderation that the core does, as later interrupts only tell more.

use ferronic_contract::registers::vector;

use super::bank::Bank;

/// A vector.
pub(super) struct Vector {
    bank: Bank,
    armed: bool,
    /// A low-water event or a stopped queue that found the vector disarmed.
    kept: bool,
    /// Fired, and nobody has been told.
    pending: bool,
}

impl Default for Vector {
    fn default() -> Self {
        let bank = Bank::new(&vector::REGISTERS, &[(vector::FRAMES, 1)]);
        Self { bank, armed: false, kept: false, pending: false }
    }
}

impl Vector {
    pub(super) fn read(&self, offset: u32) -> u32 {
        self.bank.read(offset)
    }

    /// Software writes a register; `producer` is the index up to which the queue has got.
    pub(super) fn write(&mut self, offset: u32, value: u32, producer: u16) {
        self.bank.write(offset, value);
        if offset == vector::DISARM.offset {
            self.armed = false;
        } else if offset == vector::ARM.offset {
            self.armed = true;
            let kept = std::mem::take(&mut self.kept);
            if kept || producer != value as u16 {
                self.event();
            }
        }
    }

    /// A completion or an index was written.
    pub(super) fn event(&mut self) {
        if std::mem::take(&mut self.armed) {
            self.pending = true;
            self.bank.count(vector::SENT);
        }
    }

    /// Something that software must hear of even if it does not listen now.
    pub(super) fn alarm_if(&mut self, happened: bool) {
        if happened {
            self.kept |= !self.armed;
            self.event();
        }
    }

    /// Whether it fired since the last time this was asked.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.pending)
    }
}

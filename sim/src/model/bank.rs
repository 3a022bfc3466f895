//! One group of registers: what software may read and write, by the contract's tables.

use ferronic_contract::registers::{Access, Register};

/// Words of a group: the largest, the global one, ends at 0x80.
const WORDS: usize = 32;

/// The registers of a group.
pub(super) struct Bank {
    table: &'static [Register],
    words: [u32; WORDS],
}

impl Bank {
    /// A group with the values that it has after reset; the rest is 0.
    pub(super) fn new(table: &'static [Register], after_reset: &[(Register, u32)]) -> Self {
        let mut bank = Self { table, words: [0; WORDS] };
        for &(register, value) in after_reset {
            bank.set(register, value);
        }
        bank
    }

    fn at(&self, offset: u32) -> Option<&'static Register> {
        self.table.iter().find(|register| register.offset == offset)
    }

    /// What software reads at a byte offset: 0 where nothing is, or where it may only write.
    pub(super) fn read(&self, offset: u32) -> u32 {
        match self.at(offset) {
            Some(register) if register.access != Access::Wo => self.get(*register),
            _ => 0,
        }
    }

    /// Software writes at a byte offset. What it may not write stays; bits outside of all fields are lost.
    pub(super) fn write(&mut self, offset: u32, value: u32) {
        if let Some(register) = self.at(offset).filter(|register| register.access == Access::Rw) {
            self.set(*register, value & register.bits());
        }
    }

    /// The value of a register.
    pub(super) fn get(&self, register: Register) -> u32 {
        self.words[register.offset as usize / 4]
    }

    /// Two registers as one address.
    pub(super) fn address(&self, low: Register, high: Register) -> u64 {
        u64::from(self.get(low)) | u64::from(self.get(high)) << 32
    }

    /// Changes a register, also one that software may not write.
    pub(super) fn set(&mut self, register: Register, value: u32) {
        self.words[register.offset as usize / 4] = value;
    }

    /// Adds 1 to a counter.
    pub(super) fn count(&mut self, counter: Register) {
        self.set(counter, self.get(counter).wrapping_add(1));
    }
}

//! What the driver counts, and the core's counters by name.

use ferronic_contract::registers::{self, queue, vector, Register};

use crate::device::{Device, Group};

/// The driver's RX counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxStatistics {
    /// Packets delivered.
    pub packets: u64,
    /// Bytes delivered.
    pub bytes: u64,
    /// Packets dropped because no buffer could take the place of theirs.
    pub dropped_no_buffer: u64,
    /// Packets classified by the status bits.
    pub status_path: u64,
    /// Packets classified by software.
    pub software_path: u64,
    /// Headers prefetched while the packet before was being handled.
    pub prefetched_ahead: u64,
    /// Doorbells rung.
    pub doorbells: u64,
    /// Calls of poll.
    pub polls: u64,
    /// Interrupts taken.
    pub interrupts: u64,
    /// Completions that broke the contract.
    pub bad_completions: u64,
}

/// The driver's TX counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxStatistics {
    /// Packets given to the core.
    pub packets: u64,
    /// Bytes given to the core.
    pub bytes: u64,
    /// Packets refused because the ring was full.
    pub ring_full: u64,
    /// Doorbells rung.
    pub doorbells: u64,
    /// Buffers taken back.
    pub reclaimed: u64,
    /// Index write-backs that broke the contract.
    pub bad_indices: u64,
}

/// One counter of the core: 32 bits, free-running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Group of registers: `core`, `rx0`, `tx0`, `rx0-vector` or `tx0-vector`.
    pub group: &'static str,
    /// Name, as in the contract.
    pub name: &'static str,
    /// Value.
    pub value: u32,
}

const GLOBAL: [Register; 10] = [
    registers::FRAMES_IN,
    registers::DROP_DISABLED,
    registers::DROP_UNDERSIZE,
    registers::DROP_OVERSIZE,
    registers::DROP_BAD,
    registers::DROP_FIFO,
    registers::DROP_NO_DESCRIPTOR,
    registers::FRAMES_OUT,
    registers::UNEXPECTED,
    registers::MALFORMED,
];

const QUEUE: [Register; 7] = [
    queue::READS,
    queue::DESCRIPTORS,
    queue::STARVED,
    queue::WAITED,
    queue::FRAMES,
    queue::DROP_BUFFER,
    queue::LOW_WATER_EVENTS,
];

/// Reads every counter of the core. Each is a register read: not for the data path.
pub(crate) fn read(device: &Device) -> Vec<Counter> {
    let vector_base = |number| registers::VECTOR + number * registers::VECTOR_STRIDE;
    let groups: [(&'static str, u32, &[Register]); 5] = [
        ("core", registers::GLOBAL, &GLOBAL),
        ("rx0", registers::RX_QUEUE, &QUEUE),
        ("tx0", registers::TX_QUEUE, &QUEUE),
        ("rx0-vector", vector_base(registers::rx_vector(0)), &[vector::SENT]),
        ("tx0-vector", vector_base(registers::tx_vector(0)), &[vector::SENT]),
    ];
    let mut counters = Vec::new();
    for (group, base, list) in groups {
        let registers = Group::new(device, base);
        counters.extend(list.iter().map(|&r| Counter { group, name: r.name, value: registers.read(r) }));
    }
    counters
}

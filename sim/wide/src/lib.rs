//! The core at 256 and 512 bits. No board has such a link yet: these are built to measure what the design itself can
//! do, and apart from the simulator, so that only who measures waits for them.

use ferronic_sim::core_model;

/// The Verilated cores.
pub mod models {
    ferronic_verilated::model!(pub mod nic_core_256);
    ferronic_verilated::model!(pub mod nic_core_512);
}

core_model!(models::nic_core_256::NicCore256, 32, u8, u32);
core_model!(models::nic_core_512::NicCore512, 64, u16, u64);

//! Co-simulation of the Ferronic NIC with its driver.
//!
//! [`world::World`] owns time and steps the Verilated core, the root complex, host memory and the wire
//! together; [`device::SimDevice`] is that world as the driver's seams see it; [`run::run`] is a whole run,
//! checked by [`scoreboard::Scoreboard`] against [`model`].

pub mod core_model;
pub mod cost;
pub mod device;
pub mod expectation;
pub mod experiment;
pub mod memory;
pub mod model;
pub mod outcome;
pub mod report;
pub mod run;
pub mod scoreboard;
pub mod setup;
pub mod software;
pub mod whole_file;
pub mod wire;
pub mod world;

/// The Verilated cores: at 64 bits, plain and with waveforms, and at 128 bits.
pub mod models {
    ferronic_verilated::model!(pub mod nic_core);
    ferronic_verilated::model!(pub mod nic_core_trace);
    ferronic_verilated::model!(pub mod nic_core_128);
}

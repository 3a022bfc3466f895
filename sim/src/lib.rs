//! Co-simulation of the Ferronic NIC with its driver

pub mod model;
pub mod wire;

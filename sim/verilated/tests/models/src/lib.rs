//! Models for the tests of `ferronic-verilated`.

ferronic_verilated::model!(pub mod ports);
ferronic_verilated::model!(pub mod events);
ferronic_verilated::model!(pub mod power_up);
ferronic_verilated::model!(pub mod power_up_zero);
ferronic_verilated::model!(
    /// Another module than the example's of the same name.
    pub mod fifo
);

#![doc = include_str!("../README.md")]

#[cfg(feature = "build")]
pub mod build;
#[cfg(feature = "runtime")]
mod simulation;

#[cfg(feature = "runtime")]
pub use simulation::{Failure, PowerUp, Raw, Simulation};

/// Declares a module with the model that the build script made under this name.
///
/// `ferronic_verilated::model!(pub mod fifo);` makes `fifo::Fifo`.
#[cfg(feature = "runtime")]
#[macro_export]
macro_rules! model {
    ($(#[$meta:meta])* $visibility:vis mod $name:ident) => {
        #[doc = concat!("The Verilated model `", stringify!($name), "`.")]
        $(#[$meta])*
        #[allow(unsafe_code, non_snake_case, dead_code, clippy::all, clippy::pedantic)]
        $visibility mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}

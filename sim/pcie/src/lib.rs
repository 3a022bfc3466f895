//! PCI Express at the transaction layer: TLPs, configuration space, root complex, link timing.
//!
//! Sections that the documentation names are those of the PCI Express Base Specification, revision 3.0.
//!
//! The crate knows nothing of any particular device. A simulator connects a device's raw TLP streams to a
//! [`RootComplex`], implements [`Memory`], and calls [`RootComplex::clock`] once a device clock:
//!
//! ```
//! use ferronic_pcie::{Fault, Memory, RootComplex, Settings};
//!
//! struct Ram(Vec<u8>);
//! impl Memory for Ram {
//!     fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
//!         let start = address as usize;
//!         let part = self.0.get(start..start + buffer.len());
//!         buffer.copy_from_slice(part.ok_or(Fault { address, reason: "beyond the end" })?);
//!         Ok(())
//!     }
//!     fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
//!         let start = address as usize;
//!         let part = self.0.get_mut(start..start + data.len());
//!         part.ok_or(Fault { address, reason: "beyond the end" })?.copy_from_slice(data);
//!         Ok(())
//!     }
//! }
//!
//! let mut ram = Ram(vec![0; 4096]);
//! let mut root = RootComplex::new(Settings::default())?;
//! let read = root.cpu_read32(0xE000_0000);
//! for cycle in 1..=1000 {
//!     let inputs = root.outputs();
//!     let (_rx, _tx_ready) = (inputs.rx, inputs.tx_ready); // drive the device's inputs, evaluate it
//!     root.clock(cycle * 8_000, None, true, &mut ram); // with the beat that the device shows, if any
//! }
//! assert!(root.poll(read).is_none()); // there is no device that would answer
//! # Ok::<(), ferronic_pcie::SettingsError>(())
//! ```

pub mod codec;
pub mod config;
pub mod tlp;

mod completer;
mod counters;
mod credits;
mod device;
mod downstream;
mod host;
mod iotlb;
mod link;
mod memory;
mod pool;
mod requester;
mod root_complex;
mod rules;
mod settings;
mod stream;
mod upstream;

pub use completer::ReadFault;
pub use config::{enumerate, ConfigAccess, Device, EnumerationError, Plan};
pub use counters::{Counters, Direction, DirectionCounters, Traffic};
pub use credits::Credits;
pub use iotlb::Iotlb;
pub use link::{DllpShare, Link, LinkError, DLLP_BYTES, TLP_OVERHEAD};
pub use memory::{Fault, Memory, MemoryFault};
pub use requester::{Answer, FailedRequest, Handle, Outcome};
pub use root_complex::{DeviceInputs, Interrupt, RootComplex};
pub use rules::{Limits, Rule, Violation};
pub use settings::{Settings, SettingsError, Splits};
pub use stream::{beats, Beat, MAX_LANES};
pub use tlp::{Bdf, Header, Kind, Status, Tlp};

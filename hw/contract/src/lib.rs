//! The contract between the Ferronic NIC and its driver.
//!
//! This is the one place where a bit gets its number. The RTL takes its constants from here, and so do
//! the driver, the reference model and the page `CONTRACT.md`, which is printed from the same tables.
//!
//! | module | what it fixes |
//! |---|---|
//! | [`registers`] | the 64 KiB of BAR 0 |
//! | [`descriptor`] | what the driver posts: RX and TX descriptors, 16 bytes |
//! | [`completion`] | what the core answers: RX completion, 32 or 16 bytes; TX index write-back, 4 bytes |
//! | [`status`] | the status bits of an RX completion |
//! | [`class`] | the rule behind the L2 bits, in software |
//! | [`parse`] | the rules behind the L3, L4, checksum and hash fields, in words |
//! | [`ring`] | free-running indices and power-of-two rings |
//! | [`thresholds`] | prefetch and write-back thresholds and their legal ranges |
//! | [`cause`] | why a queue stopped |
//! | [`field`] | how a field sits in little-endian 32-bit words |

#![no_std]
#![forbid(unsafe_code)]

pub mod cause;
pub mod class;
pub mod completion;
pub mod descriptor;
pub mod field;
pub mod parse;
pub mod registers;
pub mod ring;
pub mod status;
pub mod thresholds;

/// PCI vendor ID. Not assigned by the PCI-SIG: boards for sale need one of their maker's own.
pub const PCI_VENDOR_ID: u16 = 0xF055;
/// PCI device ID.
pub const PCI_DEVICE_ID: u16 = 0xFE01;
/// PCI class code: network controller, Ethernet (PCI Code and ID Assignment Specification).
pub const PCI_CLASS: u32 = 0x02_0000;
/// Bytes of BAR 0, the only BAR (64-bit, not prefetchable).
pub const BAR_BYTES: u32 = 0x1_0000;

/// Shortest frame the core takes from the wire, in bytes without FCS: an Ethernet header. Shorter ones are dropped.
pub const MIN_FRAME: u16 = 14;
/// Longest frame, in bytes without FCS, that [`registers::MAX_FRAME`] can allow.
pub const MAX_FRAME: u16 = 9600;

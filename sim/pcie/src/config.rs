//! Configuration space, and its enumeration (PCI Express Base Specification, chapter 7; PCI Local Bus
//! Specification 3.0, section 6.2.5.1 for the sizing of BARs).

use crate::requester::Outcome;

/// Vendor ID in the low half, device ID in the high half.
pub const IDENTITY: u16 = 0x00;
/// Command in the low half, status in the high half.
pub const COMMAND: u16 = 0x04;
/// Revision in the low byte, class code above.
pub const CLASS: u16 = 0x08;
/// The first of six base address registers.
pub const BAR0: u16 = 0x10;
/// Offset of the first capability in the low byte.
pub const CAPABILITIES: u16 = 0x34;

/// Command: memory space enable.
pub const COMMAND_MEMORY: u32 = 1 << 1;
/// Command: bus master enable.
pub const COMMAND_BUS_MASTER: u32 = 1 << 2;
/// Command: legacy interrupts off.
pub const COMMAND_INTX_DISABLE: u32 = 1 << 10;
/// Status, in the upper half of the command DW: there is a capability list.
pub const STATUS_CAPABILITIES: u32 = 1 << 20;

/// ID of the PCI Express capability.
pub const CAP_EXPRESS: u8 = 0x10;
/// ID of the MSI-X capability.
pub const CAP_MSIX: u8 = 0x11;

/// Device Capabilities, from the PCI Express capability.
pub const DEVICE_CAPABILITIES: u16 = 0x04;
/// Device Control in the low half, Device Status in the high half, from the PCI Express capability.
pub const DEVICE_CONTROL: u16 = 0x08;
/// Device Control: relaxed ordering, and no snoop, allowed.
pub const DEVICE_CONTROL_ATTRIBUTES: u32 = 1 << 4 | 1 << 11;
/// Device Control: extended tags.
pub const DEVICE_CONTROL_EXTENDED_TAG: u32 = 1 << 8;
/// Device Capabilities: the device can make extended tags.
pub const DEVICE_CAPABILITIES_EXTENDED_TAG: u32 = 1 << 5;

/// How often a read that ends with CRS is tried again.
const RETRIES: usize = 1000;

/// Reads and writes the device's configuration space, and waits for the answer.
pub trait ConfigAccess {
    /// Reads the DW at `offset`, a multiple of 4 below 4096.
    ///
    /// # Errors
    /// Any outcome other than success.
    fn config_read(&mut self, offset: u16) -> Result<u32, Outcome>;

    /// Writes the DW at `offset`, a multiple of 4 below 4096.
    ///
    /// # Errors
    /// Any outcome other than success.
    fn config_write(&mut self, offset: u16, value: u32) -> Result<(), Outcome>;
}

/// What enumeration is to program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Addresses for BARs.
    pub window: std::ops::Range<u64>,
    /// Max_Payload_Size wanted, in bytes: 128 to 4096; the device may allow less.
    pub max_payload: u16,
    /// Max_Read_Request_Size, in bytes: 128 to 4096.
    pub max_read_request: u16,
    /// Enable extended tags if the device can make them.
    pub extended_tags: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            window: 0xE000_0000..0xF000_0000,
            max_payload: 256,
            max_read_request: 512,
            extended_tags: true,
        }
    }
}

/// A memory BAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Index of its first register, 0 to 5.
    pub index: u8,
    /// Where it was put.
    pub address: u64,
    /// Its size in bytes, a power of two.
    pub size: u64,
    /// It takes two registers.
    pub wide: bool,
    /// Its reads have no side effects.
    pub prefetchable: bool,
}

/// The MSI-X capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Msix {
    /// Offset of the capability in configuration space.
    pub offset: u16,
    /// Vectors, 1 to 2048.
    pub vectors: u16,
    /// BAR and offset in it of the vector table.
    pub table: (u8, u32),
    /// BAR and offset in it of the pending bits.
    pub pending: (u8, u32),
}

/// A device after enumeration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Class code, 24 bits.
    pub class: u32,
    /// Revision.
    pub revision: u8,
    /// Its memory BARs.
    pub bars: Vec<Bar>,
    /// Offset of the PCI Express capability.
    pub express: u16,
    /// Its MSI-X capability.
    pub msix: Option<Msix>,
    /// Max_Payload_Size programmed, in bytes.
    pub max_payload: u16,
    /// Max_Read_Request_Size programmed, in bytes.
    pub max_read_request: u16,
    /// Extended tags are enabled.
    pub extended_tags: bool,
}

/// Why a device could not be enumerated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EnumerationError {
    /// A configuration access failed.
    #[error("configuration access at offset {offset:#x}: {outcome}")]
    Access {
        /// Offset of the access.
        offset: u16,
        /// How it ended.
        outcome: Outcome,
    },
    /// There is no device: the vendor ID reads all ones.
    #[error("no device: the vendor ID reads 0xffff")]
    NoDevice,
    /// The capability list leads back into itself or out of its range.
    #[error("the capability list is broken at offset {0:#x}")]
    CapabilityList(u16),
    /// A PCI Express device without PCI Express capability (section 7.8).
    #[error("the device has no PCI Express capability")]
    NotExpress,
    /// A BAR's size mask is not that of a power of two.
    #[error("BAR {index} answers the sizing write with {mask:#x}, which is no size")]
    BarSize {
        /// Index of the BAR.
        index: u8,
        /// What it read.
        mask: u64,
    },
    /// A BAR does not fit in what is left of the window.
    #[error("BAR {index} of {size:#x} bytes does not fit in the rest of the window at {left:#x}")]
    NoRoom {
        /// Index of the BAR.
        index: u8,
        /// Its size in bytes.
        size: u64,
        /// The first free address.
        left: u64,
    },
    /// A size for payload or read requests that is not a power of two from 128 to 4096.
    #[error("{name} is {value}; legal: 128, 256, 512, 1024, 2048, 4096")]
    Size {
        /// Which of the two.
        name: &'static str,
        /// Its value.
        value: u16,
    },
}

/// The size in bytes that the low three bits of a size field name: 128 to 4096 (reserved codes as 4096).
pub const fn decode_size(code: u32) -> u16 {
    let code = code & 7;
    128 << if code > 5 { 5 } else { code }
}

fn encode_size(name: &'static str, value: u16) -> Result<u32, EnumerationError> {
    (0..6)
        .find(|code| decode_size(*code) == value)
        .ok_or(EnumerationError::Size { name, value })
}

fn read(access: &mut impl ConfigAccess, offset: u16) -> Result<u32, EnumerationError> {
    let mut tries = 0;
    loop {
        match access.config_read(offset) {
            Ok(value) => return Ok(value),
            Err(Outcome::ConfigRetry) if tries < RETRIES => tries += 1,
            Err(outcome) => return Err(EnumerationError::Access { offset, outcome }),
        }
    }
}

fn write(access: &mut impl ConfigAccess, offset: u16, value: u32) -> Result<(), EnumerationError> {
    access
        .config_write(offset, value)
        .map_err(|outcome| EnumerationError::Access { offset, outcome })
}

/// The capability list: ID and offset of each.
///
/// # Errors
/// A failed access, or a list that has no end.
pub fn capabilities(access: &mut impl ConfigAccess) -> Result<Vec<(u8, u16)>, EnumerationError> {
    let mut found = Vec::new();
    if read(access, COMMAND)? & STATUS_CAPABILITIES == 0 {
        return Ok(found);
    }
    let mut at = read(access, CAPABILITIES)? as u16 & 0xFC;
    while at != 0 {
        // 48 capabilities of one DW fill the space from 0x40 to 0xFF.
        if at < 0x40 || found.len() == 48 {
            return Err(EnumerationError::CapabilityList(at));
        }
        let header = read(access, at)?;
        found.push((header as u8, at));
        at = (header >> 8) as u16 & 0xFC;
    }
    Ok(found)
}

/// Finds the device's BARs and capabilities, gives its BARs addresses, programs payload and read request
/// size and extended tags, and enables memory space and bus mastering. It leaves MSI-X off.
///
/// # Errors
/// See [`EnumerationError`].
pub fn enumerate(access: &mut impl ConfigAccess, plan: &Plan) -> Result<Device, EnumerationError> {
    let read_code = encode_size("max_read_request", plan.max_read_request)?;
    let payload_code = encode_size("max_payload", plan.max_payload)?;
    let identity = read(access, IDENTITY)?;
    if identity as u16 == 0xFFFF {
        return Err(EnumerationError::NoDevice);
    }
    let class = read(access, CLASS)?;
    let capabilities = capabilities(access)?;
    let find = |id| {
        capabilities
            .iter()
            .find(|(found, _)| *found == id)
            .map(|(_, at)| *at)
    };
    let express = find(CAP_EXPRESS).ok_or(EnumerationError::NotExpress)?;
    let bars = assign_bars(access, plan)?;
    let msix = find(CAP_MSIX).map(|at| read_msix(access, at)).transpose()?;

    let able = read(access, express + DEVICE_CAPABILITIES)?;
    let payload_code = payload_code.min(able & 7);
    let extended_tags = plan.extended_tags && able & DEVICE_CAPABILITIES_EXTENDED_TAG != 0;
    let control = DEVICE_CONTROL_ATTRIBUTES
        | payload_code << 5
        | read_code << 12
        | if extended_tags {
            DEVICE_CONTROL_EXTENDED_TAG
        } else {
            0
        };
    // The status half is cleared by ones, so zeros leave it alone.
    write(access, express + DEVICE_CONTROL, control)?;
    write(
        access,
        COMMAND,
        COMMAND_MEMORY | COMMAND_BUS_MASTER | COMMAND_INTX_DISABLE,
    )?;
    Ok(Device {
        vendor: identity as u16,
        device: (identity >> 16) as u16,
        class: class >> 8,
        revision: class as u8,
        bars,
        express,
        msix,
        max_payload: decode_size(payload_code),
        max_read_request: plan.max_read_request,
        extended_tags,
    })
}

fn assign_bars(access: &mut impl ConfigAccess, plan: &Plan) -> Result<Vec<Bar>, EnumerationError> {
    let mut bars = Vec::new();
    let mut free = plan.window.start;
    let mut index = 0;
    while index < 6 {
        let at = BAR0 + u16::from(index) * 4;
        write(access, at, u32::MAX)?;
        let low = read(access, at)?;
        let io = low & 1 != 0;
        let wide = !io && low >> 1 & 3 == 2 && index < 5;
        if low == 0 || io {
            write(access, at, 0)?;
            index += 1;
            continue;
        }
        let mut mask = u64::from(low & !0xF) | if wide { 0 } else { u64::from(u32::MAX) << 32 };
        if wide {
            write(access, at + 4, u32::MAX)?;
            mask |= u64::from(read(access, at + 4)?) << 32;
        }
        let size = mask.wrapping_neg();
        if !size.is_power_of_two() {
            return Err(EnumerationError::BarSize { index, mask });
        }
        let end = if wide {
            plan.window.end
        } else {
            plan.window.end.min(1 << 32)
        };
        let no_room = EnumerationError::NoRoom {
            index,
            size,
            left: free,
        };
        let address = free.checked_next_multiple_of(size).ok_or(no_room.clone())?;
        free = address
            .checked_add(size)
            .filter(|after| *after <= end)
            .ok_or(no_room)?;
        write(access, at, address as u32)?;
        if wide {
            write(access, at + 4, (address >> 32) as u32)?;
        }
        bars.push(Bar {
            index,
            address,
            size,
            wide,
            prefetchable: low & 8 != 0,
        });
        index += if wide { 2 } else { 1 };
    }
    Ok(bars)
}

fn read_msix(access: &mut impl ConfigAccess, offset: u16) -> Result<Msix, EnumerationError> {
    let vectors = ((read(access, offset)? >> 16) as u16 & 0x7FF) + 1;
    let place = |value: u32| ((value & 7) as u8, value & !7);
    let table = place(read(access, offset + 4)?);
    let pending = place(read(access, offset + 8)?);
    Ok(Msix {
        offset,
        vectors,
        table,
        pending,
    })
}

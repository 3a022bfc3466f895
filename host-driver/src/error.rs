//! What can go wrong, with the values that were wrong.

use std::io;

use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{ID_VALUE, VERSION_VALUE};
use ferronic_contract::thresholds::OutOfRange;

use crate::filters::FilterError;
use crate::queue::QueueName;
use crate::rx::RxFault;
use crate::tx::TxFault;

/// An error of the driver.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Registers read all ones: the device was removed, or its memory space is switched off.
    #[error("the device is gone: its registers read all ones")]
    DeviceGone,
    /// Something else is behind the BAR.
    #[error("not a Ferronic: the ID register reads {0:#010x} and not {ID_VALUE:#010x}")]
    NotFerronic(u32),
    /// A core that this driver does not understand.
    #[error("the core speaks contract version {}.{}; this driver needs {}.x", .0 >> 16, .0 & 0xFFFF, VERSION_VALUE >> 16)]
    Version(u32),
    /// CLOCK_KHZ reads 0, so that no time can be told.
    #[error("the core says that its clock runs at 0 kHz")]
    NoClock,
    /// A setting outside its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Something that this build of the core lacks the block for.
    #[error("{what} needs {feature}, which this build of the core does not have")]
    Missing {
        /// What was asked for.
        what: &'static str,
        /// Name of the block, as in FEATURES.
        feature: &'static str,
    },
    /// A filter that cannot be had.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The RESET bit does not clear itself.
    #[error("the reset does not end: CONTROL reads {0:#010x}")]
    ResetStuck(u32),
    /// A disabled queue that still has something in flight.
    #[error("{queue} does not come to rest: STATUS reads {status:#010x}")]
    NotIdle {
        /// Which queue.
        queue: QueueName,
        /// What its STATUS register read last.
        status: u32,
    },
    /// A queue that the core stopped. Close and open the device to go on.
    #[error("{queue} was stopped by the core: cause {code} ({cause:?})")]
    Stopped {
        /// Which queue.
        queue: QueueName,
        /// Why; `None` for a code that means nothing to this driver.
        cause: Option<Cause>,
        /// The code.
        code: u32,
    },
    /// No DMA memory.
    #[error("no DMA memory for {what}: {source}")]
    Memory {
        /// What it was for.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Waiting for an interrupt failed.
    #[error("waiting for an interrupt: {0}")]
    Interrupt(#[source] io::Error),
    /// The device broke the contract on the RX side.
    #[error(transparent)]
    Rx(#[from] RxFault),
    /// The device broke the contract on the TX side.
    #[error(transparent)]
    Tx(#[from] TxFault),
}

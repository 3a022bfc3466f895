//! Why a queue stopped.

/// Value of the CAUSE field of a queue's STATUS register. A queue that met an error stops fetching, finishes
/// what is in flight, and stays stopped until it is disabled; other queues are not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cause {
    /// No error.
    None = 0,
    /// A read was answered with Unsupported Request: the address is not mapped for the device.
    UnsupportedRequest = 1,
    /// A read was answered with Completer Abort.
    CompleterAbort = 2,
    /// A read was not answered within the completion time-out. Its tag stays retired until the core is reset,
    /// because the answer may still come.
    TimeOut = 3,
    /// A read was answered with poisoned data (EP bit).
    Poisoned = 4,
    /// A completion whose byte count or address does not fit its request.
    BadCompletion = 5,
    /// The tail published by the doorbell is more than the ring's size ahead of what the core has fetched.
    BadDoorbell = 6,
    /// A TX descriptor that the core refuses: length under 14 or over MAX_FRAME, or EOP missing.
    BadDescriptor = 7,
}

impl Cause {
    /// From the field's value; `None` for values that mean nothing.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        Some(match bits {
            0 => Self::None,
            1 => Self::UnsupportedRequest,
            2 => Self::CompleterAbort,
            3 => Self::TimeOut,
            4 => Self::Poisoned,
            5 => Self::BadCompletion,
            6 => Self::BadDoorbell,
            7 => Self::BadDescriptor,
            _ => return None,
        })
    }
}

//! What a user can choose about the root complex.

use crate::credits::Credits;
use crate::iotlb::Iotlb;
use crate::link::{DllpShare, Link};
use crate::tlp::Bdf;
use std::ops::Range;

/// How read completions are cut, within Max_Payload_Size and the read completion boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Splits {
    /// As few as the rules allow.
    Largest,
    /// Random legal cuts by the seed.
    Random,
}

/// Settings of a root complex. `Settings::default()` is a Gen1 x1 link with a quiet host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Rate and width of the link.
    pub link: Link,
    /// Share of the link that DLLPs take.
    pub dllp: DllpShare,
    /// A read's round trip without serialisation, in ns: half of it each way.
    pub latency_ns: u32,
    /// Width of the TLP streams in bits: 64, 128, 256 or 512.
    pub stream_bits: u16,
    /// Credits of the root complex for requests of the device.
    pub credits: Credits,
    /// Credits of the device for requests of the CPU.
    pub device_credits: Credits,
    /// The device port's transmit buffer in bytes; when it is full, `tx_ready` falls.
    pub transmit_buffer: u32,
    /// Read completion boundary in bytes: 64 or 128.
    pub read_completion_boundary: u16,
    /// How read completions are cut.
    pub splits: Splits,
    /// Completions of different requests pass each other, by the seed.
    pub reorder: bool,
    /// Host memory answers a read after a random time from 0 to this, in ns.
    pub host_jitter_ns: u32,
    /// Probability per clock that `tx_ready` falls for 1 to 32 clocks, in 1/1000.
    pub tx_stall_permille: u16,
    /// Probability per beat that the root complex waits 1 to 8 clocks before the next, in 1/1000.
    pub rx_gap_permille: u16,
    /// Translation of the device's addresses; `None` costs nothing.
    pub iotlb: Option<Iotlb>,
    /// A CPU read without answer is given up after this time, in ns (section 2.8: 50 µs to 50 ms).
    pub completion_timeout_ns: u32,
    /// Writes of the device to these addresses are interrupts, not memory.
    pub interrupts: Range<u64>,
    /// Requester ID of the root complex.
    pub host: Bdf,
    /// Bus, device and function of the device.
    pub device: Bdf,
    /// Decides every random choice; equal seeds give equal behaviour.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            link: Link::GEN1_X1,
            dllp: DllpShare::default(),
            latency_ns: 1000,
            stream_bits: 64,
            credits: Credits {
                posted_headers: 32,
                posted_data: 256,
                nonposted_headers: 32,
            },
            device_credits: Credits {
                posted_headers: 32,
                posted_data: 256,
                nonposted_headers: 8,
            },
            transmit_buffer: 1024,
            read_completion_boundary: 64,
            splits: Splits::Largest,
            reorder: false,
            host_jitter_ns: 0,
            tx_stall_permille: 0,
            rx_gap_permille: 0,
            iotlb: None,
            completion_timeout_ns: 100_000,
            interrupts: 0xFEE0_0000..0xFEF0_0000,
            host: Bdf::new(0, 0, 0),
            device: Bdf::new(1, 0, 0),
            seed: 1,
        }
    }
}

/// A setting outside its range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("root complex setting {name} is {value}; legal: {legal}")]
pub struct SettingsError {
    name: &'static str,
    value: u64,
    legal: &'static str,
}

impl Settings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// The first setting that is out of range, with its value and what is legal.
    pub fn check(&self) -> Result<(), SettingsError> {
        let rules = [
            (
                "stream_bits",
                self.stream_bits.into(),
                "64, 128, 256, 512",
                matches!(self.stream_bits, 64 | 128 | 256 | 512),
            ),
            (
                "read_completion_boundary",
                self.read_completion_boundary.into(),
                "64, 128",
                matches!(self.read_completion_boundary, 64 | 128),
            ),
            (
                "tx_stall_permille",
                self.tx_stall_permille.into(),
                "0 to 500",
                self.tx_stall_permille <= 500,
            ),
            (
                "rx_gap_permille",
                self.rx_gap_permille.into(),
                "0 to 1000",
                self.rx_gap_permille <= 1000,
            ),
            (
                "transmit_buffer",
                self.transmit_buffer.into(),
                "at least 16",
                self.transmit_buffer >= 16,
            ),
            (
                "iotlb.entries",
                self.iotlb.map_or(1, |iotlb| iotlb.entries.into()),
                "at least 1",
                self.iotlb.is_none_or(|iotlb| iotlb.entries >= 1),
            ),
        ];
        for (name, value, legal, fine) in rules {
            if !fine {
                return Err(SettingsError { name, value, legal });
            }
        }
        for credits in [self.credits, self.device_credits] {
            for (name, value) in [
                ("posted_headers", credits.posted_headers),
                ("posted_data", credits.posted_data),
                ("nonposted_headers", credits.nonposted_headers),
            ] {
                if value == 0 {
                    return Err(SettingsError {
                        name,
                        value: 0,
                        legal: "at least 1",
                    });
                }
            }
        }
        Ok(())
    }
}

//! The Verilated core behind one trait, whatever its width and whether it can trace.

use crate::wire::Beat as WireBeat;
use ferronic_pcie::Beat as TlpBeat;
use ferronic_verilated::{PowerUp, Simulation};

/// What the core shows of each frame, for the scoreboard. Frames keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// A frame from the wire ended, and its fate at the packet FIFO is known.
    pub frame_in: bool,
    /// With `frame_in`: why it is dropped; 0 when taken. One bit a cause, in the order of
    /// [`cause_from_bits`](crate::outcome::cause_from_bits).
    pub drop: u8,
    /// The frame at the FIFO's head went to memory.
    pub delivered: bool,
    /// The frame at the FIFO's head was dropped: longer than its buffer.
    pub drop_buffer: bool,
    /// The frame at the FIFO's head was given up: its queue was disabled or stopped.
    pub drop_late: bool,
}

impl Events {
    /// Whether anything happened.
    pub fn any(&self) -> bool {
        self.frame_in | self.delivered | self.drop_buffer | self.drop_late
    }
}

/// The core's pins, `B` bytes wide.
pub trait CoreModel<const B: usize> {
    /// A core with power-up state from a seed, its inputs at rest.
    fn power_up(seed: u64) -> Self;
    /// What all Verilated models have: traces, failures.
    fn simulation(&mut self) -> &mut Simulation;
    /// Drives `reset`.
    fn set_reset(&mut self, on: bool);
    /// Drives `clock` and evaluates.
    fn clock(&mut self, high: bool);
    /// Drives the TLP stream to the core, and what tells it that its own TLPs are taken.
    fn drive_tlp(&mut self, rx: Option<&TlpBeat>, tx_ready: bool, np_ready: bool);
    /// Drives the wire to the core, and the MAC's readiness for frames to send.
    fn drive_wire(&mut self, rx: Option<&WireBeat<B>>, tx_ready: bool);
    /// Whether the core takes the TLP beat it is shown.
    fn rx_ready(&self) -> bool;
    /// The TLP beat that the core shows.
    fn tlp(&self) -> Option<TlpBeat>;
    /// The beat that the core shows to the wire.
    fn wire(&self) -> Option<WireBeat<B>>;
    /// What happened to frames.
    fn events(&self) -> Events;
}

/// Splits a stream's data port into bytes.
trait Word<const B: usize> {
    fn from_bytes(bytes: &[u8; B]) -> Self;
    fn to_bytes(&self) -> [u8; B];
    fn from_lanes(lanes: &[u32; 16]) -> Self;
    fn to_lanes(&self) -> [u32; 16];
}

impl Word<8> for u64 {
    fn from_bytes(bytes: &[u8; 8]) -> Self {
        u64::from_le_bytes(*bytes)
    }
    fn to_bytes(&self) -> [u8; 8] {
        self.to_le_bytes()
    }
    fn from_lanes(lanes: &[u32; 16]) -> Self {
        u64::from(lanes[0]) | u64::from(lanes[1]) << 32
    }
    fn to_lanes(&self) -> [u32; 16] {
        let mut lanes = [0; 16];
        lanes[0] = *self as u32;
        lanes[1] = (*self >> 32) as u32;
        lanes
    }
}

impl Word<16> for [u32; 4] {
    fn from_bytes(bytes: &[u8; 16]) -> Self {
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * i + byte])))
    }
    fn to_bytes(&self) -> [u8; 16] {
        std::array::from_fn(|i| self[i / 4].to_le_bytes()[i % 4])
    }
    fn from_lanes(lanes: &[u32; 16]) -> Self {
        std::array::from_fn(|i| lanes[i])
    }
    fn to_lanes(&self) -> [u32; 16] {
        let mut lanes = [0; 16];
        lanes[..4].copy_from_slice(self);
        lanes
    }
}

macro_rules! core_model {
    ($model:ty, $bytes:literal, $keep:ty) => {
        impl CoreModel<$bytes> for $model {
            fn power_up(seed: u64) -> Self {
                Self::new(PowerUp::Random(seed))
            }
            fn simulation(&mut self) -> &mut Simulation {
                self
            }
            fn set_reset(&mut self, on: bool) {
                Self::set_reset(self, on);
            }
            #[inline]
            fn clock(&mut self, high: bool) {
                self.set_clock(high);
                self.eval();
            }
            #[inline]
            fn drive_tlp(&mut self, rx: Option<&TlpBeat>, tx_ready: bool, np_ready: bool) {
                self.set_rx_valid(rx.is_some());
                if let Some(beat) = rx {
                    self.set_rx_data(Word::<$bytes>::from_lanes(&beat.data));
                    self.set_rx_keep(beat.keep as u8);
                    self.set_rx_last(beat.last);
                }
                self.set_tx_ready(tx_ready);
                self.set_np_ready(np_ready);
            }
            #[inline]
            fn drive_wire(&mut self, rx: Option<&WireBeat<$bytes>>, tx_ready: bool) {
                self.set_wire_rx_valid(rx.is_some());
                if let Some(beat) = rx {
                    self.set_wire_rx_data(Word::<$bytes>::from_bytes(&beat.data));
                    self.set_wire_rx_keep(beat.keep as $keep);
                    self.set_wire_rx_last(beat.last);
                    self.set_wire_rx_error(beat.error);
                }
                self.set_wire_tx_ready(tx_ready);
            }
            #[inline]
            fn rx_ready(&self) -> bool {
                Self::rx_ready(self)
            }
            #[inline]
            fn tlp(&self) -> Option<TlpBeat> {
                self.tx_valid().then(|| TlpBeat {
                    data: Word::<$bytes>::to_lanes(&self.tx_data()),
                    keep: u16::from(self.tx_keep()),
                    last: self.tx_last(),
                })
            }
            #[inline]
            fn wire(&self) -> Option<WireBeat<$bytes>> {
                self.wire_tx_valid().then(|| WireBeat {
                    data: Word::<$bytes>::to_bytes(&self.wire_tx_data()),
                    keep: u64::from(self.wire_tx_keep()),
                    last: self.wire_tx_last(),
                    error: false,
                })
            }
            #[inline]
            fn events(&self) -> Events {
                Events {
                    frame_in: self.event_in(),
                    drop: self.event_drop(),
                    delivered: self.event_delivered(),
                    drop_buffer: self.event_drop_buffer(),
                    drop_late: self.event_drop_late(),
                }
            }
        }
    };
}

core_model!(crate::models::nic_core::NicCore, 8, u8);
core_model!(crate::models::nic_core_trace::NicCoreTrace, 8, u8);
core_model!(crate::models::nic_core_128::NicCore128, 16, u16);

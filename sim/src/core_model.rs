//! The Verilated core behind one trait, whatever its width and whether it can trace.

pub use crate::wire::Beat as WireBeat;
pub use ferronic_pcie::Beat as TlpBeat;
pub use ferronic_verilated::{PowerUp, Simulation};

/// What the core shows of each frame, for the scoreboard. Frames keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// A frame from the wire ended, and its fate at the packet FIFO is known.
    pub frame_in: bool,
    /// With `frame_in`: why it is dropped; 0 when taken. One bit a cause, in the order of
    /// [`cause_from_bits`](crate::outcome::cause_from_bits).
    pub drop: u8,
    /// The oldest frame taken is decided on.
    pub head: bool,
    /// With `head`: why it is dropped; 0 when it goes to memory. One bit a cause, in the order of
    /// [`head_cause_from_bits`](crate::outcome::head_cause_from_bits).
    pub head_drop: u8,
    /// With `head`: its queue.
    pub queue: u8,
}

impl Events {
    /// Whether anything happened.
    pub fn any(&self) -> bool {
        self.frame_in | self.head
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

/// A stream's data port: B bytes, or dwords.
pub trait Word<const B: usize> {
    /// Byte 0 in the lowest bits.
    fn from_bytes(bytes: &[u8; B]) -> Self;
    /// The bytes, lowest bits first.
    fn to_bytes(&self) -> [u8; B];
    /// From as many dwords as the port has.
    fn from_lanes(lanes: &[u32; 16]) -> Self;
    /// The dwords; 0 behind the port's last.
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

impl<const B: usize, const N: usize> Word<B> for [u32; N] {
    fn from_bytes(bytes: &[u8; B]) -> Self {
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * i + byte])))
    }
    fn to_bytes(&self) -> [u8; B] {
        std::array::from_fn(|i| self[i / 4].to_le_bytes()[i % 4])
    }
    fn from_lanes(lanes: &[u32; 16]) -> Self {
        std::array::from_fn(|i| lanes[i])
    }
    fn to_lanes(&self) -> [u32; 16] {
        let mut lanes = [0; 16];
        lanes[..N].copy_from_slice(self);
        lanes
    }
}

/// Puts a Verilated core behind [`CoreModel`]: its type, bytes of a beat, types of `keep` on the TLP stream and on the wire.
#[macro_export]
macro_rules! core_model {
    ($model:ty, $bytes:literal, $lanes:ty, $keep:ty) => {
        impl $crate::core_model::CoreModel<$bytes> for $model {
            fn power_up(seed: u64) -> Self {
                Self::new($crate::core_model::PowerUp::Random(seed))
            }
            fn simulation(&mut self) -> &mut $crate::core_model::Simulation {
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
            fn drive_tlp(&mut self, rx: Option<&$crate::core_model::TlpBeat>, tx_ready: bool, np_ready: bool) {
                self.set_rx_valid(rx.is_some());
                if let Some(beat) = rx {
                    self.set_rx_data($crate::core_model::Word::<$bytes>::from_lanes(&beat.data));
                    self.set_rx_keep(beat.keep as $lanes);
                    self.set_rx_last(beat.last);
                }
                self.set_tx_ready(tx_ready);
                self.set_np_ready(np_ready);
            }
            #[inline]
            fn drive_wire(&mut self, rx: Option<&$crate::core_model::WireBeat<$bytes>>, tx_ready: bool) {
                self.set_wire_rx_valid(rx.is_some());
                if let Some(beat) = rx {
                    self.set_wire_rx_data($crate::core_model::Word::<$bytes>::from_bytes(&beat.data));
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
            fn tlp(&self) -> Option<$crate::core_model::TlpBeat> {
                self.tx_valid().then(|| $crate::core_model::TlpBeat {
                    data: $crate::core_model::Word::<$bytes>::to_lanes(&self.tx_data()),
                    keep: u16::from(self.tx_keep()),
                    last: self.tx_last(),
                })
            }
            #[inline]
            fn wire(&self) -> Option<$crate::core_model::WireBeat<$bytes>> {
                self.wire_tx_valid().then(|| $crate::core_model::WireBeat {
                    data: $crate::core_model::Word::<$bytes>::to_bytes(&self.wire_tx_data()),
                    keep: u64::from(self.wire_tx_keep()),
                    last: self.wire_tx_last(),
                    error: false,
                })
            }
            #[inline]
            fn events(&self) -> $crate::core_model::Events {
                $crate::core_model::Events {
                    frame_in: self.event_in(),
                    drop: self.event_drop(),
                    head: self.event_head(),
                    head_drop: self.event_head_drop(),
                    queue: self.event_queue(),
                }
            }
        }
    };
}

core_model!(crate::models::nic_core::NicCore, 8, u8, u8);
core_model!(crate::models::nic_core_trace::NicCoreTrace, 8, u8, u8);
core_model!(crate::models::nic_core_128::NicCore128, 16, u8, u16);

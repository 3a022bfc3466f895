//! What the driver counts, and the core's counters by name.

use ferronic_contract::registers::{self, queue, vector, Access, Register};

use crate::device::{Device, Group};
use crate::queue::QueueName;

/// A struct of 64-bit counters that can be listed by name and summed.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$meaning])* pub $field: u64,)*
        }

        impl $name {
            /// Every counter with its name.
            pub fn list(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field)),*].into_iter()
            }
        }

        impl<'a> std::iter::Sum<&'a $name> for $name {
            fn sum<I: Iterator<Item = &'a $name>>(counted: I) -> Self {
                counted.fold(Self::default(), |sum, one| Self { $($field: sum.$field + one.$field),* })
            }
        }
    };
}
pub(crate) use counters;

counters! {
    /// The driver's counters of an RX queue.
    RxStatistics {
        /// Packets delivered.
        packets,
        /// Bytes delivered.
        bytes,
        /// Packets delivered in several segments.
        scattered,
        /// Packets delivered with the header in a buffer of its own.
        split,
        /// Packets dropped because no buffer could take the place of theirs.
        dropped_no_buffer,
        /// Frames dropped because the core could not bring all of them.
        dropped_cut,
        /// Packets classified by the status bits.
        status_path,
        /// Packets classified by software.
        software_path,
        /// Packets classified by the core that software was asked about too.
        status_checked,
        /// Of these, packets of which the header says something else.
        status_disagreed,
        /// Packets delivered in a copy.
        copied,
        /// Headers prefetched while the packet before was being handled.
        prefetched_ahead,
        /// Doorbells rung.
        doorbells,
        /// Calls of poll.
        polls,
        /// Interrupts taken.
        interrupts,
        /// Turns that ended by budget or time though there may have been more to do.
        time_squeeze,
        /// Completions, or producer indices, that broke the contract.
        bad_completions,
    }
}

counters! {
    /// The driver's counters of a TX queue.
    TxStatistics {
        /// Packets given to the core.
        packets,
        /// Bytes given to the core.
        bytes,
        /// Packets refused because the ring was full.
        ring_full,
        /// Packets dropped because the ring was full.
        dropped_ring_full,
        /// Times that the queue stopped because the ring was full.
        stops,
        /// Times that it went on.
        wakes,
        /// Doorbells rung.
        doorbells,
        /// Looks at the index write-back.
        reclaims,
        /// Buffers taken back.
        reclaimed,
        /// Interrupts taken.
        interrupts,
        /// Waits that ended without an interrupt.
        timeouts,
        /// Index write-backs that broke the contract.
        bad_indices,
    }
}

/// One counter of the core: 32 bits, free-running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Group of registers: `core`, `rx0` and so on, `tx0`, or a queue's vector as in `rx0-vector`.
    pub group: String,
    /// Name, as in the contract.
    pub name: &'static str,
    /// Value.
    pub value: u32,
}

impl Counter {
    /// The counter's name in the manner of `ethtool -S`: `rx0_drop_no_descriptor`, `drop_filter`.
    pub fn ethtool_name(&self) -> String {
        let prefix = match self.group.as_str() {
            "core" => String::new(),
            group => format!("{}_", group.replace('-', "_")),
        };
        prefix + &self.name.to_lowercase()
    }
}

/// Whether the contract calls a register a counter.
fn is_counter(register: &Register) -> bool {
    register.access == Access::Ro && register.about.starts_with("counter")
}

/// Reads every counter of the core and of these queues. Each is a register read: not for the data path.
pub(crate) fn read(device: &Device, queues: impl Iterator<Item = QueueName>) -> Vec<Counter> {
    let mut counters = Vec::new();
    let mut add = |group: String, base: u32, list: &[Register]| {
        let registers = Group::new(device, base);
        counters.extend(list.iter().filter(|register| is_counter(register)).map(|&register| Counter {
            group: group.clone(),
            name: register.name,
            value: registers.read(register),
        }));
    };
    add("core".into(), registers::GLOBAL, &registers::GLOBALS);
    for name in queues {
        let group = name.group();
        add(format!("{group}-vector"), name.vector_base(), &vector::REGISTERS);
        add(group, name.base(), &queue::REGISTERS);
    }
    counters
}

/// The sums that Linux keeps of every interface (`struct rtnl_link_stats64`, Documentation/networking/statistics.rst),
/// as far as this driver can tell them.
pub(crate) fn standard(rx: &RxStatistics, tx: &TxStatistics, counters: &[Counter]) -> Vec<(&'static str, u64)> {
    let count = |names: &[(&str, &str)]| -> u64 {
        let of = |counter: &&Counter| {
            let mut groups = names.iter().filter(|(_, name)| *name == counter.name).map(|(group, _)| group);
            groups.any(|group| counter.group.trim_end_matches(|c: char| c.is_ascii_digit()) == *group)
        };
        counters.iter().filter(of).map(|counter| u64::from(counter.value)).sum()
    };
    vec![
        ("rx_packets", rx.packets),
        ("tx_packets", tx.packets),
        ("rx_bytes", rx.bytes),
        ("tx_bytes", tx.bytes),
        ("rx_dropped", rx.dropped_no_buffer),
        ("tx_dropped", tx.dropped_ring_full),
        (
            "rx_missed_errors",
            count(&[("core", "DROP_FIFO"), ("core", "DROP_NO_DESCRIPTOR"), ("rx", "DROP_NO_DESCRIPTOR"), ("rx", "CUT")]),
        ),
        ("rx_length_errors", count(&[("core", "DROP_UNDERSIZE"), ("core", "DROP_OVERSIZE"), ("rx", "DROP_BUFFER")])),
        ("rx_crc_errors", count(&[("core", "DROP_BAD")])),
    ]
}

//! The host's side of the root complex: memory, interrupts, the CPU's requests.

use crate::completer::ReadFault;
use crate::config::{self, Device};
use crate::memory::{Fault, Memory, MemoryFault};
use crate::requester::{Answer, ConfigWritten, Handle};
use crate::root_complex::{Interrupt, RootComplex};
use crate::rules::{Limits, Rule, RuleSet};
use crate::tlp::{Body, ConfigRequest, Header, MemoryRequest, Status, Tlp};

impl RootComplex {
    /// A TLP of the device arrives.
    pub(crate) fn receive(&mut self, at: u64, tlp: Tlp, memory: &mut impl Memory) {
        match tlp.header.body {
            Body::Memory(r) if r.write && self.settings.interrupts.contains(&r.address) => {
                self.interrupt(at, &r, &tlp);
            }
            Body::Memory(r) if r.write => self.write(at, &r, &tlp, memory),
            Body::Memory(r) => self.read(at, &r, &tlp.header, memory),
            Body::Completion(c) => {
                let completed = self.requester.complete(at, &tlp, &c, self.settings.device);
                self.report(at, Ok(tlp.header), completed.broken);
                if let Some(written) = completed.written {
                    self.checker.limits = self.limits_after(&written);
                }
            }
            Body::Config(_) | Body::Message(_) => {}
        }
        self.pool.give(tlp.payload);
    }

    fn interrupt(&mut self, at_ps: u64, r: &MemoryRequest, tlp: &Tlp) {
        let mut broken = RuleSet::NONE;
        broken.add_if(
            tlp.header.length != 1 || r.first_be != 0xF,
            Rule::InterruptWrite,
        );
        self.report(at_ps, Ok(tlp.header), broken);
        if let [a, b, c, d, ..] = tlp.payload[..] {
            let data = u32::from_le_bytes([a, b, c, d]);
            self.interrupts.push_back(Interrupt {
                at_ps,
                address: r.address,
                data,
            });
        }
    }

    fn write(&mut self, at_ps: u64, r: &MemoryRequest, tlp: &Tlp, memory: &mut impl Memory) {
        let Some((first, bytes)) = tlp.header.enabled_bytes() else {
            return;
        };
        let result = if tlp.header.poisoned {
            Err(Fault {
                address: first,
                reason: "the device wrote poisoned data",
            })
        } else {
            write_enabled(r, first, bytes.into(), &tlp.payload, memory)
        };
        if let Err(fault) = result {
            self.memory_faults.push(MemoryFault {
                at_ps,
                address: first,
                bytes,
                write: true,
                fault,
            });
        }
    }

    fn read(&mut self, at_ps: u64, r: &MemoryRequest, header: &Header, memory: &mut impl Memory) {
        let Some((first, bytes)) = header.enabled_bytes() else {
            return;
        };
        let fault = self.next_fault();
        if fault == Some(ReadFault::Never) {
            self.checker.close(r.tag);
            return;
        }
        if let (Some(ReadFault::Unexpected), Some(tag)) = (fault, self.checker.free_tag()) {
            self.completer.add_stray(at_ps, r.requester, tag);
        }
        let mut data = self.pool.take();
        data.resize(bytes.into(), 0);
        let zero_length = header.length == 1 && r.first_be == 0;
        let result = if zero_length {
            Ok(())
        } else {
            memory.read(first, &mut data)
        };
        let status = match result {
            Ok(()) => Status::Success,
            Err(fault) => {
                self.memory_faults.push(MemoryFault {
                    at_ps,
                    address: first,
                    bytes,
                    write: false,
                    fault,
                });
                Status::UnsupportedRequest
            }
        };
        self.completer.add(at_ps, *header, data, status, fault);
    }

    fn next_fault(&mut self) -> Option<ReadFault> {
        if let Some(fault) = self.next_faults.pop_front() {
            return Some(fault);
        }
        let hit = self.chance(self.random_faults.0);
        let kinds = &self.random_faults.1;
        if hit && !kinds.is_empty() {
            Some(kinds[self.rng.usize(0..kinds.len())])
        } else {
            None
        }
    }

    /// The answer to the device's next read (after those already named) goes wrong.
    pub fn inject_read_fault(&mut self, fault: ReadFault) {
        self.next_faults.push_back(fault);
    }

    /// From now on, `permille` of 1000 reads of the device go wrong in one of the ways of `faults`, by the
    /// seed. An empty list or 0 ends it.
    pub fn random_read_faults(&mut self, permille: u16, faults: &[ReadFault]) {
        self.random_faults = (permille, faults.to_vec());
    }

    /// Posted write of the CPU to any byte address, cut at 4 KiB and at 128 bytes (the payload that every
    /// device takes). Does not block.
    pub fn cpu_write(&mut self, mut address: u64, mut data: &[u8]) {
        while !data.is_empty() {
            let room = 128 - (address % 128) as usize;
            let (now, rest) = data.split_at(room.min(data.len()));
            let mut payload = self.pool.take();
            let header = Header::memory_write(self.settings.host, address, now.len());
            header.fill(address, now, &mut payload);
            self.send(Tlp { header, payload });
            address += now.len() as u64;
            data = rest;
        }
    }

    /// Posted write of one DW to an address that is a multiple of 4.
    pub fn cpu_write32(&mut self, address: u64, value: u32) {
        self.cpu_write(address, &value.to_le_bytes());
    }

    /// Puts a posted TLP (MWr or message) as it is on the way to the device.
    pub fn send(&mut self, tlp: Tlp) {
        if !self.removed {
            self.downstream.queue(self.now, tlp, None);
            self.next_event = 0;
        }
    }

    /// Starts a read by the CPU of `bytes` (1 to 8) bytes; fetch the answer with [`RootComplex::poll`].
    ///
    /// # Panics
    /// If `bytes` is not 1 to 8, or the read crosses 4 KiB.
    pub fn cpu_read(&mut self, address: u64, bytes: usize) -> Handle {
        assert!(
            (1..=8).contains(&bytes),
            "a CPU reads 1 to 8 bytes, not {bytes}"
        );
        assert!(
            address % 4096 + bytes as u64 <= 4096,
            "a CPU read at {address:#x} crosses 4 KiB"
        );
        self.request(
            Tlp::bare(Header::memory_read(self.settings.host, 0, address, bytes)),
            0,
        )
    }

    /// Starts a read of one DW from an address that is a multiple of 4.
    pub fn cpu_read32(&mut self, address: u64) -> Handle {
        self.cpu_read(address, 4)
    }

    /// Starts a read of the configuration DW at `offset`, below 4096; its low two bits are ignored.
    pub fn config_read(&mut self, offset: u16) -> Handle {
        self.request(Tlp::bare(self.config(false, offset, 0xF)), 0)
    }

    /// Starts a write of the bytes of `value` that `byte_enables` (0 to 15) names to the configuration DW
    /// at `offset`. The answer's value is 0.
    pub fn config_write(&mut self, offset: u16, value: u32, byte_enables: u8) -> Handle {
        let header = self.config(true, offset, byte_enables);
        self.request(
            Tlp {
                header,
                payload: value.to_le_bytes().to_vec(),
            },
            value,
        )
    }

    fn config(&self, write: bool, offset: u16, first_be: u8) -> Header {
        let (requester, target) = (self.settings.host, self.settings.device);
        let offset = offset & 0xFFC;
        Header::new(
            1,
            Body::Config(ConfigRequest {
                write,
                requester,
                tag: 0,
                first_be,
                target,
                offset,
            }),
        )
    }

    fn request(&mut self, tlp: Tlp, written: u32) -> Handle {
        let handle = self.requester.add(self.now, tlp.header, written);
        if self.removed {
            self.requester.abandon(self.now);
        } else {
            self.downstream.queue(self.now, tlp, Some(handle));
            self.next_event = 0;
        }
        handle
    }

    /// The answer, if it has come; it can be fetched once.
    pub fn poll(&mut self, handle: Handle) -> Option<Answer> {
        self.requester.poll(handle)
    }

    /// Tells the root complex what enumeration found, so that it knows where Device Control is and which
    /// payload and read sizes are allowed. Later configuration writes are followed by themselves.
    pub fn attach(&mut self, device: &Device) {
        self.express = Some(device.express);
        self.checker.limits = Limits {
            max_payload: device.max_payload,
            max_read_request: device.max_read_request,
            extended_tags: device.extended_tags,
            ..self.checker.limits
        };
    }

    /// The device has taken a TLP. What a configuration write allows is allowed from here on; what it
    /// forbids is forbidden when its completion arrives.
    pub(crate) fn watch_delivery(&mut self, tlp: &Tlp, closes: bool) {
        match (tlp.header.body, &tlp.payload[..]) {
            (Body::Completion(c), _) if closes => self.checker.close(c.tag),
            (
                Body::Config(ConfigRequest {
                    write: true,
                    offset,
                    first_be,
                    ..
                }),
                &[a, b, c, d],
            ) => {
                let value = u32::from_le_bytes([a, b, c, d]);
                let after = self.limits_after(&ConfigWritten {
                    offset,
                    first_be,
                    value,
                });
                self.checker.limits = self.checker.limits.union(after);
            }
            _ => {}
        }
    }

    fn limits_after(&self, written: &ConfigWritten) -> Limits {
        let mut limits = self.checker.limits;
        let (low, high) = (written.first_be & 1 != 0, written.first_be & 2 != 0);
        if written.offset == config::COMMAND && low {
            limits.bus_master = written.value & config::COMMAND_BUS_MASTER != 0;
        }
        if self.express.map(|at| at + config::DEVICE_CONTROL) == Some(written.offset) {
            if low {
                limits.max_payload = config::decode_size(written.value >> 5);
            }
            if high {
                limits.max_read_request = config::decode_size(written.value >> 12);
                limits.extended_tags = written.value & config::DEVICE_CONTROL_EXTENDED_TAG != 0;
            }
        }
        limits
    }
}

/// Writes the enabled bytes of a memory write: at once if they have no gap, else run by run.
fn write_enabled(
    r: &MemoryRequest,
    first: u64,
    bytes: usize,
    payload: &[u8],
    memory: &mut impl Memory,
) -> Result<(), Fault> {
    let low = (first - r.address) as usize;
    let last = payload.len() - 4;
    let enabled = |byte: usize| {
        let be = if byte < 4 {
            r.first_be
        } else if byte >= last {
            r.last_be
        } else {
            0xF
        };
        be >> (byte & 3) & 1 != 0
    };
    // Only the first DW and the last can have gaps.
    let gap = |byte: &usize| !enabled(*byte);
    if !(low..(low + bytes).min(4))
        .chain(last.max(low)..low + bytes)
        .any(|byte| gap(&byte))
    {
        return memory.write(first, &payload[low..low + bytes]);
    }
    let mut at = low;
    while at < low + bytes {
        let run = (at..low + bytes).take_while(|byte| enabled(*byte)).count();
        if run > 0 {
            memory.write(r.address.wrapping_add(at as u64), &payload[at..at + run])?;
        }
        at += run + 1;
    }
    Ok(())
}

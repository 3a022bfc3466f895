//! A small memory, a small endpoint, and the two ways to connect them to a root complex.
#![allow(dead_code)] // each test file uses its part

use ferronic_pcie::config::{self, ConfigAccess};
use ferronic_pcie::tlp::{Body, Completion, ConfigRequest, MemoryRequest};
use ferronic_pcie::{
    Answer, Bdf, Beat, Fault, Handle, Header, Memory, Outcome, RootComplex, Rule, Settings, Status,
    Tlp,
};
use std::collections::VecDeque;

/// The device's bus, device and function, as in the default settings.
pub const DEVICE: Bdf = Bdf::new(1, 0, 0);
/// The root complex's.
pub const HOST: Bdf = Bdf::new(0, 0, 0);
/// Where [`Ram`] begins; its first half is below 4 GiB and the rest above.
pub const RAM: u64 = (1 << 32) - RAM_SIZE / 2;
/// Size of [`Ram`].
pub const RAM_SIZE: u64 = 1 << 20;

/// Host memory: byte `i` starts as the low byte of a hash of `i`.
pub struct Ram {
    pub bytes: Vec<u8>,
    pub writes: Vec<(u64, usize)>,
}

impl Default for Ram {
    fn default() -> Self {
        let bytes = (0..RAM_SIZE as u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8);
        Self {
            bytes: bytes.collect(),
            writes: Vec::new(),
        }
    }
}

impl Ram {
    pub fn at(&mut self, address: u64, length: usize) -> Result<&mut [u8], Fault> {
        let reason = "not RAM";
        let start = address.checked_sub(RAM).ok_or(Fault { address, reason })? as usize;
        let part = self.bytes.get_mut(start..start + length);
        part.ok_or(Fault { address, reason })
    }
}

impl Memory for Ram {
    fn read(&mut self, address: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        buffer.copy_from_slice(self.at(address, buffer.len())?);
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        self.writes.push((address, data.len()));
        self.at(address, data.len())?.copy_from_slice(data);
        Ok(())
    }
}

/// An endpoint with a 64-bit BAR of 64 KiB, a 32-bit BAR of 4 KiB, PCI Express and MSI-X capabilities.
pub struct Endpoint {
    pub config: [u32; 64],
    pub bar: Vec<u8>,
    /// CRS answers still to give.
    pub not_ready: u32,
}

pub const EXPRESS: u16 = 0x60;
pub const MSIX: u16 = 0x90;

impl Default for Endpoint {
    fn default() -> Self {
        let mut config = [0; 64];
        config[0] = 0xABCD_1234;
        config[1] = config::STATUS_CAPABILITIES;
        config[2] = 0x0200_0003;
        config[4] = 0x4; // 64-bit
        config[6] = 0x0; // 32-bit
        config[13] = 0x40;
        config[0x40 / 4] = 0x01 | u32::from(EXPRESS) << 8; // power management
        config[0x60 / 4] = 0x10 | u32::from(MSIX) << 8;
        config[0x64 / 4] = 2 | 1 << 5; // payload up to 512, extended tags
        config[0x90 / 4] = 0x11 | 32 << 16; // 33 vectors
        config[0x94 / 4] = 0x8000;
        config[0x98 / 4] = 0x9002;
        Self {
            config,
            bar: vec![0; 1 << 16],
            not_ready: 0,
        }
    }
}

impl Endpoint {
    /// Bits of a configuration DW that software can write.
    fn mask(dw: usize) -> u32 {
        match dw {
            1 => 0x0547,
            4 => !0xFFFF,
            5 => !0,
            6 => !0xFFF,
            0x1A => 0xFFFF,
            0x24 => 0xC000_0000,
            _ => 0,
        }
    }

    /// What the endpoint answers to a request.
    pub fn answer(&mut self, tlp: &Tlp) -> Option<Tlp> {
        match tlp.header.body {
            Body::Config(r) => Some(self.configure(&r, &tlp.payload)),
            Body::Memory(r) if r.write => {
                let (first, bytes) = tlp.header.enabled_bytes()?;
                let (low, bytes) = ((first - r.address) as usize, usize::from(bytes));
                let at = first as usize & 0xFFFF;
                self.bar[at..at + bytes].copy_from_slice(&tlp.payload[low..low + bytes]);
                None
            }
            Body::Memory(r) => {
                let (first, bytes) = tlp.header.enabled_bytes()?;
                let at = r.address as usize & 0xFFFF;
                let payload = self.bar[at..at + 4 * usize::from(tlp.header.length)].to_vec();
                let completion = Completion {
                    completer: DEVICE,
                    status: Status::Success,
                    byte_count: bytes,
                    requester: r.requester,
                    tag: r.tag,
                    lower_address: (first & 0x7F) as u8,
                    data: true,
                };
                let header = Header::new(tlp.header.length, Body::Completion(completion));
                Some(Tlp { header, payload })
            }
            _ => None,
        }
    }

    fn configure(&mut self, r: &ConfigRequest, payload: &[u8]) -> Tlp {
        let dw = usize::from(r.offset / 4);
        let retry = self.not_ready > 0;
        self.not_ready = self.not_ready.saturating_sub(1);
        if let (&[a, b, c, d], false) = (payload, retry) {
            let enables = (0..4).map(|i| u32::from(r.first_be >> i & 1) * (0xFF << (8 * i)));
            let mask = Self::mask(dw) & enables.sum::<u32>();
            self.config[dw] = self.config[dw] & !mask | u32::from_le_bytes([a, b, c, d]) & mask;
        }
        let data = !r.write && !retry;
        let status = if retry {
            Status::ConfigRetry
        } else {
            Status::Success
        };
        let completion = Completion {
            completer: DEVICE,
            status,
            byte_count: 4,
            requester: r.requester,
            tag: r.tag,
            lower_address: 0,
            data,
        };
        let payload = if data {
            self.config[dw].to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        let header = Header::new(u16::from(data), Body::Completion(completion));
        Tlp { header, payload }
    }
}

/// Root complex, memory and endpoint, connected at TLP level.
pub struct Bench {
    pub rc: RootComplex,
    pub ram: Ram,
    pub endpoint: Endpoint,
}

impl Bench {
    pub fn new(settings: Settings) -> Self {
        let rc = RootComplex::new(settings).expect("legal settings");
        Self {
            rc,
            ram: Ram::default(),
            endpoint: Endpoint::default(),
        }
    }

    /// A bench whose device is enumerated.
    pub fn enumerated(settings: Settings) -> (Self, config::Device) {
        let mut bench = Self::new(settings);
        let device = config::enumerate(&mut bench, &config::Plan::default()).expect("enumerates");
        bench.rc.attach(&device);
        (bench, device)
    }

    /// Lets the endpoint answer until all is quiet; returns the completions that came for it.
    pub fn run(&mut self) -> Vec<Tlp> {
        let mut completions = Vec::new();
        loop {
            self.rc.settle(&mut self.ram);
            let Some(tlp) = self.rc.take_tlp() else {
                return completions;
            };
            match tlp.header.body {
                Body::Completion(_) => completions.push(tlp),
                _ => {
                    if let Some(answer) = self.endpoint.answer(&tlp) {
                        self.rc.push_tlp(answer);
                    }
                }
            }
        }
    }

    pub fn wait(&mut self, handle: Handle) -> Answer {
        self.run();
        self.rc.poll(handle).expect("answered when all is quiet")
    }

    /// Sends a read of the device and returns its completions.
    pub fn read(&mut self, tag: u8, address: u64, bytes: usize) -> Vec<Tlp> {
        self.rc
            .push_tlp(Tlp::bare(Header::memory_read(DEVICE, tag, address, bytes)));
        self.run()
    }

    /// The rules broken so far.
    pub fn broken(&self) -> Vec<Rule> {
        self.rc.violations().iter().map(|v| v.rule).collect()
    }
}

impl ConfigAccess for Bench {
    fn config_read(&mut self, offset: u16) -> Result<u32, Outcome> {
        let handle = self.rc.config_read(offset);
        match self.wait(handle) {
            Answer {
                value,
                outcome: Outcome::Success,
            } => Ok(value as u32),
            Answer { outcome, .. } => Err(outcome),
        }
    }

    fn config_write(&mut self, offset: u16, value: u32) -> Result<(), Outcome> {
        let handle = self.rc.config_write(offset, value, 0xF);
        match self.wait(handle).outcome {
            Outcome::Success => Ok(()),
            outcome => Err(outcome),
        }
    }
}

/// A memory request of the device, 3 DW, with everything right but what `change` does.
pub fn request(write: bool, length: u16, change: impl FnOnce(&mut MemoryRequest)) -> Tlp {
    let mut r = MemoryRequest {
        write,
        requester: DEVICE,
        tag: 0,
        first_be: 0xF,
        last_be: if length > 1 { 0xF } else { 0 },
        address: RAM,
        wide: false,
    };
    change(&mut r);
    let header = Header::new(length, Body::Memory(r));
    Tlp {
        header,
        payload: vec![0; header.payload_bytes()],
    }
}

/// A device at beat level: sends queued TLPs as fast as it may, collects what comes.
pub struct Streams {
    pub now_ps: u64,
    pub period_ps: u64,
    pub lanes: usize,
    /// Beats to send; true marks the first beat of a read.
    pub tx: VecDeque<(Beat, bool)>,
    /// A beat was shown and must stay.
    showing: bool,
    pub received: Vec<Tlp>,
    partial: Vec<u8>,
    /// Clocks in which `tx_ready` was low within a TLP.
    pub stalls_inside: u32,
    inside: bool,
}

impl Streams {
    pub fn new(settings: &Settings, period_ps: u64) -> Self {
        Self {
            now_ps: 0,
            period_ps,
            lanes: usize::from(settings.stream_bits / 32),
            tx: VecDeque::new(),
            showing: false,
            received: Vec::new(),
            partial: Vec::new(),
            stalls_inside: 0,
            inside: false,
        }
    }

    pub fn send(&mut self, tlp: &Tlp) {
        let mut bytes = Vec::new();
        tlp.encode(&mut bytes);
        let read = tlp.header.kind() == ferronic_pcie::Kind::MRd;
        let beats = ferronic_pcie::beats(&bytes, self.lanes).enumerate();
        self.tx
            .extend(beats.map(|(i, beat)| (beat, read && i == 0)));
    }

    /// One clock.
    pub fn step(&mut self, bench: &mut Bench, rx_ready: bool) {
        self.now_ps += self.period_ps;
        let inputs = bench.rc.outputs();
        if let (Some(beat), true) = (inputs.rx, rx_ready) {
            for lane in 0..self.lanes {
                if beat.keep >> lane & 1 != 0 {
                    self.partial
                        .extend_from_slice(&beat.data[lane].to_le_bytes());
                }
            }
            if beat.last {
                self.received
                    .push(Tlp::decode(&self.partial).expect("legal TLP"));
                self.partial.clear();
            }
        }
        let next = self.tx.front().copied();
        let shown = next.filter(|(_, read)| self.showing || !read || inputs.np_ready);
        let tx_ready = inputs.tx_ready;
        bench.rc.clock(
            self.now_ps,
            shown.as_ref().map(|(beat, _)| beat),
            rx_ready,
            &mut bench.ram,
        );
        self.showing = shown.is_some() && !tx_ready;
        self.stalls_inside += u32::from(self.inside && self.showing);
        if let (Some((beat, _)), true) = (shown, tx_ready) {
            self.inside = !beat.last;
            self.tx.pop_front();
        }
    }
}

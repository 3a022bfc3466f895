//! Configuration space: by its own bus, and found and set up by a root complex through the TLPs of the whole side.

mod tlp;

use ferronic_bench::models::{config_space::ConfigSpace, pcie_side_128::PcieSide128, pcie_side_64::PcieSide64};
use ferronic_contract::registers::{MSIX_PBA, MSIX_TABLE};
use ferronic_contract::{PCI_CLASS, PCI_DEVICE_ID, PCI_VENDOR_ID};
use ferronic_pcie::{enumerate, Answer, Beat, ConfigAccess, Device, Handle, Outcome, Plan, RootComplex, Settings};
use ferronic_verilated::PowerUp;
use tlp::{Random, Word};

struct Bench(ConfigSpace);

impl Bench {
    fn new() -> Self {
        let mut block = ConfigSpace::new(PowerUp::Random(4));
        start!(block);
        Self(block)
    }

    fn read(&mut self, addr: u16) -> u32 {
        self.0.set_cfg_addr(addr);
        self.0.set_cfg_read(true);
        tick!(self.0);
        self.0.set_cfg_read(false);
        for _ in 0..3 {
            tick!(self.0);
        }
        self.0.cfg_rdata()
    }

    /// Gives the pulses of `flr`.
    fn write(&mut self, addr: u16, data: u32, be: u8) -> usize {
        self.0.set_cfg_addr(addr);
        self.0.set_cfg_wdata(data);
        self.0.set_cfg_be(be);
        self.0.set_cfg_write(true);
        tick!(self.0);
        self.0.set_cfg_write(false);
        let mut pulses = 0;
        for _ in 0..4 {
            pulses += usize::from(self.0.flr());
            tick!(self.0);
        }
        pulses
    }
}

/// What is in every dword after reset, and which bits of it can be written; all others are 0.
const SPACE: [(u16, u32, u32); 19] = [
    (0x00, (PCI_DEVICE_ID as u32) << 16 | PCI_VENDOR_ID as u32, 0),
    (0x04, 0x0010_0000, 0x0000_0546),
    (0x08, PCI_CLASS << 8, 0),
    (0x10, 0x0000_0004, 0xFFFF_0000),
    (0x14, 0, 0xFFFF_FFFF),
    (0x2C, (PCI_DEVICE_ID as u32) << 16 | PCI_VENDOR_ID as u32, 0),
    (0x34, 0x40, 0),
    (0x3C, 0, 0xFF),
    (0x40, 0x0003_5001, 0),
    (0x44, 0x8, 0x3),
    (0x50, 0x0002_9010, 0),
    (0x54, 0x1000_8002, 0),
    (0x58, 0x2810, 0x78FF),
    (0x5C, 0x11, 0),
    (0x60, 0x0011_0000, 0xCB),
    (0x7C, 0x2, 0),
    (0x90, 63 << 16 | 0x11, 0xC000_0000),
    (0x94, MSIX_TABLE, 0),
    (0x98, MSIX_PBA, 0),
];

/// Caught when tried: a register shifted to the next dword, byte enables ignored, a read-only bit writable.
#[test]
fn every_dword_has_its_bits() {
    let mut bench = Bench::new();
    let mut random = Random(6);
    let mut model: Vec<(u32, u32)> = vec![(0, 0); 1024];
    SPACE.iter().for_each(|(addr, value, writable)| model[usize::from(addr / 4)] = (*value, *writable));
    for (word, (value, _)) in model.iter().enumerate() {
        assert_eq!(bench.read(4 * word as u16), *value, "{:#05x} after reset", 4 * word);
    }
    for _ in 0..3000 {
        let space = if random.percent(80) { 64 } else { 1024 };
        let word = random.below(space) as usize;
        let (mut data, be) = (random.next() as u32, random.below(16) as u8);
        match word {
            // D0 and D3hot are the states there are; function reset is for another test.
            0x11 => data = data & !3 | if random.percent(50) { 3 } else { 0 },
            0x16 => data &= !0x8000,
            _ => {}
        }
        bench.write(4 * word as u16, data, be);
        let bytes: u32 = (0..4).filter(|byte| be >> byte & 1 != 0).map(|byte| 0xFF << (8 * byte)).sum();
        let (value, writable) = &mut model[word];
        *value = *value & !(*writable & bytes) | data & *writable & bytes;
        let other = random.below(64) as usize;
        assert_eq!(bench.read(4 * word as u16), model[word].0, "{:#05x}", 4 * word);
        assert_eq!(bench.read(4 * other as u16), model[other].0, "{:#05x} after a write of {:#05x}", 4 * other, 4 * word);
    }
}

#[test]
fn the_outputs_follow_the_registers() {
    let mut bench = Bench::new();
    bench.0.set_cfg_target(0x0312);
    bench.write(0x10, 0xFFFF_FFFF, 15);
    bench.write(0x14, 0x0000_0012, 15);
    assert_eq!((bench.0.bar(), bench.0.bdf()), (0x12_FFFF_0000, 0x0312));
    assert!(!bench.0.mem_enable() && !bench.0.master_enable());
    bench.write(0x04, 0x2, 15);
    assert!(bench.0.mem_enable() && !bench.0.master_enable());
    bench.write(0x04, 0x4, 15);
    assert!(!bench.0.mem_enable() && bench.0.master_enable());
    assert_eq!((bench.0.mps(), bench.0.mrrs(), bench.0.rcb()), (0, 2, false));
    bench.write(0x58, 0x5040, 3);
    bench.write(0x60, 0x8, 1);
    assert_eq!((bench.0.mps(), bench.0.mrrs(), bench.0.rcb()), (2, 5, true));
    bench.write(0x90, 0x8000_0000, 12);
    assert!(bench.0.msix_enable() && !bench.0.msix_mask());
    bench.write(0x90, 0x4000_0000, 12);
    assert!(!bench.0.msix_enable() && bench.0.msix_mask());
    // In D3hot neither memory nor bus mastering; D1 and D2 are not there.
    bench.write(0x04, 0x6, 15);
    bench.write(0x44, 1, 15);
    assert!(bench.0.mem_enable() && bench.0.master_enable() && bench.read(0x44) & 3 == 0);
    bench.write(0x44, 3, 15);
    assert!(!bench.0.mem_enable() && !bench.0.master_enable() && bench.read(0x44) & 3 == 3);
    bench.write(0x44, 0, 15);
    assert!(bench.0.mem_enable() && bench.0.master_enable());
}

/// Caught when tried: MPS reset by FLR; the pulse without byte enable 1.
#[test]
fn a_function_level_reset_keeps_what_it_must() {
    let mut bench = Bench::new();
    bench.0.set_cfg_target(0x0100);
    for (addr, data) in [(0x04, 0x546), (0x10, 0xABCD_0000), (0x14, 7), (0x3C, 11), (0x58, 0x507F), (0x60, 0xCB), (0x90, 0xC000_0000)] {
        assert_eq!(bench.write(addr, data, 15), 0);
    }
    assert_eq!(bench.write(0x58, 0x8000, 0b1101), 0, "the byte of the bit is not enabled");
    assert_eq!(bench.write(0x58, 0xD07F, 0b0010), 1);
    for (addr, value) in [(0x04, 0x0010_0000), (0x10, 4), (0x14, 0), (0x3C, 0), (0x60, 0x0011_00CB), (0x90, 63 << 16 | 0x11)] {
        assert_eq!(bench.read(addr), value, "{addr:#x}");
    }
    assert_eq!(bench.read(0x58), 0x2810 | 0x00, "MPS was written 0 by the reset's own dword");
    bench.write(0x58, 0x0040, 15);
    assert_eq!(bench.write(0x58, 0x8040, 15), 1);
    assert_eq!((bench.read(0x58), bench.0.bdf()), (0x2850, 0x0100));
}

/// A world of one root complex and the PCI Express side of a core whose registers all read as their address.
macro_rules! world {
    ($world:ident, $model:ty, $word:ty, $fire:expr) => {
        struct $world {
            side: $model,
            root: RootComplex,
            now_ps: u64,
            due: Option<(u32, u32)>,
            written: Vec<(u16, u32)>,
            bad: usize,
        }

        struct NoMemory;

        impl ferronic_pcie::Memory for NoMemory {
            fn read(&mut self, address: u64, _: &mut [u8]) -> Result<(), ferronic_pcie::Fault> {
                Err(ferronic_pcie::Fault { address, reason: "there is no memory" })
            }
            fn write(&mut self, address: u64, _: &[u8]) -> Result<(), ferronic_pcie::Fault> {
                Err(ferronic_pcie::Fault { address, reason: "there is no memory" })
            }
        }

        impl $world {
            fn new(seed: u64) -> Self {
                let lanes = <$word>::LANES as u32 * 32;
                let settings = Settings { stream_bits: lanes as _, seed, tx_stall_permille: 200, rx_gap_permille: 200, ..Default::default() };
                let mut side = <$model>::new(PowerUp::Random(seed));
                start!(side);
                let root = RootComplex::new(settings).unwrap();
                Self { side, root, now_ps: 0, due: None, written: vec![], bad: 0 }
            }

            fn step(&mut self) {
                self.now_ps += 8_000;
                let inputs = self.root.outputs();
                self.side.set_tx_ready(inputs.tx_ready);
                self.side.set_np_ready(inputs.np_ready);
                self.side.set_rx_valid(inputs.rx.is_some());
                if let Some(beat) = inputs.rx {
                    self.side.set_rx_data(<$word>::pack(&beat.data));
                    self.side.set_rx_keep(beat.keep as u8);
                    self.side.set_rx_last(beat.last);
                }
                let mut answer = 0;
                self.due = match self.due {
                    Some((0, data)) => {
                        answer = data;
                        None
                    }
                    Some((wait, data)) => Some((wait - 1, data)),
                    None => None,
                };
                self.side.set_bus_rdata(answer);
                self.side.eval();
                let addr = self.side.bus_addr();
                if addr < 0x8000 && self.side.bus_read() {
                    self.due = Some((3, 0xAB00_0000 | u32::from(addr)));
                }
                if self.side.bus_write() {
                    self.written.push((addr, self.side.bus_wdata()));
                }
                self.bad += usize::from(self.side.bad());
                let mut beat = Beat::EMPTY;
                let tx = self.side.tx_valid().then(|| {
                    for (lane, word) in beat.data.iter_mut().zip(self.side.tx_data().lanes()) {
                        *lane = word;
                    }
                    beat.keep = self.side.tx_keep().into();
                    beat.last = self.side.tx_last();
                    &beat
                });
                self.root.clock(self.now_ps, tx, self.side.rx_ready(), &mut NoMemory);
                tick!(self.side);
            }

            fn wait(&mut self, handle: Handle) -> Answer {
                for _ in 0..20_000 {
                    if let Some(answer) = self.root.poll(handle) {
                        return answer;
                    }
                    self.step();
                }
                panic!("no answer");
            }

            fn read(&mut self, addr: u64, bytes: usize) -> (u64, Outcome) {
                let handle = self.root.cpu_read(addr, bytes);
                let answer = self.wait(handle);
                (answer.value, answer.outcome)
            }

            fn boot(&mut self) -> Device {
                // The first configuration write tells the function its number; until then it says 0 (2.2.9).
                self.config_write(0x3C, 0).unwrap();
                let device = enumerate(self, &Plan::default()).unwrap();
                self.root.attach(&device);
                device
            }
        }

        impl ConfigAccess for $world {
            fn config_read(&mut self, offset: u16) -> Result<u32, Outcome> {
                let handle = self.root.config_read(offset);
                match self.wait(handle) {
                    Answer { value, outcome: Outcome::Success } => Ok(value as u32),
                    answer => Err(answer.outcome),
                }
            }
            fn config_write(&mut self, offset: u16, value: u32) -> Result<(), Outcome> {
                let handle = self.root.config_write(offset, value, 15);
                match self.wait(handle).outcome {
                    Outcome::Success => Ok(()),
                    outcome => Err(outcome),
                }
            }
        }
    };
}

macro_rules! enumeration {
    ($test:ident, $vectors:expr, $fire:expr) => {
        #[test]
        fn $test() {
            let mut world = World::new(11);
            let device = world.boot();
            assert_eq!((device.vendor, device.device, device.class), (PCI_VENDOR_ID, PCI_DEVICE_ID, PCI_CLASS));
            assert_eq!(device.bars.len(), 1);
            let bar = &device.bars[0];
            assert_eq!((bar.index, bar.size, bar.wide, bar.prefetchable), (0, 0x1_0000, true, false));
            let msix = device.msix.as_ref().unwrap();
            assert_eq!(
                (u64::from(msix.vectors), msix.table, msix.pending),
                ($vectors, (0, MSIX_TABLE), (0, MSIX_PBA))
            );
            let bar = bar.address;

            // Registers: one dword, two, bytes, and outside.
            assert_eq!(world.read(bar + 0x1028, 4), (0xAB00_1028, Outcome::Success));
            assert_eq!(world.read(bar + 0x1028, 8), (0xAB00_102C_AB00_1028, Outcome::Success));
            assert_eq!(world.read(bar + 0x102A, 1), (0, Outcome::Success));
            assert_eq!(world.read(bar + 0x1029, 1), (0x10, Outcome::Success));
            assert_eq!(world.read(bar + 0x1_0000, 4).1, Outcome::UnsupportedRequest);
            world.root.cpu_write(bar + 0x2028, &[1, 2, 3, 4, 5, 6, 7, 8]);
            world.root.cpu_write32(bar + 0x1028, 9);
            world.read(bar, 4);
            assert_eq!(world.written, [(0x2028, 0x0403_0201), (0x202C, 0x0807_0605), (0x1028, 9)]);

            // The last vector, by MSI-X.
            let vector = $vectors - 1;
            let entry = bar + u64::from(MSIX_TABLE) + 16 * vector;
            world.root.cpu_write32(entry, 0xFEE0_1000);
            world.root.cpu_write32(entry + 4, 0);
            world.root.cpu_write32(entry + 8, 0x4321);
            world.root.cpu_write32(entry + 12, 0);
            world.config_write(device.msix.unwrap().offset, 0x8000_0000).unwrap();
            assert_eq!(world.read(entry, 8), (0xFEE0_1000, Outcome::Success));
            world.side.set_fire($fire);
            world.step();
            world.side.set_fire(0);
            (0..2000).for_each(|_| world.step());
            let interrupt = world.root.take_interrupt().expect("no interrupt");
            assert_eq!((interrupt.address, interrupt.data), (0xFEE0_1000, 0x4321));
            assert!(world.root.take_interrupt().is_none());

            assert_eq!(world.bad, 0);
            assert_eq!(world.root.violations(), []);
        }
    };
}

/// Caught when tried: a BAR of another size, MSI-X table size not less one, capability list without MSI-X.
mod at_64 {
    use super::*;
    world!(World, PcieSide64, u64, 1 << 7);
    enumeration!(a_root_complex_finds_and_sets_up_the_function, 8, 1 << 7);

    /// The core is reset while bus mastering holds a short write back: it must not go out when the bit is set again.
    #[test]
    fn a_write_that_its_source_withdrew_is_not_sent() {
        let mut world = World::new(12);
        world.boot();
        let command = world.config_read(4).unwrap();
        world.config_write(4, command & !4).unwrap();
        world.side.set_index_addr(0xDEAD_0000);
        world.side.set_index_valid(true);
        (0..50).for_each(|_| world.step());
        world.side.set_index_valid(false);
        world.side.set_core_reset(true);
        world.step();
        world.side.set_core_reset(false);
        world.config_write(4, command | 4).unwrap();
        (0..500).for_each(|_| world.step());
        // This memory refuses every access.
        assert_eq!(world.root.memory_faults(), []);
        world.side.set_index_valid(true);
        (0..500).for_each(|_| world.step());
        assert!(!world.root.memory_faults().is_empty(), "short writes work again");
    }
}

/// The same at 128 bits and with 64 vectors.
mod at_128 {
    use super::*;
    world!(World, PcieSide128, [u32; 4], 1 << 63);
    enumeration!(a_root_complex_finds_and_sets_up_the_function, 64, 1 << 63);
}

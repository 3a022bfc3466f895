//! The register blocks: every register of the contract at its offset, and nothing anywhere else.
//!
//! Caught when tried: two offsets swapped in a bank, a mask one bit short, `rdata` not cleared when another
//! block is read, the own address taking effect with MAC_LOW, a doorbell kept over a disable.

use ferronic_bench::models::{regs_global::RegsGlobal, regs_queue::RegsQueue, regs_vector::RegsVector};
use ferronic_contract::cause::Cause;
use ferronic_contract::registers::{self, queue, vector, Access, Register};
use ferronic_contract::thresholds::Thresholds;
use ferronic_verilated::PowerUp;

/// The register bus of a block.
trait Bus {
    fn drive(&mut self, addr: u32, wdata: u32, write: bool, read: bool);
    fn set_reset(&mut self, on: bool);
    fn tick(&mut self);
    fn rdata(&self) -> u32;

    fn start(&mut self) {
        self.set_reset(true);
        self.drive(0, 0, false, false);
        self.tick();
        self.tick();
        self.set_reset(false);
        self.tick();
    }

    fn store(&mut self, addr: u32, value: u32) {
        self.drive(addr, value, true, false);
        self.tick();
        // The completer holds what is written for two more cycles, the address it does not.
        self.drive(0xFFFC, value, false, false);
        (0..2).for_each(|_| self.tick());
    }

    /// Reads as the completer does: the answer is sampled four cycles after the strobe.
    fn load(&mut self, addr: u32) -> u32 {
        self.drive(addr, 0xDEAD_BEEF, false, true);
        self.tick();
        self.drive(0xFFFC, 0, false, false);
        (0..3).for_each(|_| self.tick());
        self.rdata()
    }
}

macro_rules! bus {
    ($model:ty) => {
        impl Bus for $model {
            fn drive(&mut self, addr: u32, wdata: u32, write: bool, read: bool) {
                self.set_bus_addr(addr as u16);
                self.set_bus_wdata(wdata);
                self.set_bus_write(write);
                self.set_bus_read(read);
            }
            fn set_reset(&mut self, on: bool) {
                <$model>::set_reset(self, on);
            }
            fn tick(&mut self) {
                self.set_clock(false);
                self.eval();
                self.set_clock(true);
                self.eval();
            }
            fn rdata(&self) -> u32 {
                <$model>::rdata(self)
            }
        }
    };
}

bus!(RegsGlobal);
bus!(RegsQueue);
bus!(RegsVector);

/// Writes ones, then zeros, to every offset of the block's page; what reads back must be what `mask` allows.
fn walk(bus: &mut impl Bus, base: u32, group: &[Register], mask: impl Fn(&str) -> u32) {
    for offset in (0..0x100).step_by(4) {
        let register = group.iter().find(|register| register.offset == offset);
        if register.is_some_and(|register| register.name == registers::TIME.name) {
            continue;
        }
        let stays = register.is_none_or(|register| register.access != Access::Rw);
        let before = bus.load(base + offset);
        for value in [u32::MAX, 0, 0xA5A5_5A5A] {
            bus.store(base + offset, value);
            let expected = match register {
                None => 0,
                Some(register) if register.access == Access::Wo => 0,
                Some(_) if stays => before,
                Some(register) => value & mask(register.name),
            };
            assert_eq!(bus.load(base + offset), expected, "{:#x} {:?}", offset, register.map(|register| register.name));
        }
        assert_eq!(bus.load(base + 0x4000 + offset), 0, "another page");
    }
}

#[test]
fn queue_registers_stand_where_the_contract_says() {
    let mut queue = RegsQueue::new(PowerUp::Random(1));
    queue.start();
    assert_eq!(queue.load(registers::RX_QUEUE + queue::THRESHOLDS.offset), Thresholds::default().register());
    walk(&mut queue, registers::RX_QUEUE, &queue::REGISTERS, |name| match name {
        "CONTROL" => queue::CONTROL.bits(),
        "RING_LOW" => !0xFFF,
        "SIZE" => 0xF,
        "DONE_LOW" | "INDEX_LOW" => !3,
        "LOW_WATER" => 0xFFFF,
        "WTIMER" => 0xFF_FFFF,
        _ => u32::MAX,
    });
}

#[test]
fn a_queue_starts_at_zero_and_remembers_why_it_stopped() {
    let base = registers::RX_QUEUE;
    let mut queue = RegsQueue::new(PowerUp::Random(2));
    queue.start();
    queue.set_idle(true);
    queue.store(base + queue::RING_LOW.offset, 0x8765_4FFF);
    queue.store(base + queue::RING_HIGH.offset, 0x1234);
    assert_eq!(queue.base(), 0x1234_8765_4);
    queue.store(base + queue::TAIL.offset, 77);
    queue.tick();
    assert_eq!(queue.tail(), 0, "a doorbell before the queue runs is forgotten");
    queue.store(base + queue::CONTROL.offset, 1);
    queue.tick();
    assert_eq!(queue.load(base + queue::STATUS.offset), 0, "running");
    queue.store(base + queue::TAIL.offset, 78);
    queue.tick();
    assert_eq!(queue.tail(), 78);

    for cause in [Cause::TimeOut, Cause::Poisoned] {
        queue.set_error(true);
        queue.set_cause(cause as u8);
        queue.tick();
    }
    queue.set_error(false);
    queue.tick();
    assert!(queue.stopped());
    let stopped = queue::IDLE.at(1) | queue::STOPPED.at(1) | queue::CAUSE.at(Cause::TimeOut as u32);
    assert_eq!(queue.load(base + queue::STATUS.offset), stopped, "the first cause counts");
    queue.store(base + queue::CONTROL.offset, 0);
    queue.tick();
    assert_eq!(queue.load(base + queue::STATUS.offset), queue::IDLE.at(1));
    assert_eq!(queue.tail(), 0);
    queue.set_idle(false);
    assert_eq!(queue.load(base + queue::STATUS.offset), 0, "not idle while a block is busy");
}

#[test]
fn queue_counters_count_what_they_are_named_for() {
    let mut model = RegsQueue::new(PowerUp::Random(3));
    model.start();
    type Pulse = fn(&mut RegsQueue, bool);
    let counters: [(Register, Pulse, u32); 10] = [
        (queue::READS, |m, on| m.set_read(on), 1),
        (queue::DESCRIPTORS, |m, on| m.set_read(on), 13),
        (queue::STARVED, |m, on| m.set_starved(on), 1),
        (queue::WAITED, |m, on| m.set_waited(on), 1),
        (queue::FRAMES, |m, on| m.set_frame(on), 1),
        (queue::DROP_BUFFER, |m, on| m.set_drop_buffer(on), 1),
        (queue::LOW_WATER_EVENTS, |m, on| m.set_low_event(on), 1),
        (queue::DROP_NO_DESCRIPTOR, |m, on| m.set_drop_no_descriptor(on), 1),
        (queue::DROP_DISABLED, |m, on| m.set_drop_disabled(on), 1),
        (queue::CUT, |m, on| m.set_cut(on), 1),
    ];
    model.set_read_count(13);
    for (register, pulse, step) in counters {
        let before: Vec<u32> = counters.iter().map(|c| model.load(registers::RX_QUEUE + c.0.offset)).collect();
        pulse(&mut model, true);
        (0..5).for_each(|_| model.tick());
        pulse(&mut model, false);
        model.tick();
        for ((other, _, _), before) in counters.iter().zip(before) {
            let moved = model.load(registers::RX_QUEUE + other.offset) - before;
            let together = [queue::READS.name, queue::DESCRIPTORS.name];
            if other.name == register.name {
                assert_eq!(moved, 5 * step, "{}", register.name);
            } else if !(together.contains(&other.name) && together.contains(&register.name)) {
                assert_eq!(moved, 0, "{} moved {}", register.name, other.name);
            }
        }
    }
}

#[test]
fn global_registers_stand_where_the_contract_says() {
    let mut global = RegsGlobal::new(PowerUp::Random(4));
    global.start();
    assert_eq!(global.load(registers::ID.offset), registers::ID_VALUE);
    assert_eq!(global.load(registers::VERSION.offset), registers::VERSION_VALUE);
    assert_eq!(global.load(registers::FEATURES.offset), 1);
    assert_eq!(global.load(registers::MAX_FRAME.offset), 1518);
    assert_eq!(global.max_frame(), 1518);
    assert_eq!(global.load(registers::CLOCK_KHZ.offset), 125_000);
    walk(&mut global, registers::GLOBAL, &registers::GLOBALS, |name| match name {
        "CONTROL" => 7,
        "MAC_HIGH" => 0x7_FFFF,
        "MAX_FRAME" => 0x3FFF,
        "TIMEOUT" => 0xFFFF,
        "HOLD" => 0xFF_FFFF,
        "RX_MODE" => registers::RX_MODE.bits(),
        "RSS" => registers::RSS.bits(),
        "HASH_FILTER" => registers::HASH_FILTER.bits(),
        "FLOW" => registers::FLOW.bits(),
        _ => u32::MAX,
    });
    global.store(registers::MAX_FRAME.offset, 16_000);
    global.tick();
    assert_eq!(global.max_frame(), ferronic_contract::MAX_FRAME, "clamped");
}

#[test]
fn time_goes_on_and_nobody_sets_it() {
    let mut global = RegsGlobal::new(PowerUp::Random(7));
    global.start();
    let before = global.load(registers::TIME.offset);
    global.store(registers::TIME.offset, 0);
    assert_eq!(global.load(registers::TIME.offset) - before, 7, "a load takes 4 cycles, a store 3");
}

#[test]
fn a_filter_write_brings_its_epoch() {
    let mut global = RegsGlobal::new(PowerUp::Random(8));
    global.start();
    global.set_new_epoch(6);
    global.tick();
    assert_eq!(global.epoch(), 0);
    global.set_epoch_write(true);
    global.tick();
    global.set_epoch_write(false);
    global.set_new_epoch(1);
    global.tick();
    assert_eq!(global.epoch(), 6);
}

#[test]
fn the_own_address_changes_with_its_epoch_in_one_cycle() {
    let mut global = RegsGlobal::new(PowerUp::Random(5));
    global.start();
    let watch = |global: &mut RegsGlobal, addr: u32, value: u32| {
        let mut seen = vec![(global.own_mac(), global.epoch())];
        global.drive(addr, value, true, false);
        for _ in 0..4 {
            global.tick();
            global.drive(0xFFFC, value, false, false);
            seen.push((global.own_mac(), global.epoch()));
        }
        seen.dedup();
        seen
    };
    assert_eq!(watch(&mut global, registers::MAC_LOW.offset, 0x0403_0201), [(0, 0)]);
    let high = registers::MAC_45.at(0x0605) | registers::MAC_EPOCH.at(5);
    assert_eq!(watch(&mut global, registers::MAC_HIGH.offset, high), [(0, 0), (0x0605_0403_0201, 5)]);
}

#[test]
fn vector_registers_reach_the_moderation() {
    let base = registers::VECTOR + registers::VECTOR_STRIDE;
    let mut model = RegsVector::new(PowerUp::Random(6));
    model.start();
    assert_eq!(model.load(base + vector::FRAMES.offset), 1);
    for (register, mask) in [(vector::FRAMES, 0xFF), (vector::CYCLES, 0xFF_FFFF), (vector::ARM, 0), (vector::DISARM, 0)] {
        model.store(base + register.offset, u32::MAX);
        assert_eq!(model.load(base + register.offset), mask, "{}", register.name);
    }
    let fired = |model: &mut RegsVector, cycles: usize| -> usize {
        (0..cycles).filter(|_| {
            model.tick();
            model.fire()
        })
        .count()
    };
    let before = model.load(base + vector::SENT.offset);
    model.store(base + vector::FRAMES.offset, 2);
    model.store(base + vector::CYCLES.offset, 0xFF_FFFF);
    model.set_producer(9);
    model.store(base + vector::ARM.offset, 9);
    assert_eq!(fired(&mut model, 50), 0);
    model.set_producer(10);
    assert_eq!(fired(&mut model, 50), 0, "one event of two");
    model.set_producer(11);
    assert_eq!(fired(&mut model, 50), 1);
    model.set_producer(20);
    assert_eq!(fired(&mut model, 50), 0, "disarmed after it fired");
    model.store(base + vector::ARM.offset, 11);
    assert_eq!(fired(&mut model, 50), 1, "the producer had moved on");
    assert_eq!(model.load(base + vector::SENT.offset) - before, 2);
}

//! The global registers: identity, control, own address, limits, counters of the wire.

use super::bank::Bank;
use ferronic_contract::registers::{self, ID_VALUE, VERSION_VALUE};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// What a build of the core tells of itself.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Queue pairs.
    pub queues: u32,
    /// Bytes of the stream a cycle.
    pub stream_bytes: u32,
    /// log2 of the bytes of the RX packet FIFO.
    pub rx_fifo_log2: u32,
    /// Tags for payload reads.
    pub read_tags: u32,
    /// Rate of the clock.
    pub clock_khz: u32,
}

impl Build {
    fn params(&self) -> u32 {
        registers::QUEUES.at(self.queues)
            | registers::STREAM_BYTES.at(self.stream_bytes)
            | registers::RX_FIFO_LOG2.at(self.rx_fifo_log2)
            | registers::READ_TAGS.at(self.read_tags)
    }
}

/// The global registers.
#[derive(LogicBlock)]
pub struct GlobalRegs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus_addr: Signal<In, Bits<16>>,
    pub bus_wdata: Signal<In, Bits<32>>,
    pub bus_write: Signal<In, Bit>,
    pub bus_read: Signal<In, Bit>,
    pub rdata: Signal<Out, Bits<32>>,
    /// One cycle: software asks for a reset. RESET reads 1 until `reset` comes.
    pub soft_reset: Signal<Out, Bit>,
    pub rx_enable: Signal<Out, Bit>,
    pub tx_enable: Signal<Out, Bit>,
    /// Byte 0 in bits 7:0.
    pub own_mac: Signal<Out, Bits<48>>,
    pub epoch: Signal<Out, Bits<3>>,
    pub max_frame: Signal<Out, Bits<14>>,
    pub timeout: Signal<Out, Bits<16>>,
    pub frame_in: Signal<In, Bit>,
    pub drop_disabled: Signal<In, Bit>,
    pub drop_undersize: Signal<In, Bit>,
    pub drop_oversize: Signal<In, Bit>,
    pub drop_bad: Signal<In, Bit>,
    pub drop_fifo: Signal<In, Bit>,
    pub drop_no_descriptor: Signal<In, Bit>,
    pub frame_out: Signal<In, Bit>,
    pub unexpected: Signal<In, Bit>,
    pub malformed: Signal<In, Bit>,
    /// A frame given up inside the core, as if it had never come in.
    pub drop_disabled_late: Signal<In, Bit>,
    bank: Bank<6, 5, 10>,
    longest: DFF<Bits<14>>,
    mac: DFF<Bits<48>>,
    mac_epoch: DFF<Bits<3>>,
    id: Constant<Bits<32>>,
    version: Constant<Bits<32>>,
    params: Constant<Bits<32>>,
    features: Constant<Bits<32>>,
    clock_khz: Constant<Bits<32>>,
    max_frame_limit: Constant<Bits<32>>,
}

impl GlobalRegs {
    /// Registers of a core with these parameters.
    pub fn new(build: Build) -> Self {
        let writable = [
            (registers::CONTROL, registers::RX_ENABLE.mask() | registers::TX_ENABLE.mask() | registers::RESET.mask(), 0),
            (registers::MAC_LOW, u32::MAX, 0),
            (registers::MAC_HIGH, registers::MAC_45.mask() | registers::MAC_EPOCH.mask(), 0),
            (registers::MAX_FRAME, 0x3FFF, 1518),
            (registers::TIMEOUT, 0xFFFF, 6104),
            (registers::SCRATCH, u32::MAX, 0),
        ];
        let shown = [
            registers::ID,
            registers::VERSION,
            registers::PARAMS,
            registers::FEATURES,
            registers::CLOCK_KHZ,
        ];
        let counters = [
            registers::FRAMES_IN,
            registers::DROP_DISABLED,
            registers::DROP_UNDERSIZE,
            registers::DROP_OVERSIZE,
            registers::DROP_BAD,
            registers::DROP_FIFO,
            registers::DROP_NO_DESCRIPTOR,
            registers::FRAMES_OUT,
            registers::UNEXPECTED,
            registers::MALFORMED,
        ];
        Self {
            clock: Default::default(),
            reset: Default::default(),
            bus_addr: Default::default(),
            bus_wdata: Default::default(),
            bus_write: Default::default(),
            bus_read: Default::default(),
            rdata: Default::default(),
            soft_reset: Default::default(),
            rx_enable: Default::default(),
            tx_enable: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            max_frame: Default::default(),
            timeout: Default::default(),
            frame_in: Default::default(),
            drop_disabled: Default::default(),
            drop_undersize: Default::default(),
            drop_oversize: Default::default(),
            drop_bad: Default::default(),
            drop_fifo: Default::default(),
            drop_no_descriptor: Default::default(),
            frame_out: Default::default(),
            unexpected: Default::default(),
            malformed: Default::default(),
            drop_disabled_late: Default::default(),
            bank: Bank::new(registers::GLOBAL, writable, shown, counters),
            longest: Default::default(),
            mac: Default::default(),
            mac_epoch: Default::default(),
            id: Constant::new(u64::from(ID_VALUE).into()),
            version: Constant::new(u64::from(VERSION_VALUE).into()),
            params: Constant::new(u64::from(build.params()).into()),
            features: Constant::new(u64::from(registers::FEATURE_L2.mask()).into()),
            clock_khz: Constant::new(u64::from(build.clock_khz).into()),
            max_frame_limit: Constant::new(u64::from(ferronic_contract::MAX_FRAME).into()),
        }
    }
}

impl Logic for GlobalRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, longest, mac, mac_epoch);
        self.bank.clock.next = self.clock.val();
        self.bank.reset.next = self.reset.val();
        self.bank.bus_addr.next = self.bus_addr.val();
        self.bank.bus_wdata.next = self.bus_wdata.val();
        self.bank.bus_write.next = self.bus_write.val();
        self.bank.bus_read.next = self.bus_read.val();
        self.rdata.next = self.bank.rdata.val();
        self.soft_reset.next = self.bank.written[0].val() & self.bank.value[0].val().get_bit(0);
        self.rx_enable.next = self.bank.value[0].val().get_bit(1);
        self.tx_enable.next = self.bank.value[0].val().get_bit(2);
        self.max_frame.next = self.longest.q.val();
        self.longest.d.next = self.bank.value[3].val().get_bits::<14>(0);
        if self.bank.value[3].val() > self.max_frame_limit.val() {
            self.longest.d.next = self.max_frame_limit.val().get_bits::<14>(0);
        }
        self.timeout.next = self.bank.value[4].val().get_bits::<16>(0);

        // The whole address and its epoch change in one cycle.
        if self.bank.written[2].val() {
            self.mac.d.next = bit_cast::<48, 32>(self.bank.value[1].val())
                | (bit_cast::<48, 16>(self.bank.value[2].val().get_bits::<16>(0)) << 32);
            self.mac_epoch.d.next = self.bank.value[2].val().get_bits::<3>(16);
        }
        self.own_mac.next = self.mac.q.val();
        self.epoch.next = self.mac_epoch.q.val();

        self.bank.show[0].next = self.id.val();
        self.bank.show[1].next = self.version.val();
        self.bank.show[2].next = self.params.val();
        self.bank.show[3].next = self.features.val();
        self.bank.show[4].next = self.clock_khz.val();
        self.bank.amount[0].next = 0.into();
        if self.frame_in.val() {
            self.bank.amount[0].next = 1.into();
        }
        self.bank.amount[1].next = 0.into();
        if self.drop_disabled.val() & self.drop_disabled_late.val() {
            self.bank.amount[1].next = 2.into();
        } else if self.drop_disabled.val() | self.drop_disabled_late.val() {
            self.bank.amount[1].next = 1.into();
        }
        self.bank.amount[2].next = 0.into();
        if self.drop_undersize.val() {
            self.bank.amount[2].next = 1.into();
        }
        self.bank.amount[3].next = 0.into();
        if self.drop_oversize.val() {
            self.bank.amount[3].next = 1.into();
        }
        self.bank.amount[4].next = 0.into();
        if self.drop_bad.val() {
            self.bank.amount[4].next = 1.into();
        }
        self.bank.amount[5].next = 0.into();
        if self.drop_fifo.val() {
            self.bank.amount[5].next = 1.into();
        }
        self.bank.amount[6].next = 0.into();
        if self.drop_no_descriptor.val() {
            self.bank.amount[6].next = 1.into();
        }
        self.bank.amount[7].next = 0.into();
        if self.frame_out.val() {
            self.bank.amount[7].next = 1.into();
        }
        self.bank.amount[8].next = 0.into();
        if self.unexpected.val() {
            self.bank.amount[8].next = 1.into();
        }
        self.bank.amount[9].next = 0.into();
        if self.malformed.val() {
            self.bank.amount[9].next = 1.into();
        }
        if self.reset.val() {
            self.mac.d.next = 0.into();
            self.mac_epoch.d.next = 0.into();
        }
    }
}

//! The global registers: identity, control, own address, limits, counters of the wire.

use super::bank::Bank;
use ferronic_contract::registers::{self, ID_VALUE, VERSION_VALUE};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// What a build of the core tells of itself.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// RX queues.
    pub rx_queues: u32,
    /// TX queues.
    pub tx_queues: u32,
    /// Bytes of the stream a cycle.
    pub stream_bytes: u32,
    /// log2 of the bytes of the RX packet FIFO.
    pub rx_fifo_log2: u32,
    /// Tags for payload reads.
    pub read_tags: u32,
    /// Rate of the clock.
    pub clock_khz: u32,
    /// Value of FEATURES.
    pub features: u32,
}

impl Build {
    fn params(&self) -> u32 {
        registers::RX_QUEUES.at(self.rx_queues)
            | registers::TX_QUEUES.at(self.tx_queues)
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
    pub hold: Signal<Out, Bits<24>>,
    pub rx_mode: Signal<Out, Bits<32>>,
    pub rss: Signal<Out, Bits<32>>,
    pub hash_filter: Signal<Out, Bits<32>>,
    pub flow: Signal<Out, Bits<32>>,
    pub flow_marks: Signal<Out, Bits<32>>,
    /// Cycles since reset.
    pub now: Signal<Out, Bits<32>>,
    /// A filter was written: the epoch is another from the next cycle on.
    pub epoch_write: Signal<In, Bit>,
    pub new_epoch: Signal<In, Bits<3>>,
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
    pub drop_filter: Signal<In, Bit>,
    pub pause_in: Signal<In, Bit>,
    pub pause_out: Signal<In, Bit>,
    bank: Bank<12, 6, 13>,
    longest: DFF<Bits<14>>,
    mac: DFF<Bits<48>>,
    mac_epoch: DFF<Bits<3>>,
    clock_count: DFF<Bits<32>>,
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
            (registers::CONTROL, registers::CONTROL.bits(), 0),
            (registers::MAC_LOW, u32::MAX, 0),
            (registers::MAC_HIGH, registers::MAC_HIGH.bits(), 0),
            (registers::MAX_FRAME, 0x3FFF, 1518),
            (registers::TIMEOUT, 0xFFFF, 6104),
            (registers::SCRATCH, u32::MAX, 0),
            (registers::HOLD, 0xFF_FFFF, 0),
            (registers::RX_MODE, registers::RX_MODE.bits(), registers::PROMISCUOUS.mask()),
            (registers::RSS, registers::RSS.bits(), 0),
            (registers::HASH_FILTER, registers::HASH_FILTER.bits(), 0),
            (registers::FLOW, registers::FLOW.bits(), 0),
            (registers::FLOW_MARKS, registers::FLOW_MARKS.bits(), 0),
        ];
        let shown = [
            registers::ID,
            registers::VERSION,
            registers::PARAMS,
            registers::FEATURES,
            registers::CLOCK_KHZ,
            registers::TIME,
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
            registers::DROP_FILTER,
            registers::PAUSE_IN,
            registers::PAUSE_OUT,
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
            hold: Default::default(),
            rx_mode: Default::default(),
            rss: Default::default(),
            hash_filter: Default::default(),
            flow: Default::default(),
            flow_marks: Default::default(),
            now: Default::default(),
            epoch_write: Default::default(),
            new_epoch: Default::default(),
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
            drop_filter: Default::default(),
            pause_in: Default::default(),
            pause_out: Default::default(),
            bank: Bank::new(registers::GLOBAL, writable, shown, counters),
            longest: Default::default(),
            mac: Default::default(),
            mac_epoch: Default::default(),
            clock_count: Default::default(),
            id: Constant::new(u64::from(ID_VALUE).into()),
            version: Constant::new(u64::from(VERSION_VALUE).into()),
            params: Constant::new(u64::from(build.params()).into()),
            features: Constant::new(u64::from(build.features).into()),
            clock_khz: Constant::new(u64::from(build.clock_khz).into()),
            max_frame_limit: Constant::new(u64::from(ferronic_contract::MAX_FRAME).into()),
        }
    }
}

impl Logic for GlobalRegs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, longest, mac, mac_epoch, clock_count);
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

        self.hold.next = self.bank.value[6].val().get_bits::<24>(0);
        self.rx_mode.next = self.bank.value[7].val();
        self.rss.next = self.bank.value[8].val();
        self.hash_filter.next = self.bank.value[9].val();
        self.flow.next = self.bank.value[10].val();
        self.flow_marks.next = self.bank.value[11].val();
        self.clock_count.d.next = self.clock_count.q.val() + 1;
        self.now.next = self.clock_count.q.val();

        // The whole address and its epoch change in one cycle.
        if self.bank.written[2].val() {
            self.mac.d.next = bit_cast::<48, 32>(self.bank.value[1].val())
                | (bit_cast::<48, 16>(self.bank.value[2].val().get_bits::<16>(0)) << 32);
            self.mac_epoch.d.next = self.bank.value[2].val().get_bits::<3>(16);
        }
        if self.epoch_write.val() {
            self.mac_epoch.d.next = self.new_epoch.val();
        }
        self.own_mac.next = self.mac.q.val();
        self.epoch.next = self.mac_epoch.q.val();

        self.bank.show[0].next = self.id.val();
        self.bank.show[1].next = self.version.val();
        self.bank.show[2].next = self.params.val();
        self.bank.show[3].next = self.features.val();
        self.bank.show[4].next = self.clock_khz.val();
        self.bank.show[5].next = self.clock_count.q.val();
        self.bank.amount[0].next = bit_cast::<6, 1>(self.frame_in.val().into());
        self.bank.amount[1].next = bit_cast::<6, 1>(self.drop_disabled.val().into());
        self.bank.amount[2].next = bit_cast::<6, 1>(self.drop_undersize.val().into());
        self.bank.amount[3].next = bit_cast::<6, 1>(self.drop_oversize.val().into());
        self.bank.amount[4].next = bit_cast::<6, 1>(self.drop_bad.val().into());
        self.bank.amount[5].next = bit_cast::<6, 1>(self.drop_fifo.val().into());
        self.bank.amount[6].next = bit_cast::<6, 1>(self.drop_no_descriptor.val().into());
        self.bank.amount[7].next = bit_cast::<6, 1>(self.frame_out.val().into());
        self.bank.amount[8].next = bit_cast::<6, 1>(self.unexpected.val().into());
        self.bank.amount[9].next = bit_cast::<6, 1>(self.malformed.val().into());
        self.bank.amount[10].next = bit_cast::<6, 1>(self.drop_filter.val().into());
        self.bank.amount[11].next = bit_cast::<6, 1>(self.pause_in.val().into());
        self.bank.amount[12].next = bit_cast::<6, 1>(self.pause_out.val().into());
        if self.reset.val() {
            self.mac.d.next = 0.into();
            self.mac_epoch.d.next = 0.into();
            self.clock_count.d.next = 0.into();
        }
    }
}

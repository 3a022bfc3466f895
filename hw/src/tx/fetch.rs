//! Takes TX descriptors and asks for their data.
//!
//! A descriptor is checked (length 14 to MAX_FRAME, EOP), its frame announced (`f_*`), and the buffer read in
//! pieces that end at multiples of MRRS, so that no read is longer than MRRS or crosses 4 KiB. For each piece the
//! block sets aside words of the packet buffer and the next of the tags 0 to 15 in ring order, and waits until both
//! are free; `a_*` tells the buffer what it gave out, in the cycle in which the read is taken. Dead tags are skipped.
//!
//! A refused descriptor is an `error` with cause BadDescriptor and a `drop` pulse; nothing more is taken until the
//! queue is disabled. Seven cycles for a frame of one read.
//!
//! Addresses in the buffer are dwords; a byte keeps its place in the bus word (address mod K), and every piece but
//! the first begins a word, because MRRS is a multiple of K.

use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// K bytes and L dwords a word of the packet buffer, which has 4096 dwords.
#[derive(LogicBlock)]
pub struct Fetch<const K: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub stopped: Signal<In, Bit>,
    pub max_frame: Signal<In, Bits<14>>,
    pub mrrs: Signal<In, Bits<3>>,
    pub d_valid: Signal<In, Bit>,
    pub d_data: Signal<In, Bits<128>>,
    pub d_ready: Signal<Out, Bit>,
    pub r_valid: Signal<Out, Bit>,
    pub r_addr: Signal<Out, Bits<64>>,
    pub r_bytes: Signal<Out, Bits<13>>,
    pub r_tag: Signal<Out, Bits<8>>,
    pub r_ready: Signal<In, Bit>,
    pub dead: Signal<In, Bits<16>>,
    pub in_use: Signal<In, Bits<16>>,
    pub freed_row: Signal<In, Bits<12>>,
    pub a_valid: Signal<Out, Bit>,
    pub a_tag: Signal<Out, Bits<4>>,
    pub a_place: Signal<Out, Bits<12>>,
    pub a_last: Signal<Out, Bit>,
    pub next_tag: Signal<Out, Bits<4>>,
    pub f_valid: Signal<Out, Bit>,
    pub f_length: Signal<Out, Bits<14>>,
    pub f_offset: Signal<Out, Bits<6>>,
    pub f_ready: Signal<In, Bit>,
    pub error: Signal<Out, Bit>,
    pub idle: Signal<Out, Bit>,
    // 0 take, 1 check, 2 announce, 3 to 5 the next piece, 6 wait for room, 7 offer the read.
    state: DFF<Bits<3>>,
    addr: DFF<Bits<64>>,
    left: DFF<Bits<14>>,
    // The address behind the piece, from the cycle after its length is known: lower half with its carry, and the upper half
    // if there is one.
    after: DFF<Bits<33>>,
    upper: DFF<Bits<32>>,
    upper_mask: Constant<Bits<64>>,
    length: DFF<Bits<16>>,
    whole: DFF<Bit>,
    refuse: DFF<Bit>,
    boundary: DFF<Bits<13>>,
    bytes: DFF<Bits<13>>,
    last: DFF<Bit>,
    need: DFF<Bits<12>>,
    free: DFF<Bits<12>>,
    row: DFF<Bits<12>>,
    tag: DFF<Bits<4>>,
    // Of the tag that comes next, as of the cycle before.
    tag_dead: DFF<Bit>,
    tag_used: DFF<Bit>,
    failed: DFF<Bit>,
    fault: DFF<Bit>,
    mask: DFF<Bits<12>>,
    beyond: Signal<Local, Bits<12>>,
    offset: Signal<Local, Bits<13>>,
    sum: Signal<Local, Bits<13>>,
    chunk: Signal<Local, Bits<14>>,
    k_mask: Constant<Bits<12>>,
    l_mask: Constant<Bits<12>>,
    k_log2: Constant<Bits<4>>,
    l_log2: Constant<Bits<4>>,
    rows: Constant<Bits<12>>,
}

impl<const K: usize, const L: usize> Default for Fetch<K, L> {
    fn default() -> Self {
        assert_eq!(K, 4 * L);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            stopped: Default::default(),
            max_frame: Default::default(),
            mrrs: Default::default(),
            d_valid: Default::default(),
            d_data: Default::default(),
            d_ready: Default::default(),
            r_valid: Default::default(),
            r_addr: Default::default(),
            r_bytes: Default::default(),
            r_tag: Default::default(),
            r_ready: Default::default(),
            dead: Default::default(),
            in_use: Default::default(),
            freed_row: Default::default(),
            a_valid: Default::default(),
            a_tag: Default::default(),
            a_place: Default::default(),
            a_last: Default::default(),
            next_tag: Default::default(),
            f_valid: Default::default(),
            f_length: Default::default(),
            f_offset: Default::default(),
            f_ready: Default::default(),
            error: Default::default(),
            idle: Default::default(),
            state: Default::default(),
            addr: Default::default(),
            left: Default::default(),
            after: Default::default(),
            upper: Default::default(),
            upper_mask: Constant::new(0xFFFF_FFFF_0000_0000.into()),
            tag_dead: Default::default(),
            tag_used: Default::default(),
            whole: Default::default(),
            refuse: Default::default(),
            boundary: Default::default(),
            bytes: Default::default(),
            last: Default::default(),
            need: Default::default(),
            free: Default::default(),
            row: Default::default(),
            tag: Default::default(),
            failed: Default::default(),
            fault: Default::default(),
            mask: Default::default(),
            length: Default::default(),
            beyond: Default::default(),
            offset: Default::default(),
            sum: Default::default(),
            chunk: Default::default(),
            k_mask: Constant::new((K - 1).to_bits()),
            l_mask: Constant::new((L - 1).to_bits()),
            k_log2: Constant::new(u64::from(K.ilog2()).into()),
            l_log2: Constant::new(u64::from(L.ilog2()).into()),
            rows: Constant::new((4096 / L).to_bits()),
        }
    }
}

impl<const K: usize, const L: usize> Logic for Fetch<K, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, addr, after, left, length, whole, refuse, boundary, bytes, last, need, free, row, tag);
        dff_setup!(self, clock, failed, fault, mask, tag_dead, tag_used, upper);
        self.d_ready.next = false;
        self.a_valid.next = false;
        self.fault.d.next = false;

        // Bytes of MRRS less one; codes above 4096 bytes are taken as 4096.
        self.mask.d.next = 4095.into();
        match self.mrrs.val().index() {
            0 => {
                self.mask.d.next = 127.into();
            }
            1 => {
                self.mask.d.next = 255.into();
            }
            2 => {
                self.mask.d.next = 511.into();
            }
            3 => {
                self.mask.d.next = 1023.into();
            }
            4 => {
                self.mask.d.next = 2047.into();
            }
            _ => {}
        }
        self.beyond.next = !self.addr.q.val().get_bits::<12>(0);
        self.offset.next = bit_cast::<13, 12>(self.addr.q.val().get_bits::<12>(0) & self.k_mask.val());
        self.sum.next =
            self.offset.val() + self.bytes.q.val() + bit_cast::<13, 12>(self.k_mask.val());
        self.tag_dead.d.next = self.dead.val().get_bit(self.tag.q.val().index());
        self.tag_used.d.next = self.in_use.val().get_bit(self.tag.q.val().index());
        self.after.d.next = bit_cast::<33, 32>(self.addr.q.val().get_bits::<32>(0)) + bit_cast::<33, 13>(self.bytes.q.val());
        self.upper.d.next = self.addr.q.val().get_bits::<32>(32) + 1;
        self.chunk.next = bit_cast::<14, 13>(self.bytes.q.val());
        self.free.d.next = self.rows.val() - (self.row.q.val() - self.freed_row.val());

        match self.state.q.val().index() {
            0 => {
                self.addr.d.next = self.d_data.val().get_bits::<64>(0);
                self.left.d.next = self.d_data.val().get_bits::<14>(64);
                self.length.d.next = self.d_data.val().get_bits::<16>(64);
                self.whole.d.next = self.d_data.val().get_bit(80);
                if self.enable.val() & !self.stopped.val() & !self.failed.q.val() & self.d_valid.val() {
                    self.d_ready.next = true;
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.refuse.d.next = (self.length.q.val() > bit_cast::<16, 14>(self.max_frame.val()))
                    | (self.length.q.val() < 14)
                    | !self.whole.q.val();
                self.state.d.next = 2.into();
            }
            2 => {
                if self.refuse.q.val() {
                    self.fault.d.next = true;
                    self.failed.d.next = true;
                    self.state.d.next = 0.into();
                } else if self.f_ready.val() {
                    self.state.d.next = 3.into();
                }
            }
            3 => {
                // MRRS - address mod MRRS.
                self.boundary.d.next = bit_cast::<13, 12>(self.beyond.val() & self.mask.q.val()) + 1;
                self.state.d.next = 4.into();
            }
            4 => {
                self.bytes.d.next = self.boundary.q.val();
                self.last.d.next = false;
                if self.left.q.val() <= bit_cast::<14, 13>(self.boundary.q.val()) {
                    self.bytes.d.next = self.left.q.val().get_bits::<13>(0);
                    self.last.d.next = true;
                }
                self.state.d.next = 5.into();
            }
            5 => {
                self.need.d.next = bit_cast::<12, 13>(self.sum.val() >> self.k_log2.val());
                self.state.d.next = 6.into();
            }
            6 => {
                if self.tag_dead.q.val() {
                    if !self.tag_used.q.val() {
                        self.tag.d.next = self.tag.q.val() + 1;
                        self.state.d.next = 5.into();
                    }
                } else if !self.tag_used.q.val() & (self.free.q.val() >= self.need.q.val()) {
                    self.state.d.next = 7.into();
                }
            }
            _ => {
                if self.r_ready.val() {
                    self.a_valid.next = true;
                    self.tag.d.next = self.tag.q.val() + 1;
                    self.row.d.next = self.row.q.val() + self.need.q.val();
                    self.addr.d.next = (self.addr.q.val() & self.upper_mask.val()) | bit_cast::<64, 32>(self.after.q.val().get_bits::<32>(0));
                    if self.after.q.val().get_bit(32) {
                        self.addr.d.next = (bit_cast::<64, 32>(self.upper.q.val()) << 32) | bit_cast::<64, 32>(self.after.q.val().get_bits::<32>(0));
                    }
                    self.left.d.next = self.left.q.val() - self.chunk.val();
                    self.state.d.next = 3.into();
                    if self.last.q.val() {
                        self.state.d.next = 0.into();
                    }
                }
            }
        }
        if (self.state.q.val() == 0) & !self.enable.val() {
            self.failed.d.next = false;
        }

        self.r_valid.next = self.state.q.val() == 7;
        self.r_addr.next = self.addr.q.val();
        self.r_bytes.next = self.bytes.q.val();
        self.r_tag.next = bit_cast::<8, 4>(self.tag.q.val());
        self.a_tag.next = self.tag.q.val();
        self.a_place.next = (self.row.q.val() << self.l_log2.val())
            | (self.addr.q.val().get_bits::<12>(2) & self.l_mask.val());
        self.a_last.next = self.last.q.val();
        self.next_tag.next = self.tag.q.val();
        self.f_valid.next = (self.state.q.val() == 2) & !self.refuse.q.val();
        self.f_length.next = self.left.q.val();
        self.f_offset.next = self.offset.val().get_bits::<6>(0);
        self.error.next = self.fault.q.val();
        self.idle.next = self.state.q.val() == 0;

        if self.reset.val() {
            self.state.d.next = 0.into();
            self.row.d.next = 0.into();
            self.tag.d.next = 0.into();
            self.failed.d.next = false;
            self.fault.d.next = false;
        }
    }
}

//! Filters: which frames are taken, where they go, and the tag they carry.
//!
//! ```text
//! key fields → FIFO → keys → rows of the table → result ─┐
//!                │      └──→ address hash bitmap ────────┤
//!              level                          RX_MODE → decide → FIFO → f_*
//! ```
//!
//! A frame may come every cycle (`valid`), the key fields with it. The FIFO in front holds 64 frames and is never asked
//! whether it has room: whoever sends frames stops while `level` plus those under way could go over 64. Decisions
//! come out in the order of the frames; `f_ready` takes one.
//!
//! **Speed.** A look-up takes four cycles for each kind in use of which the frame has all fields; two cycles in all when
//! there is none. At rest, a decision is there 11 cycles after its frame when no kind is in use, 16 with one kind, and
//! four more for each further one.
//!
//! **Changes** of rows and of the address hash take effect between two look-ups; see [`table`].
//!
//! With `enabled` 0 every frame is taken and goes by RSS, and no row is read.

pub mod address;
pub mod decide;
pub mod key;
pub mod table;

use crate::common::fifo::Fifo;
use crate::common::join::Join;
use address::{AddressHash, Bitmap};
use decide::Decide;
use key::Keys;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;
use table::Rows;

#[derive(LogicBlock, Default)]
pub struct Filter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enabled: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    /// 0 host, 1 broadcast, 2 multicast, 3 other.
    pub dst: Signal<In, Bits<2>>,
    /// Byte 0 in bits 7:0.
    pub dmac: Signal<In, Bits<48>>,
    pub ethertype: Signal<In, Bits<16>>,
    pub ethertype_valid: Signal<In, Bit>,
    pub vid: Signal<In, Bits<12>>,
    pub vid_valid: Signal<In, Bit>,
    pub l3: Signal<In, Bits<3>>,
    pub l4: Signal<In, Bits<3>>,
    /// Byte 0 in bits 7:0; IPv4 in 31:0, the rest 0.
    pub source: Signal<In, Bits<128>>,
    pub destination: Signal<In, Bits<128>>,
    pub destination_port: Signal<In, Bits<16>>,
    /// RX_MODE.
    pub mode: Signal<In, Bits<32>>,
    /// HASH_FILTER.
    pub hash_filter: Signal<In, Bits<32>>,
    /// Fields of kind i in bits 6i+5:6i.
    pub kinds: Signal<In, Bits<24>>,
    /// From [`crate::regs::filter`]: a row to write, or else a word of the address hash; held until `change_ready`.
    pub change_valid: Signal<In, Bit>,
    pub change_is_row: Signal<In, Bit>,
    pub change_row: Signal<In, Bits<9>>,
    pub change_row_data: Signal<In, Bits<384>>,
    pub change_word: Signal<In, Bits<4>>,
    pub change_word_data: Signal<In, Bits<32>>,
    pub change_ready: Signal<Out, Bit>,
    pub f_valid: Signal<Out, Bit>,
    pub f_drop: Signal<Out, Bit>,
    /// By RSS; else, unless dropped, to `f_queue`.
    pub f_rss: Signal<Out, Bit>,
    pub f_queue: Signal<Out, Bits<4>>,
    /// An exact filter or the address hash matched, with the tag.
    pub f_filter: Signal<Out, Bit>,
    pub f_tag: Signal<Out, Bits<16>>,
    pub f_ready: Signal<In, Bit>,
    /// Frames in the FIFO in front.
    pub level: Signal<Out, Bits<7>>,
    hash: AddressHash,
    record: Join<32, 12, 384>,
    frames: Fifo<384, 6, 7>,
    keys: Keys,
    rows: Rows,
    bitmap: Bitmap,
    decide: Decide,
    decisions: Fifo<23, 4, 5>,
    // Of 16 decisions eight may be waiting while eight are being made.
    room: DFF<Bit>,
    no_vid: Signal<Local, Bit>,
    no_type: Signal<Local, Bit>,
    no_address: Signal<Local, Bit>,
    no_port: Signal<Local, Bit>,
    decision: Signal<Local, Bits<23>>,
}

impl Logic for Filter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, room);
        self.frames.clock.next = self.clock.val();
        self.frames.reset.next = self.reset.val();
        self.keys.clock.next = self.clock.val();
        self.keys.reset.next = self.reset.val();
        self.rows.clock.next = self.clock.val();
        self.rows.reset.next = self.reset.val();
        self.bitmap.clock.next = self.clock.val();
        self.decide.clock.next = self.clock.val();
        self.decide.reset.next = self.reset.val();
        self.decisions.clock.next = self.clock.val();
        self.decisions.reset.next = self.reset.val();

        // The frame as a row; in word 3, beside L3: what it lacks, dst, place in the address hash.
        self.hash.dmac.next = self.dmac.val();
        self.no_vid.next = !self.vid_valid.val();
        self.no_type.next = !self.ethertype_valid.val();
        self.no_address.next = (self.l3.val() != 1) & (self.l3.val() != 2);
        self.no_port.next = ((self.l4.val() != 1) & (self.l4.val() != 2)) & (self.l4.val() != 4);
        self.record.part[0].next = self.dmac.val().get_bits::<32>(0);
        self.record.part[1].next = bit_cast::<32, 16>(self.dmac.val().get_bits::<16>(32))
            | (bit_cast::<32, 16>(self.ethertype.val()) << 16);
        self.record.part[2].next = bit_cast::<32, 16>(self.destination_port.val())
            | (bit_cast::<32, 12>(self.vid.val()) << 16)
            | (bit_cast::<32, 3>(self.l4.val()) << 28);
        self.record.part[3].next = (bit_cast::<32, 1>(self.no_vid.val().into()) << 1)
            | (bit_cast::<32, 1>(self.no_type.val().into()) << 2)
            | (bit_cast::<32, 1>(self.no_address.val().into()) << 3)
            | (bit_cast::<32, 1>(self.no_address.val().into()) << 4)
            | (bit_cast::<32, 1>(self.no_port.val().into()) << 5)
            | (bit_cast::<32, 2>(self.dst.val()) << 6)
            | (bit_cast::<32, 3>(self.l3.val()) << 12)
            | (bit_cast::<32, 9>(self.hash.place.val()) << 16);
        for i in 0_usize..4 {
            self.record.part[4 + i].next = self.source.val().get_bits::<32>(32 * i);
            self.record.part[8 + i].next = self.destination.val().get_bits::<32>(32 * i);
        }
        self.frames.s_valid.next = self.valid.val();
        self.frames.s_data.next = self.record.whole.val();
        self.level.next = self.frames.level.val();

        self.room.d.next = self.decisions.level.val() < 8;
        self.keys.enabled.next = self.enabled.val();
        self.keys.kinds.next = self.kinds.val();
        self.keys.room.next = self.room.q.val();
        self.keys.frame_valid.next = self.frames.m_valid.val();
        self.keys.frame.next = self.frames.m_data.val();
        self.frames.m_ready.next = self.keys.frame_ready.val();
        self.keys.pass_ready.next = self.rows.pass_ready.val();

        self.rows.pass_valid.next = self.keys.pass_valid.val();
        self.rows.key.next = self.keys.key.val();
        self.rows.first_bucket.next = self.keys.first_bucket.val();
        self.rows.second_bucket.next = self.keys.second_bucket.val();
        self.rows.empty.next = self.keys.empty.val();
        self.rows.last.next = self.keys.last.val();
        self.rows.dst.next = self.keys.dst.val();
        self.rows.pass_place.next = self.keys.place.val();
        self.rows.change_valid.next = self.change_valid.val();
        self.rows.change_is_row.next = self.change_is_row.val();
        self.rows.change_row.next = self.change_row.val();
        self.rows.change_data.next = self.change_row_data.val();
        self.change_ready.next = self.rows.change_ready.val();

        self.bitmap.write.next = self.rows.change_ready.val() & !self.change_is_row.val();
        self.bitmap.write_word.next = self.change_word.val();
        self.bitmap.write_data.next = self.change_word_data.val();
        self.bitmap.place.next = self.rows.place.val();

        self.decide.enabled.next = self.enabled.val();
        self.decide.mode.next = self.mode.val();
        self.decide.hash_filter.next = self.hash_filter.val();
        self.decide.result_valid.next = self.rows.result_valid.val();
        self.decide.hit.next = self.rows.hit.val();
        self.decide.what.next = self.rows.what.val();
        self.decide.dst.next = self.rows.result_dst.val();
        self.decide.listed.next = self.bitmap.listed.val();

        self.decisions.s_valid.next = self.decide.valid.val();
        self.decisions.s_data.next = self.decide.decision.val();
        self.decisions.m_ready.next = self.f_ready.val();
        self.f_valid.next = self.decisions.m_valid.val();
        self.decision.next = self.decisions.m_data.val();
        self.f_drop.next = self.decision.val().get_bit(0);
        self.f_rss.next = self.decision.val().get_bit(1);
        self.f_queue.next = self.decision.val().get_bits::<4>(2);
        self.f_filter.next = self.decision.val().get_bit(6);
        self.f_tag.next = self.decision.val().get_bits::<16>(7);

        if self.reset.val() {
            self.room.d.next = false;
        }
    }
}

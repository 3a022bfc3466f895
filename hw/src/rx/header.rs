//! All that is said of a frame, from its beats to the template of its completion.
//!
//! ```text
//! beats ─→ sums ──────────────────────────→ verdict ─┐
//! beats ─→ window ─commit→ parse ─┬→ rss ────────────┼→ template
//!             │                   └→ keys (filter)   │
//!             └→ pause ──────────────────────────────┘
//! ```
//!
//! Every path has its fixed latency; delays bring them together. A frame a cycle.
//!
//! The template has the layout of a completion. In the cookie's place stands what the DMA must know: RSS queue (bits
//! 3:0), PAUSE frame (4), end of the network header (15:8).

use super::parse::{self, Parse};
use super::rss::{self, Rss};
use super::sums::{self, Sums};
use super::verdict::{self, Verdict};
use super::window::Window;
use crate::common::delay::Delay;
use crate::common::join::Join;
use crate::flow::pause_in::{self, PauseIn};
use ferronic_contract::completion as c;
use ferronic_contract::field::Field;
use ferronic_contract::{registers as r, status as s};
use rust_hdl_core::prelude::*;

/// Cycles from a frame's last beat at the input to `commit`: those of the packet FIFO.
const COMMIT: usize = 2;
/// Cycles from `commit` to the template.
pub const LATENCY: usize = parse::LATENCY + rss::LATENCY;

/// W = 8·K bits a beat; N = 1024 / W; H, the larger of W and 128; S = H / 128.
#[derive(LogicBlock)]
pub struct Header<const W: usize, const K: usize, const N: usize, const H: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Beats as they go into the packet FIFO.
    pub s_valid: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_keep: Signal<In, Bits<K>>,
    pub s_last: Signal<In, Bit>,
    /// The same beats as they are written, and the verdict on their frame.
    pub beat_valid: Signal<In, Bit>,
    pub beat_first: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    pub commit: Signal<In, Bit>,
    pub length: Signal<In, Bits<14>>,
    pub info: Signal<In, Bits<50>>,
    pub own_mac: Signal<In, Bits<48>>,
    pub epoch: Signal<In, Bits<3>>,
    /// RSS register and indirection table.
    pub rss: Signal<In, Bits<32>>,
    pub t_write: Signal<In, Bit>,
    pub t_address: Signal<In, Bits<5>>,
    pub t_data: Signal<In, Bits<32>>,
    /// FLOW register.
    pub flow: Signal<In, Bits<32>>,
    /// The other side asks to send nothing.
    pub hold: Signal<Out, Bit>,
    /// Keys of the frame, for the filter.
    pub key_valid: Signal<Out, Bit>,
    pub key_dst: Signal<Out, Bits<2>>,
    pub key_dmac: Signal<Out, Bits<48>>,
    pub key_ethertype: Signal<Out, Bits<16>>,
    pub key_ethertype_valid: Signal<Out, Bit>,
    pub key_vid: Signal<Out, Bits<12>>,
    pub key_vid_valid: Signal<Out, Bit>,
    pub key_l3: Signal<Out, Bits<3>>,
    pub key_l4: Signal<Out, Bits<3>>,
    pub key_source: Signal<Out, Bits<128>>,
    pub key_destination: Signal<Out, Bits<128>>,
    pub key_port: Signal<Out, Bits<16>>,
    pub t_valid: Signal<Out, Bit>,
    pub template: Signal<Out, Bits<256>>,
    start: Window<W, N>,
    parse: Parse,
    sums: Sums<W, K, H, S>,
    late_sums: Delay<32, { COMMIT + parse::LATENCY - sums::LATENCY }>,
    verdict: Verdict,
    late_verdict: Delay<20, { rss::LATENCY - verdict::LATENCY }>,
    spread: Rss,
    pause: PauseIn,
    late_pause: Delay<1, { LATENCY - pause_in::LATENCY }>,
    fields: Join<32, 5, 160>,
    late_fields: Delay<160, { rss::LATENCY }>,
    late_valid: Delay<1, { rss::LATENCY }>,
    words: Join<32, 8, 256>,
    has_tag: Signal<Local, Bit>,
    tci: Signal<Local, Bits<16>>,
    mask: [Constant<Bits<32>>; 8],
    types: Constant<Bits<6>>,
}

/// What the words of a template may contain in a build with these features; what nobody sees, synthesis leaves out.
fn mask(features: u32) -> [u32; 8] {
    let has = |feature: Field| feature.of(features) == 1;
    let all = |on: bool, fields: &[Field]| fields.iter().filter(|_| on).fold(0, |mask, field| mask | field.mask());
    let l2 = [s::CLASSIFIED, s::DST, s::L2_KIND, s::VLAN, s::EPOCH];
    let l3 = [s::L3, s::L3OPT, s::FRAG, s::L4, s::ACK];
    let (strip, l3_on, sums, rss) =
        (has(r::FEATURE_STRIP), has(r::FEATURE_L3), has(r::FEATURE_CHECKSUM), has(r::FEATURE_RSS));
    [
        c::LENGTH.mask() | all(l3_on, &[c::HEADER_LENGTH]),
        c::PROTOCOL.mask() | all(strip, &[c::VLAN_TCI]),
        all(true, &l2)
            | all(strip, &[s::STRIPPED, s::STRIPPED_S])
            | all(l3_on, &l3)
            | all(sums, &[s::IPCSUM, s::L4CSUM]),
        all(rss, &[c::RSS_HASH]),
        0xFFFF,
        all(sums, &[c::RAW_CHECKSUM]),
        all(has(r::FEATURE_TIME), &[c::TIMESTAMP]),
        c::L3_OFFSET.mask() | all(rss, &[c::RSS_TYPE]),
    ]
}

impl<const W: usize, const K: usize, const N: usize, const H: usize, const S: usize> Header<W, K, N, H, S> {
    /// In a build with these features (value of FEATURES).
    pub fn new(features: u32) -> Self {
        // `update` can only number bits.
        let places = [
            s::CLASSIFIED, s::DST, s::L2_KIND, s::VLAN, s::STRIPPED, s::L3, s::L3OPT, s::FRAG, s::L4, s::ACK, s::IPCSUM,
            s::L4CSUM, s::EPOCH, s::STRIPPED_S,
        ];
        assert_eq!(places.map(|field| field.low), [0, 1, 3, 5, 7, 8, 11, 12, 13, 16, 17, 19, 23, 30]);
        let places = [c::HEADER_LENGTH, c::VLAN_TCI, c::RAW_CHECKSUM, c::L3_OFFSET, c::RSS_TYPE];
        assert_eq!(places.map(|field| (field.word, field.low)), [(0, 16), (1, 16), (5, 16), (7, 16), (7, 24)]);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_valid: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_last: Default::default(),
            beat_valid: Default::default(),
            beat_first: Default::default(),
            beat_data: Default::default(),
            commit: Default::default(),
            length: Default::default(),
            info: Default::default(),
            own_mac: Default::default(),
            epoch: Default::default(),
            rss: Default::default(),
            t_write: Default::default(),
            t_address: Default::default(),
            t_data: Default::default(),
            flow: Default::default(),
            hold: Default::default(),
            key_valid: Default::default(),
            key_dst: Default::default(),
            key_dmac: Default::default(),
            key_ethertype: Default::default(),
            key_ethertype_valid: Default::default(),
            key_vid: Default::default(),
            key_vid_valid: Default::default(),
            key_l3: Default::default(),
            key_l4: Default::default(),
            key_source: Default::default(),
            key_destination: Default::default(),
            key_port: Default::default(),
            t_valid: Default::default(),
            template: Default::default(),
            start: Default::default(),
            parse: Default::default(),
            sums: Default::default(),
            late_sums: Default::default(),
            verdict: Default::default(),
            late_verdict: Default::default(),
            spread: Default::default(),
            pause: Default::default(),
            late_pause: Default::default(),
            fields: Default::default(),
            late_fields: Default::default(),
            late_valid: Default::default(),
            words: Default::default(),
            has_tag: Default::default(),
            tci: Default::default(),
            types: Constant::new(if r::FEATURE_RSS.of(features) == 1 { 0x3F.into() } else { 0.into() }),
            mask: mask(features).map(|word| Constant::new(u64::from(word).into())),
        }
    }
}

impl<const W: usize, const K: usize, const N: usize, const H: usize, const S: usize> Logic for Header<W, K, N, H, S> {
    #[hdl_gen]
    fn update(&mut self) {
        self.start.clock.next = self.clock.val();
        self.start.reset.next = self.reset.val();
        self.parse.clock.next = self.clock.val();
        self.parse.reset.next = self.reset.val();
        self.sums.clock.next = self.clock.val();
        self.sums.reset.next = self.reset.val();
        self.verdict.clock.next = self.clock.val();
        self.verdict.reset.next = self.reset.val();
        self.spread.clock.next = self.clock.val();
        self.spread.reset.next = self.reset.val();
        self.pause.clock.next = self.clock.val();
        self.pause.reset.next = self.reset.val();
        self.late_sums.clock.next = self.clock.val();
        self.late_verdict.clock.next = self.clock.val();
        self.late_pause.clock.next = self.clock.val();
        self.late_fields.clock.next = self.clock.val();
        self.late_valid.clock.next = self.clock.val();

        self.start.beat_valid.next = self.beat_valid.val();
        self.start.beat_first.next = self.beat_first.val();
        self.start.beat_data.next = self.beat_data.val();
        self.parse.valid.next = self.commit.val();
        self.parse.window.next = self.start.window.val();
        self.parse.length.next = self.length.val();
        self.parse.info.next = self.info.val();
        self.parse.own_mac.next = self.own_mac.val();
        self.parse.epoch.next = self.epoch.val();

        self.key_valid.next = self.parse.p_valid.val();
        self.key_dst.next = self.parse.dst.val();
        self.key_dmac.next = self.parse.dmac.val();
        self.key_ethertype.next = self.parse.ethertype.val();
        self.key_ethertype_valid.next = self.parse.ethertype_valid.val();
        self.key_vid.next = self.parse.vid.val();
        self.key_vid_valid.next = self.parse.vid_valid.val();
        self.key_l3.next = self.parse.l3.val();
        self.key_l4.next = self.parse.l4.val();
        self.key_source.next = self.parse.source.val();
        self.key_destination.next = self.parse.destination.val();
        self.key_port.next = self.parse.destination_port.val();

        // Checksums.
        self.sums.s_valid.next = self.s_valid.val();
        self.sums.s_data.next = self.s_data.val();
        self.sums.s_keep.next = self.s_keep.val();
        self.sums.s_last.next = self.s_last.val();
        self.late_sums.d.next = bit_cast::<32, 16>(self.sums.raw.val()) | (bit_cast::<32, 16>(self.sums.body.val()) << 16);
        self.verdict.valid.next = self.parse.p_valid.val();
        self.verdict.raw.next = self.late_sums.q.val().get_bits::<16>(0);
        self.verdict.body.next = self.late_sums.q.val().get_bits::<16>(16);
        self.verdict.header_sum.next = self.parse.header_sum.val();
        self.verdict.pseudo_sum.next = self.parse.pseudo_sum.val();
        self.verdict.l4_wanted.next = self.parse.l4_wanted.val();
        self.verdict.ip_checked.next = self.parse.ip_checked.val();
        self.verdict.ip_good.next = self.parse.ip_good.val();
        self.late_verdict.d.next = bit_cast::<20, 16>(self.verdict.raw_out.val())
            | (bit_cast::<20, 2>(self.verdict.ipcsum.val()) << 16)
            | (bit_cast::<20, 2>(self.verdict.l4csum.val()) << 18);

        // Hash and queue.
        self.spread.valid.next = self.parse.p_valid.val();
        self.spread.l3.next = self.parse.l3.val();
        self.spread.l4.next = self.parse.l4.val();
        self.spread.frag.next = self.parse.frag.val();
        self.spread.source.next = self.parse.source.val();
        self.spread.destination.next = self.parse.destination.val();
        self.spread.source_port.next = self.parse.source_port.val();
        self.spread.destination_port.next = self.parse.destination_port.val();
        self.spread.types.next = self.rss.val().get_bits::<6>(0) & self.types.val();
        self.spread.default_queue.next = self.rss.val().get_bits::<4>(8);
        self.spread.t_write.next = self.t_write.val();
        self.spread.t_address.next = self.t_address.val();
        self.spread.t_data.next = self.t_data.val();

        // PAUSE.
        self.pause.valid.next = self.commit.val();
        self.pause.window_low.next = self.start.window.val().get_bits::<256>(0);
        self.pause.length.next = self.length.val();
        self.pause.own_mac.next = self.own_mac.val();
        self.pause.stripped.next = self.info.val().get_bit(16);
        self.pause.honour.next = self.flow.val().get_bit(1);
        self.pause.cycles.next = self.flow.val().get_bits::<12>(4);
        self.hold.next = self.pause.hold.val();
        self.late_pause.d.next = self.pause.is_pause.val().into();

        // What the parser says, until hash and verdict are there.
        self.has_tag.next = self.parse.p_info.val().get_bit(16);
        self.tci.next = 0.into();
        if self.has_tag.val() {
            self.tci.next = self.parse.p_info.val().get_bits::<16>(0);
        }
        self.fields.part[0].next =
            bit_cast::<32, 14>(self.parse.p_length.val()) | (bit_cast::<32, 8>(self.parse.header_length.val()) << 16);
        self.fields.part[1].next =
            bit_cast::<32, 16>(self.parse.protocol.val()) | (bit_cast::<32, 16>(self.tci.val()) << 16);
        self.fields.part[2].next = bit_cast::<32, 1>(self.parse.classified.val().into())
            | (bit_cast::<32, 2>(self.parse.dst.val()) << 1)
            | (bit_cast::<32, 2>(self.parse.l2.val()) << 3)
            | (bit_cast::<32, 2>(self.parse.vlan.val()) << 5)
            | (bit_cast::<32, 1>(self.has_tag.val().into()) << 7)
            | (bit_cast::<32, 3>(self.parse.l3.val()) << 8)
            | (bit_cast::<32, 1>(self.parse.l3opt.val().into()) << 11)
            | (bit_cast::<32, 1>(self.parse.frag.val().into()) << 12)
            | (bit_cast::<32, 3>(self.parse.l4.val()) << 13)
            | (bit_cast::<32, 1>(self.parse.ack.val().into()) << 16)
            | (bit_cast::<32, 3>(self.parse.p_epoch.val()) << 23)
            | (bit_cast::<32, 1>((self.has_tag.val() & self.parse.p_info.val().get_bit(17)).into()) << 30);
        self.fields.part[3].next = self.parse.p_info.val().get_bits::<32>(18);
        self.fields.part[4].next =
            bit_cast::<32, 8>(self.parse.l3_offset.val()) | (bit_cast::<32, 8>(self.parse.l4_offset.val()) << 8);
        self.late_fields.d.next = self.fields.whole.val();
        self.late_valid.d.next = self.parse.p_valid.val().into();

        // The template.
        self.t_valid.next = self.late_valid.q.val().any();
        self.words.part[0].next = self.late_fields.q.val().get_bits::<32>(0) & self.mask[0].val();
        self.words.part[1].next = self.late_fields.q.val().get_bits::<32>(32) & self.mask[1].val();
        self.words.part[2].next = (self.late_fields.q.val().get_bits::<32>(64)
            | (bit_cast::<32, 4>(self.late_verdict.q.val().get_bits::<4>(16)) << 17))
            & self.mask[2].val();
        self.words.part[3].next = self.spread.hash.val() & self.mask[3].val();
        self.words.part[4].next = (bit_cast::<32, 4>(self.spread.out_queue.val())
            | (bit_cast::<32, 1>(self.late_pause.q.val()) << 4)
            | (bit_cast::<32, 8>(self.late_fields.q.val().get_bits::<8>(136)) << 8))
            & self.mask[4].val();
        self.words.part[5].next =
            (bit_cast::<32, 16>(self.late_verdict.q.val().get_bits::<16>(0)) << 16) & self.mask[5].val();
        self.words.part[6].next = self.late_fields.q.val().get_bits::<32>(96) & self.mask[6].val();
        self.words.part[7].next = ((bit_cast::<32, 8>(self.late_fields.q.val().get_bits::<8>(128)) << 16)
            | (bit_cast::<32, 3>(self.spread.hash_type.val()) << 24))
            & self.mask[7].val();
        self.template.next = self.words.whole.val();
    }
}

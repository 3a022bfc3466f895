//! Where reads and writes may lie: every byte alignment, 4 KiB boundaries, and both sides of 4 GiB.

use crate::frame;
use crate::raw::{Raw, Setup, LONG};
use ferronic_contract::registers::{RX_QUEUE, TX_QUEUE};
use ferronic_pcie::{Plan, Settings, Splits};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_128::NicCore128;

/// Offsets in a page at which something may go wrong: words of any width, cache lines, the page's end.
const OFFSETS: [u64; 20] =
    [0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 63, 64, 2049, 4032, 4033, 4064, 4092, 4093, 4095];
/// Room for the longest frame at the end of a page.
const STRIDE: u64 = 4 * 4096;
/// What is around a buffer.
const AROUND: u8 = 0xA5;

fn settings(seed: u64) -> Settings {
    Settings { splits: Splits::Random, reorder: true, host_jitter_ns: 300, seed, ..Settings::default() }
}

fn open<M: CoreModel<B> + 'static, const B: usize>(plan: &Plan, seed: u64) -> Raw<M, B> {
    let mut raw = Raw::<M, B>::new(settings(seed), Setup::default());
    raw.world.enumerate(plan).expect("the core enumerates");
    raw
}

/// Reads at every kind of alignment, and exactly as many of them as the boundaries ask for.
fn read_everywhere<M: CoreModel<B> + 'static, const B: usize>(max_read_request: u16, lengths: &[usize]) {
    let mut raw = open::<M, B>(&Plan { max_read_request, ..Plan::default() }, u64::from(max_read_request));
    let regions = raw.buffers(4 * STRIDE as usize);
    let mut slot = 0;
    for &length in lengths {
        for offset in OFFSETS {
            let address = regions[slot % 2].bus() + (slot as u64 / 2 % 2) * 2 * STRIDE + offset;
            let reads = |raw: &Raw<M, B>| raw.world.pcie.counters().up.mrd.tlps;
            let before = reads(&raw);
            raw.send(address, &frame(length, slot));
            raw.doorbell(TX_QUEUE);
            assert!(raw.until(LONG + 20 * length as u64, |raw| raw.world.scoreboard.unsent() == 0));
            let piece = u64::from(max_read_request);
            let pieces = (address + length as u64 - 1) / piece - address / piece + 1;
            assert_eq!(reads(&raw) - before, 1 + pieces, "{length} bytes at {address:#x}, MRRS {piece}");
            slot += 1;
        }
    }
    raw.must_be_tame();
}

/// Catches: a read that crosses 4 KiB; a page-aligned 4096-byte read that emits a second request of no bytes; a
/// length field of 0 (1024 dwords) taken for none; wrong byte enables or first-beat alignment; 3 and 4 dword headers
/// mixed up.
#[test]
fn reads_of_any_size_at_any_place_arrive_whole() {
    read_everywhere::<NicCore, 8>(4096, &[14, 60, 61, 1518, 4095, 4096, 4097]);
    read_everywhere::<NicCore, 8>(512, &[15, 512, 513, 1500]);
    read_everywhere::<NicCore, 8>(128, &[128, 1001]);
}

/// Catches the same where a beat has more byte lanes than a dword header ends in.
#[test]
fn reads_of_any_size_at_any_place_arrive_whole_at_128_bits() {
    read_everywhere::<NicCore128, 16>(4096, &[14, 63, 4096, 4099]);
    read_everywhere::<NicCore128, 16>(256, &[17, 1000]);
}

/// Frames into buffers at every kind of alignment; not a byte beside them may change.
fn write_everywhere<M: CoreModel<B> + 'static, const B: usize>(max_payload: u16, lengths: &[usize]) {
    let mut raw = open::<M, B>(&Plan { max_payload, ..Plan::default() }, u64::from(max_payload));
    let regions = raw.buffers(32 * STRIDE as usize);
    for region in &regions {
        raw.poke(region.bus(), &vec![AROUND; region.bytes()]);
    }
    for &length in lengths {
        // Each frame has a place of its own, at one of the offsets or at any of the first 16 bytes.
        let offsets: Vec<u64> = OFFSETS.into_iter().chain(0..16).chain(4096 - 16..4096).collect();
        for (chunk, offsets) in offsets.chunks(32).enumerate() {
            let places: Vec<u64> = offsets
                .iter()
                .enumerate()
                .map(|(n, offset)| regions[n % 2].bus() + n as u64 * STRIDE + 4096 + offset)
                .collect();
            for &place in &places {
                raw.post(place, 9600);
            }
            raw.doorbell(RX_QUEUE);
            for n in 0..places.len() {
                raw.receive(&frame(length, 100 * chunk + n));
            }
            for (n, &place) in places.iter().enumerate() {
                let completion = raw.must_take();
                assert_eq!(usize::from(completion.length), length);
                let around = raw.peek(place - 16, length + 32);
                assert_eq!(around[16..16 + length], frame(length, 100 * chunk + n), "{length} bytes at {place:#x}");
                assert!(around[..16].iter().all(|&byte| byte == AROUND), "bytes before {place:#x}");
                assert!(around[16 + length..].iter().all(|&byte| byte == AROUND), "bytes behind {place:#x}+{length}");
                raw.poke(place, &vec![AROUND; length]);
            }
        }
    }
    raw.must_be_tame();
}

/// Catches: a write that crosses 4 KiB; last byte enables of one lane too many or few; the aligner losing the bytes
/// that spill into one more dword; MPS counted from the buffer and not in TLPs.
#[test]
fn frames_land_at_any_byte_and_nowhere_else() {
    write_everywhere::<NicCore, 8>(128, &[60, 61, 62, 63, 127, 1518]);
    write_everywhere::<NicCore, 8>(512, &[64, 513, 4097]);
}

/// Catches the same in the lanes that only a wide stream has.
#[test]
fn frames_land_at_any_byte_and_nowhere_else_at_128_bits() {
    write_everywhere::<NicCore128, 16>(256, &[60, 61, 67, 75, 1000]);
}

//! The table of tags against a root complex that cuts and reorders completions, and lies.
//!
//! Caught when tried: completions that end off a line taken, a completion shorter than its header not noticed, a
//! second completion judged as the first, the requester or the byte count ignored, a read over with its first
//! poisoned part, a duplicate right behind taken, a time-out a unit early, and one in the middle of a completion.

mod host;

use ferronic_bench::models::{tags_128::Tags128, tags_256::Tags256, tags_512::Tags512, tags_64::Tags64};
use ferronic_contract::cause::Cause;
use ferronic_verilated::PowerUp;
use host::*;
use std::collections::VecDeque;

const BDF: u16 = 0x0310;

/// A read in flight as the bench knows it.
struct Read {
    address: u64,
    bytes: u16,
    /// What is still to come for it; empty when it will never be answered.
    answer: VecDeque<Completion>,
    /// How it must end.
    cause: Cause,
    /// Which dwords have come.
    seen: Vec<bool>,
    issued_at: u64,
}

/// How the host treats a read; the stream has this many lanes.
fn answer(
    random: &mut Random,
    tag: u8,
    address: u64,
    bytes: u16,
    silence: bool,
    lanes: u16,
) -> (VecDeque<Completion>, Cause) {
    let mut all = complete(random, tag, BDF, address, bytes, dword);
    let at = random.below(all.len() as u64) as usize;
    let cause = match random.below(40) {
        0 => {
            all.truncate(at);
            let left = u64::from(bytes) - all.iter().map(|c| u64::from(c.byte_count)).sum::<u64>().min(u64::from(bytes));
            all.push(Completion::refusal(tag, BDF, 1, address, left as u16));
            Cause::UnsupportedRequest
        }
        1 => {
            all.truncate(at);
            all.push(Completion::refusal(tag, BDF, 4, address, bytes));
            Cause::CompleterAbort
        }
        2 => {
            all[at].poisoned = true;
            Cause::Poisoned
        }
        3 => {
            all.truncate(at + 1);
            all[at].byte_count ^= 1 << random.below(12);
            Cause::BadCompletion
        }
        4 => {
            all.truncate(at + 1);
            all[at].lower ^= 1 << random.below(7);
            Cause::BadCompletion
        }
        5 if at + 1 == all.len() => {
            // More than was asked.
            all[at].data.push(0);
            all[at].dwords += 1;
            Cause::BadCompletion
        }
        5 if all[at].dwords > 1 => {
            // Neither to a line nor to the end.
            all.truncate(at + 1);
            all[at].data.pop();
            all[at].dwords -= 1;
            Cause::BadCompletion
        }
        6 => {
            all.truncate(at + 1);
            all[at].data.clear();
            all[at].dwords = 0;
            Cause::BadCompletion
        }
        7 if all[at].dwords > lanes.max(8) => {
            // The header promises more beats than come.
            all.truncate(at + 1);
            all[at].data.truncate(usize::from(lanes.max(4)));
            Cause::BadCompletion
        }
        8 if silence => {
            all.truncate(at);
            Cause::TimeOut
        }
        _ => Cause::None,
    };
    (all.into(), cause)
}

macro_rules! bench {
    ($name:ident, $model:ty, $lanes:expr, $beat:expr, $dwords:expr) => {
        /// Runs reads for `cycles` cycles; gives how often each cause was seen.
        fn $name(seed: u64, cycles: u64, silence: bool) -> [u32; 8] {
            let mut random = Random(seed);
            let mut tags = <$model>::new(PowerUp::Random(seed));
            let clock = |tags: &mut $model| {
                tags.set_clock(true);
                tags.eval();
                tags.set_clock(false);
                tags.eval();
            };
            tags.set_bdf(BDF);
            let timeout = 1 + random.below(2) as u16;
            tags.set_timeout(if silence { timeout } else { 60 });
            tags.set_reset(true);
            tags.eval();
            (0..3).for_each(|_| clock(&mut tags));
            tags.set_reset(false);

            let mut reads: [Option<Read>; 32] = std::array::from_fn(|_| None);
            let mut dead = 0u32;
            let mut causes = [0u32; 8];
            let (mut unexpected, mut expected) = (0u64, 0u64);
            let mut sending: Option<(Completion, usize)> = None;
            let mut strays: VecDeque<(Completion, u64)> = VecDeque::new();
            let mut ended_at = [0u64; 32];
            for now in 0..cycles {
                // A read goes out now and then, on a tag that is free.
                tags.set_i_valid(false);
                let tag = random.below(32) as u8;
                let asked = now + 3000 < cycles && random.one_in(if silence { 40 } else { 4 });
                if asked && reads[usize::from(tag)].is_none() && dead >> tag & 1 == 0 && now > ended_at[usize::from(tag)] + 8 {
                    let address = random.below(1 << 20) << 12 | random.below(4096);
                    let room = 4096 - (address & 4095);
                    let most = if random.one_in(10) && !silence { room } else { room.min(200) };
                    let bytes = 1 + random.below(most) as u16;
                    tags.set_i_valid(true);
                    tags.set_i_tag(tag);
                    tags.set_i_addr((address & 4095) as u16);
                    tags.set_i_bytes(bytes);
                    let (answer, cause) = answer(&mut random, tag, address, bytes, silence, $lanes);
                    let dwords = ((address & 3) + u64::from(bytes)).div_ceil(4);
                    let seen = vec![false; dwords as usize];
                    reads[usize::from(tag)] = Some(Read { address, bytes, answer, cause, seen, issued_at: now });
                }
                // A beat of a completion.
                if sending.is_none() && now + 10 < cycles && !random.one_in(3) {
                    let start = random.below(32) as usize;
                    let waiting = |tag: &usize| reads[*tag].as_ref().is_some_and(|read| !read.answer.is_empty());
                    let tag = (0..32).map(|n| (start + n) % 32).find(waiting).filter(|_| !random.one_in(8)).unwrap_or(start);
                    if let Some(read) = reads[tag].as_mut().filter(|read| now > read.issued_at + 4) {
                        if let Some(completion) = read.answer.pop_front() {
                            sending = Some((completion, 0));
                        }
                    } else if reads[tag].is_none() && now > ended_at[tag] + 8 && random.one_in(3) {
                        // To a tag that is not outstanding: a duplicate, a late one.
                        let completion = Completion::refusal(tag as u8, BDF, random.below(2) as u8, 0, 4);
                        strays.push_back((completion, now));
                    }
                    if random.one_in(50) {
                        let mut stray = Completion::refusal(32 + random.below(224) as u8, BDF, 0, 0, 4);
                        if random.one_in(2) {
                            // To a tag that is outstanding, but to another function.
                            stray.tag = random.below(32) as u8;
                            stray.requester = BDF ^ 1 << random.below(16);
                        }
                        strays.push_back((stray, now));
                    }
                    if sending.is_none() {
                        sending = strays.pop_front().filter(|(stray, at)| {
                            let known = stray.tag < 32 && stray.requester == BDF;
                            // Its tag may have been taken since.
                            let keep = *at == now && !(known && reads[usize::from(stray.tag)].is_some());
                            expected += u64::from(keep);
                            keep
                        }).map(|(stray, _)| (stray, 0));
                    }
                }
                tags.set_c_valid(false);
                if let Some((completion, at)) = sending.take_if(|(_, at)| *at == 0 || !random.one_in(5)) {
                    let beats = completion.data.len().div_ceil($lanes).max(1);
                    tags.set_c_valid(true);
                    tags.set_c_first(at == 0);
                    tags.set_c_last(at + 1 == beats);
                    tags.set_c_data($beat(&completion.data[(at * $lanes).min(completion.data.len())..]));
                    tags.set_c_tag(completion.tag);
                    tags.set_c_status(completion.status);
                    tags.set_c_poisoned(completion.poisoned);
                    tags.set_c_byte_count(completion.byte_count);
                    tags.set_c_lower(completion.lower);
                    tags.set_c_dwords(completion.dwords);
                    tags.set_c_requester(completion.requester);
                    if at + 1 < beats {
                        sending = Some((completion, at + 1));
                    }
                }
                tags.eval();

                // What comes out.
                unexpected += u64::from(tags.unexpected());
                assert_eq!(tags.dead(), dead | if tags.o_done() && tags.o_done_cause() == 3 { 1 << tags.o_done_tag() } else { 0 });
                if tags.o_valid() {
                    let read = reads[usize::from(tags.o_tag())].as_mut().expect("data for a tag that nobody waits on");
                    let data = $dwords(tags.o_data());
                    assert!((1..=$lanes).contains(&usize::from(tags.o_lanes())));
                    for lane in 0..usize::from(tags.o_lanes()) {
                        let n = usize::from(tags.o_dword()) + lane;
                        assert!(!std::mem::replace(&mut read.seen[n], true), "dword {n} came twice");
                        assert_eq!(data[lane], dword((read.address & !3) + 4 * n as u64), "tag {} dword {n}", tags.o_tag());
                    }
                }
                if tags.o_done() {
                    let tag = usize::from(tags.o_done_tag());
                    let read = reads[tag].take().expect("a read ended twice");
                    assert_eq!(u32::from(tags.o_done_cause()), read.cause as u32, "tag {tag} of {} bytes", read.bytes);
                    assert!(read.answer.is_empty(), "ended before its last completion");
                    causes[usize::from(tags.o_done_cause())] += 1;
                    ended_at[tag] = now;
                    if read.cause == Cause::None {
                        assert!(read.seen.iter().all(|seen| *seen), "ended well with data missing");
                    }
                    if read.cause == Cause::TimeOut {
                        let waited = now - read.issued_at;
                        let unit = u64::from(timeout) << 10;
                        // The scan takes 128 cycles a round; it waits while completions pass.
                        assert!(waited > unit && waited < unit + 1024 + 800, "timed out after {waited} cycles");
                        dead |= 1 << tag;
                    }
                }
                clock(&mut tags);
            }
            let open = reads.iter().flatten().filter(|read| read.cause != Cause::TimeOut || silence).count();
            assert_eq!(open, 0, "reads that never ended");
            assert_eq!(unexpected, expected, "completions that answer nothing");
            causes
        }
    };
}

bench!(run_64, Tags64, 2, beat_64, dwords_64);
bench!(run_128, Tags128, 4, beat, dwords);
bench!(run_256, Tags256, 8, beat, dwords);
bench!(run_512, Tags512, 16, beat, dwords);

const RUNS: [fn(u64, u64, bool) -> [u32; 8]; 4] = [run_64, run_128, run_256, run_512];

/// Completions cut at 64-byte lines, in any order among the tags; every lie; strays. Each read ends once, with
/// its cause, and each dword comes once.
#[test]
fn every_read_ends_once_with_its_cause() {
    for seed in 0..12 {
        for causes in RUNS.map(|run| run(seed, 40_000, false)) {
            assert!([0, 1, 2, 4, 5].iter().all(|n| causes[*n] > 0), "{causes:?}");
        }
    }
}

/// Reads that are not answered, or not to their end: time-out within a unit, the tag dead, later completions unexpected.
#[test]
fn a_read_that_is_not_answered_times_out() {
    for seed in 100..104 {
        for causes in RUNS.map(|run| run(seed, 30_000, true)) {
            assert!(causes[3] > 3, "{causes:?}");
        }
    }
}

/// One read, its first 64 bytes answered from the given cycle on, a beat every `gap` cycles, or never. Gives the cycles of its end and of its data, the
/// cause, and how many completions were unexpected.
macro_rules! single {
    ($name:ident, $model:ty, $lanes:expr, $beat:expr) => {
        fn $name(bytes: u16, answered: Option<u64>, gap: u64) -> (u64, Vec<u64>, u8, u64) {
            let mut tags = <$model>::new(PowerUp::Random(7));
            tags.set_bdf(BDF);
            tags.set_timeout(1);
            let completion = &complete(&mut Random(7), 9, BDF, 0x1000, 64, dword)[0];
            let (mut end, mut data, mut unexpected) = (None, Vec::new(), 0);
            for now in 0..3000u64 {
                tags.set_reset(now < 3);
                tags.set_i_valid(now == 10);
                tags.set_i_tag(9);
                tags.set_i_bytes(bytes);
                let since = answered.and_then(|start| now.checked_sub(start)).filter(|since| since % gap == 0);
                let beat = since.map(|since| since / gap).filter(|beat| *beat < 16 / $lanes);
                tags.set_c_valid(beat.is_some());
                if let Some(beat) = beat {
                    tags.set_c_first(beat == 0);
                    tags.set_c_last(beat == 16 / $lanes - 1);
                    tags.set_c_data($beat(&completion.data[beat as usize * $lanes..]));
                    tags.set_c_tag(9);
                    tags.set_c_byte_count(bytes);
                    tags.set_c_dwords(16);
                    tags.set_c_requester(BDF);
                }
                tags.eval();
                unexpected += u64::from(tags.unexpected());
                data.extend(tags.o_valid().then_some(now));
                if tags.o_done() {
                    assert!(end.replace((now, tags.o_done_cause())).is_none(), "ended twice");
                }
                tags.set_clock(true);
                tags.eval();
                tags.set_clock(false);
            }
            let (end, cause) = end.expect("a read that never ended");
            (end, data, cause, unexpected)
        }
    };
}

single!(single_64, Tags64, 2, beat_64);
single!(single_128, Tags128, 4, beat);

/// The answer comes just when the time is up, at every distance: it is the end, or it is unexpected, never both.
#[test]
fn an_answer_in_the_last_moment_counts_or_does_not() {
    for (single, beats) in [(single_64 as fn(_, _, _) -> _, 8), (single_128, 4)] {
        let (expiry, _, cause, _) = single(64, None, 1);
        assert_eq!(cause, Cause::TimeOut as u8);
        for gap in [1, 4] {
            let mut answered = 0;
            for start in expiry - 40..expiry + 10 {
                let (end, data, cause, unexpected) = single(64, Some(start), gap);
                if cause == Cause::None as u8 {
                    assert_eq!((data.len(), unexpected), (beats, 0), "answered from {start} on");
                    assert!(data.iter().all(|at| *at <= end), "data after the end");
                    answered += 1;
                } else {
                    assert_eq!((cause, data.len(), unexpected), (Cause::TimeOut as u8, 0, 1), "answered from {start} on");
                }
                // Half an answer does not save the read, but all of its data comes before the end, or none.
                let (end, data, cause, unexpected) = single(128, Some(start), gap);
                assert_eq!(cause, Cause::TimeOut as u8);
                assert_eq!(data.len(), if unexpected == 0 { beats } else { 0 });
                assert!(data.iter().all(|at| *at <= end), "data after the end");
            }
            assert!((20..49).contains(&answered), "{answered}");
        }
    }
}

/// The same completion twice, the second so many cycles behind the first. Gives how often the read ended and how many
/// were unexpected.
macro_rules! twice {
    ($name:ident, $model:ty) => {
        fn $name(distance: u64, status: u8) -> (u32, u32) {
            let mut tags = <$model>::new(PowerUp::Random(distance));
            tags.set_timeout(1);
            let (mut ends, mut unexpected) = (0, 0);
            for now in 0..200 {
                tags.set_reset(now < 3);
                tags.set_i_valid(now == 10);
                tags.set_i_tag(31);
                tags.set_i_bytes(4);
                tags.set_c_valid(now == 100 || now == 100 + distance);
                tags.set_c_first(true);
                tags.set_c_last(true);
                tags.set_c_tag(31);
                tags.set_c_status(status);
                tags.set_c_byte_count(4);
                tags.set_c_dwords(u16::from(status == 0));
                tags.eval();
                ends += u32::from(tags.o_done());
                unexpected += u32::from(tags.unexpected());
                tags.set_clock(true);
                tags.eval();
                tags.set_clock(false);
            }
            (ends, unexpected)
        }
    };
}

twice!(twice_64, Tags64);
twice!(twice_128, Tags128);

/// A duplicate, however close behind: the read ends once.
#[test]
fn a_duplicate_is_unexpected() {
    for distance in 1..10 {
        for status in [0, 1, 4] {
            assert_eq!(twice_64(distance, status), (1, 1), "{distance} cycles behind");
            assert_eq!(twice_128(distance, status), (1, 1), "{distance} cycles behind");
        }
    }
}

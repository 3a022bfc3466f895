//! A million fuzzed frames, and captures: the reference model against another library's reading of them.

use std::collections::HashMap;

use ferronic_contract::parse::{Checksum, L3, L4};
use ferronic_contract::registers::{PROMISCUOUS, STRIP_C, STRIP_S};
use ferronic_contract::ring::RingSize;
use ferronic_contract::{status, MIN_FRAME};
use ferronic_sim::model::{Fate, Settings};
use ferronic_sim::wire::{Frame, Fuzz};
use ferronic_tests::judge::{judge, raw_checksum, Judgement};
use ferronic_tests::say;
use ferronic_tests::shared::{all_captures, demo_capture};

const OWN: [u8; 6] = [2, 0, 0, 0, 0, 1];
const FRAMES: usize = 1_000_000;

/// How often the library saw what, and how often it had no opinion.
#[derive(Default)]
struct Seen {
    judgements: HashMap<[u32; 5], (Judgement, usize)>,
    no_opinion: usize,
    stripped: usize,
}

/// Compares frames of 14 bytes or more, by the completion that must tell of each, with and without its outer tag.
fn compare(name: &str, frames: impl Iterator<Item = Frame>) -> Seen {
    let ring = RingSize::new(8).unwrap();
    let mut seen = Seen::default();
    let modes = [0, STRIP_C.mask(), STRIP_S.mask(), STRIP_C.mask() | STRIP_S.mask()];
    let mut settings = Settings { own: OWN, ..Settings::default() };
    for (frame, mode) in frames.zip(modes.into_iter().cycle()) {
        settings.mode = PROMISCUOUS.mask() | mode;
        let Fate::Queue(delivery) = settings.judge(&frame.bytes) else { panic!("{name}, frame {}: not taken", frame.index) };
        let completion = delivery.completion(ring, 0, 0);
        let status = |field| completion.status.get(field);
        let what = || format!("{name}, frame {}, RX_MODE {:#x}: {:02x?}", frame.index, settings.mode, frame.bytes);
        let stripped = status(status::STRIPPED) as usize;
        assert_eq!(delivery.bytes.len() + 4 * stripped, frame.bytes.len(), "{}", what());
        assert_eq!(completion.raw_checksum, raw_checksum(&delivery.bytes), "{}", what());
        seen.stripped += stripped;
        let Some(library) = judge(&delivery.bytes, 2 - stripped) else {
            seen.no_opinion += 1;
            continue;
        };
        let fields = [status::L3, status::FRAG, status::L4, status::IPCSUM, status::L4CSUM].map(status);
        let must = [
            library.l3 as u32,
            u32::from(library.fragment),
            library.l4 as u32,
            library.ip_checksum as u32,
            library.l4_checksum as u32,
        ];
        assert_eq!(fields, must, "{}", what());
        seen.judgements.entry(must).or_insert((library, 0)).1 += 1;
    }
    seen
}

// Catches in the model: AH counted in units of 8 bytes; a segment judged though routing segments are left.
#[test]
fn a_million_frames_are_read_alike_by_the_model_and_another_library() {
    let halves = std::thread::scope(|scope| {
        let halves = [1, 2].map(|seed| scope.spawn(move || compare(&format!("seed {seed}"), Fuzz::new(seed, OWN).take(FRAMES / 2))));
        halves.map(|half| half.join().unwrap())
    });
    let count = |wanted: &dyn Fn(&Judgement) -> bool| -> usize {
        let all = halves.iter().flat_map(|half| half.judgements.values());
        all.filter(|(judgement, _)| wanted(judgement)).map(|(_, count)| count).sum()
    };
    let no_opinion: usize = halves.iter().map(|half| half.no_opinion).sum();
    let compared = count(&|_| true);
    say(&format!("{compared} frames compared, {no_opinion} of which the library has no opinion"));
    assert_eq!(compared + no_opinion, FRAMES);
    assert!(no_opinion < FRAMES / 20);
    assert!(halves.iter().all(|half| half.stripped > FRAMES / 20));
    // Everything that can be said was said often.
    for l3 in [L3::None, L3::Ipv4, L3::Ipv6, L3::Arp, L3::Other] {
        assert!(count(&|seen| seen.l3 == l3) > 1000, "{l3:?}");
    }
    for l3 in [L3::Ipv4, L3::Ipv6] {
        for l4 in [L4::None, L4::Tcp, L4::Udp, L4::Icmp, L4::Sctp, L4::Other] {
            assert!(count(&|seen| seen.l3 == l3 && seen.l4 == l4) > 1000, "{l4:?} over {l3:?}");
        }
        for l4 in [L4::Tcp, L4::Udp] {
            for verdict in [Checksum::NotChecked, Checksum::Good, Checksum::Bad] {
                let often = count(&|seen| seen.l3 == l3 && seen.l4 == l4 && seen.l4_checksum == verdict);
                assert!(often > 1000, "{l4:?} over {l3:?}: {verdict:?}");
            }
        }
        for l4 in [L4::None, L4::Tcp] {
            assert!(count(&|seen| seen.l3 == l3 && seen.fragment && seen.l4 == l4) > 300, "fragments, {l4:?} over {l3:?}");
        }
    }
    for verdict in [Checksum::Good, Checksum::Bad] {
        assert!(count(&|seen| seen.ip_checksum == verdict) > 1000, "{verdict:?}");
    }
}

#[test]
fn captures_are_read_alike_by_the_model_and_another_library() {
    let mut frames = demo_capture();
    let shared = all_captures().inspect_err(|why| say(&format!("only the project's own capture is compared: {why}")));
    frames.extend(shared.unwrap_or_default());
    frames.retain(|frame| frame.bytes.len() >= usize::from(MIN_FRAME));
    for turn in 0..4 {
        // Each frame meets each mode.
        let seen = compare("captures", frames.iter().cycle().skip(turn).take(frames.len()).cloned());
        let compared: usize = seen.judgements.values().map(|(_, count)| count).sum();
        say(&format!("{compared} of {} frames of captures compared", frames.len()));
        assert_eq!(compared + seen.no_opinion, frames.len());
        assert!(compared > frames.len() / 2);
    }
}

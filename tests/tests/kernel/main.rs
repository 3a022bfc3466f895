//! Asks the running Linux kernel itself what it makes of frames. Needs root and /dev/net/tun.

#![cfg(target_os = "linux")]

mod tap;

use std::path::Path;

use ferronic_contract::class::Mac;
use ferronic_sim::wire::read_capture;
use ferronic_tests::mutants::{edge_frames, mutants, WRONG_ORDER};
use ferronic_tests::oracle::{reference_model, software_path, Answer};
use ferronic_tests::say;
use nix::libc;
use tap::Tap;

/// The host under test in the project's capture.
const OWN: Mac = [0x02, 0xFE, 0, 0, 0, 1];
/// Errors that say that this machine, or this user, has no TAP interfaces.
const UNAVAILABLE: [i32; 5] = [libc::EPERM, libc::EACCES, libc::ENOENT, libc::ENODEV, libc::ENXIO];

/// What the kernel says of each frame; `None`, with the reason printed, where it cannot be asked.
fn kernel_answers(test: &str, frames: &[Vec<u8>]) -> Option<Vec<Answer>> {
    let mut tap = match Tap::new(&OWN) {
        Ok(tap) => tap,
        Err(why) if UNAVAILABLE.contains(&why.raw_os_error().unwrap_or(0)) => {
            say(&format!("{test} skipped: no TAP interface: {why}; it needs root and /dev/net/tun"));
            return None;
        }
        Err(why) => panic!("no TAP interface: {why}"),
    };
    let ask = |(number, frame): (usize, &Vec<u8>)| tap.ask(frame).unwrap_or_else(|why| panic!("frame {number}: {why}"));
    Some(frames.iter().enumerate().map(ask).collect())
}

fn compare(test: &str, frames: &[Vec<u8>]) -> Option<Vec<Answer>> {
    let answers = kernel_answers(test, frames)?;
    for (number, (frame, kernel)) in frames.iter().zip(&answers).enumerate() {
        assert_eq!(software_path(frame, &OWN), *kernel, "software path, frame {number}: {frame:02x?}");
        assert_eq!(reference_model(frame, &OWN), *kernel, "reference model, frame {number}: {frame:02x?}");
    }
    say(&format!("{test}: {} frames compared with the running kernel", answers.len()));
    Some(answers)
}

#[test]
fn the_demo_capture() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/demo.pcap");
    let capture = read_capture(&path, false).unwrap_or_else(|error| panic!("{error}"));
    let frames: Vec<Vec<u8>> = capture.frames.into_iter().map(|frame| frame.bytes).collect();
    if let Some(answers) = compare("the_demo_capture", &frames) {
        for pkt_type in 0..4 {
            assert!(answers.iter().any(|answer| answer.pkt_type == pkt_type), "no frame of type {pkt_type}");
        }
    }
}

#[test]
fn frames_on_every_edge_of_the_rule() {
    let frames = edge_frames(&OWN);
    let Some(answers) = compare("frames_on_every_edge_of_the_rule", &frames) else { return };
    // The kernel itself tells the rule from every rule with one bit wrong.
    for (what, rule) in mutants().into_iter().filter(|(what, _)| what != WRONG_ORDER) {
        assert!(frames.iter().zip(&answers).any(|(frame, kernel)| rule.answer(frame, &OWN) != *kernel), "{what}");
    }
}

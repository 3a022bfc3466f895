//! Flow control by PAUSE frames, sent and honoured.

use std::path::Path;

use ferronic::nic::{FlowControl, Nic};
use ferronic_sim::run::Direction;
use ferronic_sim::wire::{pause_frame, read_capture, Frame, LineRate, Pace, Rate};
use ferronic_tests::scenario::setup;
use ferronic_tests::say;

use crate::{count, counter, generated, must, numbered, receive, MAC};

/// A quantum at 1 Gb/s: 512 bit times.
const QUANTUM_NS: u64 = 512;
/// No marks are reached.
const HONOUR: FlowControl = FlowControl { send: false, honour: true, mbps: 1000, quanta: 0, high: 0, low: 0 };

/// Sets flow control before frames flow.
fn set(flow: FlowControl) -> ferronic_sim::run::Prepare {
    Box::new(move |nic: &mut Nic| nic.set_flow_control(&flow))
}

/// What the core sent, with the end of each frame in nanoseconds.
fn sent(file: &Path) -> Vec<Frame> {
    read_capture(file, false).unwrap_or_else(|error| panic!("{error}")).frames
}

/// Time on the line, frame and preamble, in nanoseconds: from where a frame begins to its end as captured.
fn line_ns(frame: &Frame) -> u64 {
    LineRate::GIGABIT.ps(8 + frame.bytes.len() as u64 + 4) / 1000
}

/// Catches: marks in other units, one PAUSE only, PAUSE sent again too late or without end, none that ends it, a PAUSE in
/// the middle of a frame.
#[test]
fn pause_is_sent_at_the_high_water_mark_again_at_half_its_time_and_ended_at_the_low_one() {
    let (quanta, high, low) = (100, 8192, 2048);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sent.pcap");
    let mut run = receive("gen1x1", 8, 1);
    run.sent = Some(file.clone());
    run.prepare = Some(set(FlowControl { send: true, honour: false, quanta, high, low, ..HONOUR }));
    // A host so slow that the ring runs dry and the packet FIFO fills.
    run.cost.packet_ns = 20_000;
    let (report, fates) = must(&run, generated("size=1000,count=28", 1));
    assert_eq!(report.frames_delivered, 28, "{report}");
    let pauses = sent(&file);
    assert_eq!(counter(&report, "core.PAUSE_OUT"), pauses.len() as u64);
    assert_eq!(counter(&report, "core.FRAMES_OUT"), 0, "PAUSE frames are not counted as sent frames");
    // The FIFO fills and runs empty once.
    let (last, asking) = pauses.split_last().expect("PAUSE was sent");
    assert_eq!(last.bytes, pause_frame(MAC, 0));
    assert!(asking.len() > 5, "{} PAUSE frames", asking.len());
    assert!(asking.iter().all(|frame| frame.bytes == pause_frame(MAC, quanta)));
    let half = u64::from(quanta) * QUANTUM_NS / 2;
    for pair in asking.windows(2) {
        let apart = pair[1].timestamp_ns - pair[0].timestamp_ns;
        assert!((half..half + 200).contains(&apart), "{apart} ns apart, half of the pause is {half} ns");
    }
    let apart = last.timestamp_ns - asking.last().expect("some").timestamp_ns;
    assert!(apart <= half + 200, "PAUSE ended {apart} ns after the last one");
    // From the one mark to the other, six or seven frames leave the FIFO, each 20 µs.
    let lasted = last.timestamp_ns - asking[0].timestamp_ns;
    say(&format!("{} PAUSE frames in {lasted} ns, {} frames delivered", pauses.len(), fates.len()));
    assert!((100_000..200_000).contains(&lasted), "{lasted} ns");
}

/// Catches: a quantum of another length, a frame begun under PAUSE or cut by it, PAUSE delivered, a second PAUSE that adds to
/// the first instead of replacing it, one of 0 that does not end it.
#[test]
fn pause_is_honoured_for_the_time_asked_and_not_delivered() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sent.pcap");
    let mut run = setup(Direction::Echo, "gen2x1", 256, 1);
    run.driver.rx = vec![run.driver.rx[0]; 2];
    run.sent = Some(file.clone());
    run.prepare = Some(set(HONOUR));
    run.pace = Pace { rate: Rate::FramesPerSecond(200_000), burst: 1 };
    // A frame each 5 µs. PAUSE of 200 µs in place of frame 100; in place of 200, one of 400 µs, which is cut to 100 µs by
    // another 100 µs later, and one of 10 ms that the next frame but one ends.
    let mut frames: Vec<Vec<u8>> = generated("size=60-500,count=600,mix=udp+tcp", 1).map(|frame| frame.bytes).collect();
    let quanta = |microseconds: u64| (1000 * microseconds / QUANTUM_NS) as u16;
    for (at, microseconds) in [(100, 200), (200, 400), (220, 100), (400, 10_000), (402, 0)] {
        frames[at] = pause_frame([2, 0, 0, 0, 0, 2], quanta(microseconds));
    }
    // To the station itself, as annex 31B allows.
    frames[100][..6].copy_from_slice(&MAC);
    let (report, fates) = must(&run, numbered(frames));
    assert_eq!(counter(&report, "core.PAUSE_IN"), 5);
    assert_eq!(report.frames_dropped.iter().collect::<Vec<_>>(), [(&"pause", &5)], "{report}");
    assert_eq!((report.frames_delivered, report.frames_sent), (595, 595), "{report}");
    assert_eq!(count(&fates, |class| class.protocol == 0x8808), 0);
    // The line rests between two frames as long as asked.
    let sent = sent(&file);
    let rests = sent.windows(2).map(|pair| pair[1].timestamp_ns - line_ns(&pair[1]) - pair[0].timestamp_ns);
    let long: Vec<u64> = rests.filter(|rest| *rest > 60_000).collect();
    say(&format!("rests of the line under PAUSE of 200, 100 + 100 and 10 µs: {long:?} ns"));
    // What is on its way to the wire when PAUSE comes still goes: the rest begins at most a frame before it, or after.
    let must = [200_000, 200_000];
    assert_eq!(long.len(), must.len(), "{long:?}");
    for (rest, must) in long.iter().zip(must) {
        assert!((must - 5_000..must + 12_000).contains(rest), "{rest} ns, must be about {must}");
    }
}

/// Catches: frames to the group address taken out though nobody asked for it.
#[test]
fn pause_is_a_frame_like_any_other_when_it_is_not_honoured() {
    let run = receive("gen2x1", 64, 1);
    let pause = pause_frame([2, 0, 0, 0, 0, 2], 1000);
    let (report, fates) = must(&run, numbered(vec![pause; 10]));
    assert_eq!((report.frames_delivered, counter(&report, "core.PAUSE_IN")), (10, 0), "{report}");
    assert_eq!(count(&fates, |class| class.protocol == 0x8808 && class.dst == "multicast"), 10);
}

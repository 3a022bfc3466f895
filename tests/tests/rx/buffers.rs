//! Frames over several buffers, headers in a buffer of their own, and frames that find no buffer.

use ferronic_contract::registers::queue::Split;
use ferronic_sim::wire::Fuzz;
use ferronic_tests::say;

use crate::live::Live;
use crate::{count, counter, generated, must, numbered, receive, MAC};

/// All that the generator makes, in all sizes.
const MIX: &str = "mix=udp+tcp+icmp+arp+udp6+tcp6+icmp6+vlan+qinq+raw";

/// Catches: a descriptor used twice or left out, a first or last buffer marked wrong, a payload that does not go on where
/// it stopped, at any remainder of frame and buffer.
#[test]
fn frames_of_up_to_9600_bytes_go_over_as_many_buffers_as_it_takes() {
    for (buffer, ring) in [(128, 512), (129, 512), (192, 512), (1000, 256), (2048, 64)] {
        let mut run = receive("gen2x1", ring, 1);
        run.driver.buffer_bytes = buffer;
        run.driver.buffers = 4 * ring;
        run.driver.rx[0].scatter = true;
        let edges = (1..=3).flat_map(|n| (0..3).map(move |off| n * usize::from(buffer) + off - 1));
        let edges: Vec<_> = edges.filter(|length| *length >= 60).map(|length| frame(length.min(9600))).collect();
        let some = generated(&format!("size=74-1600,count=120,{MIX}"), u64::from(buffer));
        let long = generated(&format!("size=74-9600,count=60,{MIX}"), 1);
        let longest = generated("size=9600,count=3,mix=tcp", 2);
        let (report, fates) = must(&run, numbered(edges).chain(some).chain(long).chain(longest));
        assert_eq!(report.dropped(), 0, "buffers of {buffer}: {report}");
        let most = fates.iter().filter_map(|(_, line)| line.class.as_ref()).map(|class| class.buffers).max();
        assert_eq!(most, Some(9600_usize.div_ceil(buffer.into())), "buffers of {buffer}");
        assert!(count(&fates, |class| class.buffers == 2) > 10 && count(&fates, |class| class.buffers == 1) > 3);
    }
}

/// Catches: a header cut one byte off, split where the layer is not there, or a payload of no bytes that takes a buffer.
#[test]
fn headers_are_split_off_where_asked_with_and_without_scatter() {
    for scatter in [false, true] {
        for (split, bytes) in
            [(Split::L2, 0), (Split::L3, 0), (Split::L4, 0), (Split::Fixed, 1), (Split::Fixed, 60), (Split::Fixed, 128)]
        {
            let mut run = receive("gen2x1", 256, 1);
            (run.driver.buffer_bytes, run.driver.buffers) = if scatter { (128, 1024) } else { (9600, 600) };
            let rx = &mut run.driver.rx[0];
            (rx.scatter, rx.split, rx.split_bytes) = (scatter, split, bytes);
            let traffic = generated(&format!("size=74-800,count=150,{MIX}"), 3).chain(Fuzz::new(4, MAC).take(250));
            let (report, fates) = must(&run, traffic);
            let what = format!("{split:?} {bytes}, scatter {scatter}");
            assert_eq!(report.dropped(), 0, "{what}: {report}");
            let (apart, whole) = (count(&fates, |class| class.split), count(&fates, |class| !class.split));
            say(&format!("split by {what}: {apart} frames split, {whole} not"));
            assert!(apart > 100, "{what}: {apart}");
            assert!(whole > 20 || split == Split::L2 || split == Split::Fixed && bytes < 60, "{what}: {whole}");
            let more = count(&fates, |class| class.split && class.buffers > 2);
            assert_eq!(more > 50, scatter, "{what}: {more} with more than one buffer of payload");
        }
    }
}

/// Catches: a frame dropped late, in the middle of its buffers, or a descriptor lost with it.
#[test]
fn a_frame_longer_than_its_buffer_is_dropped_when_it_may_not_scatter() {
    let mut run = receive("gen2x1", 64, 2);
    run.driver.buffer_bytes = 512;
    run.driver.rx[1].split = Split::L4;
    run.driver.buffers = 256;
    let (report, fates) = must(&run, generated("size=74-700,count=600,mix=udp+tcp+udp6+tcp6", 5));
    // In queue 1 a header takes nothing of the payload's buffer.
    let fits = |class: &ferronic_sim::outcome::ClassLine, length: usize| match class.queue {
        0 => length <= 512,
        _ => length - usize::from(class.header_length.unwrap_or(0)) <= 512,
    };
    let lines = || fates.iter().map(|(_, line)| line);
    assert!(lines().all(|line| line.class.as_ref().is_none_or(|class| fits(class, line.length))));
    assert!(lines().any(|line| line.class.as_ref().is_some_and(|class| class.queue == 1 && line.length > 512)));
    let dropped = counter(&report, "rx0.DROP_BUFFER") + counter(&report, "rx1.DROP_BUFFER");
    assert!(dropped > 100, "{report}");
    assert_eq!(report.frames_dropped.get("buffer"), Some(&dropped), "{report}");
    assert_eq!(report.frames_delivered + dropped, 600, "{report}");
}

/// Catches: a frame that waits for buffers for ever, or is told as whole; what comes behind it placed wrong.
#[test]
fn a_frame_whose_buffers_do_not_come_is_cut_short_after_hold() {
    let mut run = receive("gen2x1", 8, 1);
    run.driver.buffer_bytes = 128;
    run.driver.buffers = 64;
    run.driver.hold_usecs = Some(10);
    run.driver.rx[0].scatter = true;
    let mut live = Live::open(&run);
    for turn in 0..5 {
        // The host looks away: the first frames take 6 of 8 buffers, one finds what is left and is cut, and the last find none.
        live.push([300, 384, 1000, 60, 200].map(|length| frame(length)));
        live.quiet();
        assert_eq!(live.counter("rx0", "CUT"), turn + 1);
        live.settle();
        let dropped = live.fates().iter().filter(|line| line.outcome == "dropped:queue_no_descriptor").count();
        assert!(dropped == 2, "{dropped} frames found no buffer");
        assert_eq!(live.nic.rx[0].statistics().dropped_cut, u64::from(turn) + 1);
        // Once the core has read of new buffers, all is as before.
        live.quiet();
        live.push([60, 128, 129, 700].map(|length| frame(length)));
        live.settle();
        let fates = live.fates();
        assert!(fates.len() == 4 && fates.iter().all(|line| line.outcome == "delivered"), "{fates:?}");
    }
    live.close();
}

/// A frame to the own address, of a type for experiments.
fn frame(length: usize) -> Vec<u8> {
    let mut frame = [MAC.as_slice(), &[2, 0, 0, 0, 0, 2, 0x88, 0xB5]].concat();
    frame.extend((frame.len()..length).map(|at| (at ^ at >> 8 ^ length) as u8));
    frame
}

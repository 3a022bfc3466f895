use super::*;
use crate::wire::{Frame, Pace, WireSource, GENERATED};

const CLOCK_PS: u64 = 8_000;

fn beats(bytes: &[u8]) -> Vec<Beat<8>> {
    let count = bytes.len().div_ceil(8);
    let beat = |(i, chunk): (usize, &[u8])| {
        let mut data = [0; 8];
        data[..chunk.len()].copy_from_slice(chunk);
        Beat {
            data,
            keep: keep_of(chunk.len()),
            last: i + 1 == count,
            error: false,
        }
    };
    bytes.chunks(8).enumerate().map(beat).collect()
}

/// Drives `beats` as fast as the sink takes them, from `now` on; gives the frames with start and end.
fn drive(sink: &mut WireSink<8>, now: &mut u64, beats: &[Beat<8>]) -> Vec<(Vec<u8>, u64, u64)> {
    let mut frames = Vec::new();
    let mut next = 0;
    while next < beats.len() {
        let taken = sink.ready(*now);
        let received = sink.clock(*now, Some(&beats[next]));
        frames.extend(received.map(|r| (r.bytes.to_vec(), r.start_ps, r.end_ps)));
        next += usize::from(taken);
        *now += CLOCK_PS;
    }
    frames
}

fn rules(sink: &WireSink<8>) -> Vec<Rule> {
    sink.violations().iter().map(|v| v.rule).collect()
}

#[test]
fn frames_leave_at_line_rate_with_the_gap_between_them() {
    let mut sink = WireSink::new(LineRate::GIGABIT);
    let stream: Vec<_> = (0..3).flat_map(|i| beats(&[i; 60])).collect();
    let frames = drive(&mut sink, &mut 0, &stream);
    let times: Vec<(u64, u64)> = frames
        .iter()
        .map(|(_, start, end)| (start / 1000, end / 1000))
        .collect();
    assert_eq!(times, [(0, 576), (672, 1248), (1344, 1920)]);
    assert_eq!(frames[2].0, [2; 60]);
    assert_eq!(
        (sink.count(), sink.violation_count(), sink.is_idle()),
        (3, 0, true)
    );
}

#[test]
fn ready_follows_the_line() {
    let mut sink = WireSink::<8>::new(LineRate::GIGABIT);
    let stream = beats(&[1; 1514]);
    let mut now = 0;
    drive(&mut sink, &mut now, &stream);
    // 190 beats of 64 ns, of which the buffer takes two ahead; the line itself needs 12.176 us.
    assert!((11_900_000..12_200_000).contains(&now), "{now}");
}

#[test]
fn short_frames_are_padded_and_keep_their_length() {
    let mut sink = WireSink::<8>::new(LineRate::GIGABIT);
    let received = sink.clock(0, Some(&beats(&[9; 5])[0])).unwrap();
    assert_eq!(
        (received.unpadded, received.bytes.len(), received.end_ps),
        (5, 60, 576_000)
    );
    assert_eq!(received.bytes[..6], [9, 9, 9, 9, 9, 0]);
}

#[test]
fn a_pause_that_starves_the_line_is_an_underrun() {
    for (pause, expected) in [(16, vec![]), (17, vec![Rule::Underrun { byte: 8 }])] {
        let mut sink = WireSink::new(LineRate::GIGABIT);
        let stream = beats(&[1; 60]);
        let mut now = 0;
        drive(&mut sink, &mut now, &stream[..1]);
        // Byte 8 is due on the line 16 byte times after the start.
        while now < pause * CLOCK_PS {
            assert!(sink.clock(now, None).is_none());
            now += CLOCK_PS;
        }
        drive(&mut sink, &mut now, &stream[1..]);
        assert_eq!(rules(&sink), expected);
    }
}

#[test]
fn a_frame_that_never_ends_is_an_underrun() {
    let mut sink = WireSink::new(LineRate::GIGABIT);
    drive(&mut sink, &mut 0, &beats(&[1; 60])[..3]);
    for cycle in 3..1000 {
        sink.clock(cycle * CLOCK_PS, None);
    }
    assert_eq!(rules(&sink), [Rule::Underrun { byte: 24 }]);
    assert!(!sink.is_idle());
}

#[test]
fn keep_must_be_full_and_without_holes() {
    for (position, keep, last) in [
        (0, 0x7F, false),
        (3, 0xF7, false),
        (7, 0x0D, true),
        (7, 0, true),
    ] {
        let mut sink = WireSink::new(LineRate::GIGABIT);
        let mut stream = beats(&[1; 60]);
        stream[position].keep = keep;
        drive(&mut sink, &mut 0, &stream);
        assert!(
            rules(&sink).contains(&Rule::Keep { keep, last }),
            "{keep:#x}: {:?}",
            rules(&sink)
        );
    }
}

#[test]
fn an_offered_beat_must_stay_until_it_is_taken() {
    let stream = beats(&[1; 60]);
    for changed in [None, Some(&stream[7])] {
        let mut sink = WireSink::new(LineRate::GIGABIT);
        let mut now = 0;
        drive(&mut sink, &mut now, &stream[..3]);
        assert!(!sink.ready(now));
        sink.clock(now, Some(&stream[3]));
        sink.clock(now + CLOCK_PS, changed);
        assert_eq!(rules(&sink), [Rule::Unstable]);
    }
}

#[test]
fn a_broken_rule_or_the_core_itself_marks_the_frame_bad() {
    let mut sink = WireSink::<8>::new(LineRate::GIGABIT);
    let good = beats(&[1; 8])[0];
    assert!(
        sink.clock(
            0,
            Some(&Beat {
                error: true,
                ..good
            })
        )
        .unwrap()
        .error
    );
    assert!(
        sink.clock(1_000_000, Some(&Beat { keep: 0x0D, ..good }))
            .unwrap()
            .error
    );
    assert!(!sink.clock(2_000_000, Some(&good)).unwrap().error);
}

#[test]
fn an_endless_frame_is_cut_and_noted_once() {
    let mut sink = WireSink::new(LineRate::GIGABIT);
    let frames = drive(&mut sink, &mut 0, &beats(&vec![1; MAX_FRAME + 10_000]));
    assert_eq!(frames[0].0.len(), MAX_FRAME);
    assert_eq!(rules(&sink), [Rule::TooLong]);
}

/// What a store-and-forward loop-back does: everything that comes in at line rate goes out at line rate.
#[test]
fn source_and_sink_agree_at_line_rate() {
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
    let lengths = [60, 61, 64, 1514, 9600, 67];
    source.feed(
        lengths
            .into_iter()
            .map(|n| Frame::new(vec![n as u8; n], GENERATED.into(), 0)),
    );
    let mut sink = WireSink::<8>::new(LineRate::GIGABIT);
    let mut stored = std::collections::VecDeque::new();
    let mut sent = Vec::new();
    let mut received = Vec::new();
    let mut partial = Vec::new();
    for now in (0..).step_by(CLOCK_PS as usize) {
        if let Some(beat) = source.poll(now) {
            partial.push(beat);
            if beat.last {
                stored.extend(partial.drain(..));
                sent.push(source.take_sent().unwrap().frame.bytes);
            }
        }
        let taken = sink.ready(now);
        received.extend(sink.clock(now, stored.front()).map(|r| r.bytes.to_vec()));
        if taken {
            stored.pop_front();
        }
        if source.is_done() && stored.is_empty() {
            break;
        }
    }
    assert_eq!((sink.violations(), sent.len()), (&[][..], lengths.len()));
    assert_eq!(received, sent);
}

use super::*;
use crate::wire::{Frame, Rate, GENERATED};

fn frame(length: usize) -> Frame {
    Frame::new(
        (0..length).map(|i| i as u8 + 1).collect(),
        GENERATED.into(),
        0,
    )
}

/// Runs `source` with a clock of `period_ps` until it is done; gives each beat with its time.
fn run<const B: usize>(source: &mut WireSource<B>, period_ps: u64) -> Vec<(u64, Beat<B>)> {
    let mut beats = Vec::new();
    let mut now = 0;
    while !source.is_done() {
        beats.extend(source.poll(now).map(|beat| (now, beat)));
        now += period_ps;
    }
    beats
}

#[test]
fn beats_come_when_their_bytes_have_arrived() {
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
    source.push(frame(60));
    let beats = run(&mut source, 8_000);
    let times: Vec<u64> = beats.iter().map(|(now, _)| now / 1000).collect();
    // Preamble until 64 ns, then 64 ns a beat; the last one waits for the FCS at byte 8 + 60 + 4.
    assert_eq!(times, [128, 192, 256, 320, 384, 448, 512, 576]);
    assert_eq!(
        beats[0].1,
        Beat {
            data: [1, 2, 3, 4, 5, 6, 7, 8],
            keep: 0xFF,
            last: false,
            error: false
        }
    );
    assert_eq!(
        beats[7].1,
        Beat {
            data: [57, 58, 59, 60, 0, 0, 0, 0],
            keep: 0x0F,
            last: true,
            error: false
        }
    );
    let sent = source.take_sent().unwrap();
    assert_eq!(
        (sent.start_ps, sent.end_ps, sent.frame.bytes.len()),
        (0, 576_000, 60)
    );
    assert_eq!(source.take_sent(), None);
}

#[test]
fn frames_follow_at_line_rate_whatever_the_clock() {
    for period_ps in [1_000, 7_300, 8_000] {
        let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
        source.feed((0..1000).map(|_| frame(60)));
        let beats = run(&mut source, period_ps);
        assert_eq!(source.count(), 1000);
        let last = beats.last().unwrap().0;
        let exact = 999 * 672_000 + 576_000;
        assert!(
            (exact..exact + period_ps).contains(&last),
            "{last} at a clock of {period_ps} ps"
        );
    }
}

#[test]
fn short_frames_are_padded_and_bad_ones_flagged_on_the_last_beat() {
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
    source.push(Frame {
        bad_fcs: true,
        ..frame(0)
    });
    source.push(frame(14));
    let beats = run(&mut source, 8_000);
    assert_eq!(beats.len(), 16);
    let errors: Vec<usize> = (0..16).filter(|i| beats[*i].1.error).collect();
    assert_eq!(errors, [7]);
    assert_eq!(beats[9].1.data, [9, 10, 11, 12, 13, 14, 0, 0]);
}

#[test]
fn a_frame_that_fills_its_beats_ends_with_a_full_one() {
    let mut source = WireSource::<64>::new(LineRate::from_mbps(100_000).unwrap(), Pace::default());
    source.push(frame(64));
    source.push(frame(128));
    let beats = run(&mut source, 4_000);
    let shape: Vec<(u64, bool)> = beats
        .iter()
        .map(|(_, beat)| (beat.keep, beat.last))
        .collect();
    assert_eq!(
        shape,
        [(u64::MAX, true), (u64::MAX, false), (u64::MAX, true)]
    );
}

#[test]
fn a_pushed_frame_starts_when_it_is_pushed_but_keeps_the_gap() {
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
    source.push(frame(60));
    run(&mut source, 8_000);
    source.push(frame(60));
    assert_eq!(source.poll(600_000), None);
    while source.take_sent().is_none_or(|sent| sent.start_ps == 0) {
        source.poll(source.next_ps());
    }
    source.push(frame(60));
    source.poll(5_000_000);
    while !source.is_done() {
        source.poll(source.next_ps());
    }
    assert_eq!(source.take_sent().unwrap().start_ps, 5_000_000);
}

#[test]
fn the_gap_is_kept_after_a_frame_that_just_ended() {
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, Pace::default());
    source.push(frame(60));
    run(&mut source, 8_000);
    source.take_sent();
    source.push(frame(60));
    source.poll(600_000);
    while !source.is_done() {
        source.poll(source.next_ps());
    }
    assert_eq!(source.take_sent().unwrap().start_ps, 672_000);
}

#[test]
fn a_slow_pace_spreads_the_frames() {
    let pace = Pace {
        rate: Rate::FramesPerSecond(100_000),
        burst: 1,
    };
    let mut source = WireSource::<8>::new(LineRate::GIGABIT, pace);
    source.feed((0..3).map(|_| frame(60)));
    let lasts: Vec<u64> = run(&mut source, 8_000)
        .into_iter()
        .filter(|(_, beat)| beat.last)
        .map(|(now, _)| now)
        .collect();
    assert_eq!(lasts, [576_000, 10_576_000, 20_576_000]);
}

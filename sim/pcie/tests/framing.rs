//! Rules that only show in the beats and bytes of the stream.

mod common;

use common::{request, Bench, Streams};
use ferronic_pcie::{beats, Beat, Credits, Rule, Settings, Tlp};

/// Runs raw beats of a device and returns the rules they broke and the reads that were answered.
fn stream(settings: Settings, all: &[Beat]) -> (Vec<Rule>, usize) {
    let mut bench = Bench::enumerated(settings.clone()).0;
    let mut streams = Streams::new(&settings, 8000);
    streams.now_ps = bench.rc.now_ps();
    streams.tx.extend(all.iter().map(|beat| (*beat, false)));
    for _ in 0..5000 {
        streams.step(&mut bench, true);
    }
    (bench.broken(), streams.received.len())
}

fn raw(tlp: &Tlp) -> Vec<u8> {
    let mut bytes = Vec::new();
    tlp.encode(&mut bytes);
    bytes
}

#[test]
fn beats_and_bytes() {
    let write = raw(&request(true, 4, |_| {}));
    let read = raw(&request(false, 1, |_| {}));
    let run = |all: Vec<Beat>| stream(Settings::default(), &all);
    let whole = |bytes: &[u8]| beats(bytes, 2).collect::<Vec<_>>();
    assert_eq!(run([whole(&write), whole(&read)].concat()), (vec![], 1));

    // A hole, an empty beat, a partly filled beat in the middle, a lane that does not exist.
    let mut gap = whole(&read);
    gap[1].keep = 2;
    assert!(run(gap).0.contains(&Rule::Framing));
    let mut empty = whole(&write);
    empty.insert(1, Beat::EMPTY);
    assert_eq!(run(empty).0, [Rule::Framing]);
    let mut part = whole(&read);
    part[0].keep = 1;
    part.insert(
        1,
        Beat {
            data: [part[0].data[1]; 16],
            keep: 1,
            last: false,
        },
    );
    assert_eq!(run(part), (vec![Rule::Framing], 1));
    let mut outside = whole(&read);
    outside[1].keep = 5;
    assert!(run(outside).0.contains(&Rule::Framing));

    // Too short, too long, far too long; a good TLP after it is understood.
    for bytes in [
        write[..24].to_vec(),
        [&write[..], &[0; 4]].concat(),
        vec![0x40; 9000],
    ] {
        assert_eq!(
            run([whole(&bytes), whole(&read)].concat()),
            (vec![Rule::LengthMismatch], 1)
        );
    }
    // One DW more than the longest TLP there is.
    let mut longest = request(true, 1024, |r| (r.address, r.wide) = (1 << 32, true));
    longest.header.digest = true;
    let more = [raw(&longest), vec![0; 4]].concat();
    assert_eq!(run(whole(&more)), (vec![Rule::LengthMismatch], 0));
    // A digest belongs to the TLP.
    let mut digest = request(false, 1, |_| {});
    digest.header.digest = true;
    assert_eq!(run(whole(&raw(&digest))), (vec![], 1));

    let mut reserved = read.clone();
    reserved[1] |= 0x80;
    assert_eq!(run(whole(&reserved)), (vec![Rule::ReservedBits], 1));
    let mut low_bits = read.clone();
    low_bits[11] |= 2;
    assert_eq!(run(whole(&low_bits)), (vec![Rule::ReservedBits], 1));
    let mut config = read.clone();
    config[0] = 4;
    assert_eq!(
        run([whole(&config), whole(&read)].concat()),
        (vec![Rule::TlpType], 1)
    );
    let mut io = read.clone();
    io[0] = 2;
    assert_eq!(run(whole(&io)), (vec![Rule::TlpType], 0));
}

#[test]
fn a_read_without_np_ready() {
    let credits = Credits {
        nonposted_headers: 2,
        ..Settings::default().credits
    };
    let settings = Settings {
        credits,
        ..Settings::default()
    };
    let all: Vec<Beat> = (0..3)
        .flat_map(|tag| {
            let bytes = raw(&request(false, 1, |r| r.tag = tag));
            beats(&bytes, 2).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(
        stream(settings.clone(), &all),
        (vec![Rule::NonPostedCredit], 3)
    );

    // The same with respect for np_ready.
    let mut bench = Bench::enumerated(settings.clone()).0;
    let mut streams = Streams::new(&settings, 8000);
    streams.now_ps = bench.rc.now_ps();
    for tag in 0..20 {
        streams.send(&request(false, 1, |r| r.tag = tag));
    }
    for _ in 0..10_000 {
        streams.step(&mut bench, true);
    }
    assert_eq!((bench.broken(), streams.received.len()), (vec![], 20));
}

#[test]
fn a_broken_read_gives_its_credit_back() {
    let credits = Credits {
        nonposted_headers: 1,
        ..Settings::default().credits
    };
    let settings = Settings {
        credits,
        ..Settings::default()
    };
    let mut bench = Bench::enumerated(settings.clone()).0;
    let mut streams = Streams::new(&settings, 8000);
    streams.now_ps = bench.rc.now_ps();
    let read = request(false, 1, |_| {});
    let too_long = [raw(&read), vec![0; 4]].concat();
    streams.tx.extend(
        beats(&too_long, 2)
            .enumerate()
            .map(|(i, beat)| (beat, i == 0)),
    );
    streams.send(&read);
    for _ in 0..5000 {
        streams.step(&mut bench, true);
    }
    assert_eq!(
        (bench.broken(), streams.received.len()),
        (vec![Rule::LengthMismatch], 1)
    );
}

//! Time: throughput and latency equal the arithmetic; back pressure ends.

mod common;

use common::{Bench, Streams, DEVICE, RAM};
use ferronic_pcie::{Credits, DllpShare, Header, Kind, Link, Outcome, Settings, Splits, Tlp};

const CLOCK: u64 = 8_000; // 125 MHz

fn quiet() -> Settings {
    Settings {
        dllp: DllpShare::NONE,
        ..Settings::default()
    }
}

/// An enumerated device on streams, at a time when the link is idle.
fn streams(settings: &Settings) -> (Bench, Streams) {
    let mut bench = Bench::enumerated(settings.clone()).0;
    let mut streams = Streams::new(settings, CLOCK);
    streams.now_ps = bench.rc.now_ps().next_multiple_of(CLOCK) + 10_000_000;
    streams.step(&mut bench, true);
    (bench, streams)
}

fn interrupt() -> Tlp {
    Tlp::memory_write(DEVICE, 0xFEE0_0000, &[0; 4])
}

/// 60-byte frames in 64 bytes of host memory: 60 bytes, a header of 16, 8 around it.
#[test]
fn writes_take_the_time_that_arithmetic_says() {
    let (mut bench, mut streams) = streams(&quiet());
    let count = 1000;
    for i in 0..count {
        streams.send(&Tlp::memory_write(DEVICE, (1 << 32) + i * 64, &[1; 60]));
    }
    streams.send(&interrupt());
    let first_taken = streams.now_ps + 10 * CLOCK; // 76 bytes are ten beats
    let before = *bench.rc.counters();
    let arrived = loop {
        streams.step(&mut bench, true);
        if let Some(interrupt) = bench.rc.take_interrupt() {
            break interrupt.at_ps;
        }
    };
    let link = (count * (60 + 16 + 8) + (4 + 12 + 8)) * 4_000;
    assert_eq!(arrived, first_taken + link + 500_000);
    let up = bench.rc.counters().up;
    assert_eq!(up.mwr.tlps - before.up.mwr.tlps, count + 1);
    assert_eq!(up.mwr.bytes - before.up.mwr.bytes, count * 84 + 24);
    assert_eq!(
        up.mwr.payload_bytes - before.up.mwr.payload_bytes,
        count * 60 + 4
    );
    assert_eq!(up.busy_ps - before.up.busy_ps, (count * 84 + 24) * 4_000);
    assert_eq!(
        up.total().bytes,
        up.mwr.bytes + up.mrd.bytes + up.cpld.bytes + up.cpl.bytes
    );
    assert_eq!(bench.broken(), []);
}

#[test]
fn dllps_take_their_share_of_the_other_direction() {
    let settings = Settings {
        dllp: DllpShare {
            tlps_per_ack: 2,
            tlps_per_update_fc: 4,
        },
        ..quiet()
    };
    let (mut bench, mut streams) = streams(&settings);
    let before = *bench.rc.counters();
    for i in 0..100 {
        streams.send(&Tlp::memory_write(DEVICE, (1 << 32) + i * 64, &[1; 64]));
    }
    for _ in 0..10_000 {
        streams.step(&mut bench, true);
    }
    let counters = bench.rc.counters();
    assert_eq!(
        counters.down.dllp_bytes - before.down.dllp_bytes,
        8 * (100 / 2 + 100 / 4)
    );
    assert_eq!(counters.up.dllp_bytes, before.up.dllp_bytes);
    assert_eq!(counters.down.busy_ps - before.down.busy_ps, 8 * 75 * 4_000);
}

#[test]
fn a_read_takes_the_latency_and_its_bytes() {
    let (mut bench, mut streams) = streams(&quiet());
    streams.send(&Tlp::bare(Header::memory_read(DEVICE, 1, RAM, 64)));
    let taken = streams.now_ps + 2 * CLOCK; // 12 bytes are two beats
    while streams.received.is_empty() {
        streams.step(&mut bench, true);
    }
    let arrives = taken + (12 + 8) * 4_000 + 1_000_000 + (12 + 64 + 8) * 4_000;
    // Ten beats of 76 bytes, shown from the first clock edge after the arrival on.
    let expected = arrives.next_multiple_of(CLOCK) + 10 * CLOCK;
    assert_eq!(streams.now_ps, expected);
}

#[test]
fn a_cpu_read_waits_for_the_device_only() {
    let mut bench = Bench::enumerated(quiet()).0;
    let start = bench.rc.now_ps();
    let handle = bench.rc.cpu_read32(0xE000_0000);
    assert_eq!(bench.wait(handle).outcome, Outcome::Success);
    let link = ((12 + 8) + (12 + 4 + 8)) * 4_000;
    assert_eq!(bench.rc.now_ps() - start, 1_000_000 + link);
}

#[test]
fn a_full_buffer_holds_the_device_back_and_lets_it_go() {
    for credits in [
        Credits {
            posted_headers: 1,
            posted_data: 1,
            nonposted_headers: 1,
        },
        Credits {
            posted_headers: 4,
            posted_data: 16,
            nonposted_headers: 2,
        },
        Settings::default().credits,
    ] {
        let settings = Settings {
            credits,
            transmit_buffer: 64,
            ..quiet()
        };
        let (mut bench, mut streams) = streams(&settings);
        for i in 0..100u64 {
            let data: Vec<u8> = (0..256).map(|b| (b * 7 + i) as u8).collect();
            streams.send(&Tlp::memory_write(DEVICE, RAM + i * 256, &data));
            streams.send(&Tlp::bare(Header::memory_read(
                DEVICE,
                i as u8,
                RAM + i * 256,
                256,
            )));
        }
        let mut clocks = 0;
        while streams.received.len() < 100 {
            streams.step(&mut bench, true);
            clocks += 1;
            assert!(clocks < 200_000, "stalled for good with {credits:?}");
        }
        for i in 0..100u64 {
            let data: Vec<u8> = (0..256).map(|b| (b * 7 + i) as u8).collect();
            assert_eq!(*bench.ram.at(RAM + i * 256, 256).unwrap(), data);
            assert_eq!(streams.received[i as usize].payload, data);
        }
        assert_eq!(bench.broken(), []);
    }
}

/// What the device has given away is on the link, in the transmit buffer, or one TLP too much.
#[test]
fn the_transmit_buffer_is_bounded() {
    let (mut bench, mut streams) = streams(&quiet());
    for i in 0..100u64 {
        streams.send(&Tlp::memory_write(DEVICE, RAM + i * 256, &[1; 256]));
    }
    let before = streams.tx.len();
    let clocks = 1000;
    for _ in 0..clocks {
        streams.step(&mut bench, true);
    }
    let taken = (before - streams.tx.len()) * 8;
    let linked = (clocks * CLOCK / 4_000) as usize;
    let buffer = Settings::default().transmit_buffer as usize;
    assert!(
        taken >= linked && taken <= linked + buffer + 2 * 276,
        "{taken} bytes"
    );
}

/// Clock edges, in ps, at which the device has taken each TLP.
fn times(bench: &mut Bench, streams: &mut Streams, count: usize) -> Vec<u64> {
    let mut times = Vec::new();
    while times.len() < count {
        streams.step(bench, true);
        times.resize(streams.received.len(), streams.now_ps);
    }
    times
}

#[test]
fn cpu_writes_follow_each_other_without_a_gap() {
    let (mut bench, mut streams) = streams(&quiet());
    for _ in 0..4 {
        bench.rc.cpu_write32(0xE000_0000, 1);
    }
    let times = times(&mut bench, &mut streams, 4);
    // 24 bytes on the link are 96 ns: 12 clocks.
    assert!(
        times.windows(2).all(|w| w[1] - w[0] == 12 * CLOCK),
        "{times:?}"
    );
}

#[test]
fn credits_of_the_device_pace_cpu_writes() {
    let device_credits = Credits {
        posted_headers: 1,
        ..Settings::default().device_credits
    };
    let (mut bench, mut streams) = streams(&Settings {
        device_credits,
        ..quiet()
    });
    for _ in 0..4 {
        bench.rc.cpu_write32(0xE000_0000, 1);
    }
    let times = times(&mut bench, &mut streams, 4);
    // Credits take half the latency back, the next write its 96 ns and the other half; each waits for a
    // clock edge, and 16 bytes are two beats.
    let round_trip =
        500_000u64.next_multiple_of(CLOCK) + (500_000u64 + 96_000).next_multiple_of(CLOCK);
    assert!(
        times
            .windows(2)
            .all(|w| w[1] - w[0] == round_trip + 2 * CLOCK),
        "{times:?}"
    );
}

/// A read of the CPU that waits for credits does not hold the writes after it.
#[test]
fn cpu_writes_pass_a_read_without_credits() {
    let device_credits = Credits {
        nonposted_headers: 1,
        ..Settings::default().device_credits
    };
    let (mut bench, mut streams) = streams(&Settings {
        device_credits,
        ..quiet()
    });
    bench.rc.cpu_read32(0xE000_0000);
    bench.rc.cpu_read32(0xE000_0000);
    for _ in 0..20 {
        streams.step(&mut bench, true);
    }
    for _ in 0..2 {
        bench.rc.cpu_write(0xE000_0000, &[1; 128]);
        streams.step(&mut bench, true);
    }
    let times = times(&mut bench, &mut streams, 4);
    let kinds: Vec<Kind> = streams
        .received
        .iter()
        .map(|tlp| tlp.header.kind())
        .collect();
    assert_eq!(kinds, [Kind::MRd, Kind::MWr, Kind::MWr, Kind::MRd]);
    // 148 bytes on the link are 592 ns: 74 clocks.
    assert_eq!(times[2] - times[1], 74 * CLOCK);
}

/// One posted header credit: a write leaves when the credit of the one before is back.
#[test]
fn credits_pace_writes() {
    let credits = Credits {
        posted_headers: 1,
        ..Settings::default().credits
    };
    let (mut bench, mut streams) = streams(&Settings { credits, ..quiet() });
    for _ in 0..3 {
        streams.send(&interrupt());
    }
    let mut times = Vec::new();
    for _ in 0..2000 {
        streams.step(&mut bench, true);
        times.extend(bench.rc.take_interrupt().map(|i| i.at_ps));
    }
    let round_trip = 1_000_000 + 24 * 4_000;
    assert_eq!(
        times.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>(),
        [round_trip; 2]
    );
}

/// Stalls in the middle of a TLP in both directions, at every width, by the seed.
#[test]
fn stalls_and_gaps_lose_nothing() {
    for stream_bits in [64, 128, 256, 512] {
        let run = |seed| {
            let settings = Settings {
                stream_bits,
                link: Link::parse("gen3x8").unwrap(),
                tx_stall_permille: 200,
                rx_gap_permille: 300,
                splits: Splits::Random,
                reorder: true,
                seed,
                ..Settings::default()
            };
            let (mut bench, mut streams) = streams(&settings);
            for i in 0..200u64 {
                streams.send(&Tlp::memory_write(DEVICE, RAM + i * 256, &[i as u8; 200]));
                let read = Header::memory_read(DEVICE, i as u8, RAM + i * 256, 250);
                streams.send(&Tlp::bare(read));
            }
            let mut bytes = 0;
            for clock in 0..200_000u64 {
                let before = streams.received.len();
                streams.step(&mut bench, clock % 7 != 3 && clock % 5 != 0);
                for tlp in &streams.received[before..] {
                    bytes += tlp.payload.len();
                }
            }
            assert_eq!(bytes, 200 * 252);
            assert!(streams.stalls_inside > 100, "{}", streams.stalls_inside);
            assert_eq!(bench.broken(), []);
            for i in 0..200u64 {
                assert_eq!(*bench.ram.at(RAM + i * 256, 200).unwrap(), [i as u8; 200]);
            }
            (streams.stalls_inside, streams.received)
        };
        let (first, again, other) = (run(1), run(1), run(2));
        assert!(first == again, "equal seeds, equal runs");
        assert!(first != other, "other seeds, other runs");
    }
}

/// Posted writes of the CPU stay in order, and the device may take its time.
#[test]
fn a_device_that_takes_nothing_holds_the_cpu_writes() {
    let (mut bench, mut streams) = streams(&quiet());
    for i in 0..200u32 {
        bench.rc.cpu_write32(0xE000_0000 + u64::from(i) * 4, i);
    }
    let before = bench.rc.counters().down.mwr.tlps;
    for _ in 0..10_000 {
        streams.step(&mut bench, false);
    }
    let credits = u64::from(Settings::default().device_credits.posted_headers);
    assert_eq!(bench.rc.counters().down.mwr.tlps - before, credits);
    for _ in 0..30_000 {
        streams.step(&mut bench, true);
    }
    let values: Vec<u32> = (streams.received.iter())
        .map(|tlp| u32::from_le_bytes(tlp.payload[..].try_into().unwrap()))
        .collect();
    assert_eq!(values, (0..200).collect::<Vec<_>>());
}

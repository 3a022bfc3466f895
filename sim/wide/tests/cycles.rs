//! What the core itself does: cycles a frame at 64 to 512 bits, on a wire that always has the next frame.
//!
//! The wire has 400 Gb/s and the link is PCIe Gen3 x8, with credits that never run out and a host that works in no
//! time; so the core sets the pace, and drops what it cannot take for want of room. A run of N frames and one of 3·N
//! are compared: the difference has neither start nor end in it.
//!
//! The bound is the TLP beats that the core had to send for a frame: payload, completions, descriptor reads,
//! interrupts. [`least`] works out what these must be, so that a core that sends more than it must is found out.

use ferronic::config::Discovery;
use ferronic::policy::Replenish;
use ferronic_contract::registers::queue::{Format, Split};
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{Credits, Settings, Splits};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::cost::HostCost;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_128::NicCore128;
use ferronic_sim::report::Report;
use ferronic_sim::run::{Direction, Run};
use ferronic_sim::wire::{Generator, LineRate};
use ferronic_tests::say;
use ferronic_tests::scenario::{play, setup};
use ferronic_tests::shared::demo_capture;
use ferronic_wide::models::nic_core_256::NicCore256;
use ferronic_wide::models::nic_core_512::NicCore512;

/// Bytes of a frame, and how many of them a run at 64 bits is about; wider cores get half as many.
const SIZES: [(usize, usize); 4] = [(60, 24_000), (256, 8000), (1514, 2000), (9014, 500)];
/// What must be reached of the bound. All widths and sizes do better than 92 %.
const SHARE: f64 = 0.9;
/// Max_Payload_Size in bytes.
const MPS: usize = 256;
/// Thresholds that read half of what is on chip at once, when the other half is left; completions by the cache line. A
/// higher PTHRESH would read few at a time.
const DEEP: Thresholds = Thresholds { prefetch: 33, host: 32, batch: 32, write_back: 8, low_water: 0 };

/// A host that works in no time: 400 Gb/s, Gen3 x8, credits that never run out.
fn fast(queues: usize, ring: u32, thresholds: Thresholds, format: Format) -> Run {
    let mut run = setup(Direction::Receive, "gen3x8", ring, 1);
    run.line = LineRate::from_mbps(400_000).unwrap();
    run.cost = HostCost { interrupt_ns: 0, register_write_ns: 0, poll_ns: 0, packet_ns: 0, send_ns: 0 };
    run.pcie.splits = Splits::Largest;
    run.pcie.reorder = false;
    run.pcie.credits = Credits { posted_headers: 4096, posted_data: 65_536, nonposted_headers: 4096 };
    run.pcie.transmit_buffer = 8192;
    let rx = &mut run.driver.rx[0];
    rx.policy.replenish = Replenish::AsTaken { doorbell_every: 32 };
    rx.format = format;
    rx.queue.thresholds = thresholds;
    // Few enough to take little of the bus.
    (rx.queue.moderation.frames, rx.queue.moderation.usecs) = (64, 2);
    run.driver.rx = vec![*rx; queues];
    run
}

/// What a frame takes when all is under way.
struct Steady {
    cycles: f64,
    beats: f64,
    /// Of the cycles, those in which the oldest frame waited for a descriptor.
    starved: f64,
}

/// The wire brings a beat a cycle without a rest, and whatever finds the packet FIFO full is dropped. So the cycles are
/// those that the further frames took on the wire, and their deliveries what the core made of them.
fn steady<M: CoreModel<B> + 'static, const B: usize>(run: &Run, bytes: usize, frames: usize) -> Steady {
    let once = |count: usize| {
        let traffic: Generator = format!("size={bytes},count={count},rate=line").parse().unwrap();
        let (report, _) = play::<M, B>(run, traffic.frames(1, run.driver.mac));
        assert_eq!(report.mismatches, 0, "{} bits, {bytes} bytes\n{report}", 8 * B);
        assert_eq!(report.frames_delivered + report.dropped(), count as u64, "{report}");
        assert!(report.dropped() > 0, "{} bits, {bytes} bytes: the wire was too slow\n{report}", 8 * B);
        report
    };
    let (short, long) = (once(frames / 2), once(frames * 3 / 2));
    let more = |count: fn(&Report) -> u64| (count(&long) - count(&short)) as f64;
    let delivered = more(|report| report.frames_delivered);
    Steady {
        cycles: more(|report| report.frames_in) * bytes.div_ceil(B) as f64 / delivered,
        beats: more(|report| report.tlp_beats) / delivered,
        starved: more(|report| report.starved_cycles) / delivered,
    }
}

/// Beats of the TLPs that a frame must cause, with headers of three dwords, which are the shorter ones.
fn least(width: usize, bytes: usize, format: Format) -> f64 {
    let write = |payload: usize| (12 + payload).div_ceil(width) as f64;
    let rest = bytes % MPS;
    let payload = (bytes / MPS) as f64 * write(MPS) + if rest > 0 { write(rest) } else { 0.0 };
    let in_a_line = if format == Format::Full { 2.0 } else { 4.0 };
    payload + write(64) / in_a_line + write(0) / f64::from(DEEP.batch)
}

fn head() {
    say("| bits | queues | bytes | completions | cycles | beats sent | beats needed | needed / cycles | starved | Mpps | Gb/s |");
}

/// Frames of one size with either format of completion.
fn row<M: CoreModel<B> + 'static, const B: usize>(queues: usize, bytes: usize, frames: usize) -> [f64; 2] {
    [Format::Full, Format::CompactHash].map(|format| {
        let mut run = fast(queues, 4096, DEEP, format);
        run.driver.max_frame = bytes as u16;
        run.driver.buffer_bytes = bytes.next_multiple_of(64).max(128) as u16;
        run.driver.buffers = 4096 + 64;
        let found = steady::<M, B>(&run, bytes, frames * 8 / B.min(16));
        let least = least(B, bytes, format);
        let reached = least / found.cycles;
        say(&format!(
            "| {:>3} | {queues} | {bytes:>4} | {:<11} | {:>7.2} | {:>7.2} | {least:>7.2} | {:>5.1} % | {:>4.1} % | {:>5.2} | {:>5.2} |",
            8 * B,
            format!("{format:?}"),
            found.cycles,
            found.beats,
            100.0 * reached,
            100.0 * found.starved / found.cycles,
            125.0 / found.cycles,
            bytes as f64 / found.cycles,
        ));
        assert!(reached >= SHARE, "{:.1} % of what {} bits allow", 100.0 * reached, 8 * B);
        assert!(found.beats >= 0.98 * least, "a frame took {:.2} beats, less than it must", found.beats);
        found.cycles
    })
}

/// The best open core of 512 bits takes 8.2 cycles; here it must be less than half of that.
#[test]
fn cycles_of_the_shortest_frames() {
    let (bytes, frames) = SIZES[0];
    head();
    row::<NicCore, 8>(4, bytes, frames);
    row::<NicCore128, 16>(1, bytes, frames);
    row::<NicCore256, 32>(4, bytes, frames);
    let cycles = row::<NicCore512, 64>(4, bytes, frames);
    assert!(cycles.iter().all(|cycles| *cycles < 4.1), "{cycles:?} cycles");
}

#[test]
#[ignore = "slow: run by name"]
fn cycles_of_longer_frames() {
    head();
    for (bytes, frames) in SIZES.into_iter().skip(1) {
        row::<NicCore, 8>(4, bytes, frames);
        row::<NicCore128, 16>(1, bytes, frames);
        row::<NicCore256, 32>(4, bytes, frames);
        row::<NicCore512, 64>(4, bytes, frames);
    }
}

/// The shortest frames with rings of 256 and reads that take 1.0, 1.8 and 5.0 µs.
///
/// A queue has one read of up to 32 descriptors outstanding, so its frames take a 32nd of a round trip at least; and as
/// frames keep their order, the queue that runs out first holds up the others.
fn with_latency<M: CoreModel<B> + 'static, const B: usize>(queues: usize, frames: usize, thresholds: Thresholds) -> [f64; 3] {
    [1000, 1800, 5000].map(|latency_ns| {
        let mut run = fast(queues, 256, thresholds, Format::CompactHash);
        run.pcie.latency_ns = latency_ns;
        run.driver.rx.iter_mut().for_each(|rx| rx.policy.replenish = Replenish::AsTaken { doorbell_every: 16 });
        let found = steady::<M, B>(&run, 60, frames);
        let Thresholds { prefetch, host, batch, .. } = thresholds;
        let read = f64::from(latency_ns) / 8.0 / f64::from(batch) / queues as f64;
        say(&format!(
            "| {:>3} | {queues} | {:.1} µs | {prefetch} | {host:>2} | {batch} | {:>5.2} | {:>5.2} | {read:>4.2} | {:>4.1} % |",
            8 * B,
            f64::from(latency_ns) / 1000.0,
            found.cycles,
            found.beats,
            100.0 * found.starved / found.cycles,
        ));
        found.cycles
    })
}

/// Within 5 % whatever the latency: at 64 bits with the usual thresholds, at 256 with 8 queues and reads of 32. Four
/// queues at 256 and 512 bits stand 0.8 µs more; 4 µs more they cannot, for want of a second read.
#[test]
#[ignore = "slow: run by name"]
fn cycles_with_latency() {
    say("| bits | queues | latency | PTHRESH | HTHRESH | BATCH | cycles | beats sent | round trip / descriptors | starved |");
    let usual = Thresholds { write_back: 8, ..Thresholds::default() };
    let holds = |[base, more, most]: [f64; 3], whole: bool| {
        assert!(more < 1.05 * base && (most < 1.05 * base || !whole), "{base:.2}, {more:.2}, {most:.2} cycles");
    };
    holds(with_latency::<NicCore, 8>(4, 6000, usual), true);
    with_latency::<NicCore256, 32>(4, 16_000, usual);
    with_latency::<NicCore256, 32>(8, 16_000, usual);
    with_latency::<NicCore512, 64>(4, 24_000, usual);
    holds(with_latency::<NicCore, 8>(4, 6000, DEEP), true);
    holds(with_latency::<NicCore256, 32>(4, 16_000, DEEP), false);
    holds(with_latency::<NicCore256, 32>(8, 16_000, DEEP), true);
    holds(with_latency::<NicCore512, 64>(4, 24_000, DEEP), false);
}

/// Frames of many kinds and sizes, queues that differ, completions cut and out of order: driver and model agree.
fn agrees<M: CoreModel<B> + 'static, const B: usize>(seed: u64) {
    let mut run = fast(4, 256, Thresholds::default(), Format::Full);
    run.line = LineRate::from_mbps(10_000).unwrap();
    run.pcie = Settings { splits: Splits::Random, reorder: true, seed, tx_stall_permille: 20, rx_gap_permille: 20, ..run.pcie };
    (run.driver.max_frame, run.driver.buffer_bytes) = (9600, 512);
    run.driver.rx.iter_mut().for_each(|rx| rx.scatter = true);
    run.driver.rx[1].format = Format::CompactHash;
    run.driver.rx[2].split = Split::L4;
    (run.driver.rx[3].format, run.driver.rx[3].discovery) = (Format::CompactTag, Discovery::Index);
    let mix = "udp:4+tcp:4+icmp+arp+udp6:4+tcp6:4+icmp6+vlan+qinq";
    let short: Generator = format!("size=74-1514,count=1500,mix={mix}").parse().unwrap();
    let long: Generator = format!("size=1514-9600,count=60,mix={mix}").parse().unwrap();
    let mac = run.driver.mac;
    let frames = demo_capture().into_iter().chain(short.frames(seed, mac)).chain(long.frames(seed, mac));
    let (report, fates) = play::<M, B>(&run, frames);
    assert_eq!(report.mismatches, 0, "{} bits\n{report}", 8 * B);
    assert_eq!(report.frames_delivered + report.dropped(), fates.len() as u64, "{report}");
    assert!(report.frames_delivered * 10 > report.frames_in * 9, "{report}");
}

#[test]
fn wide_cores_agree_with_the_model() {
    for seed in [1, 2] {
        agrees::<NicCore256, 32>(seed);
        agrees::<NicCore512, 64>(seed);
    }
}

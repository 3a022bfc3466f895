//! How fast the co-simulation is: cycles of the core a wall second, for the bare Verilated core and for the whole
//! world at 1 Gb/s line rate of 60-byte frames, in one run. Their ratio is what the world costs.

// criterion's macros make public items without documentation.
#![allow(missing_docs)]

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::run::{run, Direction, Run, Watcher};
use ferronic_sim::wire::Generator;
use std::time::Duration;

/// Cycles of one iteration, near enough for the world: 1000 frames of 84 cycles.
const FRAMES: u64 = 1000;
const CYCLES: u64 = 84 * FRAMES;

fn bare(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cycles");
    group.sample_size(10).throughput(Throughput::Elements(CYCLES));
    let mut core = NicCore::power_up(1);
    CoreModel::set_reset(&mut core, true);
    group.bench_function("bare core", |bencher| {
        bencher.iter(|| {
            for _ in 0..CYCLES {
                CoreModel::clock(&mut core, false);
                CoreModel::clock(&mut core, true);
                CoreModel::set_reset(&mut core, false);
            }
        });
    });
    for (name, direction) in [("world, receive", Direction::Receive), ("world, send", Direction::Send)] {
        group.bench_function(name, |bencher| bencher.iter_custom(|runs| (0..runs).map(|_| world(direction)).sum()));
    }
    group.finish();
}

/// The time that a run takes from its first frame to its last, without bringing the world up.
fn world(direction: Direction) -> Duration {
    let generator: Generator = format!("size=60,count={FRAMES}").parse().expect("a legal specification");
    let setup = Run { direction, pace: generator.pace(), ..Run::default() };
    let mut watcher = Watcher { progress: &mut |_| (), frame: None };
    let report = run::<NicCore, 8>(&setup, generator.frames(1, setup.driver.mac), &mut watcher).expect("a run");
    assert_eq!(report.mismatches, 0);
    Duration::from_secs_f64(report.wall_seconds)
}

criterion_group!(speed, bare);
criterion_main!(speed);

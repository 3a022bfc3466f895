//! The world must not cost more than the core: with driver, memory, root complex and wire attached, at line rate,
//! at least half as many cycles a second as the bare core evaluated in a loop. Measured in turn, in one run;
//! the medians count.

use ferronic_sim::core_model::CoreModel;
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::run::{run, Run, Watcher};
use ferronic_sim::wire::Generator;
use std::time::Instant;

const ROUNDS: usize = 5;
const FRAMES: u64 = 500;

/// Cycles a second of the core alone.
fn bare() -> f64 {
    let mut core = NicCore::power_up(1);
    CoreModel::set_reset(&mut core, true);
    let (cycles, begun) = (84 * FRAMES, Instant::now());
    for _ in 0..cycles {
        CoreModel::clock(&mut core, false);
        CoreModel::clock(&mut core, true);
        CoreModel::set_reset(&mut core, false);
    }
    cycles as f64 / begun.elapsed().as_secs_f64()
}

/// Cycles and delivered frames a second of the whole world, receiving 60-byte frames at line rate.
fn world() -> (f64, f64) {
    let generator: Generator = format!("size=60,count={FRAMES}").parse().expect("a legal specification");
    let setup = Run { pace: generator.pace(), ..Run::default() };
    let mut watcher = Watcher { progress: &mut |_| (), frame: None };
    let report = run::<NicCore, 8>(&setup, generator.frames(1, setup.driver.mac), &mut watcher).expect("a run");
    assert_eq!((report.mismatches, report.frames_delivered), (0, FRAMES));
    (report.cycles_per_second, report.frames_delivered as f64 / report.wall_seconds)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn the_world_runs_at_half_the_bare_cores_speed_at_least() {
    let (mut alone, mut whole, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(bare());
        let (cycles, delivered) = world();
        whole.push(cycles);
        frames.push(delivered);
    }
    let (alone, whole, frames) = (median(alone), median(whole), median(frames));
    println!("bare core {alone:.0} cycles/s, world {whole:.0} cycles/s ({:.2}), {frames:.0} frames/s", whole / alone);
    assert!(whole >= 0.5 * alone, "the world runs {whole:.0} cycles/s, the bare core {alone:.0}");
}

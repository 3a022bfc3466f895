//! Runs of the Verilated core, as many at a time as there are processors.

use super::{Failure, Scope};
use crate::models::nic_core::NicCore;
use crate::report::Report;
use crate::run::{run, Run, Watcher};
use crate::wire::Generator;
use ferronic_pcie::{Link, Settings, Splits};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// A run and its frames.
pub struct Job {
    /// How it is set up.
    pub run: Run,
    /// Its frames.
    pub frames: Generator,
}

/// A root complex as hosts have them: completions cut and ordered at random, by the seed.
pub fn host(link: Link, latency_ns: u32, seed: u64) -> Settings {
    Settings { link, latency_ns, seed, splits: Splits::Random, reorder: true, ..Settings::default() }
}

/// Works on each case, several at a time, and gives the results in the order of the cases.
///
/// # Errors
///
/// The first that failed.
pub fn each<C: Sync, T: Send>(
    cases: &[C],
    scope: &Scope,
    work: impl Fn(&C) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T, String>>>> = cases.iter().map(|_| Mutex::default()).collect();
    let worker = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let (Some(case), Some(place)) = (cases.get(number), results.get(number)) else { break };
        (scope.progress)(&format!("run {} of {}", number + 1, cases.len()));
        let result = work(case).map_err(|error| error.to_string());
        *place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len());
    std::thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(worker);
        }
    });
    let whole = |place: Mutex<Option<Result<T, String>>>| {
        let result = place.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(result.ok_or("a run did not end")??)
    };
    results.into_iter().map(whole).collect()
}

/// The report of a run for each case. One in which anything mismatched proves nothing, and is an error.
///
/// # Errors
///
/// The first run that failed.
pub fn runs<C: Sync>(cases: &[C], scope: &Scope, job: impl Fn(&C) -> Job + Sync) -> Result<Vec<Report>, Failure> {
    each(cases, scope, |case| {
        let Job { run: setup, frames } = job(case);
        let mut watcher = Watcher { progress: &mut |_| (), frame: None };
        let report = run::<NicCore, 8>(&setup, frames.frames(scope.seed, setup.driver.mac), &mut watcher)?;
        match report.mismatch_texts.first() {
            Some(mismatch) => Err(format!("the simulation went wrong: {mismatch}").into()),
            None => Ok(report),
        }
    })
}

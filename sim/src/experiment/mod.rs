//! The experiments that Ferronic exists for: each settles an argument by numbers, and says which.
//!
//! | item | what it does |
//! |---|---|
//! | [`ALL`] | the experiments, a file each |
//! | [`findings`] | what one found: tables, plots, claims that were checked |
//! | [`simulate`] | runs of the Verilated core in simulated time |
//! | [`cpu`] | cycles of the driver against the software device, and their spread |
//! | [`receive`] | an RX queue under a policy, measured that way |
//! | [`report`] | files and the page |
//!
//! Those in simulated time are the same in every run for a seed. Those that measure cycles take their variants in turn,
//! many times over, and compare within a round.

pub mod cpu;
pub mod findings;
pub mod plot;
pub mod receive;
pub mod report;
pub mod simulate;

mod adaptive;
mod buffers;
mod copybreak;
mod pktgen;
mod prefetch;
mod registers;
mod status_bits;
mod thresholds;
mod tx;
mod weight;

use findings::Findings;
use std::error::Error;

/// What made an experiment fail.
pub type Failure = Box<dyn Error>;

/// How much to do, and how to tell.
pub struct Scope<'a> {
    /// Few packets and few points: to see that it works.
    pub quick: bool,
    /// Decides traffic, completion order and the order of variants.
    pub seed: u64,
    /// What this machine is.
    pub machine: String,
    /// Called with what is being done now.
    pub progress: &'a (dyn Fn(&str) + Sync),
}

impl Scope<'_> {
    /// One of two, by how much is to be done.
    pub fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick {
            quick
        } else {
            full
        }
    }
}

/// An experiment.
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// Who raised the question.
    pub source: &'static str,
    /// Whether it runs in simulated time, and so is the same in every run for a seed.
    pub simulated: bool,
    /// Runs it.
    pub run: fn(&Scope) -> Result<Findings, Failure>,
}

/// Every experiment, in the order of the report.
pub static ALL: &[&Experiment] = &[
    &weight::EXPERIMENT,
    &thresholds::EXPERIMENT,
    &prefetch::EXPERIMENT,
    &status_bits::EXPERIMENT,
    &copybreak::EXPERIMENT,
    &buffers::EXPERIMENT,
    &tx::EXPERIMENT,
    &pktgen::EXPERIMENT,
    &adaptive::EXPERIMENT,
    &registers::EXPERIMENT,
];

/// The experiment of a name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|experiment| experiment.name == name).copied()
}

/// Holds of every two that follow one another.
pub(crate) fn steps<T>(values: &[T], holds: impl Fn(&T, &T) -> bool) -> bool {
    values.windows(2).all(|pair| holds(&pair[0], &pair[1]))
}

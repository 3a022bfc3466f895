//! One run of the core with its driver, and what became of every frame.

use std::cell::RefCell;
use std::rc::Rc;

use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_contract::MAX_FRAME;
use ferronic_pcie::{Link, Settings, Splits};
use ferronic_sim::core_model::CoreModel;
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::report::Report;
use ferronic_sim::run::{run, Direction, Run, Watcher};
use ferronic_sim::setup::driver;
use ferronic_sim::wire::Frame;

/// A run with rings of `ring` entries that takes jumbo frames, over a root complex that cuts and reorders
/// completions as `seed` says.
///
/// # Panics
///
/// No such ring size or link.
pub fn setup(direction: Direction, link: &str, ring: u32, seed: u64) -> Run {
    let ring = RingSize::new(ring).unwrap_or_else(|| panic!("{ring} is no ring size"));
    let driver = driver(ring, Thresholds::default(), MAX_FRAME);
    let link = Link::parse(link).unwrap_or_else(|error| panic!("{error}"));
    let pcie = Settings { link, seed, splits: Splits::Random, reorder: true, ..Settings::default() };
    Run { driver, pcie, direction, ..Run::default() }
}

/// Runs frames; gives the report, and each frame with its fate in the order of the wire.
///
/// # Panics
///
/// The run breaks off.
pub fn play<M: CoreModel<B> + 'static, const B: usize>(
    setup: &Run,
    frames: impl Iterator<Item = Frame> + Send + 'static,
) -> (Report, Vec<(Frame, FrameLine)>) {
    let fates = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&fates);
    let mut watcher = Watcher {
        progress: &mut |_| (),
        frame: Some(Box::new(move |frame, line| seen.borrow_mut().push((frame.clone(), line.clone())))),
    };
    let report = run::<M, B>(setup, frames, &mut watcher).unwrap_or_else(|error| panic!("{error}"));
    let fates = fates.take();
    (report, fates)
}

//! Cycles of the driver's own processor, and what can be said of them.
//!
//! The unit is the processor's time-stamp counter, which runs at one rate whatever the clock does
//! ([`Cycles::per_second`]). Other programs disturb single figures, not medians of many; and variants are compared within
//! a round, in which they ran one behind the other.

use crate::software::pin;
use quanta::Clock;

/// A counter of cycles.
pub struct Cycles {
    clock: Clock,
    /// What two looks one behind the other differ by.
    overhead: u64,
    /// The same when each waits for all before it.
    waited_overhead: u64,
}

impl Default for Cycles {
    fn default() -> Self {
        let clock = Clock::new();
        let median = |look: &dyn Fn() -> u64| {
            let mut looks: Vec<u64> = (0..1001).map(|_| look()).collect();
            looks.sort_unstable();
            looks[looks.len() / 2]
        };
        let overhead = median(&|| clock.delta_raw());
        let waited_overhead = median(&|| {
            let begun = waited(&clock);
            waited(&clock) - begun
        });
        Self { clock, overhead, waited_overhead }
    }
}

/// The counter when all before is done, and before anything behind begins.
#[inline]
fn waited(clock: &Clock) -> u64 {
    wait();
    let now = clock.raw();
    wait();
    now
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code)]
fn wait() {
    // SAFETY: a barrier, which touches nothing; SSE2 is part of x86_64.
    unsafe { std::arch::x86_64::_mm_lfence() }
}

/// Elsewhere a fence is the nearest that there is.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn wait() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// The difference of two looks.
trait Raw {
    fn delta_raw(&self) -> u64;
}

impl Raw for Clock {
    fn delta_raw(&self) -> u64 {
        let begun = self.raw();
        self.raw() - begun
    }
}

impl Cycles {
    /// Cycles that the work takes.
    #[inline]
    pub fn of<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let begun = self.clock.raw();
        let result = work();
        let spent = self.clock.raw() - begun;
        (result, spent.saturating_sub(self.overhead) as f64)
    }

    /// Cycles until all that the work does is done, its reads of memory included: the processor does not run ahead into
    /// or out of it.
    #[inline]
    pub fn until_done<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let begun = waited(&self.clock);
        let result = work();
        let spent = waited(&self.clock) - begun;
        (result, spent.saturating_sub(self.waited_overhead) as f64)
    }

    /// Cycles in a second.
    pub fn per_second(&self) -> f64 {
        const MANY: u64 = 1 << 30;
        MANY as f64 * 1e9 / self.clock.delta_as_nanos(0, MANY) as f64
    }
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// First quartile.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub high: f64,
}

impl Summary {
    /// Of these values.
    ///
    /// # Panics
    ///
    /// There are none.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        // Between the two values that are nearest.
        let at = |part: f64| {
            let place = last as f64 * part;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Self { low: at(0.25), median: at(0.5), high: at(0.75) }
    }

    /// Of the ratios of two variants, round by round.
    pub fn of_ratio(of: &[f64], to: &[f64]) -> Self {
        let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to.max(1e-9)).collect();
        Self::of(&ratios)
    }

    /// First and third quartile.
    pub fn spread(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// Measures every variant once a round, in an order that changes, and gives the figures of each.
///
/// # Errors
///
/// The first failure of a variant.
pub fn in_turn<V, E>(
    variants: &[V],
    rounds: usize,
    seed: u64,
    mut measure: impl FnMut(&V) -> Result<f64, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut figures = vec![vec![f64::NAN; rounds]; variants.len()];
    let mut order: Vec<usize> = (0..variants.len()).collect();
    for round in 0..rounds {
        random.shuffle(&mut order);
        for &variant in &order {
            figures[variant][round] = measure(&variants[variant])?;
        }
    }
    Ok(figures)
}

/// Where driver and device run.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The device's processor; `None` when both share one.
    pub device: Option<usize>,
}

impl Places {
    /// In a sentence.
    pub fn sentence(&self) -> &'static str {
        match self.device {
            Some(_) => "Driver and device are pinned to a processor each.",
            None => "There is one processor only, which driver and device share: the figures say little.",
        }
    }
}

/// Runs the work in a thread that stays on one processor, with another one for the device.
///
/// # Panics
///
/// The work panicked.
pub fn pinned<T: Send>(work: impl FnOnce(Places) -> T + Send) -> T {
    let pair = pin::pair();
    std::thread::scope(|threads| {
        let run = move || {
            if let Some((driver, _)) = pair {
                pin::this_thread_to(driver);
            }
            work(Places { device: pair.map(|(_, device)| device) })
        };
        match threads.spawn(run).join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// What this machine is, in a line.
pub fn machine() -> String {
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
        Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.into());
    let processors = pin::allowed().len();
    let rate = Cycles::default().per_second() / 1e9;
    format!("{model}, {processors} processors, {rate:.2} · 10⁹ cycles of the time-stamp counter a second")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_the_values() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((summary.low, summary.median, summary.high), (2.0, 3.0, 4.0));
        assert_eq!(Summary::of(&[1.0, 2.0]).median, 1.5);
        assert_eq!(Summary::of(&[7.0]), Summary { low: 7.0, median: 7.0, high: 7.0 });
    }

    /// Catches: ratios of medians in the place of medians of ratios.
    #[test]
    fn a_ratio_is_taken_round_by_round() {
        assert_eq!(Summary::of_ratio(&[2.0, 30.0, 4.0], &[1.0, 10.0, 4.0]).median, 2.0);
    }

    /// Catches: a variant that is left out of a round, or two whose figures change places.
    #[test]
    fn every_variant_is_measured_once_a_round() {
        let figures = in_turn(&[1, 2, 3], 5, 1, |variant| Ok::<_, ()>(f64::from(*variant))).unwrap();
        assert_eq!(figures, [vec![1.0; 5], vec![2.0; 5], vec![3.0; 5]]);
        assert_eq!(in_turn(&[1, 2], 3, 1, |variant| if *variant == 2 { Err(()) } else { Ok(0.0) }), Err(()));
    }
}

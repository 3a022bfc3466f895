//! Threads to processors.

use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::unistd::Pid;

/// This thread itself.
const SELF: Pid = Pid::from_raw(0);

/// Numbers of the processors that this thread may run on.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
    (0..CpuSet::count()).filter(|processor| matches!(set.is_set(*processor), Ok(true))).collect()
}

/// Keeps this thread, and those that it starts, on one processor; false when the system does not let it.
pub fn this_thread_to(processor: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(processor).is_ok() && sched_setaffinity(SELF, &set).is_ok()
}

/// Two processors, one for the driver and one for the device; `None` where there is only one to be had.
pub fn pair() -> Option<(usize, usize)> {
    match allowed()[..] {
        [driver, device, ..] => Some((driver, device)),
        _ => None,
    }
}

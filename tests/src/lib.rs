//! Scenarios that cross crates, and what several of them need.

pub mod classifier;
pub mod fuzz;
pub mod judge;
pub mod mutants;
pub mod oracle;
pub mod scenario;
pub mod shared;

use std::io::Write;

/// Prints a line that is seen though the test passes: what was compared, or why a test was skipped.
pub fn say(line: &str) {
    // The test harness catches what `println!` prints. A line that cannot be printed is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

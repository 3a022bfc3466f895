//! Progress on a terminal: the stage that runs and for how long. In a pipe, nothing.

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::time::Duration;

/// Runs a stage under its name.
pub fn stage<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let style = ProgressStyle::with_template("{spinner} {msg:40} {elapsed}").expect("the template is ours");
    // Draws on stderr, and only when that is a terminal.
    let bar = ProgressBar::new_spinner().with_style(style).with_message(name.to_string());
    bar.enable_steady_tick(Duration::from_millis(120));
    let result = work();
    if !bar.is_hidden() {
        bar.finish_and_clear();
        eprintln!("{name:42} {}", HumanDuration(bar.elapsed()));
    }
    result
}

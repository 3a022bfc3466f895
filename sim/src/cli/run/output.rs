//! What a run leaves behind: the report, captures, a line for each frame, a waveform; and the bar while it runs.

use clap::{Args, ValueEnum};
use ferronic_sim::outcome::FrameLine;
use ferronic_sim::report::Report;
use ferronic_sim::whole_file::WholeFile;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::{Path, PathBuf};

/// How the result is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    /// For people
    Table,
    /// For programs
    Json,
}

#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Capture of what the driver delivered
    #[arg(long, value_name = "OUT.pcap")]
    pub received: Option<PathBuf>,
    /// Capture of what the core sent
    #[arg(long, value_name = "OUT.pcap")]
    pub sent: Option<PathBuf>,
    /// One line of JSON for each frame: what became of it, and every field of its completion; null where the format or
    /// the build of the core has none
    #[arg(long, value_name = "OUT.jsonl")]
    pub frames: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "table")]
    report: Style,
    /// Waveform of the core (a slower build of it runs); view with GTKWave or Surfer
    #[arg(long, value_name = "OUT.fst")]
    pub fst: Option<PathBuf>,
}

impl Output {
    /// Prints the report.
    pub fn show(&self, report: &Report) -> Result<(), serde_json::Error> {
        match self.report {
            Style::Table => print!("{report}"),
            Style::Json => println!("{}", serde_json::to_string_pretty(report)?),
        }
        Ok(())
    }
}

/// A bar on a terminal, nothing in a pipe.
pub fn progress_bar(frames: u64) -> ProgressBar {
    let bar = ProgressBar::new(frames);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// The file of `--frames`.
pub struct Lines {
    /// Absent once it is finished.
    file: Option<WholeFile>,
    path: PathBuf,
    failure: Option<std::io::Error>,
}

impl Lines {
    pub fn create(path: &Path) -> Result<Self, String> {
        let file = WholeFile::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { file: Some(file), path: path.to_owned(), failure: None })
    }

    pub fn write(&mut self, line: &FrameLine) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, line).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|()| file.write_all(b"\n")) {
            self.failure.get_or_insert(error);
        }
    }

    pub fn finish(&mut self) -> Result<(), String> {
        let finished = match (self.failure.take(), self.file.take()) {
            (Some(failure), _) => Err(failure),
            (None, file) => file.map_or(Ok(()), WholeFile::finish),
        };
        finished.map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

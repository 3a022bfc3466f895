//! `ferronic-sim run`.

use super::input::Input;
use clap::{Args as ClapArgs, ValueEnum};
use ferronic::nic::Config;
use ferronic_contract::class::Mac;
use ferronic_contract::ring::RingSize;
use ferronic_contract::thresholds::Thresholds;
use ferronic_pcie::{Link, Settings, Splits};
use ferronic_sim::models::nic_core::NicCore;
use ferronic_sim::models::nic_core_trace::NicCoreTrace;
use ferronic_sim::report::Report;
use ferronic_sim::run::{run as simulate, Direction, Run, Watcher};
use ferronic_sim::setup::driver;
use ferronic_sim::whole_file::WholeFile;
use ferronic_sim::wire::Generator;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How the result is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Style {
    /// For people.
    Table,
    /// For programs.
    Json,
}

#[derive(ClapArgs)]
pub struct Args {
    /// Captures to run, pcap or pcapng, one after the other at line rate; frames under 60 bytes are padded
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present = "generate", conflicts_with = "generate")]
    capture: Vec<PathBuf>,
    /// Traffic to generate: size=60|60-1514, count=N, rate=line|Npps|Nmbps, burst=N, mix=udp:3+tcp:1+…
    #[arg(long, value_name = "SPEC")]
    generate: Option<Generator>,
    /// Run the whole frames of a truncated capture
    #[arg(long)]
    allow_truncated: bool,
    /// Own MAC address of the driver
    #[arg(long, value_name = "MAC", default_value = "02:00:00:00:00:01", value_parser = parse_mac)]
    own_mac: Mac,
    /// Entries of each ring: a power of two from 8 to 32768
    #[arg(long, value_name = "N", default_value = "256", value_parser = parse_ring)]
    ring: RingSize,
    /// PTHRESH: prefetch descriptors while fewer than this are on chip, 1 to 64
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().prefetch)]
    pthresh: u8,
    /// HTHRESH: prefetch only when the host has this many ready (or the chip has none), 1 to 64
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().host)]
    hthresh: u8,
    /// BATCH: most descriptors in one read, 1 to 32
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().batch)]
    batch: u8,
    /// WTHRESH: completions gathered before they are written, 1 to 8
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().write_back)]
    wthresh: u8,
    /// LOW WATER: event when fewer descriptors than this are left; 0 is off
    #[arg(long, value_name = "N", default_value_t = Thresholds::default().low_water)]
    low_water: u16,
    /// Longest frame taken, 60 to 9600 bytes without FCS
    #[arg(long, value_name = "BYTES", default_value_t = ferronic_contract::MAX_FRAME)]
    max_frame: u16,
    /// The link: gen1x1 to gen4x16
    #[arg(long, value_name = "LINK", default_value = "gen1x1", value_parser = parse_link)]
    link: Link,
    /// Time from a read request to its completion in an idle system, beside the transfer itself
    #[arg(long, value_name = "N", default_value_t = 1000)]
    latency_ns: u32,
    /// The driver sends each received frame back out, and the wire checks it
    #[arg(long, conflicts_with = "transmit_only")]
    transmit: bool,
    /// The driver sends the frames; nothing comes from the wire
    #[arg(long)]
    transmit_only: bool,
    /// Capture of what the driver delivered
    #[arg(long, value_name = "OUT.pcap")]
    received: Option<PathBuf>,
    /// Capture of what the core sent
    #[arg(long, value_name = "OUT.pcap")]
    sent: Option<PathBuf>,
    /// One line of JSON for each frame
    #[arg(long, value_name = "OUT.jsonl")]
    frames: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "table")]
    report: Style,
    /// Waveform of the core (a slower build of it runs); view with GTKWave or Surfer
    #[arg(long, value_name = "OUT.fst")]
    fst: Option<PathBuf>,
    /// Seed of power-up state, completion splits and order, and generated traffic
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn parse_mac(text: &str) -> Result<Mac, String> {
    let parts: Vec<u8> = text
        .split(':')
        .map(|part| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten())
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{text:?} is not six bytes in hexadecimal, such as 02:00:00:00:00:01"))?;
    parts.try_into().map_err(|parts: Vec<u8>| format!("{text:?} has {} bytes; a MAC address has 6", parts.len()))
}

fn parse_ring(text: &str) -> Result<RingSize, String> {
    text.parse()
        .ok()
        .and_then(RingSize::new)
        .ok_or_else(|| format!("{text:?} is not a power of two from 8 to 32768"))
}

fn parse_link(text: &str) -> Result<Link, String> {
    Link::parse(text).map_err(|error| error.to_string())
}

/// Runs; true when nothing mismatched.
pub fn run(args: Args) -> Result<bool, Box<dyn Error>> {
    let thresholds = Thresholds {
        prefetch: args.pthresh,
        host: args.hthresh,
        batch: args.batch,
        write_back: args.wthresh,
        low_water: args.low_water,
    };
    thresholds.check()?;
    let input = match &args.generate {
        Some(generator) => Input::Generated(generator.clone()),
        None => Input::captures(&args.capture, args.allow_truncated)?,
    };
    let direction = match (args.transmit, args.transmit_only) {
        (true, _) => Direction::Echo,
        (_, true) => Direction::Send,
        _ => Direction::Receive,
    };
    let setup = Run {
        driver: Config { mac: args.own_mac, ..driver(args.ring, thresholds, args.max_frame) },
        pcie: Settings {
            link: args.link,
            latency_ns: args.latency_ns,
            seed: args.seed,
            splits: Splits::Random,
            reorder: true,
            ..Settings::default()
        },
        pace: input.pace(),
        direction,
        received: args.received.clone(),
        sent: args.sent.clone(),
        waveform: args.fst.clone(),
        ..Run::default()
    };

    let bar = progress_bar(input.count() * if args.transmit { 2 } else { 1 });
    let lines = args.frames.as_deref().map(Lines::create).transpose()?.map(|lines| Rc::new(RefCell::new(lines)));
    let writer = lines.clone();
    let mut watcher = Watcher {
        progress: &mut |settled| bar.set_position(settled),
        frame: writer.map(|lines| Box::new(move |_: &_, line: &_| lines.borrow_mut().write(line)) as _),
    };
    let frames = input.frames(args.seed, args.own_mac);
    let report = match args.fst {
        Some(_) => simulate::<NicCoreTrace, 8>(&setup, frames, &mut watcher)?,
        None => simulate::<NicCore, 8>(&setup, frames, &mut watcher)?,
    };
    bar.finish_and_clear();
    if let Some(lines) = lines {
        lines.borrow_mut().finish()?;
    }
    show(&report, args.report)?;
    Ok(report.mismatches == 0)
}

fn show(report: &Report, style: Style) -> Result<(), Box<dyn Error>> {
    match style {
        Style::Table => print!("{report}"),
        Style::Json => println!("{}", serde_json::to_string_pretty(report)?),
    }
    Ok(())
}

/// A bar on a terminal, nothing in a pipe.
fn progress_bar(frames: u64) -> ProgressBar {
    let bar = ProgressBar::new(frames);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// The file of `--frames`.
struct Lines {
    /// Absent once it is finished.
    file: Option<WholeFile>,
    path: PathBuf,
    failure: Option<std::io::Error>,
}

impl Lines {
    fn create(path: &Path) -> Result<Self, String> {
        let file = WholeFile::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { file: Some(file), path: path.to_owned(), failure: None })
    }

    fn write(&mut self, line: &ferronic_sim::outcome::FrameLine) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, line).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|()| file.write_all(b"\n")) {
            self.failure.get_or_insert(error);
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let finished = match (self.failure.take(), self.file.take()) {
            (Some(failure), _) => Err(failure),
            (None, file) => file.map_or(Ok(()), WholeFile::finish),
        };
        finished.map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

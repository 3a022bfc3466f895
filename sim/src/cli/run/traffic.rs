//! The frames: where they come from, which way they go, and how fast the wire is.

use clap::Args;
use ferronic_contract::class::Mac;
use ferronic_sim::run::Direction;
use ferronic_sim::wire::{read_capture, CaptureError, Frame, Fuzz, Generator, LineRate, Pace};
use std::path::PathBuf;

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Captures to run, pcap or pcapng, one after the other at line rate; frames under 60 bytes are padded
    #[arg(long, value_name = "FILE", num_args = 1..)]
    capture: Vec<PathBuf>,
    /// Traffic to generate: size=60|60-1514, count=N, rate=line|Npps|Nmbps, burst=N, mix=udp:3+tcp:1+…
    #[arg(long, value_name = "SPEC")]
    generate: Option<Generator>,
    /// So many frames of up to 9600 bytes that are right or broken in any layer, at line rate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    fuzz: Option<u32>,
}

#[derive(Args)]
#[command(next_help_heading = "Frames")]
pub struct Traffic {
    #[command(flatten)]
    source: Source,
    /// Run the whole frames of a truncated capture
    #[arg(long)]
    allow_truncated: bool,
    /// Speed of the wire in Mb/s, both ways: 10 to 400000
    #[arg(long, value_name = "MBPS", default_value = "1000", value_parser = line)]
    pub line_mbps: u32,
    /// The driver sends each received frame back out, and the wire checks it
    #[arg(long, conflicts_with = "transmit_only")]
    transmit: bool,
    /// The driver sends the frames; nothing comes from the wire
    #[arg(long)]
    transmit_only: bool,
}

fn line(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|mbps: &u32| (10..=400_000).contains(mbps) && LineRate::from_mbps((*mbps).into()).is_some())
        .ok_or_else(|| "legal are the speeds of Ethernet from 10 to 400000: a byte takes a whole number of picoseconds".into())
}

impl Traffic {
    /// Which way the frames go.
    pub fn direction(&self) -> Direction {
        match (self.transmit, self.transmit_only) {
            (true, _) => Direction::Echo,
            (_, true) => Direction::Send,
            _ => Direction::Receive,
        }
    }

    /// The speed of the wire.
    pub fn line(&self) -> LineRate {
        LineRate::from_mbps(self.line_mbps.into()).unwrap_or_default()
    }

    /// Reads all captures before anything runs, so that a bad one is found at once.
    pub fn input(&self) -> Result<Input, CaptureError> {
        let Source { capture, generate, fuzz } = &self.source;
        if let Some(generator) = generate {
            return Ok(Input::Generated(generator.clone()));
        }
        if let Some(count) = fuzz {
            return Ok(Input::Fuzzed(*count));
        }
        let mut frames = Vec::new();
        for file in capture {
            let capture = read_capture(file, self.allow_truncated)?;
            if let Some(truncation) = capture.truncated {
                eprintln!("{}: {truncation}; the whole frames before it are run", file.display());
            }
            frames.extend(capture.frames);
        }
        Ok(Input::Captured(frames))
    }
}

/// Frames to run.
pub enum Input {
    /// From captures.
    Captured(Vec<Frame>),
    /// From a generator.
    Generated(Generator),
    /// So many that look for mistakes.
    Fuzzed(u32),
}

impl Input {
    /// How many frames there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Captured(frames) => frames.len() as u64,
            Self::Generated(generator) => generator.count() as u64,
            Self::Fuzzed(count) => u64::from(*count),
        }
    }

    /// How they follow one another on the wire.
    pub fn pace(&self) -> Pace {
        match self {
            Self::Generated(generator) => generator.pace(),
            Self::Captured(_) | Self::Fuzzed(_) => Pace::default(),
        }
    }

    /// The frames.
    pub fn frames(self, seed: u64, mac: Mac) -> Box<dyn Iterator<Item = Frame> + Send> {
        match self {
            Self::Captured(frames) => Box::new(frames.into_iter()),
            Self::Generated(generator) => Box::new(generator.frames(seed, mac)),
            Self::Fuzzed(count) => Box::new(Fuzz::new(seed, mac).take(count as usize)),
        }
    }
}

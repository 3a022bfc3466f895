//! Where frames come from: captures or a generator.

use ferronic_contract::class::Mac;
use ferronic_sim::wire::{read_capture, CaptureError, Frame, Generator, Pace};
use std::path::PathBuf;

/// Frames to run.
pub enum Input {
    /// From captures.
    Captured(Vec<Frame>),
    /// From a generator.
    Generated(Generator),
}

impl Input {
    /// Reads all captures before anything runs, so that a bad one is found at once.
    pub fn captures(files: &[PathBuf], allow_truncated: bool) -> Result<Self, CaptureError> {
        let mut frames = Vec::new();
        for file in files {
            let capture = read_capture(file, allow_truncated)?;
            if let Some(truncation) = capture.truncated {
                eprintln!("{}: {truncation}; the whole frames before it are run", file.display());
            }
            frames.extend(capture.frames);
        }
        Ok(Self::Captured(frames))
    }

    /// How many frames there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Captured(frames) => frames.len() as u64,
            Self::Generated(generator) => generator.count() as u64,
        }
    }

    /// How they follow one another on the wire.
    pub fn pace(&self) -> Pace {
        match self {
            Self::Captured(_) => Pace::default(),
            Self::Generated(generator) => generator.pace(),
        }
    }

    /// The frames.
    pub fn frames(self, seed: u64, mac: Mac) -> Box<dyn Iterator<Item = Frame> + Send> {
        match self {
            Self::Captured(frames) => Box::new(frames.into_iter()),
            Self::Generated(generator) => Box::new(generator.frames(seed, mac)),
        }
    }
}

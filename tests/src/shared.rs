//! The folder of captures and recorded answers that is not part of the project.

use std::path::{Path, PathBuf};

use ferronic_sim::wire::{read_capture, Frame};

/// Names the folder that holds `data/captures` and `data/kernel-oracle.csv`; without it, `../shared` beside the
/// workspace.
pub const FOLDER: &str = "FERRONIC_SHARED";

/// Where the data is.
pub fn data() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os(FOLDER).map_or_else(beside, PathBuf::from).join("data")
}

/// The frames of every capture in `data/captures`, by file name; of a truncated one those before the break.
///
/// # Errors
///
/// Why there are none: the folder is absent.
///
/// # Panics
///
/// The folder is there and a capture cannot be read.
pub fn all_captures() -> Result<Vec<Frame>, String> {
    let folder = data().join("captures");
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}; set {FOLDER} to the folder with data/captures", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    Ok(files.iter().flat_map(|file| capture(file)).collect())
}

/// The project's own capture: real traffic of many kinds.
pub fn demo_capture() -> Vec<Frame> {
    capture(&Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/demo.pcap"))
}

/// The whole frames of a capture.
///
/// # Panics
///
/// It cannot be read.
pub fn capture(file: &Path) -> Vec<Frame> {
    read_capture(file, true).unwrap_or_else(|error| panic!("{error}")).frames
}

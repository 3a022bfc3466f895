//! Running the program and reading what it leaves behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ferronic_sim::wire::{read_capture, Frame};
use serde_json::Value;

pub fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/captures/demo.pcap")
}

pub fn demo_frames() -> Vec<Frame> {
    read_capture(&demo(), false).unwrap().frames
}

/// Runs the program with these words and paths.
pub fn sim(words: &str, paths: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferronic-sim"));
    command.arg("run").args(words.split_whitespace());
    for (option, path) in paths {
        command.arg(option).arg(path);
    }
    command.output().unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON report of a run in which all went well.
pub fn report(words: &str, paths: &[(&str, &Path)]) -> Value {
    let output = sim(&format!("{words} --report json"), paths);
    assert_eq!(output.status.code(), Some(0), "{}{}", stderr(&output), String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asserts that a run is refused before anything ran, in a message with all of these words.
pub fn refused(output: &Output, words: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "nothing may be reported");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
}

/// The report of a run in which all went well, and the line of each frame.
pub fn lines(words: &str, paths: &[(&str, &Path)]) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("frames.jsonl");
    let report = report(words, &[paths, &[("--frames", &file)]].concat());
    let text = std::fs::read_to_string(&file).unwrap();
    (report, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Frames that were dropped, by cause.
pub fn dropped(report: &Value) -> Vec<(&str, u64)> {
    report["frames_dropped"].as_object().unwrap().iter().map(|(cause, count)| (cause.as_str(), count.as_u64().unwrap())).collect()
}

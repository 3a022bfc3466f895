//! The command line of `ferronic-sim run`: what it reads, writes and refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ferronic_sim::wire::{read_capture, Frame};
use serde_json::Value;
use tempfile::TempDir;

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/captures/demo.pcap")
}

fn demo_frames() -> Vec<Frame> {
    read_capture(&demo(), false).unwrap().frames
}

/// Runs the program with these words and paths.
fn sim(words: &str, paths: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferronic-sim"));
    command.arg("run").args(words.split_whitespace());
    for (option, path) in paths {
        command.arg(option).arg(path);
    }
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON report of a run in which all went well.
fn report(words: &str, paths: &[(&str, &Path)]) -> Value {
    let output = sim(&format!("{words} --report json"), paths);
    assert_eq!(output.status.code(), Some(0), "{}{}", stderr(&output), String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asserts that a run is refused before anything ran, in a message with all of these words.
fn refused(output: &Output, words: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "nothing may be reported");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
}

/// A file in the folder, made from the demo capture.
fn altered(folder: &TempDir, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    let mut bytes = std::fs::read(demo()).unwrap();
    change(&mut bytes);
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_file_that_is_no_whole_ethernet_capture_is_refused_by_name_and_reason() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pcap");
    refused(&sim("", &[("--capture", &missing)]), &["missing.pcap", "cannot be read", "No such file"]);
    let empty = altered(&folder, "empty.pcap", Vec::clear);
    refused(&sim("", &[("--capture", &empty)]), &["empty.pcap", "is empty"]);
    let text = altered(&folder, "text.pcap", |bytes| *bytes = b"This is a note about captures.\n".to_vec());
    refused(&sim("", &[("--capture", &text)]), &["text.pcap", "neither pcap nor pcapng"]);
    // LINKTYPE_LINUX_SLL.
    let cooked = altered(&folder, "cooked.pcap", |bytes| bytes[20..24].copy_from_slice(&113u32.to_le_bytes()));
    refused(&sim("", &[("--capture", &cooked)]), &["cooked.pcap", "113", "not Ethernet"]);
    refused(&sim("", &[("--capture", folder.path())]), &["cannot be read", "directory"]);
    let cut = altered(&folder, "cut.pcap", |bytes| bytes.truncate(bytes.len() - 5));
    refused(&sim("", &[("--capture", &cut)]), &["cut.pcap", "truncated"]);
    // A bad file among good ones is found before the good ones run.
    refused(&sim("", &[("--capture", &demo()), ("--capture", &missing)]), &["missing.pcap"]);
}

#[test]
fn the_whole_frames_of_a_truncated_capture_run_when_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let cut = altered(&folder, "cut.pcap", |bytes| bytes.truncate(bytes.len() - 5));
    let output = sim("--allow-truncated --report json", &[("--capture", &cut)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["frames_in"], demo_frames().len() - 1);
    let said = stderr(&output);
    assert!(said.contains("cut.pcap") && said.contains("truncated"), "{said}");
}

#[test]
fn the_json_report_has_every_field() {
    let report = report("", &[("--capture", &demo())]);
    let frames = demo_frames().len();
    for field in ["frames_in", "frames_delivered", "status_path"] {
        assert_eq!(report[field], frames, "{field}");
    }
    for field in ["mismatches", "software_path"] {
        assert_eq!(report[field], 0, "{field}");
    }
    assert!(report["frames_dropped"].as_object().unwrap().is_empty());
    for field in [
        "cycles", "sim_seconds", "wall_seconds", "cycles_per_second", "descriptor_reads", "descriptors", "interrupts",
        "doorbells",
    ] {
        assert!(report[field].as_f64().unwrap() > 0.0, "{field}");
    }
    assert!(report["starved_cycles"].is_u64());
    let pcie = &report["pcie"];
    for field in ["up_tlps", "down_tlps", "up_bytes", "down_bytes"] {
        assert!(pcie[field].as_u64().unwrap() > 0, "{field}");
    }
    for (way, total) in [("up", "up_tlps"), ("down", "down_tlps")] {
        let kinds = pcie[way].as_object().unwrap();
        let sum: u64 = kinds.values().map(|kind| kind["tlps"].as_u64().unwrap()).sum();
        assert_eq!(pcie[total], sum, "the kinds {way} do not add up");
    }
    assert!(pcie["up"]["memory_write"]["bytes"].as_u64().unwrap() > 0);
    assert!(pcie["down"]["completion_data"]["bytes"].as_u64().unwrap() > 0);
}

#[test]
fn there_is_a_line_for_each_frame() {
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("frames.jsonl");
    let longest = 1000;
    let frames = demo_frames();
    let report = report(&format!("--max-frame {longest}"), &[("--capture", &demo()), ("--frames", &lines)]);
    let text = std::fs::read_to_string(&lines).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), frames.len());
    let mut dropped = 0;
    for (index, (line, frame)) in lines.iter().zip(&frames).enumerate() {
        assert_eq!((&line["capture"], &line["index"]), (&"demo.pcap".into(), &index.into()));
        assert_eq!(line["length"], frame.bytes.len().max(60));
        if frame.bytes.len() > longest {
            assert_eq!(line["outcome"], "dropped:oversize");
            dropped += 1;
            continue;
        }
        assert_eq!(line["outcome"], "delivered");
        assert_eq!((&line["classified"], &line["path"]), (&true.into(), &"status".into()));
        assert!(["host", "broadcast", "multicast", "other_host"].contains(&line["dst"].as_str().unwrap()));
        assert!(["ethernet_ii", "llc", "raw"].contains(&line["l2"].as_str().unwrap()));
        for field in ["protocol", "vlan_tags", "epoch"] {
            assert!(line[field].is_u64(), "{field}: {line}");
        }
    }
    assert!(dropped > 0, "the capture has no frame of over {longest} bytes");
    assert_eq!(report["frames_dropped"]["oversize"], dropped);
}

#[test]
fn what_was_received_and_sent_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (received, sent) = (folder.path().join("received.pcap"), folder.path().join("sent.pcap"));
    let files: [(&str, &Path); 3] = [("--capture", &demo()), ("--received", &received), ("--sent", &sent)];
    let report = report("--transmit --link gen2x1", &files);
    let mut frames = demo_frames();
    frames.iter_mut().for_each(Frame::pad);
    assert_eq!(report["frames_sent"], frames.len());
    for file in [received, sent] {
        let read = read_capture(&file, false).unwrap().frames;
        assert_eq!(read.len(), frames.len());
        assert!(read.iter().zip(&frames).all(|(read, frame)| read.bytes == frame.bytes), "{}", file.display());
    }
}

#[test]
fn a_bad_value_is_refused_by_name() {
    let traffic = "--generate size=60,count=10";
    for (words, named) in [
        ("--ring 7", ["--ring", "\"7\"", "power of two"]),
        ("--ring 65536", ["--ring", "65536", "32768"]),
        ("--own-mac 02:00:00:00:00", ["--own-mac", "has 5 bytes", "02:00:00:00:00"]),
        ("--own-mac 02:00:00:00:00:0g", ["--own-mac", "0g", "hexadecimal"]),
        ("--link gen9x3", ["--link", "gen9x3", "gen1x1"]),
        ("--pthresh 0", ["PTHRESH", "is 0", "1 to 64"]),
        ("--hthresh 65", ["HTHRESH", "is 65", "1 to 64"]),
        ("--batch 33", ["BATCH", "is 33", "1 to 32"]),
        ("--wthresh 9", ["WTHRESH", "is 9", "1 to 8"]),
        ("--max-frame 59", ["MAX_FRAME", "59", "60"]),
        ("--max-frame 9601", ["MAX_FRAME", "9601", "9600"]),
        ("--report xml", ["--report", "xml", "json"]),
        ("--frames /no/such/folder/f", ["/no/such/folder/f", "No such file", ""]),
        ("--received /no/such/folder/r", ["/no/such/folder/r", "No such file", ""]),
        ("--fst /no/such/folder/w", ["/no/such/folder/w", "", ""]),
    ] {
        refused(&sim(&format!("{traffic} {words}"), &[]), &named);
    }
    refused(&sim("--generate size=7", &[]), &["size=7", "14"]);
    refused(&sim("", &[]), &["--capture"]);
    refused(&sim(traffic, &[("--capture", &demo())]), &["--capture", "--generate"]);
    refused(&sim("--transmit --transmit-only", &[("--capture", &demo())]), &["--transmit", "--transmit-only"]);
}

#[test]
fn a_seed_decides_the_run() {
    let run = |seed: u32| {
        let mut report = report(&format!("--generate size=60-1514,count=300 --transmit --link gen2x1 --seed {seed}"), &[]);
        for field in ["wall_seconds", "cycles_per_second"] {
            report.as_object_mut().unwrap().remove(field);
        }
        report
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2), "another seed makes other frames and other completions");
}

#[test]
fn a_pipe_gets_the_table_and_no_progress_bar() {
    let output = sim("", &[("--capture", &demo())]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let table = String::from_utf8(output.stdout).unwrap();
    let row = |name: &str| {
        let row = table.lines().find_map(|line| line.trim_start().strip_prefix(name));
        row.unwrap_or_else(|| panic!("no row {name} in\n{table}")).trim().to_owned()
    };
    assert_eq!(row("frames delivered"), demo_frames().len().to_string());
    assert_eq!(row("mismatches"), "0");
}

#[test]
fn a_waveform_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let fst = folder.path().join("out.fst");
    report("--generate size=60,count=3", &[("--fst", &fst)]);
    assert!(std::fs::metadata(&fst).unwrap().len() > 1000);
}

//! The command line of `ferronic-sim run`: what it reads, writes and refuses.

mod errors;
mod experiment;
mod policy;
mod rx;
mod steer;
mod support;

use std::path::{Path, PathBuf};

use ferronic_sim::wire::{read_capture, Frame};
use serde_json::Value;
use support::{demo, demo_frames, refused, report, sim, stderr};
use tempfile::TempDir;

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

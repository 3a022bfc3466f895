//! Traces and coverage.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::Path;

use ferronic_verilated::PowerUp;
use ferronic_verilated_example::fifo::Fifo;
use ferronic_verilated_example::wide_fifo::WideFifo;
use fst_reader::{FstFilter, FstHierarchyEntry, FstReader, FstSignalValue};

/// Pushes one word in each of `cycles` cycles after the reset, dumping twice a cycle from time `start`.
fn push(fifo: &mut WideFifo, cycles: u32, start: u64) {
    for cycle in 0..cycles {
        fifo.set_rst(cycle == 0);
        fifo.set_push(cycle > 0);
        fifo.set_push_data([cycle, 0, 0, 0]);
        for (half, level) in [false, true].into_iter().enumerate() {
            fifo.set_clk(level);
            fifo.eval();
            fifo.dump(start + 2 * u64::from(cycle) + half as u64);
        }
    }
}

/// The changes of every signal of a trace, by name.
fn changes(path: &Path) -> HashMap<String, Vec<(u64, String)>> {
    let mut reader = FstReader::open(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut names = HashMap::new();
    reader
        .read_hierarchy(|entry| {
            if let FstHierarchyEntry::Var { name, handle, .. } = entry {
                names.entry(handle.get_index()).or_insert(name);
            }
        })
        .unwrap();
    let mut changes: HashMap<String, Vec<(u64, String)>> = HashMap::new();
    reader
        .read_signals(&FstFilter::all(), |time, handle, value| {
            if let FstSignalValue::String(bits) = value {
                let bits = String::from_utf8(bits.to_vec()).unwrap();
                changes
                    .entry(names[&handle.get_index()].clone())
                    .or_default()
                    .push((time, bits));
            }
            Ok::<_, std::convert::Infallible>(())
        })
        .unwrap();
    changes
}

fn level_changes(path: &Path) -> Vec<(u64, u32)> {
    let changes = changes(path);
    let (_, level) = changes
        .iter()
        .find(|(name, _)| name.starts_with("level"))
        .expect("the port is traced");
    level
        .iter()
        .map(|(time, bits)| (*time, u32::from_str_radix(bits, 2).unwrap()))
        .collect()
}

#[test]
fn a_trace_shows_what_happened_when() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo.fst");
    let mut fifo = WideFifo::new(PowerUp::Zeros);
    fifo.open_trace(&path).unwrap();
    assert!(fifo.tracing());
    push(&mut fifo, 4, 100);
    fifo.close_trace();
    push(&mut fifo, 4, 200);
    assert_eq!(
        level_changes(&path),
        [(100, 0), (103, 1), (105, 2), (107, 3)]
    );
}

#[test]
fn a_second_trace_stands_alone_and_dropping_completes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("1.fst"), folder.path().join("2.fst"));
    let mut fifo = WideFifo::new(PowerUp::Zeros);
    fifo.open_trace(&first).unwrap();
    push(&mut fifo, 3, 0);
    fifo.open_trace(&second).unwrap();
    push(&mut fifo, 3, 50);
    drop(fifo);
    assert_eq!(level_changes(&first), [(0, 0), (3, 1), (5, 2)]);
    assert_eq!(level_changes(&second), [(50, 2), (51, 0), (53, 1), (55, 2)]);
}

#[test]
fn models_on_several_threads_trace_alike() {
    let folder = tempfile::tempdir().unwrap();
    let traces: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|i| {
                let path = folder.path().join(format!("{i}.fst"));
                scope.spawn(move || {
                    let mut fifo = WideFifo::new(PowerUp::Random(5));
                    fifo.open_trace(&path).unwrap();
                    push(&mut fifo, 15, 0);
                    drop(fifo);
                    changes(&path)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(traces[0].len() > 8);
    assert!(traces.iter().all(|t| *t == traces[0]));
}

#[test]
fn coverage_counts_lines_and_cover_properties() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("coverage.dat");
    let mut fifo = WideFifo::new(PowerUp::Zeros);
    push(&mut fifo, 17, 0);
    assert!(fifo.full());
    let count = |kind: &str| -> u64 {
        let text = fs::read_to_string(&path).unwrap();
        let points = text
            .lines()
            .filter(|l| l.contains("fifo.v") && l.contains(kind));
        points
            .map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    };
    fifo.write_coverage(&path).unwrap();
    let (lines, covers) = (count("v_line"), count("v_user"));
    assert!(lines > 17, "{lines} counted");
    assert_eq!(
        covers, 0,
        "the FIFO was not yet pushed and popped while full"
    );

    fifo.set_pop(true);
    fifo.set_clk(false);
    fifo.eval();
    fifo.set_clk(true);
    fifo.eval();
    fifo.write_coverage(&path).unwrap();
    assert_eq!(count("v_user"), 1);
    assert!(fifo
        .failure()
        .unwrap()
        .message
        .contains("push into a full FIFO"));
}

#[test]
fn a_model_without_trace_and_coverage_says_so_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing");
    let mut fifo = Fifo::new(PowerUp::Zeros);
    let error = fifo.open_trace(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("trace(true)"), "{error}");
    let error = fifo.write_coverage(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("coverage(true)"), "{error}");
    fifo.dump(1);
    assert!(!path.exists() && !fifo.tracing());
}

#[test]
fn a_file_that_cannot_be_written_is_named_with_the_reason() {
    let path = Path::new("/nonexistent/folder/x.fst");
    let mut fifo = WideFifo::new(PowerUp::Zeros);
    for error in [
        fifo.open_trace(path).unwrap_err(),
        fifo.write_coverage(path).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(
            error.to_string().contains("/nonexistent/folder/x.fst"),
            "{error}"
        );
    }
}

//! `ferronic-sim experiment`: every experiment runs, and what it leaves behind is whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use ferronic_sim::experiment::ALL;

fn experiment(words: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferronic-sim")).arg("experiment").args(words).arg("--out").arg(out).output().unwrap()
}

/// The files of a folder by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())).collect()
}

/// Runs experiments for the seed, quickly, and gives their files.
fn run(words: &[&str], seed: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let output = experiment(&[words, &["--quick", "--seed", seed]].concat(), folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    files(folder.path())
}

/// Catches: an experiment that fails or finds nothing; a table with ragged rows; a picture without what it means; a page that
/// needs another file.
#[test]
fn every_experiment_leaves_tables_plots_and_one_page() {
    let files = run(&["--all"], "1");
    let page = &files["report.html"];
    for experiment in ALL {
        let own = |end: &str| {
            let mine = format!("{}-", experiment.name);
            files.iter().filter(|(name, _)| name.starts_with(&mine) && name.ends_with(end)).collect::<Vec<_>>()
        };
        let (tables, plots) = (own(".csv"), own(".svg"));
        assert!(!tables.is_empty() && !plots.is_empty(), "{}", experiment.name);
        for (name, text) in tables {
            check_table(name, text);
        }
        for (name, text) in plots {
            check_plot(name, text);
            assert!(page.contains(text.as_str()), "{name} is in the page");
        }
        assert!(page.contains(&format!("id=\"{}\"", experiment.name)));
        for text in [experiment.question, experiment.source] {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
            assert!(page.contains(&escaped), "{text}");
        }
        let chapter = page.split(&format!("<section id=\"{}\"", experiment.name)).nth(1).unwrap();
        let chapter = chapter.split("</section>").next().unwrap();
        assert!(["held", "did not hold"].iter().any(|verdict| chapter.contains(&format!(">{verdict}<"))), "a claim was checked");
        assert!(chapter.contains("<div class=\"answer\"><p>"), "there is an answer");
    }
    for outside in ["src=", "href=\"http", "url(", "@import", "<script", "<link", "NaN", "inf "] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
}

/// Every row has as many fields as the head, and at least one is a number.
fn check_table(name: &str, text: &str) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap_or_else(|error| panic!("{name}: {error}")).clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap_or_else(|error| panic!("{name}: {error}"))).collect();
    assert!(head.len() > 1 && !rows.is_empty(), "{name}");
    assert!(rows.iter().all(|row| row.iter().any(|field| field.parse::<f64>().is_ok_and(f64::is_finite))), "{name}");
}

/// Both axes have a unit, and each series is named.
fn check_plot(name: &str, text: &str) {
    let texts: Vec<&str> = text.split("</text>").filter_map(|part| part.rsplit_once(">\n").map(|(_, text)| text.trim())).collect();
    assert!(texts.len() > 5, "{name}: {texts:?}");
    // Of one axis at least: places that are named have no unit.
    assert!(texts.iter().any(|text| text.contains('[') && text.ends_with(']')) || name.contains("lines"), "{name}: {texts:?}");
    assert!(text.contains("<polygon") || text.contains("<rect"), "{name} has marks or bars, and a legend of them");
}

/// Catches: an experiment in simulated time that depends on the machine, or not on the seed.
#[test]
fn simulated_experiments_are_the_same_for_a_seed() {
    let names: Vec<&str> = ALL.iter().filter(|experiment| experiment.simulated).map(|experiment| experiment.name).collect();
    assert!(names.len() >= 4, "{names:?}");
    let tables = |seed| {
        let mut files = run(&names, seed);
        files.retain(|name, _| name != "report.html");
        files
    };
    let first = tables("1");
    assert_eq!(first, tables("1"));
    assert_ne!(first, tables("2"), "another seed orders completions otherwise");
}

#[test]
fn experiments_are_listed_and_unknown_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let listed = String::from_utf8(experiment(&["--list"], folder.path()).stdout).unwrap();
    assert!(ALL.iter().all(|experiment| listed.contains(experiment.name) && listed.contains(experiment.question)));
    let refused = experiment(&["wieght"], folder.path());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("wieght") && said.contains("weight"), "{said}");
    assert_eq!(experiment(&[], folder.path()).status.code(), Some(2), "nothing was asked for");
    assert!(files(folder.path()).is_empty());
}

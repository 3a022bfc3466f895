//! Files that are left behind: a CSV for each table, an SVG for each plot, and one page with everything in it.

use super::findings::{Cell, Claim, Findings, Table};
use super::plot::svg;
use super::{Experiment, Scope};
use crate::whole_file::WholeFile;
use maud::{html, Markup, PreEscaped, DOCTYPE};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// Longest table that is shown at once; a longer one unfolds.
const SHOWN: usize = 24;

/// An experiment with what it found.
pub struct Chapter {
    /// Which.
    pub experiment: &'static Experiment,
    /// What it found.
    pub findings: Findings,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Writes the tables and plots of an experiment into a folder: `NAME-TABLE.csv`, `NAME-PLOT.svg`.
///
/// # Errors
///
/// A file cannot be written, or a plot has no points.
pub fn write_files(folder: &Path, chapter: &Chapter) -> Result<(), Box<dyn Error>> {
    let name = chapter.experiment.name;
    for table in &chapter.findings.tables {
        write(&folder.join(format!("{name}-{}.csv", table.name)), &csv(table)?)?;
    }
    for plot in &chapter.findings.plots {
        write(&folder.join(format!("{name}-{}.svg", plot.name)), svg(plot)?.as_bytes())?;
    }
    Ok(())
}

/// Writes `report.html`: one file that needs no other.
///
/// # Errors
///
/// It cannot be written, or a plot has no points.
pub fn write_page(folder: &Path, chapters: &[Chapter], scope: &Scope) -> Result<(), Box<dyn Error>> {
    let page = page(chapters, scope)?.into_string();
    write(&folder.join("report.html"), page.as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()?;
    Ok(())
}

fn csv(table: &Table) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = table.columns.iter().map(|column| match column.unit.as_str() {
        "" => column.name.clone(),
        unit => format!("{} [{unit}]", column.name),
    });
    writer.write_record(head)?;
    for row in &table.rows {
        writer.write_record(row.iter().map(Cell::text))?;
    }
    Ok(writer.into_inner()?)
}

fn page(chapters: &[Chapter], scope: &Scope) -> Result<Markup, Box<dyn Error>> {
    let sections = chapters.iter().map(section).collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Ferronic experiments" }
                style { (PreEscaped(include_str!("report.css"))) }
            }
            body {
                header {
                    h1 { "Ferronic experiments" }
                    p.soft {
                        "What a driver and its NIC do to each other across the bus, measured. Simulated time comes from the core's "
                        "Verilog under Verilator, and is the same in every run with seed " (scope.seed) ". Cycles come from the "
                        "software device on this machine: " (scope.machine) "."
                        @if scope.quick { " This is the quick version: few packets, and few points of each sweep." }
                    }
                    nav { ol {
                        @for chapter in chapters {
                            li { a href=(format!("#{}", chapter.experiment.name)) { (chapter.experiment.question) } }
                        }
                    } }
                }
                main { @for section in &sections { (section) } }
                footer { "Made by ferronic-sim experiment, version " (env!("CARGO_PKG_VERSION")) "." }
            }
        }
    })
}

fn section(chapter: &Chapter) -> Result<Markup, Box<dyn Error>> {
    let Chapter { experiment, findings, seconds } = chapter;
    let plots = findings.plots.iter().map(svg).collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        section id=(experiment.name) {
            h2 { (experiment.question) }
            p.source { (experiment.source) }
            h3 { "Answer" }
            div.answer { @for paragraph in &findings.answer { p { (paragraph) } } }
            ul.claims { @for claim in &findings.claims { (verdict(claim)) } }
            h3 { "Set-up" }
            @for paragraph in &findings.setup { p { (paragraph) } }
            h3 { "Plots" }
            @for plot in &plots { figure { (PreEscaped(plot)) } }
            h3 { "Figures" }
            @for table in &findings.tables { (shown(experiment.name, table)) }
            p.soft { "Command: ferronic-sim experiment " (experiment.name) ". It took " (format!("{seconds:.0}")) " s." }
        }
    })
}

fn verdict(claim: &Claim) -> Markup {
    let class = match claim.held {
        Some(true) => "held",
        Some(false) => "not",
        None => "unknown",
    };
    html! {
        li {
            span class=(format!("verdict {class}")) { (claim.verdict()) }
            span { (claim.text) " " span.soft { (claim.figures) } }
        }
    }
}

fn shown(experiment: &str, table: &Table) -> Markup {
    let class = |column: usize| {
        let number = table.rows.iter().any(|row| matches!(row[column], Cell::Number(..)));
        number.then_some("n")
    };
    let body = html! {
        div.scroll { table {
            caption { (table.title) }
            thead { tr { @for (number, column) in table.columns.iter().enumerate() {
                th class=[class(number)] { (column.name) @if !column.unit.is_empty() { small { (column.unit) } } }
            } } }
            tbody { @for row in &table.rows { tr {
                @for (number, cell) in row.iter().enumerate() { td class=[class(number)] { (cell.text()) } }
            } } }
        } }
    };
    if table.rows.len() <= SHOWN {
        return body;
    }
    html! {
        details {
            summary { (table.title) ": " (table.rows.len()) " rows, also in " (format!("{experiment}-{}.csv", table.name)) }
            (body)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;

    /// Catches: a comma in a field that makes two, a unit that is lost.
    #[test]
    fn a_csv_is_read_back_as_it_was() {
        let mut table = Table::new("t", "T", &["who", "time [ns]"]);
        table.row(cells!["a, \"b\"", 2.5]);
        table.row(cells!["c", None::<f64>]);
        let bytes = csv(&table).unwrap();
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        assert_eq!(reader.headers().unwrap(), vec!["who", "time [ns]"]);
        let rows: Vec<Vec<String>> = reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect();
        assert_eq!(rows, [["a, \"b\"", "2.50"], ["c", ""]]);
    }
}

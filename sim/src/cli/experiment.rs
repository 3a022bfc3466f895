//! `ferronic-sim experiment`.

use clap::Args as ClapArgs;
use ferronic_sim::experiment::report::{write_files, write_page, Chapter};
use ferronic_sim::experiment::{cpu, find, Experiment, Scope, ALL};
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

#[derive(ClapArgs)]
pub struct Args {
    /// Which: see --list
    #[arg(value_name = "NAME", required_unless_present_any = ["all", "list"], value_parser = experiment)]
    names: Vec<&'static Experiment>,
    /// Every experiment
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Says which experiments there are, and what they ask
    #[arg(long)]
    list: bool,
    /// Few packets and few points: to see that it works, not what is true
    #[arg(long)]
    quick: bool,
    /// Seed of traffic, completion order, and the order of variants
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder for what is written; it is made if need be
    #[arg(long, value_name = "FOLDER", default_value = "out/experiments")]
    out: PathBuf,
}

fn experiment(name: &str) -> Result<&'static Experiment, String> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
        format!("there are {}", names.join(", "))
    })
}

/// Runs the experiments. What they find is no failure, whatever it is.
pub fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    if args.list {
        for experiment in ALL {
            println!("{:<14}{}", experiment.name, experiment.question);
        }
        return Ok(true);
    }
    std::fs::create_dir_all(&args.out).map_err(|error| format!("{}: {error}", args.out.display()))?;
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {prefix}: {msg}")?);
    let progress = |what: &str| {
        bar.set_message(what.to_owned());
        bar.tick();
    };
    let scope = Scope { quick: args.quick, seed: args.seed, machine: cpu::machine(), progress: &progress };
    let chosen: &[&Experiment] = if args.all { ALL } else { &args.names };
    let mut chapters = Vec::new();
    for experiment in chosen {
        bar.set_prefix(experiment.name);
        let begun = Instant::now();
        let findings = (experiment.run)(&scope).map_err(|error| format!("{}: {error}", experiment.name))?;
        let chapter = Chapter { experiment, findings, seconds: begun.elapsed().as_secs_f64() };
        write_files(&args.out, &chapter)?;
        bar.suspend(|| show(&chapter));
        chapters.push(chapter);
    }
    bar.finish_and_clear();
    write_page(&args.out, &chapters, &scope)?;
    println!("{}", args.out.join("report.html").display());
    Ok(true)
}

/// The claims of an experiment, in lines.
fn show(chapter: &Chapter) {
    println!("{} ({:.0} s): {}", chapter.experiment.name, chapter.seconds, chapter.experiment.question);
    for claim in &chapter.findings.claims {
        println!("  {:<14}{} {}", claim.verdict(), claim.text, claim.figures);
    }
}

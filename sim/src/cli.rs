//! The command line.

mod experiment;
mod run;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Co-simulation of the Ferronic NIC: the core's Verilog under Verilator, a PCI Express root complex, host
/// memory, the wire, and the real host driver, in lock step.
#[derive(Parser)]
#[command(name = "ferronic-sim", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs frames from captures or a generator over the wire, through the core and the driver, and checks every
    /// byte and every completion field.
    Run(Box<run::Args>),
    /// Runs experiments and writes their figures, plots and answers: CSV, SVG, and report.html with all of it.
    Experiment(experiment::Args),
}

/// Parses, runs, and gives the exit status: 0 good, 1 something did not match, 2 bad input.
pub fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(*args),
        Command::Experiment(args) => experiment::run(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

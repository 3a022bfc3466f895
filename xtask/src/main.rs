//! `cargo xtask …`: what a checkout of Ferronic can do.

mod demo;
mod setup;
mod stage;
mod synth;
mod test;
mod tool;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set up, try, test and synthesise Ferronic.
///
/// A first visit: `cargo xtask setup` installs the tools, `cargo xtask demo` sends a capture through the simulated
/// NIC, `cargo xtask test` runs the tests, `cargo xtask synth` tells how large and how fast the core is on an FPGA.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Checks every tool and installs what is missing.
    ///
    /// From Debian: verilator, g++, make, the zlib headers, python3. From PyPI, into target/tools/venv: the
    /// synthesiser yosys and nextpnr for ECP5. Says nothing when all is there. Packages of Debian need root:
    /// without it, the command to run is printed.
    Setup,
    Demo(demo::Demo),
    Test(test::Test),
    Synth(synth::Synth),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Subcommands::Setup => setup::run(),
        Subcommands::Demo(demo) => demo.run(),
        Subcommands::Test(test) => test.run(),
        Subcommands::Synth(synth) => synth.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

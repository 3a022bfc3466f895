//! `ferronic-sim`: the NIC's RTL, its driver and the world around them, in one process.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}

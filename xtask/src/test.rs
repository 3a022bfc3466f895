//! `cargo xtask test`.

use crate::synth::Synth;
use crate::tool;
use anyhow::{bail, Result};
use clap::Args;
use std::process::Command;

/// Runs the tests: all quick suites, or one by name.
#[derive(Args)]
pub struct Test {
    /// Run this suite alone
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// List the suites
    #[arg(long, conflicts_with = "suite")]
    list: bool,
}

struct Suite {
    name: &'static str,
    checks: &'static str,
    run: Run,
}

enum Run {
    Package(&'static str),
    /// Minutes long: runs only when it is named.
    Synth,
    /// Runs only when it is named, like the next: the driver is compiled once more for it.
    Loom,
    Miri,
}

const SUITES: [Suite; 12] = [
    Suite { name: "contract", checks: "registers, descriptors and their page", run: Run::Package("ferronic-contract") },
    Suite { name: "hw", checks: "the core's sources, lint, latches and loops", run: Run::Package("ferronic-hw") },
    Suite { name: "bench", checks: "each block's Verilog by itself", run: Run::Package("ferronic-bench") },
    Suite { name: "driver", checks: "rings, buffers and the poll loop", run: Run::Package("ferronic") },
    Suite { name: "pcie", checks: "TLPs, credits and the root complex", run: Run::Package("ferronic-pcie") },
    Suite { name: "verilated", checks: "Verilog as a Rust struct", run: Run::Package("ferronic-verilated") },
    Suite { name: "sim", checks: "wire, memory and the reference model", run: Run::Package("ferronic-sim") },
    Suite { name: "scenarios", checks: "driver and core together", run: Run::Package("ferronic-tests") },
    Suite { name: "wide", checks: "cycles a frame of cores up to 512 bits (slow, only by name)", run: Run::Package("ferronic-wide") },
    Suite { name: "synth", checks: "the core on ECP5: its area (slow, only by name)", run: Run::Synth },
    Suite { name: "loom", checks: "every interleaving of buffers coming home from threads (only by name)", run: Run::Loom },
    Suite { name: "miri", checks: "the driver's memory safety (slow, only by name, needs Miri)", run: Run::Miri },
];

/// Modules of the driver's tests that Miri runs.
const MIRI_TESTS: [&str; 6] = ["ring::", "pool::", "half_pages::", "parcels::", "tx_policy::", "untrusted::"];

impl Test {
    pub fn run(self) -> Result<()> {
        if self.list {
            SUITES.iter().for_each(|suite| println!("{:10} {}", suite.name, suite.checks));
            return Ok(());
        }
        let Some(name) = self.suite else {
            // One invocation, so that nothing is built twice with other features.
            return tool::run(cargo_test().args(["--workspace", "--exclude", "ferronic-wide"]));
        };
        match SUITES.iter().find(|suite| suite.name == name).map(|suite| &suite.run) {
            Some(Run::Package(package)) => tool::run(cargo_test().args(["--package", package])),
            Some(Run::Synth) => Synth::suite(),
            Some(Run::Loom) => loom(),
            Some(Run::Miri) => miri(),
            None => {
                let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
                bail!("there is no suite `{name}`; there are {}", names.join(", "))
            }
        }
    }
}

/// Every interleaving, by loom. Optimized, because there are many.
fn loom() -> Result<()> {
    let mut test = cargo_test();
    tool::run(test.env("RUSTFLAGS", "--cfg loom").args(["--package", "ferronic", "--lib", "--release", "returns"]))
}

/// Those tests of the driver, by Miri, that have to do with whose memory it is and that Miri can run in minutes.
fn miri() -> Result<()> {
    // Miri comes with nightly toolchains only. The variables say which toolchain runs us.
    let nightly = |words: &[&str]| {
        let mut command = tool::command("rustup");
        command.args(["run", "nightly", "cargo", "miri"]).args(words).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        command
    };
    if let Err(why) = tool::run_quietly(&mut nightly(&["--version"])) {
        println!("skipped: there is no Miri: {why:#}");
        println!("to have it: rustup toolchain install nightly --component miri,rust-src");
        return Ok(());
    }
    let mut test = nightly(&["test", "--package", "ferronic", "--test", "driver", "--"]);
    // Proptest asks for the working directory.
    tool::run(test.args(MIRI_TESTS).env("MIRIFLAGS", "-Zmiri-disable-isolation"))
}

fn cargo_test() -> Command {
    let mut cargo = tool::cargo();
    cargo.args(["test", "--no-fail-fast"]);
    cargo
}

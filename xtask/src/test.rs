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
}

const SUITES: [Suite; 10] = [
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
];

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
            None => {
                let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
                bail!("there is no suite `{name}`; there are {}", names.join(", "))
            }
        }
    }
}

fn cargo_test() -> Command {
    let mut cargo = tool::cargo();
    cargo.args(["test", "--no-fail-fast"]);
    cargo
}

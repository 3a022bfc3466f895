//! `cargo xtask demo`.

use crate::tool;
use anyhow::Result;
use clap::Args;

/// Sends a capture through the simulated NIC and its driver, and keeps what the host received.
///
/// The NIC is its Verilog, run by Verilator; the driver is the one that runs against the board. What comes out
/// opens in Wireshark.
#[derive(Args)]
pub struct Demo {
    /// Record a waveform as well (out/demo/demo.fst, for GTKWave or Surfer); ten times slower
    #[arg(long)]
    fst: bool,
}

impl Demo {
    pub fn run(self) -> Result<()> {
        std::fs::create_dir_all(tool::root().join("out/demo"))?;
        let mut run = tool::cargo();
        run.args(["run", "--quiet", "--package", "ferronic-sim", "--", "run"]);
        run.args(["--capture", "tests/captures/demo.pcap", "--out", "out/demo"]);
        if self.fst {
            run.args(["--fst", "out/demo/demo.fst"]);
        }
        tool::run(&mut run)?;
        println!("What the host received and what went out on the wire: out/demo/ (wireshark out/demo/*.pcapng)");
        match self.fst {
            true => println!("The waveform: out/demo/demo.fst (gtkwave out/demo/demo.fst)"),
            false => println!("For a waveform of every signal: cargo xtask demo --fst"),
        }
        Ok(())
    }
}

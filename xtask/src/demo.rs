//! `cargo xtask demo`.

use crate::tool;
use anyhow::Result;
use clap::Args;

/// The station whose traffic the capture holds: see tests/captures/README.md.
const OWN_MAC: &str = "02:fe:00:00:00:01";

/// Sends a capture through the simulated NIC and its driver, which sends each frame back out.
///
/// The NIC is its Verilog, run by Verilator; the driver is the one that runs against the board. What comes out
/// opens in Wireshark.
#[derive(Args)]
pub struct Demo {
    /// Record a waveform as well (out/demo/core.fst, for GTKWave or Surfer); ten times slower
    #[arg(long)]
    fst: bool,
}

impl Demo {
    pub fn run(self) -> Result<()> {
        std::fs::create_dir_all(tool::root().join("out/demo"))?;
        let mut run = tool::cargo();
        run.args(["run", "--quiet", "--package", "ferronic-sim", "--", "run"]);
        run.args(["--capture", "tests/captures/demo.pcap", "--own-mac", OWN_MAC, "--transmit"]);
        run.args(["--received", "out/demo/received.pcap", "--sent", "out/demo/sent.pcap"]);
        run.args(["--frames", "out/demo/frames.jsonl"]);
        if self.fst {
            run.args(["--fst", "out/demo/core.fst"]);
        }
        tool::run(&mut run)?;
        println!("What the driver received:   out/demo/received.pcap (wireshark out/demo/received.pcap)");
        println!("What the core sent back:    out/demo/sent.pcap");
        println!("A line for each frame:      out/demo/frames.jsonl");
        match self.fst {
            true => println!("The waveform of the core:   out/demo/core.fst (gtkwave out/demo/core.fst)"),
            false => println!("A waveform of every signal: cargo xtask demo --fst"),
        }
        Ok(())
    }
}

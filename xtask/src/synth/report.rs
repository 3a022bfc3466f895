//! What the tools measured, in the project's own names.

use super::TARGET_MHZ;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// yosys's `stat -json`: cells by type for each module.
#[derive(Deserialize)]
pub struct Cells {
    pub modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
pub struct Module {
    #[serde(rename = "num_cells_by_type")]
    pub cells: BTreeMap<String, usize>,
}

/// What a design or a part of it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Area {
    /// Look-up tables, those of carry chains (two each) and distributed RAM (four each) included.
    pub lut4: usize,
    /// Flip-flops.
    pub ff: usize,
    /// Block RAMs of 18 kbit.
    pub ebr: usize,
}

impl Area {
    pub fn of(module: &Module) -> Self {
        let count = |cell: &str| module.cells.get(cell).copied().unwrap_or(0);
        Self {
            lut4: count("LUT4") + 2 * count("CCU2C") + 4 * count("TRELLIS_DPR16X4"),
            ff: count("TRELLIS_FF"),
            ebr: count("DP16KD"),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { lut4: self.lut4 + other.lut4, ff: self.ff + other.ff, ebr: self.ebr + other.ebr }
    }
}

/// nextpnr's `--report`.
#[derive(Deserialize)]
pub struct Timing {
    fmax: BTreeMap<String, Clock>,
    critical_paths: Vec<Path>,
    utilization: BTreeMap<String, Used>,
}

#[derive(Deserialize)]
struct Clock {
    achieved: f64,
}

#[derive(Deserialize)]
struct Used {
    available: usize,
}

#[derive(Deserialize)]
struct Path {
    from: String,
    to: String,
    path: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    delay: f64,
    #[serde(rename = "type")]
    kind: String,
    to: End,
}

#[derive(Deserialize)]
struct End {
    cell: String,
}

#[derive(Serialize)]
pub struct Report {
    pub design: String,
    pub seed: u32,
    pub area: Area,
    /// All there is on the chip.
    pub available: Area,
    pub fmax_mhz: f64,
    pub target_mhz: f64,
    pub critical_path: CriticalPath,
}

/// The slowest path between two registers.
#[derive(Serialize)]
pub struct CriticalPath {
    pub logic_ns: f64,
    pub routing_ns: f64,
    /// The signals along it, first and last register included.
    pub through: Vec<String>,
}

impl Report {
    pub fn new(design: &str, seed: u32, cells: &Cells, timing: Timing) -> Result<Self> {
        let module = cells.modules.get(&format!("\\{design}")).context("yosys does not report the design")?;
        let available = |resource: &str| timing.utilization.get(resource).map_or(0, |used| used.available);
        let slowest = timing.fmax.values().map(|clock| clock.achieved).min_by(f64::total_cmp);
        Ok(Self {
            design: design.to_string(),
            seed,
            area: Area::of(module),
            available: Area {
                lut4: available("TRELLIS_COMB"),
                ff: available("TRELLIS_FF"),
                ebr: available("DP16KD"),
            },
            fmax_mhz: slowest.context("nextpnr reports no clock")?,
            target_mhz: TARGET_MHZ,
            critical_path: CriticalPath::new(&timing.critical_paths).context("nextpnr reports no path")?,
        })
    }
}

impl CriticalPath {
    fn new(paths: &[Path]) -> Option<Self> {
        let clocked = paths.iter().filter(|path| path.from.contains("edge ") && path.to.contains("edge "));
        let length = |path: &&Path| path.path.iter().map(|step| step.delay).sum::<f64>();
        let longest = clocked.max_by(|a, b| length(a).total_cmp(&length(b)))?;
        let mut through: Vec<String> = longest.path.iter().map(|step| signal(&step.to.cell)).collect();
        // Where yosys merged signals there is no name of ours.
        through.retain(|name| !name.is_empty());
        through.dedup();
        let routing_ns = longest.path.iter().filter(|step| step.kind == "routing").map(|step| step.delay).sum();
        Some(Self { logic_ns: length(&longest) - routing_ns, routing_ns, through })
    }
}

/// The signal that yosys named a cell after: `tail.q` of `core.tail.q_TRELLIS_FF_Q_1`.
fn signal(cell: &str) -> String {
    const PRIMITIVES: [&str; 8] =
        ["_TRELLIS_", "_LUT4_", "_CCU2C_", "_PFUMX_", "_L6MUX21_", "_DP16KD_", "_MULT18X18D_", "$"];
    let name = cell.strip_prefix("core.").unwrap_or(cell);
    let end = PRIMITIVES.iter().filter_map(|primitive| name.find(primitive)).min();
    name[..end.unwrap_or(name.len())].to_string()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (area, all, path) = (&self.area, &self.available, &self.critical_path);
        let mut row = |name: &str, used: usize, all: usize| {
            writeln!(f, "{name:<6}{used:>8} of {all:>6} {:>6.1} %", 100.0 * used as f64 / all.max(1) as f64)
        };
        row("LUT4", area.lut4, all.lut4)?;
        row("FF", area.ff, all.ff)?;
        row("EBR", area.ebr, all.ebr)?;
        let slack = 1000.0 / self.target_mhz - 1000.0 / self.fmax_mhz;
        writeln!(f, "Fmax  {:>8.1} MHz (target {}, slack {slack:+.2} ns, seed {})", self.fmax_mhz, self.target_mhz, self.seed)?;
        writeln!(f, "slowest path: {:.2} ns logic, {:.2} ns routing", path.logic_ns, path.routing_ns)?;
        path.through.iter().try_for_each(|name| writeln!(f, "  {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_sources() {
        assert_eq!(signal("core.tail.q_TRELLIS_FF_Q_1"), "tail.q");
        assert_eq!(signal("core.level_CCU2C_S1_1$CCU2_COMB1"), "level");
        assert_eq!(signal("core.ram.mem.0.6$DPRAM_COMB3"), "ram.mem.0.6");
        assert_eq!(signal("given"), "given");
    }

    #[test]
    fn the_report_holds_the_slowest_clock_and_the_longest_clocked_path() {
        let cells = r#"{"modules": {"\\fifo": {"num_cells_by_type":
            {"LUT4": 18, "CCU2C": 9, "TRELLIS_DPR16X4": 16, "TRELLIS_FF": 75, "DP16KD": 2}}}}"#;
        let step = |delay: f64, kind: &str, to: &str| {
            format!(r#"{{"delay": {delay}, "type": "{kind}", "to": {{"cell": "{to}", "port": "Q"}}}}"#)
        };
        let path = |from: &str, steps: &[String]| {
            format!(r#"{{"from": "{from}", "to": "posedge clock", "path": [{}]}}"#, steps.join(","))
        };
        let timing = format!(
            r#"{{"fmax": {{"a": {{"achieved": 200.5}}, "b": {{"achieved": 130.0}}}},
                "utilization": {{"TRELLIS_COMB": {{"available": 43848}}}}, "critical_paths": [{},{},{}]}}"#,
            path("<async>", &[step(9.0, "routing", "given")]),
            path("posedge clock", &[step(1.0, "routing", "core.short")]),
            path("posedge clock", &[
                step(0.5, "clk-to-q", "core.head.q_TRELLIS_FF_Q"),
                step(1.5, "routing", "core.level_LUT4_Z"),
                step(0.25, "logic", "core.level_LUT4_Z"),
            ]),
        );
        let (cells, timing) = (serde_json::from_str(cells).unwrap(), serde_json::from_str(&timing).unwrap());
        let report = Report::new("fifo", 7, &cells, timing).unwrap();
        assert_eq!(report.area, Area { lut4: 100, ff: 75, ebr: 2 });
        assert_eq!((report.fmax_mhz, report.available.lut4), (130.0, 43848));
        assert_eq!((report.critical_path.logic_ns, report.critical_path.routing_ns), (0.75, 1.5));
        assert_eq!(report.critical_path.through, ["head.q", "level"]);
    }
}

//! What each block takes: the modules are named by instance path (`nic_core$rx$fifo`), so a block is all modules
//! below its name.

use super::report::{Area, Cells};
use anyhow::{ensure, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The modules of the Verilog that are more than one register: rust-hdl makes a module of each DFF.
pub fn blocks(verilog: &str) -> Vec<&str> {
    let modules = verilog.split("endmodule").filter(|module| !module.contains("q <= d;"));
    modules.filter_map(|module| module.split_once("\nmodule ")?.1.split('(').next()).collect()
}

/// Instance paths, two levels below the top, and what is in them.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Blocks(BTreeMap<String, Area>);

impl Blocks {
    /// # Errors
    ///
    /// When nothing in the hierarchy belongs to the top.
    pub fn new(hierarchy: &Cells, top: &str) -> Result<Self> {
        let mut blocks: BTreeMap<String, Area> = BTreeMap::new();
        for (module, cells) in &hierarchy.modules {
            let path: Vec<&str> = module.trim_start_matches('\\').split('$').collect();
            if path[0] != top {
                continue;
            }
            // A module counts with every block above it.
            for depth in 1..=path.len().min(3) {
                let sum = blocks.entry(path[..depth].join(".")).or_default();
                *sum = sum.plus(Area::of(cells));
            }
        }
        ensure!(!blocks.is_empty(), "yosys reports no module of {top}");
        Ok(Self(blocks))
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<36}{:>8}{:>8}{:>6}", "block", "LUT4", "FF", "EBR")?;
        for (path, area) in &self.0 {
            let depth = path.matches('.').count();
            let name = format!("{:indent$}{}", "", path.rsplit('.').next().unwrap_or(path), indent = 2 * depth);
            writeln!(f, "{name:<36}{:>8}{:>8}{:>6}", area.lut4, area.ff, area.ebr)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_no_block() {
        let verilog = "\nmodule top(a);\n assign b = a;\nendmodule // top\n\nmodule top$head(d,q,clock);\n q <= d;\nendmodule\n";
        assert_eq!(blocks(verilog), ["top"]);
    }

    #[test]
    fn a_module_counts_with_every_block_above_it() {
        let cells = r#"{"modules": {
            "\\top": {"num_cells_by_type": {"LUT4": 1}},
            "\\top$rx": {"num_cells_by_type": {"LUT4": 10}},
            "\\top$rx$fifo": {"num_cells_by_type": {"LUT4": 100, "TRELLIS_FF": 5}},
            "\\top$rx$fifo$head": {"num_cells_by_type": {"TRELLIS_FF": 3}},
            "\\other": {"num_cells_by_type": {"LUT4": 1000}}}}"#;
        let Blocks(blocks) = Blocks::new(&serde_json::from_str(cells).unwrap(), "top").unwrap();
        assert_eq!(blocks["top"], Area { lut4: 111, ff: 8, ebr: 0 });
        assert_eq!(blocks["top.rx"], Area { lut4: 110, ff: 8, ebr: 0 });
        assert_eq!(blocks["top.rx.fifo"], Area { lut4: 100, ff: 8, ebr: 0 });
        assert_eq!(blocks.len(), 3);
    }
}

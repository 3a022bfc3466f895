//! From a block to Verilog.

use rust_hdl_core::prelude::*;
use std::collections::BTreeMap;

/// The Verilog of a block, its top module under the given name.
///
/// # Panics
///
/// When rust-hdl's own checks (unconnected signals, writes to inputs, clock domains) refuse the block.
pub fn verilog<B: Block>(mut block: B, name: &str) -> String {
    block.connect_all();
    check_all(&block).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let mut defines = ModuleDefines::default();
    block.accept(name, &mut defines);
    wire_clocks(&defines.defines())
}

/// Takes the clocks out of the combinational blocks: `reg a$clock; … a$clock = clock;` becomes
/// `wire a$clock = clock;`. As it is emitted, every change of any signal in the block seems to be a change of
/// the clock; simulators then evaluate far more than they need to.
fn wire_clocks(verilog: &str) -> String {
    let mut out = String::with_capacity(verilog.len());
    for module in verilog.split_inclusive("endmodule") {
        let drivers: BTreeMap<&str, &str> = module
            .lines()
            .filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "))
            .filter(|(target, _)| target.ends_with("$clock") && !target.contains(' '))
            .collect();
        for line in module.split_inclusive('\n') {
            let statement = line.trim().trim_end_matches(';');
            let declared = statement.strip_prefix("reg").map(str::trim);
            if let Some((name, driver)) = declared.and_then(|name| drivers.get_key_value(name)) {
                out.push_str(&format!("    wire {name} = {driver};\n"));
            } else if !statement.split_once(" = ").is_some_and(|(target, _)| drivers.contains_key(target)) {
                out.push_str(line);
            }
        }
    }
    out
}

//! Verilates the core's classifier, as it is and with one bit of its rule changed in the Verilog.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use ferronic_hw::emit::{verilog, WAIVED};
use ferronic_hw::rx::classify::Classify;
use ferronic_verilated::build::Model;

/// Name, a text that the Verilog holds once, and what to write in its place.
const CHANGES: [(&str, &str, &str); 5] = [
    ("classify", "", ""),
    ("classify_group_bit", "group$d = window[32'h0];", "group$d = window[32'h1];"),
    ("classify_type_min", "type_min = 16'h600;", "type_min = 16'h400;"),
    ("classify_broadcast", "byte_ones = 8'hff;", "byte_ones = 8'hfe;"),
    ("classify_raw", "all_ones = 16'hffff;", "all_ones = 16'hfffe;"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let text = verilog(Classify::default(), "classify");
    let mut modules = String::new();
    for (name, is, becomes) in CHANGES {
        if !is.is_empty() && text.matches(is).count() != 1 {
            return Err(format!("{name}: the classifier's Verilog must hold {is:?} once").into());
        }
        let source = out.join(format!("{name}.v"));
        std::fs::write(&source, if is.is_empty() { text.clone() } else { text.replace(is, becomes) })?;
        Model::new("classify").name(name).source(source).allow(WAIVED).build()?;
        writeln!(modules, "ferronic_verilated::model!(pub mod {name});")?;
    }
    std::fs::write(out.join("models.rs"), modules)?;
    Ok(())
}

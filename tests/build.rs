//! Verilates the core's parser, as it is and with one bit of its link-layer rule changed in the Verilog.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

use ferronic_hw::emit::{verilog, WAIVED};
use ferronic_hw::rx::parse::Parse;
use ferronic_verilated::build::Model;

/// Name, a text that the Verilog holds for each signal that depends on it, and what to write in its place.
const CHANGES: [(&str, &str, &str); 5] = [
    ("parse", "", ""),
    ("parse_group_bit", "a_dmac$q[32'h0]", "a_dmac$q[32'h1]"),
    ("parse_type_min", "kind$q < 32'h600", "kind$q < 32'h400"),
    ("parse_broadcast", "((address_byte == 32'hff) << (0))", "((address_byte == 32'hfe) << (0))"),
    ("parse_raw", "llc_now == 32'hffff", "llc_now == 32'hfffe"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let text = verilog(Parse::default(), "parse");
    let mut modules = String::new();
    for (name, is, becomes) in CHANGES {
        if !text.contains(is) {
            return Err(format!("{name}: the parser's Verilog does not hold {is:?}").into());
        }
        let source = out.join(format!("{name}.v"));
        std::fs::write(&source, if is.is_empty() { text.clone() } else { text.replace(is, becomes) })?;
        Model::new("parse").name(name).source(source).allow(WAIVED).build()?;
        writeln!(modules, "ferronic_verilated::model!(pub mod {name});")?;
    }
    std::fs::write(out.join("models.rs"), modules)?;
    Ok(())
}

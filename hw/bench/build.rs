//! Verilates every block that has a bench. FERRONIC_BENCH_ONLY=prefix,prefix builds fewer, while one is
//! being worked on.

use ferronic_verilated::build::Model;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=FERRONIC_BENCH_ONLY");
    println!("cargo:rerun-if-changed=build.rs");
    let only = std::env::var("FERRONIC_BENCH_ONLY").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || only.split(',').any(|prefix| name.starts_with(prefix));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut modules = String::new();
    for (name, verilog) in ferronic_hw::blocks().into_iter().filter(|(name, _)| wanted(name)) {
        let source = out.join(format!("{name}.v"));
        std::fs::write(&source, verilog)?;
        Model::new(name).source(source).allow(ferronic_hw::emit::WAIVED).build()?;
        writeln!(modules, "ferronic_verilated::model!(pub mod {name});")?;
    }
    std::fs::write(out.join("models.rs"), modules)?;
    Ok(())
}

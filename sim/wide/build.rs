//! Verilates the core at 256 and 512 bits.

use ferronic_verilated::build::Model;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (name, bits) in [("nic_core_256", 256), ("nic_core_512", 512)] {
        let source = out.join(format!("{name}.v"));
        std::fs::write(&source, ferronic_hw::core::core(bits, name))?;
        Model::new(name).source(source).allow(ferronic_hw::emit::WAIVED).build()?;
    }
    Ok(())
}

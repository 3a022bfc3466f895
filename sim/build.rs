//! Verilates the core: as fast as it goes, with waveforms, and 128 bits wide.

use ferronic_verilated::build::Model;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    for (name, bits) in [("nic_core", 64), ("nic_core_128", 128)] {
        let source = out.join(format!("{name}.v"));
        std::fs::write(&source, ferronic_hw::core::core(bits, name))?;
        let model = Model::new(name).source(source).allow(ferronic_hw::emit::WAIVED);
        if name == "nic_core" {
            model.clone().name("nic_core_trace").trace(true).build()?;
        }
        model.build()?;
    }
    Ok(())
}

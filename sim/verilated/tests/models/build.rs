//! Models that the example package does not have, and one (`fifo`) of the same name as there, from other Verilog.

use std::path::PathBuf;
use std::{env, fs};

use ferronic_verilated::build::{Error, Model};

fn main() -> Result<(), Error> {
    Model::new("ports")
        .source("rtl/ports.v")
        .trace(true)
        .build()?;
    Model::new("events")
        .source("rtl/events.sv")
        .allow(&["UNOPTFLAT"])
        .build()?;
    Model::new("power_up").source("rtl/power_up.v").build()?;
    Model::new("power_up")
        .name("power_up_zero")
        .source("rtl/power_up.v")
        .random_power_up(false)
        .build()?;

    let generated =
        PathBuf::from(env::var_os("OUT_DIR").expect("set by Cargo")).join("generated.v");
    let verilog = "module fifo(input wire [6:0] a, output wire [6:0] y); assign y = ~a; endmodule";
    fs::write(&generated, verilog).map_err(|e| Error::File(generated.clone(), e))?;
    Model::new("fifo").source(generated).build()
}

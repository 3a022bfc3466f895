//! Builds two models of one Verilog module: as it is, and wide with trace and coverage.

use ferronic_verilated::build::{Error, Model};

fn main() -> Result<(), Error> {
    let fifo = Model::new("fifo").source("rtl/fifo.v").lint(true);
    fifo.build()?;
    fifo.name("wide_fifo")
        .parameter("WIDTH", 100)
        .trace(true)
        .coverage(true)
        .build()
}

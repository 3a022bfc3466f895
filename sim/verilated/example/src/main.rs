//! Pushes words into the wide FIFO and pops them, leaving `fifo.fst` and `fifo.coverage` in the current folder.

use ferronic_verilated::PowerUp;
use ferronic_verilated_example::wide_fifo::WideFifo;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut fifo = WideFifo::new(PowerUp::Random(1));
    fifo.open_trace("fifo.fst")?;
    for cycle in 0..40 {
        fifo.set_rst(cycle == 0);
        fifo.set_push(cycle > 0 && !fifo.full());
        fifo.set_push_data([cycle, 0, 0, 1]);
        fifo.set_pop(cycle > 10 && !fifo.empty());
        fifo.set_clk(false);
        fifo.eval();
        fifo.dump(2 * u64::from(cycle));
        if fifo.pop() {
            println!(
                "cycle {cycle}: level {}, popped {:x?}",
                fifo.level(),
                fifo.pop_data()
            );
        }
        fifo.set_clk(true);
        fifo.eval();
        fifo.dump(2 * u64::from(cycle) + 1);
    }
    fifo.write_coverage("fifo.coverage")?;
    match fifo.failure() {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}

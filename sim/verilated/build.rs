//! Compiles Verilator's C++ runtime, once for all models of a program.

#[path = "src/build/tool.rs"]
mod tool;

use std::env;
use std::process::exit;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/build/tool.rs");
    println!("cargo:rerun-if-changed=src/runtime");
    // docs.rs has no Verilator, and documentation links nothing.
    if env::var_os("CARGO_FEATURE_RUNTIME").is_none() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    let tool = tool::Tool::find().unwrap_or_else(|e| {
        eprintln!("{e}");
        exit(1)
    });
    let mut compiler = tool.compiler();
    for part in [
        "verilated",
        "verilated_threads",
        "verilated_fst_c",
        "verilated_cov",
    ] {
        let file = tool.include().join(part).with_extension("cpp");
        println!("cargo:rerun-if-changed={}", file.display());
        compiler.file(file);
    }
    // The runtime's own handlers print and abort; src/runtime/simulation.cpp records instead.
    for handler in [
        "VL_USER_FINISH",
        "VL_USER_STOP",
        "VL_USER_FATAL",
        "VL_USER_WARN",
    ] {
        compiler.define(handler, "1");
    }
    compiler.define("VL_VERILATED_INCLUDE", "\"print.h\"");
    compiler
        .include("src/runtime")
        .file("src/runtime/simulation.cpp")
        .compile("ferronic_verilated_runtime");
    println!("cargo:rustc-link-lib=z");
    println!("cargo:rustc-link-lib=pthread");
}

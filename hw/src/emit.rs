//! From a block to Verilog.

mod tidy;

use rust_hdl_core::prelude::*;

/// Verilator warnings that the emitted text cannot avoid, each with its reason.
pub const WAIVED: &[&str] = &[
    // rust-hdl writes literals as 32'h0 whatever their target, and indexes with 8-bit constants. What could be lost
    // is caught by the test of the source rules.
    "WIDTH",
    // All modules are in one file.
    "DECLFILENAME",
    // Parts of a header or a bus that a block has no use for.
    "UNUSED",
];

/// The Verilog of a block, its top module under the given name.
///
/// # Panics
///
/// When rust-hdl's own checks (unconnected signals, writes to inputs, clock domains) refuse the block.
pub fn verilog<B: Block>(mut block: B, name: &str) -> String {
    block.connect_all();
    check_all(&block).unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let mut defines = ModuleDefines::default();
    block.accept(name, &mut defines);
    tidy::tidy(&defines.defines())
}

/// What `make` gives, on a stack of its own: rust-hdl builds a block by value, and a core with many queues does not
/// fit the 8 MB that a program begins with.
///
/// # Panics
///
/// When `make` does, or no thread can be had.
pub fn roomy<T: Send>(make: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, make);
        thread.expect("a thread to build on").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

//! The sources of the core keep the rules without which the Verilog does not say what the Rust says.
//!
//! rust-hdl accepts each of these faults, passes its own checks, and emits wrong Verilog:
//!
//! 1. `&`, `|`, `^` and a comparison side by side need parentheses: Verilog ranks them otherwise than Rust.
//! 2. A bare literal is 32 bits wide and widens the arithmetic around it, which shows when that is compared, cast,
//!    shifted right, reduced, or a shift count. One of 2³¹ and more needs `_u64`.
//! 3. Arithmetic and `!` go into a signal of the exact width (or `bit_cast::<N, N>`) before they are compared,
//!    cast, matched or used as an index.
//! 4. `update` begins with `dff_setup!`; every output, Local and child input has a default.
//! 5. No Local is read before it is written.
//! 6. The reset branch is the last statement.
//! 7. Structs are flat, no field is named by a keyword of Verilog or SystemVerilog, match arms are decimal.
//! 8. A const has no value in the Verilog, only a name; only a plain signal can be sliced; arrays have one
//!    dimension.

mod declarations;
mod examples;
mod expressions;
mod source;
mod statements;

use proc_macro2::Span;
use std::path::{Path, PathBuf};

/// A rule that is broken, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// 1-based line in the file.
    line: usize,
    /// The number in the list above.
    rule: u8,
    message: String,
}

/// What a pass over the source writes down.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, at: Span, rule: u8, message: impl Into<String>) {
        self.0.push(Finding { line: at.start().line, rule, message: message.into() });
    }
}

/// Checks the text of one file.
///
/// # Errors
///
/// When the file is not Rust, or a macro that stamps out blocks cannot be read.
fn check(text: &str) -> syn::Result<Vec<Finding>> {
    let mut findings = Findings::default();
    let source = source::Source::read(syn::parse_file(text)?)?;
    for item in &source.structs {
        declarations::check(item, &mut findings);
    }
    for block in source.blocks() {
        statements::check(&block, &mut findings);
        expressions::check(&block, &mut findings);
    }
    findings.0.sort();
    findings.0.dedup();
    Ok(findings.0)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn the_core_keeps_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for file in rust_files(&root.join("src")) {
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        match check(&text) {
            Ok(findings) => broken.extend(
                findings.iter().map(|f| format!("hw/{name}:{}: rule {}: {}", f.line, f.rule, f.message)),
            ),
            Err(error) => broken.push(format!("hw/{name}:{}: {error}", error.span().start().line)),
        }
    }
    assert!(broken.is_empty(), "{} broken rules\n{}", broken.len(), broken.join("\n"));
}

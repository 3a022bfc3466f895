//! Why a model could not be built.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a model could not be built. `Debug` gives the same text as `Display`.
#[non_exhaustive]
pub enum Error {
    /// Verilator is missing or does not run; the text says what to do.
    Tool(String),
    /// An environment variable that Cargo sets for build scripts is missing.
    NoBuildScript(&'static str),
    /// The name given to the model is no Rust module name.
    BadName(String),
    /// Verilator refused the sources: syntax, an unknown top, or a warning under `lint(true)`.
    Verilate {
        /// The model.
        name: String,
        /// What was run.
        command: String,
        /// What it printed.
        output: String,
    },
    /// The top module has no ports, so nothing could be driven or seen.
    NoPorts {
        /// The top module.
        top: String,
    },
    /// A port that cannot be had in Rust.
    Port {
        /// The port, by name or as Verilator declares it.
        port: String,
        /// Why not.
        why: &'static str,
    },
    /// The C++ compiler failed.
    Compile {
        /// The model.
        name: String,
        /// What the compiler's driver says.
        why: String,
    },
    /// A file could not be read or written.
    File(PathBuf, io::Error),
}

impl Error {
    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File(path.into(), error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(why) => f.write_str(why),
            Self::NoBuildScript(variable) => {
                write!(
                    f,
                    "{variable} is not set: models are built from a Cargo build script"
                )
            }
            Self::BadName(name) => write!(
                f,
                "model name `{name}`: must be a Rust identifier; choose one with `.name()`"
            ),
            Self::Verilate {
                name,
                command,
                output,
            } => {
                write!(f, "model `{name}`: Verilator failed\n{command}\n{output}")
            }
            Self::NoPorts { top } => write!(f, "top module `{top}` has no ports"),
            Self::Port { port, why } => write!(f, "port `{port}`: {why}"),
            Self::Compile { name, why } => write!(f, "model `{name}`: {why}"),
            Self::File(path, why) => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

//! Where Verilator is. Shared with this crate's own build script, so neither side uses all of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

/// An installed Verilator.
pub struct Tool {
    exe: String,
    include: PathBuf,
}

impl Tool {
    /// Finds the program named by the environment variable `VERILATOR`, else `verilator`.
    ///
    /// # Errors
    /// A text for the user when the program cannot be run, or does not say where its C++ runtime is.
    pub fn find() -> Result<Self, String> {
        println!("cargo:rerun-if-env-changed=VERILATOR");
        println!("cargo:rerun-if-env-changed=VERILATOR_ROOT");
        Self::at(&env::var("VERILATOR").unwrap_or_else(|_| "verilator".into()))
    }

    /// As [`Tool::find`], for the program named `exe`.
    pub fn at(exe: &str) -> Result<Self, String> {
        let answer = Command::new(exe)
            .args(["--getenv", "VERILATOR_ROOT"])
            .output()
            .map_err(|e| {
                let hint = match e.kind() {
                    io::ErrorKind::NotFound => {
                        "; install it (`apt-get install verilator`, or https://verilator.org), \
                     or name it in the environment variable VERILATOR"
                    }
                    _ => "",
                };
                format!("cannot run Verilator as `{exe}`: {e}{hint}")
            })?;
        let root = String::from_utf8_lossy(&answer.stdout).trim().to_string();
        let include = Path::new(&root).join("include");
        if !include.join("verilated.cpp").is_file() {
            return Err(format!(
                "`{exe} --getenv VERILATOR_ROOT` says `{root}`, but {} is not there",
                include.join("verilated.cpp").display()
            ));
        }
        Ok(Self {
            exe: exe.into(),
            include,
        })
    }

    /// Verilator, ready to take arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.exe)
    }

    /// The folder of `verilated.h` and `verilated.cpp`.
    pub fn include(&self) -> &Path {
        &self.include
    }

    /// A C++ compiler set up for Verilator's code. Speed rests on `-O3`, whatever the Cargo profile: Verilator's own
    /// makefile takes `-Os`, three times slower.
    pub fn compiler(&self) -> cc::Build {
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .std("c++17")
            .opt_level(3)
            .debug(false)
            .warnings(false);
        // A library could be asked to let others replace its functions; saying no allows inlining.
        build
            .flag_if_supported("-fcf-protection=none")
            .flag_if_supported("-fno-semantic-interposition");
        build
            .include(&self.include)
            .include(self.include.join("vltstd"));
        for (name, value) in [
            ("VM_SC", "0"),
            ("VM_TRACE", "1"),
            ("VM_TRACE_FST", "1"),
            ("VM_COVERAGE", "1"),
        ] {
            build.define(name, value);
        }
        build
    }
}

//! Programs that are not ours: where they are, and how they are run.

use anyhow::{bail, Context, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The Python environment that `setup` makes when the tools from PyPI are not installed already.
pub fn venv() -> PathBuf {
    root().join("target/tools/venv")
}

/// PATH, with the project's own Python environment at its end: what the user installed comes first.
fn path() -> OsString {
    let own = venv().join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::env::split_paths(&path).chain([own])).unwrap_or(path)
}

/// The file that a program's name stands for.
pub fn find(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&path()).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A program to be run in the root of the checkout, which never waits for input.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).env("PATH", path()).stdin(Stdio::null());
    command
}

/// Cargo itself, the one that runs us.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The command as one would type it.
pub fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Says what is run, and runs it with its output on the terminal.
///
/// # Errors
///
/// When the program cannot be started, or fails.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("> {}", spelled(command));
    let status = command.status().with_context(|| format!("`{}` cannot be started", spelled(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", spelled(command));
    }
    Ok(())
}

/// Runs a program and keeps its output for itself.
///
/// # Errors
///
/// When the program cannot be started, or fails: then with the last lines of what it said.
pub fn run_quietly(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("`{}` cannot be started", spelled(command)))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if !output.status.success() {
        let lines: Vec<&str> = said.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        bail!("`{}` failed: {}\n{last}", spelled(command), output.status);
    }
    Ok(said)
}

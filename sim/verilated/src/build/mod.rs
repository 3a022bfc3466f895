//! The half for build scripts: from Verilog to a linked model and the Rust source of its struct.

mod error;
mod glue;
mod port;
#[cfg(test)]
mod tests;
mod tool;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

pub use error::Error;
use glue::Names;
use tool::Tool;

/// A model to build: a top module, its sources, and how to translate them.
///
/// A build script may build several; each needs its own name.
#[derive(Clone, Debug)]
pub struct Model {
    top: String,
    name: String,
    sources: Vec<PathBuf>,
    args: Vec<String>,
    allowed: Vec<String>,
    lint: bool,
    trace: bool,
    coverage: bool,
    random_power_up: bool,
}

impl Model {
    /// A model of the module `top`, also named `top`.
    pub fn new(top: impl Into<String>) -> Self {
        let top = top.into();
        Self {
            name: top.clone(),
            top,
            sources: Vec::new(),
            args: Vec::new(),
            allowed: Vec::new(),
            lint: false,
            trace: false,
            coverage: false,
            random_power_up: true,
        }
    }

    /// Another name than the top's, for the Rust module and (in camel case) its struct: needed for a second model of
    /// the same top.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a Verilog or SystemVerilog file; a relative path starts at the package.
    pub fn source(mut self, file: impl Into<PathBuf>) -> Self {
        self.sources.push(file.into());
        self
    }

    /// Adds several files.
    pub fn sources<P: Into<PathBuf>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.sources.extend(files.into_iter().map(Into::into));
        self
    }

    /// Adds a folder to search for `` `include `` files and modules.
    pub fn include(self, folder: impl AsRef<Path>) -> Self {
        self.arg(format!("-I{}", folder.as_ref().display()))
    }

    /// Sets a parameter of the top module; a string needs its own double quotes.
    pub fn parameter(self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arg(format!("-G{name}={value}"))
    }

    /// Defines a preprocessor macro.
    pub fn define(self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arg(format!("-D{name}={value}"))
    }

    /// Whether all warnings of Verilator's `-Wall` fail the build (default false: warnings only go to the build
    /// script's standard error). See [`Model::allow`].
    pub fn lint(mut self, on: bool) -> Self {
        self.lint = on;
        self
    }

    /// Silences warnings of these names, such as `UNUSEDSIGNAL`.
    pub fn allow(mut self, warnings: &[&str]) -> Self {
        self.allowed
            .extend(warnings.iter().map(|w| (*w).to_string()));
        self
    }

    /// Whether an FST trace can be opened (default false). An open trace slows simulation tenfold, the possibility alone
    /// by a tenth.
    pub fn trace(mut self, on: bool) -> Self {
        self.trace = on;
        self
    }

    /// Whether to count line coverage and `cover` properties (default false). Slows simulation fivefold.
    pub fn coverage(mut self, on: bool) -> Self {
        self.coverage = on;
        self
    }

    /// Whether state without an initial value follows [`PowerUp`](crate::PowerUp) (default true). Else it is zero,
    /// and simulation about 7 % faster.
    pub fn random_power_up(mut self, on: bool) -> Self {
        self.random_power_up = on;
        self
    }

    /// Adds an argument for Verilator that has no method here, such as `--timescale-override`.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Translates and compiles the model, tells Cargo to link it, and writes `$OUT_DIR/<name>.rs`, which
    /// [`model!`](crate::model) includes. To be called from a build script.
    ///
    /// # Errors
    /// See [`Error`]; its `Debug` text is the readable one, so `unwrap` and `main` returning it show all there is.
    pub fn build(&self) -> Result<(), Error> {
        let tool = Tool::find().map_err(Error::Tool)?;
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(Error::NoBuildScript("OUT_DIR"))?);
        let package =
            env::var("CARGO_PKG_NAME").map_err(|_| Error::NoBuildScript("CARGO_PKG_NAME"))?;
        let names = Names::new(&package, &self.name)?;
        let folder = self.generate(&tool, &names, &out)?;

        let mut compiler = tool.compiler();
        compiler
            .cargo_metadata(false)
            .include(&folder)
            .files(units(&folder, &names)?);
        self.compile(&tool, &compiler, &folder, &out, &names)?;
        println!("cargo:rustc-link-search=native={}", out.display());
        println!("cargo:rustc-link-lib=static={}", names.prefix);
        Ok(())
    }

    /// Writes all sources, C++ and Rust; returns the folder of the C++ ones.
    fn generate(&self, tool: &Tool, names: &Names, out: &Path) -> Result<PathBuf, Error> {
        let folder = out.join(format!("{}.verilated", self.name));
        self.verilate(tool, names, &folder)?;
        report_sources(&folder, names, out)?;
        let ports = port::parse(&read(&folder.join(format!("{}.h", names.prefix)))?)?;
        if ports.is_empty() {
            return Err(Error::NoPorts {
                top: self.top.clone(),
            });
        }
        write(
            &folder.join("simulation.h"),
            include_str!("../runtime/simulation.h"),
        )?;
        write(
            &folder.join("glue.cpp"),
            &glue::cpp(names, &ports, self.trace, self.coverage),
        )?;
        write(
            &out.join(format!("{}.rs", self.name)),
            &glue::rust(names, &self.top, &ports),
        )?;
        Ok(folder)
    }

    /// C++ to a static library, unless there is one from the same C++: Cargo runs a build script for many reasons, and
    /// large models take minutes.
    fn compile(
        &self,
        tool: &Tool,
        compiler: &cc::Build,
        folder: &Path,
        out: &Path,
        names: &Names,
    ) -> Result<(), Error> {
        let failed = |e: cc::Error| Error::Compile {
            name: self.name.clone(),
            why: e.to_string(),
        };
        let command = format!(
            "{:?}",
            compiler.try_get_compiler().map_err(failed)?.to_command()
        );
        let fingerprint =
            fingerprint(&command, &tool.include().join("verilated_config.h"), folder)?;
        let stamp = out.join(format!("{}.stamp", self.name));
        let library = out.join(format!("lib{}.a", names.prefix));
        if library.exists() && fs::read_to_string(&stamp).is_ok_and(|old| old == fingerprint) {
            return Ok(());
        }
        if stamp.exists() {
            fs::remove_file(&stamp).map_err(|e| Error::file(&stamp, e))?;
        }
        compiler.try_compile(&names.prefix).map_err(failed)?;
        write(&stamp, &fingerprint)
    }

    /// Verilog to C++ in `folder`.
    fn verilate(&self, tool: &Tool, names: &Names, folder: &Path) -> Result<(), Error> {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|e| Error::file(folder, e))?;
        }
        let initial = if self.random_power_up {
            "unique"
        } else {
            "fast"
        };
        let mut command = tool.command();
        command.args([
            "--cc",
            "-O3",
            "--assert",
            "--x-assign",
            initial,
            "--x-initial",
            initial,
        ]);
        command
            .args([
                "--top-module",
                &self.top,
                "--prefix",
                &names.prefix,
                "--Mdir",
            ])
            .arg(folder);
        command.arg(if self.lint { "-Wall" } else { "-Wno-fatal" });
        command.args(self.allowed.iter().map(|w| format!("-Wno-{w}")));
        if self.trace {
            command.arg("--trace-fst");
        }
        if self.coverage {
            command.args(["--coverage-line", "--coverage-user"]);
        }
        command.args(&self.args).args(&self.sources);
        let done = command
            .output()
            .map_err(|e| Error::Tool(format!("cannot run {command:?}: {e}")))?;
        let output = String::from_utf8_lossy(&done.stderr) + String::from_utf8_lossy(&done.stdout);
        eprint!("{output}");
        if done.status.success() {
            return Ok(());
        }
        Err(Error::Verilate {
            name: self.name.clone(),
            command: format!("{command:?}"),
            output: output.into_owned(),
        })
    }
}

/// Asks Cargo to run the build script again when a file that Verilator read changes. Not for those that the script
/// itself wrote: Cargo would find them newer than the script's run, always.
fn report_sources(folder: &Path, names: &Names, out: &Path) -> Result<(), Error> {
    let list = read(&folder.join(format!("{}__ver.d", names.prefix)))?;
    let read_files = list.split_once(" : ").map_or("", |(_, files)| files);
    for file in read_files
        .split_whitespace()
        .filter(|f| !Path::new(f).starts_with(out))
    {
        println!("cargo:rerun-if-changed={file}");
    }
    Ok(())
}

/// What to compile. One file that includes all others makes a faster model, because functions are inlined across them;
/// but Verilator says when a model is so large that its files should be compiled in parallel.
fn units(folder: &Path, names: &Names) -> Result<Vec<PathBuf>, Error> {
    let mut sources = files(folder)?;
    sources.retain(|path| path.extension().is_some_and(|e| e == "cpp"));
    if read(&folder.join(format!("{}_classes.mk", names.prefix)))?
        .contains("VM_PARALLEL_BUILDS = 1")
    {
        return Ok(sources);
    }
    let all = folder.join("all.cpp");
    let mut text = String::new();
    for name in sources.iter().filter_map(|path| path.file_name()) {
        text += &format!("#include \"{}\"\n", name.to_string_lossy());
    }
    write(&all, &text)?;
    Ok(vec![all])
}

/// Tells whether two compilations would give the same: hashes the compiler's command, Verilator's version and all C++.
fn fingerprint(command: &str, version: &Path, folder: &Path) -> Result<String, Error> {
    let mut hasher = DefaultHasher::new();
    command.hash(&mut hasher);
    read(version)?.hash(&mut hasher);
    for file in files(folder)? {
        if file.extension().is_some_and(|e| e == "cpp" || e == "h") {
            file.hash(&mut hasher);
            read(&file)?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|e| Error::file(folder, e))?.path());
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|e| Error::file(path, e))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|e| Error::file(path, e))
}

//! What every model has in common, over the C++ of `src/runtime`.
#![allow(unsafe_code)]

use std::ffi::{c_char, CStr, CString};
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

/// What registers and memories without an initial value hold when the simulation begins.
///
/// Only a model built with random power-up (the default of the build half) heeds it; in others all such state is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerUp {
    /// All bits are 0.
    Zeros,
    /// All bits are 1.
    Ones,
    /// Bits drawn from this seed. The same seed gives the same state, on any thread.
    Random(u64),
}

impl PowerUp {
    /// Verilator's `randReset` and `randSeed`, where seed 0 would mean the time of day.
    fn raw(self) -> (i32, i32) {
        match self {
            Self::Zeros => (0, 1),
            Self::Ones => (1, 1),
            Self::Random(seed) => {
                // The finaliser of splitmix64: seeds that differ in one bit give unrelated states.
                let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                let folded = (x ^ (x >> 31)) as i32;
                (2, if folded == 0 { 1 } else { folded })
            }
        }
    }
}

/// The first `$error`, `$fatal`, `$stop`, failed assertion, or error of the Verilator runtime in a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the Verilog file, without its folder; may be empty for errors of the runtime.
    pub file: String,
    /// The line in that file, from 1; 0 if unknown.
    pub line: u32,
    /// The text of the message, with time and hierarchy as Verilator prints them.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for Failure {}

/// The C++ object behind a model. Only named by generated code.
#[doc(hidden)]
#[repr(C)]
pub struct Raw {
    _opaque: [u8; 0],
}

/// `Status` of `src/runtime/simulation.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Status {
    finished: u8,
    failed: u8,
    traced: u8,
    covered: u8,
}

extern "C" {
    fn ferronic_verilated_status(raw: *const Raw) -> *const Status;
    fn ferronic_verilated_delete(raw: *mut Raw);
    fn ferronic_verilated_set_time(raw: *mut Raw, time: u64);
    fn ferronic_verilated_open_trace(raw: *mut Raw, path: *const c_char) -> bool;
    fn ferronic_verilated_close_trace(raw: *mut Raw);
    fn ferronic_verilated_dump(raw: *mut Raw, time: u64);
    fn ferronic_verilated_write_coverage(raw: *mut Raw, path: *const c_char) -> bool;
    fn ferronic_verilated_failure(
        raw: *const Raw,
        file: *mut *const c_char,
        line: *mut u32,
    ) -> *const c_char;
}

/// Verilator's random generator has one seed for all contexts: two models constructed at once would disturb each other.
static CONSTRUCTION: Mutex<()> = Mutex::new(());

/// The part of a model that does not depend on its ports: time, tracing, coverage, and how it ended. Every generated
/// model dereferences to it.
pub struct Simulation {
    raw: NonNull<Raw>,
    status: NonNull<Status>,
    tracing: bool,
}

// SAFETY: the C++ object belongs to this value alone. What Verilator keeps per thread (the current context) is set
// anew whenever a call arrives on a thread that last served another model.
unsafe impl Send for Simulation {}

impl Simulation {
    /// Calls the constructor of a generated model with `randReset` and `randSeed`.
    ///
    /// # Safety
    /// `new` must return an object made by generated C++ code that nothing else owns, or null.
    #[doc(hidden)]
    pub unsafe fn construct(power_up: PowerUp, new: impl FnOnce(i32, i32) -> *mut Raw) -> Self {
        let (reset, seed) = power_up.raw();
        let raw = {
            let _alone = CONSTRUCTION.lock().unwrap_or_else(PoisonError::into_inner);
            NonNull::new(new(reset, seed))
                .expect("the Verilated model could not be constructed; see its message above")
        };
        // SAFETY: `raw` is a live object by the caller's promise; the status is part of it, so not null.
        let status =
            unsafe { NonNull::new_unchecked(ferronic_verilated_status(raw.as_ptr()).cast_mut()) };
        Self {
            raw,
            status,
            tracing: false,
        }
    }

    /// The C++ object.
    #[doc(hidden)]
    #[inline(always)]
    pub fn raw(&mut self) -> *mut Raw {
        self.raw.as_ptr()
    }

    /// Sets the time that `$time` reads, in units of the design's time precision. Time never moves by itself.
    #[inline]
    pub fn set_time(&mut self, time: u64) {
        // SAFETY: the object lives as long as `self`.
        unsafe { ferronic_verilated_set_time(self.raw(), time) }
    }

    /// Begins a trace of all signals in a new FST file, readable by GTKWave and Surfer. Ends one already open.
    ///
    /// # Errors
    /// The file cannot be written; or the model was built without `trace(true)` ([`io::ErrorKind::Unsupported`]).
    pub fn open_trace(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if self.status().traced == 0 {
            return Err(error(
                path,
                io::ErrorKind::Unsupported,
                "the model was built without trace(true)",
            ));
        }
        let name = writable(path)?;
        // SAFETY: the object lives as long as `self`, the name as long as the call.
        self.tracing = unsafe { ferronic_verilated_open_trace(self.raw(), name.as_ptr()) };
        match self.tracing {
            true => Ok(()),
            false => Err(error(path, io::ErrorKind::Other, "cannot begin the trace")),
        }
    }

    /// Writes what has changed to the trace, as of `time`, which must exceed that of the last call; `$time` follows.
    /// Does nothing when no trace is open, at the cost of one test.
    #[inline]
    pub fn dump(&mut self, time: u64) {
        if self.tracing {
            // SAFETY: the object lives as long as `self`, and its trace is open.
            unsafe { ferronic_verilated_dump(self.raw(), time) }
        }
    }

    /// Whether a trace is open.
    #[inline]
    pub fn tracing(&self) -> bool {
        self.tracing
    }

    /// Completes the trace file, if one is open. Dropping the model does so too.
    pub fn close_trace(&mut self) {
        self.tracing = false;
        // SAFETY: the object lives as long as `self`.
        unsafe { ferronic_verilated_close_trace(self.raw()) }
    }

    /// Writes the coverage counted so far to a new file, for `verilator_coverage`.
    ///
    /// # Errors
    /// The file cannot be written; or the model was built without `coverage(true)` ([`io::ErrorKind::Unsupported`]).
    pub fn write_coverage(&mut self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if self.status().covered == 0 {
            return Err(error(
                path,
                io::ErrorKind::Unsupported,
                "the model was built without coverage(true)",
            ));
        }
        let name = writable(path)?;
        // SAFETY: the object lives as long as `self`, the name as long as the call.
        match unsafe { ferronic_verilated_write_coverage(self.raw(), name.as_ptr()) } {
            true => Ok(()),
            false => Err(error(path, io::ErrorKind::Other, "cannot write coverage")),
        }
    }

    /// Whether the design has executed `$finish`. It may go on being evaluated.
    #[inline(always)]
    pub fn finished(&self) -> bool {
        self.status().finished != 0
    }

    /// Whether there is a [`Failure`]. Cheap enough to ask every cycle.
    #[inline(always)]
    pub fn failed(&self) -> bool {
        self.status().failed != 0
    }

    #[inline(always)]
    fn status(&self) -> Status {
        // SAFETY: the status lives as long as `self`, and only calls that borrow `self` mutably write it.
        unsafe { self.status.as_ptr().read() }
    }

    /// The first failure. Later ones are printed, as all messages of the design are, on standard output.
    pub fn failure(&self) -> Option<Failure> {
        if !self.failed() {
            return None;
        }
        let (mut file, mut line) = (std::ptr::null(), 0);
        // SAFETY: the object lives as long as `self`; the texts are C strings inside it, copied before the return.
        let (message, file) = unsafe {
            let message = ferronic_verilated_failure(self.raw.as_ptr(), &mut file, &mut line);
            (
                CStr::from_ptr(message).to_string_lossy(),
                CStr::from_ptr(file).to_string_lossy(),
            )
        };
        Some(Failure {
            file: file.into_owned(),
            line,
            message: message.into_owned(),
        })
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // SAFETY: this value owns the object and is going.
        unsafe { ferronic_verilated_delete(self.raw()) }
    }
}

/// Creates the file, because the C++ side tells no reason when it cannot; returns its name for that side.
fn writable(path: &Path) -> io::Result<CString> {
    File::create(path).map_err(|e| error(path, e.kind(), e))?;
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|e| error(path, io::ErrorKind::InvalidInput, e))
}

fn error(path: &Path, kind: io::ErrorKind, why: impl fmt::Display) -> io::Error {
    io::Error::new(kind, format!("{}: {why}", path.display()))
}

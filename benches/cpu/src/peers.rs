//! Rivals in other languages, which `cargo xtask peers` builds: shared objects of C++ code, and a
//! Python process.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use bytemuck::Pod;
use libloading::Library;

use crate::output::Output;
use crate::race::Runner;

/// The rivals that could be had; where one could not, the reason.
pub(crate) struct Peers {
    pub(crate) std_scan: Result<Native, String>,
    pub(crate) tbb_scan: Result<Native, String>,
    pub(crate) gmp_add: Result<Native, String>,
    pub(crate) python: Result<RefCell<Python>, String>,
}

impl Peers {
    /// Finds the rivals that are built.
    pub(crate) fn find() -> Peers {
        Peers {
            std_scan: Native::open("std_scan"),
            tbb_scan: Native::open("tbb_scan"),
            gmp_add: Native::of_one_thread("gmp_add"),
            python: Python::start().map(RefCell::new),
        }
    }

    /// None, because they were not asked for.
    pub(crate) fn none() -> Peers {
        let why = || String::from("left out: --rust-only");
        Peers { std_scan: Err(why()), tbb_scan: Err(why()), gmp_add: Err(why()), python: Err(why()) }
    }
}

/// Where `cargo xtask peers` puts things.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers"))
}

/// Why a peer is not there: what `cargo xtask peers` noted, if it was run.
fn not_built(name: &str) -> String {
    match std::fs::read_to_string(folder().join(format!("{name}.failed"))) {
        Ok(why) => format!("could not be built: {}", why.trim()),
        Err(_) => "not built: run `cargo xtask peers`".to_owned(),
    }
}

/// A shared object with a C interface.
pub(crate) struct Native(Library);

impl Native {
    /// One that has threads of its own.
    fn open(name: &str) -> Result<Native, String> {
        let native = Native::of_one_thread(name)?;
        native.use_threads(2)?;
        Ok(native)
    }

    /// One that runs on the thread that calls it.
    fn of_one_thread(name: &str) -> Result<Native, String> {
        let file = folder().join(format!("lib{name}.so"));
        if !file.exists() {
            return Err(not_built(name));
        }
        // SAFETY: this repository's own C++ code, which does nothing when it is loaded.
        let library = unsafe { Library::new(&file) }.map_err(|error| error.to_string())?;
        Ok(Native(library))
    }

    /// TBB's scans.
    pub(crate) fn tbb_scan() -> Result<Native, String> {
        Native::open("tbb_scan")
    }

    /// How many threads its functions use from here on.
    pub(crate) fn use_threads(&self, threads: usize) -> Result<(), String> {
        // SAFETY: this is its type in `benches/peers/arena.hpp`.
        let use_threads = unsafe { self.function::<unsafe extern "C" fn(i32)>("use_threads")? };
        // SAFETY: it may be called with any number, while no other function of the object runs.
        unsafe { use_threads(threads as i32) };
        Ok(())
    }

    /// A function of the shared object.
    ///
    /// # Safety
    /// `F` is the type of a pointer to a function as the C++ source has it.
    pub(crate) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        // SAFETY: the caller promises.
        unsafe { self.0.get::<F>(name) }.map(|symbol| *symbol).map_err(|error| error.to_string())
    }
}

/// A Python process that runs and times NumPy, SciPy and polars when told to.
pub(crate) struct Python {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Python {
    fn start() -> Result<Python, String> {
        let interpreter = folder().join("venv/bin/python");
        if !folder().join("python.ok").exists() {
            return Err(not_built("python"));
        }
        let mut child = Command::new(interpreter)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../peers/scans.py"))
            // All entrants have the same kind of pages.
            .env("NUMPY_MADVISE_HUGEPAGE", "0")
            .env("POLARS_MAX_THREADS", "2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("venv/bin/python: {error}"))?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(answers)) = (requests, answers) else { return Err("no pipe to Python".into()) };
        let mut python = Python { child, requests, answers: BufReader::new(answers) };
        python.ask("hello")?;
        Ok(python)
    }

    /// Sends a line; gives what follows `ok` in the answer.
    fn ask(&mut self, request: &str) -> Result<String, String> {
        let mut answer = String::new();
        let lost = |error| format!("Python: {error}");
        writeln!(self.requests, "{request}").and_then(|()| self.requests.flush()).map_err(lost)?;
        self.answers.read_line(&mut answer).map_err(lost)?;
        match answer.trim().strip_prefix("ok") {
            Some(rest) => Ok(rest.trim().to_owned()),
            None if answer.is_empty() => Err("Python: the process ended".into()),
            None => Err(format!("Python: {}", answer.trim())),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It ends at the end of its input; the rest is for one that hangs.
        let _ = self.ask("bye");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of the functions of `benches/peers/scans.py`, on a copy of the data in that process.
pub(crate) struct PythonScan<'a, T> {
    python: &'a RefCell<Python>,
    output: &'a Output<T>,
    results: PathBuf,
}

impl<'a, T: Pod> PythonScan<'a, T> {
    /// `function` with its arguments as the script reads them, `x` its input.
    pub(crate) fn new(peers: &'a Peers, function: &str, x: &[T], output: &'a Output<T>) -> Result<Self, String> {
        let python = peers.python.as_ref().map_err(Clone::clone)?;
        let file = |name: &str| std::env::temp_dir().join(format!("monoscan-{}-{name}", std::process::id()));
        let (input, results) = (file("input"), file("results"));
        let write = |file: &Path| std::fs::write(file, bytemuck::cast_slice::<T, u8>(x));
        write(&input).map_err(|error| format!("{}: {error}", input.display()))?;
        let loaded = python.borrow_mut().ask(&format!("load {} {function}", input.display()));
        let _ = std::fs::remove_file(&input);
        loaded.map(|_| PythonScan { python, output, results })
    }
}

impl<T: Pod + Into<f64> + From<u8>> Runner for PythonScan<'_, T> {
    fn time(&mut self, times: u32) -> Result<Duration, String> {
        let answer = self.python.borrow_mut().ask(&format!("run {times}"))?;
        answer.parse().map(Duration::from_nanos).map_err(|_| format!("Python: {answer}"))
    }

    fn show(&mut self) -> Result<(), String> {
        self.time(1)?;
        self.python.borrow_mut().ask(&format!("save {}", self.results.display()))?;
        let read = self.output.read(&self.results);
        let _ = std::fs::remove_file(&self.results);
        read
    }
}

impl<T> Drop for PythonScan<'_, T> {
    fn drop(&mut self) {
        // Memory is all that is lost if it does not.
        let _ = self.python.borrow_mut().ask("forget");
    }
}

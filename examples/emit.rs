//! Makes a kernel for NVIDIA GPUs ahead of time: PTX, and a manifest that says how it is called. It
//! needs LLVM and no GPU; a machine that runs the kernel needs the driver and no LLVM (see the
//! example `run_kernel`).
//!
//! ```text
//! cargo run --features ptx --example emit -- --program sum_i32 --arch sm_90 --out DIR
//! ```
//!
//! writes `DIR/sum_i32.ptx` and `DIR/sum_i32.manifest`. A program is one of the ready ones, or a
//! file of the IR's text form. A kernel does one kind of call: inclusive scans of lines in aligned
//! columns, unless something else is asked for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::{Failure, failure_of, finish, say};
use monoscan::ir::Mode;
use monoscan::nvptx::{AccessPattern, Arch, Form, SegmentStart, compile_ahead};

mod common;
mod emit {
    pub(crate) mod programs;
}

const USAGE: &str = "emit [--program NAME|FILE.scan] [--arch sm_90] [--out DIR] [--exclusive] [--segmented] \
                     [--shifted | --any | --columnar] [--any-states]";

struct Options {
    program: String,
    arch: Arch,
    out: PathBuf,
    form: Form,
    pattern: AccessPattern,
    any_states: bool,
}

fn main() -> ExitCode {
    finish(options().and_then(run), USAGE)
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        program: "sum_i32".into(),
        arch: Arch::Sm90,
        out: "target/kernels".into(),
        form: Form::default(),
        pattern: AccessPattern::Aligned,
        any_states: false,
    };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        let mut value = || arguments.next().ok_or_else(|| Failure::Usage(format!("{argument} needs a value")));
        match &*argument {
            "--program" => options.program = value()?.to_string_lossy().into_owned(),
            "--arch" => options.arch = arch(&value()?.to_string_lossy())?,
            "--out" => options.out = value()?.into(),
            "--exclusive" => options.form.mode = Mode::Exclusive,
            "--segmented" => (options.form.heads, options.form.start) = (true, SegmentStart::Init),
            "--shifted" => options.pattern = AccessPattern::Shifted,
            "--any" => options.pattern = AccessPattern::Any,
            "--columnar" => options.pattern = AccessPattern::Columnar,
            "--any-states" => options.any_states = true,
            _ => return Err(Failure::Usage(format!("unknown argument `{argument}`"))),
        }
    }
    Ok(options)
}

fn arch(name: &str) -> Result<Arch, Failure> {
    Arch::from_name(name).ok_or_else(|| {
        let names = Arch::ALL.map(Arch::name).join(", ");
        Failure::Usage(format!("unknown architecture `{name}`: expected one of {names}"))
    })
}

fn run(options: Options) -> Result<(), Failure> {
    let Options { program, arch, out, form, pattern, any_states } = options;
    let verified = emit::programs::program(&program)?;
    let made = compile_ahead(&verified, (form, any_states), pattern, arch)?;
    let name = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    std::fs::create_dir_all(&out).map_err(|error| failure_of(&out, error))?;
    for (end, text) in [("ptx", &made.ptx), ("manifest", &made.manifest.to_string())] {
        let path = out.join(format!("{name}.{end}"));
        std::fs::write(&path, text).map_err(|error| failure_of(&path, error))?;
        say!("{} bytes in {}", text.len(), path.display());
    }
    say!("{program} for {arch}: {}", made.manifest.launch.plan);
    Ok(())
}

//! A digital filter, compiled at run time from its coefficients.
//!
//! ```text
//! cargo run --release --example recurrence -- --signature "0.04 : 1.6, -0.64" --raw in.f64 --out out.f64
//! ```
//!
//! Samples are raw little-endian `f64` (`f32` with `--f32`); without `--raw`, a chirp is filtered.
//! With `--device cuda:0` the scan runs there.

use std::path::PathBuf;
use std::process::ExitCode;

use bytemuck::Pod;
use common::{Failure, Race, finish, indented, say};
use monoscan::Device;
use monoscan::ir::Constant;
use monoscan::recurrence::{Recurrence, Sample, Signature, filter_exactly, filter_sequentially};

mod common;

const USAGE: &str =
    "recurrence [--signature \"A0, A1, ... : B1, B2, ...\"] [--f32] [--raw FILE] [--out FILE] [--device cpu|cuda:N]";

struct Options {
    signature: Signature,
    single: bool,
    raw: Option<PathBuf>,
    out: Option<PathBuf>,
    device: Device,
}

fn main() -> ExitCode {
    finish(
        options().and_then(|options| if options.single { run::<f32>(&options) } else { run::<f64>(&options) }),
        USAGE,
    )
}

fn options() -> Result<Options, Failure> {
    let mut text = "0.04 : 1.6, -0.64".to_string();
    let (mut single, mut raw, mut out, mut device) = (false, None, None, Device::cpu());
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        let mut value = || arguments.next().ok_or_else(|| Failure::Usage(format!("{argument} needs a value")));
        match &*argument {
            "--signature" => text = value()?.to_string_lossy().into_owned(),
            "--raw" => raw = Some(value()?.into()),
            "--out" => out = Some(value()?.into()),
            "--device" => device = common::device(&value()?.to_string_lossy())?,
            "--f32" => single = true,
            _ => return Err(Failure::Usage(format!("unknown argument `{argument}`"))),
        }
    }
    let signature = text.parse().map_err(|error| Failure::Usage(format!("signature `{text}`: {error}")))?;
    Ok(Options { signature, single, raw, out, device })
}

fn run<T: Sample + Pod>(options: &Options) -> Result<(), Failure> {
    let x = match &options.raw {
        Some(path) => read::<T>(path)?,
        None => chirp(1 << 23),
    };
    let recurrence = Recurrence::<T>::new(&options.signature)?.on(options.device)?;
    let (mut y, mut plain) = (x.clone(), x.clone());
    recurrence.filter_into(&x, &mut y)?;
    filter_sequentially(&options.signature, &x, &mut plain);
    let verdict = verify(&options.signature, &x, &y, &plain)?;
    if let Some(path) = &options.out {
        let bytes: Vec<u8> = y.iter().flat_map(|&y| y.into().to_bytes()).collect();
        std::fs::write(path, bytes).map_err(|error| Failure::Run(format!("{}: {error}", path.display())))?;
    }
    say!("The filter was compiled for its coefficients:\n\n{}\n\n{verdict}", indented(&recurrence.explain()));
    if x.is_empty() {
        return Ok(());
    }

    let rounding = if cfg!(target_feature = "fma") { "a loop of `mul_add`" } else { "a plain loop" };
    say!(
        "\nSpeed on {}, {} samples of {}, beside {rounding} and a copy of as many bytes:",
        options.device,
        x.len(),
        T::TYPE
    );
    let race = Race {
        sequential: &mut || filter_sequentially(&options.signature, &x, &mut plain),
        scan: &mut || recurrence.filter_into(&x, &mut y).map(drop).expect("it ran before"),
        bytes: 2 * size_of_val(&*x),
    };
    race.run(x.len(), "sample");
    Ok(())
}

/// Compares the scan and the plain loop with 32-digit arithmetic, relative to the largest output. The scan may be off
/// by a few roundings, or by a few times what the plain loop is off where the recurrence itself magnifies rounding.
fn verify<T: Sample>(signature: &Signature, x: &[T], y: &[T], plain: &[T]) -> Result<String, Failure> {
    let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    let exact = filter_exactly(signature, &x);
    // From the first sample that this type cannot hold, there is nothing to compare.
    let finite = exact.iter().take_while(|&&y| T::from_f64(y).to_f64().is_finite()).count();
    let largest = exact[..finite].iter().fold(0.0f64, |largest, y| largest.max(y.abs()));
    let off = |y: &[T]| y.iter().zip(&exact[..finite]).map(|(y, exact)| (y.to_f64() - exact).abs()).fold(0.0, worse);
    let (scan, plain) = (off(y), off(plain));
    let (rounding, smallest) = if T::TYPE.size() == 4 { (1.2e-7, 1e-45) } else { (1e-12, 5e-324) };
    let report = format!(
        "{finite} of {} samples compared with 32-digit arithmetic, relative to the largest output, {largest:.3e}:\n\
         the scan is within {:.1e}, the plain loop within {:.1e}",
        x.len(),
        scan / largest.max(smallest),
        plain / largest.max(smallest)
    );
    if scan <= (rounding * largest).max(4.0 * plain) + smallest { Ok(report) } else { Err(Failure::Run(report)) }
}

/// The larger error; NaN is the worst.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn read<T: Sample>(path: &PathBuf) -> Result<Vec<T>, Failure> {
    let fail = |message: String| Failure::Run(format!("{}: {message}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let size = size_of::<T>();
    if bytes.len() % size != 0 {
        return Err(fail(format!("{} bytes are no whole number of {} samples", bytes.len(), T::TYPE)));
    }
    Ok(bytes.chunks_exact(size).map(|bytes| T::from_constant(Constant::from_bytes(T::TYPE, bytes))).collect())
}

/// A sine whose frequency rises from 0 to a quarter of the sampling rate.
fn chirp<T: Sample>(len: usize) -> Vec<T> {
    let phase = |i: usize| std::f64::consts::FRAC_PI_4 * (i as f64) * (i as f64) / len as f64;
    (0..len).map(|i| T::from_f64(phase(i).sin())).collect()
}

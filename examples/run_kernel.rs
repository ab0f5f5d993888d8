//! Runs a kernel that `emit` made, with the CUDA driver alone: no LLVM, and nothing is compiled
//! from programs.
//!
//! ```text
//! cargo run --release --features cuda --example run_kernel -- --kernel DIR/sum_i32 [--records N] [--device N]
//! ```
//!
//! Columns of small numbers are made as the manifest lays them out, carried to the device, and
//! scanned. The CPU engine scans the same columns by the program that the manifest has, and the
//! results are compared.

use std::path::PathBuf;
use std::process::ExitCode;

use common::{Failure, finish, say};
use monoscan::cuda::{Device, DeviceBuffer, Event, Stream};
use monoscan::gpu::{AotKernel, AotManifest};
use monoscan::ir::{Constant, Layout, Type};
use monoscan::{Call, Column, ColumnMut, DynScan};

mod common;

const USAGE: &str = "run_kernel --kernel PATH [--records N] [--device N]";

struct Options {
    kernel: PathBuf,
    records: usize,
    device: usize,
}

fn main() -> ExitCode {
    finish(options().and_then(run), USAGE)
}

fn options() -> Result<Options, Failure> {
    let (mut kernel, mut records, mut device) = (None, 1 << 24, 0);
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        let mut value = || arguments.next().ok_or_else(|| Failure::Usage(format!("{argument} needs a value")));
        match &*argument {
            "--kernel" => kernel = Some(value()?.into()),
            "--records" => records = number(&value()?.to_string_lossy())?,
            "--device" => device = number(&value()?.to_string_lossy())?,
            _ => return Err(Failure::Usage(format!("unknown argument `{argument}`"))),
        }
    }
    let kernel =
        kernel.ok_or_else(|| Failure::Usage("--kernel is missing: the path of a kernel without its end".into()))?;
    Ok(Options { kernel, records, device })
}

fn number(text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("`{text}` is no number")))
}

fn run(options: Options) -> Result<(), Failure> {
    let kernel = AotKernel::from_files(&options.kernel)?;
    let manifest = kernel.manifest()?;
    if manifest.form().heads {
        return Err(Failure::Run("a kernel for flagged segments: this example has no column of flags".into()));
    }
    let device = Device::cuda(options.device)?;
    // SAFETY: the caller of this example vouches for the files: PTX and manifest as `emit` wrote them.
    let scan = unsafe { DynScan::from_kernels(device, &[kernel]) }?;
    say!("{} for {}: {}", manifest.program.name, manifest.arch, manifest.launch.plan);
    let inputs: Vec<Vec<u8>> = manifest.program.inputs.iter().map(|layout| numbers(layout, options.records)).collect();
    let outputs = on_device(&scan, &manifest, &inputs, options.records)?;
    compare(&scan, &manifest, &inputs, &outputs)
}

/// The outputs of the scan; prints how fast it is.
fn on_device(
    scan: &DynScan,
    manifest: &AotManifest,
    inputs: &[Vec<u8>],
    records: usize,
) -> Result<Vec<Vec<u8>>, Failure> {
    let (reads, writes) = (&scan.program().inputs, &scan.program().output.columns);
    let device = scan.device().as_cuda().ok_or_else(|| Failure::Run("the scan is on the CPU".into()))?;
    let stream = Stream::new(device)?;
    let from = inputs.iter().map(|bytes| DeviceBuffer::from_slice(&stream, bytes)).collect::<Result<Vec<_>, _>>()?;
    let space = |layout: &Layout| DeviceBuffer::<u8>::zeroed(&stream, records * layout.size as usize);
    let mut to = writes.iter().map(space).collect::<Result<Vec<_>, _>>()?;
    let call = Call { mode: manifest.form().mode, ..Call::default() };
    let (began, ended) = (Event::new(device)?, Event::new(device)?);
    let (mut best, mut written) = (f32::INFINITY, 0);
    for _ in 0..10 {
        let columns = from.iter().zip(reads).map(|(bytes, layout)| Column::on_device_bytes(bytes, layout));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let results = to.iter_mut().zip(writes).map(|(bytes, layout)| ColumnMut::on_device_bytes(bytes, layout));
        let mut results = results.collect::<Result<Vec<_>, _>>()?;
        began.record(&stream)?;
        let pending = scan.submit(&call, &columns, &mut results, &stream)?;
        ended.record(&stream)?;
        written = pending.wait()?.written;
        ended.synchronize()?;
        best = best.min(ended.milliseconds_since(&began)?);
    }
    let bytes: u64 = reads.iter().chain(writes).map(|layout| u64::from(layout.size)).sum();
    let speed = bytes as f64 * records as f64 / f64::from(best) / 1e6;
    say!("{records} records in, {written} out, best of 10 runs: {best:.3} ms, {speed:.0} GB/s read and written");
    let cut = |(bytes, layout): (&DeviceBuffer<u8>, &Layout)| {
        let mut bytes = bytes.to_vec(&stream)?;
        bytes.truncate(written * layout.size as usize);
        Ok(bytes)
    };
    to.iter().zip(writes).map(cut).collect()
}

/// Compares outputs with those of the CPU engine.
fn compare(scan: &DynScan, manifest: &AotManifest, inputs: &[Vec<u8>], outputs: &[Vec<u8>]) -> Result<(), Failure> {
    let (reads, writes) = (&scan.program().inputs, &scan.program().output.columns);
    let columns = inputs.iter().zip(reads).map(|(bytes, layout)| Column::from_bytes(bytes, layout));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let records = columns.first().map_or(0, Column::len);
    let mut expected: Vec<Vec<u8>> = writes.iter().map(|layout| vec![0; records * layout.size as usize]).collect();
    let results = expected.iter_mut().zip(writes).map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout));
    let mut results = results.collect::<Result<Vec<_>, _>>()?;
    let call = Call { mode: manifest.form().mode, ..Call::default() };
    scan.on(monoscan::Device::cpu())?.run(&call, &columns, &mut results)?;
    drop(results);
    for ((found, expected), layout) in outputs.iter().zip(&expected).zip(writes) {
        let size = layout.size as usize;
        for field in &layout.fields {
            let of = |record: &[u8]| Constant::from_bytes(field.ty, &record[field.offset as usize..]);
            let records = || found.chunks_exact(size).zip(expected.chunks_exact(size));
            let largest = match field.ty {
                Type::F32 | Type::F64 => records().map(|(_, record)| of(record).as_f64().abs()).fold(1.0, f64::max),
                _ => 1.0,
            };
            let differ = |&(_, (found, expected)): &(usize, (&[u8], &[u8]))| !near(of(found), of(expected), largest);
            if let Some((place, (found, expected))) = records().enumerate().find(differ) {
                let (found, expected) = (of(found), of(expected));
                return Err(Failure::Run(format!("record {place}: the device gives {found}, the CPU {expected}")));
            }
        }
    }
    say!("the CPU gives the same");
    Ok(())
}

/// Equal, or floats that differ by the rounding of another association, relative to the largest of them: where sums cross zero,
/// they are off by what they were before.
fn near(found: Constant, expected: Constant, largest: f64) -> bool {
    let tolerance = match found.ty() {
        Type::F32 => 1e-4,
        Type::F64 => 1e-10,
        _ => return found == expected,
    };
    (found.as_f64() - expected.as_f64()).abs() <= tolerance * largest
}

/// Records of small numbers: from −1 to 1 for floats, so that no product overflows, and from 0 to 126 for the rest.
fn numbers(layout: &Layout, records: usize) -> Vec<u8> {
    let mut bytes = vec![0; records * layout.size as usize];
    for (place, record) in bytes.chunks_exact_mut(layout.size.max(1) as usize).enumerate() {
        for (number, field) in layout.fields.iter().enumerate() {
            let drawn = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7 * number as u32) >> 40;
            let value = match field.ty {
                Type::F32 => Constant::from((drawn % 2001) as f32 / 1000.0 - 1.0),
                Type::F64 => Constant::from((drawn % 2001) as f64 / 1000.0 - 1.0),
                ty => ty.of_i64((drawn % 127) as i64),
            };
            record[field.offset as usize..][..field.ty.size()].copy_from_slice(&value.to_bytes());
        }
    }
    bytes
}

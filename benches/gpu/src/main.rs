//! monoscan, CUB and the speed of a GPU's memory, timed in one run.
//!
//! ```text
//! nvcc -O3 -std=c++17 -arch=sm_90 --extended-lambda -o target/cub_scan benches/peers/cub_scan.cu
//! cargo run --release -p gpu-bench --features gpu -- --cub target/cub_scan
//! cargo run --release -p gpu-bench --features gpu -- --quick --rows sum-i32,affine
//! cargo run --release -p gpu-bench --features gpu -- --ladder
//! cargo run --release -p gpu-bench --features gpu -- --algorithms --cub target/cub_algorithms
//! cargo run --release -p gpu-bench --features gpu -- --lexers
//! cargo run --release -p gpu-bench --features gpu -- --slices
//! ```
//!
//! Where the GPU is, there may be no Rust and no LLVM. A program that needs neither is made
//! elsewhere (`docs/contributing.md` says what has to be installed there for it):
//!
//! ```text
//! mkdir -p target/static/lib
//! for name in stdc++ z zstd ffi; do ln -sf "$(gcc -print-file-name=lib$name.a)" target/static/lib/lib$name.so; done
//! RUSTFLAGS="--cfg static_llvm -L native=$PWD/target/static/lib" CARGO_TARGET_DIR=target/static \
//!     cargo build --release --package gpu-bench --features gpu
//! strip target/static/release/gpu-bench
//! ```
//!
//! Nobody is timed whose results are not right: all of them, compared with the user's own Rust
//! operator on the host. A wrong result is printed as BAD, and the program fails in the end.
//!
//! Times are those between two events in a stream, around one call; the median of 25, after 5 to
//! warm up. The copy is `cuMemcpyDtoDAsync` of half of the bytes that the scan reads and writes,
//! timed right after it. CUB runs in a process of its own on the same device, with its own copy.
//! The driver caches what it compiles: `CUDA_CACHE_DISABLE=1` shows what kernels cost.
//!
//! | file | what it is |
//! |---|---|
//! | `rows/` | the operators, their data, and the bars; automata |
//! | `line.rs` | what results should be |
//! | `arena.rs` `bench.rs` | the device's memory; verification and timing |
//! | `cub.rs` `host.rs` | the rival; the CPU engine on all cores |
//! | `latency.rs` | from a new operator to its kernel |
//! | `lexers.rs` | labels by one scan and by two |
//! | `slices.rs` | scans of memory of the host |
//! | `algorithms/` | `monoscan::algo::on_gpu` beside CUB and cuSPARSE |
//! | `ladder.rs` `contender.rs` | schedules out of history, timed like ours |
//! | `report.rs` `plot.rs` | results |

mod algorithms;
mod arena;
mod bench;
mod contender;
mod cub;
mod host;
mod ladder;
mod latency;
mod lexers;
mod line;
mod options;
mod plot;
mod report;
mod rows;
mod slices;

use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use monoscan::Error;
use monoscan_runtime::DynScan;
use monoscan_runtime::cuda::Device;

use arena::{Arena, words};
use bench::Bench;
use contender::Contender;
use options::Options;
use report::Figures;
use rows::{ALL, Row};

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all results were right.
fn run(options: &Options) -> Result<bool, String> {
    let device = Device::cuda(options.device).map_err(|error| error.to_string())?;
    let facts = device.facts();
    let seed = options.seed.unwrap_or_else(clock);
    println!("{}, {}, driver {}, seed {seed}", facts.name, facts.architecture, facts.driver_version);
    if options.algorithms {
        return algorithms::measure(&monoscan::Device::cuda(options.device).map_err(words)?, options);
    }
    if options.lexers {
        return lexers::measure(&monoscan::Device::cuda(options.device).map_err(words)?, options);
    }
    if options.slices {
        return slices::measure(&monoscan::Device::cuda(options.device).map_err(words)?, options);
    }
    if options.ladder {
        let mut arena = Arena::new(&device).map_err(|error| error.to_string())?;
        let steps = ladder::measure(options, seed, (&device, &mut arena), |steps| {
            options.files.keep(|| ladder::to_csv(steps), || ladder::markdown(steps), String::new)
        })?;
        println!("\n{}", ladder::markdown(&steps));
        return Ok(ladder::are_right(&steps));
    }
    let cub = match &options.cub {
        Some(program) if !options.depth.verify => cub::Times::of(program, options),
        _ => Err("not asked for".to_owned()),
    };
    let cub = cub.unwrap_or_else(|why| {
        println!("CUB is absent: {why}");
        cub::Times::default()
    });

    let mut arena = Arena::new(&device).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for (row, number) in ALL.iter().zip(0..).filter(|(row, _)| options.wants(row.name)) {
        let (of_row, began) = (all.len(), Instant::now());
        // What is printed is kept even if the next row ends the program; so is what is written to files.
        if let Err(why) = measure(row, seed + 16 * number, options, (&device, &mut arena), &cub, &mut all) {
            println!("  BAD: {why}");
            all.push(Figures { wrong: Some(why), ..Figures::new(row, 1, 0) });
        }
        println!("  {} sizes in {:.1} s", all.len() - of_row, began.elapsed().as_secs_f64());
        keep(options, &all, None)?;
    }
    let samples = options.depth.choose(0, 5, 15);
    let latency = latency::measure(&device, seed, samples).map_err(words);
    let measured = latency.as_ref().ok().filter(|_| samples > 0);
    println!("\n{}", report::markdown(&all, measured));
    keep(options, &all, measured)?;
    latency?;
    Ok(all.iter().all(|figures| figures.wrong.is_none()))
}

/// A row at all sizes.
fn measure(
    row: &'static Row,
    seed: u64,
    options: &Options,
    (device, arena): (&Device, &mut Arena),
    cub: &cub::Times,
    all: &mut Vec<Figures>,
) -> Result<(), String> {
    println!("\n{} ({})", row.title, row.name);
    let mut sizes: Vec<u64> =
        options.sizes().into_iter().filter_map(|size| row.elements(size, arena.capacity())).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let Some(&most) = sizes.last() else { return Ok(()) };
    let subject = (row.make)(seed).map_err(words)?;
    let scan = bench::scan_of(subject.program(), device).map_err(words)?;
    println!("  {}", describe(&scan).map_err(words)?);
    let contender = Contender::Planned(Box::new(scan));
    let mut bench = Bench::new(row, &*subject, contender, arena, (most, options.effort())).map_err(words)?;
    for elements in sizes {
        let mut figures = Figures { cub: cub.get(row, elements), ..bench.measure(elements) };
        let is_timed = !options.no_host && !options.depth.verify && elements <= host::MOST;
        if is_timed && figures.wrong.is_none() {
            match host::measure(row, &*subject, elements) {
                Ok(times) => figures.host = Some(times),
                Err(why) => figures.wrong = Some(format!("on the host: {why}")),
            }
        }
        println!("{}", report::line(&figures));
        all.push(figures);
    }
    Ok(())
}

/// The plan, and what it took to make the kernel.
fn describe(scan: &DynScan) -> Result<String, Error> {
    let kernel = scan.kernel()?;
    let (times, facts) = (kernel.times(), kernel.code().facts());
    let [ptx, link, load] = [times.ptx, times.link, times.load].map(|time| time.as_secs_f64() * 1e3);
    let plan = &kernel.manifest().plan;
    Ok(format!("{plan}; {facts:?}; PTX in {ptx:.1} ms, linked in {link:.1} ms, loaded in {load:.1} ms"))
}

fn keep(options: &Options, all: &[Figures], latency: Option<&latency::Latency>) -> Result<(), String> {
    options.files.keep(|| report::to_csv(all), || report::markdown(all, latency), || plot::svg(all))
}

/// Another number each time.
fn clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

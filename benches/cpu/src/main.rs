//! monoscan, its rivals and the speed of memory, timed in one interleaved run.
//!
//! ```text
//! cargo xtask peers                                  builds the rivals in C++ and Python; without it they are absent
//! cargo run --release -p cpu-bench -- --bars         everything, some fifteen minutes
//! cargo run --release -p cpu-bench -- --quick --workload affine-f32
//! cargo run --release -p cpu-bench -- --small          no slower than the loop from 64 elements up? All rows of that bar
//! cargo run --release -p cpu-bench -- --busy           scans beside strangers that take the cores from them
//! cargo run --release -p cpu-bench -- --scaling        1, 2, 4, … threads, up to all cores
//! cargo run --release -p cpu-bench -- --simulate       more cores than there are
//! cargo run --release -p cpu-bench -- --compiling      from an operator to its first result
//! ```
//!
//! Nobody is timed whose results are not right: integers exactly, floating-point numbers beside a
//! computation in `f64`, tokens beside those of a plain automaton. An entrant that is absent is in
//! the table too, with the reason.
//!
//! | file | what it is |
//! |---|---|
//! | `workloads/` | the data and the entrants of each workload, and the bars |
//! | `fused.rs` `two_pass.rs` `automaton.rs` `peers.rs` | monoscan, and its rivals |
//! | `copies.rs` | the speed of memory |
//! | `race.rs` `output.rs` | verification and timing |
//! | `small/` | short lines, rows and segments of all kinds of operators |
//! | `busy/` | the same operators on a machine that is not quiet |
//! | `scaling.rs` `simulation.rs` | on few cores and many, and on more than there are |
//! | `compiling.rs` | how long compiling takes |
//! | `report.rs` `bars.rs` `table.rs` `plot.rs` `machine.rs` | results, and the machine they are of |
//! | `progress.rs` | how far a run is |
//!
//! Data, monoscan's side of each workload and the plain loops are in `benches/shared`.

mod automaton;
mod bars;
mod busy;
mod compiling;
mod copies;
mod fused;
mod machine;
mod options;
mod output;
mod peers;
mod plot;
mod progress;
mod race;
mod report;
mod scaling;
mod simulation;
mod small;
mod table;
mod two_pass;
mod workloads;

use std::process::ExitCode;

use bench_shared::report::{power, read};
use clap::Parser;

use options::Options;
use peers::Peers;
use progress::Progress;
use race::Effort;
use report::Row;
use workloads::{ALL, Session, Workload};

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

/// Whether all results that could be had were right.
fn run(options: &Options) -> Result<bool, String> {
    if let Some(seconds) = options.spin {
        busy::strangers::spin(seconds);
        return Ok(true);
    }
    if options.busy {
        return busy::run(options).map(|()| true);
    }
    if options.scaling {
        return scaling::run(options).map(|()| true);
    }
    if let Some(of) = &options.compiling {
        return compiling::run(of).map(|()| true);
    }
    if options.small {
        return small::run(options);
    }
    if options.simulate {
        return simulation::run(options).map(|()| true);
    }
    let rows = if options.from.is_empty() { measure(options)? } else { earlier(options)? };
    if options.bars {
        bars::print(&rows);
    }
    options.files.keep(|| report::to_csv(&rows), || table::markdown(&rows), || plot::svg(&rows))?;
    let wrong: Vec<&Row> = rows.iter().filter(|row| row.is_wrong()).collect();
    for Row { name, workload, elements, absent, .. } in &wrong {
        eprintln!("{workload}, {elements} elements, {name}: {}", absent.as_deref().unwrap_or_default());
    }
    Ok(wrong.is_empty())
}

fn measure(options: &Options) -> Result<Vec<Row>, String> {
    // Rivals on rayon have two threads, however many cores there are.
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().map_err(|error| error.to_string())?;
    let session = Session {
        peers: if options.rust_only { Peers::none() } else { Peers::find() },
        effort: options.depth.choose(Effort::VERIFY, Effort::QUICK, Effort::FULL),
        json: options.json.as_deref().map(read).transpose()?,
    };
    println!("{}", machine::describe());
    let mut rows = Vec::new();
    let sizes = |workload: &Workload| {
        let name = workload.name;
        options.sizes().into_iter().filter(move |&elements| options.wants(name, elements))
    };
    let mut progress = Progress::new(ALL.iter().map(|workload| sizes(workload).count()).sum());
    for workload in &ALL {
        for elements in sizes(workload) {
            progress.next(workload.title, elements);
            if let Some(needed) = short_of_memory(workload, elements) {
                progress.clear();
                let (size, mebibytes) = (power(elements as u64), needed >> 20);
                println!("\n{}, {size} elements: left out, {mebibytes} MiB of memory are not free", workload.title);
                continue;
            }
            let results = workload.run(&session, elements);
            progress.clear();
            report::print(&results, workload.title, workload.baseline);
            rows.extend(results);
        }
    }
    println!("\n{}", machine::describe());
    Ok(rows)
}

/// The bytes that a workload needs, if that many are not free.
fn short_of_memory(workload: &Workload, elements: usize) -> Option<u64> {
    let needed = workload.held as u64 * elements as u64;
    machine::free_memory().is_some_and(|free| free < needed).then_some(needed)
}

/// The results of earlier runs, as far as they were asked for.
fn earlier(options: &Options) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for file in &options.from {
        let text = String::from_utf8(read(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        rows.extend(report::from_csv(&text).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    rows.retain(|row| options.wants(&row.workload, row.elements));
    // A file has all rows of a workload and size together.
    for race in rows.chunk_by(|p, q| (&p.workload, p.elements) == (&q.workload, q.elements)) {
        if let Some(workload) = ALL.iter().find(|workload| workload.name == race[0].workload) {
            report::print(race, workload.title, workload.baseline);
        }
    }
    Ok(rows)
}

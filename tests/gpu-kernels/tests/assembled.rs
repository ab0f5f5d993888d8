//! NVIDIA's assembler takes every program's kernels, by every plan that the planner has for it, and
//! finds registers for them.
//!
//! Each of these kernels is assembled for one architecture, in turn, so that each architecture has
//! kernels of each plan. `MONOSCAN_ROUNDS=2` assembles all of them for every architecture.

use std::collections::HashMap;
use std::fmt;
use std::mem::discriminant;
use std::sync::Mutex;
use std::thread;

use monoscan_codegen::gpu::{AccessPattern, Arch, Schedule};
use monoscan_codegen::nvptx::{KernelIr, KernelPlan, PlanError};
use monoscan_ir::transform::{Form, lower};
use scan_gpu_kernels::{Case, by_hand, of_the_zoo, of_wide_states};
use scan_kit::ptxas;

/// States of so many bytes, in all stages together, fit in registers beside all else.
const SMALL_STATE: usize = 64;

/// In blocks of more threads, the warp that looks ahead keeps some of its window on the stack: up to so many times a state, of which each may be
/// read in two places.
const MANY_THREADS: usize = 512;
const WINDOW: usize = 16;

/// A kernel to be assembled.
struct Job {
    program: String,
    state_bytes: usize,
    pattern: AccessPattern,
    arch: Arch,
    plan: KernelPlan,
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({:?}, {})", self.arch, self.program, self.pattern, self.plan.plan())
    }
}

impl Job {
    /// Compiles and assembles it. The error says what is wrong with it.
    fn run(&self) -> Result<(), String> {
        let ir = KernelIr::new(&self.plan);
        let ptx = ir.compile().map_err(|error| error.to_string())?;
        if let Some(line) = narrow_float_store(&ptx) {
            return Err(format!("`{line}` is assembled to a conversion"));
        }
        let report = ptxas::assemble(&ptx, self.arch.name())?;
        let number =
            |after: &str| -> Option<usize> { report[..report.find(after)?].split_whitespace().last()?.parse().ok() };
        let numbers = [" bytes spill stores", " bytes spill loads", " registers"].map(number);
        let [Some(stored), Some(loaded), Some(registers)] = numbers else { return Err(report) };
        println!("{self}: {registers} registers, {stored} + {loaded} bytes spilled");
        let window = WINDOW * self.state_bytes;
        let is_window = ir.manifest.threads > MANY_THREADS && stored <= window && loaded <= 2 * window;
        match stored + loaded == 0 || self.state_bytes > SMALL_STATE || is_window {
            true => Ok(()),
            false => {
                Err(format!("{stored} bytes are spilled, and {loaded} read again, for states of {}", self.state_bytes))
            }
        }
    }
}

/// The kernels of a program that there are: every plan for every architecture.
fn jobs(case: &Case, heads: bool) -> Vec<Job> {
    let program = lower(&case.program, Form { heads, previous: true, ..Form::default() });
    let state_bytes = program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size()).sum();
    let mut jobs: Vec<Job> = Vec::new();
    for (arch, pattern) in Arch::ALL.into_iter().flat_map(|arch| AccessPattern::ALL.map(|pattern| (arch, pattern))) {
        let plan = match KernelPlan::new(&program, pattern, arch) {
            Ok(plan) => plan,
            Err(PlanError::Keeps | PlanError::NoTile) => continue,
            Err(error) => panic!("{error}\n{}", *program),
        };
        // Two access patterns may have one plan.
        if jobs.iter().all(|job| (job.arch, job.plan.plan()) != (arch, plan.plan())) {
            jobs.push(Job { program: program.name.clone(), state_bytes, pattern, arch, plan });
        }
    }
    assert!(!jobs.is_empty(), "no plan fits\n{}", *program);
    jobs
}

/// Of the kernels that are alike, one: another at each turn.
fn in_turn(mut jobs: Vec<Job>, turn: usize, are_alike: impl Fn(&Job, &Job) -> bool) -> Vec<Job> {
    let (mut picked, mut kinds) = (Vec::new(), 0);
    while !jobs.is_empty() {
        let first = jobs.remove(0);
        let (mut alike, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| are_alike(&first, job));
        alike.insert(0, first);
        picked.push(alike.swap_remove((turn + kinds) % alike.len()));
        kinds += 1;
        jobs = others;
    }
    picked
}

/// Whether two kernels of a program differ in their architectures alone.
fn of_a_kind(one: &Job, other: &Job) -> bool {
    let kind = |job: &Job| {
        let apart =
            [AccessPattern::Short, AccessPattern::Shifted].into_iter().position(|pattern| pattern == job.pattern);
        (discriminant(&job.plan.plan().schedule), apart)
    };
    kind(one) == kind(other)
}

/// A store of some bytes of a register that an operation on floats wrote. The assembler takes it for a conversion to an integer.
fn narrow_float_store(ptx: &str) -> Option<&str> {
    let mut floats: HashMap<&str, usize> = HashMap::new();
    let bits = |opcode: &str| opcode.rsplit('.').next()?.get(1..)?.parse::<usize>().ok();
    ptx.lines().map(str::trim).find(|line| {
        let mut words = line.trim_end_matches(';').split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let Some(opcode) = words.find(|word| !word.starts_with('@')) else { return false };
        if opcode.starts_with("st.") {
            let stored = words.next_back().and_then(|register| floats.get(register));
            return stored.zip(bits(opcode)).is_some_and(|(&float, stored)| stored < float);
        }
        if let Some(register) = words.next() {
            match opcode.rsplit('.').next() {
                Some("f32" | "f64") => floats.insert(register, bits(opcode).unwrap_or(0)),
                _ => floats.remove(register),
            };
        }
        false
    })
}

#[test]
fn narrow_stores_of_floats_are_found() {
    let text =
        |between: &str| format!("\tselp.f32 \t%r1, %r2, %r3, %p1;\n{between}\t@%p2 st.global.b8 \t[%rd1+4], %r1;\n");
    assert_eq!(narrow_float_store(&text("")), Some("@%p2 st.global.b8 \t[%rd1+4], %r1;"));
    assert_eq!(narrow_float_store(&text("\tmov.b32 \t%r1, %r4;\n")), None);
    assert_eq!(narrow_float_store("\tadd.rn.f32 %r1, %r2, %r3;\n\tst.global.b32 [%rd1], %r1;\n"), None);
}

/// Whether all kernels are wanted.
fn everywhere() -> bool {
    std::env::var("MONOSCAN_ROUNDS").is_ok_and(|rounds| rounds != "1")
}

/// Assembles them on all cores, and panics with all that is wrong.
fn assemble(jobs: Vec<Job>) {
    let count = jobs.len();
    let (queue, wrong) = (Mutex::new(jobs.into_iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().expect("nobody panics while it is locked").next();
    let work = || {
        while let Some(job) = next() {
            if let Err(why) = job.run() {
                wrong.lock().expect("likewise").push(format!("{job}: {why}"));
            }
        }
    };
    thread::scope(|threads| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            threads.spawn(work);
        }
    });
    let wrong = wrong.into_inner().expect("likewise");
    println!("{count} kernels");
    assert!(wrong.is_empty(), "{} of {count} kernels are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn kernels_of_all_programs() {
    let everywhere = everywhere();
    let cases: Vec<Case> = by_hand().into_iter().chain(of_the_zoo()).collect();
    let of_case = |(turn, case): (usize, &Case)| {
        let all = jobs(case, false);
        if everywhere { all } else { in_turn(all, turn, of_a_kind) }
    };
    let mut all: Vec<Job> = cases.iter().enumerate().flat_map(of_case).collect();
    // Flagged segments are part of the program, and most alike in all of them.
    let sum = cases.iter().find(|case| case.program.name == "sum_i32").expect("sums are among the programs");
    all.extend(jobs(sum, true));
    for arch in Arch::ALL {
        for pattern in [AccessPattern::Aligned, AccessPattern::Short, AccessPattern::Columnar] {
            assert!(
                all.iter().any(|job| (job.arch, job.pattern) == (arch, pattern)),
                "{arch} has no kernel for {pattern:?}"
            );
        }
    }
    assemble(all);
}

/// Rings of every plan: blocks of other numbers of threads have other numbers of registers for each.
#[test]
fn kernels_of_wide_states() {
    let of_case = |(turn, case): (usize, &Case)| {
        let all = jobs(case, false);
        if everywhere() {
            return all;
        }
        let is_ring = |job: &Job| matches!(job.plan.plan().schedule, Schedule::Ring { .. });
        let (rings, others): (Vec<Job>, Vec<Job>) = all.into_iter().partition(is_ring);
        let mut picked = in_turn(rings, turn, |one, other| one.plan.plan() == other.plan.plan());
        picked.extend(in_turn(others, turn, of_a_kind));
        picked
    };
    assemble(of_wide_states().iter().enumerate().flat_map(of_case).collect());
}

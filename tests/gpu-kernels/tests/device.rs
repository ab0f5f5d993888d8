//! The emulator's launches on a device: the whole zoo and more, by every schedule, with small tiles
//! and with those of the planner, around their boundaries.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use monoscan_codegen::gpu::{AccessPattern, Arch, GpuPlan};
use monoscan_codegen::nvptx::KernelPlan;
use monoscan_ir::transform::{Form, lower};
use scan_gpu_kernels::{Call, Case, OnDevice, SCHEDULES, Subject, by_hand, form, of_the_zoo, random_cases, small_plan};
use scan_kit::Random;

/// About the most records of a call.
const MOST: usize = 60_000;

/// The schedules, with small tiles, and then what the planner asks for.
fn plans(random: &mut Random, case: &Case, form: Form) -> Vec<GpuPlan> {
    let small = SCHEDULES.map(|schedule| small_plan(random, case, form, schedule));
    let program = lower(&case.program, form);
    let planned =
        [AccessPattern::Aligned, AccessPattern::Shifted, AccessPattern::Short, AccessPattern::Any].into_iter();
    let mut plans: Vec<GpuPlan> = planned
        .flat_map(|pattern| KernelPlan::new(&program, pattern, Arch::Sm90).map(|plan| plan.plan().clone()))
        .chain(small)
        .collect();
    let mut seen = Vec::new();
    plans.retain(|plan| {
        !seen.contains(plan) && {
            seen.push(plan.clone());
            true
        }
    });
    plans
}

#[test]
#[ignore = "needs a CUDA device"]
fn every_program_by_every_schedule() {
    let makers: Vec<fn() -> Vec<Case>> = vec![by_hand, of_the_zoo, || random_cases(0..24)];
    let cases: Vec<(usize, usize)> =
        makers.iter().enumerate().flat_map(|(maker, make)| (0..make().len()).map(move |case| (maker, case))).collect();
    let (next, kernels, calls) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    let work = || {
        let all: Vec<Vec<Case>> = makers.iter().map(|make| make()).collect();
        while let Some(&(maker, place)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (case, random) = (&all[maker][place], &mut Random((100 * maker + place) as u64));
            let form = form(random);
            for plan in plans(random, case, form) {
                let Ok(subject) = Subject::new(case, form, &plan) else { continue };
                let mut device = OnDevice::new(&subject).expect("a device that takes the kernel");
                kernels.fetch_add(1, Ordering::Relaxed);
                for _ in 0..3 {
                    let asked: Vec<Call> = (0..4).map(|_| Call::random(random, &subject, MOST)).collect();
                    calls.fetch_add(asked.len(), Ordering::Relaxed);
                    if let Err(failure) = subject.run_on(&mut device, &asked) {
                        failures.lock().expect("whole").push(format!("{}: {failure}\n{asked:?}", subject.name()));
                    }
                }
            }
        }
    };
    thread::scope(|threads| (0..12).for_each(|_| drop(threads.spawn(work))));
    println!("{} programs, {kernels:?} kernels, {calls:?} launches", cases.len());
    let failures = failures.into_inner().expect("whole");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

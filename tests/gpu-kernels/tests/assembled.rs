//! NVIDIA's assembler takes the kernels that the planner asks for, on every architecture, and finds registers for small states.
//!
//! `MONOSCAN_ROUNDS=2` assembles the kernels of all programs; else some that differ most.

#[path = "../../../scan-codegen/tests/ptxas/mod.rs"]
mod ptxas;

use scan_codegen::gpu::{Arch, GpuPlan, Schedule};
use scan_codegen::nvptx::{self, NvptxError};
use scan_gpu_kernels::{Case, by_hand, of_the_zoo};
use scan_ir::facts::Facts;
use scan_ir::transform::{Form, lower};
use scan_ir::{Program, Verified};

/// States of so many bytes, in all stages together, fit in registers beside all else.
const SMALL_STATE: usize = 16;

/// Bytes that the kernel stores and loads because registers do not suffice; none if the plan does not fit.
fn spills(program: &Verified<Program>, plan: &GpuPlan, arch: Arch) -> Option<usize> {
    let kernel = match nvptx::compile(program, &Facts::of(program), plan, arch) {
        Ok(kernel) => kernel,
        Err(NvptxError::Plan(_)) => return None,
        Err(error) => panic!("{error}\n{plan}\n{}", **program),
    };
    let assembled = ptxas::assemble(&kernel.text, arch.name());
    let report = assembled.unwrap_or_else(|error| panic!("{error}\n{plan}\n{}", **program));
    let number =
        |after: &str| -> Option<usize> { report[..report.find(after)?].split_whitespace().last()?.parse().ok() };
    let numbers = [" bytes spill stores", " bytes spill loads", " registers"].map(number);
    let [Some(stored), Some(loaded), Some(registers)] = numbers else { panic!("{report}") };
    println!("{arch} {}: {registers} registers, {stored} + {loaded} bytes spilled; {plan}", program.name);
    Some(stored + loaded)
}

fn state_bytes(program: &Program) -> usize {
    program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size()).sum()
}

/// Small states are not spilled. Returns how many kernels there were.
fn assemble(case: &Case, heads: bool, plans: &[GpuPlan], arch: Arch) -> usize {
    let program = lower(&case.program, Form { heads, ..Form::default() });
    let spilled = plans.iter().filter_map(|plan| Some((plan, spills(&program, plan, arch)?)));
    let check = |(plan, spilled): (&GpuPlan, usize)| {
        let fits = state_bytes(&program) <= SMALL_STATE;
        assert!(spilled == 0 || !fits, "{arch}: {spilled} bytes are spilled by {plan}\n{}", *program);
    };
    spilled.map(check).count()
}

fn plans(case: &Case, heads: bool, arch: Arch) -> Vec<GpuPlan> {
    let program = lower(&case.program, Form { heads, ..Form::default() });
    let mut plans = GpuPlan::candidates(&program, arch);
    plans.extend(GpuPlan::small(&program, arch));
    plans.push(GpuPlan::columnar());
    plans
}

fn cases(names: &[&str]) -> Vec<Case> {
    let all = std::env::var("MONOSCAN_ROUNDS").is_ok_and(|rounds| rounds != "1");
    let cases: Vec<Case> = by_hand().into_iter().chain(of_the_zoo()).collect();
    let picked: Vec<Case> =
        cases.into_iter().filter(|case| all || names.contains(&case.program.name.as_str())).collect();
    assert!(picked.len() >= names.len(), "{names:?}");
    picked
}

/// On one architecture, what the planner asks for.
#[test]
fn kernels_of_many_programs() {
    for case in cases(&["cascade_of_three", "brackets", "padded", "lexer", "Wide", "Matrix<3>"]) {
        let kernels = assemble(&case, false, &plans(&case, false, Arch::Sm90), Arch::Sm90);
        assert!(kernels > 0, "{}: no kernel", *case.program);
    }
}

/// On every architecture, the best plan; of an old one that is no ring.
#[test]
fn kernels_for_every_architecture() {
    for case in cases(&["sum_u8", "unitriangular_u32", "Affine<f64>"]) {
        for arch in Arch::ALL {
            let plans = plans(&case, false, arch);
            let best = plans.into_iter().rfind(|plan| match plan.schedule {
                Schedule::Ring { .. } => true,
                Schedule::LookBack => !arch.has_bulk_copies(),
                Schedule::Columnar => false,
            });
            assert_eq!(assemble(&case, false, best.as_slice(), arch), 1, "{arch}: {}", *case.program);
        }
    }
}

#[test]
fn kernels_of_segments() {
    for case in cases(&["sum_i32"]) {
        assemble(&case, true, &plans(&case, true, Arch::Sm90), Arch::Sm90);
    }
}

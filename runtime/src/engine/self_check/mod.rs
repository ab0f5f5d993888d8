//! Compiled kernels against the interpreter, before anybody may call them.
//!
//! A fault of the code generator would be a wrong answer. So when kernels were compiled, all of them scan a few hundred sample
//! records, in every walk that the plan may take: one sequential pass; strips, by kernels that reduce and replay or by one that does
//! both; strips that keep whole states; and the kernel for short lines. The outputs must be the interpreter's, or
//! [`Error::Miscompiled`] says where they are not. That takes about a millisecond.
//!
//! Kernels regroup. So samples on which regrouping changes nothing are looked for first: there all bits must agree. If rounding
//! always shows, floats must agree within a tolerance where the interpreter's own regroupings do. A user who vouches for an operator
//! by `assume_associative`, and integers that overflow, are no faults of the compiler: samples where the interpreter itself
//! depends on the association by more than rounding are not judged.

mod expected;
mod sample;

use scan_codegen::cpu::{Access, SHORT_INPUTS};
use scan_codegen::plan::Plan;
use scan_ir::{Constant, Layout, Program, Verified};

use self::expected::{Difference, Expected};
use self::sample::{Kind, Sample};
use super::line::{Bases, Line};
use super::slots::Slots;
use super::variant::Kernels;
use super::walk::Cut;
use crate::error::Error;

/// Elements of a block: a multiple of every group of a kernel in vectors; and not, so that other kernels have the rest.
const WHOLE_GROUPS: usize = 32;
const BROKEN_GROUPS: usize = 35;

/// Elements of a block, where one takes so many instructions that the interpreter would take too long.
const FEW: usize = 3;
const MANY_INSTRUCTIONS: usize = 150;

/// Kernels of a lowered program with its plan.
pub(super) struct Check<'a> {
    pub(super) program: &'a Verified<Program>,
    pub(super) plan: &'a Plan,
    pub(super) kernels: &'a Kernels,
    pub(super) access: Access,
    /// For each stage the state that runs start from.
    pub(super) seeds: &'a [Vec<Constant>],
}

/// How a sample is walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Walk {
    OnePass,
    Strips { block: usize, totals: bool },
    Short,
}

impl Check<'_> {
    /// Runs every walk on samples.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if outputs differ from the interpreter's.
    pub(super) fn run(&self) -> Result<(), Error> {
        let (whole, broken) = if self.is_slow() { (FEW, FEW) } else { (WHOLE_GROUPS, BROKEN_GROUPS) };
        let walks = [
            Walk::OnePass,
            Walk::Strips { block: whole, totals: false },
            Walk::Strips { block: broken, totals: false },
            Walk::Strips { block: broken, totals: true },
            Walk::Short,
        ];
        // A strip, one of shorter blocks, and a rest.
        let len = self.plan.ways * (broken + 2) + 1;
        let mut first = None;
        for kind in Kind::ALL {
            let sample = Sample::new(self.program, len, kind);
            let expected = Expected::new(self.program, &sample, self.seeds);
            if !expected.is_comparable() {
                continue;
            }
            let differing = walks.iter().find_map(|&walk| Some((walk, expected.differs(&self.walk(walk, &sample)?)?)));
            match differing {
                None => return Ok(()),
                Some((walk, difference)) => {
                    first.get_or_insert(miscompiled(walk, difference));
                    // Rounding may decide a comparison otherwise, though hardly so in every sample.
                    if expected.is_exact() {
                        break;
                    }
                }
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Whether the interpreter takes long for an element. Kernels in vectors need many elements all the same.
    fn is_slow(&self) -> bool {
        let stages = self.program.stages.iter();
        let instructions: usize = stages.map(|stage| stage.lift.function.insts.len() + stage.combine.insts.len()).sum();
        instructions > MANY_INSTRUCTIONS && !self.kernels.code.is_in_vectors()
    }

    /// The output columns that a walk writes, as many records as it wrote; none if there is no such kernel.
    fn walk(&self, walk: Walk, sample: &Sample) -> Option<Vec<Vec<u8>>> {
        let layouts = &self.program.output.columns;
        let keeps = self.program.output.keep.is_some();
        let is_reversed = self.access == Access::Strided;
        let columns = sample.columns.iter().zip(&self.program.inputs);
        let inputs: Vec<Vec<u8>> = columns
            .map(|(column, layout)| if is_reversed { reversed(column, layout) } else { column.clone() })
            .collect();
        let mut outputs: Vec<Vec<u8>> =
            layouts.iter().map(|layout| vec![0; sample.len * layout.size as usize]).collect();
        let from: Bases<*const u8> = inputs.iter().map(|column| column.as_ptr()).collect();
        let to: Bases<*mut u8> = outputs.iter_mut().map(|column| column.as_mut_ptr()).collect();

        if walk == Walk::Short {
            let short = self.kernels.code.short().filter(|_| !is_reversed)?;
            let [a, b, c, d]: [*const u8; SHORT_INPUTS] =
                std::array::from_fn(|at| from.get(at).copied().unwrap_or_default());
            // SAFETY: the columns have the program's layouts and as many records; the kernel is `self`'s.
            unsafe { short(sample.len, to[0], a, b, c, d) };
            return Some(outputs);
        }
        let code = &self.kernels.code;
        let state = (0..).zip(self.seeds).flat_map(|(stage, state)| {
            (0..)
                .zip(state)
                .filter_map(move |(component, &value)| Some((code.state_layout().field(stage, component)?, value)))
        });
        let seed = Slots::one(code.state_layout(), state);
        let mut plan = self.plan.clone();
        if let Walk::Strips { block, .. } = walk {
            plan.block = block;
        }
        let line = Line {
            kernels: self.kernels,
            plan: &plan,
            inputs: from,
            outputs: to,
            len: sample.len,
            first: 0,
            place: if is_reversed { sample.len - 1 } else { 0 },
            step: if is_reversed { -1 } else { 1 },
            flags: None,
            seed: &seed,
            carry: &seed,
            writes: true,
            is_long: false,
            totals: matches!(walk, Walk::Strips { totals: true, .. }),
        };
        let after = match walk {
            Walk::OnePass | Walk::Short => line.in_one_pass(),
            Walk::Strips { .. } => line.in_strips(Cut::Strips),
        };
        let count = super::kept(self.kernels, self.program, &after).unwrap_or(sample.len);
        for (column, layout) in outputs.iter_mut().zip(layouts) {
            column.truncate(count * layout.size as usize);
            if is_reversed && !keeps {
                *column = reversed(column, layout);
            }
        }
        Some(outputs)
    }
}

fn reversed(column: &[u8], layout: &Layout) -> Vec<u8> {
    column.chunks(layout.size as usize).rev().flatten().copied().collect()
}

fn miscompiled(walk: Walk, difference: Difference) -> Error {
    let Difference { column, record, expected, got } = difference;
    let walk = match walk {
        Walk::OnePass => "in one pass".to_owned(),
        Walk::Strips { block, totals: false } => format!("in blocks of {block}"),
        Walk::Strips { block, totals: true } => format!("in blocks of {block}, with whole states"),
        Walk::Short => "by the kernel for short lines".to_owned(),
    };
    Error::Miscompiled { walk, column, record, expected, got }
}

#[cfg(test)]
mod tests {
    use scan_codegen::cpu::{Compiled, HostIsa};
    use scan_codegen::plan::{PlanOptions, plan};
    use scan_codegen::target::CpuTarget;
    use scan_ir::facts::Facts;
    use scan_ir::transform::{Form, lower};
    use scan_ir::{text, verify};

    use super::*;
    use crate::engine::known::Known;
    use crate::engine::variant::Sizes;

    /// Scans by an operator of one type.
    fn program(ty: &str, identity: &str, opcode: &str) -> Verified<Program> {
        let column = format!("{{ size 4, align 4, {ty} @ 0 }}");
        let source = format!(
            "program {opcode}
               input {column}
               stage ({ty})
                 identity ({identity})
                 lift (%0 = record.0: {ty}) {{ return %0 }}
                 combine (%0: {ty}, %1: {ty}) {{
                   %2 = {opcode}.{ty} %0, %1
                   return %2
                 }}
               output write
                 column {column}
                 project (%0 = state.0: {ty}) {{ return %0 }}"
        );
        lower(&verify(text::parse(&source).unwrap()).unwrap(), Form::default())
    }

    /// Checks the kernels of one program as if they were those of another.
    fn check(
        kernels_of: &Verified<Program>,
        program: &Verified<Program>,
        ways: usize,
        access: Access,
    ) -> Result<(), Error> {
        let (facts, isa) = (Facts::of(kernels_of), HostIsa::native().unwrap());
        let options = PlanOptions { ways: Some(ways), ..PlanOptions::default() };
        let plan = plan(kernels_of, &facts, &CpuTarget::host(), &options);
        let code = Compiled::in_vectors(kernels_of, &facts, access, ways as u32, plan.vector, &isa).unwrap();
        let known = Known::new(kernels_of, &code, plan.block);
        let kernels = Kernels { code, known, sizes: Sizes::of(kernels_of), restarts: None };
        let seeds = [program.stages[0].identity.clone()];
        Check { program, plan: &plan, kernels: &kernels, access, seeds: &seeds }.run()
    }

    #[test]
    fn kernels_of_another_operator_are_refused() {
        let programs = [program("i32", "0", "add"), program("i32", "0", "xor"), program("i32", "-2147483648", "max")];
        for (ways, access) in [(1, Access::Line), (4, Access::Line), (2, Access::Strided)] {
            for (i, kernels_of) in programs.iter().enumerate() {
                for (j, program) in programs.iter().enumerate() {
                    match check(kernels_of, program, ways, access) {
                        Ok(()) => assert_eq!(i, j),
                        Err(error) => {
                            assert!(i != j && matches!(error, Error::Miscompiled { .. }), "{error}");
                            assert!(error.to_string().contains("output column 0"), "{error}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn floats_that_round_are_compared_too() {
        // Regrouping changes the last places of a mean of 0.1 and 0.7, so no sample is exact.
        let mean = |weight: &str| {
            let source = format!(
                "program decay
                   input {{ size 4, align 4, f32 @ 0 }}
                   stage (f32, f32)
                     identity (1, 0)
                     lift (%0 = record.0: f32) {{
                       %1 = const.f32 {weight}
                       %2 = mul.f32 %0, %1
                       return %1, %2
                     }}
                     combine (%0: f32, %1: f32, %2: f32, %3: f32) {{
                       %4 = mul.f32 %2, %0
                       %5 = mul.f32 %2, %1
                       %6 = add.f32 %5, %3
                       return %4, %6
                     }}
                   output write
                     column {{ size 4, align 4, f32 @ 0 }}
                     project (%0 = state.1: f32) {{ return %0 }}"
            );
            lower(&verify(text::parse(&source).unwrap()).unwrap(), Form::default())
        };
        let (one, other) = (mean("0.7"), mean("0.71"));
        assert!(check(&one, &one, 4, Access::Line).is_ok());
        assert!(matches!(check(&one, &other, 4, Access::Line), Err(Error::Miscompiled { .. })));
    }

    #[test]
    fn an_operator_that_is_not_associative_is_no_fault_of_the_compiler() {
        let difference = program("i32", "0", "sub");
        assert!(check(&difference, &difference, 4, Access::Line).is_ok());
    }
}

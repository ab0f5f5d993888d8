//! Compiled kernels against the interpreter, before anybody may call them.
//!
//! A fault of the code generator would be a wrong answer. So a compiled kernel first scans a few
//! hundred sample records in the walk that it is for. Walks are one sequential pass; strips, by
//! kernels that reduce and replay or by one that does both; with whole states; past the caches; as
//! a short line, and as short rows. Outputs and states must be the interpreter's, or
//! [`Error::Miscompiled`] says where they are not. A walk of a narrow state takes about a third of
//! a millisecond, short rows some more.
//!
//! Kernels that take elements in order must agree in all bits. Others regroup. So samples on which
//! regrouping changes nothing are looked for first: there all bits must agree too. If rounding
//! always shows, floats must agree within a tolerance where the interpreter's own regroupings do.
//! Integers that overflow are no fault of the compiler, nor are powers that do. So samples where
//! the interpreter itself depends on the association by more than rounding are not judged, and
//! where something overflows a difference is none. Nor are kernels judged that regroup, where a
//! user vouches by `assume_associative` for laws that were not found to hold. Which zero a minimum
//! or maximum of two zeros gives is open.

mod expected;
mod results;
mod sample;
mod walks;

use monoscan_codegen::cpu::{Kernel, LONGEST_STRAIGHT_ROW};
use monoscan_codegen::plan::Association;
use monoscan_ir::derive::BLOCKS;
use monoscan_ir::facts::StageFacts;
use monoscan_ir::transform::{Lowered, SegmentStart};
use monoscan_ir::{Constant, Stage, laws};

use self::expected::{Expected, Written, is_beyond_laws};
pub(super) use self::sample::{Kind, Sample};
pub(super) use self::walks::Walks;
use super::variant::{Kernels, Variant};
use crate::error::Error;
use crate::wrong::{Difference, Walk};

/// Elements of a block: a multiple of every group of a kernel in vectors; and not, so that other kernels have the rest.
const WHOLE_GROUPS: usize = 32;
const BROKEN_GROUPS: usize = 35;

/// Elements of a block, where one takes so many instructions that the interpreter would take too long.
const FEW: usize = 3;
const MANY_INSTRUCTIONS: usize = 150;

/// Records of short rows that are scanned, at least.
const ROW_RECORDS: usize = 24;

/// Records of a segment between offsets.
const SEGMENT: usize = 5;

/// Vectors of rows side by side, where there may be any number.
const MANY: usize = 3;

/// Walks samples with kernels of a form.
///
/// # Errors
/// [`Error::Miscompiled`] if what is written, or a state, is not the interpreter's.
pub(super) fn check(variant: &Variant, kernels: &Kernels, walks: Walks) -> Result<(), Error> {
    let is_judged = |walk: &Walk| variant.is_lawful || !walks::regroups(*walk, &kernels.code);
    let walks: Walks = walks.iter().filter(is_judged).collect();
    if walks.is_empty() {
        return Ok(());
    }
    Check { program: &variant.program, variant, kernels, init: &init(variant) }.every(walks)
}

/// Scans rows with their kernel.
///
/// # Errors
/// [`Error::Miscompiled`] if what is written is not the interpreter's.
pub(super) fn check_rows(variant: &Variant, kernels: &Kernels, kernel: Kernel) -> Result<(), Error> {
    Check { program: &variant.program, variant, kernels, init: &init(variant) }.rows_of(kernel)
}

/// Kernels, as those of a program.
struct Check<'a> {
    program: &'a Lowered,
    variant: &'a Variant,
    kernels: &'a Kernels,
    /// For each stage the state that sequences start from.
    init: &'a [Vec<Constant>],
}

/// The verdict of a sample on kernels.
enum Judged {
    /// They give what is expected.
    Same,
    /// They do not.
    Differs(Walk, Difference),
    /// Nothing: laws fail in it.
    Not,
}

impl Check<'_> {
    /// Those that keep the order of elements, then the others: together they would all be compared as loosely as these.
    fn every(&self, walks: Walks) -> Result<(), Error> {
        let regroups = |walk: &Walk| walks::regroups(*walk, &self.kernels.code);
        self.run(walks.iter().filter(|walk| !regroups(walk)).collect(), None)?;
        self.run(walks.iter().filter(regroups).collect(), Some(self.variant.plan.association))
    }

    /// These walks, all of which regroup where operators have that association, or none.
    fn run(&self, walks: Walks, regroups: Option<Association>) -> Result<(), Error> {
        if walks.is_empty() {
            return Ok(());
        }
        let (whole, broken) = if self.is_slow() { (FEW, FEW) } else { (WHOLE_GROUPS, BROKEN_GROUPS) };
        // A strip, one of shorter blocks, and a rest.
        let len = self.variant.plan.interleave * (broken + 2) + 1;
        // Shorter rows have kernels of their own.
        let longest_of_others = if walks.iter().any(|walk| walk == Walk::Rows) { LONGEST_STRAIGHT_ROW } else { 0 };
        let len = len.max(longest_of_others + 1);
        self.judge(len, regroups, |sample, expected| {
            let differing = walks.iter().find_map(|walk| {
                let block = if walks::is_in_whole_groups(walk) { whole } else { broken };
                let differs = |block: usize| expected.differs(&self.walk(walk, block, sample)?);
                let differs = differs(block).or_else(|| self.short_blocks(walk).iter().find_map(|&b| differs(b)));
                let differs = differs.or_else(|| match walk {
                    Walk::Totals => self.differing_stage(sample, broken, regroups),
                    _ => None,
                });
                Some((walk, differs?))
            });
            differing.map_or(Judged::Same, |(walk, difference)| Judged::Differs(walk, difference))
        })
    }

    /// Blocks of a few elements in which a loop is compared besides: what is found of stretches of it depends on their lengths.
    fn short_blocks(&self, walk: Walk) -> &'static [usize] {
        let is_cut =
            matches!(walk, Walk::Strips | Walk::Totals | Walk::Together { .. }) && !self.kernels.code.is_in_vectors();
        if is_cut && self.program.sequential.is_some() { &BLOCKS } else { &[] }
    }

    /// Rows that a kernel is for, one behind the other. The shortest are combined in order, and so are segments between offsets.
    fn rows_of(&self, kernel: Kernel) -> Result<(), Error> {
        let (walk, len, regroups) = match kernel {
            Kernel::Rows(len) | Kernel::ShortRows(len) => {
                (Walk::Rows, len, !self.kernels.code.keeps_rows_in_order(len))
            }
            Kernel::ShortBetween => (Walk::Segments, SEGMENT, false),
            // Vectors know the stages of a derived loop, and not its step; aggregates are combined with what they start from.
            Kernel::SideBySide { writes, .. } => (Walk::Rows, SEGMENT, !writes || self.program.sequential.is_some()),
            _ => return Ok(()),
        };
        if regroups && !self.variant.is_lawful {
            return Ok(());
        }
        let regroups = regroups.then_some(self.variant.plan.association);
        // A few records may be too few for operators to differ.
        let rows = ROW_RECORDS.div_ceil(len);
        self.judge(rows * len, regroups, |sample, _| {
            let mut judged = Judged::Not;
            for row in 0..rows {
                let own = sample.part(row * len, len, self.program);
                let expected = Expected::new(self.program, regroups, &own, self.init);
                if !expected.is_comparable() {
                    continue;
                }
                match self.of_rows(kernel, &own).iter().find_map(|row| expected.differs(row)) {
                    None => judged = Judged::Same,
                    Some(_) if self.is_excused(regroups, &own) => {}
                    Some(difference) => return Judged::Differs(walk, difference),
                }
            }
            judged
        })
    }

    /// The results of a kernel for several rows of the same records.
    fn of_rows(&self, kernel: Kernel, own: &Sample) -> Vec<Written> {
        let code = &self.kernels.code;
        match (kernel, code.many_side_by_side()) {
            (Kernel::SideBySide { rows: 0, writes }, Some((lanes, _))) => {
                self.side_by_side((kernel, writes), MANY * lanes, own)
            }
            (Kernel::SideBySide { rows, writes }, _) => self.side_by_side((kernel, writes), rows, own),
            _ => self.rows(kernel, own),
        }
    }

    /// Looks for a difference in samples of so many records, until one shows none.
    fn judge(
        &self,
        len: usize,
        regroups: Option<Association>,
        judged: impl Fn(&Sample, &Expected<'_>) -> Judged,
    ) -> Result<(), Error> {
        let mut first = None;
        for kind in Kind::ALL {
            let sample = Sample::new(self.program, len, kind);
            let expected = Expected::new(self.program, regroups, &sample, self.init);
            if !expected.is_comparable() {
                continue;
            }
            match judged(&sample, &expected) {
                Judged::Same => return Ok(()),
                Judged::Not => {}
                Judged::Differs(..) if self.is_excused(regroups, &sample) => {}
                Judged::Differs(walk, difference) => {
                    first.get_or_insert(Error::Miscompiled { walk, difference });
                    // Rounding may decide a comparison otherwise, though hardly so in every sample.
                    if expected.is_exact() {
                        break;
                    }
                }
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Whether a difference in a sample is no fault of the compiler: elements are regrouped, or run by the stages in place of the loop
    /// that they were derived from, and laws may fail there.
    fn is_excused(&self, regroups: Option<Association>, sample: &Sample) -> bool {
        let programs = (self.program, &*self.variant.written);
        let runs_stages = self.program.sequential.is_some() && !self.kernels.code.runs_loop();
        (regroups.is_some() || runs_stages) && is_beyond_laws(programs, sample, self.init, self.is_slow())
    }

    /// A difference in states of the stages of a program that was derived from a loop: folds run the stages, and not the loop.
    fn differing_stage(&self, sample: &Sample, block: usize, regroups: Option<Association>) -> Option<Difference> {
        self.program.sequential.as_ref()?;
        let stages = self.program.clone().by_stages();
        let expected = Expected::new(&stages, regroups, sample, self.init);
        let states = self.walk(Walk::Totals, block, sample)?.states;
        let differs = expected.is_comparable().then(|| expected.differs(&Written { outputs: None, states }));
        differs.flatten()
    }

    /// Whether the interpreter takes long for an element. Kernels in vectors need many elements all the same.
    fn is_slow(&self) -> bool {
        let stages = self.program.stages.iter();
        let instructions: usize = stages.map(|stage| stage.lift.function.insts.len() + stage.combine.insts.len()).sum();
        instructions > MANY_INSTRUCTIONS && !self.kernels.code.is_in_vectors()
    }
}

/// For each stage a state that sequences may start from: the identity, or another one if the program reads where segments start.
fn init(variant: &Variant) -> Vec<Vec<Constant>> {
    let program = &variant.program;
    let stages = program.stages.iter().zip(program.facts());
    let init = |(stage, facts): (&Stage, &StageFacts)| {
        let states = laws::sample_states(stage, &program.tables, 4, 0);
        // What may stand before the records of a sample is the identity, or anything.
        let is_any = |state: &Vec<Constant>| stage.follows.is_none() || *state == stage.identity;
        let holds = |state: &Vec<Constant>| {
            is_any(state) && facts.ranges.iter().zip(state).all(|(range, &value)| range.holds(value))
        };
        states.into_iter().rev().find(holds).unwrap_or_else(|| stage.identity.clone())
    };
    let is_read = program.form().start == SegmentStart::Init && program.output.filter.is_none();
    match (is_read, &program.sequential) {
        (true, None) => stages.map(init).collect(),
        (true, Some(_)) => sample::loop_states(program).pop().unwrap_or_else(|| program.start()),
        (false, _) => program.start(),
    }
}

#[cfg(test)]
mod tests {
    use monoscan_codegen::cpu::Access;
    use monoscan_codegen::plan::PlanOptions;
    use monoscan_ir::transform::{Form, lower};
    use monoscan_ir::{Program, Verified, text, verify};

    use super::*;
    use crate::engine::variant::Variants;

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
        verify(text::parse(&source).unwrap()).unwrap()
    }

    /// Means that forget.
    fn decay(weight: &str) -> Verified<Program> {
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
        verify(text::parse(&source).unwrap()).unwrap()
    }

    /// Checks the kernels of one program as if they were those of another, walk by walk.
    fn check(
        kernels_of: &Verified<Program>,
        program: &Verified<Program>,
        interleave: usize,
        access: Access,
    ) -> Vec<Result<(), Error>> {
        let options = PlanOptions { interleave: Some(interleave), ..PlanOptions::default() };
        let variants = Variants::new(kernels_of.clone().into(), (options, None), None, true);
        let variant = variants.get(Form::default(), false);
        let init = [program.stages[0].identity.clone()];
        let kernels = variant.kernels(access).unwrap();
        let check = Check { program: &lower(program, Form::default()), variant, kernels, init: &init };
        let streams =
            |walk: &Walk| walks::streamed(*walk).is_none_or(|kernel| kernels.code.streaming(kernel).is_some());
        let is_together = |walk: &Walk| matches!(walk, Walk::Together { .. });
        let is_there = |walk: &Walk| {
            let fits = access == Access::Line || *walk != Walk::Rows;
            fits && streams(walk) && (!is_together(walk) || kernels.code.has_together())
        };
        let walks = Walks::every().iter().filter(is_there).map(|walk| check.every([walk].into_iter().collect()));
        // Straight-line code, and pieces across lanes.
        let lengths = [4, 7, 16].into_iter().filter(|_| access == Access::Line);
        let rows = lengths.flat_map(|len| [Kernel::Rows(len), Kernel::ShortRows(len)]);
        let between = (access == Access::Line).then_some(Kernel::ShortBetween);
        let many = kernels.code.many_side_by_side().map(|_| 0);
        let side_by_side = kernels.code.side_by_side().iter().copied().chain(many);
        let side_by_side = side_by_side.flat_map(|rows| {
            let folds = kernels.code.folds_side_by_side().then_some(false);
            [true].into_iter().chain(folds).map(move |writes| Kernel::SideBySide { rows, writes })
        });
        walks.chain(rows.chain(between).chain(side_by_side).map(|kernel| check.rows_of(kernel))).collect()
    }

    #[test]
    fn kernels_of_another_operator_are_refused() {
        let programs = [program("i32", "0", "add"), program("i32", "0", "xor"), program("i32", "-2147483648", "max")];
        for (interleave, access) in [(1, Access::Line), (4, Access::Line), (2, Access::Strided), (2, Access::Spaced)] {
            for (i, kernels_of) in programs.iter().enumerate() {
                for (j, program) in programs.iter().enumerate() {
                    for checked in check(kernels_of, program, interleave, access) {
                        match checked {
                            Ok(()) => assert_eq!(i, j),
                            Err(Error::Miscompiled { .. }) => assert_ne!(i, j),
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_keeps_the_order_is_compared_in_all_bits_beside_what_does_not() {
        // They differ in the last place.
        let (one, other) = (decay("0.7"), decay("0.70000005"));
        let options = PlanOptions { vector: Some(false), ..PlanOptions::default() };
        let variants = Variants::new(one.into(), (options, None), None, true);
        let variant = variants.get(Form::default(), false);
        let init = [other.stages[0].identity.clone()];
        let kernels = variant.kernels(Access::Line).unwrap();
        let check = Check { program: &lower(&other, Form::default()), variant, kernels, init: &init };
        let checked = check.every([Walk::OnePass, Walk::Strips].into_iter().collect());
        assert!(matches!(checked, Err(Error::Miscompiled { walk: Walk::OnePass, .. })), "{checked:?}");
        assert!(check.every([Walk::Strips].into_iter().collect()).is_ok());
    }

    #[test]
    fn floats_that_round_are_compared_too() {
        // Regrouping changes the last places of a mean of 0.1 and 0.7, so no sample is exact.
        let (one, other) = (decay("0.7"), decay("0.71"));
        assert!(check(&one, &one, 4, Access::Line).iter().all(Result::is_ok));
        let wrong = check(&one, &other, 4, Access::Line);
        assert!(wrong.iter().filter(|checked| matches!(checked, Err(Error::Miscompiled { .. }))).count() >= 8);
    }

    #[test]
    fn an_operator_that_is_not_associative_is_no_fault_of_the_compiler() {
        let difference = program("i32", "0", "sub");
        assert!(check(&difference, &difference, 4, Access::Line).iter().all(Result::is_ok));
    }
}

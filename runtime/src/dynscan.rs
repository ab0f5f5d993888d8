//! [`DynScan`]: a program that was built at run time, judged, planned, compiled and ready to run.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use scan_codegen::cpu::Compiled;
use scan_codegen::plan::{Plan, PlanOptions, plan};
use scan_codegen::target::CpuTarget;
use scan_ir::facts::{Facts, LengthOnly};
use scan_ir::laws::{Judgement, Overflow};
use scan_ir::{Constant, Layout, Mode, Primitive, Program, Verified};

use crate::cache::Cache;
use crate::call::Call;
use crate::column::{self, Column, ColumnMut};
use crate::cpu::{Engine, KnownStates};
use crate::error::Error;
use crate::verdicts;

/// What [`DynScan::emit`] shows: the program at one stage of its compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stage {
    /// The program in the text form of the IR.
    Ir,
    /// Cranelift's IR of the inclusive kernels.
    Clif,
    /// The machine code of the inclusive kernels, as Cranelift's assembly listing.
    Asm,
}

/// A compiled scan over columns that are checked at run time. Cheap to clone; compiled code is shared by equal
/// programs and freed when the last of them is dropped.
///
/// ```
/// use scan_ir::{text, verify};
/// use scan_runtime::{Column, DynScan};
///
/// let program = text::parse("
///     program running_sum
///       input { size 4, align 4, i32 @ 0 }
///       stage (i32)
///         identity (0)
///         lift (%0 = record.0: i32) { return %0 }
///         combine (%0: i32, %1: i32) {
///           %2 = add.i32 %0, %1
///           return %2
///         }
///       output write
///         column { size 4, align 4, i32 @ 0 }
///         project (%0 = state.0: i32) { return %0 }
/// ")?;
/// let scan = DynScan::new(verify(program)?)?;
/// let sums: Vec<i32> = scan.inclusive(&[Column::new(&[3i32, 1, 4])])?;
/// assert_eq!(sums, [3, 4, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynScan {
    shared: Arc<Shared>,
    threads: Option<usize>,
}

/// What equal programs share.
struct Shared {
    key: Key,
    judgement: Arc<Judgement>,
    facts: Facts,
    known: KnownStates,
    plan: Plan,
    inclusive: Compiled,
    exclusive: OnceLock<Compiled>,
}

/// What makes two scans the same.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    program: Arc<Verified<Program>>,
    options: PlanOptions,
    assume_associative: bool,
    overflow: Overflow,
}

static COMPILED: LazyLock<Cache<Key, Shared>> = LazyLock::new(Cache::new);

/// How to build a [`DynScan`] that is not the default one.
#[must_use]
pub struct DynScanBuilder {
    key: Key,
    component_names: Vec<String>,
    threads: Option<usize>,
}

impl DynScanBuilder {
    /// Accepts the operator whatever its laws: for operators that are associative for a reason the compiler cannot see.
    /// [`DynScan::explain`] says that this was asked for. Results of an operator that is not associative are unspecified.
    pub fn assume_associative(mut self) -> DynScanBuilder {
        self.key.assume_associative = true;
        self
    }

    /// Whether integer overflow is meant; by default it never occurs. Laws are judged accordingly; results are the same.
    pub fn overflow(mut self, overflow: Overflow) -> DynScanBuilder {
        self.key.overflow = overflow;
        self
    }

    /// Uses at most this many threads instead of rayon's number; 0 counts as 1. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> DynScanBuilder {
        self.threads = Some(threads.max(1));
        self
    }

    /// Overrides choices of the plan: for study, and for tests of its boundaries.
    pub fn plan(mut self, options: PlanOptions) -> DynScanBuilder {
        self.key.options = options;
        self
    }

    /// What the state's components are called in reports about laws; by default their numbers.
    pub fn component_names(mut self, names: Vec<String>) -> DynScanBuilder {
        self.component_names = names;
        self
    }

    /// Judges the laws, plans and compiles; a few milliseconds, or nothing if an equal program is in use.
    ///
    /// # Errors
    /// [`Error::NotAMonoid`] with a counterexample, if a law is refuted, or with what is missing, if a law is neither proved
    /// nor could be judged in a single case. [`Error::Unsupported`] if the engine cannot run
    /// such a program.
    pub fn build(self) -> Result<DynScan, Error> {
        let shared = COMPILED.get_or_make(self.key, |key| Shared::new(key, &self.component_names))?;
        Ok(DynScan { shared, threads: self.threads })
    }
}

impl Shared {
    fn new(key: &Key, names: &[String]) -> Result<Shared, Error> {
        let program = &*key.program;
        if program.stages.len() != 1 {
            let stages = program.stages.len();
            return Err(Error::Unsupported(format!("a cascade of {stages} stages; the CPU engine runs one stage")));
        }
        if program.output.keep.is_some() {
            return Err(Error::Unsupported("an `emit` output; the CPU engine runs `write` outputs".into()));
        }
        let judgement = verdicts::judge(&program.stages[0], &program.tables, key.overflow);
        if !judgement.verdict().is_accepted() && !key.assume_associative {
            let report = judgement.report(names);
            return Err(Error::NotAMonoid { judgement: Box::new((*judgement).clone()), report });
        }
        let target = CpuTarget::host();
        let facts = Facts::of(program);
        let plan = plan(program, &facts, &target, &key.options);
        let inclusive = Compiled::new(program, &facts, Mode::Inclusive, plan.ways as u32)?;
        let stage = &program.stages[0];
        let known = KnownStates::new(LengthOnly::of(stage, &program.tables), plan.block);
        let exclusive = OnceLock::new();
        Ok(Shared { key: key.clone(), judgement, facts, known, plan, inclusive, exclusive })
    }

    fn kernels(&self, mode: Mode) -> Result<&Compiled, Error> {
        if mode == Mode::Inclusive {
            return Ok(&self.inclusive);
        }
        if let Some(kernels) = self.exclusive.get() {
            return Ok(kernels);
        }
        let kernels = Compiled::new(&self.key.program, &self.facts, mode, self.plan.ways as u32)?;
        Ok(self.exclusive.get_or_init(|| kernels))
    }
}

impl DynScan {
    /// Judges the laws of the program's operator, plans and compiles it, for all cores.
    ///
    /// # Errors
    /// As [`DynScanBuilder::build`].
    pub fn new(program: Verified<Program>) -> Result<DynScan, Error> {
        DynScan::builder(program).build()
    }

    /// For options.
    pub fn builder(program: Verified<Program>) -> DynScanBuilder {
        let key = Key {
            program: Arc::new(program),
            options: PlanOptions::default(),
            assume_associative: false,
            overflow: Overflow::default(),
        };
        DynScanBuilder { key, component_names: Vec::new(), threads: None }
    }

    /// The program.
    pub fn program(&self) -> &Verified<Program> {
        &self.shared.key.program
    }

    /// What is known about the operator's laws.
    pub fn judgement(&self) -> &Judgement {
        &self.shared.judgement
    }

    /// The schedule that was chosen.
    pub fn plan(&self) -> &Plan {
        &self.shared.plan
    }

    /// For each i the output of the states after element i, into columns of the same length.
    ///
    /// # Errors
    /// If a column has another layout or length than it should; then nothing was written.
    pub fn inclusive_into(&self, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.scan_into(Mode::Inclusive, inputs, outputs)
    }

    /// For each i the output of the states before element i, into columns of the same length.
    ///
    /// # Errors
    /// As [`inclusive_into`](DynScan::inclusive_into).
    pub fn exclusive_into(&self, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.scan_into(Mode::Exclusive, inputs, outputs)
    }

    /// [`inclusive_into`](DynScan::inclusive_into) a new vector, for a program that writes one column of scalars.
    ///
    /// # Errors
    /// If the program's output or a column is of another type or length, or if there is no memory.
    pub fn inclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.scan(Mode::Inclusive, inputs)
    }

    /// [`exclusive_into`](DynScan::exclusive_into) a new vector, for a program that writes one column of scalars.
    ///
    /// # Errors
    /// As [`inclusive`](DynScan::inclusive).
    pub fn exclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.scan(Mode::Exclusive, inputs)
    }

    fn scan<T: Primitive>(&self, mode: Mode, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        let len = inputs.first().map_or(0, Column::len);
        let layout = Layout::of(T::TYPE);
        // SAFETY: the layout is that of `T`, whose every value the program writes is valid.
        unsafe { collect(len, &layout, |output| self.scan_into(mode, inputs, &mut [output])) }
    }

    /// The scan of either mode; the named methods call it.
    ///
    /// # Errors
    /// As [`inclusive_into`](DynScan::inclusive_into).
    pub fn scan_into(&self, mode: Mode, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        let program = self.program();
        let len = column::check((&program.inputs, inputs), (&program.output.columns, outputs))?;
        let Shared { plan, known, .. } = &*self.shared;
        let engine = Engine { kernels: self.shared.kernels(mode)?, plan, known };
        let threads = self.threads.unwrap_or_else(rayon::current_num_threads);
        engine.scan((inputs, outputs, len), &program.stages[0].identity, threads);
        Ok(())
    }

    /// Runs a call, and gives how many records were written: all, or those that the program keeps.
    ///
    /// # Errors
    /// If a column, the seed or the shape does not fit the program or the other columns; then nothing was written.
    pub fn run(&self, call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<usize, Error> {
        if call.reversed || call.seed.is_some() || !matches!(call.shape, crate::call::Shape::Line) {
            return Err(Error::Unsupported("this call, in this commit".into()));
        }
        self.scan_into(call.mode, inputs, outputs)?;
        Ok(outputs.first().map_or(0, ColumnMut::len))
    }

    /// Runs a call whose outputs replace its inputs.
    ///
    /// # Errors
    /// As [`run`](DynScan::run); also if the program's output columns are not laid out as its input columns, if it
    /// reads the next record, or if it keeps records.
    pub fn run_in_place(&self, _call: &Call<'_>, _columns: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        Err(Error::Unsupported("scans in place, in this commit".into()))
    }

    /// As [`run`](DynScan::run), from the state `carry`, the components of all stages in order, which becomes the state
    /// after the last record.
    ///
    /// # Errors
    /// As [`run`](DynScan::run); then the carry is untouched.
    pub fn resume(
        &self,
        call: &Call<'_>,
        _carry: &mut [Constant],
        _inputs: &[Column<'_>],
        _outputs: &mut [ColumnMut<'_>],
    ) -> Result<usize, Error> {
        Err(Error::Unsupported(format!("resuming {:?}, in this commit", call.mode)))
    }

    /// As [`run_in_place`](DynScan::run_in_place), from a carry as in [`resume`](DynScan::resume).
    ///
    /// # Errors
    /// As both.
    pub fn resume_in_place(
        &self,
        _call: &Call<'_>,
        _carry: &mut [Constant],
        _columns: &mut [ColumnMut<'_>],
    ) -> Result<(), Error> {
        Err(Error::Unsupported("resuming in place, in this commit".into()))
    }

    /// The totals of all runs, one after the other, the components of all stages each: one run for a line or heads, one for each
    /// segment between offsets, one for each row.
    ///
    /// # Errors
    /// As [`run`](DynScan::run).
    pub fn reduce(&self, _call: &Call<'_>, _inputs: &[Column<'_>]) -> Result<Vec<Constant>, Error> {
        Err(Error::Unsupported("reductions, in this commit".into()))
    }

    /// What was chosen and why: the verdict on the laws, and the plan with its work, depth and bytes moved.
    pub fn explain(&self) -> String {
        let Shared { key, judgement, plan, .. } = &*self.shared;
        let assumed = if key.assume_associative { " (associativity assumed on request)" } else { "" };
        format!("program {}\nlaws: {}{assumed}\n{plan}", key.program.name, judgement.verdict())
    }

    /// The program as text at one stage of its compilation.
    pub fn emit(&self, stage: Stage) -> String {
        match stage {
            Stage::Ir => self.program().to_string(),
            Stage::Clif => self.shared.inclusive.clif(),
            Stage::Asm => self.shared.inclusive.asm(),
        }
    }
}

impl fmt::Debug for DynScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynScan").field("program", &self.program().name).field("threads", &self.threads).finish()
    }
}

/// A vector of `len` records of `layout` that `fill` writes.
///
/// # Errors
/// [`Error::OutOfMemory`], or what `fill` returns.
///
/// # Safety
/// `layout` is that of `T`, and if `fill` succeeds, it wrote every record of its column.
pub unsafe fn collect<T>(
    len: usize,
    layout: &Layout,
    fill: impl FnOnce(ColumnMut<'_>) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut result = Vec::<T>::new();
    let bytes = len.saturating_mul(size_of::<T>());
    result.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes })?;
    // SAFETY: the vector owns room for `len` records, which nobody else sees.
    fill(unsafe { ColumnMut::from_raw(result.as_mut_ptr().cast(), len, layout) })?;
    // SAFETY: `fill` wrote them, the caller promises.
    unsafe { result.set_len(len) };
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scan_ir::{random, verify};

    #[test]
    fn equal_programs_share_their_code_until_the_last_is_dropped() {
        let program = || verify(random::random_program(7, &random::Options::default())).unwrap();
        let (one, two) = (DynScan::new(program()).unwrap(), DynScan::builder(program()).threads(3).build().unwrap());
        assert!(Arc::ptr_eq(&one.shared, &two.shared));
        let weak = Arc::downgrade(&one.shared);
        drop((one, two));
        assert!(weak.upgrade().is_none());
    }

    /// max(a + b, a) over states that are all so large that every sum overflows.
    const NO_CASE: &str = "
        program narrow
          input { size 4, align 4, u32 @ 0 }
          stage (u32)
            identity (4294967295)
            lift (%0 = record.0: u32) { return %0 }
            combine (%0: u32, %1: u32) {
              %2 = add.u32 %0, %1
              %3 = max.u32 %2, %0
              return %3
            }
            valid (%0: u32) {
              %1 = const.u32 3000000000
              %2 = ge.bool %0, %1
              return %2
            }
          output write
            column { size 4, align 4, u32 @ 0 }
            project (%0 = state.0: u32) { return %0 }";

    #[test]
    fn laws_of_which_no_case_could_be_judged_are_refused_unless_assumed() {
        let program = || verify(scan_ir::text::parse(NO_CASE).unwrap()).unwrap();
        let error = DynScan::new(program()).unwrap_err();
        assert!(matches!(error, Error::NotAMonoid { .. }));
        let report = error.to_string();
        assert!(report.contains("no case could be judged") && report.contains("assume_associative"), "{report}");
        assert!(DynScan::builder(program()).assume_associative().build().is_ok());
    }

    #[test]
    fn a_verdict_is_found_once() {
        let program = verify(random::random_program(8, &random::Options::default())).unwrap();
        let first = DynScan::new(program.clone()).unwrap();
        let judgement = first.shared.judgement.clone();
        drop(first);
        assert!(Arc::ptr_eq(&judgement, &DynScan::new(program).unwrap().shared.judgement));
    }
}

//! [`DynScan`]: a program that was built at run time, judged, planned, compiled and ready to run.

use std::fmt;
use std::sync::{Arc, LazyLock};

use monoscan_codegen::plan::PlanOptions;
use monoscan_ir::laws::{Judgement, Overflow, Words};
use monoscan_ir::transform::{Check, Form};
use monoscan_ir::{Constant, Layout, Mode, Program, Verified};

use crate::backend::{Backend, Settings};
use crate::cache::Cache;
use crate::checks;
use crate::device::Device;
use crate::engine::{Natives, OnCpu, Variant, Variants};
use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::gpu;
use crate::loops::LoopStates;
use crate::parameters::Parameters;
use crate::verdicts::{self, Terms};

pub use builder::DynScanBuilder;
pub use inspect::Representation;

mod builder;
mod inspect;
mod place;

/// A compiled scan over columns that are checked at run time. Cheap to clone; compiled code is shared by equal
/// programs and freed when the last of them is dropped.
///
/// ```
/// use monoscan_ir::{text, verify};
/// use monoscan_runtime::{Column, DynScan};
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
    /// The kernels for the CPU; those of short lines are called from here.
    variants: Arc<Variants>,
    component_names: Arc<[String]>,
    words: Words,
    pub(crate) threads: Option<usize>,
    checked: bool,
    /// Whether integer overflow is meant.
    wraps: bool,
    /// The values of the program's parameters; none as long as they are not bound.
    parameters: Parameters,
    device: Device,
    /// The backend that runs the calls.
    backend: Arc<dyn Backend>,
    /// Whether outputs of the identity mean nothing.
    needs_start: bool,
    /// Whether the kernels of short lines may run, inclusive ones and exclusive ones: on the CPU, unchecked.
    plain: [bool; 2],
    /// The loop's states, if the program was derived from a loop.
    looped: Option<Arc<LoopStates>>,
    #[cfg(feature = "cuda")]
    gpu: gpu::Options,
}

/// The part that equal programs share.
struct Shared {
    key: Key,
    judgements: Vec<Arc<Judgement>>,
    variants: Arc<Variants>,
}

/// The key by which two scans are the same.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    program: Arc<Verified<Program>>,
    options: PlanOptions,
    terms: Terms,
    /// How the states of all stages lie where callers pass them in memory.
    states: Option<Layout>,
    /// The program's elements as functions.
    natives: Option<Natives>,
}

static COMPILED: LazyLock<Cache<Key, Shared>> = LazyLock::new(Cache::new);

impl Shared {
    fn new(key: &Key, names: &[String], words: Words) -> Result<Shared, Error> {
        let program = &*key.program;
        let judgements = verdicts::judge_all(program, &key.terms, names, words)?;
        let is_lawful = judgements.iter().all(|judgement| judgement.verdict().is_accepted());
        let plan = (key.options.clone(), key.natives.clone());
        let variants = Variants::new(key.program.clone(), plan, key.states.clone(), is_lawful);
        Ok(Shared { key: key.clone(), judgements, variants: Arc::new(variants) })
    }

    /// The form of an inclusive scan of a line.
    fn inclusive(&self) -> &Variant {
        self.variants.get(Form::default(), false)
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
        let (options, terms) = (PlanOptions::default(), Terms::default());
        let key = Key { program: Arc::new(program), options, terms, states: None, natives: None };
        DynScanBuilder {
            key,
            component_names: Vec::new(),
            words: Words::default(),
            threads: None,
            needs_start: false,
            overflow: Overflow::default(),
            device: Device::cpu(),
            looped: None,
            #[cfg(feature = "cuda")]
            gpu: gpu::Options::default(),
        }
    }

    /// The same scan, every call of which finds the first record at which the sequential loop overflows, and is then
    /// [`Error::Overflowed`], or that does not [follow](monoscan_ir::Stage::follows) the state before it:
    /// [`Error::OutOfOrder`]. A call that succeeds has given the states of the sequential loop: where laws hold only as long
    /// as nothing overflows, states are compared with the loop's, but for those that hang on rounded floats.
    ///
    /// The sequential loop is the one that takes the records of each sequence in order. An overflow counts if a result hangs on
    /// it: [meant](monoscan_ir::Payload::Wraps) ones do not, nor do those in the arm of a `select` that is not taken. Where
    /// the loop does not overflow, but the order in which a scan combines does, and a state comes out different, a call is
    /// [`Error::Regrouped`]. Reductions look for overflow in outputs too.
    ///
    /// Of a program that was derived from a [loop](DynScan::from_loop) that is the loop as it was written. One that keeps records
    /// is not checked: [`Error::CheckedLoop`].
    ///
    /// A call reads its input one time more, and computes each step a second time with its overflows. Of a program in which
    /// nothing can overflow, or [is meant to](DynScanBuilder::overflow), and all may follow all, nothing is checked, at no cost.
    pub fn checked(&self) -> DynScan {
        let checked = match self.loop_states() {
            Some(states) if !self.has_written_loop() => !self.wraps && states.may_overflow(),
            _ => Check::is_needed(self.program()),
        };
        DynScan { checked, ..self.clone() }.settled()
    }

    /// The same scan with these values of the program's [parameters](Program::parameters), in order. Nothing is compiled
    /// again.
    ///
    /// ```
    /// use monoscan_ir::{text, verify};
    /// use monoscan_runtime::{Column, DynScan};
    ///
    /// let program = text::parse("
    ///     program scaled_sum
    ///       input { size 4, align 4, i32 @ 0 }
    ///       parameter i32
    ///       stage (i32)
    ///         identity (0)
    ///         lift (%0 = record.0: i32, %1 = parameter.0: i32) {
    ///           %2 = mul.i32 %0, %1
    ///           return %2
    ///         }
    ///         combine (%0: i32, %1: i32) {
    ///           %2 = add.i32 %0, %1
    ///           return %2
    ///         }
    ///       output write
    ///         column { size 4, align 4, i32 @ 0 }
    ///         project (%0 = state.0: i32) { return %0 }
    /// ")?;
    /// let scan = DynScan::new(verify(program)?)?;
    /// for (factor, expected) in [(1, [3, 4, 8]), (10, [30, 40, 80])] {
    ///     let sums: Vec<i32> = scan.with(&[factor.into()])?.inclusive(&[Column::new(&[3i32, 1, 4])])?;
    ///     assert_eq!(sums, expected);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameters`] if these are not of the parameters' types. A call of a scan whose parameters have no values yet is
    /// that error too.
    pub fn with(&self, parameters: &[Constant]) -> Result<DynScan, Error> {
        checks::parameters(self.program(), parameters)?;
        Ok(DynScan { parameters: Parameters::new(parameters.to_vec()), ..self.clone() }.settled())
    }

    /// For the typed front end: whether functions of Rust may take elements.
    #[doc(hidden)]
    pub fn has_natives(&self) -> bool {
        self.shared.key.natives.is_some()
    }

    /// For the typed front end: the same scan by generated code alone.
    #[doc(hidden)]
    pub fn generated(&self) -> DynScan {
        let Key { program, options, states, .. } = &self.shared.key;
        let is_lawful = self.judgements().all(|judgement| judgement.verdict().is_accepted());
        let variants = Arc::new(Variants::new(program.clone(), (options.clone(), None), states.clone(), is_lawful));
        let (key, judgements) = (Key { natives: None, ..self.shared.key.clone() }, self.shared.judgements.clone());
        let shared = Arc::new(Shared { key, judgements, variants: variants.clone() });
        let backend: Arc<dyn Backend> = match self.device.is_cpu() {
            true => Arc::new(OnCpu { variants: variants.clone(), threads: self.threads }),
            false => self.backend.clone(),
        };
        DynScan { shared, variants, backend, ..self.clone() }.settled()
    }

    /// The settings that are added to each call.
    pub(crate) fn settings(&self) -> Settings<'_> {
        Settings { parameters: &self.parameters, checked: self.checked }
    }

    #[inline]
    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    pub(crate) fn loop_states(&self) -> Option<&LoopStates> {
        self.looped.as_deref()
    }

    /// Whether the kernels of short lines may run.
    #[inline]
    pub(crate) fn is_plain(&self, mode: Mode) -> bool {
        self.plain[usize::from(mode == Mode::Exclusive)]
    }

    /// For the typed front end: whether [`needs_start`](DynScanBuilder::needs_start) was said.
    #[doc(hidden)]
    pub fn needs_start(&self) -> bool {
        self.needs_start
    }

    /// The kernels for the CPU.
    #[inline]
    pub(crate) fn variants(&self) -> &Variants {
        &self.variants
    }

    /// How many records its device folds on their own at most, before it combines them with those before them.
    #[doc(hidden)]
    pub fn block(&self) -> usize {
        self.backend.block()
    }
}

impl fmt::Debug for DynScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynScan").field("program", &self.program().name).field("device", &self.device).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::verify;
    use scan_kit::random;

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
        let program = || verify(monoscan_ir::text::parse(NO_CASE).unwrap()).unwrap();
        let error = DynScan::new(program()).unwrap_err();
        assert!(matches!(error, Error::NotAMonoid { .. }));
        let report = error.to_string();
        assert!(report.contains("no case could be judged") && report.contains("let the scan assume them"), "{report}");
        assert!(DynScan::builder(program()).assume_associative().build().is_ok());
    }

    #[test]
    fn a_verdict_is_found_once() {
        let program = verify(random::random_program(8, &random::Options::default())).unwrap();
        let first = DynScan::new(program.clone()).unwrap();
        let judgement = first.shared.judgements[0].clone();
        drop(first);
        assert!(Arc::ptr_eq(&judgement, &DynScan::new(program).unwrap().shared.judgements[0]));
    }
}

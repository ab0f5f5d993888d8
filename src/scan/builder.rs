//! Builds a [`Scan`]: traces the operator, the lift and the project, and puts them together as a program.

use std::any::type_name;
use std::marker::PhantomData;

use scan_ir::{
    Function, FunctionBuilder, Layout, MAX_STATE_BYTES, Mapping, Output, Program, Source, Stage, Table, Type, verify,
};
use scan_runtime::{DynScan, Error, Overflow, PlanOptions};

use super::columns::Record;
use super::{Scan, translation};
use crate::lang::{self, Inputs, Monoid, ScanFn, ScanType, TraceError, Traced};

/// A scan of `M` under construction; see [`Scan::builder`].
///
/// Errors of the parts are kept until [`build`](ScanBuilder::build).
#[must_use]
pub struct ScanBuilder<M, In, Out> {
    lift: Result<Traced, Error>,
    project: Result<Traced, Error>,
    options: Options,
    types: PhantomData<fn(In, M) -> Out>,
}

#[derive(Default)]
struct Options {
    assume_associative: bool,
    threads: Option<usize>,
    plan: PlanOptions,
}

impl<M: Monoid> ScanBuilder<M, (M,), M> {
    pub(super) fn new() -> Self {
        ScanBuilder {
            lift: Ok(unchanged::<M>()),
            project: Ok(unchanged::<M>()),
            options: Options::default(),
            types: PhantomData,
        }
    }
}

impl<M: Monoid, In: Record, Out: ScanType> ScanBuilder<M, In, Out> {
    /// What one element does: a function from the record to a state. Each of its arguments is a column. Call it before
    /// [`project_with_record`](ScanBuilder::project_with_record).
    pub fn lift<R: Record, F: ScanFn<R, Out = M>>(self, f: F) -> ScanBuilder<M, R, Out> {
        let ScanBuilder { project, options, .. } = self;
        let components = lang::layout_of::<M>().fields.len();
        let project = project.and_then(|project| match project.function.params.len() > components {
            true => {
                Err(Error::Unsupported("a `lift` after `project_with_record` changes its record: lift first".into()))
            }
            false => Ok(project),
        });
        ScanBuilder { lift: trace(&f), project, options, types: PhantomData }
    }

    /// What is written for an element: a function of the state.
    pub fn project<O: ScanType, F: ScanFn<(M,), Out = O>>(self, f: F) -> ScanBuilder<M, In, O> {
        let ScanBuilder { lift, options, .. } = self;
        ScanBuilder { lift, project: trace::<_, (M,)>(&f), options, types: PhantomData }
    }

    /// What is written for an element: a function of the state and the record's columns. Call it after
    /// [`lift`](ScanBuilder::lift), which says what the record is.
    pub fn project_with_record<O: ScanType, F>(self, f: F) -> ScanBuilder<M, In, O>
    where
        F: ScanFn<In::After<M>, Out = O>,
    {
        let ScanBuilder { lift, options, .. } = self;
        ScanBuilder { lift, project: trace::<_, In::After<M>>(&f), options, types: PhantomData }
    }

    /// Accepts the operator whatever its laws: for one that is associative for a reason the compiler cannot see.
    /// [`Scan::explain`] shows that this was asked for.
    pub fn assume_associative(mut self) -> Self {
        self.options.assume_associative = true;
        self
    }

    /// Uses at most this many threads. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Overrides choices of the plan: for study, and for tests of its boundaries.
    pub fn plan(mut self, options: PlanOptions) -> Self {
        self.options.plan = options;
        self
    }

    /// Judges the laws, checks the translation, plans and compiles.
    ///
    /// # Errors
    /// As [`Scan::new`].
    pub fn build(self) -> Result<Scan<M, In, Out>, Error> {
        let Options { assume_associative, threads, plan } = self.options;
        let combine = lang::trace_combine::<M>().map_err(untraceable)?;
        // Where Rust would panic on overflow, overflow does not occur; where all arithmetic wraps, wrapping is meant.
        let overflow = if combine.may_panic { Overflow::NeverOccurs } else { Overflow::Wraps };
        let program = verify(program::<M, In, Out>(self.lift?, self.project?, combine)?)?;
        translation::check_monoid::<M>(&program.stages[0], &program.tables)?;
        let mut builder =
            DynScan::builder(program).component_names(lang::component_names::<M>()).plan(plan).overflow(overflow);
        if assume_associative {
            builder = builder.assume_associative();
        }
        if let Some(threads) = threads {
            builder = builder.threads(threads);
        }
        Ok(Scan { inner: builder.build()?, types: PhantomData })
    }
}

/// The function that gives a state as it came.
fn unchanged<M: Monoid>() -> Traced {
    let mut b = FunctionBuilder::new();
    let state: Vec<Type> = lang::layout_of::<M>().types().collect();
    let state = b.params(&state);
    Traced { function: b.finish(&state), tables: Vec::new(), may_panic: false }
}

/// Traces a scan function and compares it with its Rust code.
fn trace<F: ScanFn<Args>, Args: Inputs>(f: &F) -> Result<Traced, Error> {
    let traced = lang::trace_fn::<F, Args>(f).map_err(untraceable)?;
    translation::check_function::<F, Args>(f, &traced)?;
    Ok(traced)
}

fn untraceable(error: TraceError) -> Error {
    Error::Trace(error.to_string())
}

fn program<M: Monoid, In: Record, Out: ScanType>(
    lift: Traced,
    project: Traced,
    combine: Traced,
) -> Result<Program, Error> {
    let mut tables = Tables::default();
    let lift = tables.adopt(lift);
    let project = tables.adopt(project);
    let combine = tables.adopt(combine);
    let valid = lang::trace_valid::<M>().map_err(untraceable)?.map(|valid| tables.adopt(valid));

    let identity = lang::identity_constants::<M>().map_err(untraceable)?;
    let state = identity.iter().map(|constant| constant.ty()).collect::<Vec<_>>();
    check_size::<M>(&state)?;
    let states = (0..state.len() as u32).map(Source::State);
    let records = (0..).map(Source::Record);
    let lift = Mapping { reads: records.clone().take(lift.params.len()).collect(), function: lift };
    let project = Mapping { reads: states.chain(records).take(project.params.len()).collect(), function: project };

    Ok(Program {
        name: program_name(type_name::<M>()),
        tables: tables.0,
        inputs: In::layouts(),
        stages: vec![Stage { state, identity, lift, combine, valid }],
        output: Output { keep: None, project, columns: vec![lang::layout_of::<Out>()] },
    })
}

/// Refuses states that no engine carries, in the words of the one who wrote them.
fn check_size<M: Monoid>(state: &[Type]) -> Result<(), Error> {
    let (name, bytes) = (type_name::<M>(), lang::layout_of::<M>().size as usize);
    if state.is_empty() {
        return Err(Error::Unsupported(format!("`{name}` has no components: a state needs at least one")));
    }
    if bytes > MAX_STATE_BYTES && Layout::packed(state).size as usize > MAX_STATE_BYTES {
        return Err(Error::Unsupported(format!(
            "`{name}` takes {bytes} bytes, and a state at most {MAX_STATE_BYTES}: use smaller numbers, or several scans"
        )));
    }
    Ok(())
}

/// The tables of all functions, one after the other.
#[derive(Default)]
struct Tables(Vec<Table>);

impl Tables {
    /// Takes over a function's tables and renumbers its look-ups.
    fn adopt(&mut self, traced: Traced) -> Function {
        let first = self.0.len() as u32;
        self.0.extend(traced.tables);
        traced.function.map_tables(|table| table + first)
    }
}

/// A type's name without its modules, in the characters that a program's name may have.
fn program_name(type_name: &str) -> String {
    let mut name = String::new();
    for word in type_name.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        name.push_str(word.rsplit("::").next().unwrap_or(word));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.:<>,".contains(c);
    name.chars().filter(|c| *c != ' ').map(|c| if allowed(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_after_the_monoid_without_its_modules() {
        assert_eq!(program_name("a::b::Segmented<c::Affine<f32>>"), "Segmented<Affine<f32>>");
        assert_eq!(program_name("m::Mat<f64, 4>"), "Mat<f64,4>");
        assert_eq!(program_name("[m::X; 3]"), "_X_3_");
    }
}

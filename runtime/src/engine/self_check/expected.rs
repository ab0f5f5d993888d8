//! The interpreter's results of a sample, and how far they depend on the association.

use monoscan_codegen::plan::Association;
use monoscan_ir::interp::{Request, Run, run, run_in_chunks};
use monoscan_ir::laws::broken_by_overflow;
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Inst, Layout, Opcode, Program, Stage, Type, Verified};
use smallvec::SmallVec;

use super::sample::Sample;
use crate::wrong::Difference;

/// Elements that the interpreter folds on their own, where it regroups.
const CHUNK: usize = 3;

/// Where folds of a sample begin, at most, when it is asked whether anything overflows.
const LANES: usize = 8;

/// The outputs and states of a sample.
pub(super) struct Expected<'a> {
    program: &'a Lowered,
    columns: &'a [Layout],
    sequential: Run,
    /// In other associations, if kernels are to be compared that regroup.
    regrouped: Vec<Run>,
    is_exact: bool,
    /// Whether functions of Rust, or kernels in vectors, may give either zero where floats have minima or maxima.
    has_any_zero: bool,
    /// For each field of each column how large numbers are.
    magnitudes: Vec<Vec<f64>>,
}

/// Whether laws may fail on a sample: an integer overflows, which they are not asked to bear, or some association of floats gives more
/// than another rounding. `written` is the program with the marks of what is meant to wrap.
pub(super) fn is_beyond_laws(
    (program, written): (&Lowered, &Verified<Program>),
    sample: &Sample,
    init: &[Vec<Constant>],
    is_slow: bool,
) -> bool {
    let bears_overflow = |stage: &Stage| broken_by_overflow(stage).is_empty();
    let checked = written.sequential.is_some() || !written.stages.iter().all(bears_overflow);
    let request = Request { parameters: sample.parameters.values().to_vec(), checked, ..Request::default() };
    // Kernels fold what begins anywhere, in vectors as many elements as there are lanes.
    (0..if is_slow { 1 } else { LANES.min(sample.len) }).any(|start| {
        let sample = sample.part(start, sample.len - start, program);
        let chunks = [1, 2, CHUNK, 4, 7, 8, 16, 32, 64, 128, 256, sample.len];
        let own = sample.columns.iter().take(written.inputs.len());
        let inputs: Vec<&[u8]> = own.map(Vec::as_slice).collect();
        let overflows = |chunk| run_in_chunks(written, &inputs, &request, chunk).is_ok_and(|run| run.overflowed);
        checked && chunks.into_iter().any(overflows) || {
            let expected = Expected::regrouped(program, &chunks, &sample, init);
            !(expected.agrees_everywhere() || expected.is_stable_everywhere())
        }
    })
}

/// The results of kernels on a sample.
pub(super) struct Written {
    pub(super) outputs: Option<Vec<Vec<u8>>>,
    /// The components of the states after the line.
    pub(super) states: Option<Vec<Constant>>,
}

/// A value by the interpreter, in all its associations.
struct Value {
    sequential: Constant,
    regrouped: SmallVec<[Constant; 2]>,
}

impl Value {
    fn is_exact(&self) -> bool {
        self.regrouped.iter().all(|other| self.sequential.same(*other))
    }

    /// Whether this is a float that regrouping changes by far less than the tolerance.
    fn is_stable(&self, magnitude: f64) -> bool {
        let off = |other: &Constant| (self.sequential.as_f64() - other.as_f64()).abs();
        tolerance(self.sequential.ty(), magnitude)
            .is_some_and(|tolerance| self.regrouped.iter().all(|other| off(other) <= tolerance / 64.0))
    }

    fn is_close(&self, got: Constant, magnitude: f64) -> bool {
        let off = (self.sequential.as_f64() - got.as_f64()).abs();
        tolerance(self.sequential.ty(), magnitude).is_some_and(|tolerance| off <= tolerance)
    }
}

/// How far floats may be off, among numbers of this magnitude.
fn tolerance(ty: Type, magnitude: f64) -> Option<f64> {
    match ty {
        Type::F32 => Some(2f64.powi(-10) * magnitude),
        Type::F64 => Some(2f64.powi(-30) * magnitude),
        _ => None,
    }
}

impl<'a> Expected<'a> {
    /// For kernels that regroup where operators have that association, or for none that does.
    pub(super) fn new(
        program: &'a Lowered,
        regroups: Option<Association>,
        sample: &Sample,
        init: &[Vec<Constant>],
    ) -> Expected<'a> {
        let chunks = [CHUNK, sample.len];
        let mut expected = Expected::regrouped(program, if regroups.is_some() { &chunks } else { &[] }, sample, init);
        // Where floats are rounded, that these associations agree says little of another one.
        expected.is_exact = regroups != Some(Association::Fixed) && expected.agrees_everywhere();
        expected
    }

    /// With these associations.
    fn regrouped(program: &'a Lowered, chunks: &[usize], sample: &Sample, init: &[Vec<Constant>]) -> Expected<'a> {
        let inputs: Vec<&[u8]> = sample.columns.iter().map(Vec::as_slice).collect();
        let parameters = sample.parameters.values().to_vec();
        let request = Request { init: Some(init.to_vec()), parameters, ..Request::default() };
        let sequential = run(program, &inputs, &request).expect("a sample has the program's columns");
        let in_chunks = |&chunk| run_in_chunks(program, &inputs, &request, chunk).expect("a sample has them");
        let regrouped = chunks.iter().map(in_chunks).collect();
        let columns = &program.output.columns;
        let of_loop = program.sequential.iter().flat_map(|of| [&of.step.function, &of.project.function]);
        let is_bound = |inst: &Inst| inst.ty.is_float() && matches!(inst.opcode, Opcode::Min | Opcode::Max);
        let has_any_zero = program.functions().chain(of_loop).any(|function| function.insts.iter().any(is_bound));
        let mut expected =
            Expected { program, columns, sequential, regrouped, is_exact: false, has_any_zero, magnitudes: Vec::new() };
        expected.magnitudes = (0..columns.len()).map(|column| expected.magnitudes_of(column)).collect();
        expected
    }

    /// Whether these associations give the same bits.
    fn agrees_everywhere(&self) -> bool {
        self.same_counts()
            && self.states().all(|value| value.is_exact())
            && self.outputs().all(|place| self.output(place).is_exact())
    }

    /// Whether they give the same but for rounding.
    fn is_stable_everywhere(&self) -> bool {
        let is_stable = |place| self.output(place).is_exact() || self.is_stable(place);
        self.same_counts() && self.outputs().all(is_stable)
    }

    /// Whether the association changes no bit.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether there is anything that does not depend on the association by more than rounding. Of records that do not
    /// follow each other nothing is known.
    pub(super) fn is_comparable(&self) -> bool {
        let compares = self.is_exact || self.same_counts() && self.outputs().any(|place| self.is_stable(place));
        self.sequential.out_of_order.is_none() && compares
    }

    /// The first output or state that differs, of those that can be compared.
    pub(super) fn differs(&self, written: &Written) -> Option<Difference> {
        let outputs = written.outputs.as_ref().and_then(|outputs| self.differing_output(outputs));
        outputs.or_else(|| self.differing_state(written.states.as_ref()?))
    }

    fn differing_output(&self, written: &[Vec<u8>]) -> Option<Difference> {
        for (column, (layout, written)) in self.columns.iter().zip(written).enumerate() {
            let (records, count) = (written.len() / layout.size as usize, self.sequential.count);
            if records != count {
                return Some(Difference::Records { column, expected: count, got: records });
            }
        }
        self.outputs().find_map(|place @ (column, record, field)| {
            let expected = self.output(place);
            let got = self.read(&written[column], place);
            let magnitude = self.magnitudes[column][field];
            let output = |expected| Difference::Output { column, record, field, expected, got };
            (!self.agrees(&expected, got, magnitude)).then(|| output(expected.sequential))
        })
    }

    fn differing_state(&self, states: &[Constant]) -> Option<Difference> {
        let states = self.states().zip(self.program.seen(states.to_vec())).enumerate();
        states.into_iter().find_map(|(component, (expected, got))| {
            let magnitude = expected.sequential.as_f64().abs();
            let state = |expected| Difference::State { component, expected, got };
            (!self.agrees(&expected, got, magnitude)).then(|| state(expected.sequential))
        })
    }

    fn agrees(&self, expected: &Value, got: Constant, magnitude: f64) -> bool {
        let is_zero = |value: Constant| value.ty().is_float() && value.as_f64() == 0.0;
        match self.is_exact {
            true if self.has_any_zero && is_zero(got) => is_zero(expected.sequential),
            true => expected.sequential.same(got),
            false => !expected.is_stable(magnitude) || expected.is_close(got, magnitude),
        }
    }

    fn same_counts(&self) -> bool {
        self.regrouped.iter().all(|other| other.count == self.sequential.count)
    }

    fn states(&self) -> impl Iterator<Item = Value> {
        let all = |run: &'_ Run| self.program.seen(run.states_after.iter().flatten().copied().collect());
        let (sequential, regrouped) = (all(&self.sequential), self.regrouped.iter().map(all).collect::<Vec<_>>());
        (0..sequential.len()).map(move |place| Value {
            sequential: sequential[place],
            regrouped: regrouped.iter().map(|states| states[place]).collect(),
        })
    }

    /// Every field of every record of every column, as (column, record, field).
    fn outputs(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let counts = self.regrouped.iter().map(|run| run.count);
        let records = counts.chain([self.sequential.count]).min().unwrap_or(0);
        let fields =
            (0..).zip(self.columns).flat_map(|(column, layout)| (0..layout.fields.len()).map(move |f| (column, f)));
        fields.flat_map(move |(column, field)| (0..records).map(move |record| (column, record, field)))
    }

    fn output(&self, place: (usize, usize, usize)) -> Value {
        let value = |run: &Run| self.read(&run.outputs[place.0], place);
        Value { sequential: value(&self.sequential), regrouped: self.regrouped.iter().map(value).collect() }
    }

    fn read(&self, bytes: &[u8], (column, record, field): (usize, usize, usize)) -> Constant {
        let layout = &self.columns[column];
        let field = layout.fields[field];
        let start = record * layout.size as usize + field.offset as usize;
        Constant::from_bytes(field.ty, &bytes[start..start + field.ty.size()])
    }

    /// The largest number of each field.
    fn magnitudes_of(&self, column: usize) -> Vec<f64> {
        let largest = |field| {
            let records = 0..self.sequential.count;
            let values = records.map(|record| self.read(&self.sequential.outputs[column], (column, record, field)));
            values.map(|value| value.as_f64().abs()).filter(|value| value.is_finite()).fold(0f64, f64::max)
        };
        (0..self.columns[column].fields.len()).map(largest).collect()
    }

    fn is_stable(&self, place @ (column, _, field): (usize, usize, usize)) -> bool {
        self.output(place).is_stable(self.magnitudes[column][field])
    }
}

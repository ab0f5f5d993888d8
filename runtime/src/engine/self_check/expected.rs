//! What the interpreter gives for a sample, and how far that depends on the association.

use scan_ir::interp::{Request, Run, run, run_in_chunks};
use scan_ir::{Constant, Layout, Program, Type, Verified};

use super::sample::Sample;

/// How the interpreter regroups.
const CHUNK: usize = 5;

/// The outputs of a sample.
pub(super) struct Expected<'a> {
    columns: &'a [Layout],
    sequential: Run,
    regrouped: Run,
    is_exact: bool,
    /// For each column and field of floats how far results may be off.
    tolerances: Vec<Vec<Option<f64>>>,
}

/// What kernels made of a sample.
pub(super) struct Written {
    pub(super) outputs: Option<Vec<Vec<u8>>>,
    /// The components of the states after the line.
    pub(super) states: Option<Vec<Constant>>,
}

/// Something that is not what it should be.
#[derive(PartialEq, Debug)]
pub(super) struct Difference {
    pub(super) place: String,
    pub(super) expected: String,
    pub(super) got: String,
}

impl<'a> Expected<'a> {
    pub(super) fn new(program: &'a Verified<Program>, sample: &Sample, seeds: &[Vec<Constant>]) -> Expected<'a> {
        let columns: Vec<&[u8]> = sample.columns.iter().map(Vec::as_slice).collect();
        let request = Request { seeds: Some(seeds.to_vec()), ..Request::default() };
        let sequential = run(program, &columns, &request).expect("a sample has the program's columns");
        let regrouped = run_in_chunks(program, &columns, &request, CHUNK).expect("a sample has the program's columns");
        let same_states = sequential
            .states_after
            .iter()
            .flatten()
            .zip(regrouped.states_after.iter().flatten())
            .all(|(a, b)| a.same(*b));
        let columns = &program.output.columns;
        let mut expected = Expected { columns, sequential, regrouped, is_exact: false, tolerances: Vec::new() };
        expected.is_exact = same_states
            && expected.sequential.count == expected.regrouped.count
            && expected.all().all(|(column, record, field)| {
                let (one, other) = expected.both(column, record, field);
                one.same(other)
            });
        expected.tolerances = (0..columns.len()).map(|column| expected.tolerances_of(column)).collect();
        expected
    }

    /// Whether the association changes no bit.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether there is anything that does not depend on the association by more than rounding.
    pub(super) fn is_comparable(&self) -> bool {
        self.is_exact || self.sequential.count == self.regrouped.count && self.all().any(|place| self.is_stable(place))
    }

    /// The first output or state that differs, of those that can be compared.
    pub(super) fn differs(&self, written: &Written) -> Option<Difference> {
        let outputs = written.outputs.as_ref().and_then(|outputs| self.differing_output(outputs));
        outputs.or_else(|| self.differing_state(written.states.as_ref().filter(|_| self.is_exact)?))
    }

    fn differing_output(&self, written: &[Vec<u8>]) -> Option<Difference> {
        for (column, (layout, written)) in self.columns.iter().zip(written).enumerate() {
            let (records, count) = (written.len() / layout.size as usize, self.sequential.count);
            if records != count {
                let [expected, got] = [count, records].map(|count| format!("{count} records"));
                return Some(Difference { place: format!("output column {column}"), expected, got });
            }
        }
        self.all().find_map(|place @ (column, record, field)| {
            let (expected, _) = self.both(column, record, field);
            let got = self.value(&written[column], column, record, field);
            let agrees = match self.is_exact {
                true => expected.same(got),
                false => !self.is_stable(place) || self.is_close(place, got),
            };
            let place = || format!("output column {column}, record {record}, field {field}");
            (!agrees).then(|| Difference { place: place(), expected: expected.to_string(), got: got.to_string() })
        })
    }

    fn differing_state(&self, states: &[Constant]) -> Option<Difference> {
        let expected = self.sequential.states_after.iter().flatten();
        let (place, (expected, got)) =
            expected.zip(states).enumerate().find(|(_, (expected, got))| !expected.same(**got))?;
        let place = format!("component {place} of the states after the line");
        Some(Difference { place, expected: expected.to_string(), got: got.to_string() })
    }

    /// Every field of every record of every column.
    fn all(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let records = self.sequential.count.min(self.regrouped.count);
        let fields =
            (0..).zip(self.columns).flat_map(|(column, layout)| (0..layout.fields.len()).map(move |f| (column, f)));
        fields.flat_map(move |(column, field)| (0..records).map(move |record| (column, record, field)))
    }

    fn value(&self, bytes: &[u8], column: usize, record: usize, field: usize) -> Constant {
        let layout = &self.columns[column];
        let field = layout.fields[field];
        let start = record * layout.size as usize + field.offset as usize;
        Constant::from_bytes(field.ty, &bytes[start..start + field.ty.size()])
    }

    fn both(&self, column: usize, record: usize, field: usize) -> (Constant, Constant) {
        let value = |run: &Run| self.value(&run.outputs[column], column, record, field);
        (value(&self.sequential), value(&self.regrouped))
    }

    /// A part of the largest number in the column.
    fn tolerances_of(&self, column: usize) -> Vec<Option<f64>> {
        let part = |ty| match ty {
            Type::F32 => Some(2f64.powi(-10)),
            Type::F64 => Some(2f64.powi(-30)),
            _ => None,
        };
        let records = self.sequential.count.min(self.regrouped.count);
        let largest = |field| {
            let values = (0..records).map(|record| self.both(column, record, field).0.as_f64().abs());
            values.filter(|value| value.is_finite()).fold(0f64, f64::max)
        };
        let fields = self.columns[column].fields.iter().enumerate();
        fields.map(|(field, of)| Some(part(of.ty)? * largest(field))).collect()
    }

    /// Whether this is a float that regrouping changes by far less than the tolerance.
    fn is_stable(&self, (column, record, field): (usize, usize, usize)) -> bool {
        let Some(tolerance) = self.tolerances[column][field] else { return false };
        let (one, other) = self.both(column, record, field);
        (one.as_f64() - other.as_f64()).abs() <= tolerance / 64.0
    }

    fn is_close(&self, (column, record, field): (usize, usize, usize), got: Constant) -> bool {
        let tolerance = self.tolerances[column][field].unwrap_or(0.0);
        (self.both(column, record, field).0.as_f64() - got.as_f64()).abs() <= tolerance
    }
}

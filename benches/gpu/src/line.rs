//! The expected results of a scan: the user's own Rust operator, one element after the other, on
//! all cores of the host.
//!
//! Data is periodic, so that gigabytes of it take no time to make: what is true of every element of
//! a long line follows from the states within one period. The period is a prime number of elements,
//! so that no tile of a kernel ever sees the same data at the same place. All operators and data
//! here are exact in every association, floating-point ones too; so results are compared exactly,
//! all of them.

use std::fmt::Debug;

use bytemuck::Pod;
use monoscan_ir::{Program, Verified};
use rayon::prelude::*;

/// Elements of a period: a prime, and a smaller one in the tests of this program.
pub(crate) const PERIOD: usize = if cfg!(test) { (1 << 17) - 1 } else { (1 << 21) - 9 };

/// Parts of a period that are checked on their own.
const PARTS: usize = 64;

/// Elements of a part.
const PART: usize = PERIOD.div_ceil(PARTS);

/// The output of a scan, read part by part.
pub(crate) trait Written {
    /// Some bytes from a place on, aligned for any record; not more than a period.
    ///
    /// # Errors
    /// They cannot be read.
    fn read(&mut self, first: usize, bytes: usize) -> Result<&[u8], String>;
}

/// A scan with its data and its meaning.
pub(crate) trait Subject {
    fn program(&self) -> &Verified<Program>;

    /// A period of each column's bytes.
    fn columns(&self) -> &[Vec<u8>];

    /// How many of so many records are written.
    fn written(&self, records: usize) -> usize {
        records
    }

    /// Compares the output of a scan of so many records.
    ///
    /// # Errors
    /// Which element is wrong, or that the output could not be read.
    fn check(&self, records: usize, output: &mut dyn Written) -> Result<(), String>;
}

/// A scan whose output is a function of the states before and after each element.
pub(crate) struct Line<S, Lift, Combine, Project> {
    program: Verified<Program>,
    columns: Vec<Vec<u8>>,
    lift: Lift,
    combine: Combine,
    project: Project,
    /// The state before anything.
    identity: S,
    /// The states before each part of a period, and after the last one.
    starts: Vec<S>,
}

impl<S, O, Lift, Combine, Project> Line<S, Lift, Combine, Project>
where
    S: Copy + Send + Sync,
    O: Pod + PartialEq + Debug + Send,
    Lift: Fn(usize) -> S + Sync,
    Combine: Fn(S, S) -> S + Sync,
    Project: Fn(S, S, usize) -> O + Sync,
{
    /// `lift` has the place of an element in its period, `project` that and the states before and after it.
    pub(crate) fn new(
        program: &Verified<Program>,
        columns: Vec<Vec<u8>>,
        identity: S,
        (lift, combine, project): (Lift, Combine, Project),
    ) -> Line<S, Lift, Combine, Project> {
        let parts: Vec<S> =
            (0..PARTS).into_par_iter().map(|part| places(part, PERIOD).map(&lift).fold(identity, &combine)).collect();
        let mut starts = vec![identity];
        for part in parts {
            starts.push(combine(starts[starts.len() - 1], part));
        }
        Line { program: program.clone(), columns, lift, combine, project, identity, starts }
    }

    /// The first wrong element of a part of a period, and what it should be.
    fn first_wrong(&self, part: usize, carry: S, found: &[O]) -> Option<(usize, O)> {
        let mut state = (self.combine)(carry, self.starts[part]);
        places(part, found.len()).find_map(|place| {
            let before = state;
            state = (self.combine)(before, (self.lift)(place));
            let expected = (self.project)(before, state, place);
            (found[place] != expected).then_some((place, expected))
        })
    }
}

/// The elements of a part, of so many elements of a period.
fn places(part: usize, len: usize) -> std::ops::Range<usize> {
    (part * PART).min(len)..((part + 1) * PART).min(len)
}

impl<S, O, Lift, Combine, Project> Subject for Line<S, Lift, Combine, Project>
where
    S: Copy + Send + Sync,
    O: Pod + PartialEq + Debug + Send + Sync,
    Lift: Fn(usize) -> S + Sync,
    Combine: Fn(S, S) -> S + Sync,
    Project: Fn(S, S, usize) -> O + Sync,
{
    fn program(&self) -> &Verified<Program> {
        &self.program
    }

    fn columns(&self) -> &[Vec<u8>] {
        &self.columns
    }

    fn check(&self, records: usize, output: &mut dyn Written) -> Result<(), String> {
        let mut carry = self.identity;
        for first in (0..records).step_by(PERIOD) {
            let len = PERIOD.min(records - first);
            let found: &[O] = bytemuck::cast_slice(output.read(first * size_of::<O>(), len * size_of::<O>())?);
            let wrong = (0..PARTS).into_par_iter().find_map_first(|part| self.first_wrong(part, carry, found));
            if let Some((place, expected)) = wrong {
                return Err(format!("element {} is {:?}, expected {expected:?}", first + place, found[place]));
            }
            carry = (self.combine)(carry, self.starts[PARTS]);
        }
        Ok(())
    }
}

/// A scan whose output repeats itself as its input does, but for the element at the end of the line.
pub(crate) struct Periodic<O, Later, Kept, End> {
    pub(crate) program: Verified<Program>,
    pub(crate) columns: Vec<Vec<u8>>,
    /// The output of the first period.
    pub(crate) expected: Vec<O>,
    /// The output of the same records so many periods later.
    pub(crate) later: Later,
    /// How many records are written for so many of a period.
    pub(crate) kept: Kept,
    /// The last element of a line that ends at this place of a period, if it is another one.
    pub(crate) end: End,
}

impl<O, Later, Kept, End> Subject for Periodic<O, Later, Kept, End>
where
    O: Pod + PartialEq + Debug + Send + Sync,
    Later: Fn(O, usize) -> O + Sync,
    Kept: Fn(usize) -> usize,
    End: Fn(usize) -> Option<O>,
{
    fn program(&self) -> &Verified<Program> {
        &self.program
    }

    fn columns(&self) -> &[Vec<u8>] {
        &self.columns
    }

    fn written(&self, records: usize) -> usize {
        records / PERIOD * self.expected.len() + (self.kept)(records % PERIOD)
    }

    fn check(&self, records: usize, output: &mut dyn Written) -> Result<(), String> {
        let written = self.written(records);
        let end = (self.end)((records - 1) % PERIOD);
        let (first_period, later) = (&self.expected, &self.later);
        for (period, first) in (0..written).step_by(first_period.len()).enumerate() {
            let len = first_period.len().min(written - first);
            let found: &[O] = bytemuck::cast_slice(output.read(first * size_of::<O>(), len * size_of::<O>())?);
            let expected = |place: usize| match end {
                Some(end) if first + place + 1 == written => later(end, period),
                _ => later(first_period[place], period),
            };
            let wrong = (0..len).into_par_iter().find_first(|&place| found[place] != expected(place));
            if let Some(place) = wrong {
                let (found, expected) = (found[place], expected(place));
                return Err(format!("element {} is {found:?}, expected {expected:?}", first + place));
            }
        }
        Ok(())
    }
}

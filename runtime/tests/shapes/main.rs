//! Compiled scans of generated operators and loops in every shape: lines, rows, columns of an array
//! and segments, in both directions, and their totals.
//!
//! All that the judge accepts has to be built, and no call may be refused: a kernel that differs
//! from the interpreter where a sample overflows is no fault. Results are those of the sequential
//! program, record by record, up to its first overflow.
//!
//! `MONOSCAN_ROUNDS=1000 cargo test --package monoscan-runtime --test shapes` tries so many of
//! each, from `MONOSCAN_FIRST` on.

mod loops;
mod operators;

use monoscan_ir::{Constant, Layout, Type};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, PlanOptions, Rows, Shape};
use scan_kit::Random;

fn number(name: &str, or: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or)
}

/// The numbers of the cases to try.
fn seeds(rounds: u64) -> std::ops::Range<u64> {
    let first = number("MONOSCAN_FIRST", 0);
    first..first + number("MONOSCAN_ROUNDS", rounds)
}

/// One of three plans: the default, one of few elements in one pass, and one of short blocks.
fn any_plan(random: &mut Random) -> PlanOptions {
    match random.below(3) {
        0 => PlanOptions::default(),
        1 => PlanOptions { direct: Some(8), ..PlanOptions::default() },
        _ => PlanOptions { block: Some(1 + random.below(40)), direct: Some(0), ..PlanOptions::default() },
    }
}

/// A small number of a type; of floats a quarter of one.
fn small(ty: Type, random: &mut Random) -> Constant {
    match ty {
        Type::Bool => Constant::from(random.chance(2)),
        Type::F32 => Constant::from((random.below(5) as f32 - 2.0) / 4.0),
        Type::F64 => Constant::from((random.below(5) as f64 - 2.0) / 4.0),
        ty => ty.of_i64(random.below(5) as i64 - if ty.is_signed() { 2 } else { 0 }),
    }
}

/// The states after the records at these places, up to the first overflow.
type StatesAfter<'a> = dyn Fn(&[usize]) -> Vec<Vec<Constant>> + 'a;

/// The sequential program: the state that each sequence starts from, and those after its records, unless numbers are rounded.
struct Sequential<'a> {
    start: Vec<Constant>,
    states: Option<&'a StatesAfter<'a>>,
}

/// Columns of records, and the columns of results, whose fields are the components of the state in order.
struct Data<'a> {
    inputs: Vec<(Vec<u8>, &'a Layout)>,
    outputs: &'a [Layout],
    len: usize,
}

impl Data<'_> {
    /// Runs a call and its reduction, and compares each sequence.
    fn compare(
        &self,
        scan: &DynScan,
        call: &Call<'_>,
        sequences: &[Vec<usize>],
        expected: &Sequential<'_>,
    ) -> Result<(), String> {
        let inputs: Vec<Column<'_>> =
            self.inputs.iter().map(|(bytes, layout)| Column::from_bytes(bytes, layout).unwrap()).collect();
        let mut results: Vec<Vec<u8>> =
            self.outputs.iter().map(|layout| vec![0; self.len * layout.size as usize]).collect();
        let outputs = results.iter_mut().zip(self.outputs);
        let mut outputs: Vec<ColumnMut<'_>> =
            outputs.map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).unwrap()).collect();
        let written = scan.run(call, &inputs, &mut outputs).map_err(|error| error.to_string())?;
        let all: usize = sequences.iter().map(Vec::len).sum();
        if written != all {
            return Err(format!("{written} records were written, of {all}"));
        }
        let totals = scan.reduce(call, &inputs).map_err(|error| format!("reduced: {error}"))?;
        let Some(states) = &expected.states else { return Ok(()) };
        let mut lasts = Vec::new();
        for places in sequences {
            let mut places = places.clone();
            if call.reversed {
                places.reverse();
            }
            let states = states(&places);
            for (place, state) in places.iter().zip(&states) {
                let of_column = |(layout, bytes): (&Layout, &Vec<u8>)| {
                    layout.from_bytes(&bytes[place * layout.size as usize..][..layout.size as usize]).unwrap()
                };
                let got: Vec<Constant> = self.outputs.iter().zip(&results).flat_map(of_column).collect();
                if got != *state {
                    return Err(format!("record {place}: {got:?}, expected {state:?}"));
                }
            }
            let is_whole = states.len() == places.len();
            lasts.push(is_whole.then(|| states.last().unwrap_or(&expected.start).clone()));
        }
        if matches!(call.shape, Shape::Heads(_)) {
            // Their one total is that of the last segment in the order of the scan.
            let last = if call.reversed { lasts.swap_remove(0) } else { lasts.pop().flatten() };
            lasts = vec![last];
        }
        let of_each = totals.chunks(expected.start.len());
        if of_each.len() != lasts.len() {
            return Err(format!("{} totals of {} sequences", of_each.len(), lasts.len()));
        }
        let wrong = of_each.zip(&lasts).enumerate().find_map(|(sequence, (got, last))| {
            let last = last.as_ref().filter(|last| *last != got)?;
            Some(format!("total {sequence}: {got:?}, expected {last:?}"))
        });
        wrong.map_or(Ok(()), Err)
    }

    /// The first shape that goes wrong.
    fn wrong(&self, scan: &DynScan, expected: &Sequential<'_>, random: &mut Random) -> Option<String> {
        let len = self.len;
        let row = [1, 2, 3, 5, 8, 16, 33][random.below(7)];
        let rows = len / row;
        let heads: Vec<bool> = (0..len).map(|_| random.chance(7)).collect();
        let mut offsets: Vec<usize> = (0..6).map(|_| random.below(len + 1)).chain([0, len]).collect();
        offsets.sort_unstable();
        let between = offsets.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect();
        let mut flagged: Vec<Vec<usize>> = vec![Vec::new()];
        for (place, &head) in heads.iter().enumerate() {
            if head && place > 0 {
                flagged.push(Vec::new());
            }
            flagged.last_mut()?.push(place);
        }
        let along = |step: usize, apart: usize| {
            let of_row = move |of| (0..row).map(move |i| of * apart + i * step).collect();
            (0..rows).map(of_row).collect()
        };
        let gaps = len / (row + 2);
        let with_gaps = (0..gaps).map(|of| (0..row).map(|i| of * (row + 2) + i).collect()).collect();
        // A few columns of planes that lie apart.
        let (planes, columns) = (1 + random.below(3), 2 + random.below(16));
        let pitch = len / planes;
        let down = pitch / columns;
        let in_plane = |of: usize| (0..columns).map(move |column| (of * pitch + column, columns));
        let of_column = |(first, step): (usize, usize)| (0..down).map(|i| first + i * step).collect();
        let of_planes = (0..planes).flat_map(in_plane).map(of_column).collect();
        let shapes: [(Shape<'_>, Vec<Vec<usize>>); 7] = [
            (Shape::Line, vec![(0..len).collect()]),
            (Shape::Rows(Rows::new(rows, row, row).unwrap()), along(1, row)),
            (Shape::Rows(Rows::axis(&[row, rows], 0).unwrap()), along(rows, 1)),
            (Shape::Rows(Rows::new(gaps, row, row + 2).unwrap()), with_gaps),
            (Shape::Rows(Rows::planes(planes, pitch, down, columns).unwrap()), of_planes),
            (Shape::Offsets(&offsets), between),
            (Shape::Heads(&heads), flagged),
        ];
        shapes.into_iter().find_map(|(shape, sequences)| {
            [false, true].into_iter().find_map(|reversed| {
                let call = Call { shape, reversed, ..Call::default() };
                let wrong = self.compare(scan, &call, &sequences, expected).err()?;
                Some(format!("{wrong}\n{len} records, rows of {row}, reversed: {reversed}, {shape:?}"))
            })
        })
    }
}

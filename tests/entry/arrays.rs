//! Scans down the columns of arrays, which lie side by side, and their totals: in vectors with a
//! column in each lane, in blocks, and one by one. Any number of columns is what the plain loop
//! gives for each.

use std::fmt::Debug;

use monoscan::ops::{Max, Sum, Xor};
use monoscan::prelude::*;
use monoscan::{PlanOptions, State};
use scan_kit::Random;
use scan_kit::zoo::{Affine, ArgMax, Carry, Hash, Segmented, Switch, Unitriangular, Words};

/// Planes, rows and columns: columns that fill no vector, one, several, and a rest; rows that are one piece, and more; more records than
/// one short call has.
const SHAPES: [[usize; 3]; 11] = [
    [1, 9, 1],
    [2, 3, 2],
    [1, 70, 4],
    [1, 5, 7],
    [2, 65, 16],
    [1, 64, 33],
    [3, 2, 100],
    [1, 130, 131],
    [1, 700, 3],
    [2, 400, 6],
    [1, 150, 70],
];

fn down<M: Monoid + PartialEq + Debug>(name: &str, make: impl Fn(&mut Random) -> M) {
    let mut random = Random(8);
    for vector in [None, Some(false)] {
        let plan = PlanOptions { vector, ..PlanOptions::default() };
        let scan = Scan::<M>::builder().assume_associative().plan(plan).threads(2).build().unwrap();
        for shape in SHAPES {
            let [planes, rows, columns] = shape;
            let x: Vec<M> = (0..planes * rows * columns).map(|_| make(&mut random)).collect();
            let starts: Vec<M> = (0..planes * columns).map(|_| make(&mut random)).collect();
            let (mut inclusive, mut exclusive, mut totals) = (x.clone(), x.clone(), starts.clone());
            for (column, &start) in starts.iter().enumerate() {
                let (of, plane, column) = (column, column / columns, column % columns);
                let mut state = start;
                for row in 0..rows {
                    let at = (plane * rows + row) * columns + column;
                    exclusive[at] = state;
                    state = state.combine(x[at]);
                    inclusive[at] = state;
                }
                totals[of] = state;
            }
            let request = || scan.axis(&shape, 1).init_each(&starts);
            assert_eq!(request().inclusive(&x).unwrap(), inclusive, "{name}, {shape:?}");
            assert_eq!(request().exclusive(&x).unwrap(), exclusive, "{name}, {shape:?}");
            let mut replaced = x.clone();
            request().inclusive_in_place(&mut replaced).unwrap();
            assert_eq!(replaced, inclusive, "{name} in place, {shape:?}");
            // From the last row to the first.
            let flipped = |x: &[M]| -> Vec<M> {
                x.chunks(rows * columns).flat_map(|plane| plane.chunks(columns).rev().flatten().copied()).collect()
            };
            let found = request().reversed().inclusive(&flipped(&x)).unwrap();
            assert_eq!(found, flipped(&inclusive), "{name} reversed, {shape:?}");
            assert_eq!(request().totals(&x).unwrap(), totals, "totals of {name}, {shape:?}");
            assert_eq!(
                request().reversed().totals(&flipped(&x)).unwrap(),
                totals,
                "totals of {name} reversed, {shape:?}"
            );
            let found = request().inclusive_with_totals(&x).unwrap();
            assert_eq!(found, (inclusive, totals), "{name} with totals, {shape:?}");
        }
    }
}

#[test]
fn columns_of_every_kind_of_state() {
    down("xor of u8", |random| Xor(random.bits() as u8));
    down("sum of i16", |random| Sum(random.below(9) as i16 - 4));
    down("sum of i64", |random| Sum(random.below(9) as i64 - 4));
    down("sum of f32", |random| Sum((random.below(9i32) - 4) as f32));
    down("sum of f64", |random| Sum(f64::from(random.below(9i32) - 4)));
    down("maximum of u32", |random| Max(random.bits() as u32));
    down("affine", |random| Affine { a: (random.below(3i32) - 1) as f32, b: (random.below(9i32) - 4) as f32 });
    down("hash", |random| Hash { hash: random.below(256), power: 1_000_003 });
    down("place", |random| ArgMax { value: random.below(1000u32) as i16, place: random.below(1000) });
    down("carry", |random| Carry { generate: random.below(4u32) == 0, propagate: random.below(2u32) == 0 });
    down("segments", |random| Segmented { start: random.below(9u32) == 0, value: Max(random.bits() as i32) });
    down("words", |random| {
        let is_word = random.below(3) != 0;
        Words { any: true, first: is_word, last: is_word, count: u32::from(is_word) }
    });
    let small = |random: &mut Random| random.below(7) - 3;
    down("unitriangular", |random| Unitriangular { a: small(random), b: small(random), corner: small(random) });
    down("switch", |random| *random.pick(&[Switch::Off, Switch::Unset, Switch::Unset, Switch::On]));
}

/// A lift of several columns with a parameter, and the step of a loop.
#[test]
fn columns_of_several_inputs_and_of_loops() {
    let mut random = Random(9);
    let lift = scan!(|weight: f32, keep: bool, x: f32| -> Sum<f32> { Sum(if keep { weight * x } else { 0.0 }) });
    let scan = Scan::<Sum<f32>>::builder().lift_with(2.0f32, lift).build().unwrap();
    let step = scan!(|count: u32, flag: bool, x: u8| -> u32 { if flag { 0 } else { count + x as u32 } });
    let counts = Scan::loop_builder(step, 7).build().unwrap();
    for [planes, rows, columns] in SHAPES {
        let len = planes * rows * columns;
        let flags: Vec<bool> = (0..len).map(|_| random.below(3) == 0).collect();
        let (bytes, numbers): (Vec<u8>, Vec<f32>) =
            (0..len).map(|_| (random.below(9) as u8, (random.below(9i32) - 4) as f32)).unzip();
        let (mut sums, mut counted) = (vec![Sum(0.0); len], vec![0; len]);
        for (plane, column) in (0..planes).flat_map(|plane| (0..columns).map(move |column| (plane, column))) {
            let (mut sum, mut count) = (0.0, 7);
            for row in 0..rows {
                let at = (plane * rows + row) * columns + column;
                sum += if flags[at] { 3.0 * numbers[at] } else { 0.0 };
                count = if flags[at] { 0 } else { count + u32::from(bytes[at]) };
                (sums[at], counted[at]) = (Sum(sum), count);
            }
        }
        let shape = [planes, rows, columns];
        let found = scan.with(3.0f32).unwrap().axis(&shape, 1).inclusive((&flags, &numbers)).unwrap();
        assert_eq!(found, sums, "{shape:?}");
        assert_eq!(counts.axis(&shape, 1).inclusive((&flags, &bytes)).unwrap(), counted, "{shape:?}");
        let last = (0..planes).flat_map(|plane| ((plane + 1) * rows - 1) * columns..(plane + 1) * rows * columns);
        let totals: Vec<State<u32>> = last.map(|at| State(counted[at])).collect();
        assert_eq!(counts.axis(&shape, 1).totals((&flags, &bytes)).unwrap(), totals, "{shape:?}");
    }
}

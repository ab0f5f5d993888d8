//! Scans down the columns of arrays, which lie side by side, and their totals: in vectors with a
//! column in each lane, in blocks, and one by one. Any number of columns is what the plain loop
//! gives for each.

use std::fmt::Debug;

use monoscan::ops::{Max, Moments, Sum, Xor};
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
            from_the_identity(name, &scan, shape, &x);
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

/// The same from the identity, twice: short calls find a kernel from the second one on.
fn from_the_identity<M: Monoid + PartialEq + Debug>(name: &str, scan: &Scan<M>, shape: [usize; 3], x: &[M]) {
    let [planes, rows, columns] = shape;
    let (mut inclusive, mut totals) = (x.to_vec(), vec![M::identity(); planes * columns]);
    for (place, record) in inclusive.iter_mut().enumerate() {
        let state = &mut totals[place / (rows * columns) * columns + place % columns];
        *state = state.combine(*record);
        *record = *state;
    }
    for _ in 0..2 {
        assert_eq!(scan.axis(&shape, 1).inclusive(x).unwrap(), inclusive, "{name}, {shape:?}");
        assert_eq!(scan.axis(&shape, 1).totals(x).unwrap(), totals, "totals of {name}, {shape:?}");
    }
}

/// Of two stages, whose states lie one after the other in the totals of each row, and stage by stage in a line of them.
#[test]
fn totals_of_columns_of_a_cascade() {
    #[scan_fn]
    fn largest(e: Element<i32, Sum<i32>>) -> Max<i32> {
        Max(e.after.0)
    }
    let lift = scan!(|x: i32| -> Sum<i32> { Sum(x) });
    let scan = Scan::<Sum<i32>>::builder().lift(lift).then(largest {}).build().unwrap();
    let mut random = Random(11);
    for shape @ [planes, rows, columns] in SHAPES {
        let x: Vec<i32> = (0..planes * rows * columns).map(|_| random.below(9) - 4).collect();
        let mut totals = vec![(Sum(0), Max(i32::MIN)); planes * columns];
        for (place, &x) in x.iter().enumerate() {
            let (sum, largest) = &mut totals[place / (rows * columns) * columns + place % columns];
            sum.0 += x;
            largest.0 = largest.0.max(sum.0);
        }
        for _ in 0..3 {
            assert_eq!(scan.axis(&shape, 1).totals(&x).unwrap(), totals, "{shape:?}");
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

/// States that depend on the number of records alone, and are read by others: the count that a mean needs.
#[test]
fn totals_of_columns_whose_aggregates_read_their_length() {
    let mut random = Random(10);
    let scan = Scan::<Moments<f64>>::builder()
        .lift(scan!(|x: f64| -> Moments<f64> { Moments::of(x) }))
        .project(scan!(|sample: Moments<f64>| -> f64 { Moments::variance(sample) }))
        .build()
        .unwrap();
    for shape @ [planes, rows, columns] in SHAPES.into_iter().chain([[1, 70_000, 8]]) {
        let x: Vec<f64> = (0..planes * rows * columns).map(|_| f64::from(random.below(9i32))).collect();
        let totals = scan.axis(&shape, 1).totals(&x).unwrap();
        assert_eq!(totals.len(), planes * columns);
        for (place, total) in totals.into_iter().enumerate() {
            let (plane, column) = (place / columns, place % columns);
            let own = || (0..rows).map(|row| x[(plane * rows + row) * columns + column]);
            let mean = own().sum::<f64>() / rows as f64;
            let squares: f64 = own().map(|x| (x - mean).powi(2)).sum();
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
            assert!(total.count == rows as f64 && is_near(total.mean, mean), "{shape:?}: {total:?}, mean {mean}");
            assert!(is_near(total.squares, squares), "{shape:?}: {total:?}, squares {squares}");
        }
    }
}

/// Rows that are only folded go in chunks where they are long.
#[test]
fn totals_of_long_columns_are_the_same_by_any_number_of_threads() {
    let mut random = Random(11);
    let sums = [1, 2, 5].map(|threads| Scan::<Sum<f32>>::builder().threads(threads).build().unwrap());
    let greatest = Scan::<ArgMax>::builder().threads(3).build().unwrap();
    for shape @ [planes, rows, columns] in [[1, 100_001, 6], [2, 9000, 70], [1, 8500, 131], [3, 110_000, 5]] {
        let len = planes * rows * columns;
        let x: Vec<Sum<f32>> = (0..len).map(|_| Sum(random.below(1000i32) as f32 / 7.0)).collect();
        let totals = sums.each_ref().map(|sum| sum.axis(&shape, 1).totals(&x).unwrap());
        assert!(totals.iter().all(|others| *others == totals[0]), "{shape:?}");
        let in_column = |column: usize| {
            let first = column / columns * rows * columns + column % columns;
            (0..rows).map(move |row| first + row * columns)
        };
        for (column, total) in totals[0].iter().enumerate() {
            let sum: f64 = in_column(column).map(|at| f64::from(x[at].0)).sum();
            assert!((f64::from(total.0) - sum).abs() <= 1e-4 * sum, "{shape:?}: {total:?}, {sum}");
        }
        let y: Vec<ArgMax> =
            (0..len).map(|_| ArgMax { value: random.below(1000u32) as i16, place: random.below(1000) }).collect();
        let expected: Vec<ArgMax> = (0..planes * columns)
            .map(|column| in_column(column).fold(ArgMax::identity(), |state, at| state.combine(y[at])))
            .collect();
        assert_eq!(greatest.axis(&shape, 1).totals(&y).unwrap(), expected, "{shape:?}");
    }
}

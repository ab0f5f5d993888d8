//! Sparse matrices times vectors, whatever their rows.

use std::fmt::Debug;

use monoscan::algo::on_gpu::Csr;
use monoscan::prelude::*;
use scan_kit::Random;

use super::{drawn, here, same, there, with_random};

/// Lengths of rows: none, all empty, all thin, uniform, one with most elements, and any mixture.
fn rows(random: &mut Random) -> Vec<Vec<usize>> {
    let many = 1000 + random.below(50_000usize);
    let thin = drawn(random, many, |bits| 1 + bits as usize % 4);
    let huge = [drawn(random, many, |bits| bits as usize % 4), vec![2 * many + 7]].concat();
    let mixed = drawn(random, many, |bits| [0, 0, 1, 7, 40, 700][bits as usize % 6]);
    vec![vec![], vec![0], vec![0; many], vec![5], thin, vec![8; many], huge, mixed]
}

/// So small that all products and sums are exact.
fn products<T: Num + PartialEq + Debug>(random: &mut Random, of: fn(u64) -> T) {
    for lengths in rows(random) {
        let mut offsets = vec![0u32];
        lengths.iter().for_each(|&length| offsets.push(offsets[offsets.len() - 1] + length as u32));
        let len = offsets[lengths.len()] as usize;
        let width = 1 + random.below(10_000usize);
        let columns = drawn(random, len, |bits| (bits % width as u64) as u32);
        let (values, x) = (drawn(random, len, |bits| of(bits % 4)), drawn(random, width, |bits| of(bits % 4)));
        let row = |row: usize| {
            let mut sum = T::ZERO;
            for i in offsets[row] as usize..offsets[row + 1] as usize {
                sum += values[i] * x[columns[i] as usize];
            }
            sum
        };
        let expected: Vec<T> = (0..lengths.len()).map(row).collect();
        let (doffsets, dcolumns, dvalues) = (there(&offsets), there(&columns), there(&values));
        let (matrix, dx) = (Csr::new(&doffsets, &dcolumns, &dvalues, width).unwrap(), there(&x));
        assert_eq!(matrix.height(), lengths.len());
        same(&here(matrix.times(&dx).unwrap()), &expected);
        let mut y = there(&vec![T::ONE; lengths.len()]);
        for _ in 0..2 {
            matrix.times_into(&dx, &mut y).unwrap();
        }
        same(&here(y), &expected);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn matrices_are_multiplied_whatever_their_rows() {
    with_random(|random| {
        products(random, |number| number as f32);
        products(random, |number| number as f64);
        products(random, |number| number as i32);
        products(random, |number| number);
    });
}

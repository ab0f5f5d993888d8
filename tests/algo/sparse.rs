//! Products of sparse matrices.

use monoscan::Error;
use monoscan::algo::AlgoError;
use monoscan::algo::sparse::Csr;

use super::common::{SHORT, generator, in_pools, offsets, segments};

#[test]
fn products_of_integers_wrap() {
    for len in [1, 3, 4, 9, 8191, 8193, 40_000] {
        let (columns, values) = (vec![0; len], vec![i32::MAX; len]);
        for offsets in [vec![0, len], (0..=len).collect::<Vec<_>>()] {
            let product =
                |ends: &[usize]| (ends[0]..ends[1]).fold(0, |y: i32, _| y.wrapping_add(i32::MAX.wrapping_mul(3)));
            let expected: Vec<i32> = offsets.windows(2).map(product).collect();
            assert_eq!(Csr::new(&offsets, &columns, &values, 1).unwrap().times(&[3]).unwrap(), expected);
        }
    }
}

#[test]
fn sparse_matrices_of_any_skew_give_the_products_of_the_loop_on_any_number_of_threads() {
    for len in SHORT.into_iter().chain([40_000]) {
        let mut random = generator(len);
        let width = 1 + len / 3;
        let columns: Vec<u32> = (0..len).map(|_| random.below(width) as u32).collect();
        // Small integers: sums are exact whatever their order.
        let values: Vec<f64> = (0..len).map(|_| random.below(9u32) as f64 - 4.0).collect();
        let x: Vec<f64> = (0..width).map(|_| random.below(9u32) as f64 - 4.0).collect();
        let fractions: Vec<f32> = (0..len).map(|_| random.unit() as f32).collect();
        for lengths in segments(len) {
            let offsets = offsets(&lengths);
            let product = |k: usize| values[k] * x[columns[k] as usize];
            let expected: Vec<f64> = offsets.windows(2).map(|ends| (ends[0]..ends[1]).map(product).sum()).collect();
            let [values_f32, x_f32] = [&values, &x].map(|x| x.iter().map(|&x| x as f32).collect::<Vec<f32>>());
            let expected_f32: Vec<f32> = expected.iter().map(|&y| y as f32).collect();
            let ones = vec![1.0f32; width];
            let once = Csr::new(&offsets, &columns, &fractions, width).unwrap().times(&ones).unwrap();
            for (y, ends) in once.iter().zip(offsets.windows(2)) {
                let exact: f64 = fractions[ends[0]..ends[1]].iter().copied().map(f64::from).sum();
                let bound = exact * (ends[1] - ends[0]) as f64 * f64::from(f32::EPSILON);
                assert!((f64::from(*y) - exact).abs() <= bound, "{y} for {exact}");
            }
            in_pools(|| {
                assert_eq!(Csr::new(&offsets, &columns, &values, width).unwrap().times(&x).unwrap(), expected);
                let of_f32 = Csr::new(&offsets, &columns, &values_f32, width).unwrap().times(&x_f32).unwrap();
                assert_eq!(of_f32, expected_f32);
                let rounded = Csr::new(&offsets, &columns, &fractions, width).unwrap().times(&ones).unwrap();
                assert_eq!(rounded, once, "roundings do not depend on threads");
            });
        }
    }
}

#[test]
fn bad_matrices_are_refused_with_what_was_expected() {
    let csr =
        |offsets: &'static [usize], columns: &'static [u32]| Csr::new(offsets, columns, &[1.0, 2.0], 4).unwrap_err();
    assert!(matches!(csr(&[0, 2], &[0, 4]), AlgoError::Index { argument: "columns", place: 1, expected: 4, got: 4 }));
    assert!(matches!(csr(&[0, 2], &[0]), AlgoError::Length { argument: "columns", expected: 2, got: 1 }));
    assert!(matches!(csr(&[], &[0, 1]), AlgoError::Scan(Error::TooFewOffsets { records: 2 })));
    for (offsets, wrong) in [(&[1, 2][..], 0), (&[0, 2, 1, 2], 2), (&[0, 1], 1)] {
        assert!(matches!(csr(offsets, &[0, 1]), AlgoError::Scan(Error::Offsets { place, .. }) if place == wrong));
    }
    let matrix = Csr::new(&[0, 1], &[0], &[1.0], 4).unwrap();
    assert!(matches!(matrix.times(&[1.0]), Err(AlgoError::Length { argument: "x", expected: 4, got: 1 })));
    let mut y = [7.0; 2];
    let error = matrix.times_into(&[1.0; 4], &mut y).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "y", expected: 1, got: 2 }), "{error}");
    assert_eq!(y, [7.0; 2]);
}

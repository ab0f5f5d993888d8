//! Runs a monoid through every entry point and compares with the sequential loop.

use std::fmt::Debug;

use monoscan::prelude::*;
use scan_kit::Random;

/// The longest is several tiles of most plans.
const SIZES: [usize; 5] = [0, 1, 2, 1000, 40_003];

/// The verdict on the laws that is expected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Laws {
    Proved,
    /// Accepted, by proof or after tests that found nothing.
    Accepted,
}

/// Judges `M`, then scans states that `make` gives; `same` compares a result with the sequential loop's.
pub(super) fn scans_like_the_loop<M: Monoid + Debug>(
    laws: Laws,
    make: impl Fn(&mut Random, usize) -> M,
    same: impl Fn(M, M) -> bool,
) {
    let scan = Scan::<M>::new().unwrap_or_else(|error| panic!("{error}"));
    if laws == Laws::Proved {
        assert!(scan.judgement().verdict().is_proved(), "{}", scan.judgement());
    }
    let mut random = Random(1);
    let records: Vec<M> = (0..SIZES[SIZES.len() - 1]).map(|i| make(&mut random, i)).collect();
    let mut state = M::identity();
    let mut before = Vec::new();
    let mut after = Vec::new();
    for &record in &records {
        before.push(state);
        state = state.combine(record);
        after.push(state);
    }
    for n in SIZES {
        let records = &records[..n];
        let check = |got: &[M], expected: &[M]| {
            assert_eq!(got.len(), n);
            for i in 0..n {
                assert!(same(got[i], expected[i]), "n = {n}, element {i}: {:?} for {:?}", got[i], expected[i]);
            }
        };
        check(&scan.inclusive(records).unwrap(), &after);
        check(&scan.exclusive(records).unwrap(), &before);
        let mut output = vec![M::identity(); n];
        scan.inclusive_into(records, &mut output).unwrap();
        check(&output, &after);
        scan.exclusive_into(records, &mut output).unwrap();
        check(&output, &before);
    }
}

pub(super) fn exactly<M: PartialEq>(a: M, b: M) -> bool {
    a == b
}

pub(super) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

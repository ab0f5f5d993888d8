//! Careless use: every outcome is a result or an error that says what to do.

use monoscan::prelude::*;
use monoscan::{Error, PlanOptions};

/// A sum that wraps.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sum {
    s: i64,
}

#[scan_monoid]
impl Monoid for Sum {
    fn identity() -> Self {
        Sum { s: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Sum { s: self.s.wrapping_add(next.s) }
    }
}

#[scan_fn]
fn product(a: i32, b: i32) -> Sum {
    Sum { s: a as i64 * b as i64 }
}

#[scan_fn]
fn with_sign(state: Sum) -> (i64, bool) {
    (state.s, state.s > 0)
}

#[test]
fn project_may_be_set_before_lift() {
    let scan = Scan::<Sum>::builder().project(with_sign {}).lift(product {}).build().unwrap();
    assert_eq!(scan.inclusive((&[1, -2, 3], &[4, 5, 6])).unwrap(), [(4, true), (-6, false), (12, true)]);
}

#[test]
fn no_records_give_no_results() {
    let scan = Scan::<Sum>::builder().lift(product {}).build().unwrap();
    let none: [i32; 0] = [];
    assert_eq!(scan.inclusive((&none, &none)).unwrap(), []);
    assert_eq!(scan.exclusive((&none, &none)).unwrap(), []);
}

#[test]
fn wrong_lengths_name_the_column_and_write_nothing() {
    let scan = Scan::<Sum>::builder().lift(product {}).build().unwrap();
    let none: [i32; 0] = [];
    let error = scan.inclusive((&none, &[1, 2])).unwrap_err();
    assert!(matches!(error, Error::Length { expected: 0, got: 2, .. }), "{error}");
    let mut output = [Sum { s: 7 }; 4];
    let error = scan.exclusive_into((&[1; 3], &[1; 3]), &mut output).unwrap_err();
    assert!(error.to_string().contains("output column 0"), "{error}");
    assert_eq!(output, [Sum { s: 7 }; 4]);
}

#[test]
fn look_ups_past_the_end_read_the_last_element_and_empty_tables_are_errors() {
    #[scan_fn]
    fn look_up(table: Table<i64>, x: i64) -> Sum {
        Sum { s: table.get(x as u32) }
    }
    let scan = Scan::<Sum>::builder().lift(look_up {}.with_table(&[5, 7])).build().unwrap();
    let sums: Vec<i64> = scan.inclusive(&[0, 1, 2, -1, i64::MAX]).unwrap().iter().map(|sum| sum.s).collect();
    assert_eq!(sums, [5, 12, 19, 26, 33]);
    let error = Scan::<Sum>::builder().lift(look_up {}.with_table(&[])).build().unwrap_err();
    assert!(error.to_string().contains("table is empty"), "{error}");
}

#[test]
fn what_rust_would_panic_on_has_some_result() {
    #[scan_fn]
    fn divide(x: i32, y: i32) -> Sum {
        Sum { s: (x / y) as i64 + (x % y) as i64 + x.rem_euclid(y) as i64 + x.div_euclid(y) as i64 }
    }
    #[scan_fn]
    fn shift(x: i32, y: i32) -> Sum {
        Sum { s: ((x << y) >> y) as i64 + x.abs() as i64 + x.pow(9) as i64 }
    }
    let columns = ([i32::MIN, 1, i32::MAX, 5], [-1, 0, i32::MIN, 200]);
    for scan in [
        Scan::<Sum>::builder().lift(divide {}).build().unwrap(),
        Scan::<Sum>::builder().lift(shift {}).build().unwrap(),
    ] {
        assert_eq!(scan.inclusive((&columns.0, &columns.1)).unwrap().len(), 4);
    }
}

#[test]
fn scans_that_cannot_be_compiled_are_errors() {
    #[scan_fn]
    fn recursive(x: i64) -> i64 {
        if x <= 0 { 0 } else { recursive(x - 1) }
    }
    let lift = scan!(|x: i64| -> Sum { Sum { s: recursive(x) } });
    let error = Scan::<Sum>::builder().lift(lift).build().unwrap_err();
    assert!(matches!(error, Error::Trace(_)) && error.to_string().contains("cannot be recursive"), "{error}");

    let lift = scan!(|x: [i64; 3]| -> Sum {
        let mut s = 0i64;
        for i in 0..4 {
            s = s.wrapping_add(x[i]);
        }
        Sum { s }
    });
    let error = Scan::<Sum>::builder().lift(lift).build().unwrap_err();
    assert!(error.to_string().contains("index 3, but the array has 3 elements"), "{error}");

    #[derive(Clone, Copy, ScanType)]
    struct Nothing {
        none: [u32; 0],
    }
    let lift = scan!(|x: Nothing| -> Sum { Sum { s: x.none.len() as i64 } });
    assert!(matches!(Scan::<Sum>::builder().lift(lift).build(), Err(Error::Invalid(_))));
}

#[test]
fn any_plan_and_any_number_of_threads_will_do() {
    let records = vec![Sum { s: 1 }; 5000];
    for size in [0, 1, 7, 1 << 40] {
        for threads in [0, 3, usize::MAX] {
            let plan = PlanOptions {
                interleave: Some(2),
                block: Some(size),
                strips: Some(size),
                direct: Some(0),
                ..PlanOptions::default()
            };
            let scan = Scan::<Sum>::builder().plan(plan).threads(threads).build().unwrap();
            assert_eq!(scan.inclusive(&records).unwrap()[4999].s, 5000);
        }
    }
}

#[test]
fn one_scan_serves_many_threads_and_outlives_its_clones() {
    let scan = Scan::<Sum>::builder().lift(product {}).build().unwrap();
    let (a, b) = (vec![1; 50_000], vec![2; 50_000]);
    std::thread::scope(|threads| {
        for _ in 0..8 {
            let clone = scan.clone();
            threads.spawn(|| {
                let scan = clone;
                assert_eq!(scan.inclusive((&a, &b)).unwrap()[49_999].s, 100_000);
            });
        }
        drop(scan);
    });
}

#[test]
fn scans_run_inside_each_other_on_the_pool() {
    let scan = Scan::<Sum>::builder().lift(product {}).build().unwrap();
    let (a, b) = (vec![1; 50_000], vec![2; 50_000]);
    rayon::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|_| {
                let both = rayon::join(|| scan.inclusive((&a, &b)), || scan.exclusive((&a, &b)));
                assert_eq!(both.0.unwrap()[49_998], both.1.unwrap()[49_999]);
            });
        }
    });
}

#[test]
fn many_different_scans_are_compiled_and_freed() {
    for gain in 0..200i64 {
        let lift = scan!(|x: i64| -> Sum { Sum { s: x.wrapping_mul(gain) } });
        let scan = Scan::<Sum>::builder().lift(lift).build().unwrap();
        assert_eq!(scan.inclusive(&[3, 4]).unwrap()[1].s, 7 * gain);
    }
}

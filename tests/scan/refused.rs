//! Refusals when a scan is built or called, and the words of their errors.

use super::*;

#[test]
fn wrong_lengths_are_errors_that_name_the_column_and_write_nothing() {
    let solve = Scan::<Affine<f32>>::builder().lift(step {}).project(value {}).build().unwrap();
    let error = solve.inclusive((&[1.0f32; 3], &[1.0f32; 4])).unwrap_err();
    assert!(matches!(&error, Error::Length { expected: 3, got: 4, .. }), "{error}");
    assert!(error.to_string().contains("input column 1"), "{error}");
    let mut output = [7.0; 2];
    let error = solve.inclusive_into((&[1.0; 3], &[1.0; 3]), &mut output).unwrap_err();
    assert!(error.to_string().contains("output column 0 has 2 records, expected 3"), "{error}");
    assert_eq!(output, [7.0; 2]);
}

#[test]
fn a_refuted_operator_is_an_error_that_shows_why() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Average {
        x: f64,
    }
    #[scan_monoid]
    impl Monoid for Average {
        fn identity() -> Self {
            Average { x: 0.0 }
        }
        fn combine(self, next: Self) -> Self {
            Average { x: (self.x + next.x) / 2.0 }
        }
    }
    let error = Scan::<Average>::new().unwrap_err();
    assert!(matches!(error, Error::NotAMonoid { .. }));
    let message = error.to_string();
    assert!(message.contains('x') && message.contains("valid"), "{message}");
    let scan = Scan::<Average>::builder().assume_associative().build().unwrap();
    assert!(scan.explain().contains("assumed"), "{}", scan.explain());
}

#[test]
fn native_code_that_panics_makes_no_scan_panic() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Nothing {
        x: i32,
    }
    #[scan_monoid]
    impl Monoid for Nothing {
        fn identity() -> Self {
            panic!("no identity today")
        }
        fn combine(self, next: Self) -> Self {
            Nothing { x: self.x.max(next.x) }
        }
    }
    let error = Scan::<Nothing>::new().unwrap_err();
    assert!(matches!(error, Error::Trace(_)) && error.to_string().contains("no identity today"), "{error}");

    // Natively `clamp` panics where its bounds are crossed, and the comparison with the IR meets such arguments.
    #[scan_fn]
    fn between(x: i32, low: i32, high: i32) -> Sum {
        Sum { total: x.clamp(low, high) as u32 }
    }
    let scan = Scan::<Sum>::builder().lift(between {}).build().unwrap();
    assert_eq!(scan.inclusive((&[5, 50], &[7, 7], &[9, 9])).unwrap(), [Sum { total: 7 }, Sum { total: 16 }]);
}

#[test]
fn a_state_that_no_engine_carries_is_refused_in_the_words_of_its_author() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Huge {
        x: [u64; 33],
    }
    #[scan_monoid]
    impl Monoid for Huge {
        fn identity() -> Self {
            Huge { x: [0; 33] }
        }
        fn combine(self, next: Self) -> Self {
            let mut x = [0; 33];
            for i in 0..33 {
                x[i] = self.x[i] | next.x[i];
            }
            Huge { x }
        }
    }
    let message = Scan::<Huge>::new().unwrap_err().to_string();
    assert!(message.contains("Huge` takes 264 bytes, and a state at most 256"), "{message}");
}

#[test]
fn a_lift_may_not_change_the_record_that_an_output_reads() {
    #[scan_fn]
    fn first(x: u32, y: u32) -> Sum {
        Sum { total: x | y }
    }
    #[scan_fn]
    fn second(x: (u32, u32), y: u64) -> Sum {
        Sum { total: x.0 | y as u32 }
    }
    #[scan_fn]
    fn out(state: Sum, x: u32, y: u32) -> u32 {
        state.total + x + y
    }
    let builder = || Scan::<Sum>::builder().lift(first {}).project_with_record(out {});
    assert!(builder().build().is_ok());
    let error = builder().lift(second {}).build().unwrap_err();
    assert!(matches!(error, Error::Order { function: "lift", .. }), "{error}");
}

#[test]
fn arithmetic_that_means_to_wrap_is_judged_where_it_wraps() {
    const P: u64 = (1 << 61) - 1;
    /// Products modulo P that are cut off at 64 bits first: no monoid.
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Cut {
        x: u64,
    }
    #[scan_monoid]
    impl Monoid for Cut {
        fn identity() -> Self {
            Cut { x: 1 }
        }
        fn combine(self, next: Self) -> Self {
            Cut { x: self.x.wrapping_mul(next.x) % P }
        }
        fn valid(self) -> bool {
            self.x < P
        }
    }
    assert!(matches!(Scan::<Cut>::new(), Err(Error::NotAMonoid { .. })));

    /// Sums modulo M: natively nothing overflows, and the arm that would is not taken.
    const M: u32 = 1_000_000_007;
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Modular {
        x: u32,
    }
    #[scan_monoid]
    impl Monoid for Modular {
        fn identity() -> Self {
            Modular { x: 0 }
        }
        fn combine(self, next: Self) -> Self {
            let sum = self.x + next.x;
            Modular { x: if sum >= M { sum - M } else { sum } }
        }
        fn valid(self) -> bool {
            self.x < M
        }
    }
    let scan = Scan::<Modular>::new().unwrap();
    assert!(!scan.explain().contains("on 0 cases"), "{}", scan.explain());
}

/// Whatever kernels were made before: this call is not a short one.
#[test]
fn starts_of_several_rows_are_refused_on_a_line_that_goes_on() -> Result<(), Error> {
    let sums = Scan::<monoscan::ops::Sum<i32>>::plain()?;
    let x = [1, 2, 3];
    for _ in 0..2 {
        let mut carry = monoscan::ops::Sum(10);
        let starts = [monoscan::ops::Sum(1), monoscan::ops::Sum(2)];
        let refused = sums.init_each(&starts).resuming(&mut carry).inclusive(&x);
        assert!(matches!(refused, Err(Error::StateCount { .. })), "{refused:?}");
        assert_eq!(sums.resuming(&mut carry).inclusive(&x)?, [11, 13, 16]);
    }
    Ok(())
}

#[test]
fn an_iterator_that_panics_loses_no_record() -> Result<(), Error> {
    let mut asked = 0;
    let records = std::iter::from_fn(move || {
        asked += 1;
        assert_ne!(asked, 3, "once");
        (asked < 6).then_some(asked)
    });
    let mut sums = Scan::<monoscan::ops::Sum<i32>>::plain()?.over(records)?;
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sums.next())).is_err());
    assert_eq!(sums.collect::<Result<Vec<i32>, Error>>()?, [1, 3, 7, 12]);
    Ok(())
}

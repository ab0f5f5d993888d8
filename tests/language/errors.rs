//! Limits of tracing: an error says where.

use monoscan::TraceError;
use monoscan::lang::trace::{trace_combine, trace_fn};
use monoscan::prelude::*;

#[scan_fn]
fn past_the_end(t: [f32; 3]) -> f32 {
    let mut sum = 0.0;
    for i in 0..3 {
        sum += t[i + 1];
    }
    sum
}

#[scan_fn]
fn forever(x: u32) -> u32 {
    if x == 0 { 0 } else { forever(x - 1) + 1 }
}

#[scan_fn]
fn enormous(x: u32) -> u32 {
    let mut y = x;
    for i in 0..100_000u32 {
        y = y * 3 + i;
    }
    y
}

#[scan_fn]
fn look_up(t: Table<u8>, x: u32) -> u8 {
    t.get(x)
}

fn checked(n: u32) -> u32 {
    assert!(n < 3, "{n} is too much");
    n
}

#[scan_fn]
fn panicking(x: u32) -> u32 {
    x + checked(5)
}

#[scan_monoid]
#[derive(Clone, Copy)]
struct Sum<const N: usize>([u32; N]);

#[scan_monoid]
impl<const N: usize> Monoid for Sum<N> {
    fn identity() -> Self {
        Sum([0; N])
    }

    fn combine(self, next: Self) -> Self {
        let mut sum = self;
        sum.0[1] = next.0[N - 1];
        sum
    }
}

#[test]
fn an_index_past_the_end_names_the_expression() {
    let error = trace_fn::<_, ([f32; 3],)>(&past_the_end {}).unwrap_err();
    let TraceError::Index { place, index: 3, length: 3, .. } = &error else { panic!("{error:?}") };
    assert_eq!(place.replace(' ', ""), "t[i+1]");
    assert!(error.to_string().contains("past_the_end"), "{error}");
    assert!(matches!(trace_combine::<Sum<1>>(), Err(TraceError::Index { index: 1, length: 1, .. })));
    assert!(trace_combine::<Sum<2>>().is_ok());
}

#[test]
fn recursion_ends_with_an_error() {
    let error = trace_fn::<_, (u32,)>(&forever {}).unwrap_err();
    assert!(matches!(&error, TraceError::Recursion { callee, .. } if callee == "forever"), "{error}");
}

#[test]
fn endless_code_ends_with_an_error() {
    assert!(matches!(trace_fn::<_, (u32,)>(&enormous {}), Err(TraceError::TooLarge { .. })));
}

#[test]
fn an_empty_table_is_an_error() {
    let error = trace_fn::<_, (u32,)>(&look_up {}.with_table(&[])).unwrap_err();
    assert!(matches!(error, TraceError::EmptyTable { .. }));
    assert_eq!(look_up {}.with_table(&[]).call((3,)), 0);
}

#[test]
fn a_panic_of_a_constant_is_an_error_and_leaves_nothing_behind() {
    let error = trace_fn::<_, (u32,)>(&panicking {}).unwrap_err();
    assert!(error.to_string().ends_with("5 is too much"), "{error}");
    // The next trace starts afresh.
    assert!(trace_combine::<Sum<2>>().is_ok());
}

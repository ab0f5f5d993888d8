//! Operators that are wrong on purpose. Each is refused, and the message shows the law, the states
//! and a way out.

use monoscan::Error;
use monoscan::prelude::*;

/// An operator that must be refused; what its message must say.
macro_rules! refused {
    ($($test:ident { $($field:ident: $type:ty = $identity:expr),* } |$a:ident, $b:ident| $combine:expr
        $(, valid $valid:expr)? => $($part:expr),+;)*) => {$(
        #[test]
        fn $test() {
            #[scan_monoid]
            #[derive(Clone, Copy, Debug)]
            struct S { $($field: $type),* }

            #[scan_monoid]
            impl Monoid for S {
                fn identity() -> Self { S { $($field: $identity),* } }
                fn combine(self, next: Self) -> Self { let $a = self; let $b = next; $combine }
                $(fn valid(self) -> bool { let $a = self; $valid })?
            }

            let error = Scan::<S>::new().expect_err("it is no monoid");
            assert!(matches!(error, Error::NotAMonoid { .. }), "{error}");
            let message = error.to_string();
            for part in [$($part),+] {
                assert!(message.contains(part), "no {part:?} in\n{message}");
            }
            let scan = Scan::<S>::builder().assume_associative().build().unwrap();
            assert!(scan.explain().contains("assumed"), "{}", scan.explain());
        }
    )*};
}

const ASSOCIATIVE: &str = "`combine` is not associative";
const IDENTITY: &str = "`identity` is no identity";
const SAY_VALID: &str = "fn valid(self) -> bool";

refused! {
    differences { x: i64 = 0 } |a, b| S { x: a.x - b.x } => ASSOCIATIVE, IDENTITY, SAY_VALID;
    quotients { x: f64 = 1.0 } |a, b| S { x: a.x / b.x } => ASSOCIATIVE;
    moving_averages { x: f32 = 0.0 } |a, b| S { x: 0.9 * a.x + 0.1 * b.x } => ASSOCIATIVE, "over the reals";
    signed_saturation { x: i32 = 0 } |a, b| S { x: a.x.saturating_add(b.x) } => ASSOCIATIVE, "forgets how much it cut off";
    clamped_sums { x: f64 = 0.0 } |a, b| S { x: (a.x + b.x).clamp(-1000.0, 1000.0) } => ASSOCIATIVE;
    remainders_beyond_the_modulus { x: u64 = 0 } |a, b| S { x: (a.x + b.x) % 1_000_000_007 } => IDENTITY, SAY_VALID;
    zero_is_no_identity_of_the_minimum { x: f32 = 0.0 } |a, b| S { x: a.x.min(b.x) } => IDENTITY, "identity · x = (x: 0.0)";
    zero_is_no_identity_of_the_maximum { x: i32 = 0 } |a, b| S { x: a.x.max(b.x) } => IDENTITY, "x = (x: -1)";
    infinities_cancel { x: f64 = f64::NEG_INFINITY } |a, b| {
        let top = a.x.max(b.x);
        S { x: top + ((a.x - top).exp() + (b.x - top).exp()).ln() }
    } => ASSOCIATIVE, "arithmetic on an infinite `x` gives NaN";
    nan_is_not_ordered { x: f32 = f32::INFINITY } |a, b| if a.x < b.x { a } else { b } =>
        ASSOCIATIVE, "!self.x.is_nan()";
    a_wrong_component { a: i64 = 0, b: i64 = 0, c: i64 = 0 } |x, y|
        S { a: x.a + y.a, b: x.b + y.a, c: x.c + y.c + x.a * y.b } => ASSOCIATIVE, "they differ in `c`";
    cross_products { v: [f64; 3] = [0.0; 3] } |a, b| {
        let ([x, y, z], [u, v, w]) = (a.v, b.v);
        S { v: [y * w - z * v, z * u - x * w, x * v - y * u] }
    } => ASSOCIATIVE, "v[1]";
    a_rotation_does_not_carry { turn: u32 = 0, x: u32 = 0 } |a, b|
        S { turn: a.turn.wrapping_add(b.turn), x: a.x.rotate_left(b.turn).wrapping_add(b.x) } =>
        ASSOCIATIVE, "they differ in `x`";
    a_carry_from_the_wrong_bit { g: bool = false, p: bool = true } |a, b|
        S { g: b.g || (b.p && a.p), p: a.p && b.p } => ASSOCIATIVE, "true", "false";
    means_of_nothing { n: f64 = 0.0, mean: f64 = 0.0 } |a, b|
        S { n: a.n + b.n, mean: (a.mean * a.n + b.mean * b.n) / (a.n + b.n) } => IDENTITY, "0 / 0";
    sums_leave_a_bound { x: i32 = 0 } |a, b| S { x: a.x + b.x }, valid a.x < 100 =>
        "`combine` leaves the valid states", "widen it";
    nothing_is_valid { x: u32 = 0 } |a, b| S { x: a.x + b.x }, valid a.x != a.x => "`identity` is not a valid state";
    rounded_sums { x: f64 = 0.0 } |a, b| S { x: (a.x + b.x).round() } => ASSOCIATIVE;
    powers { x: u32 = 1 } |a, b| S { x: a.x.pow(2) * b.x } => ASSOCIATIVE;
}

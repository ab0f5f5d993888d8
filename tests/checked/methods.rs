//! Checked scans report what Rust's integers panic at and no more, method by method, for operands
//! that each treats specially.

use std::panic::{catch_unwind, set_hook};

use monoscan::Error;
use monoscan::ops::Max;
use monoscan::prelude::*;

/// A function of two numbers for each of these, whose result is the state of a maximum; and the comparison of all.
macro_rules! methods {
    ($module:ident $type:ident: $($name:ident |$a:ident, $b:ident| $result:expr;)*) => {
        mod $module {
            use super::*;

            $(
                #[scan_fn]
                fn $name($a: $type, $b: $type) -> Max<i64> {
                    Max($result as i64)
                }
            )*

            pub(super) fn agree() {
                // A few numbers at the ends of the type, and around 0.
                let ends = [0, 1, 2, 3, 7, 8, 100].into_iter().flat_map(|near| {
                    let near: $type = near;
                    [near, near.wrapping_neg(), $type::MAX - near, $type::MIN + near]
                });
                let numbers: Vec<$type> = ends.collect();
                $({
                    let scan = Scan::<Max<i64>>::builder().lift($name {}).build().unwrap().checked();
                    for &a in &numbers {
                        for &b in &numbers {
                            let rust = catch_unwind(|| $name(a, b)).ok();
                            let name = format!("{} of {a} and {b} of {}", stringify!($name), stringify!($type));
                            match (scan.inclusive((&[a], &[b])), rust) {
                                (Ok(found), Some(expected)) => assert_eq!(found, [expected], "{name}"),
                                (Err(Error::Overflowed { index: 0, .. }), None) => {}
                                (found, expected) => panic!("{name}: {found:?}, in Rust {expected:?}"),
                            }
                        }
                    }
                })*
            }
        }
    };
}

macro_rules! common {
    ($module:ident $type:ident: $($more:tt)*) => {
        methods! { $module $type:
            plus |a, b| a + b;
            minus |a, b| a - b;
            times |a, b| a * b;
            quotient |a, b| a / b;
            rest |a, b| a % b;
            to_the_left |a, b| a << (b as u32);
            to_the_right |a, b| a >> (b as u32);
            cube |a, b| a.pow(3) ^ b;
            logarithm |a, b| (a.ilog2() as $type) ^ b;
            decimal_logarithm |a, b| (a.ilog10() as $type) ^ b;
            rest_of_euclid |a, b| a.rem_euclid(b);
            quotient_of_euclid |a, b| a.div_euclid(b);
            distance |a, b| a.abs_diff(b);
            wrapped |a, b| a.wrapping_add(b).wrapping_mul(b).wrapping_sub(a).wrapping_neg();
            wrapped_left |a, b| a.wrapping_shl(b as u32).wrapping_shr(a as u32);
            saturated |a, b| a.saturating_mul(b).saturating_add(b).saturating_sub(a);
            sum_or_not |a, b| if a.overflowing_add(b).1 { 0 } else { a + b };
            difference_or_not |a, b| if a.overflowing_sub(b).1 { 0 } else { a - b };
            product_or_not |a, b| if a.overflowing_mul(b).1 { 0 } else { a * b };
            turned |a, b| a.rotate_left(b as u32).reverse_bits();
            bounded |a, b| a.clamp(3, 9).max(b).min(50);
            $($more)*
        }
    };
}

macro_rules! unsigned {
    ($($module:ident $type:ident)*) => {$(
        common! { $module $type:
            multiple |a, b| a.is_multiple_of(b);
            quotient_above |a, b| a.div_ceil(b);
            power |a, b| a.is_power_of_two() ^ b.is_power_of_two();
        }
    )*};
}

macro_rules! signed {
    ($($module:ident $type:ident)*) => {$(
        common! { $module $type:
            negated |a, b| -a ^ b;
            size |a, b| a.abs() ^ b;
            size_or_not |a, b| a.wrapping_abs() ^ b;
            size_without_sign |a, b| a.unsigned_abs() ^ b.unsigned_abs();
            sign |a, b| a.signum() ^ b.signum();
        }
    )*};
}

unsigned! { of_u8 u8 of_u16 u16 of_u32 u32 of_u64 u64 }
signed! { of_i8 i8 of_i16 i16 of_i32 i32 of_i64 i64 }

#[test]
fn a_checked_scan_reports_what_rust_panics_at() {
    // These panics are expected, and thousands.
    set_hook(Box::new(|_| {}));
    of_u8::agree();
    of_u16::agree();
    of_u32::agree();
    of_u64::agree();
    of_i8::agree();
    of_i16::agree();
    of_i32::agree();
    of_i64::agree();
}

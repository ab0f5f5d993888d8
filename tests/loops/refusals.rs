//! A loop that is no scan is refused with the place in the source, of `#[scan_fn]`s, closures and
//! what they call.

#![allow(clippy::all, reason = "loops as people write them")]

use monoscan::Error;
use monoscan::ir::Type;
use monoscan::ir::derive::{Refusal, Why};
use monoscan::prelude::*;

#[derive(Clone, Copy, ScanType)]
struct Limiter {
    tokens: i32,
    refused: u32,
}

#[scan_fn]
fn limited(s: Limiter, fill: i32, cost: i32) -> Limiter {
    let tokens = (s.tokens + fill).min(100);
    Limiter {
        refused: s.refused + if tokens < cost { 1 } else { 0 },
        tokens: if tokens >= cost { tokens - cost } else { tokens },
    }
}
/// Of the branch in `limited`.
const BRANCH: (u32, u32) = (line!() - 4, 17);

#[scan_fn]
fn followed(s: f64, x: f64) -> f64 {
    let up = s + 0.5 * (x - s);
    let next = match x > s {
        true => up,
        false => s + 0.25 * (x - s),
    };
    next
}
/// Of the `match` in `followed`.
const MATCH: (u32, u32) = (line!() - 7, 16);

#[scan_fn]
fn squared(x: f64) -> f64 {
    let square = x * x;
    square * 0.5
}
/// Of the product in `squared`.
const PRODUCT: (u32, u32) = (line!() - 4, 18);

#[scan_fn]
fn calls(s: f64, x: f64) -> f64 {
    let half = squared(s);
    half + x
}

fn refusal<T>(scan: Result<T, Error>) -> Refusal {
    match scan {
        Err(Error::NotAScan(refusal)) => *refusal,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it is derived"),
    }
}

fn assert_at(refusal: &Refusal, (line, column): (u32, u32)) {
    let source = refusal.source.as_ref().unwrap_or_else(|| panic!("{refusal}"));
    assert_eq!((&*source.file, source.line, source.column), (file!(), line, column), "{refusal}");
    assert!(refusal.to_string().contains(&format!(" at {}:{line}:{column}; ", file!())), "{refusal}");
}

#[test]
fn a_refusal_names_the_component_the_operation_and_the_place() {
    let limited = refusal(Scan::from_loop(limited {}, Limiter { tokens: 5, refused: 0 }));
    assert_eq!(limited.components, ["tokens"]);
    assert!(limited.to_string().contains("which arm is taken depends on the state in `if"), "{limited}");
    assert_at(&limited, BRANCH);
    assert_at(&refusal(Scan::from_loop(followed {}, 0.0)), MATCH);
    assert_at(&refusal(Scan::from_loop(calls {}, 0.0)), PRODUCT);

    let (line, closure) = (line!() + 1, {
        let step = scan!(|s: f64, x: f64| -> f64 { s + x / s });
        refusal(Scan::from_loop(step, 1.0))
    });
    assert_at(&closure, (line, 52));
}

#[test]
fn a_method_that_stands_for_many_operations_is_refused_by_its_name() {
    let (line, refused) = (line!() + 1, {
        let unit = scan!(|h: f64, x: f64| -> f64 { (0.5 * h + x).tanh() });
        refusal(Scan::from_loop(unit, 0.0))
    });
    assert_eq!(refused.why, Why::Method("tanh"));
    assert!(refused.to_string().contains("no family of functions has `tanh` of the state at "), "{refused}");
    assert_eq!(refused.source.map(|source| source.line), Some(line));
}

/// A program that was made at run time says of its instructions what it knows.
#[test]
fn a_loop_without_places_is_refused_without_one() {
    let step = scan!(|s: f64, x: f64| -> f64 { s * s + x });
    let mut program = Scan::loop_builder(step, 1.0).program().unwrap();
    program.places.clear();
    let refused = monoscan::ir::derive::derive(&program).unwrap_err();
    assert_eq!(refused.source, None);
    assert!(refused.to_string().contains("state × state in `s * s`; "), "{refused}");
}

/// The words of a refusal name the operation that no family has; the same loop as its advice says is derived.
#[test]
fn a_refusal_names_what_is_odd_and_its_advice_helps() {
    let digits = scan!(|v: u32, digit: u8| -> u32 { v / 10 + digit as u32 });
    let refused = refusal(Scan::from_loop(digits, 0)).to_string();
    assert!(refused.contains("no family of functions has `/` of the state in `v / 10`"), "{refused}");

    let products = scan!(|s: u16, x: u8| -> u16 { s.wrapping_mul(s.wrapping_sub(1)).wrapping_add(x as u16) });
    let refused = refusal(Scan::from_loop(products, 0)).to_string();
    assert!(refused.contains("`s * (s - 1)`"), "{refused}");
    let products = scan!(|s: i32, x: u8| -> i32 { s.wrapping_mul(s.wrapping_add(-7)).wrapping_add(x as i32) });
    let refused = refusal(Scan::from_loop(products, 0)).to_string();
    assert!(refused.contains("`s * (s - 7)`"), "{refused}");

    let table = [3u8, 1, 4, 1, 5, 9, 2, 6];
    let hops = scan!(|s: u32, x: u8| -> u32 { s + table[((s + x as u32) % 8) as usize] as u32 });
    let refused = refusal(Scan::from_loop(hops, 0)).to_string();
    assert!(
        refused.contains("a table is read at the state, of which more than 64 are reached in `table["),
        "{refused}"
    );
    let clamped = scan!(|s: u32, x: u8| -> u32 { (s + table[((s + x as u32) % 8) as usize] as u32).min(20) });
    assert_eq!(Scan::from_loop(clamped, 0).unwrap().inclusive(&[0u8, 1, 0]).unwrap(), [3, 8, 11]);

    // 64 bits have no wider ones to be composed in.
    let falls = scan!(|s: i64, x: i64| -> i64 { (x - s).max(0) });
    let trades = scan!(|s: (i64, i64), p: i64| -> (i64, i64) { (s.0.max(s.1 - p), s.1.max(s.0 + p - 2)) });
    let refused = [refusal(Scan::from_loop(falls, 0)), refusal(Scan::from_loop(trades, (-1000, 0)))];
    for refused in refused {
        assert_eq!(refused.why, Why::Type(Type::I64), "{refused}");
        assert!(refused.to_string().contains("; use numbers of at most 32 bits"), "{refused}");
    }
    let falls = scan!(|s: i32, x: i32| -> i32 { (x - s).max(0) });
    assert_eq!(Scan::from_loop(falls, 0).unwrap().inclusive(&[3, 1, 4]).unwrap(), [3, 0, 4]);
    let trades = scan!(|s: (i32, i32), p: i32| -> (i32, i32) { (s.0.max(s.1 - p), s.1.max(s.0 + p - 2)) });
    assert_eq!(Scan::from_loop(trades, (-1000, 0)).unwrap().reduce(&[1, 9]).unwrap().0, (-1, 6));
    // Absolute values bend in numbers of any width.
    let bends = scan!(|s: i64, x: i64| -> i64 { (s - x).abs() });
    assert_eq!(refusal(Scan::from_loop(bends, 0)).why, Why::Bends);
}

/// The step as it was written is what a refusal shows: a method by its name, `/` where the program has a shift, and a reason that
/// is the group's own.
#[test]
fn a_refusal_shows_what_was_written_and_why_that_has_no_family() {
    macro_rules! assert_refused {
        ($(|$s:ident: $S:ty, $($x:ident: $X:ty),+| $initial:expr => $body:block, $($words:literal),+;)*) => {$(
            let line = line!();
            let refused = refusal(Scan::from_loop(scan!(|$s: $S, $($x: $X),+| -> $S $body), $initial));
            let text = refused.to_string();
            $(assert!(text.contains($words), "{line}: {text}");)+
            assert_eq!(refused.source.map(|source| source.line >= line), Some(true), "{text}");
        )*};
    }
    assert_refused! {
        |s: u32, x: u32| 1 => { s.saturating_mul(x) }, "has `saturating_mul` of the state at ";
        |s: f64, x: f64| 1.0 => { (s * x).round() }, "has `round` of the state at ";
        |s: f64, x: f64| 1.0 => { (s + x).fract() }, "has `fract` of the state at ";
        |s: f64, x: f64| 1.0 => { s.signum() + x }, "has `signum` of the state at ";
        |s: f64, x: f64| 1.0 => { s.copysign(x) }, "has `copysign` of the state in `s.copysign(x)` at ";
        |s: f64, x: u64| 1.0 => { f64::from_bits(s.to_bits() ^ x) }, "has `to_bits` of the state at ";
        |s: u32, x: u32| 1 => { s.ilog2() + x }, "has `ilog2` of the state at ";
        |s: u32, x: u32| 1 => { s.abs_diff(x) }, "has `abs_diff` of the state at ";
        |s: i32, x: i32| 1 => { (s + 5).rem_euclid(x) }, "has `rem_euclid` of the state at ";
        |s: i32, x: i32| 1 => { (s + x).div_euclid(2) }, "has `div_euclid` of the state at ";
        |s: u32, x: u32| 1 => { s.count_zeros() + x }, "has `count_zeros` of the state at ";
        |s: u64, x: u64| 1 => { s.rotate_left(5) ^ x }, "for the type u64 in `s.rotate_left(5) ^ x` at ", "; use a type without sign of at most 32 bits";
        |s: u64, x: u64| 1 => {
            let a = s ^ (s << 13);
            let b = a ^ (a >> 7);
            b ^ (b << 17) ^ x
        }, "for the type u64 in `", "; use a type without sign of at most 32 bits";
        |s: u16, on: bool| 1 => { if on { (s >> 1) ^ ((s & 1) * 0xb400) } else { s } },
            "its bits go through a matrix, which is another one for some elements in `if on {";
        |s: [f64; 10], x: f64| [0.0; 10] => {
            let mut next = s;
            for i in 0..10 {
                next[i] = x;
                for j in 0..10 {
                    next[i] += s[j] * 0.125;
                }
            }
            next
        }, "sums of multiples of 10 components, and at most 8 are composed at ";
        |s: (u32, u32), c: u8| (0, 0) => {
            match c {
                b'\n' => (s.0 + 1, 0),
                b'\t' => (s.0, (s.1 / 8 + 1) * 8),
                _ => (s.0, s.1 + 1),
            }
        }, "has `/` of the state in `s.1 / 8` at ", "; compute it from the element";
        |s: [i32; 5], x: i32| [0; 5] => { largest_five(s, x) }, "a cascade of 5 levels is needed, and 3 are compiled in `";
        |s: ([f64; 32], f64), x: f64| ([0.0; 32], 0.0) => { filtered(s, x) }, "levels is needed, and 3 are compiled in `";
    }
}

/// The largest five records.
#[scan_fn]
pub(crate) fn largest_five(s: [i32; 5], x: i32) -> [i32; 5] {
    let (mut next, mut x) = (s, x);
    for i in 0..5 {
        next[i] = s[i].max(x);
        x = s[i].min(x);
    }
    next
}

/// A filter of 32 taps: the last records, and their weighted sum.
#[scan_fn]
pub(crate) fn filtered(s: ([f64; 32], f64), x: f64) -> ([f64; 32], f64) {
    let mut last = s.0;
    last[0] = x;
    for i in 1..32 {
        last[i] = s.0[i - 1];
    }
    let mut sum = 0.0;
    for i in 0..32 {
        sum += last[i] * 0.03125;
    }
    (last, sum)
}

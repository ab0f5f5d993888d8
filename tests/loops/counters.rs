//! Counters: modulo m, by masks, down to 0, in shift registers. Each is derived, and is the loop.

#![allow(clippy::all, reason = "loops as people write them")]

use monoscan::Error;
use monoscan::ir::Opcode;
use monoscan::ir::derive::{Family, LoopProgram, Refusal, Why, derive};
use monoscan::prelude::*;
use scan_kit::Random;

/// A derived scan is the loop, on random records and those at the ends of their type, short and long.
macro_rules! assert_derived {
    ($step:ident, $initial:expr, $record:ty) => {{
        let scan = Scan::from_loop($step {}, $initial).unwrap_or_else(|error| panic!("{error}"));
        let mut random = Random(7);
        for len in [0usize, 1, 2, 3, 50, 20_000] {
            let edges = [0, <$record>::MIN, <$record>::MAX, 1];
            let mut draw = || match random.below(4) {
                0 => edges[random.below(4)],
                _ => random.bits() as $record,
            };
            let x: Vec<$record> = (0..len).map(|_| draw()).collect();
            let mut state = $initial;
            let expected: Vec<_> = x
                .iter()
                .map(|&x| {
                    state = $step(state, x);
                    state
                })
                .collect();
            assert_eq!(scan.inclusive(&x).unwrap(), expected, "{len} records: {}", scan.explain());
        }
    }};
}

#[scan_fn]
fn by_a_power_of_two(s: u32, x: u8) -> u32 {
    (s + x as u32) % 1024
}

#[scan_fn]
fn scaled(s: u32, x: u16) -> u32 {
    (s * 75 + x as u32) % 65_536
}

#[scan_fn]
fn generator(s: u32, x: u8) -> u32 {
    s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223).wrapping_add(x as u32) & 0xff_ffff
}

#[scan_fn]
fn around_with_a_sign(s: i32, x: i16) -> i32 {
    (s + x as i32) & 1023
}

#[scan_fn]
fn shifted(s: u64, x: u8) -> u64 {
    ((s << 8) + x as u64) % 1000
}

#[scan_fn]
fn backwards(s: u32, x: u32) -> u32 {
    (s + 1000 - x % 1000) % 1000
}

#[scan_fn]
fn large(s: u64, x: u32) -> u64 {
    (s * 65_537 + x as u64) % 4_294_967_291
}

#[scan_fn]
fn of_a_record_with_a_sign(s: i32, x: i32) -> i32 {
    (s + x % 360) & 1023
}

#[scan_fn]
fn down_and_around(s: u32, x: u32) -> u32 {
    s.wrapping_sub(x) & 1023
}

#[test]
fn remainders_and_masks() {
    assert_derived!(of_a_record_with_a_sign, 7, i32);
    assert_derived!(down_and_around, 7, u32);
    assert_derived!(by_a_power_of_two, 3, u8);
    assert_derived!(scaled, 65_535, u16);
    assert_derived!(generator, 12_345, u8);
    assert_derived!(around_with_a_sign, 1000, i16);
    assert_derived!(shifted, 999, u8);
    assert_derived!(backwards, 999, u32);
    assert_derived!(large, 4_294_967_290, u32);
}

#[scan_fn]
fn down(s: u32, x: bool) -> u32 {
    if x {
        100
    } else if s > 0 {
        s - 1
    } else {
        0
    }
}

#[scan_fn]
fn down_with_a_sign(s: i32, x: i8) -> i32 {
    let t = s + x as i32;
    if t <= 3 { 3 } else { t - 1 + 1 }
}

#[scan_fn]
fn two_down(s: u16, x: u8) -> u16 {
    let t = if s > 1 { s - 2 } else { 0 };
    t.max(x as u16)
}

#[test]
fn countdowns() -> Result<(), Error> {
    let scan = Scan::from_loop(down {}, 5)?;
    let x = [false, false, true, false, false];
    assert_eq!(scan.inclusive(&x)?, [4, 3, 100, 99, 98]);
    assert_eq!(Scan::from_loop(down {}, 1)?.inclusive(&[false; 3])?, [0; 3]);
    assert_derived!(down_with_a_sign, 50, i8);
    assert_derived!(two_down, 9, u8);
    Ok(())
}

#[scan_fn]
fn register(s: u32, x: u8) -> u32 {
    (s >> 1) | if x & 1 == 1 { 0x8000_0000 } else { 0 }
}

#[scan_fn]
fn shifted_in(s: u32, x: u8) -> u32 {
    (s >> 1) | ((x as u32) << 31)
}

#[scan_fn]
fn masked_in(s: u16, x: u16) -> u16 {
    (s >> 3) | ((x & 7) << 13)
}

#[scan_fn]
fn overlapping(s: u32, x: u8) -> u32 {
    (s >> 1) | ((x as u32) << 30)
}

#[test]
fn bits_that_are_apart() {
    assert_derived!(register, 0xdead_beef, u8);
    assert_derived!(shifted_in, 0xdead_beef, u8);
    assert_derived!(masked_in, 0xbeef, u16);
    let family =
        |program: Result<LoopProgram, Error>| derive(&program.unwrap()).map(|found| found.groups[0].family.clone());
    assert_eq!(family(Scan::loop_builder(register {}, 0).program()).unwrap(), Family::Linear);
    assert_eq!(family(Scan::loop_builder(shifted_in {}, 0).program()).unwrap(), Family::Linear);
    assert!(family(Scan::loop_builder(overlapping {}, 0).program()).is_err());
}

fn refusal<T>(scan: Result<T, Error>) -> Refusal {
    match scan {
        Err(Error::NotAScan(refusal)) => *refusal,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it is derived"),
    }
}

/// Bits that a shift drops are no overflow.
#[test]
fn shifts_that_may_drop_bits_are_no_products() {
    let wide = scan!(|s: u32, x: u32| -> u32 { ((s << 12) + x) % 1_048_583 });
    assert_eq!(refusal(Scan::from_loop(wide, 0)).why, Why::Operation(Opcode::Rem));
    let narrow = scan!(|s: u16, x: u8| -> u16 { ((s << 8) + x as u16) % 1000 });
    assert_eq!(refusal(Scan::from_loop(narrow, 0)).why, Why::Operation(Opcode::Rem));
    let fits = scan!(|s: u16, x: u8| -> u16 { ((s << 6) + x as u16) % 1000 });
    assert_eq!(Scan::from_loop(fits, 999).unwrap().inclusive(&[255u8, 1, 2]).unwrap(), [191, 225, 402]);
}

/// The reason is that of the loop, and what the advice says is derived.
#[test]
fn refused_for_what_is_odd() {
    let starts = |start: u32| Scan::from_loop(scan!(|s: u32, x: u32| -> u32 { (s + x % 1000) % 1000 }), start);
    assert_eq!(refusal(starts(1000)).why, Why::Start { modulus: 1000 });
    assert!(starts(999).is_ok());
    let starts = |start: u32| Scan::from_loop(scan!(|s: u32, x: u32| -> u32 { (s + x % 1024) % 1024 }), start);
    assert_eq!(refusal(starts(1024)).why, Why::Start { modulus: 1024 });
    assert!(starts(1023).is_ok());
    let both = scan!(|s: (u32, u32), x: u32| -> (u32, u32) { ((s.0 + s.1 + x) % 1000, s.0) });
    assert!(matches!(refusal(Scan::from_loop(both, (0, 2000))).why, Why::Operation(Opcode::Rem)));
    let large = scan!(|s: u16, x: bool| -> u16 { if x { (s + 33_001) % 1_000 } else { s } });
    assert_eq!(refusal(Scan::from_loop(large, 0)).why, Why::Constants);
    // Each constant fits, what simplifying makes of them does not.
    let factors = scan!(|s: u16, x: u16| -> u16 { (s + x % 4 * 200 * 200) % 1_000 });
    assert_eq!(refusal(Scan::from_loop(factors, 0)).why, Why::Constants);
    let negative = scan!(|s: i32, x: i32| -> i32 { (s + x % 360) % 360 });
    assert_eq!(refusal(Scan::from_loop(negative, 0)).why, Why::Negative);
    assert!(Scan::from_loop(scan!(|s: i32, x: i32| -> i32 { (s + (x % 360 + 360)) % 360 }), 0).is_ok());
    let known = scan!(|s: u32, x: u32, m: u32| -> u32 { (s + x) % m });
    assert_eq!(refusal(Scan::from_loop(known, 0)).why, Why::Modulus);
    let wraps = scan!(|s: i32, x: i32| -> i32 { (s + x.wrapping_mul(3)).max(0) });
    assert_eq!(refusal(Scan::from_loop(wraps, 0)).why, Why::Wraps);
    assert!(Scan::from_loop(scan!(|s: i32, x: i32| -> i32 { (s + x * 3).max(0) }), 0).is_ok());
    let halved = refusal(Scan::from_loop(scan!(|s: i32, x: i32| -> i32 { (s / 2).max(x) }), 0)).to_string();
    assert!(halved.contains("has `/` of the state beside minima and maxima in `s / 2`"), "{halved}");
    let cast = refusal(Scan::from_loop(scan!(|s: u8, x: i8| -> u8 { (s as i16 + x as i16).clamp(0, 255) as u8 }), 0));
    assert!(cast.to_string().contains("has `as` of the state beside minima and maxima"), "{cast}");
    let turned = refusal(Scan::from_loop(scan!(|s: u32, x: u32| -> u32 { s.rotate_left(x & 31) ^ x }), 0));
    assert_eq!(turned.why, Why::Shifted);
    assert!(turned.to_string().contains("rotate_left") && turned.to_string().contains("by constants"), "{turned}");
    assert!(Scan::from_loop(scan!(|s: u32, x: u32| -> u32 { s.rotate_left(5) ^ x }), 0).is_ok());
    let many = scan!(|s: [bool; 65], x: bool| -> [bool; 65] { [x ^ s[0]; 65] });
    assert!(refusal(Scan::from_loop(many, [false; 65])).to_string().contains("a loop has at most 64"));
}

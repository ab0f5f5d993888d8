//! The same functions of the state in the ways that people write them: each test of the state says
//! what another one says that is derived.

#![allow(clippy::all, reason = "loops as people write them")]

use crate::entry::{Entry, loops};

pub(crate) fn ways() -> Vec<Entry> {
    loops! {
        // A count that does not fall below 0, and one that does not rise.
        "bracket depth, not below 0" "C" (d: u32, c: u8) = 0 => {
            match c {
                b'(' => d + 1,
                b')' if d > 0 => d - 1,
                _ => d,
            }
        };
        "timer, falls to 0" "T" (s: u32, x: bool) = 0 => {
            let mut s = s;
            if x {
                s = 1000;
            } else if s > 0 {
                s -= 1;
            }
            s
        };
        "timer, falls to 0, with a sign" "T" (s: i32, x: bool) = 0 => {
            let mut s = s;
            if x {
                s = 1000;
            } else if s > 0 {
                s -= 1;
            }
            s
        };
        "timer, 0 stays" "T" (n: u16, start: bool) = 0 => {
            if start {
                500
            } else if n == 0 {
                0
            } else {
                n - 1
            }
        };
        "timer, not at 0" "T" (n: u16, start: bool) = 0 => { if start { 500 } else if n != 0 { n - 1 } else { n } };
        "timer, at least 1" "T" (n: u16, start: bool) = 0 => { if start { 500 } else if n >= 1 { n - 1 } else { n } };
        "count to 100" "T" (s: u32, x: bool) = 0 => { if x { 0 } else if s < 100 { s + 1 } else { s } };
        "count to 100, not at it" "T" (s: i32, x: bool) = 0 => { if x { 0 } else if s != 100 { s + 1 } else { s } };
        "count to 255" "T" (s: u8, x: bool) = 0 => { if x { 0 } else if s == 255 { s } else { s + 1 } };
        "what is taken, none where it is too much" "N" (s: u32, x: u32) = 90 => { if x > s { 0 } else { s - x } };
        "what is taken, where it is there" "N" (s: u32, x: u32) = 90 => { if !(x > s) { s - x } else { 0 } };
        "what is taken, as much as there is" "N" (s: i32, d: i32) = 90 => { s - s.min(d) };
        "what is taken, unsigned" "N" (s: u64, d: u64) = 90 => { s - d.min(s) };
        "what is over" "I" (s: i32, x: i32) = 3 => { s - s.max(x) };

        // A loop that stops, by flags that are numbers.
        "stops above, a flag of u8" "I" (s: (i64, u8), x: i64) = (0, 0) => {
            if s.1 == 1 { s } else { (s.0 + x, if s.0 + x > 300 { 1 } else { 0 }) }
        };
        "stops above, not 0" "I" (s: (i64, u8), x: i64) = (0, 0) => {
            if s.1 != 0 { s } else { (s.0 + x, (s.0 + x > 300) as u8) }
        };
        "stops below, a flag of i64" "I" (s: (i64, i64), x: i64) = (0, 1) => {
            if s.1 == 0 { s } else { (s.0 + x, if s.0 + x < -300 { 0 } else { 1 }) }
        };

        // Modulo m.
        "angle" "I" (a: i32, d: i32) = 0 => { (a + d).rem_euclid(360) };
        "angle, scaled" "I" (a: i64, d: i64) = 0 => { (a * 7 - d).rem_euclid(360) };
        "angle by remainders" "I" (a: i32, d: i32) = 0 => { (a + d.rem_euclid(360)) % 360 };
        "angle, each to itself" "I" (a: i32, d: i32) = 7 => { (a.rem_euclid(360) + d % 360).rem_euclid(360) };
        "ring, at its end or past it" "T" (n: u8, go: bool) = 0 => {
            if go {
                let t = n + 1;
                if t >= 200 { 0 } else { t }
            } else {
                n
            }
        };
        "ring, past its last" "T" (n: u32, go: bool) = 0 => { if !go { n } else if n > 198 { 0 } else { n + 1 } };
        "ring, below its last" "T" (n: i32, go: bool) = 0 => { if !go { n } else if n < 199 { n + 1 } else { 0 } };
        "ring, down" "T" (a: u32, go: bool) = 0 => { if !go { a } else if a == 0 { 999 } else { a - 1 } };
        "ring, down, with a sign" "T" (a: i32, go: bool) = 5 => { if !go { a } else if a > 0 { a - 1 } else { 999 } };
        "sum of a byte" "B" (s: u32, x: u8) = 0 => { (s + x as u32) as u8 as u32 };
        "sum of 16 bits" "B" (s: u64, x: u8) = 0 => { (s * 3 + x as u64) as u16 as u64 };
        "sum of what is not below 0" "I" (s: i32, x: i32) = 0 => { if x < 0 { s } else { (s + x) % 100 } };

        // What is known of the record in an arm.
        "hexadecimal number" "C" (v: u64, c: u8) = 0 => {
            match c {
                b'0'..=b'9' => v << 4 | (c - b'0') as u64,
                b'a'..=b'f' => v << 4 | (c - b'a' + 10) as u64,
                _ => 0,
            }
        };
        "binary number" "C" (v: u32, c: u8) = 0 => { if c.is_ascii_digit() { v << 4 | (c - b'0') as u32 } else { v } };
        "first number" "R" (v: f64, x: f64) = f64::NAN => { if v.is_nan() { x } else { v } };
        "first number and count" "R" (s: (f32, u32), x: f32) = (f32::NAN, 0) => {
            (if s.0 == s.0 { s.0 } else { x }, s.1 + 1)
        };
    }
}

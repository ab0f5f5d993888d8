//! `let`, assignment, `if`, `match`, `for`, patterns.

use monoscan::prelude::*;

use super::agree::function;

const THRESHOLD: i32 = 3;
const WEIGHTS: [f32; 3] = [0.5, -1.5, 2.0];

#[scan_fn]
fn shadowing(x: f32) -> f32 {
    let mut y = x;
    {
        let y2 = y * y;
        y = y2 - 1.0;
    }
    {
        let mut y = y;
        y += 1.0;
        let _ = y;
    }
    let y = y + x;
    let y = y * 2.0;
    y
}

#[scan_fn]
fn assignment_in_branches(x: i32, y: i32, c: bool) -> (i32, i32, [i32; 2]) {
    let mut a = x & 0xff;
    let mut b = 1;
    let mut m = [x; 2];
    if c {
        a += 1;
        if y > x {
            b = y;
            m[1] = 5;
        } else {
            let mut a = 100;
            a += y & 3;
            b = a;
        }
    } else if x > THRESHOLD {
        m[0] = b;
        a = if a > 7 { b } else { a };
    }
    b ^= a;
    (a, b, m)
}

#[scan_fn]
fn both_arms_are_total(x: i32, y: i32) -> i32 {
    if y != 0 && x != i32::MIN { x / y } else { -1 }
}

#[scan_fn]
fn static_conditions(x: [f32; 4]) -> f32 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        if i > 0 && x[i - 1] > x[i] {
            sum += 1.0;
        }
        if i == 0 || x[i - 1] < 0.0 {
            sum -= 0.5;
        }
        sum += if i % 2 == 0 { x[i] } else { -x[if i > 0 { i - 1 } else { 0 }] };
    }
    sum
}

#[scan_fn]
fn loops(x: f32, m: [[f32; 3]; 2]) -> f32 {
    let mut s = x;
    for i in 0..2 {
        for j in i + 1..=2 {
            if (i + j) % 2 == 0 {
                continue;
            }
            s = s * (i as f32) - 0.5 * j as f32 + m[i][j];
        }
    }
    'rows: for row in m {
        for (k, _) in [(0, ()), (1, ()), (2, ())] {
            if k == 2 {
                continue 'rows;
            }
            s += row[k] * WEIGHTS[k];
        }
    }
    for i in (0..3).rev().step_by(2) {
        s += m[0][i];
        if i == 7 {
            break;
        }
    }
    for _ in 0..2 {
        s *= 0.5;
    }
    s
}

#[scan_fn]
fn matches(x: i32, y: u8, c: bool) -> (i32, u8, i32) {
    let a = match x {
        i32::MIN..=-1 => -1,
        0 => {
            let n = 1;
            n + 2
        }
        THRESHOLD => 33,
        4 | 5 | 10..20 => 45,
        n if n & 1 == 1 => n,
        _ => 1,
    };
    let b = match y {
        b'0'..=b'9' => y - b'0',
        b'a' | b'b' if c => 100,
        other => other ^ 1,
    };
    let d = match (x > 0, y, c) {
        (true, 0, _) => 1,
        (false, k @ 1..=9, true) => k as i32,
        (_, 7, false) | (_, 8, _) => 78,
        (_, _, true) => 3,
        _ => 4,
    };
    (a, b, d)
}

#[scan_fn]
fn match_assigns(x: u8, mut total: u32) -> u32 {
    let mut kind = 0;
    match x {
        0 => total = 0,
        1..=9 => {
            total ^= 9;
            kind = 1;
        }
        _ if x > 200 => total |= 1,
        _ => {}
    }
    total.wrapping_add(kind)
}

#[scan_fn]
fn static_match(x: [u32; 4]) -> u32 {
    let mut all = 0;
    for i in 0..4 {
        all ^= match i {
            0 => x[0],
            1 | 2 => x[i] << 1,
            n if n > 100 => 0,
            n => x[n - 1],
        };
    }
    all
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Point {
    x: f32,
    y: f32,
    tag: (u8, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Pair(i32, Point);

#[scan_fn]
fn patterns(p: Pair, [u, v, ..]: [u16; 3]) -> (f32, u16, i32) {
    let Pair(n, Point { x, tag: (k, on), .. }) = p;
    let (mut a, _) = (x, v);
    if on {
        a += 1.0;
    }
    let whole @ Pair(..) = p;
    (a, u ^ v & k as u16, n ^ whole.0)
}

#[scan_fn]
fn struct_match(p: Point) -> i32 {
    match p {
        Point { tag: (0, true), .. } => 1,
        Point { tag: (k, false), x, .. } if x > 0.0 => k as i32,
        _ => 0,
    }
}

#[scan_fn]
fn struct_update(p: Point) -> Point {
    let q = Point { x: p.y, ..p };
    let mut r = Point { tag: (q.tag.0 ^ 1, !q.tag.1), ..q };
    r.tag.0 |= 2;
    r.y = -r.y;
    r
}

#[scan_fn]
fn inner_constants(x: f64) -> f64 {
    const SCALE: f64 = 3.0;
    let offset = SCALE * 2.0;
    let n: usize = 2;
    let table = [1.0, offset, SCALE];
    x * table[n] + table[1]
}

#[scan_fn]
fn blocks_have_values(x: i32) -> i32 {
    let y = {
        let z = x ^ 5;
        z & 0xff
    };
    (if y > 3 { y } else { 3 }) + {
        let w = 2;
        w
    }
}

#[test]
fn variables_shadow_and_are_assigned_as_in_rust() {
    function(shadowing {});
    function(assignment_in_branches {});
    function(both_arms_are_total {});
    function(inner_constants {});
    function(blocks_have_values {});
}

#[test]
fn constant_conditions_and_loops_run_while_tracing() {
    function(static_conditions {});
    function(loops {});
    function(static_match {});
}

#[test]
fn matches_and_patterns_agree() {
    function(matches {});
    function(match_assigns {});
    function(patterns {});
    function(struct_match {});
    function(struct_update {});
}

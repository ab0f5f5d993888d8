//! Loops as people write them: signals, money, queues, events, text, hashes.

#![allow(clippy::all, reason = "loops as people write them")]

use crate::entry::{BIG, Entry, loops};

/// Signals and statistics.
pub(crate) fn signals() -> Vec<Entry> {
    loops! {
        "exponential average" "R" (s: f64, x: f64) = 0.0 => { 0.9 * s + 0.1 * x };
        "exponential average, by the difference" "R" (s: f64, x: f64) = 0.0 => { s + 0.125 * (x - s) };
        "exponential average, irregular" "RP" (s: f64, x: f64, dt: f64) = 0.0 => {
            let a = (-dt / 5.0).exp();
            a * s + (1.0 - a) * x
        };
        "balance" "PR" (b: f64, rate: f64, deposit: f64) = 0.0 => { b * rate + deposit };
        "biquad filter" "R" (s: (f64, f64), x: f64) = (0.0, 0.0) => {
            let y = 0.25 * x + s.0;
            (0.5 * x + 0.75 * y + s.1, 0.25 * x - 0.625 * y)
        };
        "two biquads in a row" "R" (s: (f64, f64, f64, f64), x: f64) = (0.0, 0.0, 0.0, 0.0) => {
            let y = x + s.0;
            let z = y + s.2;
            (s.1 - 0.5 * y, x - 0.25 * y, s.3 - 0.375 * z, y - 0.125 * z)
        };
        "integrators in a row" "R" (s: (f64, f64, f64), x: f64) = (0.0, 0.0, 0.0) => {
            (s.0 + x, s.1 + s.0 + x, s.2 + s.1 + s.0 + x)
        };
        "four integrators in a row" "R" (s: (f64, f64, f64, f64), x: f64) = (0.0, 0.0, 0.0, 0.0) => {
            (s.0 + x, s.1 + s.0 + x, s.2 + s.1 + s.0 + x, s.3 + s.2 + s.1 + s.0 + x)
        };
        "mean and variance (Welford)" "R" (s: (u32, f64, f64), x: f64) = (0, 0.0, 0.0) => {
            let n = s.0 + 1;
            let d = x - s.1;
            let m = s.1 + d / n as f64;
            (n, m, s.2 + d * (x - m))
        };
        "weighted mean" "RP" (s: (f64, f64), x: f64, w: f64) = (0.0, 0.0) => {
            (s.0 + w, s.1 + (x - s.1) * w / (s.0 + w))
        };
        "softmax denominator, online" "R" (s: (f64, f64), x: f64) = (-1000.0, 0.0) => {
            let m = s.0.max(x);
            (m, s.1 * (s.0 - m).exp() + (x - m).exp())
        };
        "log of a sum of exponentials" "R" (s: f64, x: f64) = -1000.0 => { s.max(x) + (1.0 + (-(s - x).abs()).exp()).ln() };
        "clamped integrator (anti-windup)" "RP" (i: f64, e: f64, dt: f64) = 0.0 => { (i + e * dt).max(-2.0).min(2.0) };
        "leaky clamped integrator" "R" (s: f64, x: f64) = 0.0 => { (0.9 * s + x).max(-1.0).min(1.0) };
        "average within bounds" "R" (s: f64, x: f64) = 0.0 => { (s + 0.1 * (x - s)).max(-1.0).min(1.0) };
        "leaking tank" "R" (s: f64, x: f64) = 0.0 => { (s - s * 0.1 + x).max(0.0) };
        "delay line of three" "R" (s: (f64, f64, f64), x: f64) = (0.0, 0.0, 0.0) => { (x, s.0, s.1) };
        "delay line of six" "R" (s: [f64; 6], x: f64) = [0.0; 6] => { [x, s[0], s[1], s[2], s[3], s[4]] };
        "moving sum of four" "R" (s: ([f64; 4], f64), x: f64) = ([0.0; 4], 0.0) => {
            ([x, s.0[0], s.0[1], s.0[2]], s.1 + x - s.0[3])
        };
        "median of the last three" "R" (s: (f64, f64, f64), x: f64) = (0.0, 0.0, 0.0) => {
            (x, s.0, (x.min(s.0)).max(x.max(s.0).min(s.1)))
        };
        "peak envelope with decay" "R" (p: f64, x: f64) = 0.0 => { x.abs().max(0.9375 * p) };
        "attack and release" "R" (p: f64, x: f64) = 0.0 => {
            if x > p { p + 0.5 * (x - p) } else { p + 0.0625 * (x - p) }
        };
        "slew limiter" "R" (y: f64, x: f64) = 0.0 => { (x - y).max(-1.0).min(1.0) + y };
        "distance to the state" "R" (s: f64, x: f64) = 0.0 => { (s - x).abs() };
        "phase in [0, 1)" "U" (p: f64, w: f64) = 0.0 => { if p + w >= 1.0 { p + w - 1.0 } else { p + w } };
        "phase in wrapping bits" "W" (p: u32, w: u32) = 0 => { p.wrapping_add(w) };
        "tanh unit" "R" (h: f64, x: f64) = 0.0 => { (h * 0.5 + x).tanh() };
        "rectified unit" "R" (h: f64, x: f64) = 0.0 => { (0.5 * h + x).max(0.0) };
        "gated linear unit" "RR" (h: f64, x: f64, c: f64) = 0.0 => {
            let g = 1.0 / (1.0 + (-x).exp());
            g * h + (1.0 - g) * c
        };
        "logistic map" "U" (s: f64, x: f64) = 0.25 => { s * (1.0 - s) * x };
        "square root by Newton" "P" (s: f64, x: f64) = 1.0 => { (s + x / s) / 2.0 };
        "Kalman filter, one dimension" "RP" (s: (f64, f64), z: f64, r: f64) = (0.0, 1.0) => {
            let p = s.1 + 0.25;
            let gain = p / (p + r);
            (s.0 + gain * (z - s.0), (1.0 - gain) * p)
        };
        "hidden Markov, normalized" "PP" (p: f64, x: f64, y: f64) = 0.5 => {
            let (a, b) = ((p * 0.75 + (1.0 - p) * 0.25) * x, (p * 0.25 + (1.0 - p) * 0.75) * y);
            a / (a + b)
        };
        "continued fraction" "P" (s: f64, x: f64) = 1.0 => { x + 1.0 / s };
        "hidden Markov, forward" "UU" (s: (f64, f64), x: f64, y: f64) = (0.5, 0.5) => {
            ((s.0 * 0.75 + s.1 * 0.25) * x, (s.0 * 0.25 + s.1 * 0.75) * y)
        };
        "hidden Markov, Viterbi" "RR" (s: (f64, f64), x: f64, y: f64) = (0.0, 0.0) => {
            ((s.0 - 1.0).max(s.1 - 3.0) + x, (s.0 - 3.0).max(s.1 - 1.0) + y)
        };
    }
}

/// Money, queues, rates.
pub(crate) fn money() -> Vec<Entry> {
    loops! {
        "leaky bucket" "PU" (l: f64, x: f64, dt: f64) = 0.0 => { (l - dt * 3.0).max(0.0) + x };
        "token bucket, drain" "MM" (t: i32, take: i32, fill: i32) = 5 => { ((t + fill).min(10) - take).max(0) };
        "token bucket, unsigned" "MM" (t: u16, take: u16, fill: u16) = 5 => {
            t.saturating_add(fill).min(10).saturating_sub(take)
        };
        "token bucket, reject" "MM" (t: i32, fill: i32, cost: i32) = 5 => {
            let a = (t + fill).min(10);
            if a >= cost { a - cost } else { a }
        };
        "token bucket, reject, unsigned" "MM" (t: u32, fill: u8, cost: u8) = 5 => {
            let a = (t + fill as u32).min(10);
            if a >= cost as u32 { a - cost as u32 } else { a }
        };
        "token bucket, reject, small" "MM" (t: i32, fill: i32, cost: i32) = 5 => {
            let a = (t + fill).min(10);
            let left = if a >= cost { a - cost } else { a };
            left.max(0).min(10)
        };
        "overdraft refused" "I" (b: i32, x: i32) = 0 => { if b + x >= 0 { b + x } else { b } };
        "fee below a minimum" "R" (b: f64, x: f64) = 0.0 => { b + x - if b < 2.0 { 1.0 } else { 0.0 } };
        "queue: waiting time (Lindley)" "RR" (w: f64, s: f64, a: f64) = 0.0 => { (w + s - a).max(0.0) };
        "queue: departures" "PP" (d: f64, at: f64, takes: f64) = 0.0 => { d.max(at) + takes };
        "maximum drawdown" "R" (s: (f64, f64), p: f64) = (-1000.0, 0.0) => {
            let peak = s.0.max(p);
            (peak, s.1.max(peak - p))
        };
        "profit, one trade" "I" (s: (i32, i32), p: i32) = (BIG, 0) => { (s.0.min(p), s.1.max(p - s.0)) };
        "profit, many trades with a fee" "I" (s: (i32, i32), p: i32) = (-BIG, 0) => {
            (s.0.max(s.1 - p), s.1.max(s.0 + p - 2))
        };
        "profit, two trades" "I" (s: (i32, i32, i32, i32), p: i32) = (-BIG, 0, -BIG, 0) => {
            (s.0.max(-p), s.1.max(s.0 + p), s.2.max(s.1 - p), s.3.max(s.2 + p))
        };
        "profit with a day of rest" "I" (s: (i32, i32, i32), p: i32) = (-BIG, -BIG, 0) => {
            (s.0.max(s.2 - p), s.0 + p, s.2.max(s.1))
        };
        "house robber" "M" (s: (i32, i32), x: i32) = (0, 0) => { (s.0.max(s.1), s.0 + x) };
        "line wrap, small" "M" (col: u32, w: u32) = 0 => {
            let v = w.min(15);
            if col + v > 15 { v } else { col + v }
        };
        "credit of at most 31, all or nothing" "I" (b: i32, x: i32) = 0 => {
            if b + x >= 0 && b + x <= 31 { b + x } else { b }
        };
        "trailing stop" "RT" (s: (bool, f64), p: f64, enter: bool) = (false, 0.0) => {
            (if s.0 { p >= s.1 } else { enter }, if s.0 { s.1.max(p - 2.0) } else { p - 2.0 })
        };
        "order up to a level" "M" (s: i32, d: i32) = 30 => { if s - d < 5 { 30 } else { s - d } };
        "order up to a level, unsigned" "M" (s: u32, d: u8) = 30 => {
            if s < d as u32 + 5 { 30 } else { s - d as u32 }
        };
        "shield and health" "MM" (s: (i32, i32), d: i32, heal: i32) = (10, 100) => {
            ((s.0 + heal - d).max(0), s.1 - (d - s.0 - heal).max(0))
        };
        "petrol stations" "IN" (s: (i32, u32), w: i32, i: u32) = (0, 0) => {
            let t = s.0 + w;
            (t.max(0), if t < 0 { i + 1 } else { s.1 })
        };
        "overlap of intervals" "I" (s: (i32, i32), d: i32) = (0, 0) => { (s.0 + d, s.1.max(s.0 + d)) };
        "merge of sorted intervals" "MM" (s: (i32, i32), a: i32, b: i32) = (-1, 0) => {
            (s.0.max(b), s.1 + if a > s.0 { 1 } else { 0 })
        };
    }
}

/// Events.
pub(crate) fn events() -> Vec<Entry> {
    loops! {
        "last value seen" "RT" (v: f64, x: f64, here: bool) = 0.0 => { if here { x } else { v } };
        "fill forward, with the age" "RT" (s: (f64, u32), x: f64, here: bool) = (0.0, 0) => {
            (if here { x } else { s.0 }, if here { 0 } else { s.1 + 1 })
        };
        "time since the last event" "PT" (t: f64, dt: f64, hit: bool) = 0.0 => { if hit { 0.0 } else { t + dt } };
        "sessions by gaps" "R" (s: (f64, u32), t: f64) = (0.0, 0) => { (t, s.1 + if t - s.0 > 2.0 { 1 } else { 0 }) };
        "events at least a gap apart" "R" (last: f64, t: f64) = -1000.0 => { if t - last >= 2.0 { t } else { last } };
        "hysteresis" "R" (on: bool, x: f64) = false => { x > 2.0 || (on && !(x < -2.0)) };
        "debounced switch" "T" (s: (bool, u32), x: bool) = (false, 0) => {
            let n = if x == s.0 { 0 } else { s.1 + 1 };
            (if n == 3 { x } else { s.0 }, if n == 3 { 0 } else { n })
        };
        "debounced switch, long" "T" (s: (bool, u32), x: bool) = (false, 0) => {
            let n = if x == s.0 { 0 } else { s.1 + 1 };
            (if n == 1000 { x } else { s.0 }, if n == 1000 { 0 } else { n })
        };
        "branch predictor, two bits" "T" (s: i32, x: bool) = 0 => { (s + if x { 1 } else { -1 }).max(0).min(3) };
        "saturating byte" "MM" (s: i32, x: i32, y: i32) = 0 => { (s + x - y).max(0).min(255) };
        "set and reset latch" "TT" (q: bool, s: bool, r: bool) = false => { s || (q && !r) };
        "toggle" "T" (p: bool, x: bool) = false => { p ^ x };
        "carry of an adder" "TT" (c: bool, a: bool, b: bool) = false => { (a && b) || (c && (a ^ b)) };
        "traffic lights" "T" (s: (u8, u8), x: bool) = (0, 0) => {
            let next = s.1 == 4;
            (if next { if s.0 == 2 { 0 } else { s.0 + 1 } } else { s.0 }, if next || x { 0 } else { s.1 + 1 })
        };
        "index in a ring of 1000" "T" (k: u32, go: bool) = 0 => {
            if go { if k + 1 == 1000 { 0 } else { k + 1 } } else { k }
        };
        "best two and where" "IN" (s: (i32, u32, i32, u32), x: i32, i: u32) = (-BIG, 0, -BIG, 0) => {
            let (b, c) = (x > s.0, x > s.2);
            (
                if b { x } else { s.0 },
                if b { i } else { s.1 },
                if b { s.0 } else if c { x } else { s.2 },
                if b { s.1 } else if c { i } else { s.3 }
            )
        };
        "reservoir of one" "RU" (s: (u32, f64), x: f64, u: f64) = (0, 0.0) => {
            let n = s.0 + 1;
            (n, if u * (n as f64) < 1.0 { x } else { s.1 })
        };
        "majority vote (Boyer, Moore)" "N" (s: (u32, u32), x: u32) = (0, 0) => {
            (if s.1 == 0 { x } else { s.0 }, if s.1 == 0 { 1 } else if x == s.0 { s.1 + 1 } else { s.1 - 1 })
        };
        "histogram of four" "M" (h: [u32; 4], x: u32) = [0; 4] => {
            let k = x % 4;
            [
                h[0] + if k == 0 { 1 } else { 0 },
                h[1] + if k == 1 { 1 } else { 0 },
                h[2] + if k == 2 { 1 } else { 0 },
                h[3] + if k == 3 { 1 } else { 0 }
            ]
        };
        "changes counted" "N" (s: (u32, u32), x: u32) = (0, 0) => { (x, s.1 + if x != s.0 { 1 } else { 0 }) };
        "longest plateau" "N" (s: (i32, u32, u32), x: i32) = (-1, 0, 0) => {
            let n = if x == s.0 { s.1 + 1 } else { 1 };
            (x, n, s.2.max(n))
        };
        "longest zigzag" "I" (s: (i32, i32, i32), x: i32) = (0, 1, 1) => {
            (x, if x > s.0 { s.2 + 1 } else { s.1 }, if x < s.0 { s.1 + 1 } else { s.2 })
        };
        "sum until it exceeds" "M" (s: (i32, bool), x: i32) = (0, false) => {
            (if s.1 { s.0 } else { s.0 + x }, s.1 || s.0 + x > 20)
        };
        "first place above, sum goes on" "MN" (s: (i32, bool, u32), x: i32, i: u32) = (0, false, 0) => {
            (s.0 + x, s.1 || s.0 + x > 20, if !s.1 && s.0 + x > 20 { i } else { s.2 })
        };
        "first value, by a sentinel" "M" (v: i32, x: i32) = -1 => { if v == -1 { x } else { v } };
        "differences, by a sentinel" "MT" (s: (i32, i32), x: i32, ok: bool) = (-1, 0) => {
            (if ok { x } else { s.0 }, s.1 + if ok && s.0 != -1 { x - s.0 } else { 0 })
        };
        "first that matches" "IN" (s: (bool, i32), x: i32, i: i32) = (false, -1) => {
            (s.0 || x == 3, if !s.0 && x == 3 { i } else { s.1 })
        };
        "balance until ruin" "I" (s: (i32, bool), x: i32) = (9, false) => {
            (if s.1 { s.0 } else { s.0 + x }, s.1 || s.0 + x <= 0)
        };
        "swap or keep" "T" (s: (i32, i32), x: bool) = (1, 2) => { (if x { s.1 } else { s.0 }, if x { s.0 } else { s.1 }) };
    }
}

/// Text.
pub(crate) fn text() -> Vec<Entry> {
    loops! {
        "words counted" "C" (s: (bool, u32), c: u8) = (false, 0) => {
            let letter = c != b' ' && c != b'\n';
            (letter, s.1 + if letter && !s.0 { 1 } else { 0 })
        };
        "line and column" "C" (s: (u32, u32), c: u8) = (0, 0) => {
            (s.0 + if c == b'\n' { 1 } else { 0 }, if c == b'\n' { 0 } else { s.1 + 1 })
        };
        "line wrap, greedy" "M" (s: (u32, u32), w: u32) = (0, 0) => {
            (if s.0 + w > 20 { w } else { s.0 + w }, s.1 + if s.0 + w > 20 { 1 } else { 0 })
        };
        "fields of CSV" "C" (s: (bool, u32), c: u8) = (false, 0) => {
            (s.0 ^ (c == b'"'), s.1 + if c == b',' && !s.0 { 1 } else { 0 })
        };
        "JSON: strings, escapes, depth" "C" (s: (bool, bool, i32, i32), c: u8) = (false, false, 0, 0) => {
            let quote = c == b'"' && !s.1;
            let escape = c == b'\\' && s.0 && !s.1;
            let opens = (c == b'{' || c == b'[') && !s.0;
            let closes = (c == b'}' || c == b']') && !s.0;
            let depth = s.2 + if opens { 1 } else if closes { -1 } else { 0 };
            (s.0 ^ quote, escape, depth, s.3.max(depth))
        };
        "comments of C" "C" (s: u8, c: u8) = 0 => {
            let (slash, star) = (c == b'/', c == b'*');
            if s == 0 {
                if slash { 1 } else { 0 }
            } else if s == 1 {
                if star { 2 } else if slash { 1 } else { 0 }
            } else if s == 2 {
                if star { 3 } else { 2 }
            } else if slash {
                0
            } else if star {
                3
            } else {
                2
            }
        };
        "code points of UTF-8" "B" (s: (u8, u32), c: u8) = (0, 0) => {
            let n = if c < 128 { 0 } else if c < 224 { 1 } else if c < 240 { 2 } else { 3 };
            (
                if s.0 > 0 { s.0 - 1 } else { n },
                if s.0 > 0 { s.1.wrapping_mul(64).wrapping_add(c as u32 % 64) } else { c as u32 }
            )
        };
        "variable-length integers" "B" (s: (bool, u32, u32), c: u8) = (true, 1, 0) => {
            let (p, v) = (if s.0 { 1 } else { s.1 }, if s.0 { 0 } else { s.2 });
            (c < 128, p.wrapping_mul(128), v.wrapping_add(p.wrapping_mul(c as u32 % 128)))
        };
        "checked depth, stops at an error" "T" (s: (i32, bool), o: bool) = (0, true) => {
            let d = s.0 + if o { 1 } else { -1 };
            (if s.1 { d } else { s.0 }, s.1 && d >= 0)
        };
        "numbers in text" "C" (s: (bool, bool, u32), c: u8) = (false, false, 0) => {
            let digit = c >= b'0' && c <= b'9';
            (
                digit,
                (if digit && !s.0 { false } else { s.1 }) || c == b'-',
                if digit { (if s.0 { s.2.wrapping_mul(10) } else { 0 }).wrapping_add(c as u32 - 48) } else { s.2 }
            )
        };
    }
}

/// Hashes, codes, bits.
pub(crate) fn codes() -> Vec<Entry> {
    loops! {
        "hash h·33 + c" "B" (h: u32, c: u8) = 5381 => { h.wrapping_mul(33).wrapping_add(c as u32) };
        "hash FNV-1a" "B" (h: u32, c: u8) = 2166136261 => { (h ^ c as u32).wrapping_mul(16777619) };
        "generator modulo 2^64" "W" (s: u64, c: u64) = 1 => { s.wrapping_mul(6364136223846793005).wrapping_add(c) };
        "generator modulo a prime" "M" (s: u64, c: u64) = 0 => { (s * 48271 + c) % 2147483647 };
        "Adler-32" "B" (s: (u32, u32), c: u8) = (1, 0) => {
            let a = (s.0 + c as u32) % 65521;
            (a, (s.1 + a) % 65521)
        };
        "CRC-32" "B" (s: u32, c: u8) = 0xffff_ffff => {
            let mut s = s ^ c as u32;
            for _ in 0..8 {
                s = if s & 1 == 0 { s >> 1 } else { (s >> 1) ^ 0xedb8_8320 };
            }
            s
        };
        "xorshift with input" "W" (s: u32, c: u32) = 1 => {
            let s = s ^ c;
            let s = s ^ (s << 13);
            let s = s ^ (s >> 17);
            s ^ (s << 5)
        };
        "history of 8 bits" "T" (h: u32, b: bool) = 0 => { ((h << 1) | if b { 1 } else { 0 }) & 255 };
        "history of 64 bits" "T" (h: u64, b: bool) = 0 => { (h << 1) | if b { 1 } else { 0 } };
        "sticky bits" "WW" (s: u64, m: u64, x: u64) = 0 => { (s & m) | x };
        "multiply and rotate hash" "W" (h: u32, c: u32) = 0 => { (h ^ c).rotate_left(13).wrapping_mul(5) };
        "Fibonacci with input" "W" (s: (u64, u64), x: u64) = (0, 1) => { (s.1, s.0.wrapping_add(s.1).wrapping_add(x)) };
        "Collatz" "M" (s: i32, x: i32) = 7 => { if s % 2 == 0 { s - x } else { s * 3 + x } };
    }
}

//! Eleven everyday loops, each made a scan by `Scan::from_loop`, and timed beside the loop itself.
//!
//! ```text
//! cargo run --release --example loops -- [--device cpu|cuda:N]
//! ```
//!
//! Nobody writes an operator here. Each step is an ordinary function. What n records do to a state
//! that is not known is derived from it; the page `docs/from-a-loop.md` says how.

#![allow(clippy::manual_range_contains, reason = "scan code has no ranges of values but in patterns")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Failure, chosen_device, finish, say};
use monoscan::prelude::*;
use monoscan::{Columns, Device, Host, Record, State};

mod common;

/// How far prices fell from their highest.
#[scan_fn]
fn drawdown(s: (f64, f64), price: f64) -> (f64, f64) {
    let peak = s.0.max(price);
    (peak, s.1.max(peak - price))
}

/// A switch that follows its input after three equal readings.
#[scan_fn]
fn debounce(s: (bool, u8), x: bool) -> (bool, u8) {
    let n = if x == s.0 { 0 } else { s.1 + 1 };
    if n == 3 { (x, 0) } else { (s.0, n) }
}

/// Clicks in sessions: a pause of more than 30 begins one.
#[scan_fn]
fn session(s: (u32, u32), time: u32) -> (u32, u32) {
    (time, if time - s.0 > 30 { s.1 + 1 } else { s.1 })
}

/// The depth of JSON, which strings and escapes do not change.
#[scan_fn]
fn depth(s: (bool, bool, i32), c: u8) -> (bool, bool, i32) {
    let quote = c == b'"' && !s.1;
    let escape = c == b'\\' && s.0 && !s.1;
    let opens = c == b'{' || c == b'[';
    let closes = c == b'}' || c == b']';
    let depth = if s.0 {
        s.2
    } else if opens {
        s.2 + 1
    } else if closes {
        s.2 - 1
    } else {
        s.2
    };
    (s.0 ^ quote, escape, depth)
}

/// A bucket of at most 100 tokens.
#[scan_fn]
fn tokens(t: i32, fill: i32, take: i32) -> i32 {
    ((t + fill).min(100) - take).max(0)
}

/// An exponential average whose rate depends on the time between samples.
#[scan_fn]
fn average(s: f64, keep: f64, x: f64) -> f64 {
    keep * s + (1.0 - keep) * x
}

/// The check value of zlib.
#[scan_fn]
fn adler(s: (u32, u32), c: u8) -> (u32, u32) {
    let a = (s.0 + c as u32) % 65521;
    (a, (s.1 + a) % 65521)
}

/// How many words began.
#[scan_fn]
fn words(s: (bool, u32), c: u8) -> (bool, u32) {
    let letter = c != b' ' && c != b'\n';
    (letter, if letter && !s.0 { s.1 + 1 } else { s.1 })
}

/// The numbers in a text.
#[scan_fn]
fn number(v: u32, c: u8) -> u32 {
    if c >= b'0' && c <= b'9' { v.wrapping_mul(10).wrapping_add((c - b'0') as u32) } else { 0 }
}

/// A filter of Kalman's: the estimate, and how uncertain it is. Each measurement says how noisy it is.
#[scan_fn]
fn kalman(s: (f64, f64), measured: f64, noise: f64) -> (f64, f64) {
    let uncertain = s.1 + 0.25;
    let gain = uncertain / (uncertain + noise);
    (s.0 + gain * (measured - s.0), (1.0 - gain) * uncertain)
}

/// How long customers wait: Lindley's recurrence.
#[scan_fn]
fn waiting(w: f32, service: f32, gap: f32) -> f32 {
    (w + service - gap).max(0.0)
}

/// Records of each loop.
const RECORDS: usize = 1 << 22;

fn main() -> ExitCode {
    finish(chosen_device().and_then(run), "loops [--device cpu|cuda:N]")
}

fn run(device: Device) -> Result<(), Failure> {
    let n = RECORDS;
    let noise = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let text: Vec<u8> =
        br#"{"name": "a \"b\"", "list": [1, 22, 333], "deep": [[{}], 4]} "#.iter().copied().cycle().take(n).collect();
    let prices: Vec<f64> =
        (0..n).map(|i| 100.0 + (i as f64 / 1000.0).sin() * 20.0 + (noise(i) % 64) as f64 / 64.0).collect();
    let switch: Vec<bool> = (0..n).map(|i| noise(i / 5) % 7 < 3).collect();
    let mut time = 0;
    let times: Vec<u32> = (0..n)
        .map(|i| {
            time += (noise(i) % 40) as u32;
            time
        })
        .collect();
    let small = |offset: usize| -> Vec<i32> { (0..n).map(|i| (noise(i + offset) % 20) as i32).collect() };
    let keep: Vec<f64> = (0..n).map(|i| 0.9 + (noise(i) % 100) as f64 / 1100.0).collect();
    let noisy: Vec<f64> = (0..n).map(|i| 1.0 + (noise(i + 5) % 16) as f64 / 4.0).collect();
    let short = |offset: usize| -> Vec<f32> { (0..n).map(|i| (noise(i + offset) % 64) as f32 / 16.0).collect() };

    say!(
        "{n} records each on {device}; times of the scan and of the loop, both storing every state in memory that is there:\n"
    );
    let on = &device;
    race("drawdown", drawdown {}, (0.0, 0.0), &prices, |s, i| drawdown(s, prices[i]), on)?;
    race("debounced switch", debounce {}, (false, 0), &switch, |s, i| debounce(s, switch[i]), on)?;
    race("sessions", session {}, (0, 0), &times, |s, i| session(s, times[i]), on)?;
    race("depth of JSON", depth {}, (false, false, 0), &text, |s, i| depth(s, text[i]), on)?;
    let (fill, take) = (small(0), small(7));
    race("token bucket", tokens {}, 100, (&fill, &take), |s, i| tokens(s, fill[i], take[i]), on)?;
    race("irregular average", average {}, 0.0, (&keep, &prices), |s, i| average(s, keep[i], prices[i]), on)?;
    race("Kalman's filter", kalman {}, (100.0, 1.0), (&prices, &noisy), |s, i| kalman(s, prices[i], noisy[i]), on)?;
    race("Adler-32", adler {}, (1, 0), &text, |s, i| adler(s, text[i]), on)?;
    race("words", words {}, (false, 0), &text, |s, i| words(s, text[i]), on)?;
    race("numbers in text", number {}, 0, &text, |s, i| number(s, text[i]), on)?;
    let (service, gap) = (short(0), short(9));
    race("waiting times", waiting {}, 0.0, (&service, &gap), |s, i| waiting(s, service[i], gap[i]), on)
}

/// Derives, explains, runs and times a loop.
fn race<A, F, C>(
    name: &str,
    step: F,
    initial: A::Parameters,
    columns: C,
    native: impl Fn(A::Parameters, usize) -> A::Parameters,
    device: &Device,
) -> Result<(), Failure>
where
    A: monoscan::Parameterised,
    F: ScanFn<A, Out = A::Parameters>,
    A::Parameters: ScanType + PartialEq + std::fmt::Debug + Near,
    A::Record: Record,
    C: Columns<A::Record, Place = Host> + Copy,
{
    let start = Instant::now();
    let scan: Scan<State<A::Parameters>, A::Record, A::Parameters> =
        Scan::from_loop::<A, F>(step, initial)?.on(*device)?;
    let built = start.elapsed();
    let explained = scan.explain();
    let derived: Vec<&str> = explained.lines().filter(|line| line.starts_with("  level")).collect();
    say!("{name}, derived and compiled in {built:.1?}\n{}", derived.join("\n"));

    let mut found = scan.inclusive(columns)?;
    let sequential = |states: &mut [A::Parameters]| {
        let mut state = initial;
        for (i, after) in states.iter_mut().enumerate() {
            state = native(state, i);
            *after = state;
        }
    };
    let mut expected = vec![initial; RECORDS];
    sequential(&mut expected);
    if let Some(i) = (0..RECORDS).find(|&i| !found[i].is_near(&expected[i])) {
        let text = format!("{name}, record {i}: the scan gives {:?}, the loop {:?}", found[i], expected[i]);
        return Err(Failure::Run(text));
    }
    let by_scan = fastest(|| {
        scan.inclusive_into(columns, black_box(&mut found)).expect("it ran before");
    });
    let by_loop = fastest(|| sequential(black_box(&mut expected)));
    let each = |time: Duration| time.as_secs_f64() * 1e9 / RECORDS as f64;
    let times = by_loop.as_secs_f64() / by_scan.as_secs_f64();
    say!("  scan {:.2} ns a record, loop {:.2} ns: {times:.2} times as fast\n", each(by_scan), each(by_loop));
    Ok(())
}

/// The shortest of five times.
fn fastest(mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

/// Equal, but for how floats are rounded.
trait Near {
    fn is_near(&self, other: &Self) -> bool;
}

macro_rules! near {
    (exact $($ty:ty),*) => {$(impl Near for $ty {
        fn is_near(&self, other: &Self) -> bool { self == other }
    })*};
    (rounded $($ty:ty),*) => {$(impl Near for $ty {
        fn is_near(&self, other: &Self) -> bool { (self - other).abs() <= 1e-4 * other.abs().max(1.0) }
    })*};
}

near!(exact i32, u32, (bool, u8), (u32, u32), (bool, bool, i32), (bool, u32));
near!(rounded f32, f64);

impl Near for (f64, f64) {
    fn is_near(&self, other: &Self) -> bool {
        self.0.is_near(&other.0) && self.1.is_near(&other.1)
    }
}

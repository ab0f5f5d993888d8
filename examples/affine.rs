//! A balance over forty years of calendar days, with a rate and a deposit for every day: `y[i] =
//! a[i]·y[i-1] + b[i]`.
//!
//! ```text
//! cargo run --release --example affine -- [--device cpu|cuda:N]
//! ```
//!
//! The loop looks sequential, since each balance needs the one before. But a day is a map x ↦ a·x +
//! b, and maps compose associatively; so the balances are a scan, which is compiled from the plain
//! Rust below.

use std::process::ExitCode;
use std::time::Instant;

use common::{Failure, Race, chosen_device, finish, indented, say};
use monoscan::Device;
use monoscan::prelude::*;

mod common;

/// x ↦ a·x + b: what a stretch of time does to a balance.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine {
    a: f64,
    b: f64,
}

#[scan_monoid]
impl Monoid for Affine {
    fn identity() -> Self {
        Affine { a: 1.0, b: 0.0 }
    }
    /// `self` comes first, `next` after it.
    fn combine(self, next: Self) -> Self {
        Affine { a: next.a * self.a, b: next.a * self.b + next.b }
    }
}

#[scan_fn]
fn day(growth: f64, deposit: f64) -> Affine {
    Affine { a: growth, b: deposit }
}

#[scan_fn]
fn balance(state: Affine) -> f64 {
    state.b
}

/// Customers whose days stand one after the other, so that there is something to time.
const CUSTOMERS: usize = 500;

fn main() -> ExitCode {
    finish(chosen_device().and_then(run), "affine [--device cpu|cuda:N]")
}

fn run(device: Device) -> Result<(), Failure> {
    let years = 1985..2025;
    let (mut growth, mut deposit, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for year in years.clone() {
        // A rate that wanders between 1 % and 5 % a year, paid daily; 100 on the first of each month.
        let rate = 0.03 + 0.02 * (year as f64 / 3.0).sin();
        for month in 1..=12 {
            for date in 1..=days(year, month) {
                growth.push(1.0 + rate / if is_leap(year) { 366.0 } else { 365.0 });
                deposit.push(if date == 1 { 100.0 } else { 0.0 });
            }
        }
        ends.push(growth.len() - 1);
    }

    let start = Instant::now();
    let solve = Scan::<Affine>::builder().lift(day {}).project(balance {}).build()?.on(device)?;
    say!("The operator was found to be associative, and compiled, in {:.1?}:\n", start.elapsed());
    say!("{}\n", indented(&solve.explain()));

    let y = solve.inclusive((&growth, &deposit))?;
    verify(&y, &growth, &deposit)?;
    say!("Balances of one customer over {} days, each within 1e-12 of what a plain loop gives:", y.len());
    for (year, &end) in years.zip(&ends).skip(9).step_by(10) {
        say!("  end of {year}: {:12.2}", y[end]);
    }

    // Every customer's first day multiplies what came before by 0, and starts with a balance of their own.
    let (mut a, mut b) = (growth.repeat(CUSTOMERS), deposit.repeat(CUSTOMERS));
    for (customer, first) in (0..a.len()).step_by(growth.len()).enumerate() {
        (a[first], b[first]) = (0.0, customer as f64);
    }
    let (mut y, mut plain) = (vec![0.0; a.len()], vec![0.0; a.len()]);
    solve.inclusive_into((&a, &b), &mut y)?;
    verify(&y, &a, &b)?;
    say!(
        "\nSpeed on {device}, {} days of {CUSTOMERS} customers, beside a plain loop and a copy of as many bytes:",
        a.len()
    );
    let race = Race {
        sequential: &mut || sequentially(&a, &b, &mut plain),
        scan: &mut || solve.inclusive_into((&a, &b), &mut y).map(drop).expect("it ran before"),
        bytes: size_of_val(&*a) + size_of_val(&*b) + a.len() * size_of::<f64>(),
    };
    race.run(a.len(), "day");
    Ok(())
}

fn sequentially(a: &[f64], b: &[f64], y: &mut [f64]) {
    let mut balance = 0.0;
    for ((a, b), y) in a.iter().zip(b).zip(y) {
        balance = a * balance + b;
        *y = balance;
    }
}

fn verify(y: &[f64], a: &[f64], b: &[f64]) -> Result<(), Failure> {
    let mut plain = vec![0.0; a.len()];
    sequentially(a, b, &mut plain);
    let near = |y: f64, plain: f64| (y - plain).abs() <= 1e-12 * plain.abs();
    match (0..y.len()).find(|&i| !near(y[i], plain[i])) {
        None => Ok(()),
        Some(i) => Err(Failure::Run(format!("day {i}: the scan gives {}, the plain loop {}", y[i], plain[i]))),
    }
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days(year: i32, month: u32) -> u32 {
    match month {
        2 => 28 + is_leap(year) as u32,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

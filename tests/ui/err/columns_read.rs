//! Columns that a scan does not read, and a step without one.
use monoscan::ops::Sum;
use monoscan::prelude::*;

fn main() -> Result<(), monoscan::Error> {
    let sums = Scan::<Sum<i32>>::plain()?;
    sums.inclusive(vec![1])?;
    sums.inclusive(&[1i64])?;
    Scan::from_loop(scan!(|s: i32| -> i32 { s + 1 }), 0)?;
    Ok(())
}

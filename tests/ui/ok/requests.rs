use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Error, Request};

/// Requests are built up where what is asked for is known at run time only.
fn ask<'a>(
    scan: &'a Scan<Sum<u32>>,
    backwards: bool,
    offsets: Option<&'a [u32]>,
) -> Request<'a, Sum<u32>, (Sum<u32>,), Sum<u32>> {
    let request = scan.request();
    let request = if backwards { request.reversed() } else { request };
    match offsets {
        Some(offsets) => request.segmented(offsets),
        None => request,
    }
}

pub(crate) fn main() -> Result<(), Error> {
    let scan = Scan::<Sum<u32>>::new()?;
    let x = [1, 2, 3, 4].map(Sum);
    assert_eq!(ask(&scan, true, Some(&[0, 1, 4])).inclusive(&x)?, [1, 9, 7, 4].map(Sum));
    assert_eq!(ask(&scan, false, None).reduce(&x)?, Sum(10));
    // The columns of a matrix of 2 × 2.
    assert_eq!(scan.axis(&[2, 2], 0).inclusive(&x)?, [1, 2, 4, 6].map(Sum));
    Ok(())
}

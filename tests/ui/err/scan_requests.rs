use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;
use monoscan::{Error, Request, Unzipped};

type Sums = Scan<Sum<u32>, (u32, u8), u32>;

fn boundaries(scan: &Sums) {
    let _ = scan.segmented(&[1i32, 2]);
    let _ = scan.segmented(true);
}

fn columns(scan: &Sums) -> Result<(), Error> {
    scan.inclusive(&[1u32])?;
    scan.reversed().exclusive((&[1u32], &[1u8], &[1u8]))?;
    Ok(())
}

type Both = Scan<Sum<u32>, (u32,), Unzipped<(u32, bool)>>;

fn outputs(sums: &Sums, both: &Both, x: &[u32]) -> Result<(), Error> {
    let (mut y, mut even, mut wide) = (vec![0u32; x.len()], vec![false; x.len()], vec![0u64; x.len()]);
    sums.inclusive_into((x, &[0u8; 4]), &mut wide)?;
    both.inclusive_into(x, &mut y)?;
    both.inclusive_into(x, (&mut y, &mut wide))?;
    both.inclusive_into(x, (&mut y, &even))?;
    both.inclusive_in_place(&mut even)?;
    Ok(())
}

fn init(scan: &Sums) {
    let _ = scan.init(5);
}

fn fourth_stage(builder: monoscan::ScanBuilder<(Sum<u32>, Max<u32>, Sum<u32>), (u32,), Sum<u32>>) {
    let _ = builder.then(scan!(|e: Element<u32, (Sum<u32>, Max<u32>, Sum<u32>)>| -> Sum<u32> { e.after.0 }));
}

fn no_state<'a>(request: Request<'a, u32, (u32,), u32>) {
    let _ = request.reversed();
}

fn main() {}

use monoscan::prelude::*;

#[scan_fn]
fn outside_an_index(i: u32, counts: [u32; 4]) -> u32 {
    let place = i as usize;
    counts[place]
}

fn main() {}

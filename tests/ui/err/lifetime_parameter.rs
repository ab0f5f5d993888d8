use monoscan::prelude::*;

#[scan_fn]
fn f<'t>(t: Table<'t, u8>, x: u8) -> u8 {
    t.get(x as u32)
}

fn main() {}

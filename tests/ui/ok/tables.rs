use monoscan::prelude::*;

type Row = (u8, [f32; 2]);

#[scan_fn]
fn step<T: Real>(rows: Table<Row>, gains: Table<T>, x: u8, y: T) -> (u8, T) {
    let (next, pair) = rows.get(x as u32);
    (next, y * gains.get(next as u32 & 1) + if pair[0] > pair[1] { T::ONE } else { T::ZERO })
}

fn takes<F: ScanFn<(u8, f64)>>(_: F) {}

fn main() {
    let rows = vec![(1, [0.5, 0.25]); 10];
    takes(step {}.with_table(&rows).with_table(&[1.0, 2.0]));
}

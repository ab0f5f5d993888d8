//! Streaming stores: tiles on two threads, blocks that begin at aligned places and between them,
//! columns that do and that do not, against the plain loop.

use monoscan_ir::Primitive;
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, PlanOptions};
use scan_kit::calls::tiles;
use scan_kit::programs::{RUNNING_SUM, parse};

/// Sums of a type, which are exact.
fn check<T: Primitive + std::fmt::Debug + PartialEq + bytemuck::Pod>(ty: &str, of: fn(i16) -> T) {
    let x: Vec<i16> = (0..400).map(|i| (i * 79 % 101 - 50) as i16).collect();
    let records: Vec<T> = x.iter().copied().map(of).collect();
    let mut sum = 0;
    let sums = x.iter().map(|x| {
        sum += x;
        of(sum)
    });
    let sums: Vec<T> = sums.collect();
    for interleave in [1, 2, 4, 8] {
        for block in [8, 9, 10, 12, 16] {
            let plan = PlanOptions { vector: Some(true), streaming: Some(0), ..tiles(interleave, block, 2) };
            let program = parse(&RUNNING_SUM.replace("i32", ty));
            let scan = DynScan::builder(program).plan(plan).threads(2).build().unwrap();
            // How far results are from an aligned place; several tiles and a rest.
            for (offset, len) in [(0, 390), (1, 390), (0, 333), (2, 271)] {
                let mut memory = vec![0u128; 101];
                let y: &mut [T] = &mut bytemuck::cast_slice_mut(&mut memory)[offset..][..len];
                scan.run(&Call::default(), &[Column::new(&records[..len])], &mut [ColumnMut::new(y)]).unwrap();
                assert_eq!(y, &sums[..len], "{ty}, {interleave} × {block}, {len} records, {offset}");
            }
        }
    }
}

/// Integers are scanned in one pass a tile, and floats in blocks.
#[test]
fn results_past_the_caches_are_the_loops_wherever_blocks_begin() {
    check("i32", i32::from);
    check("f32", f32::from);
}

//! Records that are too many, or too large.

use memmap2::{MmapMut, MmapOptions};
use monoscan::algo::brackets::{Side, enclosing, partners};
use monoscan::algo::lists::{rank, rank_by_jumping};
use monoscan::algo::sort::{Order, argsort, quicksort, sort, sort_with_values};
use monoscan::algo::text::{csv, lines_and_columns};
use monoscan::algo::trees::Tour;
use monoscan::algo::{AlgoError, groups, runs, select, series, split};
use monoscan::{Error, prelude::*};

/// Zeros that take no memory until they are written.
fn zeros(bytes: usize) -> MmapMut {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon().expect("there are addresses for it")
}

/// So many bytes that are 0 as values.
fn flags_of(memory: &[u8]) -> &[bool] {
    // SAFETY: a byte that is 0 is `false`.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), memory.len()) }
}

fn sides_of(memory: &[u8]) -> &[Side] {
    const { assert!(size_of::<Side>() == 1 && Side::Neither as u8 == 0) };
    // SAFETY: a byte that is 0 is `Side::Neither`.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast(), memory.len()) }
}

#[test]
fn more_records_than_can_be_numbered_are_refused_before_they_are_copied() {
    const LEN: usize = 1 << 32;
    let is_refused = |result: Result<(), AlgoError>, limit: u64| {
        assert!(matches!(result, Err(AlgoError::TooLong { len: LEN, limit: at }) if at == limit), "{result:?}");
    };
    let mut memory = zeros(LEN);
    let (x, values) = (&mut memory[..], &mut vec![(); LEN]);
    is_refused(sort(x, Order::Ascending), 1 << 32);
    is_refused(sort_with_values(x, values, Order::Ascending), 1 << 32);
    is_refused(argsort(x, Order::Ascending).map(drop), 1 << 32);
    is_refused(quicksort(x).map(drop), 1 << 32);
    is_refused(split::split_by_bit(x, 0).map(drop), 1 << 32);
    is_refused(groups::histogram(x).map(drop), 1 << 32);
    is_refused(runs::encode(x).map(drop), 1 << 32);
    is_refused(runs::encode_into(x, &mut [0], &mut [0]).map(drop), 1 << 32);
    is_refused(series::sessions(x, 1).map(drop), 1 << 32);
    is_refused(series::running_argmax(x).map(drop), 1 << 32);
    is_refused(lines_and_columns(x).map(drop), 1 << 32);
    is_refused(csv(x, b',').map(drop), 1 << 32);
    let (x, mut parts) = (&memory[..], zeros(LEN));
    let (flags, sides) = (flags_of(x), sides_of(x));
    is_refused(select::places(flags).map(drop), 1 << 32);
    is_refused(select::select_with_places(x, flags).map(drop), 1 << 32);
    let by = select::Select::by(scan!(|x: u8| -> bool { x > 0 })).unwrap();
    is_refused(by.select_with_places(x).map(drop), 1 << 32);
    is_refused(select::partition(x, flags).map(drop), 1 << 32);
    is_refused(select::partition_into(x, flags, &mut parts).map(drop), 1 << 32);
    is_refused(select::partition3(x, x).map(drop), 1 << 32);
    is_refused(by.select_with_places_into(x, &mut [0], &mut [0]).map(drop), 1 << 32);
    is_refused(partners(sides).map(drop), 1 << 31);
    is_refused(enclosing(sides).map(drop), 1 << 31);
    is_refused(Tour::of_parentheses(sides).map(drop), 1 << 31);
    drop((memory, parts));

    let links = zeros(4 * LEN);
    let links: &[u32] = bytemuck::cast_slice(&links);
    is_refused(rank(links).map(drop), 1 << 32);
    is_refused(rank_by_jumping(links).map(drop), 1 << 32);
    is_refused(Tour::of_parents(links).map(drop), 1 << 31);
    let half = Tour::of_parents(&links[..LEN / 2]).map(drop);
    assert!(matches!(half, Err(AlgoError::TooLong { len: 0x8000_0000, limit: 0x8000_0000 })), "{half:?}");
}

#[test]
fn records_are_as_large_as_scans_take_them_and_loops_take_any() {
    fn is_refused<T>(result: Result<T, AlgoError>) -> bool {
        matches!(result, Err(AlgoError::Scan(Error::StateSize { .. } | Error::Invalid(_))))
    }
    let flags = [true, false];
    assert_eq!(select::select(&[[1u64; 512], [2; 512]], &flags).unwrap(), [[1; 512]]);
    assert!(is_refused(select::select(&[[1u64; 513]; 2], &flags)));
    assert!(is_refused(select::select(&[[0u64; 0]; 2], &flags)));
    assert_eq!(select::partition(&[[1u64; 513], [2; 513]], &flags).unwrap().1, 1);
    assert_eq!(runs::decode(&[[1u64; 513]], &[2]).unwrap(), [[1; 513]; 2]);

    assert_eq!(runs::unique(&[[1u64; 32]; 2]).unwrap(), [[1; 32]]);
    assert!(is_refused(runs::unique(&[[1u64; 33]; 2])));
    assert_eq!(groups::sums_by_key(&[[1u64; 33]; 2], &[3, 4]).unwrap(), (vec![[1; 33]], vec![7]));

    assert_eq!(series::forward_fill(&[[1u8; 255], [2; 255]], &flags, [0; 255]).unwrap(), [[1; 255]; 2]);
    assert!(is_refused(series::forward_fill(&[[1u8; 256]; 2], &flags, [0; 256])));
}

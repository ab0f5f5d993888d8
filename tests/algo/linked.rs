//! Lists and brackets.

use monoscan::algo::AlgoError;
use monoscan::algo::brackets::{Side, enclosing, enclosing_into, partners, partners_into};
use monoscan::algo::lists::{NONE, rank, rank_by_jumping, rank_into};

use super::common::{Random, for_lengths, generator};

/// The numbers below `len` in some order.
pub(crate) fn shuffled(len: usize, random: &mut Random) -> Vec<u32> {
    let mut all: Vec<u32> = (0..len as u32).collect();
    for i in (1..len).rev() {
        all.swap(i, random.below(i + 1));
    }
    all
}

/// Lists: one in memory order, one backwards, one shuffled, many shuffled, and no links at all.
fn lists(len: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut random = generator(len);
    let ascending: Vec<u32> = (0..len as u32).collect();
    let descending: Vec<u32> = ascending.iter().rev().copied().collect();
    let orders = [ascending.clone(), descending, shuffled(len, &mut random), shuffled(len, &mut random), ascending];
    let ends = [usize::MAX, usize::MAX, usize::MAX, 30, 1];
    let list = |(order, end): (Vec<u32>, usize)| {
        let (mut next, mut ranks, mut rank) = (vec![NONE; len], vec![0; len], 0);
        for (i, &element) in order.iter().enumerate() {
            ranks[element as usize] = rank;
            rank += 1;
            match order.get(i + 1) {
                Some(&after) if !random.chance(end) => next[element as usize] = after,
                _ => rank = 0,
            }
        }
        (next, ranks)
    };
    orders.into_iter().zip(ends).map(list).collect()
}

#[test]
fn both_ways_of_list_ranking_count_the_elements_before() {
    // Threads share links and elements from 2^15 on.
    for_lengths(70_001, |len| {
        for (next, ranks) in lists(len) {
            assert!(rank(&next).unwrap() == ranks, "{len} elements");
            let mut into = vec![7; len];
            rank_into(&next, &mut into).unwrap();
            assert!(into == ranks, "{len} elements");
            assert!(rank_by_jumping(&next).unwrap() == ranks, "{len} elements");
        }
    });
}

#[test]
fn what_is_no_list_is_refused() {
    for rank in [rank, rank_by_jumping] {
        assert!(matches!(rank(&[5]), Err(AlgoError::Index { argument: "next", place: 0, expected: 1, got: 5 })));
        assert!(matches!(rank(&[2, 2, NONE]), Err(AlgoError::Shared { element: 2, by: [0, 1] })));
        assert!(matches!(rank(&[0]), Err(AlgoError::Cycle { element: 0 })));
        for len in [2, 3, 64, 1000, 5001u32] {
            // A list beside a cycle of all other elements.
            let mut next: Vec<u32> = (1..len).chain([1]).collect();
            next[0] = NONE;
            assert!(matches!(rank(&next), Err(AlgoError::Cycle { element: 1.. })), "{len}");
        }
        // So many that threads share them: the first wrong link is named.
        let len = 100_003u32;
        let mut next: Vec<u32> = (1..len).chain([NONE]).collect();
        (next[70_000], next[90_000]) = (5, 5);
        assert!(matches!(rank(&next), Err(AlgoError::Shared { element: 5, by: [4, 70_000] })));
        next[4] = NONE;
        (next[70_000], next[90_000]) = (len, NONE - 1);
        let error = rank(&next).unwrap_err();
        assert!(matches!(error, AlgoError::Index { place: 70_000, expected: 100_003, got: 100_003, .. }), "{error}");
        let next: Vec<u32> = (1..len).chain([0]).collect();
        assert!(matches!(rank(&next), Err(AlgoError::Cycle { .. })));
    }
}

/// Random brackets and other text: closing more often, opening more often, deep, flat, none.
fn texts(len: usize) -> Vec<Vec<Side>> {
    let mut random = generator(len);
    let mut texts = vec![vec![Side::Neither; len], vec![Side::Open; len], vec![Side::Close; len]];
    for of in [
        &[Side::Open, Side::Close][..],
        &[Side::Open, Side::Neither, Side::Close, Side::Close],
        &[Side::Open, Side::Open, Side::Close, Side::Neither],
    ] {
        texts.push((0..len).map(|_| *random.pick(of)).collect());
    }
    let deep = (0..len).map(|i| if i < len / 2 { Side::Open } else { Side::Close });
    let flat = (0..len).map(|i| if i % 2 == 0 { Side::Open } else { Side::Close });
    texts.extend([deep.collect(), flat.collect()]);
    // Blocks have 2^15 places: one of nothing between two, and one that closes and opens what others do.
    texts.push((0..len).map(|i| [Side::Open, Side::Neither, Side::Close, Side::Neither][(i >> 15) % 4]).collect());
    texts.push((0..len).map(|i| [Side::Open, Side::Close, Side::Open, Side::Close][(i / 20_000) % 4]).collect());
    texts
}

#[test]
fn brackets_are_matched_and_enclose_as_a_stack_has_it() {
    for_lengths(100_003, |len| {
        for sides in texts(len) {
            let (mut expected, mut around, mut stack) = (vec![NONE; sides.len()], vec![NONE; sides.len()], Vec::new());
            for (place, &side) in (0u32..).zip(&sides) {
                let i = place as usize;
                if side == Side::Close
                    && let Some(open) = stack.pop()
                {
                    (expected[i], expected[open as usize]) = (open, place);
                }
                around[i] = stack.last().copied().unwrap_or(NONE);
                if side == Side::Open {
                    stack.push(place);
                }
            }
            assert!(partners(&sides).unwrap() == expected, "{} places", sides.len());
            assert!(enclosing(&sides).unwrap() == around, "{} places", sides.len());
            let mut places = vec![7; sides.len()];
            partners_into(&sides, &mut places).unwrap();
            assert!(places == expected, "{} places", sides.len());
            enclosing_into(&sides, &mut places).unwrap();
            assert!(places == around, "{} places", sides.len());
        }
    });
}

#[test]
fn slices_of_another_length_and_links_that_make_no_list_leave_the_slice_as_it_was() {
    let mut places = [7; 3];
    let is_refused = |result: Result<(), AlgoError>, name: &str| match result {
        Err(AlgoError::Length { argument, expected: 2, got: 3 }) => assert_eq!(argument, name),
        other => panic!("{other:?}"),
    };
    is_refused(rank_into(&[NONE; 2], &mut places), "ranks");
    is_refused(partners_into(&[Side::Open; 2], &mut places), "partners");
    is_refused(enclosing_into(&[Side::Open; 2], &mut places), "enclosing");
    assert!(matches!(rank_into(&[NONE, 2, 1], &mut places), Err(AlgoError::Cycle { .. })));
    assert_eq!(places, [7; 3]);
}

//! Lists, brackets and trees.

use monoscan::algo::brackets::{Side, partners};
use monoscan::algo::lists::{NONE, rank, rank_by_jumping};
use monoscan::algo::trees::Tour;

use crate::common::Failure;
use crate::{Table, bits, drawn};

pub(crate) fn linked(table: &Table) -> Result<(), Failure> {
    let mut order: Vec<u32> = (0..table.records as u32).collect();
    let mut draw = bits(30);
    for i in (1..order.len()).rev() {
        order.swap(i, draw() as usize % (i + 1));
    }
    let mut next = vec![NONE; order.len()];
    order.windows(2).for_each(|pair| next[pair[0] as usize] = pair[1]);
    let walk = || {
        let (mut ranks, mut element) = (vec![0; next.len()], order[0]);
        for rank in 0.. {
            ranks[element as usize] = rank;
            element = next[element as usize];
            if element == NONE {
                break;
            }
        }
        ranks
    };
    table.line(("list ranking", ["3 n", "1", "4"]), || rank(&next), ("a walk", walk))?;
    let jumping = ("pointer jumping", ["n log n", "log n", "log n"]);
    table.line(jumping, || rank_by_jumping(&next), ("a walk", walk))?;

    let sides: Vec<Side> = drawn(table.records, 31, |bits| {
        *[Side::Open, Side::Close, Side::Neither].get(bits as usize % 3).unwrap_or(&Side::Open)
    });
    table.line(
        ("bracket matching", ["n", "0", "2"]),
        || partners(&sides),
        ("a stack", || {
            let (mut partners, mut stack) = (vec![NONE; sides.len()], Vec::new());
            for (place, side) in (0u32..).zip(&sides) {
                match side {
                    Side::Open => stack.push(place),
                    Side::Close => {
                        if let Some(open) = stack.pop() {
                            (partners[open as usize], partners[place as usize]) = (place, open);
                        }
                    }
                    Side::Neither => {}
                }
            }
            partners
        }),
    )?;

    let parents: Vec<u32> = {
        let mut bits = bits(32);
        (0..table.records as u64).map(|node| if node == 0 { NONE } else { (bits() % node) as u32 }).collect()
    };
    let values: Vec<i64> = drawn(table.records, 33, |bits| bits as i64 >> 40);
    table.line(
        ("tour of parents", ["n", "0", "4"]),
        || Tour::of_parents(&parents).map(|tour| (tour.sizes(), tour.preorder(), tour.depths())),
        ("three loops", || {
            let (mut sizes, mut preorder, mut depths) =
                (vec![1; parents.len()], vec![0; parents.len()], vec![0; parents.len()]);
            for node in (1..sizes.len()).rev() {
                sizes[parents[node] as usize] += sizes[node];
            }
            let mut next = vec![1; parents.len()];
            for node in 1..sizes.len() {
                let parent = parents[node] as usize;
                preorder[node] = next[parent];
                next[parent] += sizes[node];
                next[node] = preorder[node] + 1;
            }
            for node in 1..sizes.len() {
                depths[node] = depths[parents[node] as usize] + 1;
            }
            (sizes, preorder, depths)
        }),
    )?;
    let tour = Tour::of_parents(&parents)?;
    table.line(
        ("sums of subtrees", ["n", "1", "3"]),
        || tour.subtree_sums(&values),
        ("a loop", || {
            let mut sums = values.clone();
            for node in (1..sums.len()).rev() {
                sums[parents[node] as usize] += sums[node];
            }
            sums
        }),
    )?;
    table.line(
        ("sums of paths", ["n", "1", "3"]),
        || tour.path_sums(&values),
        ("a loop", || {
            let mut sums = values.clone();
            for node in 1..sums.len() {
                sums[node] += sums[parents[node] as usize];
            }
            sums
        }),
    )
}

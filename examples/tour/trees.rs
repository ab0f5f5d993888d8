//! Trees by their Euler tours.

use std::convert::Infallible;
use std::ops::AddAssign;

use monoscan::algo::brackets::Side;
use monoscan::algo::lists::NONE;
use monoscan::algo::trees::Tour;
use monoscan::ops::Max;

use crate::common::Failure;
use crate::{LOOP, Table, bits, drawn};

/// A loop over the nodes, of a copy.
const STEPS: [&str; 3] = ["n", "0", "2"];

pub(crate) fn trees(table: &Table) -> Result<(), Failure> {
    // Node 0 is the root, and parents have smaller numbers than their children.
    let parents: Vec<u32> = {
        let mut bits = bits(32);
        (0..table.records as u64).map(|node| if node == 0 { NONE } else { (bits() % node) as u32 }).collect()
    };
    let values: Vec<i64> = drawn(table.records, 33, |bits| bits as i64 >> 40);
    let sizes = || upwards(&parents, vec![1; parents.len()]);
    let depths = || {
        let mut depths = vec![0; parents.len()];
        for node in 1..depths.len() {
            depths[node] = depths[parents[node] as usize] + 1;
        }
        depths
    };
    table.line(
        ("trees::Tour::of_parents", ["5 n", "0", "5"]),
        || Tour::of_parents(&parents).map(|tour| (tour.sizes(), tour.preorder(), tour.depths())),
        ("three loops", || {
            let sizes = sizes();
            let preorder = ordered(&parents, &sizes, true);
            (sizes, preorder, depths())
        }),
    )?;
    let tour = &Tour::of_parents(&parents)?;
    let measure = |name, of: fn(&Tour) -> Vec<u32>, rival, by_loop: &dyn Fn() -> Vec<u32>| {
        table.line((name, LOOP), || Ok::<_, Infallible>(of(tour)), (rival, by_loop))
    };
    measure("trees::Tour::sizes", Tour::sizes, "a loop", &sizes)?;
    measure("trees::Tour::depths", Tour::depths, "a loop", &depths)?;
    measure("trees::Tour::preorder", Tour::preorder, "two loops", &|| ordered(&parents, &sizes(), true))?;
    measure("trees::Tour::postorder", Tour::postorder, "two loops", &|| ordered(&parents, &sizes(), false))?;

    let leaves = || {
        let mut is_leaf = vec![1; parents.len()];
        parents[1..].iter().for_each(|&parent| is_leaf[parent as usize] = 0);
        upwards(&parents, is_leaf)
    };
    table.line(("trees::Tour::leaves", STEPS), || tour.leaves(), ("two loops", leaves))?;
    table.line(
        ("trees::Tour::subtree_sums", STEPS),
        || tour.subtree_sums(&values),
        ("a loop", || upwards(&parents, values.clone())),
    )?;
    table.line(
        ("trees::Tour::path_sums", STEPS),
        || tour.path_sums(&values),
        ("a loop", || {
            let mut sums = values.clone();
            for node in 1..sums.len() {
                sums[node] += sums[parents[node] as usize];
            }
            sums
        }),
    )?;
    let maxima = || values.iter().map(|&value| Max(value)).collect::<Vec<Max<i64>>>();
    let larger = |a: Max<i64>, b: Max<i64>| Max(a.0.max(b.0));
    let own = maxima();
    table.line(
        ("trees::Tour::subtree_totals", STEPS),
        || tour.subtree_totals(&own),
        ("a loop", || {
            let mut totals = maxima();
            for node in (1..totals.len()).rev() {
                let parent = parents[node] as usize;
                totals[parent] = larger(totals[parent], totals[node]);
            }
            totals
        }),
    )?;
    table.line(
        ("trees::Tour::path_totals", STEPS),
        || tour.path_totals(&own),
        ("a loop", || {
            let mut totals = maxima();
            for node in 1..totals.len() {
                totals[node] = larger(totals[parents[node] as usize], totals[node]);
            }
            totals
        }),
    )?;
    parentheses(table)
}

/// A text that is half as many nodes.
fn parentheses(table: &Table) -> Result<(), Failure> {
    let pairs = table.records / 2;
    let (mut opened, mut closed, mut bits) = (0, 0, bits(34));
    let side = |_| {
        let opens = opened == closed || (opened < pairs && bits() % 2 == 0);
        if opens {
            opened += 1;
            Side::Open
        } else {
            closed += 1;
            Side::Close
        }
    };
    let sides: Vec<Side> = (0..2 * pairs).map(side).collect();
    table.line(
        ("trees::Tour::of_parentheses", ["4 n", "0", "2"]),
        || Tour::of_parentheses(&sides).map(|tour| tour.sizes()),
        ("a stack", || {
            let (mut sizes, mut stack) = (Vec::new(), Vec::new());
            for side in &sides {
                if *side == Side::Open {
                    stack.push(sizes.len());
                    sizes.push(0);
                } else if let Some(node) = stack.pop() {
                    sizes[node] = (sizes.len() - node) as u32;
                }
            }
            sizes
        }),
    )
}

/// The sum of these values over each subtree.
fn upwards<T: Copy + AddAssign>(parents: &[u32], mut sums: Vec<T>) -> Vec<T> {
    for node in (1..sums.len()).rev() {
        let sum = sums[node];
        sums[parents[node] as usize] += sum;
    }
    sums
}

/// The place of each node in the order in which it comes before its children, or after them.
fn ordered(parents: &[u32], sizes: &[u32], is_before: bool) -> Vec<u32> {
    // Where the next child of each begins.
    let mut next = vec![is_before as u32; sizes.len()];
    let mut places = vec![if is_before { 0 } else { sizes[0] - 1 }; sizes.len()];
    for node in 1..sizes.len() {
        let parent = parents[node] as usize;
        let start = next[parent];
        next[parent] += sizes[node];
        next[node] = start + is_before as u32;
        places[node] = if is_before { start } else { start + sizes[node] - 1 };
    }
    places
}

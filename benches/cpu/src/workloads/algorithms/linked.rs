//! Brackets, lists and the building of tours beside stacks and walks, into columns that are there.

use monoscan::algo::brackets::{Side, partners_into};
use monoscan::algo::lists::{NONE, rank_into};
use monoscan::algo::trees::Tour;

use super::super::Session;
use super::{race_into, trees};
use crate::race::Field;
use crate::report::Row;
use bench_shared::data::{Numbers, column};

/// Brackets that open, that close, and other places, at random.
pub(in super::super) fn partners(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let of = [Side::Neither, Side::Open, Side::Close];
    let sides = &column(89, len, |numbers| of[numbers.below(3) as usize])[..];
    let by_stack = |y: &mut [u32]| {
        let mut stack = Vec::new();
        y.fill(NONE);
        for (place, side) in (0u32..).zip(sides) {
            match side {
                Side::Open => stack.push(place),
                Side::Close => {
                    if let Some(open) = stack.pop() {
                        (y[open as usize], y[place as usize]) = (place, open);
                    }
                }
                Side::Neither => {}
            }
        }
        len
    };
    race_into((session, field), (len, 7), &[("a stack", &by_stack)], |y| partners_into(sides, y).map(|()| len))
}

/// The numbers below `len` in a random order.
fn shuffled(seed: u64, len: usize) -> Vec<u32> {
    let (mut order, mut numbers) = ((0..len as u32).collect::<Vec<u32>>(), Numbers::new(seed));
    for last in (1..len).rev() {
        order.swap(last, numbers.below(last as u64 + 1) as usize);
    }
    order
}

/// One list of all elements, in a random order.
pub(in super::super) fn rank(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let order = shuffled(90, len);
    let mut next = vec![NONE; len];
    order.windows(2).for_each(|pair| next[pair[0] as usize] = pair[1]);
    let (next, first) = (&next[..], order[0]);
    let walk = |y: &mut [u32]| {
        let (mut element, mut before) = (first, 0);
        while element != NONE {
            y[element as usize] = before;
            (element, before) = (next[element as usize], before + 1);
        }
        len
    };
    race_into((session, field), (len, 7), &[("a walk", &walk)], |y| rank_into(next, y).map(|()| len))
}

/// The order in which nodes of a random tree are entered, whose parents have smaller numbers.
pub(in super::super) fn tour_downwards(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    tour(session, field, &trees::random(len))
}

/// The same of nodes that are numbered at random.
pub(in super::super) fn tour_shuffled(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (parents, names) = (trees::random(len), shuffled(91, len));
    let mut renamed = vec![NONE; len];
    for (node, &parent) in parents.iter().enumerate().skip(1) {
        renamed[names[node] as usize] = names[parent as usize];
    }
    tour(session, field, &renamed)
}

/// A user's loops list the children of each node, and walk with a stack.
fn tour(session: &Session, field: Field<'_>, parents: &[u32]) -> Vec<Row> {
    let len = parents.len();
    let walk = |y: &mut [u32]| {
        // Where the children of each node begin, those of no node last.
        let family = |parent: u32| if parent == NONE { len } else { parent as usize };
        let mut starts = vec![0u32; len + 2];
        parents.iter().for_each(|&parent| starts[family(parent) + 1] += 1);
        (1..starts.len()).for_each(|place| starts[place] += starts[place - 1]);
        let (mut ends, mut children) = (starts.clone(), vec![0; len]);
        for (node, &parent) in (0u32..).zip(parents) {
            let end = &mut ends[family(parent)];
            children[*end as usize] = node;
            *end += 1;
        }
        let of = |node: usize| children[starts[node] as usize..starts[node + 1] as usize].iter().rev();
        let (mut stack, mut entered) = (of(len).copied().collect::<Vec<u32>>(), 0);
        while let Some(node) = stack.pop() {
            y[node as usize] = entered;
            entered += 1;
            stack.extend(of(node as usize));
        }
        len
    };
    race_into((session, field), (len, 7), &[("a stack", &walk)], |y| {
        y.copy_from_slice(&Tour::of_parents(parents)?.preorder());
        Ok(len)
    })
}

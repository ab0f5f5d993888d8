//! Sums over trees beside the loops over the numbers of nodes, for which parents have smaller ones.

use monoscan::algo::AlgoError;
use monoscan::algo::lists::NONE;
use monoscan::algo::trees::Tour;
use monoscan::ops::Max;
use monoscan::prelude::Monoid;

use super::super::Session;
use super::{Same, enter_ours, one_thread};
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::column;

/// The parents of this many nodes.
pub(in super::super) type Shape = fn(usize) -> Vec<u32>;

/// Each parent is one of the nodes before, at random.
pub(in super::super) fn random(len: usize) -> Vec<u32> {
    let mut node = 0;
    column(73, len, |numbers| {
        node += 1;
        if node == 1 { NONE } else { numbers.below(node - 1) as u32 }
    })
}

/// The same, with nodes numbered as a walk enters them.
pub(in super::super) fn ordered(len: usize) -> Vec<u32> {
    let parents = random(len);
    let places = Tour::of_parents(&parents).expect("it is a tree").preorder();
    let mut ordered = vec![NONE; len];
    for (node, &parent) in parents.iter().enumerate().skip(1) {
        ordered[places[node] as usize] = places[parent as usize];
    }
    ordered
}

pub(in super::super) fn chain(len: usize) -> Vec<u32> {
    [NONE].into_iter().chain(0..).take(len).collect()
}

pub(in super::super) fn star(len: usize) -> Vec<u32> {
    [NONE].into_iter().chain(std::iter::repeat(0)).take(len).collect()
}

pub(in super::super) fn subtree_sums(session: &Session, field: Field<'_>, len: usize, shape: Shape) -> Vec<Row> {
    let add = |parent: &mut f64, child: f64| *parent += child;
    sums(session, field, (&shape(len), &drawn(len)), |parents, x| upwards(parents, x, add), Tour::subtree_sums)
}

/// Greatest values, by any monoid.
pub(in super::super) fn subtree_maxima(session: &Session, field: Field<'_>, len: usize, shape: Shape) -> Vec<Row> {
    let x: Vec<Max<f64>> = drawn(len).into_iter().map(Max).collect();
    let add = |parent: &mut Max<f64>, child: Max<f64>| *parent = parent.combine(child);
    sums(session, field, (&shape(len), &x), |parents, x| upwards(parents, x, add), Tour::subtree_totals)
}

pub(in super::super) fn path_sums(session: &Session, field: Field<'_>, len: usize, shape: Shape) -> Vec<Row> {
    let by_loop = |parents: &[u32], x: &[f64]| {
        let mut sums = x.to_vec();
        for (node, &parent) in parents.iter().enumerate() {
            if parent != NONE {
                sums[node] += sums[parent as usize];
            }
        }
        sums
    };
    sums(session, field, (&shape(len), &drawn(len)), by_loop, Tour::path_sums)
}

fn drawn(len: usize) -> Vec<f64> {
    column(74, len, |numbers| numbers.between(0.0, 1.0))
}

fn upwards<T: Copy>(parents: &[u32], x: &[T], add: fn(&mut T, T)) -> Vec<T> {
    let mut sums = x.to_vec();
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent != NONE {
            let sum = sums[node];
            add(&mut sums[parent as usize], sum);
        }
    }
    sums
}

/// Results must be those of the loop to the bit. The tour is there, with the orders of nodes that it keeps.
fn sums<T: Copy + PartialEq + Send + Sync>(
    session: &Session,
    field: Field<'_>,
    (parents, x): (&[u32], &[T]),
    by_loop: impl Fn(&[u32], &[T]) -> Vec<T>,
    ours: fn(&Tour, &[T]) -> Result<Vec<T>, AlgoError>,
) -> Vec<Row> {
    let tour = &Tour::of_parents(parents).expect("it is a tree");
    let (y, pool) = (&Same::of(by_loop(parents, x), 0), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || *y.write() = by_loop(parents, x));
    enter_ours(&mut field, y, pool, || ours(tour, x).map(|sums| *y.write() = sums));
    field.race(session.effort)
}

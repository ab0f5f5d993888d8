//! Trees by their Euler tours.
//!
//! A walk around a forest enters and leaves each node once. Written down as a sequence of 2 n steps
//! it makes every measure of a node a scan of the steps: Tarjan and Vishkin, *An Efficient Parallel
//! Biconnectivity Algorithm* (SIAM J. Computing, 1985).
//!
//! | of each node | sum over the steps, and where it is read |
//! |---|---|
//! | [`preorder`](Tour::preorder) | nodes entered; before it is entered |
//! | [`postorder`](Tour::postorder) | nodes left; before it is left |
//! | [`depths`](Tour::depths) | nodes entered less nodes left; before it is entered |
//! | [`sizes`](Tour::sizes) | half the steps from entering to leaving |
//! | [`leaves`](Tour::leaves) | steps that enter a leaf; from entering to leaving |
//! | [`subtree_sums`](Tour::subtree_sums) | values entered; from entering to leaving |
//! | [`path_sums`](Tour::path_sums) | values entered less values left; when it is entered |
//!
//! Each: work 2 n, depth 1 scan and a loop, 2 passes; with values one loop and one pass more. One
//! tour serves several measures. The tour of an array of parents is a linked list, which is put in
//! order by [list ranking](super::lists): work 12 n, depth 9 scans, 20 passes. Where parents have
//! smaller numbers than their children, two plain loops do. The tour of parentheses is there
//! already, and needs the [partners](super::brackets) only.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::brackets::{Side, partners};
use super::lists::{NONE, rank};
use super::sort::{Order, sort_with_values};
use super::{AlgoError, check_length, compiled, counted, mapped};
use crate::ops::Sum;
use crate::prelude::*;

#[scan_fn]
fn entered(step: u32) -> Sum<u32> {
    Sum(1 - (step & 1))
}

/// A leaf is left as soon as it is entered.
#[scan_fn]
fn leaf_entered(e: Element<u32>) -> Sum<u32> {
    Sum((e.record & 1 == 0 && !e.last && e.next == e.record + 1) as u32)
}

#[scan_fn]
fn count(sum: Sum<u32>) -> u32 {
    sum.0
}

/// The Euler tour of a forest.
///
/// ```
/// use monoscan::algo::{lists::NONE, trees::Tour};
///
/// // 2 is the root; 0 and 3 are its children, 1 is a child of 0.
/// let tour = Tour::of_parents(&[2, 0, NONE, 2])?;
/// assert_eq!(tour.depths()?, [1, 2, 0, 1]);
/// assert_eq!(tour.sizes(), [2, 1, 4, 1]);
/// assert_eq!(tour.preorder()?, [1, 2, 0, 3]);
/// assert_eq!(tour.postorder()?, [1, 0, 3, 2]);
/// assert_eq!(tour.leaves()?, [1, 1, 2, 1]);
/// assert_eq!(tour.subtree_sums(&[1, 10, 100, 1000])?, [11, 10, 1111, 1000]);
/// assert_eq!(tour.path_sums(&[1, 10, 100, 1000])?, [101, 111, 100, 1100]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tour {
    /// The steps in order: step 2 v enters node v, step 2 v + 1 leaves it.
    steps: Vec<u32>,
    /// Where each step is in this order.
    places: Vec<u32>,
}

impl Tour {
    /// The tour of the forest in which node v has the parent `parents[v]`, or [`NONE`] for a root. Children come in the order of
    /// their numbers.
    ///
    /// # Errors
    /// [`AlgoError::Index`] if a parent is no node; [`AlgoError::Cycle`] if a node is its own ancestor; [`AlgoError::TooLong`] for
    /// 2³¹ nodes and more.
    pub fn of_parents(parents: &[u32]) -> Result<Tour, AlgoError> {
        let len = counted(parents.len())?;
        if len > i32::MAX as u32 {
            return Err(AlgoError::TooLong { len: parents.len(), limit: 1 << 31 });
        }
        let is_wrong = |&parent: &u32| parent != NONE && parent >= len;
        if let Some(place) = parents.par_iter().position_first(is_wrong) {
            let got = parents[place] as usize;
            return Err(AlgoError::Index { argument: "parents", place, expected: parents.len(), got });
        }
        let is_above = |(node, &parent): (usize, &u32)| parent == NONE || (parent as usize) < node;
        if parents.par_iter().enumerate().all(is_above) {
            return Ok(Tour::of(places_downwards(parents)));
        }

        // Siblings side by side; roots are siblings too.
        let (mut families, mut children) = (parents.to_vec(), (0..len).collect::<Vec<u32>>());
        sort_with_values(&mut families, &mut children, Order::Ascending)?;

        let mut next = vec![NONE; 2 * parents.len()];
        for node in 0..len {
            next[2 * node as usize] = 2 * node + 1;
            let parent = parents[node as usize];
            if parent != NONE {
                next[2 * node as usize + 1] = 2 * parent + 1;
            }
        }
        for (place, (&family, &child)) in families.iter().zip(&children).enumerate() {
            let is_first = place == 0 || families[place - 1] != family;
            match is_first {
                true if family == NONE => {}
                true => next[2 * family as usize] = 2 * child,
                false => next[2 * children[place - 1] as usize + 1] = 2 * child,
            }
        }
        // A node that only leads into the cycle has steps on one too, so n parents up is where the cycle is.
        let cyclic = |error| match error {
            AlgoError::Cycle { element } => {
                let node = (0..len).fold(element / 2, |node, _| parents[node] as usize);
                AlgoError::Cycle { element: node }
            }
            other => other,
        };
        Ok(Tour::of(rank(&next).map_err(cyclic)?))
    }

    /// The tour of the forest that these parentheses spell, whose nodes are numbered in the order in which they open.
    ///
    /// ```
    /// use monoscan::algo::{brackets::Side, trees::Tour};
    /// let sides: Vec<Side> = "(()(()))".bytes().map(Side::of_byte).collect();
    /// assert_eq!(Tour::of_parentheses(&sides)?.sizes(), [4, 1, 2, 1]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::Unmatched`] if a place is no parenthesis or one without a partner; [`AlgoError::TooLong`].
    pub fn of_parentheses(sides: &[Side]) -> Result<Tour, AlgoError> {
        let partners = partners(sides)?;
        if let Some(place) = partners.iter().position(|&partner| partner == NONE) {
            return Err(AlgoError::Unmatched { place });
        }
        let opening = (0..).zip(sides).zip(partners).filter(|((_, side), _)| **side == Side::Open);
        Ok(Tour::of(opening.flat_map(|((place, _), partner)| [place, partner]).collect()))
    }

    fn of(places: Vec<u32>) -> Tour {
        let steps = mapped(places.len(), |_| AtomicU32::new(NONE));
        places
            .par_iter()
            .zip(0..places.len() as u32)
            .for_each(|(&place, step)| steps[place as usize].store(step, Relaxed));
        Tour { steps: steps.into_iter().map(AtomicU32::into_inner).collect(), places }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.places.len() / 2
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many nodes are above each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), as of all scans of the tour.
    pub fn depths(&self) -> Result<Vec<u32>, AlgoError> {
        let entered = self.entered()?;
        Ok(self.of_nodes(|enters, _| 2 * entered[enters] - enters as u32))
    }

    /// How many nodes are entered before each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn preorder(&self) -> Result<Vec<u32>, AlgoError> {
        let entered = self.entered()?;
        Ok(self.of_nodes(|enters, _| entered[enters]))
    }

    /// How many nodes are left before each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn postorder(&self) -> Result<Vec<u32>, AlgoError> {
        let entered = self.entered()?;
        Ok(self.of_nodes(|_, exits| exits as u32 - entered[exits]))
    }

    /// How many nodes are in the subtree of each, with itself.
    pub fn sizes(&self) -> Vec<u32> {
        self.of_nodes(|enters, exits| (exits - enters).div_ceil(2) as u32)
    }

    /// How many nodes without children are in the subtree of each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn leaves(&self) -> Result<Vec<u32>, AlgoError> {
        let scan = compiled(|| Scan::<Sum<u32>>::builder().lift_at(leaf_entered {}).project(count {}).build())?;
        let leaves = scan.exclusive(&self.steps)?;
        Ok(self.of_nodes(|enters, exits| leaves[exits] - leaves[enters]))
    }

    /// The sum of the values in the subtree of each node. Integers wrap; sums of floats are differences of sums of all nodes before,
    /// so they are NaN from the first infinity on.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn subtree_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        let sums = self.sums(values, |_| T::ZERO)?;
        Ok(self.of_nodes(|enters, exits| sums[exits].wrapped_sub(sums[enters])))
    }

    /// The sum of the values of each node and all above it. Integers wrap; floats as in [`subtree_sums`](Tour::subtree_sums).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn path_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        let sums = self.sums(values, |value| T::ZERO.wrapped_sub(value))?;
        // The step behind the one that enters the node.
        Ok(self.of_nodes(|enters, _| sums[enters + 1]))
    }

    /// How many nodes are entered before each step.
    fn entered(&self) -> Result<Vec<u32>, AlgoError> {
        let scan = compiled(|| Scan::<Sum<u32>>::builder().lift(entered {}).project(count {}).build())?;
        Ok(scan.exclusive(&self.steps)?)
    }

    /// The sum, before each step, of the values of nodes that were entered, and of what leaving a node with this value adds.
    fn sums<T: Num>(&self, values: &[T], leaving: impl Fn(T) -> T + Sync + Send) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        let mut sums = mapped(self.steps.len(), |place| match self.steps[place] {
            step if step & 1 == 0 => values[step as usize / 2],
            step => leaving(values[step as usize / 2]),
        });
        compiled(Scan::<Sum<T>>::plain)?.exclusive_in_place(&mut sums)?;
        Ok(sums)
    }

    /// What is so of each node, given where it is entered and where it is left.
    fn of_nodes<T: Send>(&self, measure: impl Fn(usize, usize) -> T + Sync + Send) -> Vec<T> {
        mapped(self.len(), |node| measure(self.places[2 * node] as usize, self.places[2 * node + 1] as usize))
    }
}

/// Where each step is in the tour of a forest in which parents have smaller numbers than their children.
fn places_downwards(parents: &[u32]) -> Vec<u32> {
    let mut sizes = vec![1; parents.len()];
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent != NONE {
            sizes[parent as usize] += sizes[node];
        }
    }
    // A node is left behind those of its children that have places.
    let (mut places, mut roots_end) = (vec![0; 2 * parents.len()], 0);
    for (node, (&parent, size)) in parents.iter().zip(sizes).enumerate() {
        let end = if parent == NONE { &mut roots_end } else { &mut places[2 * parent as usize + 1] };
        let enters = *end;
        *end += 2 * size;
        (places[2 * node], places[2 * node + 1]) = (enters, enters + 1);
    }
    places
}

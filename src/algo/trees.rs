//! Trees by their Euler tours.
//!
//! A walk around a forest enters and leaves each node once. Written down as a sequence of 2 n steps
//! it makes every measure of a node a scan of the steps: Tarjan and Vishkin, *An Efficient Parallel
//! Biconnectivity Algorithm* (SIAM J. Computing, 1985).
//!
//! | of each node | where it is read |
//! |---|---|
//! | [`preorder`](Tour::preorder) | nodes entered, before it is entered |
//! | [`postorder`](Tour::postorder) | nodes left, before it is left |
//! | [`depths`](Tour::depths) | nodes entered less nodes left, before it is entered |
//! | [`sizes`](Tour::sizes) | half the steps from entering to leaving |
//! | [`leaves`](Tour::leaves) | leaves entered, from entering to leaving |
//! | [`subtree_totals`](Tour::subtree_totals), [`subtree_sums`](Tour::subtree_sums) | values entered, from entering to leaving |
//! | [`path_totals`](Tour::path_totals), [`path_sums`](Tour::path_sums) | values of nodes entered and not yet left, when it is entered |
//!
//! The first four are known once there is a tour, which keeps three numbers of each node: those
//! entered before it, those in its subtree, and those above it.
//!
//! Sums of integers are differences of sums of all steps before, which is exact though both wrap.
//! Only the steps that enter count, so the scan has n records and not 2 n. For paths the first loop
//! subtracts each value where its subtree ends. That is anywhere, so it runs on one thread.
//!
//! ```text
//! monoid   sums of integers
//! cost     work n, depth 1 scan between two loops, 3 passes
//! bytes    of values of b bytes: subtrees 20 + 7 b a node, paths 24 + 9 b
//! ```
//!
//! A difference of floats has the rounding of all before, and an infinity before makes it NaN. Most
//! monoids have no difference at all. So these combine the values of a subtree or a path alone; the
//! file `trees/totals.rs` says how.
//!
//! # Building a tour
//!
//! The tour of an array of parents is a linked list: siblings are sorted together, each step is
//! linked to its next one, and [list ranking](super::lists) puts them in order. Where parents have
//! smaller numbers than their children, a loop from the last node to the first has all sizes, and
//! one from the first to the last has the places. Both run on one thread, as a node needs another.
//! Steps are linked on one thread too, at places anywhere. The tour of parentheses is there
//! already, and needs the [partners](super::brackets), and a stack that tells parents.
//!
//! ```text
//! of parents   work 12 n, a sort of n, and a ranking of 2 n; depth their 2 scans and 1 more, of 2 n
//!              steps; passes 11 and theirs; bytes some 120 a node and theirs
//!   downwards  work 6 n, depth 3 loops on one thread, 6 passes, some 90 bytes a node
//! of brackets  work 9 n and that of partners; depth theirs, a loop on one thread, 1 scan of 2 n
//!              steps; 6 passes more, and some 110 bytes a node
//! ```

mod totals;

use super::brackets::{Side, partners};
use super::lists::{NONE, rank};
use super::sort::{Order, sort_with_values};
use super::{AlgoError, LONG, check_length, compiled, counted_twice, mapped};
use crate::ops::Sum;
use crate::parallel;
use crate::prelude::*;

/// The Euler tour of a forest.
///
/// ```
/// use monoscan::algo::{lists::NONE, trees::Tour};
///
/// // 2 is the root; 0 and 3 are its children, 1 is a child of 0.
/// let tour = Tour::of_parents(&[2, 0, NONE, 2])?;
/// assert_eq!(tour.depths(), [1, 2, 0, 1]);
/// assert_eq!(tour.sizes(), [2, 1, 4, 1]);
/// assert_eq!(tour.preorder(), [1, 2, 0, 3]);
/// assert_eq!(tour.postorder(), [1, 0, 3, 2]);
/// assert_eq!(tour.leaves()?, [1, 1, 2, 1]);
/// assert_eq!(tour.subtree_sums(&[1, 10, 100, 1000])?, [11, 10, 1111, 1000]);
/// assert_eq!(tour.path_sums(&[1, 10, 100, 1000])?, [101, 111, 100, 1100]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tour {
    nodes: Vec<Node>,
    /// The nodes in the order in which they are entered.
    entered: Vec<Entered>,
    /// The parent of each node, or [`NONE`].
    parents: Vec<u32>,
}

/// A node where it is entered, with what walks in that order need of it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Entered {
    node: u32,
    /// Nodes in its subtree, with itself.
    size: u32,
}

/// A node's place in its tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// Nodes that are entered before it.
    before: u32,
    /// Nodes in its subtree, with itself.
    size: u32,
    /// Nodes above it.
    depth: u32,
}

impl Node {
    /// The nodes of its subtree, as places in the order in which they are entered.
    fn subtree(self) -> std::ops::Range<usize> {
        self.before as usize..(self.before + self.size) as usize
    }

    /// How many nodes are left before it is: of those entered until then, all but itself and those above.
    fn left_before(self) -> u32 {
        self.before + self.size - 1 - self.depth
    }
}

impl Tour {
    /// The tour of the forest in which node v has the parent `parents[v]`, or [`NONE`] for a root. Children come in the order of
    /// their numbers.
    ///
    /// # Errors
    /// [`AlgoError::Index`] if a parent is no node; [`AlgoError::Cycle`] if a node is its own ancestor; [`AlgoError::TooLong`] for
    /// 2³¹ nodes and more.
    pub fn of_parents(parents: &[u32]) -> Result<Tour, AlgoError> {
        let len = counted_twice(parents.len())?;
        let is_wrong = |&parent: &u32| parent != NONE && parent >= len;
        let wrong = parallel::map(parents.chunks(LONG), |_, part| part.iter().position(is_wrong));
        if let Some(place) = (0..).step_by(LONG).zip(wrong).find_map(|(start, wrong)| Some(start + wrong?)) {
            let got = parents[place] as usize;
            return Err(AlgoError::Index { argument: "parents", place, expected: parents.len(), got });
        }
        let are_above = |number: usize, part: &[u32]| {
            (number * LONG..).zip(part).all(|(node, &parent)| parent == NONE || (parent as usize) < node)
        };
        if parallel::map(parents.chunks(LONG), are_above).into_iter().all(|are_above| are_above) {
            return Ok(Tour::of(nodes_downwards(parents), parents.to_vec()));
        }

        // Siblings side by side; roots are siblings too.
        let (mut families, mut children) = (parents.to_vec(), (0..len).collect::<Vec<u32>>());
        sort_with_values(&mut families, &mut children, Order::Ascending)?;

        // Steps 2 v and 2 v + 1 enter and leave v.
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
        Tour::of_steps(&rank(&next).map_err(cyclic)?, parents.to_vec())
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
        let (mut places, mut parents, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for ((place, side), partner) in (0..).zip(sides).zip(partners) {
            if *side == Side::Open {
                parents.push(open.last().copied().unwrap_or(NONE));
                open.push(parents.len() as u32 - 1);
                places.extend([place, partner]);
            } else {
                open.pop();
            }
        }
        Tour::of_steps(&places, parents)
    }

    /// The tour in which step 2 v, which enters node v, and step 2 v + 1, which leaves it, have these places.
    fn of_steps(places: &[u32], parents: Vec<u32>) -> Result<Tour, AlgoError> {
        let mut enters = vec![0u32; places.len()];
        places.iter().step_by(2).for_each(|&place| enters[place as usize] = 1);
        compiled(Scan::<Sum<u32>>::plain)?.exclusive_in_place(&mut enters)?;
        let nodes = mapped(places.len() / 2, |node| {
            let (enter, exit) = (places[2 * node], places[2 * node + 1]);
            let before = enters[enter as usize];
            Node { before, size: (exit - enter).div_ceil(2), depth: 2 * before - enter }
        });
        Ok(Tour::of(nodes, parents))
    }

    fn of(nodes: Vec<Node>, parents: Vec<u32>) -> Tour {
        let mut entered = vec![Entered::default(); nodes.len()];
        for (node, number) in nodes.iter().zip(0..) {
            entered[node.before as usize] = Entered { node: number, size: node.size };
        }
        Tour { nodes, entered, parents }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many nodes are above each.
    pub fn depths(&self) -> Vec<u32> {
        self.each(|node| node.depth)
    }

    /// How many nodes are entered before each.
    pub fn preorder(&self) -> Vec<u32> {
        self.each(|node| node.before)
    }

    /// How many nodes are left before each.
    pub fn postorder(&self) -> Vec<u32> {
        self.each(|node| node.left_before())
    }

    /// How many nodes are in the subtree of each, with itself.
    pub fn sizes(&self) -> Vec<u32> {
        self.each(|node| node.size)
    }

    /// How many nodes without children are in the subtree of each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn leaves(&self) -> Result<Vec<u32>, AlgoError> {
        self.differences_over_subtrees(|node| (self.nodes[node].size == 1) as u32)
    }

    /// The sum of the values in the subtree of each node. Integers wrap. Floats are rounded as in a sum of these values alone, and
    /// the same for any number of threads.
    ///
    /// ```
    /// use monoscan::algo::{lists::NONE, trees::Tour};
    /// let tour = Tour::of_parents(&[NONE, 0, 0, 2])?;
    /// assert_eq!(tour.subtree_sums(&[f64::INFINITY, 1e300, 1.0, 0.5])?, [f64::INFINITY, 1e300, 1.5, 0.5]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// Work n, depth 1 scan between two loops; of floats as [`subtree_totals`](Tour::subtree_totals).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn subtree_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        if T::TYPE.is_float() {
            return Ok(self.over_subtrees(|node| values[node], T::ZERO, T::wrapped_add));
        }
        self.differences_over_subtrees(|node| values[node])
    }

    /// The sum of the values of each node and all above it. Integers wrap; floats as in [`subtree_sums`](Tour::subtree_sums).
    ///
    /// Work n, depth 1 scan between two loops; of floats as [`path_totals`](Tour::path_totals).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn path_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        if T::TYPE.is_float() {
            return Ok(self.over_paths(|node| values[node], T::ZERO, T::wrapped_add));
        }
        // A value counts from where its node is entered to the end of its subtree.
        let mut sums = vec![T::ZERO; self.len() + 1];
        for (node, &value) in self.nodes.iter().zip(values) {
            let std::ops::Range { start, end } = node.subtree();
            sums[start] = sums[start].wrapped_add(value);
            sums[end] = sums[end].wrapped_sub(value);
        }
        compiled(Scan::<Sum<T>>::plain)?.inclusive_in_place(&mut sums)?;
        Ok(self.each(|node| sums[node.before as usize]))
    }

    /// The states in the subtree of each node, combined in the order in which nodes are entered: a node, and then its children.
    ///
    /// ```
    /// use monoscan::{algo::{lists::NONE, trees::Tour}, ops::Max};
    /// let tour = Tour::of_parents(&[NONE, 0, 0, 2])?;
    /// assert_eq!(tour.subtree_totals(&[1.0, 5.0, 2.0, 3.0].map(Max))?, [5.0, 5.0, 3.0, 3.0].map(Max));
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// Work n, depth n / 8192 · log of that between two loops. `combine` is called as a function of Rust, so an integer that
    /// overflows is a panic where Rust checks that: [`subtree_sums`](Tour::subtree_sums) wraps.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one state for each node.
    pub fn subtree_totals<M: Monoid>(&self, values: &[M]) -> Result<Vec<M>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        Ok(self.over_subtrees(|node| values[node], M::identity(), M::combine))
    }

    /// The states of the path to each node, combined from the root down.
    ///
    /// ```
    /// use monoscan::{algo::{lists::NONE, trees::Tour}, ops::Affine};
    /// // 2x, then 3x + 1, then x + 5 of the last node, or x + 7 of the one beside it.
    /// let tour = Tour::of_parents(&[NONE, 0, 1, 1])?;
    /// let maps = [(2, 0), (3, 1), (1, 5), (1, 7)].map(|(a, b)| Affine { a, b });
    /// assert_eq!(tour.path_totals(&maps)?[2..], [Affine { a: 6, b: 6 }, Affine { a: 6, b: 8 }]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// Work n, depth n / 8192 between two loops. Integers as in [`subtree_totals`](Tour::subtree_totals).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one state for each node.
    pub fn path_totals<M: Monoid>(&self, values: &[M]) -> Result<Vec<M>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        Ok(self.over_paths(|node| values[node], M::identity(), M::combine))
    }

    /// The sum of this, which is an integer of a node, over the subtree of each: what was entered before the end of the subtree, less
    /// what was entered before its start.
    fn differences_over_subtrees<T: Num>(&self, of: impl Fn(usize) -> T + Sync) -> Result<Vec<T>, AlgoError> {
        let entered = |place: usize| if place < self.len() { of(self.entered[place].node as usize) } else { T::ZERO };
        let mut sums = mapped(self.len() + 1, entered);
        compiled(Scan::<Sum<T>>::plain)?.exclusive_in_place(&mut sums)?;
        Ok(self.each(|node| sums[node.subtree().end].wrapped_sub(sums[node.subtree().start])))
    }

    fn each<T: Send>(&self, measure: impl Fn(Node) -> T + Sync + Send) -> Vec<T> {
        mapped(self.len(), |node| measure(self.nodes[node]))
    }
}

/// The nodes of a forest in which parents have smaller numbers than their children.
fn nodes_downwards(parents: &[u32]) -> Vec<Node> {
    let mut sizes = vec![1; parents.len()];
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent != NONE {
            sizes[parent as usize] += sizes[node];
        }
    }
    // Of each node the place behind those of its children that have one, and their depth; and of roots.
    let (mut open, mut roots) = (Vec::with_capacity(parents.len()), (0, 0));
    let node = |(&parent, size): (&u32, u32)| {
        let (end, depth) = if parent == NONE { &mut roots } else { &mut open[parent as usize] };
        let (before, depth) = (*end, *depth);
        *end += size;
        open.push((before + 1, depth + 1));
        Node { before, size, depth }
    };
    parents.iter().zip(sizes).map(node).collect()
}

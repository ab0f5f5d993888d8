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
//! entered before it, those in its subtree, and those above it. Orders of the nodes, which sums and
//! totals may need, are made by the first call that does, and kept.
//!
//! A loop over the numbers of nodes has the sums over subtrees from the last number to the first,
//! and those over paths from the first to the last, if parents have smaller numbers than their
//! children. It has one step a node, so few threads are no faster, and use it too.
//!
//! For more threads and other numbers, sums of integers are differences of sums of all steps
//! before, which is exact though both wrap. Only the steps that enter count, so the scan has n
//! records and not 2 n. For paths the first loop subtracts each value where its subtree ends. That
//! is anywhere, so it runs on one thread.
//!
//! ```text
//! monoid   sums of integers
//! program  the value of a step that enters ↦ itself
//! cost     work n, depth 1 scan between two loops, 3 passes
//! bytes    of values of b bytes: subtrees 20 + 7 b a node, paths 24 + 9 b
//! ```
//!
//! A difference of floats has the rounding of all before, and an infinity before makes it NaN. Most
//! monoids have no difference at all. So these are added up by the steps of the loop on any number
//! of threads, to the bit; the file `trees/walk.rs` says how threads share them.
//!
//! # Tree contraction
//!
//! Sums of trees have another parallel algorithm. *Rake* takes leaves away and adds them to their
//! parents, *compress* halves chains, in turn until the root is all: Miller and Reif, *Parallel
//! Tree Contraction and its Application* (FOCS 1985). It takes O(log n) rounds, each over places
//! anywhere, and says nothing of depths and orders. So sums come from the tour instead: it has the
//! measures above too, and its order of the nodes turns each sum into loops over blocks in memory's
//! order. In a chain with a monoid that has no differences that is one thread's loop, where
//! contraction would have log n rounds.
//!
//! # Building a tour
//!
//! The tour of an array of parents is a linked list: siblings are sorted together, each step is
//! linked to its next one, and [list ranking](super::lists) puts them in order. Where parents have
//! smaller numbers than their children, a loop from the last node to the first has all sizes, and
//! one from the first to the last has the places. Both run on one thread, as a node needs another.
//! Steps are linked on one thread too: links need no others, so there is nothing to scan, and they
//! go to places anywhere. Few nodes, of one thread up to 2²¹, take a walk with a stack instead of
//! sort, links and ranks. The tour of parentheses is there already, and needs the
//! [partners](super::brackets): nodes are entered in the order of the text. Parents are told by a
//! stack, on one thread: a stack grows with the text, so no scan carries it.
//!
//! ```text
//! of parents   work 11 n, a sort of n, and a ranking of 2 n; depth their 2 scans and 1 more, of 2 n
//!              steps; passes 10 and theirs; bytes some 100 a node and theirs
//!   by a walk  work 6 n, depth 4 loops on one thread, 6 passes, some 100 bytes a node
//!   downwards  work 5 n, depth 2 loops on one thread, 5 passes, some 70 bytes a node
//! of brackets  work 2 n and that of partners; depth theirs and a loop on one thread; 1 pass more,
//!              over 2 n places, and some 30 bytes a node
//! ```

mod totals;
mod walk;

use std::sync::OnceLock;

use bytemuck::Zeroable;
use monoscan_runtime::space::zeros;

use super::brackets::{Side, Stack, partners};
use super::lists::{NONE, rank};
use super::sort::{Order, sort_with_values};
use super::{AlgoError, LONG, compiled, counted_twice, mapped, part_of};
use crate::ops::Sum;
use crate::parallel;
use crate::prelude::*;
use walk::Walk;

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
#[derive(Clone, Debug)]
pub struct Tour {
    nodes: Vec<Node>,
    /// The parent of each node, or [`NONE`].
    parents: Vec<u32>,
    /// Whether parents have smaller numbers than their children.
    is_downwards: bool,
    /// The nodes from the one that is entered last to the first, made when a sum first needs them.
    entered: OnceLock<Walk>,
    /// The nodes in the order in which they are left, made when a total first needs them.
    left: OnceLock<Walk>,
}

/// Tours are equal if their forests are.
impl PartialEq for Tour {
    fn eq(&self, other: &Tour) -> bool {
        self.parents == other.parents
    }
}

impl Eq for Tour {}

/// A node's place in its tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
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
        let part = part_of(parents.len());
        let wrong = parallel::map(parents.chunks(part), |_, parents| parents.iter().position(is_wrong));
        if let Some(place) = (0..).step_by(part).zip(wrong).find_map(|(start, wrong)| Some(start + wrong?)) {
            let got = parents[place] as usize;
            return Err(AlgoError::Index { argument: "parents", place, expected: parents.len(), got });
        }
        let are_above = |number: usize, parents: &[u32]| {
            (number * part..).zip(parents).all(|(node, &parent)| parent == NONE || (parent as usize) < node)
        };
        if parallel::map(parents.chunks(part), are_above).into_iter().all(|are_above| are_above) {
            return Ok(Tour::of(nodes_downwards(parents), parents.to_vec(), true));
        }

        let is_walked = if rayon::current_num_threads() == 1 { NEAR } else { LONG };
        if parents.len() <= is_walked {
            return Ok(Tour::of(nodes_by_walk(parents)?, parents.to_vec(), false));
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
        let cyclic = |error| match error {
            AlgoError::Cycle { element } => cycle_above(parents, element / 2),
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
        let count = sides.len() / 2;
        // One more of each: what does not open writes there what the next one that opens overwrites.
        let (mut nodes, mut parents) = (zeros::<Node>(count + 1)?, zeros(count + 1)?);
        let mut stack = Stack::new(&[], sides.len());
        let mut before = 0;
        for ((place, &side), partner) in (0..).zip(sides).zip(partners) {
            let opens = side == Side::Open;
            stack.pop_if(!opens);
            parents[before] = stack.top();
            let node = before as u32;
            let (size, depth) = (partner.wrapping_sub(place).div_ceil(2), (2 * node).wrapping_sub(place));
            nodes[before] = Node { before: node, size, depth };
            stack.push_if(opens, node);
            before += usize::from(opens);
        }
        nodes.truncate(count);
        parents.truncate(count);
        Ok(Tour::of(nodes, parents, true))
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
        Ok(Tour::of(nodes, parents, false))
    }

    fn of(nodes: Vec<Node>, parents: Vec<u32>, is_downwards: bool) -> Tour {
        Tour { nodes, parents, is_downwards, entered: OnceLock::new(), left: OnceLock::new() }
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
        self.sums_over_subtrees(self.each(|node| (node.size == 1) as u32))
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

/// So many nodes are in a cache, or near it: of more, one thread waits less for memory where it follows many lists side by side.
const NEAR: usize = 1 << 21;

/// The nodes of any forest, by a walk with a stack. In its order parents come first and are near, so sizes are added up there.
fn nodes_by_walk(parents: &[u32]) -> Result<Vec<Node>, AlgoError> {
    // The children of each node side by side, and behind them those of no node, the roots.
    let len = parents.len();
    let family = |parent: u32| len.min(parent as usize);
    let mut ends = vec![0; len + 1];
    parents.iter().for_each(|&parent| ends[family(parent)] += 1);
    let mut before = 0;
    ends.iter_mut().for_each(|end| before += std::mem::replace(end, before));
    let mut children = vec![0; len];
    for (node, &parent) in (0..).zip(parents) {
        let end: &mut u32 = &mut ends[family(parent)];
        children[*end as usize] = node;
        *end += 1;
    }
    let children_of = |family: usize| {
        let first = if family == 0 { 0 } else { ends[family - 1] };
        children[first as usize..ends[family] as usize].iter().rev().copied()
    };

    // The nodes in the order in which they are entered, each with the place there of its parent.
    let mut entered: Vec<(u32, u32, Node)> = Vec::with_capacity(len);
    let mut waiting: Vec<(u32, u32)> = children_of(len).map(|root| (root, NONE)).collect();
    while let Some((node, parent)) = waiting.pop() {
        let before = entered.len() as u32;
        let depth = if parent == NONE { 0 } else { entered[parent as usize].2.depth + 1 };
        entered.push((node, parent, Node { before, size: 1, depth }));
        waiting.extend(children_of(node as usize).map(|child| (child, before)));
    }
    if entered.len() < len {
        let mut reached = vec![false; len];
        entered.iter().for_each(|&(node, ..)| reached[node as usize] = true);
        return Err(cycle_above(parents, reached.iter().position(|reached| !reached).unwrap_or(0)));
    }
    let mut nodes = vec![Node { before: 0, size: 0, depth: 0 }; len];
    for place in (0..len).rev() {
        let (node, parent, found) = entered[place];
        if parent != NONE {
            entered[parent as usize].2.size += found.size;
        }
        nodes[node as usize] = found;
    }
    Ok(nodes)
}

/// The error of a node that is on a cycle or leads into one: n parents up is on it.
fn cycle_above(parents: &[u32], node: usize) -> AlgoError {
    AlgoError::Cycle { element: parents.iter().fold(node, |node, _| parents[node] as usize) }
}

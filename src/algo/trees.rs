//! Trees by their Euler tours.
//!
//! A walk around a forest enters and leaves each node once. Written down as a sequence of 2 n steps
//! it makes every measure of a node a scan of the steps: Tarjan and Vishkin, *An Efficient Parallel
//! Biconnectivity Algorithm* (SIAM J. Computing, 1985).
//!
//! | of each node | sum over the steps, and where it is read |
//! |---|---|
//! | [`depths`](Tour::depths) | +1 entering, −1 leaving; before it is entered |
//! | [`preorder`](Tour::preorder) | nodes entered; before it is entered |
//! | [`postorder`](Tour::postorder) | nodes left; before it is left |
//! | [`sizes`](Tour::sizes) | half the steps from entering to leaving |
//! | [`leaves`](Tour::leaves) | steps that enter a leaf; from entering to leaving |
//! | [`subtree_sums`](Tour::subtree_sums) | values entered; from entering to leaving |
//! | [`path_sums`](Tour::path_sums) | values entered less values left; when it is entered |
//!
//! Each: work 2 n, depth 1 scan between two loops, 3 passes. The tour of an array of parents is a
//! linked list, which is put in order by [list ranking](super::lists); that of parentheses is there
//! already, and needs the [partners](super::brackets) only.

use rayon::prelude::*;

use super::brackets::{Side, partners};
use super::lists::{NONE, rank};
use super::sort::{Order, sort_with_values};
use super::{AlgoError, check_length, compiled, counted};
use crate::ops::Sum;
use crate::prelude::*;

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
    /// The node of each step.
    nodes: Vec<u32>,
    /// Which step enters each node.
    enters: Vec<u32>,
    /// Which step leaves each node.
    exits: Vec<u32>,
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
        if let Some(place) = parents.iter().position(is_wrong) {
            let got = parents[place] as usize;
            return Err(AlgoError::Index { argument: "parents", place, expected: parents.len(), got });
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
        let steps = rank(&next).map_err(cyclic)?;
        let (enters, exits): (Vec<u32>, Vec<u32>) = steps.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        Ok(Tour::of(enters, exits))
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
        let opening = (0..sides.len() as u32).filter(|&place| sides[place as usize] == Side::Open);
        let (enters, exits) = opening.map(|place| (place, partners[place as usize])).unzip();
        Ok(Tour::of(enters, exits))
    }

    fn of(enters: Vec<u32>, exits: Vec<u32>) -> Tour {
        let mut nodes = vec![NONE; 2 * enters.len()];
        for (node, (&enters, &exits)) in (0..).zip(enters.iter().zip(&exits)) {
            (nodes[enters as usize], nodes[exits as usize]) = (node, node);
        }
        Tour { nodes, enters, exits }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.enters.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.enters.is_empty()
    }

    /// How many nodes are above each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), as of all scans of the tour.
    pub fn depths(&self) -> Result<Vec<u32>, AlgoError> {
        let sums = self.sums(|_, enters| if enters { 1 } else { u32::MAX })?;
        Ok(read(&self.enters, &sums))
    }

    /// How many nodes are entered before each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn preorder(&self) -> Result<Vec<u32>, AlgoError> {
        let sums = self.sums(|_, enters| enters as u32)?;
        Ok(read(&self.enters, &sums))
    }

    /// How many nodes are left before each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn postorder(&self) -> Result<Vec<u32>, AlgoError> {
        let sums = self.sums(|_, enters| !enters as u32)?;
        Ok(read(&self.exits, &sums))
    }

    /// How many nodes are in the subtree of each, with itself.
    pub fn sizes(&self) -> Vec<u32> {
        self.enters.iter().zip(&self.exits).map(|(enters, exits)| (exits - enters).div_ceil(2)).collect()
    }

    /// How many nodes without children are in the subtree of each.
    ///
    /// # Errors
    /// As [`depths`](Tour::depths).
    pub fn leaves(&self) -> Result<Vec<u32>, AlgoError> {
        let is_leaf = |node: u32| self.exits[node as usize] == self.enters[node as usize] + 1;
        self.within(|node, enters| (enters && is_leaf(node)) as u32)
    }

    /// The sum of the values in the subtree of each node. Integers wrap; sums of floats are differences of sums of all nodes before,
    /// so they are NaN from the first infinity on.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn subtree_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        self.within(|node, enters| if enters { values[node as usize] } else { T::ZERO })
    }

    /// The sum of the values of each node and all above it. Integers wrap; floats as in [`subtree_sums`](Tour::subtree_sums).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn path_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        let sums = self.sums(|node, enters| {
            let value = values[node as usize];
            if enters { value } else { T::ZERO.wrapped_sub(value) }
        })?;
        let above = read(&self.enters, &sums);
        Ok(above.into_iter().zip(values).map(|(above, &value)| above.wrapped_add(value)).collect())
    }

    /// The sum over the steps from entering each node to leaving it.
    fn within<T: Num>(&self, step: impl Fn(u32, bool) -> T + Sync) -> Result<Vec<T>, AlgoError> {
        let sums = self.sums(step)?;
        let (entering, leaving) = (read(&self.enters, &sums), read(&self.exits, &sums));
        Ok(leaving.into_iter().zip(entering).map(|(leaving, entering)| leaving.wrapped_sub(entering)).collect())
    }

    /// The exclusive sums over all steps, of which each has a node, and enters it or leaves it.
    fn sums<T: Num>(&self, step: impl Fn(u32, bool) -> T + Sync) -> Result<Vec<T>, AlgoError> {
        let value = |(place, &node): (usize, &u32)| step(node, self.enters[node as usize] as usize == place);
        let mut sums: Vec<T> = self.nodes.par_iter().enumerate().map(value).collect();
        compiled(Scan::<Sum<T>>::plain)?.exclusive_in_place(&mut sums)?;
        Ok(sums)
    }
}

/// What stands at these places.
fn read<T: Copy + Send + Sync>(places: &[u32], x: &[T]) -> Vec<T> {
    places.par_iter().map(|&place| x[place as usize]).collect()
}

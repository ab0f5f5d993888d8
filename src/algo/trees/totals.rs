//! Sums and totals over the subtrees and paths of a tour.

use monoscan_runtime::space::ask_for_large_pages;

use super::walk::{self, Walk, are_shared};
use super::{Node, Tour};
use crate::algo::{AlgoError, check_length, compiled, mapped};
use crate::ops::Sum;
use crate::prelude::*;

impl Tour {
    /// The sum of the values in the subtree of each node. Integers wrap. Floats are added to those of the node child by child, from
    /// the last child to the first, for any number of threads: as in a loop from the last node to the first, where parents have
    /// smaller numbers than their children.
    ///
    /// ```
    /// use monoscan::algo::{lists::NONE, trees::Tour};
    /// let tour = Tour::of_parents(&[NONE, 0, 0, 2])?;
    /// assert_eq!(tour.subtree_sums(&[f64::INFINITY, 1e300, 1.0, 0.5])?, [f64::INFINITY, 1e300, 1.5, 0.5]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// Work n, depth a loop; of integers on many threads 1 scan between two loops; of floats as
    /// [`subtree_totals`](Tour::subtree_totals).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn subtree_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        self.sums_over_subtrees(copied(values))
    }

    /// The sum of the values of each node and all above it. Integers wrap. Floats are added from the root down.
    ///
    /// Work n, depth as of [`subtree_sums`](Tour::subtree_sums); of floats as [`path_totals`](Tour::path_totals).
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one value for each node.
    pub fn path_sums<T: Num>(&self, values: &[T]) -> Result<Vec<T>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        if T::TYPE.is_float() || self.is_for_a_loop() {
            return Ok(self.over_paths(values, T::wrapped_add));
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

    /// The states in the subtree of each node, combined in the order in which nodes are entered: a node, and then its children. The
    /// total of the first child is combined with the node's state, that of the next one with the result, and so on.
    ///
    /// ```
    /// use monoscan::{algo::{lists::NONE, trees::Tour}, ops::Max};
    /// let tour = Tour::of_parents(&[NONE, 0, 0, 2])?;
    /// assert_eq!(tour.subtree_totals(&[1.0, 5.0, 2.0, 3.0].map(Max))?, [5.0, 5.0, 3.0, 3.0].map(Max));
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// Work n, depth a loop over what is not in one block of 8192 nodes: in a tree of short paths and few children little, in a chain
    /// or a star all. The first call also makes an order of the nodes, which the tour keeps, in 8 bytes a node and by a loop of one
    /// thread. `combine` is called as a function of Rust, so an integer that overflows is a panic where Rust checks that:
    /// [`subtree_sums`](Tour::subtree_sums) wraps.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one state for each node.
    pub fn subtree_totals<M: Monoid>(&self, values: &[M]) -> Result<Vec<M>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        let mut totals = copied(values);
        self.left().upwards(&mut totals, M::combine);
        Ok(totals)
    }

    /// The states of the path to each node, combined from the root down, a node at a time.
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
    /// Work n, depth as of [`subtree_totals`](Tour::subtree_totals), but that a star has little. An order of the nodes is made on
    /// many threads, or where parents do not have smaller numbers than their children. Integers as there.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one state for each node.
    pub fn path_totals<M: Monoid>(&self, values: &[M]) -> Result<Vec<M>, AlgoError> {
        check_length("values", self.len(), values.len())?;
        Ok(self.over_paths(values, M::combine))
    }

    fn over_paths<T: Copy + Send + Sync>(&self, values: &[T], add: impl Fn(T, T) -> T + Sync) -> Vec<T> {
        let mut totals = copied(values);
        if self.is_for_a_loop() {
            walk::downwards(&self.parents, &mut totals, add);
        } else {
            self.entered().downwards(&mut totals, add);
        }
        totals
    }

    /// The sums over subtrees of these values, which are there to be changed.
    pub(super) fn sums_over_subtrees<T: Num>(&self, mut sums: Vec<T>) -> Result<Vec<T>, AlgoError> {
        if self.is_for_a_loop() {
            walk::upwards(&self.parents, &mut sums, T::wrapped_add);
            return Ok(sums);
        }
        if T::TYPE.is_float() {
            self.entered().upwards(&mut sums, T::wrapped_add);
            return Ok(sums);
        }
        // Of integers: what is entered after the start of the subtree, less what is entered after its end.
        let (len, entered) = (self.len(), self.entered());
        let mut sums = mapped(len + 1, |place| if place < len { sums[entered.node(place)] } else { T::ZERO });
        compiled(Scan::<Sum<T>>::plain)?.exclusive_in_place(&mut sums)?;
        Ok(self.each(|node| sums[len - node.subtree().start].wrapped_sub(sums[len - node.subtree().end])))
    }

    /// Whether a loop over the numbers of nodes has all sums, and no threads share them.
    fn is_for_a_loop(&self) -> bool {
        self.is_downwards && !are_shared(self.len())
    }

    fn entered(&self) -> &Walk {
        let last = self.len() as u32;
        self.entered.get_or_init(|| Walk::of(&self.nodes, &self.parents, |node| last - 1 - node.before))
    }

    fn left(&self) -> &Walk {
        self.left.get_or_init(|| Walk::of(&self.nodes, &self.parents, Node::left_before))
    }
}

/// From so many bytes on a vector is new memory of the system. Less may be there already, without large pages.
const NEW: usize = 1 << 25;

/// A copy, by the threads that share the nodes.
fn copied<T: Copy + Send + Sync>(values: &[T]) -> Vec<T> {
    if are_shared(values.len()) {
        return mapped(values.len(), |node| values[node]);
    }
    let mut copy = Vec::with_capacity(values.len());
    if size_of_val(values) >= NEW {
        ask_for_large_pages(copy.spare_capacity_mut());
    }
    copy.extend_from_slice(values);
    copy
}

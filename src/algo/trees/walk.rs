//! Totals over subtrees and paths by any operator, to the bit as a loop over the nodes makes them.
//!
//! The order of the nodes in which children come first, and each total is made of theirs, is Knuth
//! 1, §2.3.3, Algorithm F. To cut it in blocks, and to do last what no block has whole, is as with
//! [brackets](super::super::brackets): Bar-On and Vishkin 1985.
//!
//! The loop over subtrees takes children before their parents, and adds the total of each node to
//! that of its parent. The loop over paths takes parents first, and adds their totals to those of
//! their children. Where parents have smaller numbers, either goes over the numbers of nodes.
//!
//! Both can be cut in a *walk*: an order in which each subtree is a range, whose last node is its
//! root. A subtree that is in one block of the walk is *whole*, another is *cut*. What is above a
//! cut subtree is cut too. So totals of whole subtrees need no other block, and blocks make them at
//! the same time; one loop over the children of cut ones makes the others after that. Paths go the
//! other way: first one loop over the roots of cut subtrees, then the blocks. Each total is made by
//! the steps of the loop, in their order, so results do not depend on blocks and threads.
//!
//! Few subtrees are cut if paths are short: for each border of two blocks, at most as many as a
//! path has nodes. In a chain nearly all are. If more than an eighth of the nodes would wait for
//! the loop of one thread, it does all of the work; so it does with few nodes or fewer than four
//! threads.
//!
//! ```text
//! monoid   any, combined by loops: totals of a tree are no prefixes of one line
//! cost     work n, depth a loop over n / 8192 blocks and one over what is cut; or one over n nodes
//! passes   2: values are copied, totals are made
//! bytes    of values of b bytes: 8 + 5 b a node, over the numbers of nodes 4 + 5 b
//! walk     work 3 n, 3 loops on one thread, some 50 bytes a node
//! ```

use std::marker::PhantomData;

use super::super::lists::NONE;
use super::{LONG, Node};
use crate::parallel;

/// Nodes of a block.
const BLOCK: usize = 1 << 13;

/// A flag of nodes whose subtree is in several blocks. Nodes are fewer than 2³¹, and [`NONE`] has it too.
const CUT: u32 = 1 << 31;

/// Adds the total of each node to that of its parent, from the last node to the first. Parents have smaller numbers.
pub(super) fn upwards<T: Copy>(parents: &[u32], totals: &mut [T], add: impl Fn(T, T) -> T) {
    for (node, &parent) in parents.iter().enumerate().rev() {
        if parent != NONE {
            totals[parent as usize] = add(totals[parent as usize], totals[node]);
        }
    }
}

/// Adds to each node the total of its parent, from the first node to the last. Parents have smaller numbers.
pub(super) fn downwards<T: Copy>(parents: &[u32], totals: &mut [T], add: impl Fn(T, T) -> T) {
    for (node, &parent) in parents.iter().enumerate() {
        if parent != NONE {
            totals[node] = add(totals[parent as usize], totals[node]);
        }
    }
}

/// Whether threads share so many nodes. In a walk they are found at places anywhere, so two or three threads would be no faster than a
/// loop over the numbers of nodes.
pub(super) fn are_shared(nodes: usize) -> bool {
    nodes > 2 * LONG && rayon::current_num_threads() >= 4
}

/// Nodes in an order in which each subtree is a range, whose last node is its root.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    steps: Vec<Step>,
    /// Places of the nodes whose subtrees are cut, unless they are many.
    cut: Option<Vec<u32>>,
    /// Places of their children, unless they are many.
    below_cut: Option<Vec<u32>>,
}

/// A node, and its parent or [`NONE`], either with the flag [`CUT`] if its subtree is.
#[derive(Clone, Copy, Default, Debug)]
struct Step {
    node: u32,
    parent: u32,
}

impl Step {
    fn node(self) -> usize {
        (self.node & !CUT) as usize
    }

    fn parent(self) -> Option<usize> {
        (self.parent != NONE).then_some((self.parent & !CUT) as usize)
    }

    fn is_cut(self) -> bool {
        self.node & CUT != 0
    }

    fn is_below_cut(self) -> bool {
        self.parent & CUT != 0
    }
}

impl Walk {
    /// The walk in which each node has this place.
    pub(super) fn of(nodes: &[Node], parents: &[u32], place: impl Fn(Node) -> u32) -> Walk {
        let flagged = |number: u32| {
            let node = nodes[number as usize];
            let last = place(node) as usize;
            let is_whole = (last + 1 - node.size as usize) / BLOCK == last / BLOCK;
            if is_whole { number } else { number | CUT }
        };
        let mut steps = vec![Step::default(); nodes.len()];
        for ((number, &node), &parent) in (0..).zip(nodes).zip(parents) {
            let parent = if parent == NONE { NONE } else { flagged(parent) };
            steps[place(node) as usize] = Step { node: flagged(number), parent };
        }
        let few = |is_one: fn(Step) -> bool| {
            let most = steps.len() / 8;
            let found = (0..).zip(&steps).filter(|(_, step)| is_one(**step));
            let places: Vec<u32> = found.map(|(place, _)| place).take(most + 1).collect();
            (places.len() <= most).then_some(places)
        };
        Walk { cut: few(Step::is_cut), below_cut: few(|step| step.is_below_cut() && step.parent != NONE), steps }
    }

    /// The node at this place.
    pub(super) fn node(&self, place: usize) -> usize {
        self.steps[place].node()
    }

    /// Adds the total of each node to that of its parent, in the order of the walk.
    pub(super) fn upwards<T: Copy + Send>(&self, totals: &mut [T], add: impl Fn(T, T) -> T + Sync) {
        let totals = Totals::of(totals);
        // SAFETY: a thread takes the nodes of a block, of which it changes those whose subtrees are whole, and reads their children,
        // which are in the block too. Loops on this thread alone come after all of them.
        let take = |step: Step| unsafe {
            if let Some(parent) = step.parent() {
                totals.add(parent, [parent, step.node()], &add);
            }
        };
        match &self.below_cut {
            Some(below_cut) if are_shared(self.steps.len()) => {
                parallel::for_each(self.steps.chunks(BLOCK), |_, block| {
                    block.iter().filter(|step| !step.is_below_cut()).for_each(|step| take(*step));
                });
                below_cut.iter().for_each(|place| take(self.steps[*place as usize]));
            }
            _ => self.steps.iter().for_each(|step| take(*step)),
        }
    }

    /// Adds to each node the total of its parent, against the order of the walk.
    pub(super) fn downwards<T: Copy + Send>(&self, totals: &mut [T], add: impl Fn(T, T) -> T + Sync) {
        let totals = Totals::of(totals);
        // SAFETY: a thread takes the nodes of a block, of which it changes those whose subtrees are whole. It reads their parents,
        // which are in the block, or cut, so that nobody changes them. Loops on this thread alone come before all of them.
        let take = |step: Step| unsafe {
            if let Some(parent) = step.parent() {
                totals.add(step.node(), [parent, step.node()], &add);
            }
        };
        match &self.cut {
            Some(cut) if are_shared(self.steps.len()) => {
                cut.iter().rev().for_each(|place| take(self.steps[*place as usize]));
                parallel::for_each(self.steps.chunks(BLOCK), |_, block| {
                    block.iter().rev().filter(|step| !step.is_cut()).for_each(|step| take(*step));
                });
            }
            _ => self.steps.iter().rev().for_each(|step| take(*step)),
        }
    }
}

/// Totals that threads change, each those of its own nodes.
struct Totals<'a, T> {
    base: *mut T,
    len: usize,
    types: PhantomData<&'a mut [T]>,
}

// SAFETY: threads change and read totals as `add` asks.
unsafe impl<T: Send> Sync for Totals<'_, T> {}

impl<'a, T: Copy> Totals<'a, T> {
    fn of(totals: &'a mut [T]) -> Totals<'a, T> {
        Totals { base: totals.as_mut_ptr(), len: totals.len(), types: PhantomData }
    }

    /// Sets one to this combination of two.
    ///
    /// # Safety
    /// No other thread changes these three, or reads the first, at the same time.
    unsafe fn add(&self, to: usize, of: [usize; 2], add: impl Fn(T, T) -> T) {
        assert!([to, of[0], of[1]].into_iter().all(|node| node < self.len), "a node beyond all others");
        // SAFETY: all are in the slice, which is borrowed; the caller says the rest.
        unsafe { self.base.add(to).write(add(*self.base.add(of[0]), *self.base.add(of[1]))) }
    }
}
